// POST /v1/approle-login: a token for a role-id and a secret-id. All refusals of a login are the same.
import { timingSafeEqual, hash } from 'node:crypto';
import { z } from 'zod';
import type { TokenRecord } from '../../access/tokens/record.ts';
import { defined } from '../../base/defined.ts';
import type { Hsm } from '../../../hsm/api.ts';
import { isWithin, subscriberOf } from '../../base/addresses.ts';
import type { Clock } from '../../base/context.ts';
import { fail, type ServiceError } from '../../base/errors.ts';
import { definePublicEndpoint, type AnyEndpoint, type PublicCall } from '../../http/endpoint.ts';
import type { Secret } from '../../base/secret.ts';
import type { Store, WriteTransaction } from '../../store/store.ts';
import type { Tenants } from '../../access/tenants.ts';
import { parseDuration } from '../../base/time.ts';
import { approleTable, ownersOfRoleId, roleIdOf, type Approle } from '../../access/approles/approles.ts';
import { AttemptLimit, type AttemptSlot, limitByAddress, tooManyFailures } from '../../access/approles/attempt-limit.ts';
import { formatIssuedToken, issuedTokenOutput } from '../tokens/issued-token.ts';
import { findSecretId, useSecretId, type SecretIdRecord } from '../../access/approles/secret-ids.ts';
import { LoginRate } from '../../access/logins/login-rate.ts';
import { drawToken, issueToken, type IssuedToken } from '../../access/tokens/tokens.ts';
import { type LoginIdentity, plainForm } from '../../access/user.ts';
import { tags } from '../../http/tags.ts';

const input = z.object({
  roleId: z.string().max(128).meta({ description: 'The role-id of the approle.', example: 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6' }),
  secretId: z.string().max(128).meta({ description: 'One of its secret-ids.', example: '0b1c2d3e-4f50-4162-8374-8596a7b8c9da' }),
});
export type Credentials = z.output<typeof input>;

/** The approle that logged in or, by the role-id, tried to. */
type Subject = { readonly tenantId: string; readonly name: string; readonly identity?: LoginIdentity };
/** A token and its approle, or the seconds for which every attempt is refused; 0 for wrong credentials. */
type Outcome = { readonly issued: IssuedToken; readonly subject: Subject } | { readonly waitSeconds: number };

export type ApproleLoginOptions = { readonly store: Store; readonly hsm: Hsm; readonly clock: Clock; readonly tenants: Tenants };

/** Logs in as an approle; throws `login-failed` and `rate-limited`. `browser`: the token is for the cookie of a browser. */
export type ApproleLogin = (
  call: PublicCall,
  credentials: Credentials,
  grant?: Pick<TokenRecord, 'browser' | 'signedIn'>,
) => Promise<IssuedToken>;

/** The login of approles, the same for programs and for the pages of plugins. */
export function openApproleLogin(options: ApproleLoginOptions): ApproleLogin {
  const { store, hsm, tenants } = options;
  const limits = new LoginLimits(store);
  const rate = new LoginRate(options.clock);
  return async (call, credentials, grant = {}) => {
    const attempt = limits.attempt(call, credentials.roleId);
    // Refused before anything expensive is done; the transaction finds out again what is right.
    const right = findApprole((table, key) => table.get(key), options, call, credentials)?.secret;
    if (right === undefined) attempt.requireBelow();
    else {
      noteLogin(call, tenants, [{ tenantId: right.tenantId, name: right.approle }]);
      // Of a stolen one somebody has to tell which to disable.
      call.noteAudit({ requestParameters: { 'secret-id-accessor': right.accessor } });
      rate.admit(right.accessor);
    }
    const token = await drawToken(hsm);
    const outcome = await store.write((transaction) => logIn(transaction, options, attempt, call, credentials, { token, ...grant }));
    if ('issued' in outcome) {
      const { issued, subject } = outcome;
      noteLogin(call, tenants, [subject], issued.accessor);
      return issued;
    }
    if (outcome.waitSeconds > 0) throw attempt.refused(outcome.waitSeconds);
    noteLogin(call, tenants, ownersOfRoleId(store, credentials.roleId));
    throw fail('login-failed', { detail: refusal });
  };
}

export function approleLoginEndpoint(options: ApproleLoginOptions): AnyEndpoint {
  const logInApprole = openApproleLogin(options);
  return definePublicEndpoint<Credentials, z.output<typeof issuedTokenOutput>>({
    method: 'POST',
    path: '/v1/approle-login',
    access: 'public',
    tag: tags.logins,
    summary: 'Log in as an approle',
    description:
      'Whatever is wrong with the credentials, the refusal is the same. After 10 failures in a minute for one role-id, or 60 from one ' +
      'address, further wrong ones are answered 429 until the minute is over; right ones log in, one secret-id 600 times a minute.',
    audit: 'required',
    input,
    output: issuedTokenOutput,
    // A role-id is half of the credentials, and users confuse the two.
    secretInput: ['roleId', 'secretId'],
    secretOutput: ['token'],
    errors: ['login-failed', 'rate-limited'],
    async run(call, credentials) {
      const issued = await logInApprole(call, credentials);
      call.noteIssued(issued.record);
      return formatIssuedToken(issued);
    },
  });
}

const refusal = 'The role-id or the secret-id is not accepted.';

/**
 * Limits, check, counting and issuing are one transaction: parallel attempts cannot get past a limit or a last use. A secret-id cannot be
 * guessed, so a right one passes whatever others did for the role-id or behind the address.
 */
function logIn(
  transaction: WriteTransaction,
  options: ApproleLoginOptions,
  attempt: LoginAttempt,
  call: PublicCall,
  credentials: Credentials,
  { token, ...grant }: { readonly token: Secret<string> } & Pick<TokenRecord, 'browser' | 'signedIn'>,
): Outcome {
  const { store, clock } = options;
  const read: Read = (table, key) => transaction.get(table, key);
  const found = findApprole(read, options, call, credentials);
  if (found === undefined) {
    const waitSeconds = attempt.secondsToWait(read);
    if (waitSeconds === 0) attempt.count(transaction);
    return { waitSeconds };
  }
  const { secret, approle } = found;
  useSecretId(transaction, store, secret);
  const { tenantId, approle: name } = secret;
  const identity: LoginIdentity = { kind: 'approle', source: approle.id, subject: name };
  const issued = issueToken(transaction, store, clock, token, {
    tenantId,
    user: name,
    identity,
    policies: [...approle.tokenPolicies],
    ttlSeconds: parseDuration(approle.tokenTtl, 'token-ttl').seconds,
    maxTtlSeconds: parseDuration(approle.tokenMaxTtl, 'token-max-ttl').seconds,
    boundCidrs: [...approle.tokenBoundCidrs],
    approle: { name, grantId: approle.grantId, secretIdCreationTime: secret.creationTime },
    ...defined({ madeBy: secret.madeBy, behind: secret.behind }),
    ...grant,
  });
  return { issued, subject: { tenantId, name, identity } };
}

type Read = WriteTransaction['get'];

/** Finds the approle and secret-id of valid credentials, now and from this address. */
function findApprole(
  read: Read,
  { store }: ApproleLoginOptions,
  { now, clientIp }: PublicCall,
  { roleId, secretId }: Credentials,
): { readonly secret: SecretIdRecord; readonly approle: Approle } | undefined {
  const secret = findSecretId(read, store, now, secretId, clientIp);
  const approle = read(approleTable(store), [secret?.tenantId ?? '', secret?.approle ?? '']);
  return isRoleId(approle, roleId) && mayUse(secret, approle, clientIp) ? { secret, approle } : undefined;
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

/** A failed login concerns every tenant that has chosen the role-id: none of them can keep it from the trail of another. */
function noteLogin(call: PublicCall, tenants: Tenants, subjects: readonly Subject[], accessor?: string): void {
  const [first, ...others] = subjects.flatMap(({ tenantId, name, identity }) => {
    const tenant = tenants.findByUuid(tenantId)?.name;
    return tenant === undefined ? [] : [{ tenant, user: name, userKind: 'approle' as const, userSource: name, ...defined({ identity }) }];
  });
  const all = others.length === 0 ? {} : { alsoOf: others, possibleTenants: others.length + 1 };
  call.noteAudit({ ...loginKind, ...first, ...defined({ accessor }), ...all });
}

const loginKind = { kind: 'login' } as const;

/** 10 failures a minute for one identity, 60 from one address. */
class LoginLimits {
  readonly byIdentity: AttemptLimit;
  readonly byAddress: AttemptLimit;

  constructor(store: Store) {
    this.byIdentity = new AttemptLimit(store, 'identity', 10);
    this.byAddress = limitByAddress(store);
  }

  attempt(call: PublicCall, roleId: string): LoginAttempt {
    return new LoginAttempt(this, call, roleId);
  }
}

/** One login before the limits. */
class LoginAttempt {
  readonly #limits: LoginLimits;
  readonly #call: PublicCall;
  readonly #identity: AttemptSlot;
  readonly #address: AttemptSlot;

  constructor(limits: LoginLimits, call: PublicCall, roleId: string) {
    this.#limits = limits;
    this.#call = call;
    // Only the exact role-id logs in, but failures of its variants count with it.
    this.#identity = limits.byIdentity.slotOf(plainForm(roleId));
    this.#address = limits.byAddress.slotOf(subscriberOf(call.clientIp));
  }

  secondsToWait(read?: Read): number {
    const nowMs = this.#call.now.epochMilliseconds;
    const { byIdentity, byAddress } = this.#limits;
    return Math.max(byIdentity.secondsToWait(this.#identity, nowMs, read), byAddress.secondsToWait(this.#address, nowMs, read));
  }

  requireBelow(): void {
    const waitSeconds = this.secondsToWait();
    if (waitSeconds > 0) throw this.refused(waitSeconds);
  }

  /** Refusal of an attempt above the limit; its record says that it was a login. */
  refused(waitSeconds: number): ServiceError {
    this.#call.noteAudit(loginKind);
    return tooManyFailures(waitSeconds);
  }

  count(transaction: WriteTransaction): void {
    const nowMs = this.#call.now.epochMilliseconds;
    this.#limits.byIdentity.count(transaction, this.#identity, nowMs);
    this.#limits.byAddress.count(transaction, this.#address, nowMs);
  }
}
