// Changes records past keystored, as a fault of a disk or a person with a copy does: they do not open any longer.
import { Environment } from '../../core/store/environment.ts';
import { decodeKey, endOf, keyBytes } from '../../core/store/keys.ts';
import { noteChanges } from '../../core/store/revision.ts';
import type { TestAppliance } from './appliance.ts';

/** Changes an octet of each record that is picked from the texts of all keys. */
export async function damageRecords(
  { directory, store }: Pick<TestAppliance, 'directory' | 'store'>,
  pick: (texts: readonly string[]) => Iterable<string>,
): Promise<void> {
  const raw = new Environment(`${directory}/store`, () => undefined);
  const texts = raw.keys({ low: Buffer.alloc(0), high: endOf('\u007f') }, 100_000, false).map((key) => key.toString('utf8'));
  const picked = new Set(pick(texts.filter((text) => /^[a-z]/.test(text))));
  await raw.commit(() => {
    for (const text of picked) {
      const value = Uint8Array.from(raw.get(keyBytes(text)) ?? []);
      value[value.length - 1] = (value.at(-1) ?? 0) ^ 1;
      raw.put(keyBytes(text), value);
    }
    noteChanges(raw, picked);
  });
  await raw.close();
  store.refresh();
}

/** Damages all records of a table; throws where there are none. */
export async function damageTable(appliance: Pick<TestAppliance, 'directory' | 'store'>, table: string): Promise<void> {
  await damageRecords(appliance, (texts) => {
    const all = texts.filter((text) => decodeKey(text).table === table);
    if (all.length === 0) throw new Error(`there is no record of ${table}`);
    return all;
  });
}
