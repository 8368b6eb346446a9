// The opened tokens and store of a process, for first boot and for workers.
import { setTimeout } from 'node:timers/promises';
import type { Configuration } from '../core/config/config.ts';
import type { Log } from '../core/base/context.ts';
import { fail, ServiceError } from '../core/base/errors.ts';
import { revealSecret } from '../core/base/secret.ts';
import { recordBytesThatFit } from '../core/config/memory.ts';
import { openStore, type OpenStore } from '../core/store/open.ts';
import type { Hsm, HsmConfig } from '../hsm/api.ts';
import { openHsm } from '../hsm/client/open.ts';
import type { ClusterWay } from './cluster/cluster-way.ts';
import { takeClusterKeys } from './cluster/keys/cluster-keys.ts';
import { refusingHsmErrors } from './tokens/hsm-config.ts';
import { KeptStoreKey } from './data-directory/kept-store-key.ts';
import { lockFileDamage } from './data-directory/lock-file.ts';
import { paths } from './data-directory/paths.ts';
import { StartRefused } from './start-refused.ts';
import { findStoreToken, provideStoreKey } from './data-directory/store-key.ts';
import { requireParts } from './data-directory/traces.ts';

export type Runtime = {
  readonly hsm: Hsm;
  readonly store: OpenStore;
  /** of an appliance in a cluster */
  readonly cluster?: ClusterWay | undefined;
  /**
   * Damage to the files of the store or of its key, because of which nothing is written: one sentence without a path. Undefined without
   * damage.
   */
  readonly damage?: () => string | undefined;
  close(): Promise<void>;
};

/** Etcd may be in an election, and the replica of an appliance that was away has to catch up. */
const comingInMs = 60_000;
const askAgainMs = 200;
const etcdIsSilent = 'cluster: the majority of etcd does not answer: see that its members run and reach each other, then start again';

/**
 * Opens tokens and store; with a way to a cluster the shared store, of which this appliance is a member from then on. Throws StartRefused
 * with one line that names the cause and the fix; nothing stays open then, nor the way.
 */
export async function openRuntime(configuration: Configuration, hsmConfig: HsmConfig, log: Log, cluster?: ClusterWay): Promise<Runtime> {
  const closing: (() => Promise<void>)[] = [async () => cluster?.close()];
  const close = async (): Promise<void> => {
    for (const one of closing.splice(0).toReversed()) await one();
  };
  try {
    requireParts(configuration.data, { token: false, store: cluster === undefined });
    const hsm = await refusingHsmErrors(
      () =>
        openHsm(hsmConfig, {
          onEvent: ({ kind, token, message }) => (kind === 'token-up' ? log.info(message, { token }) : log.warn(message, { token })),
        }),
      configuration,
    );
    closing.push(() => hsm.close());
    if (cluster !== undefined) await comeIn(cluster, hsm, configuration.data);
    const directory = paths.store(configuration.data);
    const dataKey = await refusingHsmErrors(() => provideStoreKey(hsm, configuration.data, directory), configuration);
    const token = findStoreToken(configuration.data) ?? '';
    const key = new KeptStoreKey(configuration.data, hsm, revealSecret(dataKey), log);
    closing.push(async () => key.close());
    const cacheBytes = recordBytesThatFit(configuration.workers);
    let opened: OpenStore | undefined;
    const damage = (): string | undefined => lockFileDamage(configuration.data) ?? opened?.damage ?? key.damage();
    const store = await openStore({
      ...{ directory, dataKey, log, cacheBytes, requireKept: () => requireKept(hsm, token, damage()) },
      ...(cluster === undefined ? {} : { shared: cluster }),
    });
    opened = store;
    closing.push(() => store.close());
    revealSecret(dataKey).fill(0);
    return { hsm, store, cluster, damage, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Keys first: an appliance with another HSM never counts as a member. */
async function comeIn(cluster: ClusterWay, hsm: Hsm, data: string): Promise<void> {
  try {
    const keys = await awaitWrappedKeys(cluster);
    if (keys === undefined) throw new Error('there is no shared store yet: start this appliance again');
    await refusingHsmErrors(() => takeClusterKeys(hsm, data, keys));
    await cluster.enter();
  } catch (error) {
    if (error instanceof StartRefused) throw error;
    const reason = error instanceof ServiceError ? 'its follower does not answer' : (error as Error).message;
    throw new StartRefused(`cluster: ${reason}`, { cause: error });
  }
  if (!(await cluster.untilValid(comingInMs))) throw new StartRefused(etcdIsSilent);
}

/**
 * Reads the keys of the shared store for a start, which waits a minute for etcd; undefined while there are no keys. Throws StartRefused.
 */
export async function awaitWrappedKeys(cluster: ClusterWay): Promise<Uint8Array | undefined> {
  for (const deadline = performance.now() + comingInMs; ; await setTimeout(askAgainMs)) {
    try {
      return await cluster.wrappedKeys();
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      if (performance.now() > deadline) throw new StartRefused(etcdIsSilent, { cause: error });
    }
  }
}

/**
 * Requires that a record written now opens after a restart: with the token's own keys, which wrap the store key, with the store key, and in
 * the files.
 */
function requireKept(hsm: Hsm, token: string, damage: string | undefined): void {
  const ofToken = hsm.damage(token);
  if (ofToken !== undefined) throw fail('hsm-unavailable', { retryAfterSeconds: 5, cause: ofToken });
  if (damage !== undefined) throw fail('storage-unavailable', { retryAfterSeconds: 5, cause: new Error(damage) });
}
