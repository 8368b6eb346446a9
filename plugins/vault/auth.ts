// Logins of approles, and what a token may ask about itself.
import type { Caller } from '../../core/access/caller.ts';
import { defined } from '../../core/base/defined.ts';
import { fail, ServiceError } from '../../core/base/errors.ts';
import { decodeDuration, formatDuration } from '../../core/base/time.ts';
import type { Alias, Answered, Asked, InvokeFurther, Outcome } from '../../core/http/alias.ts';
import type { Answer } from '../../core/http/response/answer.ts';
import type { JsonObject } from '../../core/wire/json.ts';
import { type Facade, json, nothing, tokenOf, writes } from './facade.ts';
import { Fields } from './fields.ts';

const token = '/v1/state/keystore/token';

export function approleAliases(facade: Facade, mount: string): readonly Alias[] {
  return facade.aliases({
    methods: writes,
    missing: 'login',
    path: `${mount}/login`,
    of: 'POST /v1/approle-login',
    input: (document) => {
      const fields = new Fields(document);
      return { 'role-id': fields.text('role_id') ?? '', 'secret-id': fields.text('secret_id') ?? '' };
    },
    answer: () => nothing,
    reply: (outcome, asked, invoke) => loggedIn(facade, outcome, asked, invoke),
    undo: ({ auth }, _asked, invoke) => {
      const { client_token: issued } = auth as { readonly client_token: string };
      return invoke('POST', `${token}/disable`, { token: issued }, `Bearer ${issued}`);
    },
  });
}

/**
 * The answer of a login, with what the token knows of itself. A token of a tenant without this API, or of another one than the namespace
 * says, or that does not work from where the request comes, ends at once: nothing here would take it.
 */
async function loggedIn(
  facade: Facade,
  { error, document, requestId, issued: record, from }: Outcome,
  asked: Asked,
  invoke: InvokeFurther,
): Promise<Answer | undefined> {
  if (error !== undefined) return undefined;
  const issued = document as JsonObject & { readonly token: string };
  const found = record && facade.describeIssued(record, from);
  const refusal = found === undefined ? fail('policy-denied', { detail: notFromHere }) : refusalOf(facade, found.caller, asked);
  // Fields of `info` that policies hide may be in the answer to the login: that is public.
  if (refusal === undefined)
    return facade.enveloped(asked, requestId, { auth: authOf(facade, issued.token, { ...found?.state, ...issued }) });
  // A request of the token itself is on record, and fails where the token does not work.
  const ended = found && (await invoke('POST', `${token}/disable`, { token: issued.token }, `Bearer ${issued.token}`));
  if (record !== undefined && (ended === undefined || ended.status >= 400)) await facade.endIssued(record);
  return facade.refusedAs(refusal, requestId, refusal.status === 401 ? 'login' : 'use');
}

const notFromHere = 'The token of this login does not work from this address: see "token-bound-cidrs" of the approle. It has ended.';

/** Reason for which a token has no use for this API; undefined: it has. */
function refusalOf(facade: Facade, { tenantName }: Caller, asked: Asked): ServiceError | undefined {
  if (facade.settingsOf(tenantName) === undefined) return fail('invalid-token');
  try {
    facade.requireNamespace(tenantName, asked);
    return undefined;
  } catch (refused) {
    if (refused instanceof ServiceError) return refused;
    throw refused;
  }
}

export function tokenAliases(facade: Facade): readonly Alias[] {
  const look = ({ requestId, document }: Answered, asked: Asked, id?: string): Answer =>
    facade.enveloped(asked, requestId, { data: lookedUp(facade, document as JsonObject, id) });
  return [
    ...facade.aliases({
      methods: ['GET'],
      path: '/v1/auth/token/lookup-self',
      of: `POST ${token}/info`,
      answer: (answered, asked) => look(answered, asked, tokenOf(asked.headers)),
    }),
    ...facade.aliases({
      methods: writes,
      missing: 'token',
      path: '/v1/auth/token/lookup-accessor',
      of: `POST ${token}/info`,
      input: (document) => ({ accessor: new Fields(document).text('accessor') ?? '' }),
      answer: (answered, asked) => look(answered, asked),
    }),
    ...facade.aliases({
      methods: writes,
      missing: 'token',
      path: '/v1/auth/token/lookup',
      of: `POST ${token}/info`,
      input: (document) => ({ token: new Fields(document).text('token') ?? '' }),
      answer: (answered, asked) => look(answered, asked),
    }),
    ...(['token', 'accessor'] as const).flatMap((by) =>
      facade.aliases({
        methods: writes,
        missing: 'token',
        path: by === 'token' ? '/v1/auth/token/revoke' : '/v1/auth/token/revoke-accessor',
        of: `POST ${token}/disable`,
        input: (document) => ({ [by]: new Fields(document).text(by) ?? '' }),
        answer: () => nothing,
      }),
    ),
    ...facade.aliases({
      methods: writes,
      path: '/v1/auth/token/renew-self',
      of: `POST ${token}/refresh`,
      input: (document) => {
        const seconds = new Fields(document, ['token']).seconds('increment');
        return seconds === undefined || seconds === 0 ? {} : { increment: formatDuration(seconds) };
      },
      answer: ({ requestId, document }, asked) => {
        const info = document as JsonObject;
        // A token without an end stays as it is; clients stop renewing it when they get this error.
        if (info['expires'] === undefined) return json(400, { errors: ['lease is not renewable'] });
        return facade.enveloped(asked, requestId, { auth: authOf(facade, tokenOf(asked.headers) ?? '', info) });
      },
    }),
    ...facade.aliases({
      methods: writes,
      path: '/v1/auth/token/revoke-self',
      of: `POST ${token}/disable`,
      input: (_document, asked) => ({ token: tokenOf(asked.headers) ?? '' }),
      answer: () => nothing,
    }),
  ];
}

/** Answer to a login or a renewal. Unknown facts are left out: a default in their place would be untrue. */
function authOf(facade: Facade, clientToken: string, info: JsonObject): JsonObject {
  const { accessor, policies, user, expires, parent } = info;
  return {
    ...{ client_token: clientToken, ...defined({ accessor, policies, token_policies: policies }), metadata: roleOf(user) },
    ...{ lease_duration: secondsLeft(facade, info), renewable: expires !== undefined, orphan: parent === undefined },
    ...{ entity_id: '', token_type: 'service', mfa_requirement: null, num_uses: info['uses-left'] ?? 0 },
  };
}

/**
 * Answer to a lookup. Policies may hide fields of a token other than the own one (without `id`): its absent fields are left out with them.
 */
function lookedUp(facade: Facade, info: JsonObject, id: string | undefined): JsonObject {
  const shows = (field: string): boolean => id !== undefined || info[field] !== undefined;
  const { expires, 'latest-expires': latest, 'creation-time': created } = info as Readonly<Record<string, string | undefined>>;
  const { accessor, policies, user, parent, period } = info;
  const creation = created === undefined ? undefined : Temporal.Instant.from(created);
  const lasts = (name: string, field: string, end: string | undefined): JsonObject => {
    if (creation === undefined || !shows(field)) return {};
    return { [name]: end === undefined ? 0 : Math.round(creation.until(Temporal.Instant.from(end)).total('seconds')) };
  };
  return {
    ...{ id: id ?? '', ...defined({ accessor, policies }) },
    ...(creation === undefined ? {} : { creation_time: Math.floor(creation.epochMilliseconds / 1_000), issue_time: created ?? null }),
    ...lasts('creation_ttl', 'expires', expires),
    ...(shows('expires') ? { ttl: secondsLeft(facade, info), expire_time: expires ?? null, renewable: expires !== undefined } : {}),
    ...lasts('explicit_max_ttl', 'latest-expires', latest),
    ...(typeof period === 'string' ? { period: decodeDuration(period)?.seconds ?? 0 } : {}),
    ...defined({ display_name: user }),
    ...{ entity_id: '', meta: roleOf(user) },
    ...(shows('uses-left') ? { num_uses: info['uses-left'] ?? 0 } : {}),
    ...(shows('parent') ? { orphan: parent === undefined } : {}),
    ...{ path: 'auth/token/create', type: 'service' },
  };
}

function roleOf(user: JsonObject[string] | undefined): JsonObject {
  return user === undefined ? {} : { role_name: user };
}

const secondsLeft = (facade: Facade, { expires }: JsonObject): number =>
  typeof expires === 'string' ? Math.max(0, Math.round(facade.clock.now().until(Temporal.Instant.from(expires)).total('seconds'))) : 0;
