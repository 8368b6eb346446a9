// Divides a limited resource of a process among its users, so that none takes so much that others get nothing.

/** Owner of a share: whom a token stands for (as Caller.origin), and its tenant. All unauthenticated callers are one owner. */
export type Owner = { readonly origin: string; readonly tenant: string };

/**
 * Counts the amounts held. A tenant may hold as much as then stays free for others, and one approle, person or root token
 * in it half as much: the first tenant half of all, the next half of the rest. An owner that holds nothing may take all that is free.
 */
export class Shares {
  readonly total: number;
  readonly #ofTenants = new Map<string, number>();
  readonly #ofOrigins = new Map<string, number>();
  #held = 0;

  constructor(total: number) {
    this.total = total;
  }

  /** Total amount held. */
  get held(): number {
    return this.#held;
  }

  heldBy({ tenant }: Pick<Owner, 'tenant'>): number {
    return this.#ofTenants.get(tenant) ?? 0;
  }

  /** Tells whether this amount is free. */
  isThere(amount: number): boolean {
    return this.#held + amount <= this.total;
  }

  /** Tells whether this owner may take this amount now. */
  fits({ origin, tenant }: Owner, amount: number): boolean {
    if (!this.isThere(amount)) return false;
    const left = this.total - this.#held - amount;
    const ofTenant = this.#ofTenants.get(tenant) ?? 0;
    const ofOrigin = this.#ofOrigins.get(keyOf(tenant, origin)) ?? 0;
    return (ofTenant === 0 || ofTenant + amount <= left) && (ofOrigin === 0 || ofOrigin + amount <= left / 2);
  }

  /** Adds an amount to an owner's share, or (negative) removes it. */
  count({ origin, tenant }: Owner, amount: number): void {
    this.#held += amount;
    add(this.#ofTenants, tenant, amount);
    add(this.#ofOrigins, keyOf(tenant, origin), amount);
  }
}

/** Origins are unique in their tenant alone. */
function keyOf(tenant: string, origin: string): string {
  return `${tenant} ${origin}`;
}

function add(counts: Map<string, number>, name: string, amount: number): void {
  const count = (counts.get(name) ?? 0) + amount;
  if (count === 0) counts.delete(name);
  else counts.set(name, count);
}
