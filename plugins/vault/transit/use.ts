// Using keys: encrypt, decrypt, rewrap, data keys, random, and the routes of signatures.ts. A single request or a batch, as there.
import type { Caller } from '../../../core/access/caller.ts';
import { decodeBase64 } from '../../../core/base/bytes.ts';
import { fail, ServiceError } from '../../../core/base/errors.ts';
import type { Alias, Answered, Asked, InvokeFurther, Outcome } from '../../../core/http/alias.ts';
import type { Answer } from '../../../core/http/response/answer.ts';
import type { KeyNature } from '../../../core/plugin/services/transit-keys.ts';
import type { JsonObject, JsonValue } from '../../../core/wire/json.ts';
import { type Facade, writes } from '../facade.ts';
import { Fields } from '../fields.ts';
import { type Action, field, keyVersion, required, type Use, version, writtenValue } from './action.ts';
import { keyDocument } from './keys.ts';
import { hmac, signature, verification } from './signatures.ts';
import { theirPrefix, valueToOurs, valueToTheirs } from './values.ts';

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

function readInput(action: Action, document: JsonObject, asked: Asked, caller: Caller | undefined, nature?: KeyNature): JsonObject {
  const { facade } = action;
  const use = new UseOfKey(facade, asked, caller, nature);
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
  const shared = statedOf(document, action.shared);
  return { 'batch-input': batch.map((item, index) => readItem(action, shared === undefined ? item : { ...shared, ...item }, use, index)) };
}

/** Few requests have fields whose meaning depends on the key or the tenant: both are looked up when one does. */
class UseOfKey implements Use {
  readonly asked: Asked;
  readonly #facade: Facade;
  readonly #caller: Caller | undefined;
  #nature: KeyNature | undefined | 'unread';

  /** `nature`: of a key that is about to be made; absent: that of the key there is. */
  constructor(facade: Facade, asked: Asked, caller: Caller | undefined, nature: KeyNature | undefined) {
    this.asked = asked;
    this.#facade = facade;
    this.#caller = caller;
    this.#nature = nature ?? 'unread';
  }

  get nature(): KeyNature | undefined {
    if (this.#nature === 'unread')
      this.#nature = this.#caller && this.#facade.keys.natureOf(this.#caller.tenantId, this.asked.params['name'] ?? '');
    return this.#nature;
  }

  get isStrict(): boolean {
    return this.#caller !== undefined && this.#facade.settingsOf(this.#caller.tenantName)?.strictContext === true;
  }
}

/** Those of some fields that say something; undefined: none does. */
function statedOf(document: JsonObject, names: readonly string[] = []): JsonObject | undefined {
  const stated = names.filter((name) => Object.hasOwn(document, name) && document[name] !== null);
  return stated.length === 0 ? undefined : Object.fromEntries(stated.map((name) => [name, document[name] ?? null]));
}

function hasOneMember(item: JsonObject): boolean {
  let count = 0;
  for (const _ in item) count += 1;
  return count === 1;
}

/** Refusals of items by this translation, in the words of the answer, by their places in the batch. */
const refusedItems = new WeakMap<Asked, Map<number, string>>();

/** An item that cannot be read fails alone: an empty one stands for it, which fails at the endpoint, too. */
function readItem(action: Action, item: JsonObject, use: Use, index: number): JsonObject {
  const { quick } = action;
  const text = quick === undefined ? undefined : item[quick.field];
  if (quick !== undefined && typeof text === 'string' && hasOneMember(item) && !/[\r\n]/.test(text) && text.startsWith(quick.prefix))
    return quick.read(text);
  const fields = new Fields(item, 'untold');
  const reference = fields.word('reference');
  let input: Record<string, JsonValue> = {};
  try {
    input = action.read(fields, use);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const refused = refusedItems.get(use.asked) ?? new Map<number, string>();
    refusedItems.set(use.asked, refused.set(index, action.facade.wordsOf(error)));
  }
  if (reference !== undefined) input['reference'] = reference;
  return input;
}

function answerOf(action: Action, { status, requestId, document }: Answered, asked: Asked): Answer {
  const { facade } = action;
  const answer = document as JsonObject;
  const results = answer['batch-results'];
  if (!Array.isArray(results)) {
    const members = action.quick?.write(answer);
    return members === undefined
      ? facade.enveloped(asked, requestId, { data: action.write(answer) })
      : facade.envelopedText(asked, requestId, `{${members}}`, 200);
  }
  const refused = refusedItems.get(asked);
  let [items, failed] = ['', 0];
  for (const [index, one] of (results as readonly JsonObject[]).entries()) {
    if (isFailed(one)) failed += 1;
    items += `${index === 0 ? '' : ','}${itemOf(action, one, refused?.get(index))}`;
  }
  const bad = failed === results.length ? 400 : (partialStatus.get(asked) ?? 400);
  const answered = action.failsWithItem === true && failed > 0 ? bad : status === 400 ? 200 : status;
  return facade.envelopedText(asked, requestId, `{"batch_results":[${items}]}`, answered);
}

/** Each of these members alone tells it: a policy may hide the others. */
const isFailed = (result: JsonObject): boolean =>
  result['status'] !== undefined || result['code'] !== undefined || result['error-message'] !== undefined;

/** Result of an item as JSON. */
function itemOf(action: Action, result: JsonObject, refused: string | undefined): string {
  const reference = result['reference'] ?? '';
  const members = refused === undefined ? action.quick?.write(result) : undefined;
  if (members !== undefined) return `{${members},"reference":${reference === '' ? '""' : JSON.stringify(reference)}}`;
  const error = refused ?? (isFailed(result) ? (result['error-message'] ?? result['code'] ?? 'failed') : undefined);
  return JSON.stringify(error === undefined ? { ...action.write(result), reference } : { ...action.failed, error, reference });
}

const noContext: JsonObject = {};

/**
 * A context of a key that is not derived authenticates nothing: it is left out with a warning, as there, or refused where the tenant wants
 * that.
 */
function context(facade: Facade, fields: Fields, use: Use): JsonObject {
  const octets = fields.context();
  if (octets === undefined) return noContext;
  const { asked, nature, isStrict } = use;
  if (nature?.isDerived !== false) return { 'context-base64': octets };
  if (isStrict)
    throw fail('invalid-value', {
      detail:
        'The key is not derived, so that a context would not be authenticated: send associated_data, or use a key made with derived: true.',
    });
  facade.warn(asked, 'The context was ignored, and nothing authenticates it: the key is not derived. Send associated_data.');
  return {};
}

/** Adds to the input of an item what it says besides its text; version 0 means none, as there. */
function withFurther(
  input: Record<string, JsonValue>,
  facade: Facade,
  fields: Fields,
  use: Use,
  number?: number,
): Record<string, JsonValue> {
  requireOaep(fields, 'padding_scheme');
  const given = context(facade, fields, use)['context-base64'];
  if (given !== undefined) input['context-base64'] = given;
  const associated = fields.base64('associated_data');
  if (associated !== undefined) input['associated-data'] = associated;
  if (number !== undefined && number !== 0) input['key-version'] = number;
  return input;
}

/** Throws `invalid-value` for the other padding that RSA keys have there. */
function requireOaep(fields: Fields, ...names: readonly string[]): void {
  const other = names.find((name) => (fields.word(name) ?? 'oaep') !== 'oaep');
  if (other !== undefined) throw fail('invalid-value', { detail: `"${other}" must be oaep: RSA keys encrypt with no other padding here.` });
}

function encryption(facade: Facade): Action {
  return {
    ...{ facade, path: 'encrypt/{name}', action: 'encrypt', failsWithItem: true },
    quick: {
      ...{ field: 'plaintext', prefix: '', read: (plaintext) => ({ plaintext }) },
      write: ({ ciphertext: value, 'key-version': number }) =>
        value === undefined || number === undefined
          ? undefined
          : `"ciphertext":"${valueToTheirs('value', value)}","key_version":${number as number}`,
    },
    // Without intermediate objects: a batch has a thousand of these.
    read: (fields, use) => {
      const plaintext = required(fields.base64('plaintext'), 'plaintext', 'missing plaintext to encrypt');
      return withFurther({ plaintext }, facade, fields, use, fields.integer('key_version'));
    },
    write: ({ ciphertext: value, 'key-version': number }) => writtenValue('ciphertext', value, number),
    reply: upsert,
  };
}

function decryption(facade: Facade): Action {
  return {
    ...{ facade, path: 'decrypt/{name}', action: 'decrypt', failsWithItem: true, failed: { plaintext: '' } },
    quick: {
      field: 'ciphertext',
      prefix: theirPrefix,
      read: (text) => ({ ciphertext: valueToOurs('value', text, 'ciphertext') }),
      write: ({ plaintext }) => (typeof plaintext === 'string' ? `"plaintext":"${plaintext}"` : undefined),
    },
    read: (fields, use) => withFurther({ ciphertext: ciphertext(fields) }, facade, fields, use),
    write: ({ plaintext }) => (plaintext === undefined ? {} : { plaintext }),
  };
}

function rewrapping(facade: Facade): Action {
  return {
    ...{ facade, path: 'rewrap/{name}', action: 'rewrap' },
    read: (fields, use) => {
      requireOaep(fields, 'decrypt_padding_scheme', 'encrypt_padding_scheme');
      return {
        ciphertext: ciphertext(fields),
        ...context(facade, fields, use),
        ...field('associated-data', fields.base64('associated_data')),
        ...version(fields),
      };
    },
    write: ({ ciphertext: value, 'key-version': number }) => writtenValue('ciphertext', value, number),
  };
}

const ciphertext = (fields: Fields): string =>
  valueToOurs('value', required(fields.text('ciphertext'), 'ciphertext', 'missing ciphertext to decrypt'), 'ciphertext');

function dataKey(facade: Facade, type: string): Action {
  return {
    ...{ facade, path: `datakey/${type}/{name}`, action: 'generate-data-key' },
    read: (fields, use) => {
      requireOaep(fields, 'padding_scheme');
      return {
        type,
        ...field('bits', fields.integer('bits')),
        ...context(facade, fields, use),
        ...field('associated-data', fields.base64('associated_data')),
        ...version(fields),
      };
    },
    write: (result) => ({
      ...field('ciphertext', valueToTheirs('value', result['ciphertext'])),
      ...field('plaintext', result['plaintext']),
      ...keyVersion(result),
    }),
  };
}

/** Sources of random octets there; here there is one. */
const sources = ['platform', 'seal', 'all'];

function random(facade: Facade, path: string): readonly Alias[] {
  return facade.aliases({
    methods: writes,
    path,
    of: 'POST /v1/state/keystore/crypto-functions/random-bytes',
    target: () => ({ params: {} }),
    input: (document, asked) => {
      const fields = new Fields(document, ['source', 'urlbytes']);
      const last = asked.params['bytes'];
      // A path with one part more names a number, or a source.
      const asText = last !== undefined && sources.includes(last) ? undefined : last;
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
  let key = keyDocument(facade, new Fields(document));
  try {
    if (key['derived'] === undefined && givesContext(document)) key = { ...key, derived: true };
    const input = readInput(action, document, asked, caller, { cipher: key.cipher, signs: false, isDerived: key['derived'] === true });
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

/** As there, a new key is a derived one where the request gives a context. Of a batch all items give one, or none does. */
function givesContext(document: JsonObject): boolean {
  const items = new Fields(document).items('batch_input') ?? [document];
  const given = items.filter((item) => new Fields(item).context() !== undefined);
  if (given.length > 0 && given.length < items.length)
    throw fail('invalid-value', {
      detail: 'The new key would be derived, and needs a context for each use: give one in all items of the batch, or in none.',
    });
  return given.length > 0;
}

/** Throws the errors with which the new key would refuse every request, so that no unusable key is left behind. */
function requireFit({ cipher, derived }: ReturnType<typeof keyDocument>, input: JsonObject): void {
  if (!cipher.startsWith('aes'))
    throw fail('invalid-value', {
      detail: `A key of the type ${cipher} does not encrypt: name an AES type, or create the key first.`,
    });
  const all = (input['batch-input'] ?? [input]) as readonly JsonObject[];
  if (derived === true && all.every(({ 'context-base64': given }) => given === undefined))
    throw fail('missing-field', { detail: 'missing context: the new key would be derived, and needs one for each use.' });
  if (!all.every(({ plaintext }) => decodeBase64(textOf(plaintext)) !== undefined))
    throw fail('invalid-base64', { detail: '"plaintext" must be standard base64 with padding.' });
  if (all.every((one) => (one['key-version'] ?? 1) !== 1))
    throw fail('invalid-value', { detail: 'The key does not exist; a new one has version 1 alone.' });
}

const textOf = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '');
const isBatch = (document: unknown): boolean => Array.isArray((document as JsonObject | undefined)?.['batch-results']);
