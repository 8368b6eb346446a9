// Where the time of a key drawn at random goes: the steps of its use one after another in one process, without TLS, HTTP and audit trail.
import type { Parts } from '../../../appliance/docs/performance/figures.ts';
import { systemClock } from '../../../core/base/time.ts';
import { microseconds } from '../../../plugins/transit/instants.ts';
import { type Key, Keyring, referenceTo, type Version } from '../../../plugins/transit/records/keyring.ts';
import { openTables } from '../../../plugins/transit/records/records.ts';
import { UsageMeters } from '../../../plugins/transit/records/usage.ts';
import { silentLog } from '../../harness/log.ts';
import { manyKeysName, type Opened, withStore } from '../measure/many-keys.ts';
import { processorMicros, processTree } from '../measure/processes.ts';
import { formatTable } from '../measure/rounds.ts';

export type KeyStep = Parts['keys']['steps'][number];

/** So many are under way together, as with as many connections. */
const together = 64;
/** Uses of a step, where keys are drawn; a multiple of `together`. */
const draws = 19_200;
const octets = Buffer.alloc(64, 7);
/** Fewer tell nothing: the kernel counts the token process's time in hundredths of a second. */
const leastUses = 1_000;
const leastLoaded = 100;
/** For the row of keys that do not fit: so many times as many as are loaded. */
const overfull = 8;

/** A key as a request finds it. */
type Found = { readonly key: Key; readonly version: Version };

/** Of the first `counts` keys that `addKeys` has made, processor time of each step. The appliance must not run. */
export async function measureKeySteps(directory: string, counts: readonly number[]): Promise<readonly KeyStep[]> {
  const rows: KeyStep[] = [];
  // A process for each: its caches begin empty.
  for (const keys of counts) {
    const cacheKeys = Math.max(leastLoaded, 2 * keys);
    await withStore(directory, { cacheKeys }, async (opened) => {
      rows.push(...(await stepsOf(opened, keys)).filter(({ uses }) => uses >= leastUses));
    });
  }
  const last = Math.max(...counts);
  await withStore(directory, { cacheKeys: Math.ceil(last / overfull) }, async (opened) => void rows.push(await replacing(opened, last)));
  return rows;
}

async function stepsOf(opened: Opened, keys: number): Promise<readonly KeyStep[]> {
  const { find, use, step } = stepsIn(opened, keys);
  const usage = new UsageMeters(opened.store, openTables(opened.store), silentLog);
  const take = (n: number): Promise<void> | undefined => {
    const { key, version } = find(n);
    return usage.take(key, version, 1, microseconds(systemClock.now()));
  };
  const draw = (): number => Math.floor(Math.random() * keys);
  // Of versions, as many as a flush stores.
  const metered = Math.min(keys, 2_500);
  const spread = (n: number): number => Math.floor((n % metered) * (keys / metered));
  for (let n = 0; n < draws; n += together) await Promise.all(Array.from({ length: together }, () => use(0)));
  return [
    await step('records of a key opened', keys, (n) => void find(n)),
    await step('records of a key read again', draws, () => void find(draw())),
    await step('first uses reserved', metered, (n) => take(spread(n))),
    await step('use counted', draws, (n) => take(spread(n))),
    await step('counts stored later', metered, (n) => (n === 0 ? usage.flush() : undefined)),
    await step('key loaded and used', keys, use),
    await step('loaded key used', draws, () => use(draw())),
  ];
}

async function replacing(opened: Opened, keys: number): Promise<KeyStep> {
  const { use, step } = stepsIn(opened, keys);
  for (let n = 0; n < keys / overfull; n += together) await Promise.all(Array.from({ length: together }, (_, at) => use(n + at)));
  return step('key used in the place of another', draws, () => use(Math.floor(Math.random() * keys)));
}

function stepsIn({ store, hsm }: Opened, keys: number) {
  const tables = openTables(store);
  const keyring = new Keyring(tables);
  const token = processTree(process.pid).flatMap(({ pid }) => (pid === process.pid ? [] : [pid]));
  store.refresh();
  const tenant = String([...tables.keys.keys([], { limit: 1 })][0]?.[0]);
  const find = (n: number): Found => {
    const key = keyring.find(tenant, manyKeysName.replace('{n}', String(n % keys)));
    if (key === undefined) throw new Error(`there is no key ${n % keys}`);
    return { key, version: keyring.forEncryption(key, undefined, microseconds(systemClock.now())) };
  };
  const use = (n: number): Promise<Uint8Array> => {
    const { key, version } = find(n);
    return hsm.use({ use: 'encrypt', key: referenceTo(key, version, 'encrypt'), octets });
  };
  const step = async (name: string, uses: number, run: (n: number) => Promise<unknown> | undefined): Promise<KeyStep> => {
    const [before, tokenBefore] = [process.cpuUsage(), processorMicros(token)];
    for (let n = 0; n < uses; n += together) {
      store.refresh();
      const waits: Promise<unknown>[] = [];
      for (let at = n; at < Math.min(n + together, uses); at += 1) {
        const done = run(at);
        if (done !== undefined) waits.push(done);
      }
      await Promise.all(waits);
    }
    const { user, system } = process.cpuUsage(before);
    return { keys, step: name, uses, micros: (user + system) / uses, tokenMicros: (processorMicros(token) - tokenBefore) / uses };
  };
  return { find, use, step };
}

/** A row for each step, a column for each number of keys. */
export function formatKeySteps(rows: readonly KeyStep[]): readonly string[] {
  const counts = [...new Set(rows.map(({ keys }) => keys))];
  const steps = [...new Set(rows.map(({ step }) => step))];
  const cell = (step: string, keys: number): string => {
    const row = rows.find((one) => one.step === step && one.keys === keys);
    return row === undefined ? '' : `${row.micros.toFixed(1)} + ${row.tokenMicros.toFixed(1)}`;
  };
  return formatTable(
    ['µs in the worker + in the token process', ...counts.map((keys) => `${keys} keys`)],
    steps.map((step) => [step, ...counts.map((keys) => cell(step, keys))]),
  );
}
