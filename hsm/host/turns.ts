// Turns of owners at the token: of those who wait, the one goes next that has had the least of its time (start-time fair queueing; Goyal, Vin
// and Cheng 1996). Without it, one that sends a thousand RSA signatures at once would have the token until the last one is made.

/** What one owner has waiting, and `had`: microseconds of the token. `guess`: what a piece of it takes. */
type Account<T> = { readonly owner: number; readonly waiting: T[]; had: number; running: number; guess: number };

/** Before the first of an owner's pieces has ended. */
const firstGuessMicros = 1_000;

/**
 * Queues of pieces of work, one for each owner. A piece is charged with a guess when it begins and with what it took when it ends, so that
 * several threads take from different owners. Who had nothing to do gets no credit for that time.
 */
export class Turns<T> {
  readonly #accounts = new Map<number, Account<T>>();
  /** those of which something waits */
  readonly #due = new Set<Account<T>>();
  /** what the one had had that went last: who comes new begins there */
  #now = 0;
  #length = 0;
  #running = 0;

  /** How many pieces wait. */
  get length(): number {
    return this.#length;
  }

  /** A piece waits, behind the others of its owner. */
  add(owner: number, piece: T): void {
    this.#waitingOf(owner).push(piece);
  }

  /** A piece that is not done waits before the others of its owner. */
  putBack(owner: number, piece: T): void {
    this.#waitingOf(owner).unshift(piece);
  }

  /** The next piece, which begins; undefined when none waits. */
  take(): { readonly owner: number; readonly piece: T } | undefined {
    let next: Account<T> | undefined;
    for (const account of this.#due) if (next === undefined || account.had < next.had) next = account;
    if (next === undefined) return undefined;
    const piece = next.waiting.shift() as T;
    this.#length -= 1;
    if (next.waiting.length === 0) this.#due.delete(next);
    this.#begin(next);
    return { owner: next.owner, piece };
  }

  /** A piece begins that did not wait. */
  begin(owner: number): void {
    this.#begin(this.#account(owner));
  }

  /** A piece that had begun has ended, for now or for good. */
  end(owner: number, micros: number): void {
    const account = this.#account(owner);
    account.had += micros - account.guess;
    account.guess += (micros - account.guess) / 8;
    account.running -= 1;
    this.#running -= 1;
    // With nobody left, nothing is remembered: turns are for those who want the token at the same time.
    if (this.#running === 0 && this.#length === 0) this.#accounts.clear();
  }

  /** Takes out the pieces that are not to wait any longer. */
  remove(isOver: (piece: T) => boolean): readonly T[] {
    const over: T[] = [];
    for (const account of this.#due) {
      const left: T[] = [];
      for (const piece of account.waiting) (isOver(piece) ? over : left).push(piece);
      account.waiting.splice(0, Infinity, ...left);
      if (left.length === 0) this.#due.delete(account);
    }
    this.#length -= over.length;
    return over;
  }

  #begin(account: Account<T>): void {
    this.#now = Math.max(this.#now, account.had);
    account.had += account.guess;
    account.running += 1;
    this.#running += 1;
  }

  #waitingOf(owner: number): T[] {
    const account = this.#account(owner);
    this.#due.add(account);
    this.#length += 1;
    return account.waiting;
  }

  #account(owner: number): Account<T> {
    const known = this.#accounts.get(owner);
    if (known === undefined) {
      const account = { owner, waiting: [], had: this.#now, running: 0, guess: firstGuessMicros };
      this.#accounts.set(owner, account);
      return account;
    }
    if (known.running === 0 && known.waiting.length === 0) known.had = Math.max(known.had, this.#now);
    return known;
  }
}
