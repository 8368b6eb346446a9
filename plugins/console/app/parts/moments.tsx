// Times for people: how long ago or ahead, with the exact time behind it.
import type { ComponentChildren } from 'preact';
import { momentOf } from './visible.ts';

const words = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** Units, from the largest, of which the first that fits is used. */
const units: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number])[] = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
];

/** `in 3 months`, `2 days ago`, `now`. */
export function fromNow(atMs: number, nowMs = Date.now()): string {
  const seconds = (atMs - nowMs) / 1_000;
  const [unit, length] = units.find(([, one]) => Math.abs(seconds) >= one * 1.5) ?? ['second', 1];
  return Math.abs(seconds) < 1.5 ? 'now' : words.format(Math.round(seconds / length), unit);
}

/** A timestamp of the API: how far away it is. The exact time is its title and what is copied by machines. */
export function Moment({ at }: { readonly at: string }): ComponentChildren {
  return (
    <time dateTime={at} title={momentOf(at) ?? at}>
      {fromNow(Date.parse(at))}
    </time>
  );
}

/** A timestamp of the API as date and time of the reader. */
export function Exact({ at }: { readonly at: string }): ComponentChildren {
  return (
    <time dateTime={at} title={at}>
      {momentOf(at) ?? at}
    </time>
  );
}
