// pkcs11 install: the module file that makes p11-kit start keystorectl, and how programs use it.
import { existsSync, globSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import type { ConnectionOptions } from '../connection-options.ts';
import { commandFor } from '../terminal/command-output.ts';
import { usageError } from '../terminal/failure.ts';
import { telling, writeAll } from '../terminal/files.ts';
import { homeOf, type Io } from '../terminal/io.ts';
import { milliseconds } from '../terminal/times.ts';
import { caPrefix, choiceOf, keyOptions, requireLabel } from './command-options.ts';

type Options = Parameters<typeof choiceOf>[0] & { readonly command?: string; readonly socket?: string; readonly directory?: string };

const moduleName = 'keystored.module';
/** Places of p11-kit's own module, which shows those of all module files. */
const proxies = ['/usr/lib/*/p11-kit-proxy.so', '/usr/lib64/p11-kit-proxy.so', '/usr/lib/p11-kit-proxy.so'];

/** `pkcs11 install --key NAME`. */
export async function runInstall(words: readonly string[], before: ConnectionOptions, io: Io): Promise<void> {
  const command = keyOptions(commandFor(io, 'keystorectl pkcs11 install'))
    .description(
      'Write the module file that makes p11-kit start "keystorectl pkcs11" with these options: below ~/.config/pkcs11/modules, for root in ' +
        '/etc/pkcs11/modules, because p11-kit does not read the home of root. A token that is given as an option is refused: it would be in ' +
        'the file.',
    )
    .option('--command <FILE>', 'keystorectl to start (default: the one in PATH)')
    .option('--socket <SOCKET>', 'use the socket of "keystorectl pkcs11 --listen" instead')
    .option('--directory <DIR>', 'where to write the file')
    .helpOption('-h, --help', 'show this')
    .action(async (options: Options) => install({ ...before, ...options }, io));
  await command.parseAsync([...words], { from: 'user' });
}

async function install(options: Options, io: Io): Promise<void> {
  if (options.token !== undefined)
    throw usageError('a token in the module file can be read by every user: give --token-file FILE, or log in with "keystorectl login"');
  requireLabel(options.label);
  milliseconds(options.timeout, 'timeout');
  const { names } = choiceOf(options);
  const remote =
    options.socket === undefined ? `|${lineOf([commandPath(options, io), 'pkcs11', ...argumentsOf(options)])}` : addressOf(options.socket);
  const directory = options.directory ?? directoryFor(io);
  const path = join(directory, moduleName);
  telling(path, () => {
    mkdirSync(directory, { recursive: true });
    writeFileSync(path, `# Keys of a keystored appliance, written by keystorectl pkcs11 install.\nremote: ${remote}\n`);
  });
  await writeAll(io, usesOf(path, options.label, names.find((name) => !name.includes('*')) ?? 'NAME'));
}

function directoryFor(io: Io): string {
  if (process.getuid?.() === 0) return '/etc/pkcs11/modules';
  return join(io.environment['XDG_CONFIG_HOME'] || join(homeOf(io), '.config'), 'pkcs11', 'modules');
}

function addressOf(socket: string): string {
  if (!isAbsolute(socket)) throw usageError('--socket must be an absolute path: programs run in other folders');
  return `unix:path=${socket}`;
}

/** The options again, files with their whole paths. */
function argumentsOf(options: Options): readonly string[] {
  const { key = [], selector, certificate = [], allVersions = false, label, timeout } = options;
  const { context, url, ca, tokenFile, clientCert, clientKey, dataDir } = options;
  const file = (option: string, path: string | undefined) => (path === undefined ? [] : [option, absolute(path)]);
  const text = (option: string, value: string | undefined) => (value === undefined ? [] : [option, value]);
  return [
    ...key.flatMap((name) => ['--key', name]),
    ...(key.length === 0 ? ['--selector', selector] : []),
    ...certificate.flatMap((one) => {
      const at = one.indexOf('=') + 1;
      const from = one.slice(at);
      return ['--certificate', one.slice(0, at) + (from.startsWith(caPrefix) ? from : absolute(from))];
    }),
    ...(allVersions ? ['--all-versions'] : []),
    ...(label === 'keystored' ? [] : ['--label', label]),
    ...(timeout === '10s' ? [] : ['--timeout', timeout]),
    ...text('--context', context),
    ...text('--url', url),
    ...file('--ca', ca),
    ...file('--token-file', tokenFile),
    ...file('--client-cert', clientCert),
    ...file('--client-key', clientKey),
    ...file('--data-dir', dataDir),
  ];
}

const absolute = (path: string): string => (isAbsolute(path) ? path : join(process.cwd(), path));

/** The words as p11-kit reads them. */
function lineOf(words: readonly string[]): string {
  return words.map(quoted).join(' ');
}

function quoted(word: string): string {
  if (/^[\w@%+=:,./*-]+$/.test(word)) return word;
  if (/['\\\n]/.test(word)) throw usageError(`${word} cannot be in a module file: it has a quote, a backslash or a line end`);
  return `'${word}'`;
}

function commandPath({ command }: Options, { environment: { PATH = '' } }: Io): string {
  if (command !== undefined) {
    if (!existsSync(command)) throw usageError(`${command} does not exist`);
    return absolute(command);
  }
  const found = PATH.split(delimiter)
    .map((folder) => join(folder, 'keystorectl'))
    .find((path) => existsSync(path));
  if (found === undefined) throw usageError('there is no keystorectl in PATH: give --command FILE');
  return absolute(found);
}

function usesOf(path: string, label: string, key: string): string {
  const proxy = globSync(proxies)[0] ?? 'p11-kit-proxy.so';
  const uri = `pkcs11:token=${encodeURIComponent(label)};object=${encodeURIComponent(key)}`;
  return [
    `${path} is written. Every program that uses PKCS#11 sees the token "${label}" by ${proxy}:`,
    `  p11tool --list-all "pkcs11:token=${encodeURIComponent(label)}"`,
    `  ssh -I ${proxy} HOST`,
    `  openssl req -new -engine pkcs11 -keyform engine -key "${uri};type=private" -subj /CN=HOST`,
    `  nginx: ssl_certificate_key "engine:pkcs11:${uri};type=private";  (workers of another user: ${dirname(proxy)}/pkcs11/p11-kit-client.so and --listen)`,
    `  Java: a file with "name=${label}", "library=${proxy}" and "slotListIndex=0" for keytool and jarsigner (-providerArg)`,
    '',
  ].join('\n');
}
