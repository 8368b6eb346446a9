// A queue in which tenants take turns, and within a tenant its tokens: nobody waits for all that another one has sent.
import type { Owner } from './shares.ts';

/** Waiting items, by name; the first name is next. */
class Turns<T> {
  readonly #waiting = new Map<string, T>();

  of(name: string, make: () => T): T {
    const known = this.#waiting.get(name) ?? make();
    this.#waiting.set(name, known);
    return known;
  }

  /** Takes from the next one, which is the last one afterwards, or gone if `take` has left nothing. */
  next<Taken>(take: (from: T) => { readonly taken: Taken; readonly isEmpty: boolean }): Taken | undefined {
    const [first] = this.#waiting;
    if (first === undefined) return undefined;
    const [name, from] = first;
    const { taken, isEmpty } = take(from);
    this.#waiting.delete(name);
    if (!isEmpty) this.#waiting.set(name, from);
    return taken;
  }

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }
}

export class FairQueue<T> {
  readonly #tenants = new Turns<Turns<T[]>>();

  push({ tenant, origin }: Owner, item: T): void {
    this.#tenants
      .of(tenant, () => new Turns())
      .of(origin, () => [])
      .push(item);
  }

  take(): T | undefined {
    return this.#tenants.next((origins) => {
      const taken = origins.next((items) => ({ taken: items.shift(), isEmpty: items.length === 0 }));
      return { taken, isEmpty: origins.isEmpty };
    });
  }
}
