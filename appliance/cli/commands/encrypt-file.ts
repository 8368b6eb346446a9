// encrypt-file, decrypt-file, rewrap-file: data of any length as the client libraries seal it, under a data key of a transit key.
import { createReadStream } from 'node:fs';
import { open as openFile } from 'node:fs/promises';
import type { Command } from 'commander';
import type { DataKeySource } from '../../clients/typescript/src/sealing/data-keys.ts';
import { headerBytes, SealedDataError } from '../../clients/typescript/src/sealing/format.ts';
import { open, rewrapHeader, seal } from '../../clients/typescript/src/sealing/sealing.ts';
import { defined } from '../../../core/base/defined.ts';
import { Client } from '../client.ts';
import { type ConnectionOptions, connectionOptions } from '../connection-options.ts';
import { resolveConnection } from '../connection.ts';
import { commandFor } from '../terminal/command-output.ts';
import { CommandFailed, exitCodes, usageError } from '../terminal/failure.ts';
import { beginFile } from '../terminal/files.ts';
import { type Io, readValue } from '../terminal/io.ts';

type BoundOptions = ConnectionOptions & { readonly derivationContext?: string; readonly associatedData?: string };
type Options = BoundOptions & { readonly in: string; readonly out: string };

/** `encrypt-file KEY [--in FILE] [--out FILE]`. */
export async function encryptFile(words: readonly string[], before: ConnectionOptions, io: Io): Promise<void> {
  const command = commandWith('encrypt-file', io)
    .description('Encrypt a file of any length under a data key that the transit key wraps. The data stays here. decrypt-file opens it.')
    .argument('<key>', 'transit key')
    .option('--in <FILE>', 'what to encrypt', '-')
    .option('--out <FILE>', 'where to', '-')
    .action(async (key: string, options: Options) => {
      if (options.out === '-' && io.stdout.isTTY === true) throw usageError('encrypted data is not text for a terminal: give --out FILE');
      await convert(options, io, false, await openKey(key, options, before, io), seal);
    });
  await command.parseAsync([...words], { from: 'user' });
}

/** `decrypt-file KEY [--in FILE] [--out FILE]`. The file of `--out` appears when all of it was found authentic. */
export async function decryptFile(words: readonly string[], before: ConnectionOptions, io: Io): Promise<void> {
  const command = commandWith('decrypt-file', io)
    .description(
      'Decrypt what encrypt-file or a client library sealed. A file of --out appears when all of it is authentic. Standard output gets each ' +
        'piece when that piece is: what came is complete if the exit code is 0.',
    )
    .argument('<key>', 'transit key')
    .option('--in <FILE>', 'what to decrypt', '-')
    .option('--out <FILE>', 'where to', '-')
    .action(async (key: string, options: Options) => convert(options, io, true, await openKey(key, options, before, io), open));
  await command.parseAsync([...words], { from: 'user' });
}

/** `rewrap-file KEY FILE…`: the headers of files, in place. */
export async function rewrapFile(words: readonly string[], before: ConnectionOptions, io: Io): Promise<void> {
  const command = commandWith('rewrap-file', io)
    .description('Wrap the data keys of encrypted files under the newest version of the transit key, in place. The data is not read.')
    .argument('<key>', 'transit key')
    .argument('<files...>', 'encrypted files')
    .action(async (key: string, files: readonly string[], options: BoundOptions) => {
      const opened = await openKey(key, options, before, io);
      try {
        for (const file of files) await rewrapInPlace(file, opened.rewrap);
      } finally {
        opened.close();
      }
    });
  await command.parseAsync([...words], { from: 'user' });
}

function commandWith(name: string, io: Io): Command {
  const command = commandFor(io, `keystorectl ${name}`)
    .option('--derivation-context <TEXT>', 'context of a derived key: the same again to decrypt; @FILE reads it')
    .option('--associated-data <TEXT>', 'bound to the data key and no part of the file: the same again to decrypt; @FILE reads it')
    .helpOption('-h, --help', 'show this');
  for (const option of connectionOptions()) command.addOption(option);
  return command;
}

type OpenKey = { readonly keys: DataKeySource; rewrap(this: void, wrapped: string): Promise<string>; close(this: void): void };

/** Reads `--in`, writes the result to `--out`. */
async function convert(
  { in: from, out: to }: Options,
  io: Io,
  isSecret: boolean,
  { keys, close }: OpenKey,
  made: typeof open,
): Promise<void> {
  try {
    if (from === '-' && io.stdin.isTTY === true) throw usageError('nothing to read: give --in FILE, or a pipe');
    const target = beginFile(to, io, isSecret);
    try {
      for await (const octets of made(from === '-' ? io.stdin : readingFile(from), keys)) await target.write(octets);
      target.finish();
    } finally {
      target.abandon();
    }
  } catch (error) {
    throw failureOf(error, from);
  } finally {
    close();
  }
}

async function* readingFile(path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(path, { highWaterMark: 1 << 18 }) as AsyncIterable<Buffer>;
  } catch (error) {
    throw unreadable(path, error);
  }
}

async function rewrapInPlace(path: string, rewrap: (wrapped: string) => Promise<string>): Promise<void> {
  const file = await openFile(path, 'r+').catch((error: unknown) => {
    throw unreadable(path, error);
  });
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(headerBytes), 0, headerBytes, 0);
    const header = await rewrapHeader(buffer.subarray(0, bytesRead), rewrap);
    await file.write(header, 0, headerBytes, 0);
    await file.sync();
  } catch (error) {
    throw failureOf(error, path);
  } finally {
    await file.close();
  }
}

/** The transit key as a source of data keys. */
async function openKey(key: string, options: BoundOptions, before: ConnectionOptions, io: Io): Promise<OpenKey> {
  const { derivationContext, associatedData, ...connection } = options;
  const bound = defined({
    context: derivationContext === undefined ? undefined : await readValue(derivationContext, io),
    'associated-data': associatedData === undefined ? undefined : Buffer.from(await readValue(associatedData, io)).toString('base64'),
  });
  const client = new Client(await resolveConnection({ ...before, ...connection }, io));
  const ask = async (action: string, body: object): Promise<Record<string, string>> => {
    const path = `/v1/state/keystore/transit-keys/${encodeURIComponent(key)}/${action}`;
    return (await client.json({ method: 'POST', path, body: { ...body, ...bound }, isIdempotent: true })) as Record<string, string>;
  };
  return {
    keys: {
      id: key,
      owner: client,
      async make() {
        const { plaintext = '', ciphertext = '' } = await ask('generate-data-key', { type: 'plaintext', bits: 256 });
        return { plaintext: Buffer.from(plaintext, 'base64'), ciphertext };
      },
      open: async (ciphertext) => Buffer.from((await ask('decrypt', { ciphertext }))['plaintext'] ?? '', 'base64'),
    },
    rewrap: async (ciphertext) => (await ask('rewrap', { ciphertext }))['ciphertext'] ?? '',
    close: () => client.close(),
  };
}

function failureOf(error: unknown, path: string): unknown {
  if (!(error instanceof SealedDataError)) return error;
  return new CommandFailed(exitCodes.no, `${path === '-' ? 'standard input' : path}: ${error.message}`);
}

function unreadable(path: string, error: unknown): CommandFailed {
  return usageError(`${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? String(error)})`);
}
