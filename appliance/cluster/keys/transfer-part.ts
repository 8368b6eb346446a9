// Jobs of each appliance of a cluster with a token in each: its part of a key transfer, and the removal of old wrapping keys from its
// token.
import type { Job } from '../../../core/base/context.ts';
import type { Store } from '../../../core/store/store.ts';
import { type Hsm, HsmError } from '../../../hsm/api.ts';
import { closeTransport, openTransport, takeOwnKeys } from '../../../hsm/setup/setup.ts';
import { readStoreKey } from '../../data-directory/store-key.ts';
import { type CarryingPart, carryingTable, partTable } from './transfer-records.ts';
import type { CarryingParts } from './key-transfer.ts';
import { wrappingTable } from '../../wrapping-keys/record.ts';

/** Makes a transport key, and takes the keys that were wrapped for it. Killed at any line, it goes on or begins again. */
export function carryingPartJob({ store, cluster, token }: CarryingParts): Job {
  const own = cluster.appliance;
  const { group } = token;
  /** of a carrying before the start, too */
  let mayHaveTransport = true;
  return {
    name: 'carrying-part',
    everySeconds: 0.5,
    whileClockInDoubt: true,
    isOfEach: true,
    async run() {
      store.refresh();
      const carrying = carryingTable(store).get([group]);
      if (carrying === undefined) {
        if (mayHaveTransport) await closeTransport(token);
        mayHaveTransport = false;
        return;
      }
      const { id, receivers, gift: given } = carrying;
      const place = receivers.findIndex((one) => one.id === own);
      const part = partTable(store).get([id, own]);
      if (place < 0 || part?.problem !== undefined || part?.hasTaken === true) return;
      const { transport } = part ?? {};
      if (transport === undefined) {
        mayHaveTransport = true;
        await note(store, group, [id, own], async () => ({ transport: await openTransport(token) }));
      } else if (given !== undefined) {
        await note(store, group, [id, own], async () => {
          await takeOwnKeys(token, transport, given, place);
          return { transport, hasTaken: true };
        });
      }
    },
  };
}

async function note(store: Store, group: string, [id, own]: readonly [string, string], work: () => Promise<CarryingPart>): Promise<void> {
  const part = await work().catch((error: unknown): CarryingPart => {
    if (!(error instanceof HsmError)) throw error;
    return { problem: error.message };
  });
  await store.write((transaction) => {
    // Withdrawn meanwhile, it needs no part; the next run destroys the transport key.
    if (transaction.get(carryingTable(store), [group])?.id === id) transaction.put(partTable(store), [id, own], part);
  });
}

type EndParts = Pick<CarryingParts, 'store' | 'token'> & { readonly hsm: Hsm; readonly settleMs: number; readonly directory: string };

/** Destroys in the own token the wrapping keys that a rotation, which has ended everywhere, has left there. */
export function oldKeysJob({ store, token: { group }, hsm, settleMs, directory }: EndParts): Job {
  let seen: { readonly number: number; readonly atMs: number } | undefined;
  return {
    name: 'old-wrapping-keys',
    everySeconds: 5,
    whileClockInDoubt: true,
    isOfEach: true,
    async run() {
      store.refresh();
      const record = wrappingTable(store).get([group]);
      if (record === undefined || record.phase !== 'done' || record.failed > 0) {
        seen = undefined;
        return;
      }
      const { number } = record;
      if (seen?.number !== number) seen = { number, atMs: performance.now() };
      // A request that has just read a record must have opened its keys, and the copy of the key of the store is under the new one.
      const isKept = (hsm.wrappingKeys.numberOf(readStoreKey(directory).stored) ?? 0) >= number;
      if (!isKept || performance.now() - seen.atMs < settleMs) return;
      for (const old of (await hsm.wrappingKeys.list(group)).filter((one) => one < number)) await hsm.wrappingKeys.destroy(group, old);
    },
  };
}
