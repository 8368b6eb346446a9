// When the process of a token has grown so far that another one takes its place. A module may keep something of each object that it destroys:
// SoftHSM 2.6.1 keeps 200 octets of each session object until its process ends, and a process that loads other keys with every second use
// would take the memory of the machine within days.

/** A loaded key in SoftHSM with its places in tables, and as much again: room that earlier keys left behind. */
const octetsOfKey = 2 * 10_240;
/** Threads, heaps and buffers, which come with work and do not go on growing. */
const octetsOfWork = 64 * 1_048_576;
/** What comes with one job goes with it. */
const lastsMilliseconds = 10_000;
/** A process that is too large again after so short a time needs what it takes. One that lasts longer lets the next one show that it needs less. */
const soonMilliseconds = 600_000;

export class Growth {
  #allowed = octetsOfWork;
  /** of the process when it had opened the token */
  #atFirst: number | undefined;
  #beganAt = 0;
  #tooLargeSince: number | undefined;

  /** Another process has taken the place of the one before, or could not. Times are in milliseconds of one clock; Infinity ends the watch. */
  begin(now: number): void {
    const isSoon = now - this.#beganAt < soonMilliseconds;
    if (this.#tooLargeSince !== undefined) this.#allowed = isSoon ? 2 * this.#allowed : Math.max(octetsOfWork, this.#allowed / 2);
    this.#atFirst = undefined;
    this.#tooLargeSince = undefined;
    this.#beganAt = now;
  }

  /** Whether the process should be replaced, by its resident memory in octets and the keys it has loaded. */
  isTooMuch(octets: number, loadedKeys: number, now: number): boolean {
    this.#atFirst ??= octets;
    const isTooLarge = octets > this.#atFirst + this.#allowed + loadedKeys * octetsOfKey;
    this.#tooLargeSince = isTooLarge ? (this.#tooLargeSince ?? now) : undefined;
    return this.#tooLargeSince !== undefined && now - Math.max(this.#tooLargeSince, this.#beganAt) > lastsMilliseconds;
  }
}
