// Maps errors of openid-client and of the provider to a LoginFailure with a hint for the administrator.
import * as oidc from 'openid-client';
import { defined } from '../../../core/base/defined.ts';
import { isJsonObject, type JsonObject } from '../../../core/wire/json.ts';
import { showableText } from '../../../core/identity/claims.ts';
import { IdentityError } from '../../../core/identity/identity-error.ts';
import { LoginFailure, type FailureCode, type Stage } from '../failures.ts';
import { OutboundError } from '../../../core/outbound/outbound-error.ts';

/** An `error` in the callback, or an error body of the token endpoint. */
export type ProviderAnswer = {
  readonly status?: number;
  readonly error: string;
  readonly description?: string | undefined;
  /** Entra: numbers of its own, for support */
  readonly codes?: readonly number[];
  readonly traceId?: string | undefined;
  readonly correlationId?: string | undefined;
};

type Meaning = { readonly code: FailureCode; readonly hint?: string };

/** Hints by Entra's error number: those of the specification and the most frequent ones. Only hints depend on them. */
const entraHints: ReadonlyMap<number, string> = new Map(
  (
    [
      [[7000222], 'The client secret has expired: create a new one at the provider and update client-secret.'],
      [[7000215], 'The client secret is wrong; often its id was copied instead of its value. Update client-secret.'],
      [[7000218, 700025], 'The application is registered as a public client: register it as a web application with a secret.'],
      [
        [65001, 90008, 90093, 90094, 90095, 650056],
        'A permission lacks consent: let an administrator of the directory grant admin consent (User.Read, profile, email).',
      ],
      [[65004], 'The person declined to consent.'],
      [
        [500131, 50013, 500133, 240002, 7000114],
        'The access token is already one for the directory API: oidc-scopes must be profile and email, not an application-specific scope.',
      ],
      [[50011], 'The redirect URI is not registered at the provider: it must equal an entry of allowed-redirect-uris.'],
      [[50105], 'The account is not assigned to the application at the provider.'],
      [[700016], 'The provider does not know the client-id in this directory.'],
      [[90002], 'The provider does not know the directory in discovery-url.'],
      [[54005, 70008], 'The authorization code was used twice or is too old.'],
      [[53003], 'A conditional access rule of the provider blocked the sign-in.'],
      [[28002, 28003, 70011, 700022], 'A scope is not valid: oidc-scopes should be profile and email.'],
    ] as const
  ).flatMap(([codes, hint]) => codes.map((code) => [code, hint] as const)),
);

/** Errors at the authorization endpoint (RFC 6749 4.1.2.1, OpenID Connect Core 3.1.2.6). */
const authorizeMeanings: Readonly<Record<string, Meaning>> = {
  access_denied: { code: 'provider-denied' },
  consent_required: { code: 'provider-denied', hint: 'A permission lacks consent: grant admin consent at the provider.' },
  interaction_required: { code: 'provider-denied' },
  login_required: { code: 'provider-denied' },
  account_selection_required: { code: 'provider-denied' },
  invalid_scope: { code: 'service-misconfigured', hint: 'The provider does not offer a scope named in oidc-scopes of the roles.' },
  unauthorized_client: { code: 'service-misconfigured', hint: 'Allow the authorization code flow for this client at the provider.' },
  invalid_request: { code: 'service-misconfigured', hint: 'The provider refused the request: check client-id and allowed-redirect-uris.' },
  unsupported_response_type: { code: 'service-misconfigured', hint: 'Allow response type "code" for this client at the provider.' },
};

/** Errors at the token endpoint (RFC 6749 5.2). */
const tokenMeanings: Readonly<Record<string, Meaning>> = {
  invalid_client: {
    code: 'provider-refused-system',
    hint: 'The client secret is wrong or has expired: create a new one at the provider and update client-secret.',
  },
  invalid_grant: {
    code: 'provider-error',
    hint: 'The provider refused the authorization code: it was used twice, is too old, or the redirect URI differs from the one registered.',
  },
  unauthorized_client: authorizeMeanings['unauthorized_client'] as Meaning,
  invalid_scope: authorizeMeanings['invalid_scope'] as Meaning,
};

/** An error that the provider sent through the browser. Its text is untrusted: not shown, and cut and cleaned in the log (R27). */
export function judgeAuthorizeError(answer: ProviderAnswer): LoginFailure {
  return judgeAnswer('authorize', answer, authorizeMeanings[answer.error] ?? { code: 'provider-error' });
}

function judgeTokenError(answer: ProviderAnswer): LoginFailure {
  const meaning = tokenMeanings[answer.error] ?? { code: 'provider-error' };
  return judgeAnswer('token', answer, answer.status === 401 ? (tokenMeanings['invalid_client'] as Meaning) : meaning);
}

function judgeAnswer(stage: Stage, answer: ProviderAnswer, meaning: Meaning): LoginFailure {
  const codes = answer.codes ?? [...(answer.description ?? '').matchAll(/AADSTS(\d{4,8})/g)].map((match) => Number(match[1]));
  const hint = codes.map((code) => entraHints.get(code)).find((found) => found !== undefined) ?? meaning.hint;
  const error = showableText(answer.error, 64);
  return new LoginFailure(meaning.code, stage, /^[\w.-]+$/.test(error) ? error : 'provider-error', {
    ...defined({ hint }),
    fields: withoutUndefined({
      'provider-status': answer.status,
      'provider-error': error,
      'provider-error-codes': codes.length === 0 ? undefined : codes,
      'provider-description': answer.description === undefined ? undefined : showableText(answer.description, 300),
      'trace-id': answer.traceId,
      'correlation-id': answer.correlationId,
    }),
  });
}

/** openid-client's codes for an ID token, after the callback itself was accepted. */
const idTokenMeanings: ReadonlyMap<string, { readonly reason: string; readonly hint?: string }> = new Map([
  ['OAUTH_INVALID_RESPONSE', { reason: 'invalid-response' }],
  ['OAUTH_JWT_CLAIM_COMPARISON_FAILED', { reason: 'claim-mismatch' }],
  [
    'OAUTH_JWT_TIMESTAMP_CHECK_FAILED',
    { reason: 'not-valid-now', hint: 'Compare the clocks of this system and of the provider; clock-tolerance can bridge up to 5m.' },
  ],
  ['OAUTH_KEY_SELECTION_FAILED', { reason: 'no-single-key' }],
  ['OAUTH_UNSUPPORTED_OPERATION', { reason: 'unsupported-form' }],
]);

/** The same for UserInfo: an answer without subject or about another one (Core 5.3.2) ends the login, other errors do not. */
const userInfoMeanings: ReadonlyMap<string, { readonly reason: string; readonly hint?: string }> = new Map([
  ['OAUTH_INVALID_RESPONSE', { reason: 'invalid-response' }],
  ['OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED', { reason: 'subject-differs' }],
]);

/** Answers that cannot be read, of any endpoint. */
const otherReasons: ReadonlyMap<string, string> = new Map([
  ['OAUTH_RESPONSE_IS_NOT_CONFORM', 'unexpected-status'],
  ['OAUTH_RESPONSE_IS_NOT_JSON', 'not-json'],
  ['OAUTH_PARSE_ERROR', 'broken-json'],
]);

/** Any error of a call to the provider. An unknown error is returned unchanged, so that bugs show as bugs. */
export async function judgeProviderError(thrown: unknown, stage: Stage): Promise<unknown> {
  if (thrown instanceof LoginFailure) return thrown;
  if (thrown instanceof IdentityError) return judgeIdentity(thrown);
  const outbound = findCause(thrown, OutboundError);
  if (outbound !== undefined) return judgeOutbound(outbound, stage);
  if (thrown instanceof oidc.ResponseBodyError) return judgeErrorBody(stage, readBody(thrown.status, thrown.cause));
  if (thrown instanceof oidc.WWWAuthenticateChallengeError) {
    // openid-client does not read the body of a challenge, which has the details.
    const body: unknown = await thrown.response.json().catch(() => undefined);
    return judgeErrorBody(stage, readBody(thrown.status, isJsonObject(body) ? body : {}));
  }
  if (!(thrown instanceof oidc.ClientError)) return thrown;
  const libraryCode = thrown.code ?? '';
  const refusal = (stage === 'userinfo' ? userInfoMeanings : idTokenMeanings).get(libraryCode);
  const { cause } = thrown;
  const fields = withoutUndefined({
    detail: cause instanceof Error ? showableText(cause.message) : undefined,
    'provider-status': cause instanceof Response ? cause.status : undefined,
  });
  if (refusal === undefined) {
    return new LoginFailure('provider-error', stage, otherReasons.get(libraryCode) ?? 'unusable-answer', { fields, cause: thrown });
  }
  const { reason, hint } = refusal;
  const at = stage === 'token' ? 'id-token' : stage;
  return new LoginFailure('id-token-refused', at, reason, { ...defined({ hint }), fields, cause: thrown });
}

/** Judges findings of the shared parts: settings and metadata that do not fit, or claims that nobody can use. */
export function judgeIdentity({ about, reason, hint, fields }: IdentityError): LoginFailure {
  const details = { ...defined({ hint }), fields };
  if (about === 'metadata') return new LoginFailure('service-misconfigured', 'discovery', reason, details);
  return new LoginFailure('id-token-refused', 'role', reason, details);
}

function judgeErrorBody(stage: Stage, answer: ProviderAnswer): LoginFailure {
  return stage === 'token' ? judgeTokenError(answer) : judgeAnswer(stage, answer, { code: 'provider-error' });
}

function judgeOutbound(error: OutboundError, stage: Stage): LoginFailure {
  const hints = {
    tls: 'The provider’s certificate is not accepted: give the CA that issued it in ca-certs, or set use-root-ca-certs for a public one.',
    unreachable: 'Check name resolution, routes and firewalls from this system to the provider.',
    timeout: 'The provider did not answer within the time limit; check the network between this system and the provider.',
    'too-large': 'The provider’s answer is over 1 MiB: check that the URL is that of an OpenID provider.',
    'too-deep': 'The provider’s answer is nested deeper than 32 levels: check that the URL is that of an OpenID provider.',
    'forbidden-url': 'The provider names an address that is not https.',
    'forbidden-address': 'The provider is at an address that this appliance does not call; see provider-hosts of its configuration.',
    'set-aside':
      'A fault of this appliance happened while a provider of this tenant was called, so none is called for an hour; system:logs has the fault.',
    malformed: 'The server at the provider’s address does not answer with HTTP (RFC 9110): check the URL, and proxies on the way.',
  } as const;
  const code =
    error.kind === 'timeout' ? 'provider-timeout' : error.kind.startsWith('forbidden') ? 'service-misconfigured' : 'provider-error';
  return new LoginFailure(code, stage, error.kind, {
    hint: hints[error.kind],
    fields: withoutUndefined({ 'system-code': error.systemCode }),
    cause: error,
  });
}

function readBody(status: number, body: object): ProviderAnswer {
  const members = body as JsonObject;
  const text = (name: string): string | undefined => {
    const value = members[name];
    return typeof value === 'string' ? showableText(value, 300) : undefined;
  };
  const codes = members['error_codes'];
  return {
    status,
    error: text('error') ?? 'no-error-code',
    description: text('error_description'),
    ...(Array.isArray(codes) ? { codes: codes.filter((code) => typeof code === 'number') } : {}),
    traceId: text('trace_id'),
    correlationId: text('correlation_id'),
  };
}

function findCause<T extends Error>(error: unknown, type: new (...parameters: never[]) => T): T | undefined {
  for (let current = error, depth = 0; current instanceof Error && depth < 8; current = current.cause, depth += 1) {
    if (current instanceof type) return current;
  }
  return undefined;
}

function withoutUndefined(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
