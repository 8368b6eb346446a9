// Other people's OpenPGP programs for the interoperability tests: gpg, gpgv, sq and sqv, each call in a home of its own.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** How a program ended and what it printed. */
export type Outcome = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** A working directory with a gpg home in it; `dispose` ends gpg's agent and removes all of it. */
export class Workbench implements AsyncDisposable {
  readonly #directory = mkdtempSync(join(tmpdir(), 'openpgp-'));

  /** Writes a file and answers its path. */
  file(name: string, content: string | Uint8Array): string {
    const path = join(this.#directory, name);
    writeFileSync(path, content);
    return path;
  }

  path(name: string): string {
    return join(this.#directory, name);
  }

  /** Runs a program there; never throws. */
  run(program: string, args: readonly string[], input?: string | Uint8Array): Promise<Outcome> {
    return new Promise((done) => {
      const options = { cwd: this.#directory, maxBuffer: 64 * 1024 * 1024, env: { ...process.env, GNUPGHOME: this.#directory } };
      const child = execFile(program, args, options, (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 127;
        done({ code, stdout, stderr });
      });
      child.stdin?.on('error', () => undefined);
      child.stdin?.end(input ?? '');
    });
  }

  gpg(...args: readonly string[]): Promise<Outcome> {
    return this.run('gpg', ['--batch', '--no-tty', '--status-fd', '1', '--pinentry-mode', 'loopback', '--passphrase', '', ...args]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.run('gpgconf', ['--kill', 'all']);
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

/** What gpg says of a detached signature. Only GOODSIG counts: its exit code is 0 for expired and revoked keys as well. */
export async function gpgSays(bench: Workbench, certificate: string, signature: string, data: Uint8Array): Promise<string> {
  await bench.gpg('--import', bench.file('certificate.asc', certificate));
  const { stdout } = await bench.gpg('--verify', bench.file('signature.asc', signature), bench.file('data', data));
  return /\[GNUPG:\] (GOODSIG|BADSIG|ERRSIG|EXPSIG|EXPKEYSIG|REVKEYSIG|NODATA)/.exec(stdout)?.[1] ?? 'nothing';
}

/** Whether sq accepts a detached signature. */
export async function sqAccepts(bench: Workbench, certificate: string, signature: string, data: Uint8Array): Promise<boolean> {
  const cert = bench.file('certificate.asc', certificate);
  const detached = bench.file('signature.asc', signature);
  const { code } = await bench.run('sq', ['verify', '--signer-cert', cert, '--detached', detached, bench.file('data', data)]);
  return code === 0;
}

/** Whether sqv, which package managers use, accepts a detached signature. */
export async function sqvAccepts(bench: Workbench, certificate: string, signature: string, data: Uint8Array): Promise<boolean> {
  const files = [bench.file('signature.asc', signature), bench.file('data', data)];
  const { code } = await bench.run('sqv', ['--keyring', bench.file('certificate.asc', certificate), ...files]);
  return code === 0;
}

/** Every program on a detached signature. */
export async function judgements(
  keyblock: string,
  signature: string,
  data: Uint8Array,
): Promise<Readonly<Record<string, string | boolean>>> {
  await using bench = new Workbench();
  const gpg = await gpgSays(bench, keyblock, signature, data);
  const [certificate, detached, octets] = [bench.path('certificate.asc'), bench.path('signature.asc'), bench.path('data')];
  await bench.gpg('--yes', '--dearmor', '--output', bench.path('keyring.gpg'), certificate);
  const gpgv = await bench.run('gpgv', ['--status-fd', '1', '--keyring', bench.path('keyring.gpg'), detached, octets]);
  mkdirSync(bench.path('rnp'), { recursive: true });
  await bench.run('rnpkeys', ['--homedir', bench.path('rnp'), '--import-keys', certificate]);
  const rnp = await bench.run('rnp', ['--homedir', bench.path('rnp'), '--verify', detached, '--source', octets]);
  return {
    gpg,
    gpgv: /\[GNUPG:\] (GOODSIG|EXPKEYSIG|REVKEYSIG|BADSIG|ERRSIG)/.exec(gpgv.stdout)?.[1] ?? 'nothing',
    sq: await sqAccepts(bench, keyblock, signature, data),
    sqv: await sqvAccepts(bench, keyblock, signature, data),
    sqop: (await bench.run('sqop', ['verify', detached, certificate], data)).code === 0,
    gosop: (await bench.run('gosop', ['verify', detached, certificate], data)).code === 0,
    rnp: rnp.code === 0,
  };
}
