// Group overage: a provider leaves out the groups of a person with too many, and they are fetched from its directory API.
import { isJsonObject, type JsonObject } from '../../../core/wire/json.ts';
import { revealSecret, type Secret } from '../../../core/base/secret.ts';
import { findClaim, showableText, topLevelName, type Claims } from '../../../core/identity/claims.ts';
import type { SignInMetadata } from '../../../core/identity/discovery.ts';
import type { Outbound } from '../../../core/outbound/outbound.ts';
import { maxRoleValues } from '../../../core/identity/role-match.ts';

/** Groups of the person, or why they are missing: `reason` and `hint` go to the log, and the login continues without them. */
export type DirectoryAnswer =
  | { readonly groups: readonly string[] }
  | { readonly reason: string; readonly hint: string; readonly fields: Readonly<Record<string, unknown>> };

/**
 * Tells whether the ID token says that the role claim was left out for its size: an entry in `_claim_names` (OpenID Connect Core 5.6.2), or
 * Entra's `hasgroups`. Malformed members count as set; a role claim that is present needs no directory.
 */
export function isOverage(claims: Claims, roleClaim: string): boolean {
  if (findClaim(claims, roleClaim) !== undefined) return false;
  const member = topLevelName(roleClaim);
  if (member === undefined) return false;
  const names = findClaim(claims, '_claim_names');
  if (names !== undefined && (!isJsonObject(names) || Object.hasOwn(names, member))) return true;
  return claims['hasgroups'] === true || claims['hasgroups'] === 'true';
}

/** Hosts of Microsoft's directory API. Tokens still name the retired one, which maps to its successor. */
const directoryHosts: ReadonlyMap<string, string> = new Map([
  ['graph.microsoft.com', 'graph.microsoft.com'],
  ['graph.windows.net', 'graph.microsoft.com'],
  ['graph.microsoft.us', 'graph.microsoft.us'],
  ['dod-graph.microsoft.us', 'dod-graph.microsoft.us'],
  ['microsoftgraph.chinacloudapi.cn', 'microsoftgraph.chinacloudapi.cn'],
]);

/**
 * The directory's address, from the provider's metadata. A URL in `_claim_sources` only selects one of the hosts above: following it would
 * send the person's access token to any host that a claim names.
 */
export function directoryOrigin(metadata: SignInMetadata, claims: Claims): string | undefined {
  const host = metadata.msgraph_host;
  if (host !== undefined) return /^[a-z0-9.-]+(?::\d{1,5})?$/i.test(host) ? `https://${host.toLowerCase()}` : undefined;
  const sources = claims['_claim_sources'];
  for (const source of isJsonObject(sources) ? Object.values(sources) : []) {
    const endpoint = isJsonObject(source) ? source['endpoint'] : undefined;
    if (typeof endpoint !== 'string' || !URL.canParse(endpoint)) continue;
    const url = new URL(endpoint);
    const known = url.protocol === 'https:' ? directoryHosts.get(url.host) : undefined;
    if (known !== undefined) return `https://${known}`;
  }
  return undefined;
}

const groupType = '#microsoft.graph.group';
const maxPages = 200;
/** The longest Retry-After of a busy directory that is honoured, once per page. */
const maxRetrySeconds = 3;

export type DirectoryRequest = {
  readonly metadata: SignInMetadata;
  readonly claims: Claims;
  readonly clientId: string;
  readonly accessToken: Secret<string>;
  /** calls only to the directory: 5 s for all pages */
  readonly outbound: Outbound;
};

/** All groups of the person, nested ones included. Needs only the delegated permission User.Read. Never throws. */
export async function fetchGroups(request: DirectoryRequest): Promise<DirectoryAnswer> {
  const origin = directoryOrigin(request.metadata, request.claims);
  if (origin === undefined) {
    return failed(
      'directory-unknown',
      'The provider’s metadata has no msgraph_host: limit the groups in the token to those assigned to the application.',
    );
  }
  const misdirected = checkAudience(revealSecret(request.accessToken), origin, request.clientId);
  if (misdirected !== undefined) return misdirected;
  try {
    return await readPages(origin, request);
  } catch (error) {
    const kind = error instanceof Error ? showableText(error.message) : 'unknown';
    return failed('directory-unreachable', 'The directory API cannot be reached in time; check the network from this system.', {
      detail: kind,
    });
  }
}

async function readPages(origin: string, { outbound, accessToken }: DirectoryRequest): Promise<DirectoryAnswer> {
  const groups: string[] = [];
  const seen = new Set<string>();
  let next: string | undefined = `${origin}/v1.0/me/transitiveMemberOf?$select=id&$top=999`;
  while (next !== undefined) {
    // A link to another origin would leak the person's token; a repeated link would never end.
    if (new URL(next).origin !== origin)
      return failed('next-page-elsewhere', 'The directory named a next page on another host; it was not followed.');
    if (seen.has(next) || seen.size >= maxPages) return failed('too-many-pages', 'The directory has too many pages.');
    seen.add(next);
    const response = await fetchPage(outbound, next, accessToken);
    const page: unknown = await response.json().catch(() => undefined);
    if (response.status !== 200) return refused(response, isJsonObject(page) ? page : {});
    if (!isJsonObject(page) || !Array.isArray(page['value'])) return failed('directory-malformed', 'The directory’s answer is not a list.');
    for (const entry of page['value']) {
      if (!isJsonObject(entry) || typeof entry['id'] !== 'string') continue;
      if (entry['@odata.type'] === undefined || entry['@odata.type'] === groupType) groups.push(entry['id']);
    }
    if (groups.length > maxRoleValues) return failed('too-many-groups', `The account is in more than ${maxRoleValues} groups.`);
    const link: unknown = page['@odata.nextLink'];
    next = typeof link === 'string' && URL.canParse(link) ? link : undefined;
  }
  return { groups };
}

/** One page; a busy directory that asks for a short wait gets it, once. */
export async function fetchPage(outbound: Outbound, url: string, accessToken: Secret<string>): Promise<Response> {
  const headers = { authorization: `Bearer ${revealSecret(accessToken)}`, accept: 'application/json' };
  const response = await outbound.fetch(url, { headers });
  const waitSeconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  if ((response.status !== 429 && response.status !== 503) || !(waitSeconds >= 0 && waitSeconds <= maxRetrySeconds)) return response;
  await new Promise((resolve) => setTimeout(resolve, waitSeconds * 1000));
  return outbound.fetch(url, { headers });
}

/** Reads the audience of the access token, unverified: it only tells whether the call can succeed (reference 2.3). */
function checkAudience(accessToken: string, origin: string, clientId: string): DirectoryAnswer | undefined {
  const audience = readAudience(accessToken);
  if (audience === undefined || directoryAudiences.has(audience) || audience === origin) return undefined;
  const hint =
    'oidc-scopes of the roles must be profile and email, not a scope of an application: then the access token is one for the directory API.';
  const own = audience === clientId || audience === `api://${clientId}`;
  return failed(own ? 'token-for-this-application' : 'token-for-another-api', hint);
}

const directoryAudiences: ReadonlySet<string> = new Set([
  '00000003-0000-0000-c000-000000000000',
  ...[...directoryHosts.values()].map((host) => `https://${host}`),
]);

function readAudience(accessToken: string): string | undefined {
  try {
    const payload: unknown = JSON.parse(Buffer.from(accessToken.split('.')[1] ?? '', 'base64url').toString());
    const audience = isJsonObject(payload) ? payload['aud'] : undefined;
    return typeof audience === 'string' ? audience.replace(/\/$/, '') : undefined;
  } catch {
    return undefined;
  }
}

function refused(response: Response, body: JsonObject): DirectoryAnswer {
  const error = isJsonObject(body['error']) ? body['error'] : {};
  const inner = isJsonObject(error['innerError']) ? error['innerError'] : {};
  const hint =
    response.status === 403 || response.status === 401
      ? 'The read-profile permission (User.Read, delegated) is missing or not consented: add it to the application and grant admin consent; oidc-scopes must contain profile and email.'
      : 'The directory API refused the request; try again, and see its status.';
  return failed('directory-refused', hint, {
    'provider-status': response.status,
    'provider-error': textOf(error['code']),
    'provider-request-id': textOf(inner['request-id']),
  });
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? showableText(value, 100) : 'none';
}

function failed(reason: string, hint: string, fields: Readonly<Record<string, unknown>> = {}): DirectoryAnswer {
  return { reason, hint, fields };
}
