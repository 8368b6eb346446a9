// Uses that the versions of a key allow: a pure function of key record, version times and the current time.
import { defined } from '../../../core/base/defined.ts';

/**
 * The part of a key record that decides. Timers are microseconds, counted from the creation of the newer version. They are
 * applied when a version is used, so a late rotation job does not matter.
 */
export type VersionRules = {
  readonly latest: number;
  /** oldest version that was not trimmed; stored under this name */
  readonly floor: number;
  readonly minEncryptionVersion: number;
  readonly minDecryptionVersion: number;
  readonly timers?: Timers;
  readonly disabled?: boolean;
  readonly disabledVersions?: readonly number[];
  /** time at which the key is deleted unless that is taken back; until then nothing uses it */
  readonly deletesAt?: number;
};

export type Timers = {
  readonly rotate: number;
  readonly activate: number;
  /** absent: never */
  readonly deprecate?: number;
  readonly invalidate?: number;
};

/** The times of a version. `createdAt` and `activatesAt` never decrease from one version to the next. */
export type VersionTimes = {
  readonly createdAt: number;
  /** time at which it becomes active for encryption, before `createdAt` if it had not to wait; moved only by a change of auto-rotate */
  readonly activatesAt: number;
  /** creation of the next version */
  readonly supersededAt?: number;
};

/** Reason for which a version may not be used. */
export type Bar = Disabling | 'min-decryption-version' | 'min-encryption-version' | 'invalidated' | 'deprecated' | 'pending';

/** Bars that somebody has set, whatever the use is: the key, its coming deletion, the version. */
export type Disabling = 'disabled' | 'deletion' | 'disabled-version';

/** Tells whether the version exists: made, and not trimmed. */
export function versionExists(rules: VersionRules, version: number): boolean {
  return version >= rules.floor && version <= rules.latest;
}

/** Returns the bar to every use of a version. */
function barForAll({ disabled, deletesAt, disabledVersions }: VersionRules, version: number): Disabling | undefined {
  if (disabled === true) return 'disabled';
  if (deletesAt !== undefined) return 'deletion';
  return disabledVersions?.includes(version) === true ? 'disabled-version' : undefined;
}

/** Returns the bar to decryption and verification with an existing version. */
export function barForDecryption(rules: VersionRules, version: number, times: VersionTimes, now: number): Bar | undefined {
  const disabling = barForAll(rules, version);
  if (disabling !== undefined) return disabling;
  if (version < rules.minDecryptionVersion) return 'min-decryption-version';
  if (deadlinePassed(times, rules.timers?.invalidate, now)) return 'invalidated';
  return undefined;
}

/** Returns the bar to encryption, signing and HMAC with an existing version; includes the bars to decryption. */
export function barForEncryption(rules: VersionRules, version: number, times: VersionTimes, now: number): Bar | undefined {
  const bar = barForDecryption(rules, version, times, now);
  if (bar !== undefined) return bar;
  if (version < rules.minEncryptionVersion) return 'min-encryption-version';
  if (deadlinePassed(times, rules.timers?.deprecate, now)) return 'deprecated';
  return version <= lowestActive(rules) || isActive(rules, times, now) ? undefined : 'pending';
}

/**
 * The version that encrypts when the request names none: the newest active one, which is never barred unless somebody has disabled it. Reads O(log n) versions,
 * one when nothing is pending.
 */
export function newestActive(rules: VersionRules, timesOf: (version: number) => VersionTimes, now: number): number {
  let low = lowestActive(rules);
  let high = rules.latest;
  if (low >= high || isActive(rules, timesOf(high), now)) return high;
  while (low < high - 1) {
    const middle = (low + high) >>> 1;
    if (isActive(rules, timesOf(middle), now)) low = middle;
    else high = middle;
  }
  return low;
}

/**
 * The times of a version made now. A clock that is set back changes neither the order of versions nor, where nothing waits, which one is in use:
 * a version that is active at once became so with the one before it, and the first one before any time.
 */
export function timesOfNewVersion(rules: Pick<VersionRules, 'timers'>, previous: VersionTimes | undefined, now: number): VersionTimes {
  const createdAt = Math.max(now, previous?.createdAt ?? 0);
  if (previous === undefined) return { createdAt, activatesAt: 0 };
  const wait = rules.timers?.activate ?? 0;
  return { createdAt, activatesAt: wait === 0 ? previous.activatesAt : Math.max(previous.activatesAt, createdAt + wait) };
}

/** Time at which a pending version becomes active after auto-rotate was changed: never later than before. */
export function activationUnder(timers: Timers | undefined, times: VersionTimes, now: number): number {
  return Math.min(times.activatesAt, Math.max(now, times.createdAt + (timers?.activate ?? 0)));
}

// The oldest version, or the one that a minimum version names, does not wait for activate-after.
function lowestActive(rules: VersionRules): number {
  return Math.max(rules.floor, rules.minEncryptionVersion, rules.minDecryptionVersion);
}

// A version is also active once its predecessor is deprecated or invalidated: after a clock was set back, some version must be active.
function isActive({ timers }: VersionRules, { activatesAt, createdAt }: VersionTimes, now: number): boolean {
  return now >= Math.min(activatesAt, createdAt + (timers?.deprecate ?? Infinity), createdAt + (timers?.invalidate ?? Infinity));
}

/** Status of a version: `disabled` allows no use until it is enabled again, `active` all, `pending` and `deprecated` only decryption and verification, `invalidated` nothing. */
type VersionStatus = 'pending' | 'active' | 'deprecated' | 'invalidated' | 'disabled';

/** Status of a version now, and the times at which its timers end that; microseconds since 1970. */
type VersionLife = {
  readonly status: VersionStatus;
  readonly deprecatesAt?: number;
  readonly invalidatesAt?: number;
};

/** Presents the rules above to people, as a status and the times at which it changes. */
export function lifeOf(rules: VersionRules, version: number, times: VersionTimes, now: number): VersionLife {
  const bar = barForEncryption(rules, version, times, now);
  return {
    status: bar === undefined ? 'active' : statusUnder[bar],
    ...defined({ deprecatesAt: deadlineOf(times, rules.timers?.deprecate), invalidatesAt: deadlineOf(times, rules.timers?.invalidate) }),
  };
}

const statusUnder: Readonly<Record<Bar, VersionStatus>> = {
  disabled: 'disabled',
  deletion: 'disabled',
  'disabled-version': 'disabled',
  pending: 'pending',
  deprecated: 'deprecated',
  'min-encryption-version': 'deprecated',
  invalidated: 'invalidated',
  'min-decryption-version': 'invalidated',
};

function deadlinePassed(times: VersionTimes, after: number | undefined, now: number): boolean {
  const deadline = deadlineOf(times, after);
  return deadline !== undefined && now >= deadline;
}

/** Time at which a timer that counts from the creation of the next version is over; undefined: never, as things are. */
function deadlineOf({ supersededAt }: VersionTimes, after: number | undefined): number | undefined {
  return after === undefined || supersededAt === undefined ? undefined : supersededAt + after;
}
