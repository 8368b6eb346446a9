// npm run bench -- scale: the same requests with 10 keys, with 100,000 keys and on a key with 10,000 versions; and how long a start takes.
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfiguration } from '../../appliance/composition/configuration.ts';
import { hsmConfigOf } from '../../appliance/state/hsm-config.ts';
import { openRuntime } from '../../appliance/state/runtime.ts';
import type { Log } from '../../core/base/context.ts';
import { type KeyRecord, type VersionRecord, openTables } from '../../plugins/transit/records/records.ts';
import { startDaemon, type Daemon } from '../harness/daemon.ts';
import { drive } from './load.ts';
import { median } from './median.ts';

const manyKeys = 100_000;
const manyVersions = 10_000;
const seconds = Number(process.env['BENCH_SECONDS'] ?? 1);
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 10);
/** One process may be a few percent quicker than another that does the same. */
const starts = 3;
const data = Buffer.alloc(64, 7).toString('base64');
const state = '/v1/state/keystore/transit-keys';

/** Appliances that run side by side. `same` is another one with 10 keys: what it differs by, this run cannot tell from nothing. */
const appliances = ['few', 'same', 'many'] as const;
type Appliance = (typeof appliances)[number];

/** One stream of requests. */
type Stream = { readonly name: string; readonly appliance: Appliance; readonly key: string; readonly verb: 'encrypt' | 'sign' };

const yardsticks: readonly Stream[] = [
  { name: '10 keys', appliance: 'few', key: 'aes', verb: 'encrypt' },
  { name: '10 keys', appliance: 'few', key: 'ec', verb: 'sign' },
];
const compared: readonly Stream[] = [
  { name: '10 keys, another appliance', appliance: 'same', key: 'aes', verb: 'encrypt' },
  { name: '10 keys, another appliance', appliance: 'same', key: 'ec', verb: 'sign' },
  { name: `${manyKeys} keys`, appliance: 'many', key: 'aes', verb: 'encrypt' },
  { name: `${manyKeys} keys`, appliance: 'many', key: 'ec', verb: 'sign' },
  { name: `the key has ${manyVersions} versions`, appliance: 'many', key: 'deep', verb: 'encrypt' },
];

/**
 * Runs the measurement and prints a table. All appliances are alive all the time; in every round each stream has its short turn, and
 * is compared with the yardstick of the same round, so that what else the machine does falls on all of them alike.
 */
export async function measureScale(): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'keystored-scale-'));
  const directoryOf = (appliance: Appliance): string => join(root, appliance);
  try {
    await makeFew(directoryOf('few'));
    for (const copy of ['same', 'many'] as const)
      cpSync(directoryOf('few'), directoryOf(copy), { recursive: true, preserveTimestamps: true });
    await fill(directoryOf('many'));
    const rates = new Map([...yardsticks, ...compared].map((stream) => [stream, [] as number[]]));
    const startMs: Record<Appliance, number[]> = { few: [], same: [], many: [] };
    for (let start = 0; start < starts; start += 1) {
      const daemons = new Map<Appliance, Daemon>();
      try {
        for (const appliance of appliances) daemons.set(appliance, await startUp(directoryOf(appliance), startMs[appliance]));
        await runRounds(daemons, rates, root);
      } finally {
        for (const daemon of daemons.values()) await daemon.stop();
      }
    }
    console.log(table(rates, startMs));
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

async function makeFew(directory: string): Promise<void> {
  const daemon = await startDaemon({ directory });
  const small = Array.from({ length: 8 }, (_, n) => [`small-${n}`, 'ecdsa-p256']);
  for (const [name, cipher] of [...small, ['aes', 'aes256-gcm96'], ['ec', 'ecdsa-p256']]) {
    await daemon.request('POST', '/v1/config/keystore/transit-keys', { name, cipher });
  }
  await daemon.stop();
}

async function startUp(directory: string, startMs: number[]): Promise<Daemon> {
  const started = performance.now();
  const daemon = await startDaemon({ directory });
  await daemon.request('POST', `${state}/ec/sign`, { text: data });
  startMs.push(performance.now() - started);
  return daemon;
}

/** The first round warms up and does not count; every other one goes the other way round. */
async function runRounds(daemons: ReadonlyMap<Appliance, Daemon>, rates: ReadonlyMap<Stream, number[]>, scratch: string): Promise<void> {
  for (let round = 0; round <= rounds; round += 1) {
    const streams = [...rates.keys()];
    for (const stream of round % 2 === 0 ? streams : streams.toReversed()) {
      const rate = await rateOf(daemons.get(stream.appliance) as Daemon, stream, scratch);
      if (round > 0) rates.get(stream)?.push(rate);
    }
  }
}

async function rateOf(daemon: Daemon, { key, verb }: Stream, scratch: string): Promise<number> {
  const path = `${state}/${key}/${verb}`;
  const body = JSON.stringify(verb === 'sign' ? { text: data } : { plaintext: data });
  const load = await drive({ url: `${daemon.url}${path}`, token: daemon.rootToken, body }, { seconds, connections: 4, directory: scratch });
  if (load.refused > 0) throw new Error(`${path}: ${load.refused} requests were refused`);
  return load.perSecond;
}

function table(rates: ReadonlyMap<Stream, readonly number[]>, startMs: Readonly<Record<Appliance, readonly number[]>>): string {
  const rows = [...rates].map(([stream, own]) => {
    const [, yardstick = []] = [...rates].find(([{ appliance, verb }]) => appliance === 'few' && verb === stream.verb) ?? [];
    const ratios = own.map((rate, round) => rate / (yardstick[round] ?? 0)).sort((a, b) => a - b);
    const quartile = (n: number): string => (ratios[Math.floor((ratios.length * n) / 4)] ?? 0).toFixed(3);
    const cells = [stream.name, stream.verb, median(own).toFixed(0), median(ratios).toFixed(3), `${quartile(1)} to ${quartile(3)}`];
    return `| ${[...cells, Math.min(...startMs[stream.appliance]).toFixed(0)].join(' | ')} |`;
  });
  return [
    `Medians of ${starts} starts with ${rounds} interleaved rounds of ${seconds} s each, 4 connections; ratios are to 10 keys in the same round.`,
    '',
    '| | action | requests/s | ratio | half of the ratios | start to first signature, ms |',
    '|---|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}

/** Copies records under new names, as many as wanted: the store holds what as many requests would have left, in seconds. */
async function fill(directory: string): Promise<void> {
  const configuration = loadConfiguration(['--data', directory]);
  const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => silent };
  const runtime = await openRuntime(configuration, await hsmConfigOf(configuration, () => undefined), silent);
  try {
    const store = runtime.store.prefixed('transit');
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
    const { stored } = await runtime.hsm.generate('aes-256', { tenant, keyId: id, version: manyVersions, purpose: 'encrypt' });
    await store.write((transaction) => {
      const version = transaction.get(tables.versions, [tenant, aes.id, 1]) as VersionRecord;
      for (let n = 1; n < manyVersions; n += 1) transaction.put(tables.versions, [tenant, id, n], version);
      transaction.put(tables.versions, [tenant, id, manyVersions], { ...version, stored });
      transaction.put(tables.keys, [tenant, 'deep'], { ...aes, id, latest: manyVersions });
    });
  } finally {
    await runtime.close();
  }
}
