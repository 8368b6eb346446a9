// A cluster with a token in each appliance: the next own keys are made in one token, and every other takes them before anything is wrapped
// under them. Each step is a record of the shared store: after an interruption at any line the carrying is withdrawn, and the keys in use
// stay.
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Clock, Job, Log } from '../../../core/base/context.ts';
import { fail } from '../../../core/base/errors.ts';
import { formatTimestamp } from '../../../core/base/time.ts';
import { clusterUnavailable } from '../../../core/base/unavailable.ts';
import type { OpenStore } from '../../../core/store/open.ts';
import type { OwnKeyName, TokenConfig } from '../../../hsm/api.ts';
import { giveOwnKeys, type Transport } from '../../../hsm/setup/setup.ts';
import type { ClusterState, ClusterWay } from '../cluster-way.ts';
import { type Carrying, type CarryingPart, carryingTable, endCarrying, joiningTable, partTable, requireSame } from './transfer-records.ts';
import type { Carried, Invited } from '../../wrapping-keys/rotation.ts';

export type CarryingParts = {
  readonly store: OpenStore;
  readonly cluster: ClusterWay;
  readonly clock: Clock;
  readonly log: Log;
  /** that of this appliance, in a group, as it was opened */
  readonly token: TokenConfig & { readonly group: string };
};

/** Limit of the appliances for each of the two steps. */
const stepMs = 20_000;
const lookEveryMs = 100;
/** Limit of the silence of a joining member, after which it is no longer waited for. */
const joiningSeconds = 600;

/**
 * Carries the keys after those in use into the token of every appliance, and of an appliance that was invited. Nothing uses them before
 * `settle` is committed with the record of the rotation. Throws `operation-refused` when an appliance is away or does not do its part,
 * `conflict` during another carrying, and `cluster-unavailable`. Rejects with HsmError when this token cannot give.
 */
export async function carryInCluster(parts: CarryingParts, inUse: OwnKeyName, invited?: Invited): Promise<Carried> {
  const { store, cluster, token } = parts;
  const { group } = token;
  const state = await cluster.state().catch((cause: unknown) => {
    throw clusterUnavailable('unchanged', cause);
  });
  const receivers = requireAllIn(state, invited);
  const id = randomUUID();
  await store.write((transaction) => {
    requireNoOtherJoining(parts, Array.from(transaction.allEntries(joiningTable(store), [])), state, invited);
    if (transaction.get(carryingTable(store), [group]) !== undefined) {
      throw fail('conflict', {
        detail: 'The next wrapping key is being carried to the appliances already: one that was cut off is withdrawn within a minute.',
      });
    }
    transaction.put(carryingTable(store), [group], { id, receivers });
  });
  try {
    const opened = await allParts(parts, { id, receivers }, 'made no transport key in its token', ({ transport }) => transport);
    const transports = [...opened, ...(invited === undefined ? [] : [invited.transport])];
    requireGiver(opened[receivers.findIndex((one) => one.id === state.id)], inUse);
    const numbers = transports.flatMap(({ present }) => present.map(({ number }) => number));
    const given = await giveOwnKeys(token, Math.max(inUse.number, ...numbers) + 1, transports);
    await store.write((transaction) => {
      transaction.put(carryingTable(store), [group], {
        ...requireSame(transaction, store, group, id),
        gift: { ...given, parcels: given.parcels.slice(0, receivers.length) },
      });
    });
    await allParts(parts, { id, receivers }, 'did not take the next wrapping key', ({ hasTaken }) => hasTaken);
    const { number, carrying, marks } = given;
    const holders = receivers.map((one) => one.id).concat(invited?.appliance ?? []);
    return {
      ...{ number, carrying, holders },
      settle(transaction) {
        requireSame(transaction, store, group, id);
        endCarrying(transaction, store, group, id);
        // Only the one that was invited now has the key.
        for (const key of Array.from(transaction.keys(joiningTable(store), []))) transaction.delete(joiningTable(store), key);
        const wrapped = given.parcels.at(-1);
        if (invited === undefined || wrapped === undefined) return;
        transaction.put(joiningTable(store), [invited.appliance], {
          ...{
            name: invited.name,
            transport: invited.transport.id,
            number,
            carrying,
            types: invited.transport.types,
            sent: { marks, parcel: wrapped },
          },
          until: joiningUntil(parts),
        });
      },
    };
  } catch (error) {
    await store.write((transaction) => endCarrying(transaction, store, group, id)).catch(() => undefined);
    throw error;
  }
}

/** Until when a joining member that was heard of now is waited for. */
export function joiningUntil({ clock }: Pick<CarryingParts, 'clock'>): string {
  return formatTimestamp(clock.now().add({ seconds: joiningSeconds }));
}

/** One that is away would come back without the key that everything is wrapped under by then; not one whose place the invited one takes. */
function requireAllIn({ members }: ClusterState, invited: Invited | undefined): Carrying['receivers'] {
  const staying = members.filter(({ name, state }) => state !== 'removed' && !(state === 'out' && name === invited?.name));
  const away = staying.filter(({ state }) => state !== 'in').map(({ name }) => `"${name}"`);
  if (away.length === 0) return staying.map(({ id, name }) => ({ id, name }));
  throw fail('operation-refused', {
    detail: `The next wrapping key goes to the token of every appliance, and ${away.join(' and ')} ${away.length === 1 ? 'is' : 'are'} away: start it, or remove it from the cluster, first.`,
  });
}

function requireNoOtherJoining(
  { clock }: CarryingParts,
  joining: readonly (readonly [readonly (string | number)[], { readonly name: string; readonly until: string }])[],
  { members }: ClusterState,
  invited: Invited | undefined,
): void {
  for (const [[appliance], { name, until }] of joining) {
    const isOver = Temporal.Instant.compare(until, clock.now()) <= 0;
    // One that came in joins no longer; another one takes the place of its name.
    if (isOver || name === invited?.name || members.some(({ id }) => id === appliance)) continue;
    throw fail('conflict', {
      detail: `"${name}" has got the wrapping key in use and is about to join: the next one is made when it is in, or was not heard of for ${joiningSeconds / 60} minutes.`,
    });
  }
}

function requireGiver(own: Transport | undefined, inUse: OwnKeyName): void {
  const has = own?.present.some(({ number, carrying }) => number === inUse.number && carrying === inUse.carrying);
  if (has === true) return;
  throw fail('operation-refused', {
    detail: `The token of this appliance does not have wrapping key ${inUse.number}, which is in use: ask another appliance.`,
  });
}

/** Waits until every receiver has done a step. */
async function allParts<T>(
  { store, token: { group } }: CarryingParts,
  { id, receivers }: Pick<Carrying, 'id' | 'receivers'>,
  failure: string,
  read: (part: CarryingPart) => T | undefined,
): Promise<T[]> {
  for (const deadlineMs = performance.now() + stepMs; ; await setTimeout(lookEveryMs)) {
    store.refresh();
    if (carryingTable(store).get([group])?.id !== id)
      throw fail('conflict', { detail: 'The carrying was withdrawn meanwhile; try again.' });
    const seen = receivers.map((receiver) => ({ receiver, part: partTable(store).get([id, receiver.id]) }));
    const refusing = seen.find(({ part }) => part?.problem !== undefined);
    if (refusing !== undefined) throw undone(refusing.receiver.name, failure, `: ${refusing.part?.problem}`);
    const done = seen.flatMap(({ part }) => (part === undefined ? [] : (read(part) ?? [])));
    if (done.length === receivers.length) return done;
    if (performance.now() > deadlineMs) {
      const silent = seen.find(({ part }) => part === undefined || read(part) === undefined);
      throw undone(silent?.receiver.name ?? '', failure, ' in time: is it sealed?');
    }
  }
}

function undone(name: string, failure: string, reason: string) {
  return fail('operation-refused', { detail: `"${name}" ${failure}${reason} Nothing was changed that is used.` });
}

const withdrawAfterMs = 60_000;

/** Withdraws a carrying whose appliance has ended in the middle of it. */
export function withdrawalJob({ store, token: { group }, log }: Pick<CarryingParts, 'store' | 'token' | 'log'>): Job {
  let seen: { readonly id: string; readonly atMs: number } | undefined;
  return {
    name: 'carrying-withdrawal',
    everySeconds: 5,
    whileClockInDoubt: true,
    async run() {
      store.refresh();
      const id = carryingTable(store).get([group])?.id;
      if (id === undefined || seen?.id !== id) seen = id === undefined ? undefined : { id, atMs: performance.now() };
      if (seen === undefined || performance.now() - seen.atMs < withdrawAfterMs) return;
      await store.write((transaction) => endCarrying(transaction, store, group, seen?.id ?? ''));
      log.warn('the carrying of the next wrapping key was cut off and is withdrawn: the one in use stays', { group });
    },
  };
}
