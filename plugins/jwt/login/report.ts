// The report of a refused login: a line of the log, fields of the audit record, and the account that `explain` reads.
import { defined } from '../../../core/base/defined.ts';
import { formatTimestamp } from '../../../core/base/time.ts';
import { isReservedUser } from '../../../core/access/user.ts';
import type { PublicCall } from '../../../core/http/endpoint.ts';
import { type Claims, showableText } from '../../../core/identity/claims.ts';
import { isJsonObject, type JsonValue } from '../../../core/wire/json.ts';
import type { Jwt } from '../context.ts';
import { type FailedLogin, mostFailures } from '../records/failed-login.ts';
import type { ParsedToken } from '../token/compact.ts';
import type { TokenRefused } from '../token/refusal.ts';
import type { LoginLimits } from '../../../core/access/approles/login-limits.ts';
import { isOfIssuer, type Target } from './target.ts';

export type Refusal = { readonly refused: TokenRefused; readonly target: Target | undefined; readonly token: ParsedToken | undefined };

/** Without claims in log and trail, which are in the account alone. Reports it where there is an administrator to read it: to the tenant, if it exists. */
export function reportRefusal(
  jwt: Jwt,
  limits: LoginLimits,
  call: PublicCall,
  { tenant: tenantName, role }: { readonly tenant: string; readonly role: string },
  refusal: Refusal | undefined,
): void {
  const tenant = jwt.accounts.findTenant(tenantName);
  if (tenant === undefined || refusal === undefined) return;
  const { refused, target, token } = refusal;
  const { check, reason } = refused;
  if (limits.mayLog(tenant.id))
    jwt.log.with('jwt', tenant.name).warn('Login of a workload refused', {
      reference: call.requestId,
      role: target?.name ?? showableText(role, 128),
      ...defined({ issuer: target?.located.issuer }),
      ...{ check, reason },
    });
  const subject = isOfIssuer(refused) ? token?.claims['sub'] : undefined;
  const user = typeof subject === 'string' && !isReservedUser(subject) ? showableText(subject) : undefined;
  call.noteAudit({
    tenant: tenant.name,
    ...(user === undefined || target === undefined ? {} : { user, userKind: 'workload', userSource: target.located.issuer }),
    ...(target === undefined ? {} : { requestParameters: { issuer: target.located.issuer, role: target.name, check, reason } }),
  });
  if (target !== undefined && token !== undefined && isOfIssuer(refused)) keepLater(jwt, call, target, token, refused);
}

/** Accounts that are being written, by their plugin. */
const underWay = new WeakMap<Jwt, Set<Promise<void>>>();

/** The refusal does not wait for the disk: its time would tell who has a token of the issuer that the tenant has a role of this name. */
function keepLater(jwt: Jwt, call: PublicCall, target: Target, token: ParsedToken, refused: TokenRefused): void {
  const all = underWay.get(jwt) ?? new Set();
  underWay.set(jwt, all);
  const keeping = keepFailure(jwt, call, target, token, refused)
    .catch((error: unknown) => jwt.log.with('jwt').warn('A refused login was not kept for explain', { reason: String(error) }))
    .finally(() => void all.delete(keeping));
  all.add(keeping);
}

/** Resolves when the refusals up to now are kept, as far as they are of this process. */
export async function untilKept(jwt: Jwt): Promise<void> {
  await Promise.all([...(underWay.get(jwt) ?? [])]);
}

async function keepFailure(
  jwt: Jwt,
  call: PublicCall,
  { located, name }: Target,
  { claims }: ParsedToken,
  refused: TokenRefused,
): Promise<void> {
  const { tenantId, issuer } = located;
  const { check, reason, hint } = refused;
  const record: FailedLogin = { time: formatTimestamp(call.now), role: name, check, reason, hint, claims: wellFormed(claims) as Claims };
  await jwt.store.write((transaction) => {
    if (transaction.get(jwt.issuers, [tenantId, issuer]) === undefined) return;
    const kept = Array.from(transaction.entries(jwt.failures, [tenantId, issuer]));
    const oldest = kept
      .toSorted(([, left], [, right]) => (left.time < right.time ? -1 : 1))
      .slice(0, Math.max(0, kept.length + 1 - mostFailures));
    for (const [key] of oldest) transaction.delete(jwt.failures, key);
    transaction.put(jwt.failures, [tenantId, issuer, call.requestId], record);
  });
}

/** The same with texts that UTF-8 can write: JSON escapes can make others, which the store does not take. Claims have 32 levels at most. */
function wellFormed(value: JsonValue): JsonValue {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map(wellFormed);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name.toWellFormed(), wellFormed(one)]));
}
