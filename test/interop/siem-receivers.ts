// rsyslog and syslog-ng of Debian as processes of the tests, with the configurations that siem.md shows.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Pki } from '../appliance/shipping/pki.ts';
import { endWithTests } from '../harness/children.ts';
import { freePort, isFree } from '../harness/daemon.ts';

const root = resolve(import.meta.dirname, '../..');
/** Where appliance/setup.mjs unpacks the two packages, which cannot be installed together. */
const unpacked = join(root, 'node_modules/.cache/receivers');
const page = readFileSync(join(root, 'appliance/docs/administer/siem.md'), 'utf8');

export const receiverNames = ['rsyslog', 'syslog-ng'] as const;

export type Receiver = {
  readonly port: number;
  /** whole lines of its file */
  lines(): readonly string[];
  /** what it could not write to its file */
  failed(): readonly string[];
  /** what it has put into its queue on the disk, as that is kept; other properties of each record are between */
  queued(): string;
  start(): Promise<void>;
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void;
  /** Resolves when it has ended. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
};

/** A receiver that is not started yet. `file`: where it writes records; its other files are in `directory`. */
export async function receiver(name: (typeof receiverNames)[number], directory: string, file: string, pki: Pki): Promise<Receiver> {
  const port = await freePort();
  mkdirSync(directory, { recursive: true });
  const configuration = join(directory, `${name}.conf`);
  writeFileSync(configuration, configurationOf(name, { directory, file, port, pki }));
  const output: string[] = [];
  let child: ChildProcess | undefined;
  return {
    port,
    lines: () => wholeLines(file),
    failed: () =>
      wholeLines(join(directory, 'failed.jsonl')).map((line) => (JSON.parse(line) as { template0: string }).template0.trimEnd()),
    queued: () =>
      readdirSync(directory)
        .filter((entry) => /^main\.\d+$/.test(entry))
        .map((entry) => readFileSync(join(directory, entry), 'utf8'))
        .join(''),
    async start() {
      const [program, args] = commandOf(name, directory, configuration);
      const started = spawn(program, args, {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...process.env, LD_LIBRARY_PATH: libraries() },
        detached: true,
      });
      child = started;
      endWithTests(started);
      for (const stream of [started.stdout, started.stderr]) stream.on('data', (chunk: Buffer) => output.push(chunk.toString()));
      while (await isFree(port)) {
        if (started.exitCode !== null || started.signalCode !== null) throw new Error(`${name} ended:\n${output.join('')}`);
        await setTimeout(50);
      }
    },
    signal: (signal) => void child?.kill(signal),
    async end(signal) {
      const ending = child;
      if (ending === undefined || ending.exitCode !== null || ending.signalCode !== null) return;
      const ended = new Promise((done) => ending.once('exit', done));
      ending.kill(signal);
      await ended;
    },
  };
}

function wholeLines(file: string): readonly string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
}

/** What the page shows, with the paths, the port and the name of the client of the test. */
function configurationOf(
  name: string,
  parts: { readonly directory: string; readonly file: string; readonly port: number; readonly pki: Pki },
): string {
  const { directory, file, port, pki } = parts;
  const [, shown] = new RegExp(`### ${name}\\n[^#]*?\`\`\`text\\n(.*?)\`\`\``, 's').exec(page) ?? [];
  const replacements: readonly (readonly [shown: string, here: string])[] = [
    [`/etc/${name}/ca.pem`, pki.ca],
    [`/etc/${name}/server.pem`, pki.server],
    [`/etc/${name}/server.key`, pki.serverKey],
    ['/var/log/keystored.log', file],
    ['6514', String(port)],
    ...(name === 'rsyslog'
      ? ([
          ['/var/spool/rsyslog', directory],
          ['ks.example', 'siem.example'],
        ] as const)
      : []),
  ];
  let text = shown ?? '';
  for (const [from, to] of replacements) {
    if (!text.includes(from)) throw new Error(`siem.md shows no ${from} for ${name}`);
    text = text.replaceAll(from, to);
  }
  return text;
}

function commandOf(name: string, directory: string, configuration: string): readonly [program: string, args: readonly string[]] {
  const at = (file: string): string => join(directory, file);
  if (name === 'rsyslog') {
    const modules = join(libraryFolder(), 'rsyslog');
    return [join(unpacked, 'usr/sbin/rsyslogd'), ['-n', '-f', configuration, '-i', at('pid'), '-M', modules]];
  }
  const state = ['--control', at('control'), '--persist-file', at('persist'), '--pidfile', at('pid')];
  const args = ['--foreground', '--no-caps', '--stderr', '--cfgfile', configuration, '--module-path', syslogNgModules(), ...state];
  return [join(unpacked, 'usr/sbin/syslog-ng'), args];
}

function libraries(): string {
  return [libraryFolder(), libraryFolder().replace('/usr/lib/', '/lib/'), join(unpacked, 'usr/lib/syslog-ng'), syslogNgModules()].join(':');
}

function libraryFolder(): string {
  return join(unpacked, 'usr/lib', `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`);
}

/** The folder has the version of the package as its name. */
function syslogNgModules(): string {
  const folder = join(unpacked, 'usr/lib/syslog-ng');
  return join(folder, readdirSync(folder).find((entry) => /^\d+\.\d+$/.test(entry)) ?? '');
}
