// Quotas of tenants: limits of requests and of token time per minute, and the use so far.
import type { Hsm } from '../../hsm/api.ts';
import type { Clock } from '../base/context.ts';
import { fail } from '../base/errors.ts';
import { Remembered } from '../store/records/remembered.ts';
import type { Store } from '../store/store.ts';
import { Meter } from './meter.ts';
import { openTenants, type Tenant, type Tenants } from './tenants.ts';

/** Use by a tenant since a process began; `tokenMicros`: microseconds of the tokens. */
export type TenantUse = { readonly requests: number; readonly tokenMicros: number };

/** Totals of a tenant in this process, for metrics. `refused`: requests, by the used-up quota. */
export type TenantTotal = TenantUse & { readonly name: string; readonly refused: Readonly<Record<QuotaKind, number>> };

export const quotaKinds = ['requests', 'token-time'] as const;
type QuotaKind = (typeof quotaKinds)[number];

type Account = { requests: number; readonly refused: Record<QuotaKind, number>; readonly meters: Record<QuotaKind, Meter | undefined> };
type Limits = Readonly<Record<QuotaKind, number>>;

const nothing: TenantUse = { requests: 0, tokenMicros: 0 };
const noLimits: Limits = { requests: 0, 'token-time': 0 };
/** Tenants whose limits are remembered while no record changes. */
const mostTenants = 10_000;

type Parts = { readonly store: Store; readonly hsm: Pick<Hsm, 'timeOf'>; readonly clock: Clock };

/**
 * Each worker counts its own requests, and periodically receives the counts of the others: so a quota holds for all workers of an
 * appliance together. Use between two exchanges is deducted from the tenant's next use.
 */
export class Quotas {
  readonly #tenants: Tenants;
  readonly #hsm: Parts['hsm'];
  readonly #clock: Clock;
  readonly #limits: Remembered<string, Limits>;
  readonly #accounts = new Map<string, Account>();
  #others: ReadonlyMap<string, TenantUse> = new Map();
  /** use by the others before their first report to this process */
  #before: ReadonlyMap<string, TenantUse> | undefined;

  constructor({ store, hsm, clock }: Parts) {
    this.#tenants = openTenants(store);
    this.#hsm = hsm;
    this.#clock = clock;
    this.#limits = new Remembered(store, mostTenants);
  }

  /** Counts a request of a tenant. Throws `quota-exceeded` if the tenant has used up its quota. */
  admit(tenantId: string): void {
    const account = this.#accountOf(tenantId);
    const limits = this.#limitsOf(tenantId);
    if (limits !== noLimits) this.#requireLeft(tenantId, account, limits);
    account.requests += 1;
  }

  /** Use in this process by tenants with a quota. */
  own(): ReadonlyMap<string, TenantUse> {
    const limited = [...this.#accounts.keys()].filter((tenantId) => this.#limitsOf(tenantId) !== noLimits);
    return new Map(limited.map((tenantId) => [tenantId, this.#ownUse(tenantId)]));
  }

  /** Takes the use in all other processes: ever-growing sums. */
  hear(others: ReadonlyMap<string, TenantUse>): void {
    this.#before ??= others;
    this.#others = others;
  }

  /** Totals of every tenant served by this process. */
  totals(): readonly TenantTotal[] {
    return [...this.#accounts].flatMap(([tenantId, { refused }]) => {
      const tenant = this.#tenants.findByUuid(tenantId);
      return tenant === undefined ? [] : [{ name: tenant.name, ...this.#ownUse(tenantId), refused }];
    });
  }

  #requireLeft(tenantId: string, account: Account, limits: Limits): void {
    const [own, others, before] = [this.#ownUse(tenantId), this.#others.get(tenantId) ?? nothing, this.#before?.get(tenantId) ?? nothing];
    const used = {
      requests: own.requests + others.requests - before.requests,
      'token-time': own.tokenMicros + others.tokenMicros - before.tokenMicros,
    };
    const nowMs = this.#clock.monotonicMs();
    for (const kind of quotaKinds) {
      const perMinute = limits[kind];
      if (perMinute === 0) {
        account.meters[kind] = undefined;
        continue;
      }
      const meter = (account.meters[kind] ??= new Meter(perMinute, used[kind], nowMs));
      const waitSeconds = meter.waitSeconds(perMinute, used[kind], nowMs);
      if (waitSeconds === 0) continue;
      account.refused[kind] += 1;
      throw fail('quota-exceeded', { detail: sentences[kind](perMinute), retryAfterSeconds: Math.ceil(waitSeconds) });
    }
  }

  #ownUse(tenantId: string): TenantUse {
    return { requests: this.#accounts.get(tenantId)?.requests ?? 0, tokenMicros: this.#hsm.timeOf(tenantId) };
  }

  #limitsOf(tenantId: string): Limits {
    const known = this.#limits.find(tenantId);
    if (known !== undefined) return known;
    const limits = limitsOf(this.#tenants.findByUuid(tenantId));
    this.#limits.keep(tenantId, limits);
    return limits;
  }

  #accountOf(tenantId: string): Account {
    const known = this.#accounts.get(tenantId);
    if (known !== undefined) return known;
    const account: Account = {
      requests: 0,
      refused: { requests: 0, 'token-time': 0 },
      meters: { requests: undefined, 'token-time': undefined },
    };
    this.#accounts.set(tenantId, account);
    return account;
  }
}

const microsPerSecond = 1_000_000;

function limitsOf(tenant: Tenant | undefined): Limits {
  const { requestsPerMinute = 0, tokenSecondsPerMinute = 0 } = tenant ?? {};
  if (requestsPerMinute === 0 && tokenSecondsPerMinute === 0) return noLimits;
  return { requests: requestsPerMinute, 'token-time': tokenSecondsPerMinute * microsPerSecond };
}

const sentences: Readonly<Record<QuotaKind, (perMinute: number) => string>> = {
  requests: (perMinute) => `The tenant may send ${perMinute} requests in a minute, and has sent them: wait for the seconds in Retry-After.`,
  'token-time': (perMinute) =>
    `The tenant may use ${perMinute / microsPerSecond} seconds of the HSM in a minute, and has used them: wait for the seconds in Retry-After.`,
};
