// Ends of certificates, counted into columns that are days, weeks, months or years, whichever shows the whole in one picture.
import type { Column } from '../../charts/columns.tsx';
import { lifeOf } from '../../charts/life.ts';
import { locale } from '../../language/language.ts';
import type { CertificateState } from './state.ts';

export type Ending = Pick<CertificateState, 'not-before' | 'not-after' | 'status'>;

const dayMs = 86_400_000;

type Step = { readonly mostDays: number; start(at: Date): Date; next(at: Date): Date; label(at: Date): string };

const formatted = (at: Date, options: Intl.DateTimeFormatOptions): string => at.toLocaleDateString(locale, { ...options, timeZone: 'UTC' });
const plusDays = (at: Date, days: number): Date => new Date(at.getTime() + days * dayMs);
const startOfDay = (at: Date): Date => new Date(Math.floor(at.getTime() / dayMs) * dayMs);

/** The first that fits. Days are those of UTC. */
const steps: readonly Step[] = [
  {
    mostDays: 45,
    start: startOfDay,
    next: (at) => plusDays(at, 1),
    label: (at) => formatted(at, { day: 'numeric', month: 'short', year: 'numeric' }),
  },
  {
    mostDays: 366,
    start: startOfDay,
    next: (at) => plusDays(at, 7),
    label: (at) => `week of ${formatted(at, { day: 'numeric', month: 'short', year: 'numeric' })}`,
  },
  {
    mostDays: 4 * 366,
    start: (at) => new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1)),
    next: (at) => new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1)),
    label: (at) => formatted(at, { month: 'short', year: 'numeric' }),
  },
  {
    mostDays: Infinity,
    start: (at) => new Date(Date.UTC(at.getUTCFullYear(), 0, 1)),
    next: (at) => new Date(Date.UTC(at.getUTCFullYear() + 1, 0, 1)),
    label: (at) => String(at.getUTCFullYear()),
  },
];

/** Later ends are in the last one: certificates may say 9999 for "never" (RFC 5280 section 4.1.2.5). */
const mostColumns = 120;

/**
 * Columns from now to the last end, one for each step, empty ones too; no columns without a valid certificate. The most pressing certificate gives a column
 * its tone, as the share of its life that is left gives it to a row.
 */
export function columnsOf(endings: readonly Ending[], now: Date): readonly Column[] {
  const valid = endings.filter(({ status }) => status === 'valid');
  const ends = valid.map((one) => Date.parse(one['not-after']));
  if (ends.length === 0) return [];
  const days = (ends.reduce((latest, one) => Math.max(latest, one), 0) - now.getTime()) / dayMs;
  const step = steps.find(({ mostDays }) => days <= mostDays);
  if (step === undefined) return [];
  const starts: Date[] = [];
  const last = ends.reduce((latest, one) => Math.max(latest, one), 0);
  for (let at = step.start(now); at.getTime() <= last && starts.length < mostColumns; at = step.next(at)) starts.push(at);
  const isCut = starts.length === mostColumns && step.next(starts.at(-1) ?? now).getTime() <= last;
  const counts = starts.map((): { value: number; tone?: Column['tone'] } => ({ value: 0 }));
  for (const one of valid) {
    const end = Date.parse(one['not-after']);
    const count =
      counts[
        Math.max(
          0,
          starts.findLastIndex((start) => start.getTime() <= end),
        )
      ];
    if (count === undefined) continue;
    count.value += 1;
    const { tone } = lifeOf(one, now.getTime());
    if (tone === 'bad' || count.tone === undefined) count.tone = tone;
  }
  return starts.map((start, index) => ({
    label: isCut && index === starts.length - 1 ? `${step.label(start)} and later` : step.label(start),
    value: 0,
    ...counts[index],
  }));
}
