// Transit keys and OpenPGP subkeys as things of a storm. What each version made must open or verify as long as the version lives.
import { randomBytes } from 'node:crypto';
import type { Dice } from '../../../fuzz/cases.ts';
import type { Json } from '../../client.ts';
import { type Connection, Find } from '../connection.ts';
import type { Sort, Step } from './thing.ts';

/** A request whose answer must have these fields, for ever. */
type Proof = { readonly action: string; readonly request: object; readonly answer: Readonly<Record<string, unknown>> };

type Key = {
  readonly latest: number;
  readonly floor: number;
  /** of the last change of its configuration; 0: none */
  readonly turn: number;
  /** by version */
  readonly proofs: ReadonlyMap<number, Proof>;
  /** acknowledged encryptions by version, which may be counted too high and never too low */
  readonly encryptions: ReadonlyMap<number, number>;
  /** a backup, and what it holds */
  readonly saved?: { readonly text: string; readonly key: Pick<Key, 'latest' | 'floor' | 'proofs' | 'encryptions'> };
};

type Use = { readonly action: string; readonly request: object; readonly encrypts?: true; readonly proof: (answer: Json) => Proof };

/** How keys of a cipher are made, and what they can do. */
type Row = {
  readonly kind: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly uses: readonly Use[];
  readonly imports?: true;
  readonly isInToken?: true;
  readonly isSubkey?: true;
};

const config = '/v1/config/keystore/transit-keys';
const state = '/v1/state/keystore/transit-keys';
const payload = Buffer.from('a value of the storm').toString('base64');

/** The OpenPGP key that subkeys are bound to; made before the storm. */
export const primaryName = 'storm-primary';

function sealing(derivation: object = {}): readonly Use[] {
  const opened = (ciphertext: string, plaintext: string): Proof => ({
    action: 'decrypt',
    request: { ciphertext, ...derivation },
    answer: { plaintext },
  });
  return [
    {
      action: 'encrypt',
      request: { plaintext: payload, ...derivation },
      encrypts: true,
      proof: ({ ciphertext }) => opened(ciphertext, payload),
    },
    {
      action: 'generate-data-key',
      request: { type: 'plaintext', ...derivation },
      encrypts: true,
      proof: ({ ciphertext, plaintext }) => opened(ciphertext, plaintext),
    },
    {
      action: 'hmac',
      request: { plaintext: payload },
      proof: ({ hmac }) => ({ action: 'verify', request: { text: payload, hmac }, answer: { valid: true } }),
    },
  ];
}

function signing(sign: string, verify: string): readonly Use[] {
  const proof = ({ signature }: { readonly signature: string }): Proof => ({
    action: verify,
    request: { text: payload, signature },
    answer: { valid: true },
  });
  return [{ action: sign, request: { text: payload }, proof }];
}

const rows: readonly Row[] = [
  { kind: 'AES key in the token', fields: { custody: 'token' }, uses: sealing(), imports: true, isInToken: true },
  { kind: 'ECDSA key in the token', fields: { cipher: 'ecdsa-p256', custody: 'token' }, uses: signing('sign', 'verify'), isInToken: true },
  { kind: 'wrapped AES key', fields: { custody: 'wrapped' }, uses: sealing(), imports: true },
  { kind: 'derived key', fields: { derived: true }, uses: sealing({ context: 'storm' }) },
  { kind: 'wrapped Ed25519 key', fields: { cipher: 'ed25519', custody: 'wrapped' }, uses: signing('sign', 'verify') },
  {
    kind: 'OpenPGP subkey',
    fields: { cipher: 'ed25519', 'openpgp-primary': primaryName, 'openpgp-key-usage': ['sign'] },
    uses: signing('openpgp-sign', 'openpgp-verify'),
    isSubkey: true,
  },
];

/** Every sort of key. */
export const keySorts: readonly Sort<Key>[] = rows.map(sortOf);

function sortOf(row: Row): Sort<Key> {
  return {
    kind: row.kind,
    create: (name) => ({
      ...{ kind: 'create', method: 'POST', path: config },
      body: { name, ...row.fields, 'deletion-allowed': true, ...(row.isSubkey === true ? {} : { 'allow-plaintext-backup': true }) },
      next: { latest: 1, floor: 1, turn: 0, proofs: new Map(), encryptions: new Map() },
    }),
    change: (name, key, dice) => drawChange(row, name, key, dice),
    async use(connection, name, key, dice) {
      const { action, request, encrypts, proof } = dice.pick(row.uses);
      const answer: Json = await connection.do('POST', `${state}/${name}/${action}`, request);
      // A worker that has not seen the last rotation would use the version before.
      if ('key-version' in answer && answer['key-version'] !== key.latest)
        throw new Find(`${action} of ${name} used version ${answer['key-version']} after version ${key.latest} was acknowledged`);
      const counted = new Map(key.encryptions);
      if (encrypts === true) counted.set(key.latest, (counted.get(key.latest) ?? 0) + 1);
      return { ...key, proofs: new Map(key.proofs).set(key.latest, proof(answer)), encryptions: counted };
    },
    contradiction: contradictionOf,
    isInToken: row.isInToken === true,
    objects: ({ latest, floor }) => (row.isInToken === true ? latest - floor + 1 : 0),
  };
}

/** The changes of a key with their shares; what is left of one is for uses. */
function drawChange(row: Row, name: string, key: Key, dice: Dice): Step<Key> | undefined {
  const drawn = dice.next();
  const grown = { ...key, latest: key.latest + 1 };
  const act = (kind: string, body: unknown, next: Key): Step<Key> => ({
    kind,
    method: 'POST',
    path: `${state}/${name}/${kind}`,
    body,
    next,
  });
  if (drawn < 0.32) return act('rotate', {}, grown);
  if (drawn < 0.5) return relabelled(name, key);
  if (drawn < 0.62) return key.latest > key.floor ? act('trim', { version: key.latest }, trimmed(key)) : undefined;
  if (drawn < 0.72) return row.imports === true ? act('import', { data: randomBytes(32).toString('base64') }, grown) : undefined;
  if (drawn < 0.8 && row.isSubkey !== true) {
    const { latest, floor, proofs, encryptions } = key;
    return {
      ...act('backup', {}, key),
      learn: ({ body }) => ({ ...key, saved: { text: body.key, key: { latest, floor, proofs, encryptions } } }),
    };
  }
  if (drawn < 0.9 && key.saved !== undefined) return act('restore', { key: key.saved.text }, { ...key, ...key.saved.key });
  if (drawn < 0.95) return { kind: 'delete', method: 'DELETE', path: `${config}/${name}`, next: undefined };
  return undefined;
}

function relabelled(name: string, key: Key): Step<Key> {
  const turn = key.turn + 1;
  return { kind: 'configure', method: 'PATCH', path: `${config}/${name}`, body: { labels: labelsOf(turn) }, next: { ...key, turn } };
}

function trimmed(key: Key): Key {
  const kept = <V>(byVersion: ReadonlyMap<number, V>): ReadonlyMap<number, V> =>
    new Map([...byVersion].filter(([version]) => version === key.latest));
  return { ...key, floor: key.latest, proofs: kept(key.proofs), encryptions: kept(key.encryptions) };
}

export function labelsOf(turn: number): { readonly turn: string } {
  return { turn: String(turn) };
}

async function contradictionOf(connection: Connection, name: string, key: Key | undefined): Promise<string | undefined> {
  const { status, body } = await connection.send('GET', `${state}/${name}`);
  if (key === undefined) return status === 404 ? undefined : `it exists (${status})`;
  const { latest, floor, turn, proofs, encryptions } = key;
  if (status !== 200) return `it does not exist (${status})`;
  if (body['latest-version'] !== latest || body['oldest-version'] !== floor)
    return `it has the versions ${body['oldest-version']} to ${body['latest-version']}, not ${floor} to ${latest}`;
  if (Number(body.labels?.turn ?? 0) !== turn) return `its configuration is that of change ${body.labels?.turn ?? 0}, not ${turn}`;
  for (const [version, count] of encryptions) {
    const counted = body.usage[version]?.['uses-at-most'] ?? 0;
    if (counted < count) return `of version ${version} at most ${counted} encryptions are counted, and ${count} were acknowledged`;
  }
  for (const [version, { action, request, answer }] of proofs) {
    const proven = await connection.send('POST', `${state}/${name}/${action}`, request);
    const differs = Object.entries(answer).some(([field, value]) => proven.body[field] !== value);
    if (differs) return `version ${version} fails to ${action} its value: ${proven.status} ${proven.text}`;
  }
  return undefined;
}
