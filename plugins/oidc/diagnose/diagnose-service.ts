// The `test` action: checks a provider without a login and says what to fix.
import { z } from 'zod';
import { defined } from '../../../core/base/defined.ts';
import { isJsonObject } from '../../../core/wire/json.ts';
import { defineEndpoint, type AnyEndpoint, type EndpointCall } from '../../../core/http/endpoint.ts';
import { readCertificates } from '../provider/certificate-chain.ts';
import { metadataUrl, type SignInMetadata } from '../../../core/identity/discovery.ts';
import {
  authorizationUrl,
  chooseAuthMethod,
  exchangeCode,
  openProvider,
  type ProviderSession,
  clientSettings,
} from '../provider/token-exchange.ts';
import { LoginFailure } from '../failures.ts';
import { commonAlgorithms } from '../provider/id-token.ts';
import { googleGroupsReader } from '../provider/google-groups.ts';
import { requireService, type Located, type Oidc } from '../context.ts';
import type { Outbound } from '../../../core/outbound/outbound.ts';
import { judgeProviderError } from '../provider/provider-errors.ts';
import { scopesOf } from '../records/role-record.ts';
import { reportSchema, type Finding, type Report } from './diagnose-report.ts';
import { oidcTag } from '../tags.ts';
import { requireTold, seesRoles, type Told } from './told.ts';

const told: Told = { ofService: ['discovery-url', 'allowed-redirect-uris', 'token-endpoint-auth-method', 'client-id', 'google-groups'] };

export function diagnoseEndpoint(oidc: Oidc): AnyEndpoint {
  return defineEndpoint<Record<string, never>, Report, Located>({
    method: 'POST',
    path: '/v1/state/keystore/authentication/oidc/{name}/test',
    summary: 'Check a provider without a login',
    idempotent: true,
    description:
      'Faults are in `findings` of an answer 200, each with its fix. Refused where policies hide what it tells of the service; what it tells of roles is left out where they hide these.',
    tag: oidcTag,
    access: 'token',
    operation: 'execute',
    audit: 'required',
    act: 'none',
    input: z.object({}),
    output: reportSchema,
    find: (call) => requireService(oidc, call),
    run(call, _input, located) {
      requireTold(call, told, located.service, []);
      const roles = oidc.rolesOf(located.tenantId, located.service).map(({ name }) => name);
      return examine(oidc, call, located, seesRoles(call, ['oidc-scopes'], located.service, roles));
    },
  });
}

/** `tellsRoles`: the caller may know the roles and their scopes. */
async function examine(oidc: Oidc, call: EndpointCall, located: Located, tellsRoles: boolean): Promise<Report> {
  const { record } = located;
  const findings: Finding[] = [];
  const outbound = oidc.openOutbound(located);
  const url = metadataUrl(record.discoveryUrl);
  const chain = url.protocol === 'https:' ? await readCertificates(url, oidc.destinations) : [];
  const [leaf] = chain;
  const daysLeft = leaf === undefined ? Infinity : oidc.clock.now().until(leaf.notAfter).total('days');
  if (daysLeft < 14) add(findings, 'warning', `The provider’s certificate ends in ${Math.max(0, Math.floor(daysLeft))} days.`);
  oidc.forgetMetadata(located);
  const metadata = await tryStep(findings, () => oidc.metadataOf(located, outbound));
  const { scopes, ...others } = metadata === undefined ? {} : await examineProvider(oidc, call, located, metadata, outbound, findings);
  if (tellsRoles) addOfRoles(findings, oidc.rolesOf(located.tenantId, located.service), scopes);
  const about = { ...others, ...(tellsRoles ? defined({ scopes }) : {}) };
  const report = { ...about, ...(chain.length === 0 ? {} : { certificateChain: [...chain] }) };
  const [errors, warnings] = ['error', 'warning'].map((wanted) => findings.filter(({ level }) => level === wanted)) as [
    Finding[],
    Finding[],
  ];
  return { usable: errors.length === 0, findings: [...errors, ...warnings], ...report };
}

async function examineProvider(
  oidc: Oidc,
  call: EndpointCall,
  located: Located,
  metadata: SignInMetadata,
  outbound: Outbound,
  findings: Finding[],
): Promise<Omit<Report, 'usable' | 'findings'>> {
  const { record, tenantId, service } = located;
  const roles = oidc.rolesOf(tenantId, service);
  const scopes = scopesOf(roles);
  const algorithms = commonAlgorithms(metadata.id_token_signing_alg_values_supported);
  if (algorithms.length === 0)
    add(findings, 'error', 'No signature algorithm in common.', 'Let the provider sign ID tokens with RS256 or ES256.');
  if (metadata.authorization_response_iss_parameter_supported !== true) {
    add(
      findings,
      'warning',
      'The provider does not name itself in its answers (RFC 9207); state and PKCE protect against mix-ups instead.',
    );
  }
  const keys = await tryStep(findings, () => readKeys(metadata, outbound, oidc, findings));
  const provider = await tryStep(findings, async () =>
    openProvider(metadata, clientSettings(record, oidc.allowHttpLoopback), outbound, oidc.clock),
  );
  const tried = provider === undefined ? {} : await tryEndpoints(provider, record.allowedRedirectUris, scopes, outbound, findings);
  const readGroups = googleGroupsReader(oidc, call, located, metadata, record.googleGroups?.adminEmail ?? '');
  if (readGroups !== undefined) await tryStep(findings, () => readGroups(outbound));
  return {
    issuer: metadata.issuer,
    authorizationEndpoint: metadata.authorization_endpoint,
    tokenEndpoint: metadata.token_endpoint,
    algorithms,
    pkce: { method: 'S256', listed: metadata.code_challenge_methods_supported?.includes('S256') === true },
    issParameter: metadata.authorization_response_iss_parameter_supported === true,
    ...(provider === undefined ? {} : { tokenEndpointAuthMethod: chooseAuthMethod(metadata, record.tokenEndpointAuthMethod) }),
    ...defined({ directoryHost: record.googleGroups?.directoryHost ?? metadata.msgraph_host }),
    scopes: [...scopes],
    ...tried,
    ...keys,
  };
}

/** Adds findings about the roles. `scopes`: undefined where the provider was not reached. */
function addOfRoles(findings: Finding[], roles: readonly unknown[], scopes: readonly string[] | undefined): void {
  if (scopes === undefined) return;
  if (roles.length === 0)
    add(findings, 'error', 'There is no role, so no one can sign in.', 'Create a role with the name of a value of the role claim.');
  else if (!scopes.includes('profile') || !scopes.includes('email'))
    add(findings, 'warning', 'The roles do not ask for the scopes profile and email.', 'Set oidc-scopes of a role to profile and email.');
}

/** Reads the keys, and the provider's clock from the same answer. */
async function readKeys(
  metadata: SignInMetadata,
  outbound: Outbound,
  oidc: Oidc,
  findings: Finding[],
): Promise<Pick<Report, 'keys' | 'clockDifferenceSeconds'>> {
  const response = await outbound.fetch(metadata.jwks_uri, { headers: { accept: 'application/json' } }).catch(async (error: unknown) => {
    throw await judgeProviderError(error, 'discovery');
  });
  const date = Date.parse(response.headers.get('date') ?? '');
  const difference = Number.isNaN(date) ? undefined : Math.round((date - oidc.clock.now().epochMilliseconds) / 1000);
  if (difference !== undefined && Math.abs(difference) > 30) {
    add(
      findings,
      'warning',
      `The provider’s clock differs by ${difference} s.`,
      'Set both clocks by NTP; clock-tolerance bridges up to 5m.',
    );
  }
  const body: unknown = await response.json().catch(() => undefined);
  const list = isJsonObject(body) && Array.isArray(body['keys']) ? body['keys'] : [];
  const keys = list.filter(isJsonObject).map((key) => ({
    kty: typeof key['kty'] === 'string' ? key['kty'] : 'unknown',
    ...(typeof key['kid'] === 'string' ? { kid: key['kid'] } : {}),
    ...(typeof key['alg'] === 'string' ? { alg: key['alg'] } : {}),
    ...(typeof key['use'] === 'string' ? { use: key['use'] } : {}),
  }));
  if (response.status !== 200 || keys.length === 0)
    add(findings, 'error', `The key list of the provider is not usable (HTTP ${response.status}).`);
  return { keys, ...defined({ clockDifferenceSeconds: difference }) };
}

async function tryEndpoints(
  provider: ProviderSession,
  uris: readonly string[],
  scopes: readonly string[],
  outbound: Outbound,
  findings: Finding[],
): Promise<Pick<Report, 'clientCredentials' | 'redirectUris'>> {
  const redirectUris = [];
  for (const uri of uris.slice(0, 5)) redirectUris.push({ uri, registered: await isRegistered(provider, uri, scopes, outbound) });
  for (const { uri } of redirectUris.filter(({ registered }) => registered === 'unknown')) {
    add(
      findings,
      'warning',
      `The provider did not show that it knows ${uri}.`,
      'Compare it with the redirect URIs registered at the provider, octet by octet.',
    );
  }
  return { clientCredentials: await tryCredentials(provider, uris[0] as string, findings), redirectUris };
}

/**
 * Tells whether the redirect URI is registered: with `prompt=none` and no session, a provider redirects at once if it knows it (Core
 * 3.1.2.1).
 */
async function isRegistered(
  provider: ProviderSession,
  redirectUri: string,
  scopes: readonly string[],
  outbound: Outbound,
): Promise<'yes' | 'unknown'> {
  const secrets = { state: 'test', nonce: 'test', codeVerifier: 'test'.repeat(11) };
  const url = await authorizationUrl(provider, redirectUri, scopes, secrets);
  url.searchParams.set('prompt', 'none');
  const response = await outbound.fetch(url).catch(() => undefined);
  const location = response?.headers.get('location') ?? '';
  return location === redirectUri || location.startsWith(`${redirectUri}?`) ? 'yes' : 'unknown';
}

/** A provider authenticates the client before it checks the code, so a code that does not exist tells whether the credentials are right. */
async function tryCredentials(
  provider: ProviderSession,
  redirectUri: string,
  findings: Finding[],
): Promise<'accepted' | 'refused' | 'unknown'> {
  const secrets = { state: 'test', nonce: 'test', codeVerifier: 'test'.repeat(11) };
  const callback = new URLSearchParams({ code: 'keystore-test', state: 'test', iss: provider.metadata.issuer });
  try {
    await exchangeCode(provider, callback, redirectUri, secrets);
    return 'unknown';
  } catch (error) {
    if (!(error instanceof LoginFailure)) throw error;
    if (error.reason === 'invalid_grant') return 'accepted';
    addFailure(findings, error, error.code === 'provider-refused-system' ? 'error' : 'warning');
    return error.code === 'provider-refused-system' ? 'refused' : 'unknown';
  }
}

async function tryStep<T>(findings: Finding[], step: () => Promise<T>): Promise<T | undefined> {
  try {
    return await step();
  } catch (error) {
    if (!(error instanceof LoginFailure)) throw error;
    addFailure(findings, error, 'error');
    return undefined;
  }
}

function addFailure(findings: Finding[], failure: LoginFailure, level: Finding['level']): void {
  const details = Object.entries(failure.fields).map(
    ([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  add(findings, level, [`${failure.stage}: ${failure.reason}`, ...details].join('; '), failure.hint);
}

function add(findings: Finding[], level: Finding['level'], message: string, fix?: string): void {
  findings.push({ level, message, ...defined({ fix }) });
}
