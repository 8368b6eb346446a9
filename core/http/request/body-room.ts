// Limits the memory that large bodies of a process take together: a body waits until there is room for it.

/** Octets of memory for all large bodies, including what parsing and using them takes. */
const bodyRoomOctets = 256 * 1024 * 1024;

/** How long a body waits. It may take as long again to arrive before the listener closes the connection. */
const patienceMs = 60_000;

type Waiting = { readonly holder: string; readonly octets: number; readonly timer: NodeJS.Timeout; admit(isAdmitted: boolean): void };

/**
 * A semaphore by octets, first come, first served. One holder (a tenant) gets half of the room at most, because slow senders keep
 * their share. A body that needs more than that half counts as that half.
 */
export class BodyRoom {
  readonly #octets: number;
  readonly #patienceMs: number;
  readonly #heldBy = new Map<string, number>();
  readonly #line = new Set<Waiting>();
  #held = 0;

  constructor(options: { readonly octets?: number; readonly patienceMs?: number } = {}) {
    this.#octets = options.octets ?? bodyRoomOctets;
    this.#patienceMs = options.patienceMs ?? patienceMs;
  }

  /** Octets taken now. */
  get held(): number {
    return this.#held;
  }

  /** Bodies waiting for room. */
  get waiting(): number {
    return this.#line.size;
  }

  /**
   * Requests room. `admit` is called once: with true when there is room, which may be at once, or with false after too long a wait.
   * The function returned gives the room back, or the place in the queue; a second call does nothing.
   */
  enter(holder: string, wanted: number, admit: (isAdmitted: boolean) => void): () => void {
    const octets = Math.min(wanted, this.#octets / 2);
    let state: 'waiting' | 'inside' | 'gone' = 'waiting';
    const giveUp = (): void => {
      this.#line.delete(entry);
      state = 'gone';
      admit(false);
      // A smaller one behind it may fit.
      this.#letIn();
    };
    const entry: Waiting = {
      holder,
      octets,
      timer: setTimeout(giveUp, this.#patienceMs).unref(),
      admit: (isAdmitted) => {
        state = 'inside';
        admit(isAdmitted);
      },
    };
    this.#line.add(entry);
    this.#letIn();
    return () => {
      if (state === 'inside') this.#count(holder, -octets);
      else if (state === 'waiting') this.#line.delete(entry);
      clearTimeout(entry.timer);
      state = 'gone';
      this.#letIn();
    };
  }

  #letIn(): void {
    for (const entry of this.#line) {
      const { holder, octets, timer } = entry;
      // A holder at its limit lets others pass; a body for which there is no room at all lets none pass.
      if ((this.#heldBy.get(holder) ?? 0) + octets > this.#octets / 2) continue;
      if (this.#held + octets > this.#octets) return;
      this.#line.delete(entry);
      clearTimeout(timer);
      this.#count(holder, octets);
      entry.admit(true);
    }
  }

  #count(holder: string, octets: number): void {
    this.#held += octets;
    const held = (this.#heldBy.get(holder) ?? 0) + octets;
    if (held === 0) this.#heldBy.delete(holder);
    else this.#heldBy.set(holder, held);
  }
}
