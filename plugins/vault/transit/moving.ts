// Keys that come and go: the wrapping key, imports of versions, exports in clear and wrapped, backups.
import { createPrivateKey } from 'node:crypto';
import { fail } from '../../../core/base/errors.ts';
import type { Alias, Asked, InvokeFurther, Outcome } from '../../../core/http/alias.ts';
import type { Answer } from '../../../core/http/response/answer.ts';
import type { JsonObject } from '../../../core/wire/json.ts';
import { type Facade, json, nothing, writes } from '../facade.ts';
import { Fields } from '../fields.ts';
import { keyDocument } from './keys.ts';

const config = '/v1/config/keystore/transit-keys';
const state = '/v1/state/keystore/transit-keys';

export function movingAliases(facade: Facade, mount: string): readonly Alias[] {
  return [...imports(facade, mount), ...exports(facade, mount), ...backups(facade, mount)];
}

function imports(facade: Facade, mount: string): readonly Alias[] {
  return [
    ...facade.aliases({
      ...{ methods: ['GET'], path: `${mount}/wrapping_key`, of: 'GET /v1/state/keystore/wrapping-key', target: () => ({ params: {} }) },
      answer: ({ requestId, document }, asked) =>
        facade.enveloped(asked, requestId, { data: { public_key: (document as JsonObject)['wrapping-key'] } }),
    }),
    ...newFrom(facade, mount),
    ...facade.aliases({
      ...{ methods: writes, path: `${mount}/keys/{name}/import_version`, of: `POST ${state}/{name}/import`, answer: () => nothing },
      input: (document) => {
        const fields = new Fields(document);
        const hash = oaepHash(fields);
        const ciphertext = fields.base64('ciphertext');
        if (ciphertext === undefined)
          throw fail('missing-field', { detail: 'no ciphertext: send the material wrapped under the key of wrapping_key.' });
        return { ciphertext, ...hash };
      },
    }),
  ];
}

/** Makes a key of a public one, or with version 1 of wrapped material: values made under that elsewhere open here. */
function newFrom(facade: Facade, mount: string): readonly Alias[] {
  const given = new WeakMap<Asked, JsonObject>();
  return facade.aliases({
    ...{ methods: writes, path: `${mount}/keys/{name}/import`, of: `POST ${config}`, answer: () => nothing },
    input: (document, asked, caller) => {
      const fields = new Fields(document);
      const hash = oaepHash(fields);
      const [ciphertext, publicKey] = [fields.base64('ciphertext'), fields.word('public_key')];
      if ((ciphertext === undefined) === (publicKey === undefined))
        throw fail('missing-field', { detail: 'send either ciphertext, wrapped under the key of wrapping_key, or public_key.' });
      if (ciphertext !== undefined) given.set(asked, { ciphertext, ...hash });
      const made = keyDocument(facade, fields, caller);
      const derivation = made['derived'] === true ? { kdf: 'hkdf-sha256' } : {};
      const key = { ...made, ...derivation, name: asked.params['name'] ?? '' };
      return publicKey === undefined ? key : { ...key, 'public-key': publicKey };
    },
    acts: (asked) =>
      given.has(asked) ? { acts: ['bring-keys-in'], path: `${state}/${facade.requireName(asked.params['name'])}/import` } : undefined,
    reply: async ({ error }, asked, invoke) => {
      const [material, name] = [given.get(asked), facade.requireName(asked.params['name'])];
      if (error !== undefined || material === undefined) return undefined;
      const done = await invoke('POST', `${state}/${name}/import`, { ...material, 'as-version': 1 });
      if (done.status < 400) return nothing;
      // The key that was made for it goes with it, as far as the token may delete it.
      await invoke('PATCH', `${config}/${name}`, { 'deletion-allowed': true });
      const { status } = await invoke('DELETE', `${config}/${name}`);
      if (status >= 400) facade.warn(asked, `The key "${name}" was made, and is there without what was to be imported: delete it.`);
      return facade.refused(done, 'use', asked);
    },
  });
}

/** Field of our `import` for the hash of RSA-OAEP. Throws invalid-value for one that it does not have. */
function oaepHash(fields: Fields): { readonly 'hash-algorithm'?: string } {
  const named = fields.word('hash_function')?.toLowerCase().replace('-', '');
  if (named === undefined || hashes.has(named)) return named === undefined ? {} : { 'hash-algorithm': named };
  throw fail('invalid-value', { detail: '"hash_function" must be SHA1, SHA256, SHA384 or SHA512.' });
}

const hashes: ReadonlySet<string> = new Set(['sha1', 'sha256', 'sha384', 'sha512']);

/** The state of a key; what policies hide is absent. */
type KeyState = {
  readonly name?: string;
  readonly cipher?: string;
  readonly 'latest-version'?: number;
  /** by version */
  readonly keys?: Readonly<Record<string, string>>;
};

/** The request of an export: format, and the cipher of the key. */
type Exported = { readonly cipher: string; readonly format: string };

function exports(facade: Facade, mount: string): readonly Alias[] {
  const asked = new WeakMap<Asked, Exported>();
  return ['', '/{version}'].flatMap((ending) => [
    ...['encryption-key', 'signing-key'].flatMap((kind) =>
      facade.aliases({
        ...{ methods: ['GET'], missing: 'read', path: `${mount}/export/${kind}/{name}${ending}`, of: `POST ${state}/{name}/export` },
        input: (_document, it, caller) => {
          const nature = caller && facade.keys.natureOf(caller.tenantId, it.params['name'] ?? '');
          const cipher = nature?.cipher ?? '';
          if ((nature?.signs ?? true) !== (kind === 'signing-key'))
            throw fail('invalid-value', { detail: `the key type ${cipher} does not have an ${kind}: ask for the other kind.` });
          asked.set(it, { cipher, format: it.query.get('format') ?? '' });
          return { format: 'clear', ...versionOf(it) };
        },
        answer: ({ requestId, document }, it) => {
          const { cipher, format } = asked.get(it) ?? { cipher: '', format: '' };
          const { keys = {} } = document as { readonly keys?: Readonly<Record<string, string>> };
          const shown = Object.entries(keys).map(([number, text]) => [number, exportedText(text, format)]);
          return facade.enveloped(it, requestId, { data: { name: it.params['name'], type: cipher, keys: Object.fromEntries(shown) } });
        },
      }),
    ),
    ...facade.aliases({
      ...{ methods: ['GET'], missing: 'read', path: `${mount}/export/public-key/{name}${ending}`, of: `GET ${state}/{name}` },
      answer: ({ requestId, document }, it) => {
        const { name, cipher, 'latest-version': latest, keys = {} } = document as KeyState;
        const wanted = it.params['version'] === 'latest' ? String(latest) : it.params['version'];
        const shown = Object.entries(keys).filter(
          ([number, text]) => text.startsWith('-----BEGIN PUBLIC KEY') && (wanted === undefined || number === wanted),
        );
        if (shown.length === 0) return json(400, { errors: ['no such public key: the key is secret, or has no such version'] });
        return facade.enveloped(it, requestId, { data: { name, type: cipher, keys: Object.fromEntries(shown) } });
      },
    }),
    ...facade.aliases({
      ...{ methods: ['GET'], missing: 'read', path: `${mount}/byok-export/{destination}/{source}${ending}`, of: `GET ${state}/{name}` },
      target: ({ params }) => ({ params: { name: facade.requireName(params['destination']) } }),
      answer: () => nothing,
      reply: (outcome, it, invoke) => wrapped(facade, outcome, it, invoke),
    }),
  ]);
}

/** All versions unless one is named. Throws `invalid-value`. */
function versionOf({ params }: Asked): JsonObject {
  const { version } = params;
  if (version === undefined) return {};
  if (version === 'latest') return { version };
  if (/^[1-9]\d{0,8}$/.test(version)) return { version: Number(version) };
  throw fail('invalid-value', { detail: 'invalid version: it must be a number from 1, or latest.' });
}

/** Secrets as they are; private keys in the usual form of their kind, Ed25519 as seed and public key, or in PKCS#8 for `der` and `pem`. */
function exportedText(text: string, format: string): string {
  if (!text.startsWith('-----')) return text;
  const key = createPrivateKey(text);
  if (format === 'der') return key.export({ type: 'pkcs8', format: 'der' }).toString('base64');
  const type = key.asymmetricKeyType;
  if (format === 'pem' || (type !== 'rsa' && type !== 'ec' && type !== 'ed25519')) return text;
  if (type === 'rsa') return key.export({ type: 'pkcs1', format: 'pem' });
  if (type === 'ec') return key.export({ type: 'sec1', format: 'pem' });
  const { d = '', x = '' } = key.export({ format: 'jwk' });
  return Buffer.concat([Buffer.from(d, 'base64url'), Buffer.from(x, 'base64url')]).toString('base64');
}

/** Exports the source under the public key of the destination, which the first request has read. */
async function wrapped(facade: Facade, outcome: Outcome, asked: Asked, invoke: InvokeFurther): Promise<Answer | undefined> {
  const { error, document, requestId } = outcome;
  if (error !== undefined) return undefined;
  const { cipher = '', keys = {}, 'latest-version': latest } = document as KeyState;
  const key = keys[String(latest)];
  if (key === undefined || !cipher.startsWith('rsa-'))
    return json(400, { errors: ['the destination must be an RSA key: its public key wraps what is exported'] });
  const source = facade.requireName(asked.params['source']);
  const input = { format: 'wrapped', 'wrapping-key': key, ...versionOf(asked) };
  const exported = await invoke('POST', `${state}/${source}/export`, input);
  if (exported.status !== 200) return facade.refused(exported, 'read');
  const { keys: blobs } = exported.document as JsonObject;
  return facade.enveloped(asked, requestId, { data: { name: source, keys: blobs } });
}

function backups(facade: Facade, mount: string): readonly Alias[] {
  return [
    ...facade.aliases({
      ...{ methods: ['GET'], missing: 'read', path: `${mount}/backup/{name}`, of: `POST ${state}/{name}/backup` },
      answer: ({ requestId, document }, asked) => facade.enveloped(asked, requestId, { data: { backup: (document as JsonObject)['key'] } }),
    }),
    ...facade.aliases({
      ...{ methods: writes, path: `${mount}/restore/{name}`, of: `POST ${state}/{name}/restore`, answer: () => nothing },
      // Called for a key that exists: without force it stays.
      input: (document, { params }) => {
        const fields = new Fields(document);
        if (fields.flag('force') === true) return { key: fields.text('backup') ?? '' };
        throw fail('already-exists', { detail: `key "${params['name']}" already exists: restore with force, or under another name.` });
      },
      readsDespite: ({ code }) => code === 'not-found',
      reply: (outcome, asked, invoke) => restored(facade, outcome, asked, invoke),
    }),
  ];
}

/** Makes the key if there is not one, and restores it. A key that may be deleted leaves nothing behind if the backup is refused. */
async function restored(facade: Facade, outcome: Outcome, asked: Asked, invoke: InvokeFurther): Promise<Answer | undefined> {
  if (outcome.error?.code !== 'not-found' || outcome.caller === undefined) return undefined;
  const name = facade.requireName(asked.params['name']);
  const backup = new Fields(outcome.body() ?? {}).text('backup') ?? '';
  const made = await invoke('POST', config, { name, 'deletion-allowed': true });
  if (made.status !== 201) return facade.refused(made);
  const done = await invoke('POST', `${state}/${name}/restore`, { key: backup });
  if (done.status < 400) return nothing;
  await invoke('DELETE', `${config}/${name}`);
  return facade.refused(done);
}
