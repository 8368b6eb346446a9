// Clocks, timestamps and durations.
import type { Clock } from './context.ts';
import { fail } from './errors.ts';

/** The clock of the machine. */
export const systemClock: Clock = {
  now: () => Temporal.Now.instant(),
  monotonicMs: () => performance.now(),
};

/** RFC 3339, UTC, six decimals and `Z`. The order of such texts is the order of time. */
export function formatTimestamp(instant: Temporal.Instant): string {
  return instant.toString({ fractionalSecondDigits: 6 });
}

/** An RFC 3339 timestamp with any offset and up to nine decimals; throws `invalid-value` naming the field. */
export function parseTimestamp(text: string, field: string): Temporal.Instant {
  const instant = decodeTimestamp(text);
  if (instant === undefined) throw fail('invalid-value', { detail: `${field} must be a timestamp such as 2026-01-31T12:00:00Z.` });
  return instant;
}

/** As parseTimestamp, undefined when the text is not one. */
export function decodeTimestamp(text: string): Temporal.Instant | undefined {
  // Temporal accepts all of ISO 8601; RFC 3339 section 5.6 is narrower (no week dates, no brackets, no missing seconds).
  if (!/^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/.test(text)) return undefined;
  try {
    return Temporal.Instant.from(text);
  } catch {
    return undefined;
  }
}

/** A duration: its text as given, and its length. */
export type Duration = { readonly text: string; readonly seconds: number };

/** Tells whether a parsed value is a duration. */
export function isDuration(value: object): value is Duration {
  return 'text' in value && 'seconds' in value && typeof value.text === 'string' && typeof value.seconds === 'number';
}

/** `[<n>y][<n>d][<n>h][<n>m][<n>s]` in this order, at least one part, at most 100y; a year has 365 days. Else `invalid-value`. */
export function parseDuration(text: string, field: string): Duration {
  const duration = decodeDuration(text);
  if (duration === undefined) {
    throw fail('invalid-value', { detail: `${field} must be a duration such as 90d or 1y12h, in the order y d h m s, at most 100y.` });
  }
  return duration;
}

/** As parseDuration, undefined when the text is not one. */
export function decodeDuration(text: string): Duration | undefined {
  const parts = /^(?:(\d{1,10})y)?(?:(\d{1,10})d)?(?:(\d{1,10})h)?(?:(\d{1,10})m)?(?:(\d{1,10})s)?$/.exec(text);
  if (parts === null || text === '') return undefined;
  const seconds = unitSeconds.reduce((sum, unit, index) => sum + unit * Number(parts[index + 1] ?? 0), 0);
  return seconds <= 100 * year ? { text, seconds } : undefined;
}

/** Formats seconds as a duration, in days at most, as people write it in the rules of policies: `90d`, `1h30m`, `0s`. */
export function formatDuration(seconds: number): string {
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'm'],
    [seconds % 60, 's'],
  ] as const;
  const text = parts.flatMap(([count, unit]) => (count === 0 ? [] : [`${count}${unit}`])).join('');
  return text === '' ? '0s' : text;
}

/** Tells whether a duration is longer than another one; an absent one never ends. For validated texts. */
export function isLonger(text: string | undefined, than: string | undefined): boolean {
  const [one, other] = [text, than].map((each) => (each === undefined ? Infinity : (decodeDuration(each)?.seconds ?? Infinity)));
  return (one as number) > (other as number);
}

const year = 365 * 86_400;
const unitSeconds = [year, 86_400, 3_600, 60, 1] as const;
