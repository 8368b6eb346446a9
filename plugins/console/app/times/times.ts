// Times as a person reads them: in one form everywhere, with their zone, which is the reader's or UTC.
import { signal } from '@preact/signals';
import { locale } from '../language/language.ts';

const kept = 'keystored-times';

/** True if the person wants UTC, in every tab and after the next start of the browser. */
export const isUtc = signal(readKept() === 'utc');

export function showUtc(isWanted: boolean): void {
  isUtc.value = isWanted;
  try {
    localStorage.setItem(kept, isWanted ? 'utc' : 'local');
  } catch {
    // A browser may forbid it: then it is so for this page.
  }
}

function readKept(): string | null {
  try {
    return localStorage.getItem(kept);
  } catch {
    return null;
  }
}

/** `Nov 27, 2026, 4:15:03 PM GMT+1` */
export function timeText(atMs: number): string {
  return formatted(atMs, { dateStyle: 'medium', timeStyle: 'long' });
}

/** `Nov 27, 2026` */
export function dayText(atMs: number): string {
  return formatted(atMs, { dateStyle: 'medium' });
}

/** `4:15:03 PM GMT+1`, for what is of today. */
export function clockText(atMs: number): string {
  return formatted(atMs, { timeStyle: 'long' });
}

/** Tells whether both are of the same day. */
export function isSameDay(leftMs: number, rightMs: number): boolean {
  return dayText(leftMs) === dayText(rightMs);
}

function formatted(atMs: number, options: Intl.DateTimeFormatOptions): string {
  return new Intl.DateTimeFormat(locale, { ...options, ...(isUtc.value ? { timeZone: 'UTC' } : {}) }).format(atMs);
}

/** A timestamp of the API in the reader's zone; undefined for any other text. */
export function momentOf(text: string): string | undefined {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : timeText(at);
}
