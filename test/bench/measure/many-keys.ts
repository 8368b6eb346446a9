// Fills the store of a stopped appliance with keys, without a request for each: as many requests would take an hour.
import { availableParallelism } from 'node:os';
import { loadConfiguration } from '../../../appliance/configuration.ts';
import { hsmConfigOf } from '../../../appliance/tokens/hsm-config.ts';
import { openRuntime } from '../../../appliance/runtime.ts';
import type { Store } from '../../../core/store/store.ts';
import type { Hsm, HsmConfig } from '../../../hsm/api.ts';
import { openHsm } from '../../../hsm/client/open.ts';
import { bindingOf, type KeyRecord, openTables, type VersionRecord } from '../../../plugins/transit/records/records.ts';
import { silentLog } from '../../harness/log.ts';

/** Keys made and committed together. */
const pieceKeys = 2_000;

/** Names of the keys that `addKeys` makes, with `{n}` for their number. */
export const manyKeysName = 'many-{n}';

/**
 * Adds so many AES-256 keys like the one named `model`. Each has a secret of its own in its own binding, so that it is loaded and used as
 * any other; the secret for its HMACs is left out, because that of the model is bound to the model. `args` are those of its starts.
 */
export async function addKeys(
  directory: string,
  count: number,
  { model = 'aes', args = [] }: { readonly model?: string; readonly args?: readonly string[] } = {},
): Promise<void> {
  await withStore(directory, { args }, async ({ store, hsm, hsmConfig }) => {
    // Making keys keeps a token process busy: one for each core.
    const others = await Promise.all(Array.from({ length: availableParallelism() - 1 }, () => openHsm(hsmConfig)));
    const hsms = [hsm, ...others];
    try {
      const tables = openTables(store);
      store.refresh();
      const [tenant, record, version] = findKey(tables, model);
      const make = async (from: number, to: number, by: Hsm): Promise<void> => {
        const numbers = Array.from({ length: to - from }, (_, n) => from + n);
        const made = await Promise.all(
          numbers.map(async (n) => {
            const id = `${record.id}-${n}`;
            return { id, n, stored: (await by.generate('aes-256', bindingOf(tenant, id, 1, 'encrypt'))).stored };
          }),
        );
        await store.write((transaction) => {
          for (const { id, n, stored } of made) {
            const { hmac: _ofTheModel, ...rest } = version;
            transaction.put(tables.keys, [tenant, manyKeysName.replace('{n}', String(n))], { ...record, id });
            transaction.put(tables.versions, [tenant, id, 1], { ...rest, stored });
          }
        });
      };
      let next = 0;
      const loop = async (by: Hsm): Promise<void> => {
        while (next < count) {
          const from = next;
          next = Math.min(count, from + pieceKeys);
          await make(from, next, by);
        }
      };
      await Promise.all(hsms.map(loop));
    } finally {
      await Promise.all(others.map((one) => one.close()));
    }
  });
}

/** Adds a key like `model` that has so many versions: the newest is a real one, the others are copies that are never used. */
export async function addDeepKey(directory: string, name: string, versions: number, model = 'aes'): Promise<void> {
  await withStore(directory, {}, async ({ store, hsm }) => {
    const tables = openTables(store);
    store.refresh();
    const [tenant, record, version] = findKey(tables, model);
    const id = `${record.id}-${name}`;
    const { stored } = await hsm.generate('aes-256', bindingOf(tenant, id, versions, 'encrypt'));
    await store.write((transaction) => {
      for (let n = 1; n < versions; n += 1) transaction.put(tables.versions, [tenant, id, n], version);
      transaction.put(tables.versions, [tenant, id, versions], { ...version, stored });
      transaction.put(tables.keys, [tenant, name], { ...record, id, latest: versions });
    });
  });
}

function findKey(tables: ReturnType<typeof openTables>, name: string): readonly [tenant: string, KeyRecord, VersionRecord] {
  for (const [[tenant, found], record] of tables.keys.entries([])) {
    const version = found === name ? tables.versions.get([String(tenant), record.id, 1]) : undefined;
    if (version !== undefined) return [String(tenant), record, version];
  }
  throw new Error(`there is no key ${name}`);
}

/** Store and token of an appliance that does not run. */
export type Opened = { readonly hsm: Hsm; readonly hsmConfig: HsmConfig; readonly store: Store };

/** What is made is used by another process. */
const cachedWhenMade = 100;

type Opening = { readonly args?: readonly string[]; readonly cacheKeys?: number };

/** Opens both as a worker does, with so many keys loaded at most. */
export async function withStore(
  directory: string,
  { args = [], cacheKeys = cachedWhenMade }: Opening,
  work: (opened: Opened) => Promise<void>,
): Promise<void> {
  const configuration = loadConfiguration(['--data', directory, ...args]);
  const hsmConfig = { ...(await hsmConfigOf(configuration, () => undefined)), cacheKeys };
  const runtime = await openRuntime(configuration, hsmConfig, silentLog);
  try {
    await work({ store: runtime.store.prefixed('transit'), hsm: runtime.hsm, hsmConfig });
  } finally {
    await runtime.close();
  }
}
