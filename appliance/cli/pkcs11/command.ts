// pkcs11: keys of the appliance for every program that signs with PKCS#11, through p11-kit.
import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from '../connection-options.ts';
import { LastingClient } from '../lasting/client.ts';
import { Notices } from '../lasting/notices.ts';
import { commandFor, helpEnd } from '../terminal/command-output.ts';
import type { Io } from '../terminal/io.ts';
import { milliseconds } from '../terminal/times.ts';
import { programVersion } from '../version.ts';
import { choiceOf, type KeyOptions, keyOptions, requireLabel } from './command-options.ts';
import { type Program, serveConnection } from './serve.ts';

type Options = KeyOptions & {
  readonly listen?: string;
  readonly mode: string;
  readonly group?: string;
};

/** Signatures that are asked for at the same time; each has a connection of its own. */
const mostAtOnce = 16;

/** `pkcs11 [--key NAME]… [--listen SOCKET]`, and `pkcs11 install`. */
export async function runPkcs11(words: readonly string[], before: ConnectionOptions, io: Io): Promise<void> {
  if (words[0] === 'install') return (await import('./install.ts')).runInstall(words.slice(1), before, io);
  const command = keyOptions(commandFor(io, 'keystorectl pkcs11'))
    .description(
      'Show keys of the appliance to programs that use PKCS#11. p11-kit starts this and speaks with it over standard input and output; ' +
        '"keystorectl pkcs11 install" writes the file that tells p11-kit so.',
    )
    .option('--listen <SOCKET>', 'serve a Unix socket instead, for daemons that change their user; "systemd": the one of a socket unit')
    .option('--mode <MODE>', 'mode of the socket', '0600')
    .option('--group <GROUP>', 'group of the socket')
    .helpOption('-h, --help', 'show this')
    .addHelpText('after', helpEnd(installHelp, io))
    .action(async (options: Options) => serve({ ...before, ...options }, io));
  await command.parseAsync([...words], { from: 'user' });
}

const installHelp = `
keystorectl pkcs11 install --key NAME   writes the module file of p11-kit, and prints how ssh, nginx and Java use it`;

async function serve(options: Options, io: Io): Promise<void> {
  const { label, timeout, listen, mode, group } = options;
  requireLabel(label);
  const choice = choiceOf(options);
  const notices = new Notices(io, 'keystorectl pkcs11');
  const timeoutMs = milliseconds(timeout, 'timeout');
  const userAgent = userAgentFor(listen === undefined ? programAbove() : undefined);
  const client = new LastingClient({ connection: options, io, userAgent, timeoutMs, atOnce: mostAtOnce });
  const program: Program = { label, choice, client, notices, io };
  try {
    if (listen === undefined) return await serveConnection(io.stdin, io.stdout, program);
    const [{ createServer }, { listenOn, readMode }] = await Promise.all([import('node:net'), import('../lasting/listen.ts')]);
    const server = createServer((socket) => void serveConnection(socket, socket, program));
    await listenOn({ socket: listen, mode: readMode(mode), group }, server, io, 'keystorectl pkcs11');
  } finally {
    client.close();
  }
}

/** The name of the program that has started this, as the system tells it; a program can choose its own. */
function programAbove(): string | undefined {
  try {
    return readFileSync(`/proc/${process.ppid}/comm`, 'utf8').trim();
  } catch {
    return undefined;
  }
}

/** User-Agent of the requests: the audit trail names the program by it, marked as claimed. */
function userAgentFor(program: string | undefined): string {
  const claimed = program?.replaceAll(/[^A-Za-z0-9._+-]/g, '_') ?? '';
  return `keystorectl-pkcs11/${programVersion}${claimed === '' ? '' : ` (claimed: ${claimed})`}`;
}
