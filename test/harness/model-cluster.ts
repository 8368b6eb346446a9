// Appliances that share a store, as far as their records go: replicas over the model of etcd, each told of a commit at once, or cut off.
import { Secret } from '../../core/base/secret.ts';
import { Assembly } from '../../core/cluster/replica/assembly.ts';
import { layout } from '../../core/cluster/layout.ts';
import { ReplicaWriter } from '../../core/cluster/replica/replica-writer.ts';
import { batchLimits, buildTransaction, defaultLimits } from '../../core/cluster/transaction.ts';
import { clusterUnavailable } from '../../core/base/unavailable.ts';
import { put } from '../../core/etcd/messages.ts';
import type { Intent, SharedStore } from '../../core/store/intent.ts';
import { type OpenStore, openStore } from '../../core/store/open.ts';
import { silentLog } from './log.ts';
import { ModelEtcd } from './model-etcd.ts';

const dataKey = new Secret(new Uint8Array(32).fill(1));
const epoch = 'epoch';

export class ModelCluster {
  readonly etcd = new ModelEtcd();
  readonly #appliances: ModelAppliance[] = [];

  /** The first one brings what is in its directory. */
  async join(appliance: string, directory: string, isolatedSeconds = 0): Promise<ModelAppliance> {
    const writer = new ReplicaWriter(directory, silentLog);
    if (this.etcd.keys(layout.all).length === 0) {
      await (await openStore({ directory, dataKey })).close();
      const writes = [...writer.records()].map(({ text, sealed }) => put(layout.record(text), Buffer.from(sealed)));
      this.etcd.txn({ compare: [], success: [...writes, put(layout.epoch, Buffer.from(epoch))], failure: [] });
    }
    const joined = new ModelAppliance({ appliance, isolatedSeconds }, this.etcd, writer, () => this.#followAll());
    await joined.follow();
    joined.store = await openStore({ directory, dataKey, shared: joined });
    this.#appliances.push(joined);
    return joined;
  }

  async close(): Promise<void> {
    for (const appliance of this.#appliances) await appliance.close();
  }

  async #followAll(): Promise<void> {
    for (const appliance of this.#appliances) if (!appliance.isCutOff) await appliance.follow();
  }
}

export class ModelAppliance implements SharedStore {
  readonly appliance: string;
  readonly isolatedSeconds: number;
  readonly batch = batchLimits;
  /** Each of its commits is on all at once. */
  readonly settled = Number.POSITIVE_INFINITY;
  /** Neither told of the changes of others nor able to make one. */
  isCutOff = false;
  /** It learns of each commit that the outcome is not known. */
  losesAnswers = false;
  store: OpenStore = undefined as unknown as OpenStore;
  /** transactions that it has committed */
  commits = 0;
  readonly #etcd: ModelEtcd;
  readonly #writer: ReplicaWriter;
  readonly #tell: () => Promise<void>;
  #following: Promise<void> = Promise.resolve();

  constructor(
    { appliance, isolatedSeconds }: Pick<ModelAppliance, 'appliance' | 'isolatedSeconds'>,
    etcd: ModelEtcd,
    writer: ReplicaWriter,
    tell: () => Promise<void>,
  ) {
    this.appliance = appliance;
    this.isolatedSeconds = isolatedSeconds;
    this.#etcd = etcd;
    this.#writer = writer;
    this.#tell = tell;
  }

  async untilSettled(): Promise<void> {}

  /** Applies what there is, one call after another. */
  follow(): Promise<void> {
    this.#following = this.#applyAfter(this.#following);
    return this.#following;
  }

  async #applyAfter(earlier: Promise<void>): Promise<void> {
    await earlier;
    const position = this.#writer.position?.revision ?? 0;
    const assembly = new Assembly(position);
    const revisions = this.#etcd.watch(position + 1).flatMap((answer) => assembly.take(answer).revisions);
    const last = revisions.at(-1);
    if (last !== undefined) await this.#writer.apply(revisions, { epoch, revision: last.revision });
  }

  async commit(intent: Intent): Promise<'committed' | 'lost'> {
    if (this.isCutOff) throw clusterUnavailable('unchanged');
    const built = buildTransaction(intent, { compare: [], write: [] }, defaultLimits);
    if ('exceeds' in built) throw new Error(`the transaction exceeds the ${built.exceeds} that etcd takes`);
    const { succeeded } = this.#etcd.txn(built.request);
    await this.#tell();
    await this.follow();
    if (this.losesAnswers) throw clusterUnavailable('unknown');
    if (succeeded) this.commits++;
    return succeeded ? 'committed' : 'lost';
  }

  async close(): Promise<void> {
    await this.store.close();
    await this.#writer.close();
  }
}
