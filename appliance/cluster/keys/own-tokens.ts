// A cluster with a token in each appliance: one that was invited gets the own keys into its token before it comes in, and waits until
// everything is under them; after one has left, what its token has opens nothing new.
import { isDeepStrictEqual } from 'node:util';
import { defined } from '../../../core/base/defined.ts';
import { fail, reasonOf, ServiceError } from '../../../core/base/errors.ts';
import type { Clock, Log } from '../../../core/base/context.ts';
import type { OpenStore } from '../../../core/store/open.ts';
import { type Hsm, HsmError, type KeyReference } from '../../../hsm/api.ts';
import { wrappingNumberOf } from './cluster-keys.ts';
import type { ClusterWay } from '../cluster-way.ts';
import { requireTypesOf } from './agreed-types.ts';
import { carryingTable, type JoiningMember, joiningTable } from './transfer-records.ts';
import { joiningUntil } from './key-transfer.ts';
import { wrappingTable } from '../../wrapping-keys/record.ts';
import type { Invited, WrappingRotation } from '../../wrapping-keys/rotation.ts';

type OwnTokensParts = {
  readonly store: OpenStore;
  readonly hsm: Hsm;
  readonly clock: Clock;
  readonly log: Log;
  readonly cluster: ClusterWay;
  readonly rotation: WrappingRotation;
  readonly token: { readonly group: string };
  /** every stored key of the plugins */
  readonly keys: () => Iterable<KeyReference>;
};

/** `waiting`: another rotation or another joining member comes first. `rewrapping`: keys are wrapped again, `done` of `total` so far. */
export type JoiningState = {
  readonly state: 'waiting' | 'rewrapping' | 'ready';
  readonly done: number;
  readonly total: number;
  readonly keys?: JoiningKeys;
};
type JoiningKeys = Pick<JoiningMember, 'number' | 'carrying'> & NonNullable<JoiningMember['sent']>;

const renewedBelowSeconds = 300;

export class OwnTokens {
  readonly #parts: OwnTokensParts;
  readonly #group: string;

  constructor(parts: OwnTokensParts) {
    this.#parts = parts;
    this.#group = parts.token.group;
  }

  /** Begins or goes on; to be asked again until `ready`. The caller has proven that it was invited. Throws as carryInCluster. */
  async prepare(invited: Invited): Promise<JoiningState> {
    const { store, rotation } = this.#parts;
    store.refresh();
    if (this.#joiningOf(invited.appliance)?.transport !== invited.transport.id) {
      requireTypesOf(this.#parts.keys(), invited.transport.types, this.#parts.hsm);
      if (rotation.state(this.#group).state === 'rewrapping') return this.#shown('waiting');
      try {
        if (!(await this.#noteHolder(invited))) await rotation.begin(this.#group, invited);
      } catch (error) {
        if (error instanceof ServiceError && error.code === 'conflict') return this.#shown('waiting');
        throw error;
      }
    }
    return this.#progressOf(invited.appliance);
  }

  /** Throws `operation-refused` before that. */
  async requireReady(appliance: string): Promise<void> {
    this.#parts.store.refresh();
    const joining = this.#joiningOf(appliance);
    if (joining !== undefined && (await this.#progressOf(appliance)).state === 'ready') {
      // Those that came while the keys were carried; since then none of another type is made.
      requireTypesOf(this.#parts.keys(), joining.types, this.#parts.hsm);
      return;
    }
    throw fail('operation-refused', {
      detail: `The appliances of this cluster have a token each, with the same own keys, and that of the new one has not got them: its token is in the group "${this.#group}" under hsm/tokens, or it is the embedded one.`,
    });
  }

  /**
   * Begins a rotation, unless the token of the removed appliance has not got the wrapping key in use, as when the request is a repeated
   * one. Where it cannot begin, the log says why.
   */
  async rotateAfterRemoval(removed: string): Promise<'rotating' | 'rotated' | 'unchanged'> {
    const { store, rotation, log } = this.#parts;
    store.refresh();
    const inUse = wrappingTable(store).get([this.#group]);
    if (inUse?.holders?.includes(removed) === false) return inUse.phase === 'done' ? 'rotated' : 'rotating';
    try {
      await rotation.begin(this.#group);
      return 'rotating';
    } catch (error) {
      if (!(error instanceof ServiceError || error instanceof HsmError)) throw error;
      log.warn('the wrapping key is not rotated after a removal: rotate it when that is mended', { reason: reasonOf(error) });
      return 'unchanged';
    }
  }

  /** As rotateAfterRemoval, for an appliance that has not joined when its invitation is withdrawn: it is no longer waited for. */
  async rotateAfterWithdrawal(appliance: string): Promise<'rotating' | 'rotated' | 'unchanged'> {
    const { store } = this.#parts;
    await store.write((transaction) => transaction.delete(joiningTable(store), [appliance]));
    return this.rotateAfterRemoval(appliance);
  }

  /** That of the wrapping key in use: one of an earlier key came too late. */
  #joiningOf(appliance: string): JoiningMember | undefined {
    const { store } = this.#parts;
    const joining = joiningTable(store).get([appliance]);
    return joining?.number === wrappingTable(store).get([this.#group])?.number ? joining : undefined;
  }

  /** A token that already took the key in use, as one of an appliance interrupted while it joined, needs no other. */
  async #noteHolder({ appliance, name, transport }: Invited): Promise<boolean> {
    const { store } = this.#parts;
    const inUse = wrappingTable(store).get([this.#group]);
    if (inUse?.carrying === undefined) return false;
    const { number, carrying } = inUse;
    if (!transport.present.some((key) => isDeepStrictEqual({ ...key }, { number, carrying }))) return false;
    await store.write((transaction) => {
      const current = transaction.get(wrappingTable(store), [this.#group]);
      if (current?.number !== number || transaction.get(carryingTable(store), [this.#group]) !== undefined) throw fail('conflict');
      if (current.holders?.includes(appliance) === false)
        transaction.put(wrappingTable(store), [this.#group], { ...current, holders: [...current.holders, appliance] });
      transaction.put(joiningTable(store), [appliance], {
        ...{ name, transport: transport.id, types: transport.types, number, carrying },
        until: joiningUntil(this.#parts),
      });
    });
    return true;
  }

  /** Ready when the shared keys of the cluster are under the key: they are wrapped again after everything else. */
  async #progressOf(appliance: string): Promise<JoiningState> {
    const { store, hsm, cluster, clock } = this.#parts;
    const joining = this.#joiningOf(appliance);
    if (joining === undefined) return this.#shown('waiting');
    if (Temporal.Instant.compare(joining.until, clock.now().add({ seconds: renewedBelowSeconds })) < 0)
      await store.write((transaction) =>
        transaction.put(joiningTable(store), [appliance], { ...joining, until: joiningUntil(this.#parts) }),
      );
    const keys = await cluster.wrappedKeys();
    if (keys === undefined || wrappingNumberOf(hsm, keys) < joining.number) return this.#shown('rewrapping');
    const { number, carrying, sent } = joining;
    return { ...this.#shown('ready'), ...defined({ keys: sent && { number, carrying, ...sent } }) };
  }

  #shown(state: JoiningState['state']): JoiningState {
    const { done, total } = this.#parts.rotation.state(this.#group);
    return { state, done, total };
  }
}
