// Limits the memory that large bodies of a process take together: a body waits until there is room for it, and one that comes slowly
// holds what has come of it.
import { Shares, type Owner } from '../../base/async/shares.ts';

/** Octets of memory for all large bodies of a process, including what parsing and using them takes, where nobody says how many. */
const usualRoomOctets = 256 * 1024 * 1024;

/** Time for which a body waits for room. */
const patienceMs = 60_000;
/** Interval of the check of each body's progress. */
const lookEveryMs = 1_000;
/** Octets of a body in a second: one that comes faster keeps room for all of it. At the lowest rate 4 MiB take longer than a request may. */
const quickOctets = 256 * 1024;
/** Octets of a body in a second, on average over so many looks, below which it is given up. */
const lowestOctets = 8 * 1024;
const looksAtRate = 10;
/** Octets of a body that a slow one is given room for at a time. */
const stepOctets = 128 * 1024;

/** Reason for which a body gets no (more) room: none in time, or it came too slowly. */
export type NoRoom = 'no-room' | 'too-slow';

/** A body that asks for room. */
export type Comer = {
  readonly owner: Owner;
  /** octets that it may come to have */
  readonly octets: number;
  /** octets of memory that an octet of it takes until it is answered */
  readonly memoryPerOctet: number;
  /** Called when it has room to begin, or to continue. */
  proceed(): void;
  /** Called once, at the end: it must not continue. */
  refuse(reason: NoRoom): void;
};

/** The place of a body: in line, or inside. */
export type Place = {
  /** Reports the octets received in all. False: no more may be read until `proceed`. */
  arrived(octets: number): boolean;
  /** Reports that the body is complete. */
  whole(octets: number): void;
  /** Releases the room, or the place in line. Idempotent. */
  leave(): void;
};

type State = 'waiting' | 'inside' | 'whole' | 'gone';

type Body = {
  readonly comer: Comer;
  /** that it may hold at most */
  readonly most: number;
  state: State;
  /** memory that it holds */
  held: number;
  /** octets of it that have come, now and at the last looks */
  arrived: number;
  atLastLook: number;
  atRateLook: number;
  looks: number;
  /** requested amount while in line */
  wanted: number;
  patience: NodeJS.Timeout | undefined;
};

/**
 * A semaphore by octets, first come, first served, within the shares of tenants and of those in them. A body that needs more than half of the room
 * counts as that half. One that comes quickly holds room for all of it from its beginning, so that it always gets to its end. One that
 * does not releases the unused part, and continues in steps: slow senders hold only what they have sent, and wait only for each other.
 */
export class BodyRoom {
  readonly #shares: Shares;
  readonly #patienceMs: number;
  readonly #line = new Set<Body>();
  readonly #inside = new Set<Body>();
  #looking: NodeJS.Timeout | undefined;

  constructor(options: { readonly octets?: number; readonly patienceMs?: number } = {}) {
    this.#shares = new Shares(options.octets ?? usualRoomOctets);
    this.#patienceMs = options.patienceMs ?? patienceMs;
  }

  /** Octets taken now. */
  get held(): number {
    return this.#shares.held;
  }

  /** Bodies waiting for room. */
  get waiting(): number {
    return this.#line.size;
  }

  /** Requests room for a body. `proceed` may be called at once. */
  enter(comer: Comer): Place {
    const most = Math.min(comer.octets * comer.memoryPerOctet, this.#shares.total / 2);
    const counts = { held: 0, arrived: 0, atLastLook: 0, atRateLook: 0, looks: 0 };
    const body: Body = { comer, most, state: 'waiting', ...counts, wanted: most, patience: undefined };
    this.#wait(body);
    return {
      arrived: (octets) => this.#arrived(body, octets),
      whole: (octets) => this.#whole(body, octets),
      leave: () => this.#leave(body),
    };
  }

  #wait(body: Body): void {
    body.patience = setTimeout(() => this.#giveUp(body, 'no-room'), this.#patienceMs).unref();
    this.#line.add(body);
    this.#letIn();
  }

  #letIn(): void {
    for (const body of this.#line) {
      const { owner } = body.comer;
      const held = body.held + body.wanted;
      // Its present share is part of its request, not an addition.
      this.#hold(body, 0);
      const fits = this.#shares.fits(owner, held);
      const hasOthers = this.#shares.heldBy(owner) > 0;
      this.#hold(body, fits ? held : held - body.wanted);
      if (!fits) {
        // An owner with other bodies inside can be overtaken; one without any cannot.
        if (hasOthers) continue;
        return;
      }
      this.#line.delete(body);
      clearTimeout(body.patience);
      this.#admit(body);
      body.comer.proceed();
    }
  }

  #admit(body: Body): void {
    body.state = 'inside';
    this.#inside.add(body);
    // Its waiting time does not count as slowness of its sender.
    Object.assign(body, { atLastLook: body.arrived, atRateLook: body.arrived, looks: 0 });
    this.#looking ??= setInterval(() => this.#look(), lookEveryMs).unref();
  }

  #arrived(body: Body, octets: number): boolean {
    body.arrived = octets;
    if (body.state !== 'inside' || memoryOf(body, octets) <= body.held) return true;
    body.state = 'waiting';
    this.#inside.delete(body);
    body.wanted = memoryOf(body, octets + stepOctets) - body.held;
    this.#wait(body);
    return isInside(body);
  }

  #whole(body: Body, octets: number): void {
    if (body.state === 'gone') return;
    this.#withdraw(body);
    body.state = 'whole';
    this.#hold(body, memoryOf(body, octets));
    this.#letIn();
  }

  #leave(body: Body): void {
    if (body.state === 'gone') return;
    this.#withdraw(body);
    body.state = 'gone';
    this.#hold(body, 0);
    this.#letIn();
  }

  /** Removes it from the line, and from the checked bodies. */
  #withdraw(body: Body): void {
    this.#line.delete(body);
    clearTimeout(body.patience);
    this.#inside.delete(body);
    if (this.#inside.size > 0) return;
    clearInterval(this.#looking);
    this.#looking = undefined;
  }

  #giveUp(body: Body, reason: NoRoom): void {
    this.#leave(body);
    body.comer.refuse(reason);
  }

  #look(): void {
    for (const body of this.#inside) {
      const { arrived, atLastLook, atRateLook } = body;
      body.atLastLook = arrived;
      body.looks += 1;
      if (body.looks % looksAtRate === 0) {
        body.atRateLook = arrived;
        if (arrived - atRateLook < lowestOctets * looksAtRate) {
          this.#giveUp(body, 'too-slow');
          continue;
        }
      }
      // A body that arrived within this second has not had a full second.
      if (body.looks > 1 && arrived - atLastLook < quickOctets) this.#hold(body, Math.min(body.held, memoryOf(body, arrived + stepOctets)));
    }
    this.#letIn();
  }

  #hold(body: Body, held: number): void {
    this.#shares.count(body.comer.owner, held - body.held);
    body.held = held;
  }
}

function memoryOf({ comer: { memoryPerOctet }, most }: Body, octets: number): number {
  return Math.min(octets * memoryPerOctet, most);
}

/** Tells whether a body is inside: the state may have changed while it was put in line. */
function isInside({ state }: Body): boolean {
  return state === 'inside';
}
