// Divides what a process has only so much of among those who ask: nobody gets what would leave the others nothing.

/** Who holds something: a token, and the tenant it is of. Unauthenticated callers are one owner together. */
export type Owner = { readonly token: string; readonly tenant: string };

/**
 * Counts what is held. A tenant may come to hold as much as then stays free for others, and one of its tokens half as much: the first
 * tenant half of all, the next half of what is left. Who holds nothing may take what is there.
 */
export class Shares {
  readonly total: number;
  readonly #ofTenants = new Map<string, number>();
  readonly #ofTokens = new Map<string, number>();
  #held = 0;

  constructor(total: number) {
    this.total = total;
  }

  /** All that is held. */
  get held(): number {
    return this.#held;
  }

  heldBy({ tenant }: Pick<Owner, 'tenant'>): number {
    return this.#ofTenants.get(tenant) ?? 0;
  }

  /** Whether there is so much at all. */
  isThere(amount: number): boolean {
    return this.#held + amount <= this.total;
  }

  /** Whether so much more may go to this owner now. */
  fits({ token, tenant }: Owner, amount: number): boolean {
    if (!this.isThere(amount)) return false;
    const left = this.total - this.#held - amount;
    const ofTenant = this.#ofTenants.get(tenant) ?? 0;
    const ofToken = this.#ofTokens.get(token) ?? 0;
    return (ofTenant === 0 || ofTenant + amount <= left) && (ofToken === 0 || ofToken + amount <= left / 2);
  }

  /** Counts so much more, or (negative) less. */
  count({ token, tenant }: Owner, amount: number): void {
    this.#held += amount;
    add(this.#ofTenants, tenant, amount);
    add(this.#ofTokens, token, amount);
  }
}

function add(counts: Map<string, number>, name: string, amount: number): void {
  const count = (counts.get(name) ?? 0) + amount;
  if (count === 0) counts.delete(name);
  else counts.set(name, count);
}
