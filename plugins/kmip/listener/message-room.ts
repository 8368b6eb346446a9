// Limits the memory that large messages and answers of a process take together, before they are there; no tenant takes it from the others.
import { type Owner, Shares } from '../../../core/base/async/shares.ts';

/** Messages and answers up to this length take no room: they are counted with their connection. */
const freeOctets = 64 * 1024;
/** Octets of all. One message has 1 MiB at most, one answer 16 MiB. */
export const rooms = { messages: 32 << 20, answers: 64 << 20 } as const;

export class MessageRoom {
  readonly #shares: Shares;

  constructor(octets: number) {
    this.#shares = new Shares(octets);
  }

  /** Tells whether a message or an answer of this length needs a place. */
  static needs(octets: number): boolean {
    return octets > freeOctets;
  }

  /** Reserves room; returns what gives it back. Undefined while there is not enough, or its owner has its share. */
  take(owner: Owner, octets: number): (() => void) | undefined {
    if (!this.#shares.fits(owner, octets)) return undefined;
    this.#shares.count(owner, octets);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#shares.count(owner, -octets);
    };
  }
}
