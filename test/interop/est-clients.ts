// Other people's EST clients: curl and openssl of this machine; libest, strongSwan and OpenSSL 3.5 in a chroot of a newer release.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** How a program ended and what it printed. */
export type Outcome = { readonly code: number; readonly stdout: string; readonly stderr: string };

const root = resolve(import.meta.dirname, '../../node_modules/.cache/est-clients');
const packages = ['libest-utils', 'strongswan-pki', 'openssl', 'curl', 'ca-certificates'];

/**
 * The chroot with the clients, made on first use by debootstrap, which takes its standard mirror. The text says why it cannot be had:
 * it needs root, and the network once.
 */
export async function obtainClients(): Promise<ClientRoot | string> {
  if (existsSync(join(root, 'usr/bin/estclient'))) return new ClientRoot();
  if (process.getuid?.() !== 0) return 'a chroot with the clients needs root';
  for (const program of ['debootstrap']) {
    if ((await run('which', [program])).code === 0) continue;
    const installed = await run('apt-get', ['install', '-y', '--no-install-recommends', program]);
    if (installed.code !== 0) return `apt-get install ${program}: ${lastLine(installed.stderr)}`;
  }
  rmSync(root, { recursive: true, force: true });
  mkdirSync(join(root, '..'), { recursive: true });
  const made = await run('debootstrap', ['--variant=minbase', `--include=${packages.join(',')}`, 'trixie', root]);
  return made.code === 0 ? new ClientRoot() : `debootstrap: ${lastLine(made.stdout)}`;
}

/** A place for files, and programs run there. */
export class Bench {
  readonly directory: string;
  readonly #prefix: readonly string[];
  readonly #inside: string;

  /** `prefix` comes before every command; `inside` is the directory as the program sees it. */
  constructor(directory: string, inside = directory, prefix: readonly string[] = []) {
    this.directory = directory;
    this.#inside = inside;
    this.#prefix = prefix;
  }

  /** Writes a file; answers its path as the programs see it. */
  file(name: string, contents: string | Uint8Array): string {
    writeFileSync(join(this.directory, name), contents);
    return this.path(name);
  }

  path(name: string): string {
    return join(this.#inside, name);
  }

  read(name: string): Buffer {
    return readFileSync(join(this.directory, name));
  }

  /** Runs a program in the directory; never throws. */
  run(program: string, args: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<Outcome> {
    const settings = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
    const [command = '', ...rest] = [...this.#prefix, 'env', '-C', this.#inside, ...settings, program, ...args];
    return run(command, rest);
  }
}

/** The chroot. */
export class ClientRoot {
  /** A fresh directory in it. */
  bench(): Bench {
    mkdirSync(join(root, 'work'), { recursive: true });
    const directory = mkdtempSync(join(root, 'work', 'est-'));
    return new Bench(directory, directory.slice(root.length), ['chroot', root]);
  }
}

export function run(program: string, args: readonly string[]): Promise<Outcome> {
  return new Promise((done) => {
    const child = execFile(program, args, { maxBuffer: 16 * 1024 * 1024, timeout: 600_000 }, (error, stdout, stderr) => {
      done({ code: error === null ? 0 : typeof error.code === 'number' ? error.code : 127, stdout, stderr });
    });
    child.stdin?.end();
  });
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}
