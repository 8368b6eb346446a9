// Turns of owners at the token: among those that wait, the next is the one that has used the least token time (start-time fair queueing; Goyal, Vin
// and Cheng 1996). Without it, an owner that sends a thousand RSA signatures at once would occupy the token until the last one is made.

/** The waiting pieces of one owner. `had`: microseconds of the token used so far. `guess`: estimated microseconds of a piece. */
type Account<T> = { readonly owner: number; readonly waiting: T[]; had: number; running: number; guess: number };

/** Estimate until the first of an owner's pieces has ended. */
const firstGuessMicros = 1_000;

/**
 * Queues of pieces of work, one for each owner. A piece is charged with an estimate when it begins and with its actual time when it ends, so that
 * several threads take from different owners. An idle owner gets no credit for that time.
 */
export class Turns<T> {
  readonly #accounts = new Map<number, Account<T>>();
  /** owners with a waiting piece */
  readonly #due = new Set<Account<T>>();
  /** `had` of the owner that was served last: a new owner begins there */
  #now = 0;
  #length = 0;
  #running = 0;

  /** Number of waiting pieces. */
  get length(): number {
    return this.#length;
  }

  /** Adds a piece behind the others of its owner. */
  add(owner: number, piece: T): void {
    this.#waitingOf(owner).push(piece);
  }

  /** Puts a piece that is not done before the others of its owner. */
  putBack(owner: number, piece: T): void {
    this.#waitingOf(owner).unshift(piece);
  }

  /** Removes and begins the next piece; undefined if none waits. */
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

  /** Begins a piece that did not wait. */
  begin(owner: number): void {
    this.#begin(this.#account(owner));
  }

  /** Ends a piece that had begun, for now or completely. */
  end(owner: number, micros: number): void {
    const account = this.#account(owner);
    account.had += micros - account.guess;
    account.guess += (micros - account.guess) / 8;
    account.running -= 1;
    this.#running -= 1;
    // Without owners nothing is remembered: turns matter only among those that want the token at the same time.
    if (this.#running === 0 && this.#length === 0) this.#accounts.clear();
  }

  /** Removes the pieces that have waited too long, and returns them. */
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
