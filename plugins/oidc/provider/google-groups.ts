// Groups of a person at Google, whose ID tokens have none: asked of its directory API (Admin SDK, groups.list) as a service account.
import { Secret } from '../../../core/base/secret.ts';
import { ServiceError } from '../../../core/base/errors.ts';
import type { Clock } from '../../../core/base/context.ts';
import { showableText } from '../../../core/identity/claims.ts';
import { maxRoleValues } from '../../../core/identity/role-match.ts';
import type { Outbound } from '../../../core/outbound/outbound.ts';
import type { Rs256Signature, TransitKeys } from '../../../core/plugin/services/transit-keys.ts';
import { isJsonObject, type JsonObject } from '../../../core/wire/json.ts';
import { LoginFailure, type FailureCode } from '../failures.ts';
import type { PublicCall } from '../../../core/http/endpoint.ts';
import type { SignInMetadata } from '../../../core/identity/discovery.ts';
import type { GoogleGroups, ServiceRecord } from '../records/service-record.ts';
import { fetchPage } from './directory.ts';
import { judgeProviderError } from './provider-errors.ts';
import { encodeBase64url } from '../../../core/base/bytes.ts';

/** Scope that a super administrator of the domain delegates to the service account. */
const groupsScope = 'https://www.googleapis.com/auth/admin.directory.group.readonly';

const [maxPages, pageSize] = [50, 200];
/** Life of the request for an access token; Google takes an hour at most. */
const requestSeconds = 300;

type GoogleGroupsRequest = {
  readonly settings: GoogleGroups;
  readonly tenantId: string;
  readonly tokenEndpoint: string;
  readonly user: string;
  readonly outbound: Outbound;
  readonly clock: Clock;
  readonly transitKeys: Pick<TransitKeys, 'signRs256'>;
  /** records the use of the transit key */
  noteSigned(signed: Omit<Rs256Signature, 'signature'>): void;
};

/**
 * Reads the groups of an account by a connection with one time limit; undefined for a service without `google-groups`. `user`: the ID token's
 * `sub`, which is the id of the account in the directory, or the address of one.
 */
export function googleGroupsReader(
  { clock, transitKeys }: Pick<GoogleGroupsRequest, 'clock' | 'transitKeys'>,
  call: Pick<PublicCall, 'noteAudit'>,
  { tenantId, record: { googleGroups: settings } }: { readonly tenantId: string; readonly record: Pick<ServiceRecord, 'googleGroups'> },
  { token_endpoint: tokenEndpoint }: SignInMetadata,
  user: string,
): ((outbound: Outbound) => Promise<readonly string[]>) | undefined {
  if (settings === undefined) return undefined;
  const noteSigned: GoogleGroupsRequest['noteSigned'] = ({ version, signedDigest }) =>
    call.noteAudit({
      requestParameters: { 'transit-key': settings.transitKey, 'key-version': version, 'signed-digest': signedDigest },
    });
  return (outbound) => fetchGoogleGroups({ settings, tenantId, tokenEndpoint, user, outbound, clock, transitKeys, noteSigned });
}

/**
 * Addresses of the groups of which the account is a direct member, in lower case. Throws LoginFailure: an account whose groups are not known is not
 * one without groups.
 */
async function fetchGoogleGroups(request: GoogleGroupsRequest): Promise<readonly string[]> {
  try {
    return await readPages(request, await requestAccessToken(request));
  } catch (error) {
    throw await judgeProviderError(error, 'directory');
  }
}

/** An access token for the service account, acting as the administrator (RFC 7523 section 2.1; Google: "domain-wide delegation"). */
async function requestAccessToken(request: GoogleGroupsRequest): Promise<Secret<string>> {
  const { tokenEndpoint, outbound } = request;
  const body = new URLSearchParams({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion: await signAssertion(request) });
  const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' };
  const response = await outbound.fetch(tokenEndpoint, { method: 'POST', headers, body: body.toString() });
  const answer = await readJson(response);
  if (response.status !== 200) throw tokenRefused(response.status, answer ?? {});
  const token = answer?.['access_token'];
  if (typeof token === 'string' && /^[\x21-\x7e]+$/.test(token)) return new Secret(token);
  throw failed('token-answer-malformed', 'The token endpoint of Google answered no access token: check discovery-url of the service.');
}

async function signAssertion(request: GoogleGroupsRequest): Promise<string> {
  const { settings, tokenEndpoint, tenantId, clock, transitKeys } = request;
  const issuedAt = Math.floor(clock.now().epochMilliseconds / 1000);
  const { clientEmail: iss, adminEmail: sub, transitKey } = settings;
  const claims = { iss, sub, scope: groupsScope, aud: tokenEndpoint, iat: issuedAt, exp: issuedAt + requestSeconds };
  const input = [{ alg: 'RS256', typ: 'JWT' }, claims].map((part) => encodeBase64url(Buffer.from(JSON.stringify(part)))).join('.');
  try {
    const { signature, ...signed } = await transitKeys.signRs256(tenantId, transitKey, Buffer.from(input));
    request.noteSigned(signed);
    return `${input}.${encodeBase64url(signature)}`;
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status >= 500) throw error;
    throw failed(
      'key-unusable',
      `The key of google-groups/transit-key cannot sign: ${error.message} Mend the key, or name another one in google-groups.`,
      { 'transit-key': transitKey, 'key-error': error.code },
    );
  }
}

async function readPages(request: GoogleGroupsRequest, accessToken: Secret<string>): Promise<readonly string[]> {
  const { settings, user, outbound } = request;
  const groups = new Set<string>();
  let pageToken: string | undefined;
  for (let page = 0; page < maxPages; page += 1) {
    const url = new URL(`https://${settings.directoryHost}/admin/directory/v1/groups`);
    url.search = new URLSearchParams({
      ...{ userKey: user, maxResults: String(pageSize), fields: 'nextPageToken,groups(email)' },
      ...(pageToken === undefined ? {} : { pageToken }),
    }).toString();
    const response = await fetchPage(outbound, url.href, accessToken);
    const answer = await readJson(response);
    if (response.status !== 200) throw directoryRefused(response, answer ?? {});
    for (const address of addressesIn(answer)) groups.add(address);
    if (groups.size > maxRoleValues) throw tooMany();
    const next = answer?.['nextPageToken'];
    if (next === undefined || next === '') return [...groups];
    if (typeof next !== 'string') throw malformed();
    pageToken = next;
  }
  throw tooMany();
}

/** Addresses of one page. An answer without `groups` is that of an account in no group; anything else that is not a list of groups is refused. */
function addressesIn(answer: JsonObject | undefined): readonly string[] {
  if (answer === undefined) throw malformed();
  const groups = answer['groups'] ?? [];
  if (!Array.isArray(groups)) throw malformed();
  return groups.map((group: unknown) => {
    const address = isJsonObject(group) ? group['email'] : undefined;
    if (typeof address !== 'string' || address === '') throw malformed();
    return address.toLowerCase();
  });
}

/** The object of an answer that says that it is JSON; undefined for any other. */
async function readJson(response: Response): Promise<JsonObject | undefined> {
  if (!/^application\/(?:[\w.-]+\+)?json *(?:;|$)/i.test(response.headers.get('content-type') ?? '')) return undefined;
  const answer: unknown = await response.json().catch(() => undefined);
  return isJsonObject(answer) ? answer : undefined;
}

const tokenHints: Readonly<Record<string, string>> = {
  unauthorized_client: `In Google's Admin console (Security, API controls, Domain-wide delegation) add the client id of the service account with the scope ${groupsScope}.`,
  access_denied: `The delegation lacks the scope ${groupsScope}: add it in Google's Admin console (Security, API controls, Domain-wide delegation).`,
  invalid_grant:
    'Google does not accept the signature, client-email, admin-email or the clock: upload the certificate of the latest version of the transit key to the service account, check both addresses, and compare the clocks.',
};

function tokenRefused(status: number, answer: JsonObject): LoginFailure {
  const error = textOf(answer['error']);
  const hint = tokenHints[error] ?? 'The token endpoint of Google refused the service account; see provider-error.';
  const fields = { 'provider-status': status, 'provider-error': error, 'provider-description': textOf(answer['error_description']) };
  return failed('service-account-refused', hint, fields);
}

/** Reasons in Google's error bodies for a limit, which it answers as 403 as well as 429. */
const busyReasons: ReadonlySet<string> = new Set(['quotaExceeded', 'rateLimitExceeded', 'userRateLimitExceeded', 'dailyLimitExceeded']);

function directoryRefused(response: Response, answer: JsonObject): LoginFailure {
  const { status } = response;
  const error = isJsonObject(answer['error']) ? answer['error'] : {};
  const [first] = Array.isArray(error['errors']) ? (error['errors'] as readonly unknown[]) : [];
  const reason = textOf(isJsonObject(first) ? first['reason'] : undefined);
  const fields = { 'provider-status': status, 'provider-error': reason, 'provider-description': textOf(error['message']) };
  if (status === 404)
    return failed(
      'not-of-this-directory',
      'The account is not one of the domain of admin-email, which has no groups of it.',
      fields,
      'no-role',
    );
  if (status === 429 || busyReasons.has(reason))
    return failed(
      'directory-busy',
      'The directory API of Google refuses more requests now: raise the quota of its project, or try later.',
      fields,
    );
  if (reason === 'accessNotConfigured')
    return failed('directory-refused', 'Enable the Admin SDK API in the project of the service account.', fields);
  const denied =
    'Google does not let admin-email read groups: give this user the administrator privilege "Groups: Read". It says so as well of accounts outside of its domain.';
  const hint =
    status === 401 || status === 403
      ? denied
      : 'The directory API did not answer as Google documents it: check google-groups/directory-host, and try again.';
  return failed('directory-refused', hint, fields);
}

function malformed(): LoginFailure {
  return failed('directory-malformed', 'The answer of the directory is not a list of groups: check google-groups/directory-host.');
}

function tooMany(): LoginFailure {
  return failed(
    'too-many-groups',
    `The account is in more than ${maxRoleValues} groups, or the directory has more than ${maxPages} pages of them.`,
  );
}

function failed(reason: string, hint: string, fields = {}, code: FailureCode = 'groups-unknown'): LoginFailure {
  return new LoginFailure(code, 'directory', reason, { hint, fields });
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? showableText(value, 300) : 'none';
}
