// The rest of the life of a certificate. Days alone say nothing: thirty of them are the whole life of one, and a tenth of another.
import type { Tone } from '../parts/chip.tsx';

export type Lived = { readonly 'not-before': string; readonly 'not-after': string };

/** Shares of a life that are left when a device renews it, and when a person should look why it has not: as alerts of the appliance count. */
const [renewsBelow, lateBelow] = [1 / 3, 1 / 10];

/** `left`: 1 at its begin, 0 at its end and after it. No tone: nobody has to do anything. */
export function lifeOf(of: Lived, nowMs: number): { readonly left: number; readonly tone: Extract<Tone, 'warn' | 'bad'> | undefined } {
  const [begin, end] = [Date.parse(of['not-before']), Date.parse(of['not-after'])];
  const left = Math.min(1, Math.max(0, (end - nowMs) / Math.max(1, end - begin)));
  return { left, tone: left < lateBelow ? 'bad' : left < renewsBelow ? 'warn' : undefined };
}
