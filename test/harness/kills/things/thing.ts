// A thing that a storm makes, changes and uses, with what the acknowledged changes made of it. After a kill it is as acknowledged, or as
// the change that was cut off would have made it, and nothing between.
import type { Dice } from '../../../fuzz/cases.ts';
import type { Answer } from '../../client.ts';
import { type Connection, Find, type More, requireDone, Unanswered } from '../connection.ts';

/** A change: the request, and what the thing is once it is acknowledged. */
export type Step<M> = {
  readonly kind: string;
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly more?: More;
  /** undefined: the thing is gone */
  readonly next: M | undefined;
  /** adds what the answer alone tells */
  learn?(answer: Answer): M;
};

/** What things of one sort can do. `M`: what is known of one. */
export type Sort<M> = {
  readonly kind: string;
  create(name: string, dice: Dice): Step<M>;
  /** undefined: it is only used this time */
  change(name: string, model: M, dice: Dice): Step<M> | undefined;
  /** Uses it; what the use proves later goes into the model. Throws Find when the use fails. */
  use(connection: Connection, name: string, model: M, dice: Dice): Promise<M>;
  /** What speaks against the thing being so; undefined when nothing does. */
  contradiction(connection: Connection, name: string, model: M | undefined): Promise<string | undefined>;
  /** Whether it changes no more, and is only to be so for ever. */
  isFinal?(model: M): boolean;
  /** whether it is made of key objects in the token; default: no */
  readonly isInToken?: boolean;
  /** key objects in the token that belong to it; default: none */
  objects?(model: M): number;
};

/** What a storm came to. `changes` were acknowledged, by kind; `cut` were left open by a kill, `done` of these had happened all the same. */
export type Tally = { readonly changes: Record<string, number>; uses: number; cut: number; done: number };

export const emptyTally = (): Tally => ({ changes: {}, uses: 0, cut: 0, done: 0 });

/** A thing of any sort. */
export interface AnyThing {
  readonly name: string;
  /** a change was sent and not answered */
  readonly isOpen: boolean;
  readonly exists: boolean;
  readonly isFinal: boolean;
  readonly objects: number;
  /** One change or use, drawn by the dice. */
  act(connection: Connection, dice: Dice, tally: Tally): Promise<void>;
  /** Finds out what became of an open change. Throws Find when the thing is neither as before it nor as after it. */
  settle(connection: Connection, tally: Tally): Promise<void>;
  /** Throws Find unless the thing is as acknowledged. With `changedOnly` one that was not changed since the last time is not asked for. */
  prove(connection: Connection, changedOnly: boolean): Promise<void>;
  /** Another one that knows the same. */
  fork(): AnyThing;
}

const shareOfChanges = 0.6;
const mostTold = 8;
const mostOfError = 200;

export class Thing<M> implements AnyThing {
  readonly name: string;
  readonly #sort: Sort<M>;
  #present: M | undefined;
  #doubt: { readonly next: M | undefined } | undefined;
  #isChanged = false;
  /** What happened to it last, for a find. */
  #told: readonly string[] = [];

  constructor(name: string, sort: Sort<M>) {
    this.name = name;
    this.#sort = sort;
  }

  get isOpen(): boolean {
    return this.#doubt !== undefined;
  }

  get exists(): boolean {
    return this.#present !== undefined;
  }

  get isFinal(): boolean {
    return this.#present !== undefined && this.#sort.isFinal?.(this.#present) === true;
  }

  get objects(): number {
    return this.#present === undefined ? 0 : (this.#sort.objects?.(this.#present) ?? 0);
  }

  act(connection: Connection, dice: Dice, tally: Tally): Promise<void> {
    const model = this.#present;
    if (model === undefined) return this.#take(this.#sort.create(this.name, dice), connection, tally);
    const step = dice.chance(shareOfChanges) ? this.#sort.change(this.name, model, dice) : undefined;
    if (step !== undefined) return this.#take(step, connection, tally);
    return this.#telling('use', connection, async () => {
      this.#present = await this.#sort.use(connection, this.name, model, dice);
      tally.uses++;
    });
  }

  /** Remembers what became of it, and adds what was before to a find. */
  async #telling(what: string, connection: Connection, work: () => Promise<void>): Promise<void> {
    const began = `${new Date().toISOString()} ${what} at ${connection.url}`;
    const tell = (outcome: string): void => void (this.#told = [...this.#told, `${began}: ${outcome}`].slice(-mostTold));
    try {
      await work();
      tell('done');
    } catch (error) {
      if (error instanceof Unanswered) tell(error.message.slice(0, mostOfError));
      throw error instanceof Find ? new Find([error.message, ...this.#told].join('; before: ')) : error;
    }
  }

  #take(step: Step<M>, connection: Connection, tally: Tally): Promise<void> {
    return this.#telling(step.kind, connection, () => this.#takeOnce(step, connection, tally));
  }

  async #takeOnce(step: Step<M>, connection: Connection, tally: Tally): Promise<void> {
    this.#doubt = { next: step.next };
    const answer = await connection.send(step.method, step.path, step.body, step.more);
    this.#isChanged = true;
    this.#doubt = undefined;
    // Overtaken by a rotation of the wrapping key, or by the clearing of what a killed process had begun: a refusal, so nothing has changed.
    if (answer.status === 409 && answer.body.code === 'conflict') return;
    requireDone(answer, `${step.kind} of ${this.#sort.kind} ${this.name}`);
    this.#present = step.learn?.(answer) ?? step.next;
    tally.changes[step.kind] = (tally.changes[step.kind] ?? 0) + 1;
  }

  async settle(connection: Connection, tally: Tally): Promise<void> {
    if (this.#doubt !== undefined) await this.#telling('what became of it', connection, () => this.#settleOnce(connection, tally));
  }

  async #settleOnce(connection: Connection, tally: Tally): Promise<void> {
    if (this.#doubt === undefined) return;
    const problems: string[] = [];
    for (const [index, model] of [this.#present, this.#doubt.next].entries()) {
      const problem = await this.#sort.contradiction(connection, this.name, model);
      if (problem !== undefined) {
        problems.push(problem);
        continue;
      }
      tally.cut++;
      tally.done += index;
      this.#present = model;
      this.#doubt = undefined;
      this.#isChanged = false;
      return;
    }
    throw new Find(`after a kill ${this.#sort.kind} ${this.name} is neither as before the change nor as after it: ${problems.join('; ')}`);
  }

  fork(): AnyThing {
    const fork = new Thing(this.name, this.#sort);
    fork.#present = this.#present;
    fork.#doubt = this.#doubt;
    fork.#isChanged = this.#isChanged;
    fork.#told = this.#told;
    return fork;
  }

  async prove(connection: Connection, changedOnly: boolean): Promise<void> {
    if (!changedOnly || this.#isChanged) await this.#telling('proof', connection, () => this.#proveOnce(connection));
  }

  async #proveOnce(connection: Connection): Promise<void> {
    const problem = await this.#sort.contradiction(connection, this.name, this.#present);
    if (problem !== undefined) throw new Find(`${this.#sort.kind} ${this.name} is not as acknowledged: ${problem}`);
    this.#isChanged = false;
  }
}
