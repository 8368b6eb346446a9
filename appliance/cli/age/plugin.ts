// age-plugin: opens age files whose recipient is an X25519 or X-Wing key of the appliance, as age and programs with its plugins ask for it (C2SP, age-plugin).
import { createPublicKey } from 'node:crypto';
import { readPem } from '../../../core/base/texts/pem.ts';
import { rawOfXWingSpki } from '../../../core/der/x-wing.ts';
import { Client } from '../client.ts';
import { connectionOptions, type ConnectionOptions } from '../connection-options.ts';
import { resolveConnection } from '../connection.ts';
import { commandFor, helpEnd } from '../terminal/command-output.ts';
import { CommandFailed, exitCodes, usageError } from '../terminal/failure.ts';
import type { Io } from '../terminal/io.ts';
import { decodeBech32, encodeBech32 } from './bech32.ts';
import { readStanzas, type Stanza, writeStanza } from './stanzas.ts';

const description =
  'Show the recipient (age1…) of a key with cipher x25519 or mlkem768-x25519, and its identity for files that are encrypted to it: with age-plugin-keystored on ' +
  'the path, age, SOPS and others open them through the appliance. The identity names the key and is public.';

const more = `
Programs look for age-plugin-keystored: make a script of that name, with two lines, on the path,
  #!/bin/sh
  exec keystorectl age-plugin "$@"
  keystorectl age-plugin archive > identity.txt
  age -r age1… -o backup.age backup.tar
  age -d -i identity.txt backup.age

Its connection is that of the environment, or of the profile (KEYSTORED_URL, KEYSTORED_TOKEN_FILE and so on).`;

/** age writes what is sealed to X-Wing keys as post-quantum recipients. */
const hybridType = 'mlkem768x25519';
const identityPrefix = 'age-plugin-keystored-';
const none = new Uint8Array(0);
/** Stanzas in one request. */
const atOnce = 100;

type Options = ConnectionOptions & { readonly keyVersion?: string; readonly agePlugin?: string };

/** `age-plugin KEY`, and `age-plugin --age-plugin=identity-v1` as programs run it. */
export async function runAgePlugin(words: readonly string[], before: ConnectionOptions, io: Io): Promise<void> {
  const command = commandFor(io, 'keystorectl age-plugin')
    .description(description)
    .argument('[key]', 'transit key with cipher x25519 or mlkem768-x25519')
    .option('--key-version <N>', 'version of the key (default: the newest that is active)')
    .option('--age-plugin <STATE>', 'how programs run it')
    .helpOption('-h, --help', 'show this')
    .addHelpText('after', helpEnd(more, io))
    .action(async (key: string | undefined, { keyVersion, agePlugin, ...connection }: Options) => {
      if (agePlugin === undefined && key === undefined)
        throw usageError('no key is named: give the name of a transit key with cipher x25519 or mlkem768-x25519');
      const connect = async (): Promise<Client> => new Client(await resolveConnection({ ...before, ...connection }, io));
      if (agePlugin !== undefined) return serve(agePlugin, connect, io);
      const client = await connect();
      try {
        await showKey(client, key as string, keyVersion, io);
      } finally {
        client.close();
      }
    });
  for (const option of connectionOptions()) command.addOption(option);
  await command.parseAsync([...words], { from: 'user' });
}

async function showKey(client: Client, key: string, keyVersion: string | undefined, io: Io): Promise<void> {
  const path = `/v1/state/keystore/transit-keys/${encodeURIComponent(key)}`;
  const state = (await client.json({ method: 'GET', path })) as {
    readonly 'latest-version': number;
    readonly 'default-encryption-version': number;
    readonly keys: Record<string, string>;
  };
  // 0 stands for the latest.
  const version = keyVersion ?? String(state['default-encryption-version'] || state['latest-version']);
  const pem = state.keys[version];
  if (pem === undefined) throw new CommandFailed(exitCodes.notFound, `the key has no version ${version}`);
  const recipient = recipientOf(pem);
  if (recipient === undefined)
    throw new CommandFailed(exitCodes.refused, `${key} has no X25519 key: age takes keys with cipher x25519 or mlkem768-x25519`);
  const identity = encodeBech32(identityPrefix, Buffer.from(`${key}/${version}`)).toUpperCase();
  io.stdout.write(`# public key: ${recipient}\n${identity}\n`);
}

/** The recipient of a public key; undefined for a key that age does not take. */
function recipientOf(pem: string): string | undefined {
  const der = readPem(pem).find(({ label }) => label === 'PUBLIC KEY')?.der;
  if (der === undefined) return undefined;
  const hybrid = rawOfXWingSpki(der);
  if (hybrid !== undefined) return encodeBech32('age1pq', hybrid);
  const publicKey = createPublicKey(pem);
  return publicKey.asymmetricKeyType === 'x25519' ? encodeBech32('age', publicKey.export({ format: 'raw-public' })) : undefined;
}

/** A key, and the version of it whose recipient the files name. */
type Identity = { readonly name: string; readonly version: number };

function readIdentity(text: string): Identity | undefined {
  const octets = decodeBech32(identityPrefix, text);
  const found = octets === undefined ? null : /^([^/]+)\/([1-9]\d{0,9})$/.exec(Buffer.from(octets).toString());
  return found === null ? undefined : { name: found[1] as string, version: Number(found[2]) };
}

/** Runs a state machine of age-plugin over standard input and output. */
async function serve(state: string, connect: Connect, io: Io): Promise<void> {
  const stanzas = readStanzas(io.stdin);
  const next = async (): Promise<Stanza> => {
    const one = await stanzas.next();
    if (one.done === true) throw new CommandFailed(exitCodes.refused, 'the program that runs age-plugin has ended the conversation');
    return one.value;
  };
  const tell = async (args: readonly string[], body: Uint8Array = none): Promise<void> => {
    io.stdout.write(writeStanza({ args, body }));
    if (args[0] !== 'done') await next();
  };
  try {
    if (state === 'identity-v1') await openAll(connect, next, tell);
    else await refuseToWrap(next, tell);
    await tell(['done']);
  } catch (error) {
    if (error instanceof SyntaxError) throw usageError(`standard input is not the conversation of age-plugin: ${error.message}`);
    throw error;
  }
}

type Connect = () => Promise<Client>;
type Tell = (args: readonly string[], body?: Uint8Array) => Promise<void>;

/**
 * Opens the first stanza of each file that an identity opens. Others are for other plugins. Why an identity opens nothing is told as a message: programs try no
 * other identity, of whatever kind, after an error.
 */
async function openAll(connect: Connect, next: () => Promise<Stanza>, tell: Tell): Promise<void> {
  const identities: Identity[] = [];
  const files = new Map<string, Stanza[]>();
  const unknown: number[] = [];
  let count = 0;
  for (let one = await next(); one.args[0] !== 'done'; one = await next()) {
    const [command, first = '', type, ...args] = one.args;
    if (command === 'add-identity') {
      const identity = readIdentity(first);
      if (identity === undefined) unknown.push(count);
      else identities.push(identity);
      count += 1;
    }
    if (command !== 'recipient-stanza' || (type !== 'X25519' && type !== hybridType)) continue;
    const stanza = { args: [type, ...args], body: one.body };
    const before = files.get(first);
    if (before === undefined) files.set(first, [stanza]);
    else before.push(stanza);
  }
  for (const at of unknown) await tell(['error', 'identity', String(at)], Buffer.from('not an identity of age-plugin-keystored'));
  if (identities.length === 0 || files.size === 0) return;
  const refusals = new Set<string>();
  const client = await orRefused(connect, refusals);
  try {
    for (const [file, stanzas] of client === undefined ? [] : files) {
      const why = new Set<string>();
      const fileKey = await findFileKey(client as Client, identities, stanzas, why);
      if (fileKey !== undefined) {
        await tell(['file-key', file], fileKey);
        fileKey.fill(0);
      } else for (const one of why) refusals.add(one);
    }
  } finally {
    client?.close();
  }
  for (const refusal of refusals) await tell(['msg'], Buffer.from(refusal));
}

/** Returns what `run` answers; undefined, and the reason among the refusals, where it fails as commands do. */
async function orRefused<Answer>(run: () => Promise<Answer>, refusals: Set<string>): Promise<Answer | undefined> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error;
    refusals.add(error.message);
    return undefined;
  }
}

type Opened = {
  readonly 'batch-results': readonly { readonly plaintext?: string; readonly code?: string; readonly 'error-message'?: string }[];
};

/** Tries each identity; `refusals` gets the reasons of those whose key was refused. */
async function findFileKey(
  client: Client,
  identities: readonly Identity[],
  stanzas: readonly Stanza[],
  refusals: Set<string>,
): Promise<Uint8Array | undefined> {
  for (const identity of identities) {
    const fileKey = await orRefused(() => openWith(client, identity, stanzas), refusals);
    if (fileKey !== undefined) return fileKey;
  }
  return undefined;
}

async function openWith(client: Client, { name, version }: Identity, stanzas: readonly Stanza[]): Promise<Uint8Array | undefined> {
  const path = `/v1/state/keystore/transit-keys/${encodeURIComponent(name)}/decrypt-batch`;
  for (let at = 0; at < stanzas.length; at += atOnce) {
    const items = stanzas.slice(at, at + atOnce).map((stanza) => ({
      ciphertext: writeStanza(stanza),
      ...{ format: 'age', 'key-version': version },
    }));
    const body = { 'batch-input': items };
    const { 'batch-results': results } = (await client.json({ method: 'POST', path, body, isIdempotent: true })) as Opened;
    const opened = results.find(({ plaintext }) => plaintext !== undefined);
    if (opened?.plaintext !== undefined) return Uint8Array.fromBase64(opened.plaintext);
    // That a stanza is for somebody else, or malformed, says nothing about the key.
    const refused = results.find(({ code }) => code !== 'decryption-failed' && code !== 'invalid-format');
    if (refused !== undefined)
      throw new CommandFailed(exitCodes.refused, `key ${name}: ${refused['error-message'] ?? refused.code ?? 'refused'}`);
  }
  return undefined;
}

/** Files are encrypted to the recipient, by every age: no plugin is needed. */
async function refuseToWrap(next: () => Promise<Stanza>, tell: Tell): Promise<void> {
  for (let one = await next(); one.args[0] !== 'done'; one = await next());
  await tell(
    ['error', 'internal'],
    Buffer.from('encrypt to the recipient age1… that "keystorectl age-plugin KEY" shows: that needs no plugin'),
  );
}
