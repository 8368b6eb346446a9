// What time it is, as the other appliances say: one whose clock is wrong is outvoted.
import { uptime } from 'node:os';
import type { MemberSign } from './validity.ts';

/** Milliseconds. Clocks that differ by less show the same time: time servers correct less, and signs of life take less on their way. */
export const clockToleranceMs = 300_000;
/** Milliseconds. A sign that is older says nothing: its clock may have been set since. */
const recentMs = 10_000;

/** Milliseconds since the start of the machine, on a clock that no one sets and that goes on while the machine is suspended. */
const machineUptimeMs = (): number => uptime() * 1_000;

/** The clocks of the other members, from the signs of life that arrive. */
export class OtherClocks {
  readonly #own: string;
  readonly #uptimeMs: () => number;
  readonly #seen = new Map<string, { readonly startMs: number; readonly atMs: number }>();

  constructor(own: string, uptimeMs = machineUptimeMs) {
    this.#own = own;
    this.#uptimeMs = uptimeMs;
  }

  /** To be called for signs as they arrive, not for those that are read later. `sign`: undefined when the member was removed. */
  see(id: string, sign: Pick<MemberSign, 'state' | 'wallMs'> | undefined): void {
    if (id === this.#own) return;
    const atMs = this.#uptimeMs();
    // What others have written about a member has its former time.
    if (sign?.state !== 'in' || sign.wallMs === undefined) this.#seen.delete(id);
    else this.#seen.set(id, { startMs: sign.wallMs - atMs, atMs });
  }

  /**
   * What the clocks of the others showed when CLOCK_MONOTONIC, which is `monotonicMs` now, was 0, in milliseconds since 1970. Undefined unless
   * those that agree are more than half of all appliances, this one included: two that differ cannot know who is right.
   */
  agreedStartMs(monotonicMs: number): number | undefined {
    const uptimeMs = this.#uptimeMs();
    const starts = [...this.#seen.values()].filter(({ atMs }) => uptimeMs - atMs < recentMs).map(({ startMs }) => startMs);
    const middle = starts.toSorted((a, b) => a - b)[Math.floor((starts.length - 1) / 2)];
    if (middle === undefined) return undefined;
    const agreeing = starts.filter((start) => Math.abs(start - middle) < clockToleranceMs);
    return agreeing.length * 2 > starts.length + 1 ? middle + uptimeMs - monotonicMs : undefined;
  }
}
