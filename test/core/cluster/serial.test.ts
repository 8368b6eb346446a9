// Changes of several appliances at the same time have the results that they would have had one after another on one store.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Secret } from '../../../core/base/secret.ts';
import { Assembly } from '../../../core/cluster/replica/assembly.ts';
import { layout } from '../../../core/cluster/layout.ts';
import { ReplicaWriter } from '../../../core/cluster/replica/replica-writer.ts';
import { batchLimits, buildTransaction, defaultLimits } from '../../../core/cluster/transaction.ts';
import { put, revisionOf } from '../../../core/etcd/messages.ts';
import type { Intent, SharedStore } from '../../../core/store/intent.ts';
import { type OpenStore, openStore } from '../../../core/store/open.ts';
import type { StoreKey, Table, WriteTransaction } from '../../../core/store/store.ts';
import { silentLog } from '../../harness/log.ts';
import { ModelEtcd } from '../../harness/model-etcd.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const temporary = temporaryDirectory();
const dataKey = new Secret(new Uint8Array(32).fill(1));
let directories = 0;
let attempts = 0;

/** One step of a change. What it puts depends on all that it has read, so that a wrong read shows in the end. */
type Step = { readonly kind: 'get' | 'put' | 'delete' | 'entries' | 'clear'; readonly key: StoreKey };
type Change = {
  readonly id: number;
  readonly steps: readonly Step[];
  readonly fails: boolean;
  seen?: string;
  /** revision, after all writes of it (1) or with them (0), and place among the attempts */
  order?: readonly [number, number, number];
};
/** A write transaction, or a map that stands for one. */
type Steps = {
  get(key: StoreKey): unknown;
  put(key: StoreKey, value: string): void;
  delete(key: StoreKey): boolean;
  entries(prefix: StoreKey): (readonly [StoreKey, unknown])[];
};

const part = fc.constantFrom('a', 'b');
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constantFrom('get', 'put', 'put', 'delete'), key: fc.tuple(part, fc.constantFrom('1', '2')) }),
  fc.record({ kind: fc.constantFrom('entries', 'clear'), key: fc.oneof(fc.constant([]), fc.tuple(part)) }),
  // A record under the name of others' prefix.
  fc.record({ kind: fc.constantFrom('put', 'delete'), key: fc.tuple(part) }),
);
const changes = fc.array(
  fc.record({
    appliance: fc.nat(2),
    steps: fc.array(step, { minLength: 1, maxLength: 4 }),
    fails: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
    waits: fc.boolean(),
  }),
  { minLength: 2, maxLength: 24 },
);

/** What a change does: the same on a store and on the map that is its model. */
function run({ id, steps, fails }: Change, on: Steps): string {
  let seen = String(id);
  for (const { kind, key } of steps) {
    if (kind === 'get') seen += `,${String(on.get(key))}`;
    if (kind === 'put') on.put(key, hash(seen));
    if (kind === 'delete') seen += `,${on.delete(key)}`;
    if (kind === 'entries') seen += `,${JSON.stringify(on.entries(key))}`;
    if (kind === 'clear') for (const [found] of on.entries(key)) seen += `,${on.delete(found)}`;
  }
  if (fails) throw new Error(seen);
  return seen;
}

class Appliance implements SharedStore {
  readonly appliance = 'one of three';
  /** Each of its commits is on all at once. */
  readonly settled = Number.POSITIVE_INFINITY;
  readonly #model: ModelEtcd;
  readonly #directory = temporary(`replica-${++directories}`);
  readonly writer = new ReplicaWriter(this.#directory, silentLog);
  #attempted: Change[] = [];
  #store: OpenStore | undefined;
  #table: Table<string> | undefined;

  constructor(model: ModelEtcd) {
    this.#model = model;
  }

  /** The first appliance puts the proof of its data key, and the others take it. */
  async open(): Promise<void> {
    if (this.#model.keys(layout.all).length === 0) {
      const alone = await openStore({ directory: this.#directory, dataKey });
      await alone.close();
      const writes = [...this.writer.records()].map(({ text, sealed }) => put(layout.record(text), sealed));
      this.#model.txn({ compare: [], success: [...writes, put(layout.epoch, Buffer.from('e'))], failure: [] });
    }
    await this.#follow();
    this.#store = await openStore({ directory: this.#directory, dataKey, shared: this });
    this.#table = this.#store.table('things');
  }

  async untilSettled(): Promise<void> {}

  /** Asked for at the beginning of each batch: what was attempted before and read only is done. */
  get batch(): SharedStore['batch'] {
    this.#attempted = [];
    return batchLimits;
  }

  async #follow(): Promise<void> {
    const position = this.writer.position?.revision ?? 0;
    const assembly = new Assembly(position);
    const revisions = this.#model.watch(position + 1).flatMap((answer) => assembly.take(answer).revisions);
    if (revisions.length > 0) await this.writer.apply(revisions, { epoch: 'e', revision: this.#model.revision });
  }

  async commit(intent: Intent): Promise<'committed' | 'lost'> {
    const batch = this.#attempted.splice(0);
    const built = buildTransaction(intent, { compare: [], write: [] }, defaultLimits);
    if ('exceeds' in built) throw new Error(built.exceeds);
    const { succeeded, header } = this.#model.txn(built.request);
    await this.#follow();
    if (!succeeded) return 'lost';
    for (const [index, change] of batch.entries()) change.order = [revisionOf(header.revision), 0, index];
    return 'committed';
  }

  async write(change: Change): Promise<void> {
    const table = this.#table as Table<string>;
    await this.#store
      ?.write((transaction) => {
        delete change.order;
        this.#attempted = [...this.#attempted.filter((other) => other !== change), change];
        const position = this.writer.position?.revision ?? 0;
        try {
          return (change.seen = run(change, stepsOn(transaction, table)));
        } catch (error) {
          change.seen = (error as Error).message;
          throw error;
        } finally {
          change.order ??= [position, 1, attempts++];
        }
      })
      .catch((error: unknown) => {
        if ((error as Error).message !== change.seen) throw error;
      });
  }

  async state(): Promise<unknown> {
    await this.#follow();
    this.#store?.refresh();
    return [...(this.#table as Table<string>).entries([])];
  }

  async close(): Promise<void> {
    await this.#store?.close();
    await this.writer.close();
  }
}

function stepsOn(transaction: WriteTransaction, table: Table<string>): Steps {
  return {
    get: (key) => transaction.get(table, key),
    put: (key, value) => transaction.put(table, key, value),
    delete: (key) => transaction.delete(table, key),
    entries: (prefix) => [...transaction.entries(table, prefix)],
  };
}

function stepsOnMap(map: Map<string, string>): Steps {
  return {
    get: (key) => map.get(key.join('/')),
    put: (key, value) => void map.set(key.join('/'), value),
    delete: (key) => map.delete(key.join('/')),
    entries: (prefix) => sortedEntries(map).filter(([key]) => prefix.every((part, index) => key[index] === part)),
  };
}

function sortedEntries(map: ReadonlyMap<string, string>): [StoreKey, string][] {
  return [...map].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, value]) => [key.split('/'), value]);
}

function hash(text: string): string {
  let sum = 0;
  for (const character of text) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 1_000_003;
  return String(sum);
}

function replay(done: readonly Change[]): unknown {
  let map = new Map<string, string>();
  for (const change of done) {
    const copy = new Map(map);
    let seen: string;
    try {
      seen = run(change, stepsOnMap(copy));
      map = copy;
    } catch (error) {
      seen = (error as Error).message;
    }
    if (seen !== change.seen) throw new Error(`change ${change.id} saw ${change.seen}, one after another ${seen}`);
  }
  return sortedEntries(map);
}

test('three appliances whose replicas lag behind have the results of one store', async () => {
  await fc.assert(
    fc.asyncProperty(changes, async (drawn) => {
      const model = new ModelEtcd();
      const appliances = [new Appliance(model), new Appliance(model), new Appliance(model)];
      try {
        for (const appliance of appliances) await appliance.open();
        const all: Change[] = [];
        const running: Promise<void>[] = [];
        for (const [id, { appliance, steps, fails, waits }] of drawn.entries()) {
          const change: Change = { id, steps, fails };
          all.push(change);
          const writing = appliances[appliance]?.write(change) ?? Promise.resolve();
          running.push(writing);
          if (waits) await writing;
        }
        await Promise.all(running);
        const expected = replay(all.toSorted(byOrder));
        for (const appliance of appliances) expect(await appliance.state()).toEqual(expected);
      } finally {
        for (const appliance of appliances) await appliance.close();
      }
    }),
    { numRuns: 15 },
  );
});

function byOrder({ order: a = [0, 0, 0] }: Change, { order: b = [0, 0, 0] }: Change): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}
