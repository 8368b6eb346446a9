// Keys: create, read, list, configure, rotate, trim, delete. Changes of a key are answered with the key, as there.
import type { Caller } from '../../../core/access/caller.ts';
import { fail } from '../../../core/base/errors.ts';
import { decodeDuration } from '../../../core/base/time.ts';
import { formatDuration } from '../../../core/base/time.ts';
import type { Alias, Asked, InvokeFurther, Outcome } from '../../../core/http/alias.ts';
import type { Answer } from '../../../core/http/response/answer.ts';
import type { JsonObject, JsonValue } from '../../../core/wire/json.ts';
import { type Facade, nothing, type Route, writes } from '../facade.ts';
import { Fields } from '../fields.ts';

const config = '/v1/config/keystore/transit-keys';
const state = '/v1/state/keystore/transit-keys';

/** Every route about keys themselves. */
export function keyAliases(facade: Facade, mount: string): readonly Alias[] {
  return [...reads(facade, mount), ...changes(facade, mount), ...removals(facade, mount)];
}

function reads(facade: Facade, mount: string): readonly Alias[] {
  return [
    ...facade.aliases({
      methods: ['GET'],
      missing: 'read',
      path: `${mount}/keys/{name}`,
      of: `GET ${state}/{name}`,
      answer: ({ requestId, document }, asked) => facade.enveloped(asked, requestId, { data: keyOf(document as JsonObject) }),
    }),
    ...facade.aliases({
      methods: ['GET', 'LIST'],
      missing: 'read',
      path: `${mount}/keys`,
      of: `GET ${config}`,
      target: (asked) => ({ params: {}, query: facade.listQuery(asked) }),
      answer: ({ requestId, document }, asked) => facade.listed(asked, requestId, document as readonly string[]),
    }),
  ];
}

function changes(facade: Facade, mount: string): readonly Alias[] {
  const change = (route: Omit<Route, 'methods' | 'answer'>): readonly Alias[] =>
    facade.aliases({
      methods: writes,
      answer: () => nothing,
      reply: (outcome, asked, invoke) => keyAfter(facade, outcome, asked, invoke),
      ...route,
    });
  return [
    ...change({
      path: `${mount}/keys/{name}`,
      of: `POST ${config}`,
      input: (document, asked, caller) => {
        const fields = new Fields(document, ['name', 'context', 'key_size', 'managed_key_name', 'managed_key_id']);
        const input = { ...keyDocument(facade, fields, caller), name: asked.params['name'] ?? '' };
        facade.warnOfUnknown(asked, fields.unknown());
        return input;
      },
      reply: (outcome, asked, invoke) => keyAfter(facade, outcome, asked, invoke, 'already-exists'),
    }),
    ...change({
      path: `${mount}/keys/{name}/config`,
      of: `PATCH ${config}/{name}`,
      input: (document, asked) => {
        const fields = new Fields(document, ['name']);
        const input = settingsDocument(fields);
        facade.warnOfUnknown(asked, fields.unknown());
        return input;
      },
    }),
    ...change({ path: `${mount}/keys/{name}/rotate`, of: `POST ${state}/{name}/rotate` }),
    ...change({
      path: `${mount}/keys/{name}/trim`,
      of: `POST ${state}/{name}/trim`,
      input: (document) => {
        const version = new Fields(document).integer('min_available_version');
        if (version === undefined) throw fail('missing-field', { detail: 'missing min_available_version: the oldest version to keep' });
        return { version };
      },
    }),
  ];
}

function removals(facade: Facade, mount: string): readonly Alias[] {
  return facade.aliases({ methods: ['DELETE'], path: `${mount}/keys/{name}`, of: `DELETE ${config}/{name}`, answer: () => nothing });
}

/** Reads the key after a change; empty if the token may not read it. `unless`: code of a refusal that does not count as one there. */
async function keyAfter(
  facade: Facade,
  { error, requestId }: Outcome,
  asked: Asked,
  invoke: InvokeFurther,
  unless?: string,
): Promise<Answer | undefined> {
  if (error !== undefined && error.code !== unless) return undefined;
  if (error !== undefined) facade.warn(asked, 'The key exists already and was not changed.');
  const read = await invoke('GET', `${state}/${asked.params['name'] ?? ''}`);
  return read.status === 200 ? facade.enveloped(asked, requestId, { data: keyOf(read.document as JsonObject) }) : nothing;
}

const noHmacKeys =
  'unknown key type hmac: no key is for HMACs alone here, because every key makes them, under a secret of its own that is not the key it encrypts or signs ' +
  'with. Make a key of another type, for example aes256-gcm96, and give a token the right to hmac and verify alone. A secret of 32 octets from elsewhere ' +
  'comes in as "hmac-key" of our import.';

/** The document of a new key, without its name. An RSA key has the one use that the tenant has chosen for this API. */
export function keyDocument(facade: Facade, fields: Fields, caller?: Caller): JsonObject & { readonly cipher: string } {
  const { cipherNames } = facade.keys;
  const cipher = fields.word('type') ?? 'aes256-gcm96';
  if (cipher === 'hmac') throw fail('invalid-value', { detail: noHmacKeys });
  if (!cipherNames.includes(cipher))
    throw fail('invalid-value', { detail: `unknown key type ${cipher.slice(0, 32)}: this service has ${cipherNames.join(', ')}.` });
  const rotation = rotationOf(fields);
  const use = cipher.startsWith('rsa-') && caller !== undefined ? facade.settingsOf(caller.tenantName)?.rsaUse : undefined;
  return {
    cipher,
    ...(use === 'encrypt' ? { use } : {}),
    ...flags(fields, {
      derived: 'derived',
      convergent_encryption: 'convergent-encryption',
      exportable: 'exportable',
      allow_plaintext_backup: 'allow-plaintext-backup',
    }),
    ...(rotation === undefined || rotation === 0 ? {} : { 'auto-rotate': { 'rotate-after': formatDuration(rotation) } }),
  };
}

function settingsDocument(fields: Fields): JsonObject {
  const decryption = fields.integer('min_decryption_version');
  const encryption = fields.integer('min_encryption_version');
  const rotation = rotationOf(fields);
  const deletion = fields.flag('deletion_allowed');
  if (rotation === 0)
    throw fail('invalid-value', {
      detail: "A timer of rotation is not taken away by this API: replace the key's configuration at /v1/config without auto-rotate.",
    });
  return {
    ...(decryption === undefined ? {} : { 'min-decryption-version': Math.max(1, decryption) }),
    ...(encryption === undefined ? {} : { 'min-encryption-version': encryption }),
    ...(deletion === undefined ? {} : { 'deletion-allowed': deletion }),
    ...(rotation === undefined ? {} : { 'auto-rotate': { 'rotate-after': formatDuration(rotation) } }),
    // Back to false is ignored there, and refused here: what cannot be taken back is not asked for.
    ...Object.fromEntries(
      Object.entries(flags(fields, { exportable: 'exportable', allow_plaintext_backup: 'allow-plaintext-backup' })).filter(
        ([, isSet]) => isSet === true,
      ),
    ),
  };
}

function rotationOf(fields: Fields): number | undefined {
  const seconds = fields.seconds('auto_rotate_period');
  if (seconds !== undefined && seconds !== 0 && seconds < 3_600)
    throw fail('invalid-value', { detail: 'auto rotate period must be 0 to disable or at least an hour' });
  return seconds;
}

function flags(fields: Fields, names: Readonly<Record<string, string>>): JsonObject {
  const values = Object.entries(names).map(([theirs, ours]) => [ours, fields.flag(theirs)] as const);
  return Object.fromEntries(values.filter((entry): entry is [string, boolean] => entry[1] !== undefined));
}

/** The state of a key in their words, without what policies hide; a timer and a least version for encryption are often not set, and then 0. */
function keyOf(key: JsonObject): JsonObject {
  const cipher = textAt(key, 'cipher');
  const isSymmetric = cipher.startsWith('aes');
  const derived = key['derived'] === true;
  return {
    name: textAt(key, 'name'),
    ...(cipher === '' ? {} : { type: cipher }),
    ...shownAs(key, { derived: 'derived' }),
    ...(derived ? { kdf: textAt(key, 'kdf').replace('-', '_'), ...shownAs(key, { convergent_encryption: 'convergent-encryption' }) } : {}),
    ...shownAs(key, { deletion_allowed: 'deletion-allowed', exportable: 'exportable', allow_plaintext_backup: 'allow-plaintext-backup' }),
    ...shownAs(key, { latest_version: 'latest-version' }),
    ...(key['oldest-version'] === undefined ? {} : { min_available_version: minAvailable(key) }),
    ...(key['min-decryption-version'] === undefined
      ? {}
      : { min_decryption_version: Math.max(1, numberAt(key, 'min-decryption-version')) }),
    min_encryption_version: numberAt(key, 'min-encryption-version'),
    ...shownAs(key, { supports_encryption: 'supports-encryption', supports_decryption: 'supports-decryption' }),
    ...shownAs(key, { supports_signing: 'supports-signing', supports_derivation: 'supports-derivation' }),
    auto_rotate_period: rotationSeconds(key['auto-rotate']),
    ...{ imported_key: false, soft_deleted: false },
    keys: versionsOf(key, cipher, isSymmetric),
  };
}

const shownAs = (key: JsonObject, names: Readonly<Record<string, string>>): JsonObject =>
  Object.fromEntries(Object.entries(names).flatMap(([theirs, ours]) => (key[ours] === undefined ? [] : [[theirs, key[ours]]])));

const minAvailable = (key: JsonObject): number => {
  const oldest = numberAt(key, 'oldest-version');
  return oldest <= 1 ? 0 : oldest;
};

const curves: Readonly<Record<string, string>> = { 'ecdsa-p256': 'P-256', 'ecdsa-p384': 'P-384', 'ecdsa-p521': 'P-521' };

/** Versions that still decrypt or verify: integer seconds of a secret key, the public half of others. */
function versionsOf(key: JsonObject, cipher: string, isSymmetric: boolean): JsonObject {
  const keys = objectAt(key, 'keys');
  const versions = objectAt(key, 'versions');
  const least = numberAt(key, 'min-decryption-version');
  const shown = Object.entries(keys).filter(([number]) => Number(number) >= least);
  return Object.fromEntries(
    shown.map(([number, value]) => {
      const created = (versions[number] as JsonObject | undefined)?.['created'];
      const createdAt = typeof created === 'string' ? created : '1970-01-01T00:00:00Z';
      if (isSymmetric) return [number, Math.floor(Temporal.Instant.from(createdAt).epochMilliseconds / 1_000)];
      return [
        number,
        {
          name: curves[cipher] ?? cipher,
          public_key: cipher === 'ed25519' ? rawEd25519(textOf(value)) : textOf(value),
          creation_time: createdAt,
          certificate_chain: '',
        },
      ];
    }),
  );
}

/** The 32 octets at the end of a SubjectPublicKeyInfo, in base64: no PEM, as there. */
function rawEd25519(pem: string): string {
  const der = Buffer.from(pem.replaceAll(/-----[^-]+-----|\s/g, ''), 'base64');
  return der.subarray(-32).toString('base64');
}

function rotationSeconds(rotation: JsonValue | undefined): number {
  const text = (rotation as JsonObject | undefined)?.['rotate-after'];
  return typeof text === 'string' ? (decodeDuration(text)?.seconds ?? 0) : 0;
}

const textOf = (value: JsonValue): string => (typeof value === 'string' ? value : '');
const textAt = (key: JsonObject, name: string): string => (typeof key[name] === 'string' ? key[name] : '');
const numberAt = (key: JsonObject, name: string): number => (typeof key[name] === 'number' ? key[name] : 0);
const objectAt = (key: JsonObject, name: string): JsonObject =>
  typeof key[name] === 'object' && key[name] !== null ? (key[name] as JsonObject) : {};
