// Trails of several appliances that share a store: their chains are told apart, and a trail that has disappeared is found in those of the others.
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { acknowledgedIn, acknowledgementOf, applianceOf, chainNames } from '../../../core/audit/chains.ts';
import { openChains } from '../../../core/audit/opening.ts';
import type { AuditRecord } from '../../../core/audit/record.ts';
import { openAuditTrail } from '../../../core/audit/trail.ts';
import { verifyTrails } from '../../../core/audit/verify.ts';
import { verifyTrail } from '../../harness/verify-trail.ts';
import { systemClock } from '../../../core/base/time.ts';
import type { Store } from '../../../core/store/store.ts';
import { lastSignedHeads, memoryIn, registerAppliance } from '../../../appliance/audit/chain-records.ts';
import { type ModelAppliance, ModelCluster } from '../../harness/model-cluster.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { makeSigner, quiet, record } from './trail.ts';

const temporary = temporaryDirectory();
const names = ['first', 'second', 'third'];
const signers = names.map(() => makeSigner());
const keys = new Map(signers.flatMap((signer) => [...signer.keys]));
const directoryOf = (name: string): string => temporary(`audit-${name}`);
const all = names.map((name) => directoryOf(name));
let cluster: ModelCluster;
let appliances: ModelAppliance[];

/** A start, some records, and a stop, as one worker and the provisioning before it do it. */
async function serve(
  { store, appliance }: ModelAppliance,
  records: readonly AuditRecord[] = [record(0), record(1), record(2)],
  { signs = true } = {},
): Promise<void> {
  const directory = directoryOf(appliance);
  const { signHead } = signers[names.indexOf(appliance)] as (typeof signers)[number];
  mkdirSync(directory, { recursive: true });
  store.refresh();
  await registerAppliance(store, directory, systemClock);
  const [memory, chains] = [memoryIn(store), chainNames(appliance)];
  const parts = { directory, memory, signHead, clock: systemClock, log: quiet };
  await openChains({ ...parts, chains: [chains.worker(1), chains.supervisor] });
  const { signHead: _, ...unsigned } = parts;
  const trail = await openAuditTrail({ ...(signs ? parts : unsigned), chain: chains.worker(1) });
  for (const one of records) await trail.write(one);
  await trail.close();
}

const problemsOf = async (directories: readonly string[]): Promise<string[]> =>
  (await verifyTrails(directories, keys, [])).findings.map(({ where, problem }) => `${where}: ${problem}`);

beforeAll(async () => {
  cluster = new ModelCluster();
  appliances = [];
  for (const name of names) appliances.push(await cluster.join(name, temporary(`store-${name}`)));
  for (const appliance of appliances) await serve(appliance);
  // The second round signs what all of them had in the first.
  for (const appliance of appliances) await serve(appliance);
});

afterAll(() => cluster.close());

test('no two appliances have a chain of one name, and each name says whose it is', () => {
  const chains = names.flatMap((name) => [chainNames(name).worker(1), chainNames(name).worker(12), chainNames(name).supervisor]);
  expect(new Set(chains).size).toBe(chains.length);
  for (const name of [...names, 'worker-1', 'a-supervisor', '0b5c-worker']) {
    expect([chainNames(name).worker(3), chainNames(name).supervisor].map(applianceOf)).toEqual([name, name]);
  }
  expect([chainNames(undefined).worker(3), chainNames(undefined).supervisor].map(applianceOf)).toEqual([undefined, undefined]);
});

test('all trails together have no findings, and every start found its own chains as it had left them', async () => {
  const { findings, chains, notes } = await verifyTrails(all, keys, []);
  expect(findings).toEqual([]);
  expect(chains.map(({ chain }) => chain).toSorted()).toEqual(['first-worker-1', 'second-worker-1', 'third-worker-1']);
  expect(new Set(notes.map(({ note }) => note['event']))).toEqual(new Set(['opened', 'started', 'stopped']));
});

test('a trail that has disappeared as a whole is found in those of the others', async () => {
  expect(await problemsOf([directoryOf('first'), directoryOf('third')])).toEqual([
    'appliance second: signed heads name its chains second-worker-1, and its trail is not here',
  ]);
  expect(await problemsOf([directoryOf('second')])).toHaveLength(2);
});

test('the end of a trail that its appliance has cut off is found in those of the others', async () => {
  const copy = temporary('cut');
  cpSync(directoryOf('first'), copy, { recursive: true });
  const before = temporary('before');
  const [first] = appliances as [ModelAppliance];
  rmSync(before, { recursive: true, force: true });
  cpSync(directoryOf('first'), before, { recursive: true });
  await serve(first);
  // The others sign what has come meanwhile; then the first one brings back its trail of before, heads and all.
  for (const appliance of appliances.slice(1)) await serve(appliance);
  expect(await problemsOf([before])).not.toContainEqual(expect.stringContaining('first-worker-1'));
  expect(await problemsOf([before, directoryOf('second'), directoryOf('third')])).toEqual([
    expect.stringMatching(/^chain first-worker-1: records? \d+( to \d+)? (is|are) missing at its end: a signed head names them$/),
  ]);
});

test('a chain in two directories is found', async () => {
  const copy = temporary('twice');
  cpSync(directoryOf('third'), copy, { recursive: true });
  expect(await problemsOf([...all, copy])).toEqual([expect.stringMatching(/^chain third-worker-1: is in .*twice.* too/)]);
});

test('an appliance that stood alone goes on with its chains in a cluster, and no other has them', async () => {
  const alone = new ModelCluster();
  const directory = temporary('audit-alone');
  const { signHead, keys: own } = makeSigner();
  try {
    const first = await alone.join('first', temporary('store-alone'));
    // What the appliance remembered before, when it had no name.
    const { store } = first;
    const nameless: Store = {
      ...{ appliance: undefined, state: undefined, level: 1 },
      table: (name) => store.table(name),
      tenantTable: (name) => store.tenantTable(name),
      write: (change) => store.write(change),
      refresh: () => store.refresh(),
    };
    const [names, memory] = [chainNames(undefined), memoryIn(nameless)];
    const parts = { directory, signHead, clock: systemClock, log: quiet };
    await openChains({ ...parts, memory, chains: [names.worker(1), names.supervisor] });
    const trail = await openAuditTrail({ ...parts, memory, chain: names.worker(1) });
    await trail.write(record(1));
    await trail.close();
    const second = await alone.join('second', temporary('store-alone-2'));
    await registerAppliance(second.store, temporary('audit-empty'), systemClock);
    await registerAppliance(first.store, directory, systemClock);
    first.store.refresh();
    second.store.refresh();
    expect([...memoryIn(first.store).recall().keys()]).toEqual(['supervisor', 'worker-1']);
    expect([...memoryIn(second.store).recall().keys()]).toEqual([]);
    expect(
      memoryIn(second.store)
        .recallOthers()
        .map(({ chain }) => chain),
    ).toEqual(['worker-1']);
    const chains = chainNames('first');
    await openChains({ ...parts, memory: memoryIn(first.store), chains: [chains.worker(1), chains.supervisor] });
    expect((await verifyTrail(directory, own)).findings).toEqual([]);
    rmSync(directory, { recursive: true });
    await openChains({ ...parts, memory: memoryIn(first.store), chains: [chains.worker(1), chains.supervisor] });
    expect((await verifyTrail(directory, own)).findings.map(({ problem }) => problem)).toContainEqual(
      expect.stringMatching(/^records 1 to \d+ of chain worker-1 had been cut off/),
    );
  } finally {
    await alone.close();
  }
});

test('the store of each appliance names the heads of all: kept elsewhere, they show what is missing in any trail', async () => {
  const [first, , third] = appliances as [ModelAppliance, ModelAppliance, ModelAppliance];
  for (const { store } of [first, third]) store.refresh();
  expect(lastSignedHeads(first.store)).toEqual(lastSignedHeads(third.store));
  const heads = lastSignedHeads(third.store);
  expect((await verifyTrails(all, keys, heads)).findings).toEqual([]);
  const without = (await verifyTrails([directoryOf('third')], keys, heads)).findings;
  expect(without.map(({ where }) => where)).toEqual(['appliance first', 'appliance second']);
});

test('a trail whose loss a person has acknowledged is not missed, once a signed head covers the record', async () => {
  const [first, , third] = appliances as [ModelAppliance, ModelAppliance, ModelAppliance];
  const chain = chainNames('second').worker(1);
  const requestParameters = acknowledgementOf({ appliance: 'second', chains: [chain] });
  const without = [directoryOf('first'), directoryOf('third')];
  const isMissed = [expect.stringMatching(/^appliance second: signed heads name its chains/)];
  await serve(first, [record(1, { requestParameters, status: 409 })]);
  expect(await problemsOf(without)).toEqual(isMissed);
  await serve(third, [record(1, { requestParameters })], { signs: false });
  expect(await problemsOf(without)).toEqual(isMissed);
  await serve(third);
  const { findings, lost } = await verifyTrails(without, keys, lastSignedHeads(first.store));
  expect(findings).toEqual([]);
  expect(lost).toEqual([{ appliance: 'second', chains: [chain], acknowledgedAt: record(1).occurredAt }]);
  expect(await problemsOf([directoryOf('first')])).toHaveLength(2);
});

test('an appliance does not acknowledge the loss of its own trail', () => {
  const trailed = { sequence: 1, previous: '', kind: 'request', 'occurred-at': '', hash: '', status: 200 };
  const parameters = { 'request-parameters': acknowledgementOf({ appliance: 'second', chains: ['second-worker-1'] }) };
  expect(acknowledgedIn({ ...trailed, ...parameters, chain: 'first-worker-1' })).toEqual({
    appliance: 'second',
    chains: ['second-worker-1'],
  });
  expect(acknowledgedIn({ ...trailed, ...parameters, chain: 'second-worker-1' })).toBeUndefined();
  const { status: _, ...unanswered } = { ...trailed, ...parameters, chain: 'first-worker-1' };
  expect(acknowledgedIn(unanswered)).toBeUndefined();
});
