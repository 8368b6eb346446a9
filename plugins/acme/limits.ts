// Limits of an account, a subscriber and a CA: how much of each at a time, and for how long. All that unauthenticated callers make has an end.
export const limits = {
  /** accounts without a key of an administrator and without a certificate, of a subscriber (an IPv4 address, an IPv6 /64), and of a CA */
  unprovenOfSubscriber: 50,
  unprovenOfCa: 10_000,
  /** accounts without a key of an administrator, of a subscriber, with and without a certificate */
  openOfSubscriber: 100,
  /** unfinished orders of an account */
  openOrdersOfUnproven: 10,
  openOrders: 300,
  /** orders of an account that are on record, finished or not */
  ordersOfUnproven: 50,
  ordersWithoutKey: 300,
  orders: 2_000,
  identifiers: 100,
  /** contacts of an account, and characters of one */
  contacts: 8,
  contactCharacters: 256,
  /**
   * Validations that run at the same time in a process: in all, of a tenant, of an account and of a subscriber; and of the accounts that
   * have proved nothing yet, in all and of a tenant, so that whatever they do leaves room for the others.
   */
  validations: { ofAll: 128, ofTenant: 48, ofAccount: 8, ofSubscriber: 10, ofUnproven: 32, ofUnprovenOfTenant: 16 },
} as const;

/** Hours after which what is not used is deleted: an unproven account, a proven one, an order, and the proof of a name. */
export const livesInHours = { unproven: 7 * 24, account: 400 * 24, order: 7 * 24, proof: 7 * 24 } as const;
