// The provider's metadata: its URL, the check of its issuer, and the members in use (OpenID Connect Discovery 1.0).
import { z } from 'zod';
import type { Clock } from '../base/context.ts';
import { isJsonObject } from '../wire/json.ts';
import { showableText } from './claims.ts';
import { IdentityError } from './identity-error.ts';
import { givenMetadata } from './given.ts';
import { aboutRedirects } from '../outbound/outbound-error.ts';
import { isAllowedUrl, isLoopback, type Outbound } from '../outbound/outbound.ts';

const wellKnown = '/.well-known/openid-configuration';

/** More than providers need. Metadata is kept in memory, and a tenant can have a thousand providers. */
const address = z.string().max(2_048);
const words = z.array(z.string().max(128)).max(128);

/**
 * Members that say who signs and with which keys: what a provider of tokens for machines has, often without any endpoint to sign in. Members
 * that are not named are dropped, because unchecked ones must not be passed on.
 */
export const issuerMetadata = z.object({
  issuer: address.min(1),
  jwks_uri: address,
  id_token_signing_alg_values_supported: words.exactOptional(),
});

/** Further members that a sign-in of people needs (OpenID Connect Discovery 1.0 section 3). */
export const signInMetadata = issuerMetadata.extend({
  authorization_endpoint: address,
  token_endpoint: address,
  userinfo_endpoint: address.exactOptional(),
  end_session_endpoint: address.exactOptional(),
  token_endpoint_auth_methods_supported: words.exactOptional(),
  userinfo_signing_alg_values_supported: words.exactOptional(),
  code_challenge_methods_supported: words.exactOptional(),
  // Only a convenience, so a malformed value is ignored.
  prompt_values_supported: words.optional().catch(undefined),
  authorization_response_iss_parameter_supported: z.boolean().exactOptional(),
  /** Entra: host of the directory API of this cloud */
  msgraph_host: z.string().max(253).exactOptional(),
});

export type IssuerMetadata = z.output<typeof issuerMetadata>;
export type SignInMetadata = z.output<typeof signInMetadata>;

/** A discovery URL is accepted with or without the well-known suffix; it is stored as given and used in this form (R2). */
export function metadataUrl(discoveryUrl: string): URL {
  const url = new URL(discoveryUrl);
  if (!url.pathname.endsWith(wellKnown)) url.pathname = url.pathname.replace(/\/$/, '') + wellKnown;
  return url;
}

/** Problem of a discovery URL (R1, R4); undefined if it can be used. */
export function findDiscoveryUrlProblem(text: string, allowHttpLoopback: boolean): string | undefined {
  // The URL parser drops white space silently; the stored URL should be the one that is fetched.
  if (/\s/.test(text)) return 'must not contain white space';
  if (!URL.canParse(text)) return 'must be an absolute URL';
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return 'must not carry credentials';
  if (text.includes('#')) return 'must not have a fragment';
  if (text.includes('?') && !knownQuery.test(url.search)) return 'must not have a query, other than appid of Entra and p of Azure AD B2C';
  if (!isAllowedUrl(url, allowHttpLoopback)) {
    return url.protocol === 'http:' && isLoopback(url.hostname)
      ? 'must be https; http to a loopback host needs allow-http-loopback in the configuration'
      : 'must be an https URL';
  }
  // These endpoints accept accounts of every directory: their issuer is a template.
  if (entraHosts.has(url.hostname) && /^\/(?:common|organizations|consumers)(?:\/|$)/i.test(url.pathname)) {
    return 'must name one directory: https://login.microsoftonline.com/<directory id>/v2.0';
  }
  return undefined;
}

/** Entra: the application whose own signing keys are meant. B2C: a policy. */
const knownQuery = /^\?(?:appid=[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}|p=[A-Za-z0-9_-]{1,128})$/;

const entraHosts: ReadonlySet<string> = new Set([
  'login.microsoftonline.com',
  'login.microsoft.com',
  'login.windows.net',
  'sts.windows.net',
  'login.microsoftonline.us',
  'login.partner.microsoftonline.cn',
]);

/**
 * Issuer + well-known suffix must be the text with which the metadata was asked for (Discovery 4.3): as discovery-url is written, or as the
 * URL parser writes it. One slash at the issuer's end is allowed, and a query of the URL does not count.
 */
export function issuerBelongsTo(issuer: string, urlWithQuery: string): boolean {
  const [discoveryUrl = ''] = urlWithQuery.split('?');
  const named = issuer.replace(/\/$/, '') + wellKnown;
  const written = discoveryUrl.endsWith(wellKnown) ? discoveryUrl : discoveryUrl.replace(/\/$/, '') + wellKnown;
  return named === written || named === metadataUrl(discoveryUrl).href;
}

/** Remedy for an issuer that does not belong to the discovery URL. */
function mismatchHint(issuer: string, discoveryUrl: string, allowHttpLoopback: boolean): string {
  const named = `The metadata names the issuer ${showableText(issuer, 2_048)}`;
  const problem = findDiscoveryUrlProblem(issuer, allowHttpLoopback);
  if (problem !== undefined) return `${named}, which cannot be used, because an issuer ${problem}: correct it at the provider.`;
  return metadataUrl(issuer).href === metadataUrl(discoveryUrl).href
    ? `${named}, the same address in another spelling, and the spelling counts: set discovery-url to exactly that text.`
    : `${named}: set discovery-url to the address of that issuer (Entra: the one that ends in /v2.0). If the provider's documentation says that its issuer is another one than its address (Azure AD B2C, Entra External ID), set expected-issuer to exactly that text.`;
}

/** Address of a provider. Without `providerHosts` its endpoints may be on any host. */
export type ProviderAddress = {
  readonly discoveryUrl: string;
  readonly providerHosts?: readonly string[] | undefined;
  /** issuer that the metadata has to name, where that is not the one of the URL */
  readonly expectedIssuer?: string | undefined;
};

/** Further hosts of well-known providers. */
const knownHosts: Readonly<Record<string, readonly string[]>> = { 'accounts.google.com': ['oauth2.googleapis.com', 'www.googleapis.com'] };

/** The host of an endpoint that is sent the client secret, or says whose ID tokens are believed, where the provider may not have it; or undefined. */
function foreignHost(endpoint: string, { discoveryUrl, providerHosts }: ProviderAddress): string | undefined {
  const [{ host }, own] = [new URL(endpoint), new URL(discoveryUrl).host];
  if (providerHosts === undefined || host === own || providerHosts.some((named) => isHost(named, host))) return undefined;
  return knownHosts[own]?.includes(host) === true ? undefined : host;
}

/** Tells whether an entry of provider-hosts is that host, with or without the port 443. */
function isHost(named: string, host: string): boolean {
  return named === host || URL.parse(`https://${named}`)?.host === host;
}

const endpoints = ['authorization_endpoint', 'token_endpoint', 'jwks_uri', 'userinfo_endpoint', 'end_session_endpoint'] as const;

/**
 * Fetches the metadata and checks the members that a way to log in uses. Throws IdentityError and OutboundError. Endpoints are answered as the
 * URL parser writes them.
 */
export async function fetchMetadata<Metadata extends IssuerMetadata>(
  wanted: z.ZodType<Metadata>,
  service: ProviderAddress,
  outbound: Outbound,
  allowHttpLoopback: boolean,
): Promise<Metadata> {
  const url = metadataUrl(service.discoveryUrl);
  const response = await outbound.fetch(url, { headers: { accept: 'application/json' } });
  if (response.status !== 200) {
    throw misconfigured(
      'metadata-not-found',
      `Check discovery-url: ${url.href} answered ${response.status}${aboutRedirects(response.status)}.`,
      {
        status: response.status,
      },
    );
  }
  const answer: unknown = await response.json().catch(() => undefined);
  const parsed = wanted.safeParse(isJsonObject(answer) ? givenMetadata(answer) : answer);
  if (!parsed.success) {
    const members = parsed.error.issues.map((issue) => issue.path.join('.')).filter((path) => path !== '');
    const seen = members.length === 0 ? 'the answer is not a JSON object' : `these members are missing or malformed: ${members.join(', ')}`;
    throw misconfigured('metadata-malformed', `${url.href} is not the metadata of an OpenID provider: ${seen}.`, { members });
  }
  const metadata: Metadata & Partial<Record<(typeof endpoints)[number], string>> = { ...parsed.data };
  const { issuer } = metadata;
  const { expectedIssuer } = service;
  if (expectedIssuer === undefined ? !issuerBelongsTo(issuer, service.discoveryUrl) : issuer !== expectedIssuer) {
    const hint =
      expectedIssuer === undefined
        ? mismatchHint(issuer, service.discoveryUrl, allowHttpLoopback)
        : `The metadata names the issuer ${showableText(issuer, 2_048)}, and expected-issuer is another text: every character counts.`;
    throw misconfigured('issuer-mismatch', hint, { issuer: showableText(issuer, 2_048) });
  }
  for (const member of endpoints) {
    const endpoint = metadata[member];
    if (endpoint === undefined) continue;
    const parsedUrl = URL.parse(endpoint);
    if (parsedUrl === null || !isAllowedUrl(parsedUrl, allowHttpLoopback)) {
      throw misconfigured('endpoint-not-https', `${member} of the provider is not an https URL.`, { member });
    }
    // In the spelling in which it is called: what is done with its answer is decided by it.
    Object.assign(metadata, { [member]: parsedUrl.href });
  }
  for (const member of ['token_endpoint', 'jwks_uri'] as const) {
    const endpoint = metadata[member];
    const host = endpoint === undefined ? undefined : foreignHost(endpoint, service);
    if (host === undefined) continue;
    throw misconfigured(
      'endpoint-elsewhere',
      `${member} of the provider is at ${showableText(host)}, not at the host of discovery-url. If the provider says so in its documentation, add that host to provider-hosts of the service.`,
      { member, host: showableText(host) },
    );
  }
  return metadata;
}

function misconfigured(reason: string, hint: string, fields: Readonly<Record<string, unknown>>): IdentityError {
  return new IdentityError('metadata', reason, { hint, fields });
}

/** Keeps metadata for five minutes per service and revision, so that an edited service never uses old metadata. Keys are not kept. */
export class MetadataCache<Metadata extends IssuerMetadata> {
  readonly #clock: Clock;
  readonly #entries = new Map<string, { readonly metadata: Promise<Metadata>; readonly untilMs: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `key` names service and revision. Concurrent callers share one fetch; a failure is not kept. */
  get(key: string, load: () => Promise<Metadata>): Promise<Metadata> {
    const nowMs = this.#clock.monotonicMs();
    const kept = this.#entries.get(key);
    if (kept !== undefined && kept.untilMs > nowMs) return kept.metadata;
    const metadata = load();
    this.#entries.delete(key);
    this.#entries.set(key, { metadata, untilMs: nowMs + keepMs });
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > maxEntries && oldest !== undefined) this.#entries.delete(oldest);
    metadata.catch(() => this.forget(key));
    return metadata;
  }

  /** Drops an entry, for example after an ID token did not verify, because the provider may have moved its keys. */
  forget(key: string): void {
    this.#entries.delete(key);
  }
}

const keepMs = 300_000;
const maxEntries = 1_000;
