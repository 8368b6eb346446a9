// POST /v1/approle-login: a token for a role-id and a secret-id. All refusals of a login are the same (api 48, 73).
import { timingSafeEqual, hash } from 'node:crypto';
import { z } from 'zod';
import { defined } from '../../base/defined.ts';
import type { Hsm } from '../../../hsm/api.ts';
import { isWithin, subscriberOf } from '../../base/addresses.ts';
import type { Clock } from '../../base/context.ts';
import { fail } from '../../base/errors.ts';
import { definePublicEndpoint, type AnyEndpoint, type PublicCall } from '../../http/endpoint.ts';
import type { Secret } from '../../base/secret.ts';
import type { Store, WriteTransaction } from '../../store/store.ts';
import type { Tenants } from '../../access/tenants.ts';
import { parseDuration } from '../../base/time.ts';
import { approleTable, ownerOfRoleId, roleIdOf, type Approle } from '../../access/approles/approles.ts';
import { AttemptLimit, limitByAddress, tooManyFailures } from '../../access/approles/attempt-limit.ts';
import { formatIssuedToken, issuedTokenOutput } from '../tokens/issued-token.ts';
import { findSecretId, useSecretId, type SecretIdRecord } from '../../access/approles/secret-ids.ts';
import { drawToken, issueToken, type IssuedToken } from '../../access/tokens/tokens.ts';
import { tags } from '../../http/tags.ts';

const input = z.object({
  roleId: z.string().max(128).meta({ description: 'The role-id of the approle.', example: 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6' }),
  secretId: z.string().max(128).meta({ description: 'One of its secret-ids.', example: '0b1c2d3e-4f50-4162-8374-8596a7b8c9da' }),
});
type Credentials = z.output<typeof input>;

/** The approle that logged in or, by the role-id, tried to. */
type Subject = { readonly tenantId: string; readonly name: string };
type Outcome =
  | { readonly issued: IssuedToken; readonly subject: Subject }
  | { readonly issued: undefined; readonly subject: Subject | undefined; readonly waitSeconds: number };

export type ApproleLoginOptions = { readonly store: Store; readonly hsm: Hsm; readonly clock: Clock; readonly tenants: Tenants };

export function approleLoginEndpoint(options: ApproleLoginOptions): AnyEndpoint {
  const { store, hsm, tenants } = options;
  const limits = new LoginLimits(store);
  return definePublicEndpoint<Credentials, z.output<typeof issuedTokenOutput>>({
    method: 'POST',
    path: '/v1/approle-login',
    access: 'public',
    tag: tags.logins,
    summary: 'Log in as an approle',
    description:
      'Whatever is wrong with the credentials, the refusal is the same. After 10 failures in a minute for one role-id, or 60 from one ' +
      'address, every attempt is refused until the minute is over.',
    audit: 'required',
    input,
    output: issuedTokenOutput,
    // A role-id is half of the credentials, and users confuse the two.
    secretInput: ['roleId', 'secretId'],
    secretOutput: ['token'],
    errors: ['login-failed', 'rate-limited'],
    async run(call, credentials) {
      limits.requireBelow(call, credentials.roleId);
      const token = await drawToken(hsm);
      const outcome = await store.write((transaction) => logIn(transaction, options, limits, call, credentials, token));
      noteLogin(call, tenants, outcome);
      if (outcome.issued !== undefined) return formatIssuedToken(outcome.issued);
      throw outcome.waitSeconds > 0 ? tooManyFailures(outcome.waitSeconds) : fail('login-failed', { detail: refusal });
    },
  });
}

const refusal = 'The role-id or the secret-id is not accepted.';

/** Limits, check, counting and issuing are one transaction: parallel attempts cannot get past a limit or a last use. */
function logIn(
  transaction: WriteTransaction,
  { store, clock }: ApproleLoginOptions,
  limits: LoginLimits,
  call: PublicCall,
  { roleId, secretId }: Credentials,
  token: Secret<string>,
): Outcome {
  const waitSeconds = limits.secondsToWait(call, roleId, (table, key) => transaction.get(table, key));
  if (waitSeconds > 0) return { issued: undefined, subject: undefined, waitSeconds };

  const secret = findSecretId(transaction, store, call.now, secretId, call.clientIp);
  const approle = transaction.get(approleTable(store), [secret?.tenantId ?? '', secret?.approle ?? '']);
  const owner = ownerOfRoleId(transaction, store, roleId);
  if (!isRoleId(approle, roleId) || !mayUse(secret, approle, call.clientIp)) {
    limits.count(transaction, call, roleId);
    return { issued: undefined, subject: owner, waitSeconds: 0 };
  }
  useSecretId(transaction, store, secret);
  const { tenantId, approle: name } = secret;
  const issued = issueToken(transaction, store, clock, token, {
    tenantId,
    user: name,
    policies: [...approle.tokenPolicies],
    ttlSeconds: parseDuration(approle.tokenTtl, 'token-ttl').seconds,
    maxTtlSeconds: parseDuration(approle.tokenMaxTtl, 'token-max-ttl').seconds,
    boundCidrs: [...approle.tokenBoundCidrs],
    approle: { name, grantId: approle.grantId },
  });
  return { issued, subject: { tenantId, name } };
}

/** Compares digests in constant time. Without an approle it compares with a text that no role-id can be. */
function isRoleId(approle: Approle | undefined, roleId: string): approle is Approle {
  const [own, sent] = [approle === undefined ? '\0' : roleIdOf(approle), roleId].map((text) => hash('sha256', text, 'buffer'));
  return timingSafeEqual(own as Buffer, sent as Buffer) && approle !== undefined;
}

function mayUse(secret: SecretIdRecord | undefined, approle: Approle, address: string): secret is SecretIdRecord {
  if (secret?.approleId !== approle.id) return false;
  return approle.secretIdBoundCidrs.length === 0 || isWithin(approle.secretIdBoundCidrs, address);
}

function noteLogin(call: PublicCall, tenants: Tenants, { issued, subject }: Outcome): void {
  call.noteAudit({ kind: 'login' });
  const tenant = subject === undefined ? undefined : tenants.findByUuid(subject.tenantId)?.name;
  if (subject === undefined || tenant === undefined) return;
  call.noteAudit({ tenant, user: subject.name, ...defined({ accessor: issued?.accessor }) });
}

/** 10 failures a minute for one identity, 60 from one address (api 73). */
class LoginLimits {
  readonly #byIdentity: AttemptLimit;
  readonly #byAddress: AttemptLimit;

  constructor(store: Store) {
    this.#byIdentity = new AttemptLimit(store, 'identity', 10);
    this.#byAddress = limitByAddress(store);
  }

  secondsToWait({ now, clientIp }: PublicCall, roleId: string, read?: WriteTransaction['get']): number {
    const nowMs = now.epochMilliseconds;
    return Math.max(
      this.#byIdentity.secondsToWait(identityOf(roleId), nowMs, read),
      this.#byAddress.secondsToWait(subscriberOf(clientIp), nowMs, read),
    );
  }

  /** Checks before anything expensive is done; the transaction checks again. */
  requireBelow(call: PublicCall, roleId: string): void {
    const waitSeconds = this.secondsToWait(call, roleId);
    if (waitSeconds === 0) return;
    call.noteAudit({ kind: 'login' });
    throw tooManyFailures(waitSeconds);
  }

  count(transaction: WriteTransaction, { now, clientIp }: PublicCall, roleId: string): void {
    this.#byIdentity.count(transaction, identityOf(roleId), now.epochMilliseconds);
    this.#byAddress.count(transaction, subscriberOf(clientIp), now.epochMilliseconds);
  }
}

/** Only the exact role-id logs in, but failures of its variants count with it. */
function identityOf(roleId: string): string {
  return roleId
    .normalize('NFKC')
    .replaceAll(/[\s\p{Cc}\p{Cf}]/gu, '')
    .toLowerCase();
}
