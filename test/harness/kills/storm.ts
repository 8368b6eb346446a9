// A storm on one appliance: lanes that change and use things of every sort, and what all of them must still be after each kill.
import { setTimeout } from 'node:timers/promises';
import { Dice } from '../../fuzz/cases.ts';
import { type Acknowledged, againMs, type Asked, Connection, Find, persist, Unanswered } from './connection.ts';
import { patienceMs } from '../patience.ts';
import { ballastText, type Fixtures } from './prepared.ts';
import { certificateSorts } from './things/certificates.ts';
import { documentSorts } from './things/documents.ts';
import { keySorts } from './things/keys.ts';
import { type AnyThing, emptyTally, type Sort, type Tally, Thing } from './things/thing.ts';
import { tokenSorts } from './things/tokens.ts';

export type StormOptions = {
  readonly seed: number;
  readonly fixtures: Fixtures;
  /** age recipient: takes backups during the storm */
  readonly recipient: string;
  /** longest pause of a lane between two requests; default: none */
  readonly pauseMs?: number;
  /** from the begin of a lane's request to that of the next one, as long as answers come sooner; default: as soon as it is answered */
  readonly everyMs?: number;
  /** leaves out what stays for ever (certificates, ended tokens), with which the store would grow */
  readonly isBounded?: boolean;
  /** whether keys may be objects in the token; default: yes */
  readonly hasObjectsInToken?: boolean;
  /** what the clocks of appliances show, from the one here; default: 0 */
  readonly clockSeconds?: number;
  /** how long something may still happen that was cut off; default: it happens at once or never */
  readonly settleMs?: number;
};

/** A storm that goes on until `over` is called. `done` rejects with the first find. */
export type Raging = { over(): void; readonly done: Promise<void> };

const lanes = 5;
const thingsPerLane = 6;
const shareOfBackups = 0.002;

/**
 * What a killed process had written and not yet told to the others is seen with the next change, or when another process has taken its place: what
 * became of it is looked up after a change of something else.
 */
const anyChange = { path: '/v1/config/policy/policies/storm', document: { 'rest-api': { rules: [] } } };

type Maker = (name: string) => AnyThing;

export class Storm {
  readonly tally: Tally = emptyTally();
  readonly acknowledged: Acknowledged = new Map();
  readonly #options: StormOptions;
  readonly #fixtures: Fixtures;
  readonly #lanes: readonly Lane[];

  constructor(options: StormOptions) {
    const { seed, fixtures, recipient, pauseMs = 0, everyMs = 0, settleMs = 0, clockSeconds = 0 } = options;
    const { isBounded = false, hasObjectsInToken = true } = options;
    const makers = [
      ...keySorts.filter(({ isInToken }) => hasObjectsInToken || isInToken !== true).map(makerOf),
      ...documentSorts.map(makerOf),
      ...(isBounded ? [] : [...tokenSorts(fixtures, clockSeconds).map(makerOf), ...certificateSorts(fixtures).map(makerOf)]),
    ];
    const dice = new Dice(seed);
    const { tally, acknowledged } = this;
    const common = { makers, recipient, pauseMs, everyMs, settleMs, tally, acknowledged };
    this.#options = options;
    this.#fixtures = fixtures;
    this.#lanes = Array.from(
      { length: lanes },
      (_, index) => new Lane({ ...common, name: `storm-${index}`, dice: new Dice(dice.below(2 ** 32)) }),
    );
  }

  /** Another storm that knows the same, to prove a copy of the appliance. */
  fork(): Storm {
    const fork = new Storm(this.#options);
    for (const [id, what] of this.acknowledged) fork.acknowledged.set(id, what);
    fork.#lanes.forEach((lane, index) => lane.learn(this.#lanes[index] as Lane));
    return fork;
  }

  /** Key objects that the token must have. */
  get objects(): number {
    return this.#fixtures.objects + this.#lanes.reduce((sum, lane) => sum + lane.objects, 0);
  }

  get things(): number {
    return this.#lanes.reduce((sum, lane) => sum + lane.size, 0);
  }

  /** Every lane goes on until it is over. Outcomes that a kill leaves open are looked up at once, as far as there is an answer. */
  rage(asked: Asked): Raging {
    let isOver = false;
    const done = Promise.all(this.#lanes.map((lane) => lane.live(asked, () => isOver))).then(() => undefined);
    // A find ends the others.
    done.catch(() => (isOver = true));
    return { over: () => void (isOver = true), done };
  }

  /** Finds out what became of what was cut off, and proves what was changed since the last proof, or everything. Throws Find. */
  async prove(asked: Asked, what: 'changed' | 'everything'): Promise<void> {
    const ballast = what === 'everything' ? [this.#proveBallast(asked)] : [];
    await Promise.all([...this.#lanes.map((lane) => lane.prove(asked, what === 'changed')), ...ballast]);
  }

  async #proveBallast(asked: Asked): Promise<void> {
    const connection = new Connection(asked, this.acknowledged);
    for (const [name, ciphertext] of this.#fixtures.ballast) {
      const path = `/v1/state/keystore/transit-keys/${name}/decrypt`;
      const { plaintext } = await persist(() => connection.do('POST', path, { ciphertext }));
      if (plaintext !== ballastText) throw new Find(`${name} does not open its value`);
    }
    connection.close();
  }
}

function makerOf<M>(sort: Sort<M>): Maker {
  return (name) => new Thing(name, sort);
}

type LaneParts = {
  /** its things have names that begin so */
  readonly name: string;
  readonly dice: Dice;
  readonly makers: readonly Maker[];
  readonly recipient: string;
  readonly pauseMs: number;
  readonly everyMs: number;
  readonly settleMs: number;
  readonly tally: Tally;
  readonly acknowledged: Acknowledged;
};

/** One caller, whose things nobody else changes. */
class Lane {
  readonly #parts: LaneParts;
  #things: AnyThing[] = [];
  /** those that change no more */
  readonly #final: AnyThing[] = [];
  #made = 0;

  constructor(parts: LaneParts) {
    this.#parts = parts;
  }

  /** Knows what another lane knows. */
  learn(from: Lane): void {
    this.#things = from.#things.map((thing) => thing.fork());
    this.#final.push(...from.#final.map((thing) => thing.fork()));
  }

  get size(): number {
    return this.#things.length + this.#final.length;
  }

  get objects(): number {
    return this.#things.reduce((sum, thing) => sum + thing.objects, 0);
  }

  async live(asked: Asked, isOver: () => boolean): Promise<void> {
    const { acknowledged, tally, dice, pauseMs, everyMs, settleMs } = this.#parts;
    const connection = new Connection(asked, acknowledged);
    let answered = performance.now();
    while (!isOver()) {
      const thing = this.#draw();
      const began = performance.now();
      try {
        if (thing.isOpen) {
          if (settleMs === 0) await connection.do('PUT', anyChange.path, anyChange.document);
          await thing.settle(connection, tally);
        } else if (dice.chance(shareOfBackups)) await this.#backUp(connection);
        else await thing.act(connection, dice, tally);
        answered = performance.now();
        const rest = began + everyMs - answered;
        if (rest > 0) await setTimeout(rest);
        if (pauseMs > 0) await setTimeout(dice.below(pauseMs));
      } catch (error) {
        if (!(error instanceof Unanswered)) throw error;
        if (performance.now() - answered > patienceMs) throw new Find(`nothing was answered for ${patienceMs / 1_000} s: ${error.message}`);
        if (!isOver()) await setTimeout(Math.max(againMs, settleMs));
      }
    }
    connection.close();
  }

  /** What is open first; then something present, or something new while there is little. */
  #draw(): AnyThing {
    const open = this.#things.find(({ isOpen }) => isOpen);
    if (open !== undefined) return open;
    this.#putAsideFinal();
    const { name, dice, makers } = this.#parts;
    const present = this.#things.filter(({ exists }) => exists);
    if (present.length >= thingsPerLane) return dice.pick(present);
    const made = dice.pick(makers)(`${name}-${++this.#made}`);
    this.#things.push(made);
    return made;
  }

  #putAsideFinal(): void {
    this.#final.push(...this.#things.filter(({ isFinal }) => isFinal));
    this.#things = this.#things.filter(({ isFinal }) => !isFinal);
  }

  /** One at a time: 409 when another one runs. It is whole when it has the length that its header says. */
  async #backUp(connection: Connection): Promise<void> {
    const { octets, status, headers, text } = await connection.send('POST', '/v1/state/system/backup', {
      recipients: [this.#parts.recipient],
    });
    if (status === 409) return;
    if (status !== 200 || String(octets.length) !== headers['content-length']) throw new Find(`a backup was answered ${status} ${text}`);
    this.#parts.tally.changes['back up'] = (this.#parts.tally.changes['back up'] ?? 0) + 1;
  }

  async prove(asked: Asked, changedOnly: boolean): Promise<void> {
    const { acknowledged, tally, settleMs } = this.#parts;
    const connection = new Connection(asked, acknowledged);
    if (this.#things.some(({ isOpen }) => isOpen)) await setTimeout(settleMs);
    for (const thing of [...this.#things, ...this.#final]) {
      await persist(() => thing.settle(connection, tally));
      await persist(() => thing.prove(connection, changedOnly));
    }
    // What is gone has been proven to be gone.
    this.#things = this.#things.filter(({ exists }) => exists);
    this.#putAsideFinal();
    connection.close();
  }
}
