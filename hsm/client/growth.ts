// Decides when the process of a token has grown so far that it is replaced. A module may leak memory with each object that it destroys:
// SoftHSM 2.6.1 keeps 200 octets of each session object until its process ends; a process that loads other keys with every second use
// would take the memory of the machine within days.

/** Twice the size of a loaded key in SoftHSM with its table entries: earlier keys leave gaps. */
const octetsOfKey = 2 * 10_240;
/** Threads, heaps and buffers, which come with work and stop growing. */
const octetsOfWork = 64 * 1_048_576;
/** Growth must last this long to count: memory of one job is freed with it. */
const lastsMilliseconds = 10_000;
/** A process that is too large again within this time needs its memory; after a longer time the next one may need less. */
const soonMilliseconds = 600_000;

export class Growth {
  #allowed = octetsOfWork;
  /** memory of the process when it had opened the token */
  #atFirst: number | undefined;
  #beganAt = 0;
  #tooLargeSince: number | undefined;

  /** Records that the process was replaced, or could not be. Times are in milliseconds of one clock; Infinity ends the watch. */
  begin(now: number): void {
    const isSoon = now - this.#beganAt < soonMilliseconds;
    if (this.#tooLargeSince !== undefined) this.#allowed = isSoon ? 2 * this.#allowed : Math.max(octetsOfWork, this.#allowed / 2);
    this.#atFirst = undefined;
    this.#tooLargeSince = undefined;
    this.#beganAt = now;
  }

  /** Tells whether the process should be replaced, from its resident memory in octets and the number of its loaded keys. */
  isTooMuch(octets: number, loadedKeys: number, now: number): boolean {
    this.#atFirst ??= octets;
    const isTooLarge = octets > this.#atFirst + this.#allowed + loadedKeys * octetsOfKey;
    this.#tooLargeSince = isTooLarge ? (this.#tooLargeSince ?? now) : undefined;
    return this.#tooLargeSince !== undefined && now - Math.max(this.#tooLargeSince, this.#beganAt) > lastsMilliseconds;
  }
}
