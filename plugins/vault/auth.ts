// Logins of approles, and what a token may ask about itself.
import { ServiceError } from '../../core/base/errors.ts';
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
  });
}

/**
 * The answer of a login, which needs what the token knows of itself. A token of a tenant without this API, or of another one than the namespace
 * says, ends at once: nothing here would take it.
 */
async function loggedIn(
  facade: Facade,
  { error, document, requestId }: Outcome,
  asked: Asked,
  invoke: InvokeFurther,
): Promise<Answer | undefined> {
  if (error !== undefined) return undefined;
  const issued = document as JsonObject;
  const { token: clientToken } = issued as { readonly token: string };
  const authorization = `Bearer ${clientToken}`;
  const { status, document: info } = await invoke('POST', `${token}/info`, {}, authorization);
  const known = status === 200 ? (info as JsonObject & { readonly tenant: string }) : undefined;
  const end = (): Promise<unknown> => invoke('POST', `${token}/disable`, { token: clientToken }, authorization);
  if (known !== undefined && facade.settingsOf(known.tenant) === undefined) {
    await end();
    return facade.refused({ status: 401, requestId, document: undefined }, 'login');
  }
  try {
    if (known !== undefined) facade.requireNamespace(known.tenant, asked);
  } catch (refused) {
    await end();
    if (!(refused instanceof ServiceError)) throw refused;
    return facade.refusedAs(refused, requestId);
  }
  return facade.enveloped(asked, requestId, { auth: authOf(facade, clientToken, { ...known, ...issued }) });
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
      path: '/v1/auth/token/lookup-accessor',
      of: `POST ${token}/info`,
      input: (document) => ({ accessor: new Fields(document).text('accessor') ?? '' }),
      answer: (answered, asked) => look(answered, asked),
    }),
    ...facade.aliases({
      methods: writes,
      path: '/v1/auth/token/renew-self',
      of: `POST ${token}/refresh`,
      input: (document) => {
        const seconds = new Fields(document, ['token']).seconds('increment');
        return seconds === undefined || seconds === 0 ? {} : { increment: `${seconds}s` };
      },
      answer: ({ requestId, document }, asked) => {
        const info = document as JsonObject;
        // A token without an end stays as it is; clients stop to renew it when they are told so.
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

/** What a login and a renewal answer. */
function authOf(facade: Facade, clientToken: string, info: JsonObject): JsonObject {
  const policies = info['policies'] ?? [];
  return {
    ...{ client_token: clientToken, accessor: info['accessor'] ?? '', policies, token_policies: policies },
    metadata: { role_name: info['user'] ?? '' },
    lease_duration: secondsLeft(facade, info),
    renewable: info['expires'] !== undefined,
    ...{ entity_id: '', token_type: 'service', orphan: info['parent'] === undefined, mfa_requirement: null, num_uses: 0 },
  };
}

function lookedUp(facade: Facade, info: JsonObject, id: string | undefined): JsonObject {
  const { expires, 'latest-expires': latest, 'creation-time': created } = info as Readonly<Record<string, string | undefined>>;
  const creation = created === undefined ? facade.clock.now() : Temporal.Instant.from(created);
  const until = (end: string | undefined): number =>
    end === undefined ? 0 : Math.round(creation.until(Temporal.Instant.from(end)).total('seconds'));
  return {
    ...{ id: id ?? '', accessor: info['accessor'] ?? '', policies: info['policies'] ?? [] },
    creation_time: Math.floor(creation.epochMilliseconds / 1_000),
    ...{ creation_ttl: until(expires), ttl: secondsLeft(facade, info), expire_time: expires ?? null, issue_time: created ?? null },
    explicit_max_ttl: until(latest),
    ...{ display_name: info['user'] ?? '', entity_id: '', meta: { role_name: info['user'] ?? '' }, num_uses: 0 },
    ...{ orphan: info['parent'] === undefined, path: 'auth/token/create', renewable: expires !== undefined, type: 'service' },
  };
}

const secondsLeft = (facade: Facade, { expires }: JsonObject): number =>
  typeof expires === 'string' ? Math.max(0, Math.round(facade.clock.now().until(Temporal.Instant.from(expires)).total('seconds'))) : 0;
