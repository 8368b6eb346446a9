// npm run bench -- scale: the same requests with 10 keys, with 100,000 keys and on a key with 10,000 versions; and how long a start takes.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfiguration } from '../../appliance/configuration.ts';
import { hsmConfigOf, openHouse } from '../../appliance/house.ts';
import type { Log } from '../../core/context.ts';
import { type KeyRecord, type VersionRecord, openTables } from '../../plugins/transit/records.ts';
import { startDaemon, type Daemon } from '../setup/daemon.ts';
import { drive } from './load.ts';

const manyKeys = 100_000;
const manyVersions = 10_000;
const seconds = Number(process.env['BENCH_SECONDS'] ?? 3);
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 3);
const data = Buffer.alloc(64, 7).toString('base64');
const state = '/v1/state/keystore/transit-keys';

type Rates = { readonly encrypt: number; readonly sign: number };

/** Runs the measurement and prints a table. */
export async function measureScale(): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'keystored-scale-'));
  const directory = join(root, 'data');
  try {
    const first = await startDaemon({ directory });
    for (const [name, cipher] of [
      ...Array.from({ length: 8 }, (_, n) => [`small-${n}`, 'ecdsa-p256']),
      ['aes', 'aes256-gcm96'],
      ['ec', 'ecdsa-p256'],
    ])
      await first.request('POST', '/v1/config/keystore/transit-keys', { name, cipher });
    await first.stop();
    const few = await measureStart(directory, root, 'aes');
    await fill(directory);
    const many = await measureStart(directory, root, 'aes');
    const deep = await measureStart(directory, root, 'deep');
    console.log(`| | start to first signature, ms | encrypt/s | sign/s |\n|---|---|---|---|`);
    const row = (name: string, { startMs, rates }: Measured): void =>
      console.log(
        `| ${name} | ${startMs.toFixed(0)} | ${rates.encrypt.toFixed(0)} (${(rates.encrypt / few.rates.encrypt).toFixed(3)}) | ${rates.sign.toFixed(0)} (${(rates.sign / few.rates.sign).toFixed(3)}) |`,
      );
    row('10 keys', few);
    row(`${manyKeys} keys`, many);
    row(`the key has ${manyVersions} versions`, deep);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

type Measured = { readonly startMs: number; readonly rates: Rates };

async function measureStart(directory: string, scratch: string, aes: string): Promise<Measured> {
  const started = performance.now();
  const daemon = await startDaemon({ directory });
  try {
    await daemon.request('POST', `${state}/ec/sign`, { text: data });
    const startMs = performance.now() - started;
    const encrypt = await bestRate(daemon, scratch, `${state}/${aes}/encrypt`, { plaintext: data });
    const sign = await bestRate(daemon, scratch, `${state}/ec/sign`, { text: data });
    return { startMs, rates: { encrypt, sign } };
  } finally {
    await daemon.stop();
  }
}

async function bestRate(daemon: Daemon, scratch: string, path: string, body: object): Promise<number> {
  let best = 0;
  for (let round = 0; round < rounds; round += 1) {
    const target = { url: `${daemon.url}${path}`, token: daemon.rootToken, body: JSON.stringify(body) };
    const load = await drive(target, { seconds, connections: 4, directory: scratch });
    if (load.refused > 0) throw new Error(`${path}: ${load.refused} requests were refused`);
    best = Math.max(best, load.perSecond);
  }
  return best;
}

/** Copies records under new names, as many as wanted: the store holds what as many requests would have left, in seconds. */
async function fill(directory: string): Promise<void> {
  const configuration = loadConfiguration(['--data', directory]);
  const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => silent };
  const house = await openHouse(configuration, await hsmConfigOf(configuration, () => undefined), silent);
  try {
    const store = house.store.prefixed('transit');
    const tables = openTables(store);
    store.refresh();
    const small = [...tables.keys.entries([])].filter(([key]) => String(key[1]).startsWith('small-'));
    for (let made = 0; made < manyKeys; made += 5_000) {
      await store.write((transaction) => {
        for (let n = made; n < made + 5_000; n += 1) {
          const [[tenant], record] = small[n % small.length] as (typeof small)[number];
          const id = `${record.id}-${n}`;
          const version = transaction.get(tables.versions, [tenant as string, record.id, 1]) as VersionRecord;
          transaction.put(tables.keys, [tenant as string, `many-${n}`], { ...record, id });
          transaction.put(tables.versions, [tenant as string, id, 1], version);
        }
      });
    }
    // The newest version is a real one, bound to its number; those before it are copies of the first of another key.
    const tenant = String((small[0] as (typeof small)[number])[0][0]);
    const aes = tables.keys.get([tenant, 'aes']) as KeyRecord;
    const id = `${aes.id}-deep`;
    const { stored } = await house.hsm.generate('aes-256', { tenant, keyId: id, version: manyVersions, purpose: 'encrypt' });
    await store.write((transaction) => {
      const version = transaction.get(tables.versions, [tenant, aes.id, 1]) as VersionRecord;
      for (let n = 1; n < manyVersions; n += 1) transaction.put(tables.versions, [tenant, id, n], version);
      transaction.put(tables.versions, [tenant, id, manyVersions], { ...version, stored });
      transaction.put(tables.keys, [tenant, 'deep'], { ...aes, id, latest: manyVersions });
    });
  } finally {
    await house.close();
  }
}
