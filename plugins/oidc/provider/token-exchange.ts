// Exchanges the authorization code for a verified ID token, and calls UserInfo: openid-client with all checks on, one configuration per login.
import * as oidc from 'openid-client';
import type { Clock } from '../../../core/base/context.ts';
import { revealSecret, Secret } from '../../../core/base/secret.ts';
import { isJsonObject } from '../../../core/wire/json.ts';
import { isTooDeep } from '../../../core/identity/depth.ts';
import type { Claims } from '../../../core/identity/claims.ts';
import type { SignInMetadata } from '../../../core/identity/discovery.ts';
import type { ServiceRecord } from '../records/service-record.ts';
import { parseDuration } from '../../../core/base/time.ts';
import { LoginFailure } from '../failures.ts';
import { commonAlgorithms, VerifiedIdToken } from './id-token.ts';
import type { Outbound } from '../../../core/outbound/outbound.ts';
import { judgeProviderError } from './provider-errors.ts';
import { withSoundKeys } from '../../../core/identity/provider-keys.ts';

/** The settings of a service that the token exchange needs. */
export type ClientSettings = {
  readonly clientId: string;
  readonly clientSecret: Secret<string>;
  /** undefined: chosen by the metadata */
  readonly authMethod: AuthMethod | undefined;
  readonly toleranceSeconds: number;
  readonly allowHttpLoopback: boolean;
};

export type AuthMethod = 'client_secret_basic' | 'client_secret_post';

/** The client settings of a service. */
export function clientSettings(record: ServiceRecord, allowHttpLoopback: boolean): ClientSettings {
  return {
    clientId: record.clientId,
    clientSecret: new Secret(record.clientSecret),
    authMethod: record.tokenEndpointAuthMethod,
    toleranceSeconds: parseDuration(record.clockTolerance, 'clock-tolerance').seconds,
    allowHttpLoopback,
  };
}

/** A provider during one login. A new one per login, because openid-client keeps the keys and would refuse the first token after a rotation. */
export type ProviderSession = {
  readonly config: oidc.Configuration;
  readonly metadata: SignInMetadata;
  readonly settings: ClientSettings;
  readonly clock: Clock;
};

/** The secrets of one login, known to this server only. */
export type LoginSecrets = { readonly state: string; readonly nonce: string; readonly codeVerifier: string };

/** Throws LoginFailure `service-misconfigured` when the provider supports neither of the two ways to send a client secret. */
export function openProvider(metadata: SignInMetadata, settings: ClientSettings, outbound: Outbound, clock: Clock): ProviderSession {
  const skewSeconds = Math.round((clock.now().epochMilliseconds - Date.now()) / 1000);
  const secret = revealSecret(settings.clientSecret);
  const authentication =
    chooseAuthMethod(metadata, settings.authMethod) === 'client_secret_basic'
      ? oidc.ClientSecretBasic(secret)
      : oidc.ClientSecretPost(secret);
  const server = {
    ...metadata,
    id_token_signing_alg_values_supported: commonAlgorithms(metadata.id_token_signing_alg_values_supported),
    userinfo_signing_alg_values_supported: commonAlgorithms(metadata.userinfo_signing_alg_values_supported),
  };
  const client = { [oidc.clockTolerance]: settings.toleranceSeconds, [oidc.clockSkew]: skewSeconds };
  const config = new oidc.Configuration(server, settings.clientId, client, authentication);
  config[oidc.customFetch] = async (url, request) => {
    const response = await outbound.fetch(url, request);
    if (url === metadata.token_endpoint) return withUsedMembers(response);
    return url === metadata.jwks_uri ? withSoundKeys(response) : response;
  };
  if (settings.allowHttpLoopback) oidc.allowInsecureRequests(config);
  // Without this openid-client relies on TLS alone and accepts ID tokens with any signature, even none.
  oidc.enableNonRepudiationChecks(config);
  return { config, metadata, settings, clock };
}

/**
 * A token answer with the members that are used, as texts. openid-client ends the sign-in for a malformed one among the others, such as
 * `"refresh_token": null`, which nothing here reads.
 */
async function withUsedMembers(response: Response): Promise<Response> {
  if (response.status !== 200) return response;
  const answer: unknown = await response
    .clone()
    .json()
    .catch(() => undefined);
  if (!isJsonObject(answer)) return response;
  const texts = ['access_token', 'token_type', 'id_token'].flatMap((name) => {
    const value = answer[name];
    return typeof value === 'string' && value !== '' ? [[name, value] as const] : [];
  });
  return Response.json(Object.fromEntries(texts), { headers: response.headers });
}

/** RFC 6749 2.3.1 makes Basic the default; a provider that lists neither of the two is not supported (R31). */
export function chooseAuthMethod(metadata: SignInMetadata, wanted: AuthMethod | undefined): AuthMethod {
  const listed = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const chosen = wanted ?? (['client_secret_basic', 'client_secret_post'] as const).find((method) => listed.includes(method));
  if (chosen !== undefined) return chosen;
  throw new LoginFailure('service-misconfigured', 'discovery', 'auth-method-not-supported', {
    hint: 'The provider lists neither client_secret_basic nor client_secret_post: allow one of them for this client.',
  });
}

/** The authorization URL: code flow, always with PKCE S256, whatever the metadata says (RFC 9700 2.1.1). */
export async function authorizationUrl(
  provider: ProviderSession,
  redirectUri: string,
  scopes: readonly string[],
  secrets: LoginSecrets,
): Promise<URL> {
  return oidc.buildAuthorizationUrl(provider.config, {
    redirect_uri: redirectUri,
    scope: scopes.join(' '),
    state: secrets.state,
    nonce: secrets.nonce,
    code_challenge: await oidc.calculatePKCECodeChallenge(secrets.codeVerifier),
    code_challenge_method: 'S256',
  });
}

/** The provider's tokens after all checks. They are kept only during the callback and never stored (R64). */
export type Exchanged = { readonly idToken: VerifiedIdToken; readonly accessToken: Secret<string> };

/**
 * Exchanges the code for tokens: one request, never repeated. `callback` is the query of the redirect, `redirectUri` that of the start of
 * the login (not the address of the request, which a proxy may change). Throws LoginFailure.
 */
export async function exchangeCode(
  provider: ProviderSession,
  callback: URLSearchParams,
  redirectUri: string,
  secrets: LoginSecrets,
): Promise<Exchanged> {
  const { config, settings, clock } = provider;
  const url = new URL(redirectUri);
  url.search = callback.toString();
  try {
    const tokens = await oidc.authorizationCodeGrant(config, url, {
      pkceCodeVerifier: secrets.codeVerifier,
      expectedState: secrets.state,
      expectedNonce: secrets.nonce,
      idTokenExpected: true,
    });
    // The claims were parsed from JSON; openid-client's type names only some of them.
    const claims = tokens.claims() as Claims | undefined;
    if (tokens.id_token === undefined || claims === undefined) throw new LoginFailure('id-token-refused', 'id-token', 'absent');
    // The access token is sent in a header (RFC 6749 appendix A.12).
    if (!/^[\x20-\x7e]+$/.test(tokens.access_token)) throw new LoginFailure('provider-error', 'token', 'access-token-malformed');
    const { clientId, toleranceSeconds } = settings;
    const expected = { clientId, toleranceSeconds, now: clock.now(), accessToken: tokens.access_token };
    return { idToken: VerifiedIdToken.judge(tokens.id_token, claims, expected), accessToken: new Secret(tokens.access_token) };
  } catch (error) {
    throw await judgeProviderError(error, 'token');
  }
}

/** Claims of the UserInfo endpoint; their subject is the ID token's (Core 5.3.2). Throws LoginFailure, `id-token-refused` when it is not. */
export async function fetchUserInfo(provider: ProviderSession, exchanged: Exchanged): Promise<Claims> {
  try {
    const answer = await oidc.fetchUserInfo(provider.config, revealSecret(exchanged.accessToken), exchanged.idToken.subject);
    if (isTooDeep(answer)) throw new LoginFailure('provider-error', 'userinfo', 'nested-too-deep');
    return answer as Claims;
  } catch (error) {
    throw await judgeProviderError(error, 'userinfo');
  }
}
