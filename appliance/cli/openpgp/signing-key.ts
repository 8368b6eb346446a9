// The OpenPGP key that signs: its actions, and finding it by name, fingerprint, key ID or User ID.
import { hash } from 'node:crypto';
import type { AskKey } from '../../clients/typescript/src/openpgp/signing.ts';
import type { Client } from '../client.ts';
import { nextOf } from '../operations/pages.ts';
import { CommandFailed, exitCodes } from '../terminal/failure.ts';

const collection = '/v1/state/keystore/transit-keys';

/** Sends actions at a key. */
export function askKey(client: Client, key: string): AskKey {
  return async (action, body) => {
    const path = `${collection}/${encodeURIComponent(key)}/${action}`;
    return (await client.json({ method: 'POST', path, body, isIdempotent: true })) as Readonly<Record<string, unknown>>;
  };
}

/** Version of a key that a program has named; undefined: the version in use. */
export type NamedKey = { readonly name: string; readonly version: number | undefined };

/**
 * The transit key that somebody means by the text that gpg takes as a key. A name of a transit key is taken as it is; fingerprints, key IDs
 * and User IDs are looked for among the keys that the token may read. Rejects when none or several are meant.
 */
export async function findSigningKey(client: Client, given: string): Promise<NamedKey> {
  const hex = /^(?:0x)?([0-9a-f]{8}|[0-9a-f]{16}|[0-9a-f]{40})!?$/i.exec(given.replaceAll(' ', ''))?.[1]?.toUpperCase();
  if (hex === undefined && /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/.test(given)) return { name: given, version: undefined };
  const keys = await listKeys(client);
  const found = hex === undefined ? namedLike(keys, given) : await withFingerprint(client, keys, hex);
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  const which =
    found.length === 0 ? 'none of the transit keys that this token may read is' : `${found.map(({ name }) => name).join(' and ')} are`;
  throw new CommandFailed(exitCodes.notFound, `${which} the OpenPGP key "${given}": give the name of the transit key`);
}

type Listed = { readonly name: string; readonly 'openpgp-user-id'?: string; readonly 'openpgp-primary'?: string };

async function listKeys(client: Client): Promise<readonly Listed[]> {
  const keys: Listed[] = [];
  const path = '/v1/config/keystore/transit-keys';
  let query: URLSearchParams | undefined = new URLSearchParams({ fields: 'name,openpgp-user-id,openpgp-primary', limit: '1000' });
  while (query !== undefined) {
    const { headers, body } = await client.exchange({ method: 'GET', path, query });
    keys.push(...(JSON.parse(body.toString()) as readonly Listed[]));
    const next = nextOf({ headers });
    query = next === undefined ? undefined : new URLSearchParams(next.split('?')[1]);
  }
  return keys.filter((key) => key['openpgp-user-id'] !== undefined || key['openpgp-primary'] !== undefined);
}

/**
 * By the whole User ID, or by the address in it where no key has the text as a whole. A signing subkey is meant before its primary key, as gpg does it,
 * unless several primary keys are found: anybody may give a key the address of another one.
 */
function namedLike(keys: readonly Listed[], given: string): readonly NamedKey[] {
  const address = /<?([^<>\s]+@[^<>\s]+)>?$/.exec(given)?.[1]?.toLowerCase();
  const having = (fits: (id: string) => boolean): readonly Listed[] =>
    keys.filter(({ 'openpgp-user-id': id }) => id !== undefined && fits(id));
  const exact = having((id) => id === given);
  const byAddress = (id: string): boolean =>
    address !== undefined && (id.toLowerCase() === address || id.toLowerCase().endsWith(`<${address}>`));
  const primaries = exact.length > 0 ? exact : having(byAddress);
  const subkeys = primaries.length === 1 ? keys.filter((key) => key['openpgp-primary'] === primaries[0]?.name) : [];
  return (subkeys.length > 0 ? subkeys : primaries).map(({ name }) => ({ name, version: undefined }));
}

async function withFingerprint(client: Client, keys: readonly Listed[], hex: string): Promise<readonly NamedKey[]> {
  const found: NamedKey[] = [];
  for (const { name } of keys) {
    const { keys: blocks = [] } = (await askKey(client, name)('export-openpgp-public', {})) as {
      readonly keys?: readonly { readonly version: number; readonly keyblock: string }[];
    };
    for (const { version, keyblock } of blocks) if (fingerprintsIn(keyblock).at(-1)?.endsWith(hex) === true) found.push({ name, version });
  }
  return found;
}

/** Fingerprints of the keys in a block of the appliance: of the primary key, and of a subkey behind it. */
function fingerprintsIn(armored: string): readonly string[] {
  const body = /\n\n([\s\S]*?)\n=/.exec(armored)?.[1] ?? '';
  const fingerprints: string[] = [];
  let rest = Buffer.from(body, 'base64');
  while (rest.length > 2) {
    const { tag, start, end } = packetAt(rest);
    const packet = rest.subarray(start, end);
    const frame = Buffer.of(0x99, packet.length >>> 8, packet.length & 0xff);
    if (tag === 6 || tag === 14) fingerprints.push(hash('sha1', Buffer.concat([frame, packet])).toUpperCase());
    rest = rest.subarray(end);
  }
  return fingerprints;
}

/** A packet with a header of the new format, as this service writes it (RFC 9580, 4.2.1). */
export function packetAt(octets: Buffer): { readonly tag: number; readonly start: number; readonly end: number } {
  const tag = (octets[0] ?? 0) & 0x3f;
  const [first = 0, second = 0] = octets.subarray(1, 3);
  if (first < 192) return { tag, start: 2, end: 2 + first };
  if (first < 224) return { tag, start: 3, end: 3 + ((first - 192) << 8) + second + 192 };
  return { tag, start: 6, end: 6 + (octets.length < 6 ? 0 : octets.readUInt32BE(2)) };
}
