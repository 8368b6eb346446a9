// The record of what a version was used for, and how it grows.

/** Uses of one version. `reserved` is never below the true count, also after a crash; `uses` may lack the last seconds before one. */
export type UsageRecord = {
  readonly reserved: number;
  readonly uses: number;
  /** values that rewrap moved to another version */
  readonly rewrapped: number;
  /** last use of any kind, microseconds since 1970 */
  readonly lastUsedAt?: number;
  /** uses that were refused because the key or the version was disabled, and the last of them; absent: none */
  readonly refused?: number;
  readonly lastRefusedAt?: number;
};

/** Uses of all versions with the material, gone ones included. As in UsageRecord. */
export type SharedUses = Pick<UsageRecord, 'reserved' | 'uses'>;

/** Counts that a commit adds to the record of a version. */
export type Counts = {
  readonly uses: number;
  readonly rewrapped: number;
  readonly lastUsedAt: number;
  readonly refused: number;
  readonly lastRefusedAt: number;
};

export const nothing: Counts = { uses: 0, rewrapped: 0, lastUsedAt: 0, refused: 0, lastRefusedAt: 0 };

/** Usage of one version, as its state shows it. */
export type UsageView = {
  /** encryptions, signatures and data keys made; after a crash it may lack the last seconds, with thousands of versions in use five minutes */
  readonly uses: number;
  /** encryptions: never below the true count, and the limit applies to this */
  readonly usesAtMost: number;
  readonly rewrapped: number;
  readonly lastUsedAt?: number;
  readonly refused: number;
  readonly lastRefusedAt?: number;
};

/** The first reserve of a version, and what an idle one keeps. */
export const smallestReserve = 64;

export const unused: UsageRecord = { reserved: 0, uses: 0, rewrapped: 0 };

/** The record with more uses. `reserved`: undefined for versions without a limit, where it follows the uses. */
export function added(record: UsageRecord, counts: Counts, reserved: number | undefined): UsageRecord {
  const uses = record.uses + counts.uses;
  const lastUsedAt = Math.max(record.lastUsedAt ?? 0, counts.lastUsedAt);
  const refused = (record.refused ?? 0) + counts.refused;
  const lastRefusedAt = Math.max(record.lastRefusedAt ?? 0, counts.lastRefusedAt);
  return {
    reserved: reserved ?? Math.max(record.reserved, uses),
    uses,
    rewrapped: record.rewrapped + counts.rewrapped,
    ...(lastUsedAt === 0 ? {} : { lastUsedAt }),
    ...(refused === 0 ? {} : { refused, lastRefusedAt }),
  };
}
