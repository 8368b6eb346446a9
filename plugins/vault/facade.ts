// Parts shared by all routes: credentials, the caller's tenant, names, the envelope of answers, and the words of refusals.
import type { IncomingHttpHeaders } from 'node:http';
import type { Caller } from '../../core/access/caller.ts';
import { longestSeconds } from '../../core/access/hand-overs.ts';
import type { Clock } from '../../core/base/context.ts';
import { defined } from '../../core/base/defined.ts';
import { fail, type ServiceError } from '../../core/base/errors.ts';
import { formatDuration } from '../../core/base/time.ts';
import type { Alias, Answered, Asked, InvokeFurther, Outcome, Reply } from '../../core/http/alias.ts';
import type { Answer } from '../../core/http/response/answer.ts';
import { problemHeaders, sentenceOf } from '../../core/http/response/problem.ts';
import type { CertificateAuthorities } from '../../core/plugin/services/certificate-authority.ts';
import type { Sessions } from '../../core/plugin/services/sessions.ts';
import type { TransitKeys } from '../../core/plugin/services/transit-keys.ts';
import { isName } from '../../core/wire/fields.ts';
import type { JsonObject } from '../../core/wire/json.ts';
import type { Config } from './config.ts';
import { Fields } from './fields.ts';

type Parts = {
  readonly config: Config;
  readonly clock: Clock;
  readonly keys: TransitKeys;
  readonly authorities: CertificateAuthorities;
  readonly findTenant: Sessions['findTenant'];
  readonly describeIssued: Sessions['describeIssued'];
  readonly endIssued: Sessions['endIssued'];
};

/** Properties of an alias of this API; the rest is the same for all. */
export type Route = Pick<Alias, 'path' | 'of' | 'answer'> &
  Partial<Pick<Alias, 'target' | 'input' | 'acts' | 'reply' | 'readsDespite' | 'credentials'>> & {
    readonly methods: readonly string[];
    readonly missing?: Missing;
    /** tenant whose tokens alone may use it; absent: every one that has this API */
    readonly tenant?: string | undefined;
    /** `answer`, which is usual: by a hand-over; `itself`: the route does it; `never`: a request for it is refused */
    readonly wraps?: 'answer' | 'itself' | 'never';
    /** Ends what was made, where its answer cannot be wrapped: nobody will see it. Absent: it stays. */
    readonly undo?: ((envelope: JsonObject, asked: Asked, invoke: InvokeFurther) => Promise<Answered>) | undefined;
  };

/** Refusal of a missing entry: 404 of a read, 403 of a token, 400 of a use of a key, a CA or an approle. */
type Missing = 'read' | 'use' | 'authority' | 'approle' | 'token' | 'login' | 'wrapping';

/** The methods of a write: clients in Go send PUT where the manual says POST. */
export const writes = ['POST', 'PUT'] as const;

export class Facade {
  readonly clock: Clock;
  readonly keys: TransitKeys;
  readonly authorities: CertificateAuthorities;
  readonly findTenant: Sessions['findTenant'];
  readonly describeIssued: Sessions['describeIssued'];
  readonly endIssued: Sessions['endIssued'];
  readonly #config: Config;
  readonly #warnings = new WeakMap<Asked, string[]>();
  /** requests whose answers are to be wrapped */
  readonly #toWrap = new WeakSet<Asked>();

  constructor({ config, clock, keys, authorities, findTenant, describeIssued, endIssued }: Parts) {
    this.#config = config;
    this.clock = clock;
    this.keys = keys;
    this.authorities = authorities;
    this.findTenant = findTenant;
    this.describeIssued = describeIssued;
    this.endIssued = endIssued;
  }

  /** An alias for each method. */
  aliases({ methods, missing = 'use', tenant, wraps = 'answer', undo, ...route }: Route): readonly Alias[] {
    const { target = namedKey, reply } = route;
    const wrapped = (outcome: Outcome, asked: Asked, invoke: InvokeFurther): Reply =>
      this.#toWrap.has(asked) ? this.#wrapped({ ...route, ...defined({ undo }) }, outcome, asked, invoke) : reply?.(outcome, asked, invoke);
    return methods.map((method) => ({
      ...{ via: 'vault', method, credentials, refusal: (error, requestId) => refusal(error, requestId, missing) },
      admit: (caller, asked) => this.#admit(caller, asked, tenant),
      ...route,
      ...(wraps === 'answer' ? { reply: wrapped, needs: (asked) => (this.#toWrap.has(asked) ? rightToWrap : undefined) } : {}),
      target: (asked) => {
        const isWrapped = secondsToWrap(asked) > 0;
        if (isWrapped && wraps === 'never') throw fail('invalid-value', { detail: 'The answer to this request is not wrapped.' });
        if (isWrapped) this.#toWrap.add(asked);
        return target(asked);
      },
    }));
  }

  /** The answer of a route as a hand-over, made with the same token, or with the one that a login gives. Refusals stay as they are. */
  async #wrapped(
    { path, answer: answerOf, reply, undo }: Pick<Route, 'path' | 'answer' | 'reply' | 'undo'>,
    outcome: Outcome,
    asked: Asked,
    invoke: InvokeFurther,
  ): Promise<Answer | undefined> {
    const own = await reply?.(outcome, asked, invoke);
    if (own === undefined && outcome.error !== undefined) return undefined;
    const answer = own ?? answerOf(outcome, asked);
    const { status, mediaType, body } = answer;
    if (body === undefined) return answer;
    const envelope = mediaType === 'application/json' && typeof body === 'string' ? (JSON.parse(body) as JsonObject) : undefined;
    if (envelope?.['errors'] !== undefined) return answer;
    const { auth, data } = (envelope ?? {}) as { readonly auth?: JsonObject; readonly data?: JsonObject };
    const token = outcome.caller === undefined ? auth?.['client_token'] : tokenOf(asked.headers);
    if (envelope === undefined || typeof body !== 'string' || typeof token !== 'string')
      return json(400, { errors: ['This answer is for everyone, and is not wrapped: send the request without X-Vault-Wrap-TTL.'] });
    if (status >= 300)
      return json(status, { errors: ['Not everything succeeded, and what did is not shown, because it would not be wrapped.'] });
    const purpose = pathOf(path, asked);
    const input = { text: body, ttl: formatDuration(secondsToWrap(asked)), purpose };
    const made = await invoke('POST', rightToWrap.path, input, `Bearer ${token}`);
    if (made.status === 200) return this.wrapInfo(made, purpose, auth?.['accessor'] ?? data?.['secret_id_accessor']);
    const undone = await undo?.(envelope, asked, invoke);
    const isGone = undone !== undefined && undone.status < 400;
    const { detail = '' } = (made.document ?? {}) as Partial<Refusal>;
    const rest = isGone ? 'What was made has ended.' : 'The request was carried out, and its answer is lost.';
    const refused = made.status < 500 && made.status !== 403 && made.status !== 429 ? 400 : made.status;
    return json(refused, { errors: [`the answer could not be wrapped: ${detail} ${rest}`] });
  }

  /** The answer that tells of a hand-over, given ours. */
  wrapInfo({ requestId, document }: Pick<Answered, 'requestId' | 'document'>, creationPath: string, wrapped?: JsonObject[string]): Answer {
    const { token, accessor, 'creation-time': creationTime, expires } = document as Readonly<Record<string, string>>;
    const ends = expires === undefined ? this.clock.now() : Temporal.Instant.from(expires);
    const ttl = Math.max(0, Math.round(this.clock.now().until(ends).total('seconds')));
    const info = {
      token,
      accessor,
      ttl,
      creation_time: creationTime,
      creation_path: creationPath,
      ...defined({ wrapped_accessor: wrapped }),
    };
    return json(200, {
      ...{ request_id: requestId, lease_id: '', renewable: false, lease_duration: 0, data: null },
      ...{ wrap_info: info, warnings: null, auth: null },
    });
  }

  get transitMounts(): readonly string[] {
    return this.#config.transitMounts;
  }

  get pkiMounts(): Config['pkiMounts'] {
    return this.#config.pkiMounts;
  }

  get approleMounts(): readonly string[] {
    return this.#config.approleMounts;
  }

  /** The settings of a tenant; undefined: it does not have this API. */
  settingsOf(tenant: string): Config['tenants'][string] | undefined {
    return Object.hasOwn(this.#config.tenants, tenant) ? this.#config.tenants[tenant] : undefined;
  }

  /**
   * Reads the query of a list of names, of at most `most`: GET means one if it says so; without that nobody can read the collection. Throws
   * `method-not-allowed`.
   */
  listQuery({ method, query }: Asked, most?: number): Readonly<Record<string, string>> {
    if (method !== 'LIST' && !['true', 'True', '1', 't'].includes(query.get('list') ?? ''))
      throw fail('method-not-allowed', { allow: ['LIST'], detail: 'Add ?list=true to list the names.' });
    const [after, asked] = [query.get('after') ?? '', query.get('limit') ?? '0'];
    const limit = asked !== '0' && !(most !== undefined && Number(asked) > most) ? asked : most;
    return { keys: 'true', ...(after === '' ? {} : { after }), ...(limit === undefined ? {} : { limit: String(limit) }) };
  }

  /** Throws `invalid-value` for a text that is not a name here. */
  requireName(name: string | undefined): string {
    return requireName(name);
  }

  /** Answers a list of names. An empty one is 404 there, and clients rely on it. */
  listed(asked: Asked, requestId: string, names: readonly string[]): Answer {
    return names.length === 0 ? json(404, { errors: [] }) : this.enveloped(asked, requestId, { data: { keys: names } });
  }

  /** Says in the answer what was ignored. */
  warn(asked: Asked, text: string): void {
    const all = this.#warnings.get(asked);
    if (all === undefined) this.#warnings.set(asked, [text]);
    else if (!all.includes(text)) all.push(text);
  }

  /** Remarks on fields that mean nothing here. */
  warnOfUnknown(asked: Asked, names: readonly string[]): void {
    if (names.length > 0) this.warn(asked, `Endpoint ignored these unrecognized parameters: [${names.toSorted().join(' ')}]`);
  }

  /** An answer with data, in the envelope that strict clients need whole. */
  enveloped(asked: Asked, requestId: string, { data = null, auth = null }: { readonly data?: unknown; readonly auth?: unknown }): Answer {
    return jsonText(200, `{${this.#members(asked, requestId, JSON.stringify(data), JSON.stringify(auth))}}`);
  }

  /** The same for data that are JSON already. */
  envelopedText(asked: Asked, requestId: string, data: string, status: number): Answer {
    return jsonText(status, `{${this.#members(asked, requestId, data)}}`);
  }

  /** The same with the members of the data at the top as well, where clients read them in either place. */
  envelopedTwice(asked: Asked, requestId: string, data: JsonObject): Answer {
    const own = JSON.stringify(data);
    const members = this.#members(asked, requestId, own);
    return jsonText(200, own === '{}' ? `{${members}}` : `${own.slice(0, -1)},${members}}`);
  }

  /** Members of an envelope, as text: the many values of a batch are copied once so. */
  #members(asked: Asked, requestId: string, data: string, auth = 'null'): string {
    const warnings = this.#warnings.get(asked);
    return (
      `"request_id":"${requestId}","lease_id":"","renewable":false,"lease_duration":0,"data":${data},` +
      `"wrap_info":null,"warnings":${warnings === undefined ? 'null' : JSON.stringify(warnings)},"auth":${auth}`
    );
  }

  /** The refusal of a further request, followed by what was warned of. */
  refused({ status, document, requestId }: Answered, missing: Missing = 'use', asked?: Asked): Answer {
    const { code = '', title = '', detail = title } = (document ?? {}) as Partial<Refusal>;
    const said = [status < 500 ? detail : `${title} (${requestId}).`, ...((asked && this.#warnings.get(asked)) ?? [])];
    return refusalOf({ code, status, title, detail: said.join(' ') }, missing);
  }

  /** The words of a refusal of an item of a batch. */
  wordsOf(error: ServiceError): string {
    const { code, status, title } = error;
    return translated({ code, status, title, detail: sentenceOf(error) }, 'use').text ?? title;
  }

  /** The same for what an alias refuses itself. */
  refusedAs(error: ServiceError, requestId: string, missing: Missing = 'use'): Answer {
    return refusal(error, requestId, missing);
  }

  /** Throws `policy-denied` for a namespace that is not the tenant. */
  requireNamespace(tenantName: string, { headers }: Asked): void {
    const named = headers['x-vault-namespace'] ?? '';
    if (named === '') return;
    const namespace = String(named).replaceAll(/^\/|\/$/g, '');
    if (namespace === '' || namespace === 'root' || namespace === tenantName) return;
    throw fail('policy-denied', {
      detail: 'The namespace must be empty, or the tenant of the token: a token works in its own tenant alone.',
    });
  }

  /** The tenant is that of the token, whatever the header says: it may name that one, or nothing. */
  #admit({ tenantName }: Caller, asked: Asked, only = tenantName): void {
    if (this.settingsOf(tenantName) === undefined || tenantName !== only) throw fail('not-found');
    this.requireNamespace(tenantName, asked);
  }
}

/** An answer without an envelope. */
export function json(status: number, document: unknown, headers: Readonly<Record<string, string>> = {}): Answer {
  return jsonText(status, JSON.stringify(document), headers);
}

function jsonText(status: number, body: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status, mediaType: 'application/json', body, headers };
}

/** 204, which has a media type all the same. */
export const nothing: Answer = { status: 204, headers: { 'content-type': 'application/json' } };

/** The token of a request: X-Vault-Token before a bearer token. */
export function tokenOf(headers: IncomingHttpHeaders): string | undefined {
  const own = headers['x-vault-token'];
  if (typeof own === 'string' && own !== '') return own;
  return /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1];
}

function credentials(headers: IncomingHttpHeaders): string | undefined {
  const token = tokenOf(headers);
  return token === undefined ? undefined : `Bearer ${token}`;
}

/** The parameter `name` of a path, as one of our names. */
function namedKey({ params }: Asked): { readonly params: Readonly<Record<string, string>> } {
  const { name } = params;
  return { params: name === undefined ? {} : { name: requireName(name) } };
}

/** Refuses a name that we cannot have, and never changes one. */
function requireName(name = ''): string {
  if (!isName(name))
    throw fail('invalid-value', {
      detail: `"${name.slice(0, 64)}" is not a name here: names have small letters, digits and hyphens inside, for example my-key.`,
    });
  return name;
}

const notFound: Readonly<Partial<Record<Missing, string>>> = {
  use: 'encryption key not found',
  authority: 'unknown role: a role is a CA of the tenant of the token, by its name, and this tenant has no CA of this name.',
};

/** The right of those whose answers are wrapped. */
export const rightToWrap = { path: '/v1/state/keystore/hand-over/create', operation: 'execute' } as const;

/** Seconds for which the answer is to wait wrapped; 0: it is not to be. Throws `invalid-value`. */
export function secondsToWrap({ headers }: Asked): number {
  const wanted = headers['x-vault-wrap-ttl'];
  const seconds = wanted === undefined ? 0 : (new Fields({ 'X-Vault-Wrap-TTL': String(wanted).trim() }).seconds('X-Vault-Wrap-TTL') ?? 0);
  if (seconds > longestSeconds)
    throw fail('invalid-value', { detail: `X-Vault-Wrap-TTL must be at most ${longestSeconds} seconds: an answer waits so long at most.` });
  return seconds;
}

/** The path of a request as there, without its version. */
function pathOf(path: string, { params }: Asked): string {
  return path.replace('/v1/', '').replaceAll(/\{([^}]+)\}/g, (_, name: string) => params[name] ?? '');
}

/** Words that people know from Vault, before our own. */
const words: Readonly<Record<string, string>> = {
  'decryption-failed': 'cipher: message authentication failed',
  'version-unknown': 'invalid version: version is too new or was trimmed',
  'version-not-allowed': 'ciphertext or signature version is disallowed by policy (too old)',
  'invalid-format': 'invalid ciphertext: no prefix',
  'deletion-not-allowed': 'deletion is not allowed for this key',
  'export-not-allowed': 'private key material is not exportable',
  'backup-not-allowed': 'exporting is disallowed on the policy',
};

type Refusal = { readonly code: string; readonly status: number; readonly title: string; readonly detail: string };

function refusal(error: ServiceError, requestId: string, missing: Missing): Answer {
  const { code, status, title, advice } = error;
  const detail = status < 500 ? sentenceOf(error) : `${title} (${requestId}). ${advice}`;
  return refusalOf({ code, status, title, detail }, missing, problemHeaders(error));
}

function refusalOf(refused: Refusal, missing: Missing, headers: Readonly<Record<string, string>> = {}): Answer {
  const { status, text } = translated(refused, missing);
  return json(status, { errors: text === undefined ? [] : [text] }, pick(headers));
}

/** In Vault's words; a reason may follow. */
export const unknownWrapping = 'wrapping token is not valid or does not exist';

function translated({ code, status, detail }: Refusal, missing: Missing): { readonly status: number; readonly text?: string } {
  if (status >= 500) return { status, text: detail };
  if (missing === 'login' && status !== 429) return { status: 400, text: status === 401 ? 'invalid role or secret ID' : detail };
  if (status === 401) return { status: 403, text: 'permission denied' };
  if (code === 'identity-not-allowed') return { status: 400, text: detail };
  if (status === 403) return { status, text: `1 error occurred:\n\t* permission denied: ${detail}\n\n` };
  if (status === 404 && missing === 'read') return { status };
  if (missing === 'wrapping' && (status === 404 || code === 'hand-over-opened' || code === 'hand-over-replaced'))
    return { status: 400, text: `${unknownWrapping}: ${detail}` };
  if (status === 404 && missing === 'token') return { status: 403, text: 'bad token' };
  if (status === 404) return { status: 400, text: notFound[missing] ?? detail };
  if (status === 405) return { status, text: `unsupported operation: ${detail}` };
  if (status === 413 || status === 429) return { status, text: detail };
  const [known, said] = [words[code], inTheirWords(detail)];
  return { status: 400, text: known === undefined ? said : `${known}: ${said}` };
}

/** A refusal with their names of the fields that it quotes. */
function inTheirWords(detail: string): string {
  return detail.replaceAll(/"(?:context-base64|associated-data|key-version|batch-input)"/g, (name) =>
    name.replace('-base64', '').replace('-', '_'),
  );
}

/** Picks the headers that mean the same there. */
function pick({ 'retry-after': retryAfter, allow }: Readonly<Record<string, string>>): Record<string, string> {
  return { ...(retryAfter === undefined ? {} : { 'retry-after': retryAfter }), ...(allow === undefined ? {} : { allow }) };
}
