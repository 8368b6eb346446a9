// The time according to the clocks of the other appliances: one whose clock is wrong is outvoted.
import { uptime } from 'node:os';
import type { MemberSign } from './validity.ts';

/** Tolerance in milliseconds. Clocks that differ by less count as equal: corrections by time servers, and delays of heartbeats, are smaller. */
export const clockToleranceMs = 300_000;
/** Age in milliseconds above which a sign is ignored: its clock may have been set since. */
const recentMs = 10_000;

/** Milliseconds since the start of the machine, on a clock that cannot be set and that continues while the machine is suspended. */
const machineUptimeMs = (): number => uptime() * 1_000;

/** Clocks of the other members, from the heartbeats that arrive. */
export class OtherClocks {
  readonly #own: string;
  readonly #uptimeMs: () => number;
  readonly #seen = new Map<string, { readonly startMs: number; readonly atMs: number }>();

  constructor(own: string, uptimeMs = machineUptimeMs) {
    this.#own = own;
    this.#uptimeMs = uptimeMs;
  }

  /** Records a sign at its arrival; not for signs that are read later. `sign`: undefined if the member was removed. */
  see(id: string, sign: Pick<MemberSign, 'state' | 'wallMs'> | undefined): void {
    if (id === this.#own) return;
    const atMs = this.#uptimeMs();
    // A sign written by another member has the former time of its member.
    if (sign?.state !== 'in' || sign.wallMs === undefined) this.#seen.delete(id);
    else this.#seen.set(id, { startMs: sign.wallMs - atMs, atMs });
  }

  /**
   * The time of the others' clocks when CLOCK_MONOTONIC, which is `monotonicMs` now, was 0, in milliseconds since 1970. Undefined unless
   * those that agree are more than half of all appliances, this one included: of two that differ, neither can know which is right.
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
