// openpgp-sign-file: a detached signature over a file of any length, which is hashed here.
import { createReadStream } from 'node:fs';
import { signOpenpgp } from '../../clients/typescript/src/openpgp/signing.ts';
import { defined } from '../../../core/base/defined.ts';
import { Client } from '../client.ts';
import { type ConnectionOptions, connectionOptions } from '../connection-options.ts';
import { resolveConnection } from '../connection.ts';
import { commandFor } from '../terminal/command-output.ts';
import { usageError } from '../terminal/failure.ts';
import { beginFile } from '../terminal/files.ts';
import type { Io } from '../terminal/io.ts';
import { askKey } from './signing-key.ts';

type Options = ConnectionOptions & {
  readonly in: string;
  readonly out: string;
  readonly keyVersion?: string;
  readonly expiresAfter?: string;
  readonly binary?: true;
};

/** `openpgp-sign-file KEY [--in FILE] [--out FILE]`. */
export async function signFile(words: readonly string[], before: ConnectionOptions, io: Io): Promise<void> {
  const command = commandFor(io, 'keystorectl openpgp-sign-file')
    .description(
      'Sign a file of any length with an OpenPGP key: it is hashed here, and its hash is sent. A detached signature, as openpgp-sign makes it. ' +
        'Needs the right to openpgp-trailer and openpgp-sign-digest.',
    )
    .argument('<key>', 'transit key')
    .option('--in <FILE>', 'what to sign', '-')
    .option('--out <FILE>', 'where the signature goes', '-')
    .option('--binary', 'packets in octets, without armor')
    .option('--key-version <NUMBER>', 'version to use (default: the one in use)')
    .option('--expires-after <DURATION>', 'how long the signature holds, such as 90d (default: without limit)')
    .helpOption('-h, --help', 'show this')
    .action(async (key: string, options: Options) => sign(key, options, before, io));
  for (const option of connectionOptions()) command.addOption(option);
  await command.parseAsync([...words], { from: 'user' });
}

async function sign(key: string, options: Options, before: ConnectionOptions, io: Io): Promise<void> {
  const { in: from, out: to, binary, keyVersion, expiresAfter, ...connection } = options;
  if (from === '-' && io.stdin.isTTY === true) throw usageError('nothing to read: give --in FILE, or a pipe');
  if (keyVersion !== undefined && !/^[1-9]\d{0,9}$/.test(keyVersion)) throw usageError('--key-version is a whole number from 1');
  const client = new Client(await resolveConnection({ ...before, ...connection }, io));
  const target = beginFile(to, io, false);
  try {
    const fields = defined({ 'key-version': keyVersion === undefined ? undefined : Number(keyVersion), 'expires-after': expiresAfter });
    const source = from === '-' ? io.stdin : reading(from);
    const signature = await signOpenpgp(source, askKey(client, key), fields, binary === true ? 'binary' : 'armored');
    await target.write(binary === true ? Buffer.from(signature, 'base64') : signature);
    target.finish();
  } finally {
    target.abandon();
    client.close();
  }
}

async function* reading(path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(path, { highWaterMark: 1 << 20 }) as AsyncIterable<Buffer>;
  } catch (error) {
    throw usageError(`${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? String(error)})`);
  }
}
