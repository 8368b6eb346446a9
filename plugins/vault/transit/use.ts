// Using keys: encrypt, decrypt, rewrap, data keys, hmac, sign, verify, random. A single request or a batch, as there.
import type { Caller } from '../../../core/access/caller.ts';
import { fail, ServiceError } from '../../../core/base/errors.ts';
import type { Alias, Answered, Asked, InvokeFurther, Outcome } from '../../../core/http/alias.ts';
import type { Answer } from '../../../core/http/response/answer.ts';
import type { KeyNature } from '../../../core/plugin/services/transit-keys.ts';
import type { JsonObject, JsonValue } from '../../../core/wire/json.ts';
import { type Facade, writes } from '../facade.ts';
import { Fields } from '../fields.ts';
import { keyDocument } from './keys.ts';
import { valueToOurs, valueToTheirs } from './values.ts';

/** An action on one key: how an item of a request is read, and one of an answer written. */
type Action = {
  readonly facade: Facade;
  /** path below the mount, with `{name}` */
  readonly path: string;
  /** action of our endpoint */
  readonly action: string;
  /** Fields of one item, in our words. */
  read(fields: Fields, use: Use): JsonObject;
  /** Writes the answer of one item, without fields that a policy hides. */
  write(result: JsonObject): JsonObject;
  /** members of a failed item of a batch beside `error` and `reference` */
  readonly failed?: JsonObject;
  /** a batch in which an item failed is 400, as for encrypt and decrypt */
  readonly failsWithItem?: true;
  readonly reply?: (action: Action, outcome: Outcome, asked: Asked, invoke: InvokeFurther) => Promise<Answer | undefined>;
};

/** Request, and the key it is for. */
type Use = { readonly asked: Asked; readonly nature: KeyNature | undefined; readonly isStrict: boolean };

/** Fields that have no effect here, and are known all the same. */
const withoutEffect = ['name', 'partial_failure_response_code', 'type', 'convergent_encryption', 'salt_length', 'reference'];

/** Every route that uses a key. */
export function useAliases(facade: Facade, mount: string): readonly Alias[] {
  const hashed = (path: string): readonly string[] => [path, `${path}/{algorithm}`];
  return [
    ...routes(mount, encryption(facade)),
    ...routes(mount, decryption(facade)),
    ...routes(mount, rewrapping(facade)),
    ...['plaintext', 'wrapped'].flatMap((type) => routes(mount, dataKey(facade, type))),
    ...hashed('hmac/{name}').flatMap((path) => routes(mount, hmac(facade, path))),
    ...hashed('sign/{name}').flatMap((path) => routes(mount, signature(facade, path))),
    ...hashed('verify/{name}').flatMap((path) => routes(mount, verification(facade, path))),
    ...['random', 'random/{bytes}', 'random/{source}/{bytes}'].flatMap((path) => random(facade, `${mount}/${path}`)),
  ];
}

const partialStatus = new WeakMap<Asked, number>();

function routes(mount: string, action: Action): readonly Alias[] {
  const { facade, path, reply } = action;
  return facade.aliases({
    methods: writes,
    path: `${mount}/${path}`,
    of: `POST /v1/state/keystore/transit-keys/{name}/${action.action}`,
    input: (document, asked, caller) => readInput(action, document, asked, caller),
    answer: (answered, asked) => answerOf(action, answered, asked),
    ...(reply === undefined
      ? {}
      : {
          // A success has nothing more to say, and does not wait for a turn.
          reply: (outcome, it, invoke) => (outcome.error === undefined ? undefined : reply(action, outcome, it, invoke)),
          readsDespite: (refusal, caller) => makesKey(facade, refusal, caller),
        }),
  });
}

function readInput(
  action: Action,
  document: JsonObject,
  asked: Asked,
  caller: Caller | undefined,
  nature = caller && action.facade.keys.natureOf(caller.tenantId, asked.params['name'] ?? ''),
): JsonObject {
  const { facade } = action;
  const use: Use = {
    asked,
    nature,
    isStrict: caller !== undefined && facade.settingsOf(caller.tenantName)?.strictContext === true,
  };
  const fields = new Fields(document, withoutEffect);
  const batch = fields.items('batch_input');
  if (batch === undefined) {
    const input = action.read(fields, use);
    facade.warnOfUnknown(asked, fields.unknown());
    return input;
  }
  if (batch.length === 0) throw fail('invalid-value', { detail: 'missing batch input to process' });
  const partial = fields.integer('partial_failure_response_code');
  if (partial !== undefined && partial >= 200 && partial <= 599) partialStatus.set(asked, partial);
  return { 'batch-input': batch.map((item) => readItem(action, item, use)) };
}

function readItem(action: Action, item: JsonObject, use: Use): JsonObject {
  const fields = new Fields(item, withoutEffect);
  return { ...action.read(fields, use), ...field('reference', fields.word('reference')) };
}

function answerOf(action: Action, { status, requestId, document }: Answered, asked: Asked): Answer {
  const { facade } = action;
  const answer = document as JsonObject;
  const results = answer['batch-results'];
  if (!Array.isArray(results)) return facade.enveloped(asked, requestId, { data: action.write(answer) });
  const data = { batch_results: results.map((one) => itemOf(action, one as JsonObject)) };
  const failed = results.filter((one) => isFailed(one as JsonObject)).length;
  const bad = failed === results.length ? 400 : (partialStatus.get(asked) ?? 400);
  return facade.enveloped(asked, requestId, { data }, action.failsWithItem === true && failed > 0 ? bad : status === 400 ? 200 : status);
}

/** Each of these members alone tells it: a policy may hide the others. */
const isFailed = (result: JsonObject): boolean => ['status', 'code', 'error-message'].some((name) => result[name] !== undefined);

function itemOf(action: Action, result: JsonObject): JsonObject {
  const reference = result['reference'] ?? '';
  if (isFailed(result)) return { ...action.failed, error: result['error-message'] ?? result['code'] ?? 'failed', reference };
  return { ...action.write(result), reference };
}

const field = (name: string, value: JsonValue | undefined): JsonObject => (value === undefined ? {} : { [name]: value });
const version = (fields: Fields): JsonObject => {
  const number = fields.integer('key_version');
  return number === undefined || number === 0 ? {} : { 'key-version': number };
};
const keyVersion = (result: JsonObject): JsonObject => field('key_version', result['key-version']);
const required = (text: string | undefined, name: string, what: string): string => {
  if (text === undefined) throw fail('missing-field', { detail: what, items: [{ message: 'is required', info: name }] });
  return text;
};

/**
 * A context of a key that is not derived authenticates nothing: it is left out with a warning, as there, or refused where the tenant wants
 * that.
 */
function context(facade: Facade, fields: Fields, { asked, nature, isStrict }: Use): JsonObject {
  const text = fields.context();
  if (text === undefined) return {};
  if (nature?.isDerived !== false) return { context: text };
  if (isStrict)
    throw fail('invalid-value', {
      detail:
        'The key is not derived, so that a context would not be authenticated: send associated_data, or use a key made with derived: true.',
    });
  facade.warn(asked, 'The context was ignored, and nothing authenticates it: the key is not derived. Send associated_data.');
  return {};
}

function encryption(facade: Facade): Action {
  return {
    ...{ facade, path: 'encrypt/{name}', action: 'encrypt', failsWithItem: true },
    read: (fields, use) => ({
      plaintext: required(fields.base64('plaintext'), 'plaintext', 'missing plaintext to encrypt'),
      ...context(facade, fields, use),
      ...field('associated-data', fields.base64('associated_data')),
      ...version(fields),
    }),
    write: (result) => ({ ...field('ciphertext', valueToTheirs('value', result['ciphertext'])), ...keyVersion(result) }),
    reply: upsert,
  };
}

function decryption(facade: Facade): Action {
  return {
    ...{ facade, path: 'decrypt/{name}', action: 'decrypt', failsWithItem: true, failed: { plaintext: '' } },
    read: (fields, use) => ({
      ciphertext: ciphertext(fields),
      ...context(facade, fields, use),
      ...field('associated-data', fields.base64('associated_data')),
    }),
    write: ({ plaintext }) => field('plaintext', plaintext),
  };
}

function rewrapping(facade: Facade): Action {
  return {
    ...{ facade, path: 'rewrap/{name}', action: 'rewrap' },
    read: (fields, use) => ({
      ciphertext: ciphertext(fields),
      ...context(facade, fields, use),
      ...field('associated-data', fields.base64('associated_data')),
      ...version(fields),
    }),
    write: (result) => ({ ...field('ciphertext', valueToTheirs('value', result['ciphertext'])), ...keyVersion(result) }),
  };
}

const ciphertext = (fields: Fields): string =>
  valueToOurs('value', required(fields.text('ciphertext'), 'ciphertext', 'missing ciphertext to decrypt'), 'ciphertext');

function dataKey(facade: Facade, type: string): Action {
  return {
    ...{ facade, path: `datakey/${type}/{name}`, action: 'generate-data-key' },
    read: (fields, use) => ({
      type,
      ...field('bits', fields.integer('bits')),
      ...context(facade, fields, use),
      ...field('associated-data', fields.base64('associated_data')),
      ...version(fields),
    }),
    write: (result) => ({
      ...field('ciphertext', valueToTheirs('value', result['ciphertext'])),
      ...field('plaintext', result['plaintext']),
      ...keyVersion(result),
    }),
  };
}

const hashes: Readonly<Record<string, string>> = { 'sha2-256': 'sha256', 'sha2-384': 'sha384', 'sha2-512': 'sha512' };

/** The hash of the path before that of the body. Throws `invalid-value` for one that there is not. */
function hashOf(fields: Fields, { params }: Asked): string {
  const [own, former] = [fields.word('hash_algorithm'), fields.word('algorithm')];
  const name = params['algorithm'] ?? own ?? former ?? 'sha2-256';
  const hash = Object.hasOwn(hashes, name) ? hashes[name] : undefined;
  if (hash === undefined)
    throw fail('invalid-value', {
      detail: `invalid hash algorithm "${name.slice(0, 32)}": this service has ${Object.keys(hashes).join(', ')}.`,
    });
  return hash;
}

function hmac(facade: Facade, path: string): Action {
  return {
    ...{ facade, path, action: 'hmac' },
    read: (fields, { asked }) => ({
      plaintext: required(fields.base64('input'), 'input', 'missing input for HMAC'),
      'hash-algorithm': hashOf(fields, asked),
      ...version(fields),
    }),
    write: (result) => field('hmac', valueToTheirs('hashed', result['hmac'])),
  };
}

/** The options of a signature that have an effect for the cipher; RSA pads with PSS unless asked otherwise. */
function signatureOptions(fields: Fields, { asked, nature }: Use): JsonObject {
  const hash = hashOf(fields, asked);
  const padding = fields.word('signature_algorithm') ?? 'pss';
  const marshaling = fields.word('marshaling_algorithm');
  const salt = fields.word('salt_length') ?? 'auto';
  const prehashed = fields.flag('prehashed');
  if (marshaling !== undefined && !['asn1', 'jws'].includes(marshaling))
    throw fail('invalid-value', { detail: `invalid marshaling type "${marshaling.slice(0, 32)}": it is asn1 or jws.` });
  const shown = field('marshaling', marshaling);
  const family = (nature?.cipher ?? '').split('-')[0];
  if (family === 'ecdsa') return { ...shown, 'hash-algorithm': hash, ...field('prehashed', prehashed) };
  if (family !== 'rsa') return shown;
  if (!['pss', 'pkcs1v15'].includes(padding))
    throw fail('invalid-value', { detail: `invalid signature algorithm "${padding.slice(0, 32)}": it is pss or pkcs1v15.` });
  if (!['auto', 'hash'].includes(salt) && Number(salt) !== Number(hash.slice(3)) / 8)
    throw fail('invalid-value', {
      detail: 'salt_length must be auto, hash, or the octets of the hash: signatures have salts of that length here.',
    });
  return { ...shown, 'hash-algorithm': hash, 'signature-algorithm': padding, ...field('prehashed', prehashed) };
}

function signature(facade: Facade, path: string): Action {
  return {
    ...{ facade, path, action: 'sign', failed: { key_version: 0 } },
    read: (fields, use) => {
      fields.text('context');
      return { text: fields.base64('input') ?? '', ...signatureOptions(fields, use), ...version(fields) };
    },
    write: (result) => ({ ...field('signature', valueToTheirs('value', result['signature'])), ...keyVersion(result) }),
  };
}

function verification(facade: Facade, path: string): Action {
  return {
    ...{ facade, path, action: 'verify', failed: { valid: false } },
    read: (fields, use) => {
      fields.text('context');
      const text = fields.base64('input') ?? '';
      const [given, mac] = [fields.text('signature'), fields.text('hmac')];
      if ((given === undefined) === (mac === undefined)) throw fail('invalid-value', { detail: "provide one of 'signature' and 'hmac'" });
      if (mac === undefined) return { text, signature: valueToOurs('value', given ?? '', 'signature'), ...signatureOptions(fields, use) };
      return { text, hmac: valueToOurs('hashed', mac, 'hmac'), 'hash-algorithm': hashOf(fields, use.asked) };
    },
    write: ({ valid }) => field('valid', valid),
  };
}

function random(facade: Facade, path: string): readonly Alias[] {
  return facade.aliases({
    methods: writes,
    path,
    of: 'POST /v1/state/keystore/crypto-functions/random-bytes',
    target: () => ({ params: {} }),
    input: (document, asked) => {
      const fields = new Fields(document, ['source', 'urlbytes']);
      const asText = asked.params['bytes'];
      const bytes = asText === undefined ? fields.integer('bytes') : new Fields({ bytes: asText }).integer('bytes');
      fields.integer('bytes');
      const format = fields.word('format');
      facade.warnOfUnknown(asked, fields.unknown());
      return { ...field('bytes', bytes), ...field('format', format) };
    },
    answer: ({ requestId, document }, asked) =>
      facade.enveloped(asked, requestId, { data: field('random_bytes', (document as JsonObject)['bytes']) }),
  });
}

/** Makes a key that does not exist, if the tenant has that so and the token may create it; then the request is made again. */
async function upsert(action: Action, outcome: Outcome, asked: Asked, invoke: InvokeFurther): Promise<Answer | undefined> {
  const { facade } = action;
  const { caller, error } = outcome;
  if (error === undefined || caller === undefined || !makesKey(facade, error, caller)) return undefined;
  const document = outcome.body();
  if (document === undefined) return undefined;
  const name = asked.params['name'] ?? '';
  const key = keyDocument(facade, new Fields(document));
  try {
    const input = readInput(action, document, asked, caller, { cipher: key.cipher, isDerived: key['derived'] === true });
    requireFit(key, input);
    // Values that policies refuse are refused before there is a key.
    outcome.requireInput?.(input);
  } catch (unfit) {
    if (!(unfit instanceof ServiceError)) throw unfit;
    return facade.refusedAs(unfit, outcome.requestId);
  }
  const made = await invoke('POST', '/v1/config/keystore/transit-keys', { ...key, name });
  if (made.status !== 201 && made.status !== 409) return facade.refused(made);
  const again = await invoke('POST', `/v1/state/keystore/transit-keys/${name}/encrypt`, readInput(action, document, asked, caller));
  return again.status < 400 || isBatch(again.document) ? answerOf(action, again, asked) : facade.refused(again);
}

function makesKey(facade: Facade, { code }: ServiceError, { tenantName }: Caller): boolean {
  return code === 'not-found' && facade.settingsOf(tenantName)?.upsert === true;
}

/** Throws the errors with which the new key would refuse every request, so that no unusable key is left behind. */
function requireFit({ cipher, derived }: ReturnType<typeof keyDocument>, input: JsonObject): void {
  if (!cipher.startsWith('aes'))
    throw fail('invalid-value', {
      detail: `A key of the type ${cipher} does not encrypt: name an AES type, or create the key first.`,
    });
  const all = (input['batch-input'] ?? [input]) as readonly JsonObject[];
  if (derived === true && all.every(({ context: given }) => given === undefined))
    throw fail('missing-field', { detail: 'missing context: the new key would be derived, and needs one for each use.' });
  if (all.every((one) => (one['key-version'] ?? 1) !== 1))
    throw fail('invalid-value', { detail: 'The key does not exist; a new one has version 1 alone.' });
}

const isBatch = (document: unknown): boolean => Array.isArray((document as JsonObject | undefined)?.['batch-results']);
