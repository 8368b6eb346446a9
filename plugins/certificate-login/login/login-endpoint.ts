// POST /v1/certificate-login: a token for the certificate of the TLS client. All refusals of a certificate are the same.
import { z } from 'zod';
import { LoginLimits } from '../../../core/access/approles/login-limits.ts';
import type { LoginIdentity } from '../../../core/access/user.ts';
import { defined } from '../../../core/base/defined.ts';
import { fail } from '../../../core/base/errors.ts';
import { parseDuration } from '../../../core/base/time.ts';
import { definePublicEndpoint, type AnyEndpoint, type PublicCall } from '../../../core/http/endpoint.ts';
import { tags } from '../../../core/http/tags.ts';
import { showableText } from '../../../core/identity/claims.ts';
import { formatIssuedToken, issuedTokenOutput } from '../../../core/platform/tokens/issued-token.ts';
import type { ClientAuthority, ShownCertificate } from '../../../core/plugin/services/certificate-authority.ts';
import type { IssuedSession } from '../../../core/plugin/services/sessions.ts';
import type { ClientCertificate, Confirmation } from '../../../core/tls/client-certificate.ts';
import type { Logins } from '../context.ts';
import { endRevokedNow, grantOfCa, grantOfCertificate } from '../grants.ts';
import { asks } from '../responders.ts';
import type { RoleRecord } from '../role-record.ts';
import { type Accepted, authorityOf, fetchAgainSeconds, hints, judge, type Problem } from './judge.ts';

const input = z.object({
  tenant: z.string().min(1).max(128).meta({ description: 'Name of the tenant.', example: 'system' }),
  role: z.string().min(1).max(128).meta({ description: 'Name of the certificate role.', example: 'devices' }),
});
type Input = z.output<typeof input>;

export function loginEndpoint(logins: Logins): AnyEndpoint {
  const limits = new LoginLimits(logins.clock);
  return definePublicEndpoint<Input, z.output<typeof issuedTokenOutput>>({
    method: 'POST',
    path: '/v1/certificate-login',
    access: 'public',
    tag: tags.logins,
    summary: 'Log in with the certificate of the TLS client',
    description:
      'At the listener `certificate-listen`, or under a host name of `certificate-hosts`, with a certificate whose CA and name the role takes. Whatever is wrong with it, the refusal is the same. The token works with ' +
      'the same certificate alone, unless the role says otherwise, and ends with it. After 60 refusals in a minute for one address further wrong certificates are answered 429; right ' +
      'ones log in, one holder 600 times a minute.',
    audit: 'required',
    input,
    output: issuedTokenOutput,
    secretOutput: ['token'],
    auditFields: ['tenant', 'role'],
    errors: ['login-failed', 'rate-limited'],
    run: (call, given) => logIn(logins, limits, call, given),
  });
}

const refused =
  'The certificate is not accepted: an administrator of the tenant finds the reason in the log by the request id, or by "explain" of the role.';

async function logIn(logins: Logins, limits: LoginLimits, call: PublicCall, given: Input): Promise<z.output<typeof issuedTokenOutput>> {
  call.noteAudit({ kind: 'login' });
  const { certificate } = call;
  const tenant = logins.accounts.findTenant(given.tenant);
  const problem = certificate === undefined ? 'no-certificate' : await logInWith(logins, limits, call, given, tenant, certificate);
  if (typeof problem !== 'string') return formatIssuedToken(problem);
  limits.countRefusal(call.clientIp);
  if (tenant !== undefined) {
    report(logins, limits, call, tenant, given.role, problem);
    call.noteAudit({ tenant: tenant.name });
  }
  throw fail('login-failed', { detail: problem === 'no-certificate' ? hints['no-certificate'] : refused });
}

/** Settings that change meanwhile make it begin again, so that a right certificate is never refused for it. */
const mostAttempts = 3;

async function logInWith(
  logins: Logins,
  limits: LoginLimits,
  call: PublicCall,
  given: Input,
  tenant: { readonly id: string; readonly name: string } | undefined,
  shown: ClientCertificate,
): Promise<IssuedSession | Problem> {
  for (let attempt = 1; ; attempt++) {
    const role = logins.roles.get([tenant?.id ?? noTenantId, given.role]);
    if (tenant === undefined || role === undefined) {
      logins.authorities.judgeNothing(shown);
      return 'no-role';
    }
    const authority = authorityOf(logins, tenant.id, role);
    const answers = asks(role) ? await logins.responders.ask(tenant.id, role, authority?.questions(shown) ?? []) : [];
    const judged = judge(logins, tenant.id, authority, role, shown, answers);
    if ('problem' in judged && judged.problem === 'no-revocation-list' && attempt === 1 && (await fetchLists(logins, tenant.id, role)))
      continue;
    if (authority?.isOwn === false && 'problem' in judged && judged.problem === 'revoked')
      await endRevokedNow(logins, tenant.id, authority.id, shown);
    if (authority === undefined || 'problem' in judged) return 'problem' in judged ? judged.problem : 'ca-is-gone';
    const issued = await issue(logins, limits, call, { tenant, role, authority, shown, accepted: judged });
    if (issued !== undefined) return issued;
    if (attempt === mostAttempts) return 'no-role';
    logins.store.refresh();
  }
}

/** Fetches the lists of a role for a certificate that lacks one. Returns whether there is a new one. */
async function fetchLists({ lists, store }: Logins, tenantId: string, { crlUrls = [] }: RoleRecord): Promise<boolean> {
  const isNew = await lists.fetch(tenantId, crlUrls, fetchAgainSeconds);
  store.refresh();
  return isNew;
}

/** The id of no tenant. It is looked up for an unknown tenant, so that this takes as long as for a known one. */
const noTenantId = '00000000-0000-0000-0000-000000000000';

type Taken = {
  readonly tenant: { readonly id: string; readonly name: string };
  readonly role: RoleRecord;
  readonly authority: ClientAuthority;
  readonly shown: ClientCertificate;
  readonly accepted: Accepted;
};

/** Issues the token in the transaction that reads role and revocations again. Undefined if they have changed. Throws `rate-limited`. */
async function issue(logins: Logins, limits: LoginLimits, call: PublicCall, taken: Taken): Promise<IssuedSession | undefined> {
  const { tenant, role, authority, shown, accepted } = taken;
  const { judged, name } = accepted;
  const identity: LoginIdentity = { kind: 'certificate', source: authority.id, subject: `${role.nameFrom}:${name}` };
  const boundTo = role.boundTo === 'key' ? 'key' : 'certificate';
  const sha256 = shown.thumbprint(boundTo);
  if (sha256 === undefined) return undefined;
  const of: Confirmation = { kind: boundTo, sha256 };
  limits.admit(JSON.stringify([tenant.id, authority.id, identity.subject]));
  const user = showableText(name);
  const drawn = await logins.accounts.drawToken();
  const issued = await logins.store.write((transaction) => {
    if (transaction.get(logins.roles, [tenant.id, role.name])?.grant !== role.grant || !judged.isGood(transaction)) return undefined;
    const lives = livesOf(role, judged.notAfter, call.now);
    const until = call.now.add({ seconds: lives.maxTtlSeconds });
    const grants = [
      role.grant,
      grantOfCa(logins, transaction, tenant.id, authority.id),
      grantOfCertificate(logins, transaction, [tenant.id, authority.id, of], {
        until,
        shown: role.crlUrls !== undefined || asks(role) ? shownAgain(shown) : undefined,
      }),
    ];
    return logins.accounts.issue(transaction, drawn, {
      ...{ tenantId: tenant.id, user, identity, grants, service: role.name, policies: [...role.tokenPolicies] },
      ...lives,
      boundCidrs: [...role.tokenBoundCidrs],
      ...(role.boundTo === 'none' ? {} : { cnf: of }),
    });
  });
  if (issued === undefined) return undefined;
  const requestParameters = {
    ...{ tenant: tenant.name, role: role.name, ca: authority.name, serial: judged.serial },
    ...{ 'bound-to': role.boundTo, 'token-policies': role.tokenPolicies },
    ...defined({ via: judged.via }),
  };
  const { accessor } = issued;
  call.noteAudit({ tenant: tenant.name, user, userKind: 'certificate', userSource: role.name, identity, accessor, requestParameters });
  return issued;
}

/** As it is stored: the octets alone. */
function shownAgain({ leaf, intermediates }: ShownCertificate): ShownCertificate {
  return { leaf: Uint8Array.from(leaf), intermediates: intermediates.map((one) => Uint8Array.from(one)) };
}

/** Lives of the token: it ends with its certificate, unless any certificate of the key will do. */
function livesOf(
  role: RoleRecord,
  notAfter: Temporal.Instant,
  now: Temporal.Instant,
): { readonly ttlSeconds: number; readonly maxTtlSeconds: number } {
  const most = role.boundTo === 'key' ? Infinity : Math.max(1, Math.floor(now.until(notAfter).total('seconds')));
  const seconds = (text: string): number => Math.min(parseDuration(text, 'token-ttl').seconds, most);
  return { ttlSeconds: seconds(role.tokenTtl), maxTtlSeconds: seconds(role.tokenMaxTtl) };
}

/** Tells the administrators of a tenant. */
function report(
  { log, roles }: Logins,
  limits: LoginLimits,
  call: PublicCall,
  tenant: { readonly id: string; readonly name: string },
  role: string,
  problem: Problem,
): void {
  if (!limits.mayLog(tenant.id)) return;
  const isKnown = roles.get([tenant.id, role]) !== undefined;
  const named = isKnown ? role : showableText(role, 128);
  log
    .with('certificate-login', tenant.name)
    .warn('Login by certificate refused', { reference: call.requestId, role: named, reason: problem });
}
