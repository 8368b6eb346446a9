// Which appliances hold a version of a key: each says so itself, after its own token has opened it, and one that cannot is not counted.
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Hsm } from '../../../../hsm/api.ts';
import { openHsm } from '../../../../hsm/client/open.ts';
import { distributionJobs, type DistributionParts, findHoldings, type Found } from '../../../../plugins/transit/distribution/holdings.ts';
import { type Key, Keyring } from '../../../../plugins/transit/records/keyring.ts';
import { bindingOf, type KeyRecord, openTables } from '../../../../plugins/transit/records/records.ts';
import { type ModelAppliance, ModelCluster } from '../../../harness/model-cluster.ts';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { makeSoftToken, testHsmConfig } from '../../../harness/token/softhsm.ts';

const temporary = temporaryDirectory();
const { signal } = new AbortController();
const names = ['one', 'two', 'other-hsm', 'out'] as const;
const cluster = new ModelCluster();
const appliances = new Map<string, ModelAppliance>();
let hsm: Hsm;
/** another token, with keys of its own under the same name */
let otherHsm: Hsm;
let key: Key;

function partsOf(name: string): DistributionParts {
  const store = (appliances.get(name) as ModelAppliance).store.prefixed('transit');
  const tables = openTables(store);
  return {
    ...{ store, tables, keyring: new Keyring(tables), hsm: name === 'other-hsm' ? otherHsm : hsm },
    appliances: { list: async () => names.map((id) => ({ id, name: id, isIn: id !== 'out' })) },
  };
}

const stateOf = ({ holding }: Found): string => (typeof holding === 'string' ? holding : holding.isHeld ? 'holds' : 'lacks');
const questions = (): number => {
  const { store, tables } = partsOf('one');
  store.refresh();
  return tables.distributionQuestions.count([]) + tables.distributionAnswers.count([]);
};

/** Asks appliance `one`; the others run their job until it has its answer. */
async function ask(version: number, answering: readonly string[]): Promise<readonly Found[]> {
  const asking = new AbortController();
  const found = findHoldings(partsOf('one'), key, partsOf('one').keyring.version(key, version)).finally(() => asking.abort());
  const jobs = answering.flatMap((name) => distributionJobs(partsOf(name)));
  for (; !asking.signal.aborted; await setImmediate()) for (const job of jobs) await job.run(signal);
  return found;
}

beforeAll(async () => {
  const [token, other] = [await makeSoftToken(temporary('token')), await makeSoftToken(temporary('other'), 'other')];
  [hsm, otherHsm] = [await openHsm(testHsmConfig(token)), await openHsm(testHsmConfig({ ...other, name: token.name }))];
  for (const name of names) appliances.set(name, await cluster.join(name, temporary(name)));
  const record = { id: 'key-id', cipher: 'aes256-gcm96', derived: false, floor: 1, latest: 2 } as unknown as KeyRecord;
  key = { tenantId: 'tenant', name: 'orders', record };
  const binding = bindingOf('tenant', 'key-id', 1, 'encrypt');
  const { stored } = await hsm.generate('aes-256', binding, { custody: 'wrapped' });
  const { store, tables } = partsOf('one');
  await store.write((transaction) => {
    transaction.put(tables.keys, ['tenant', 'orders'], record);
    transaction.put(tables.versions, ['tenant', 'key-id', 1], { createdAt: 1, activatesAt: 1, stored });
    transaction.put(tables.versions, ['tenant', 'key-id', 2], { createdAt: 1, activatesAt: 1 });
  });
});
afterAll(async () => {
  await cluster.close();
  await Promise.all([hsm.close(), otherHsm.close()]);
});

test('each says which token has opened it; a token that does not open it, and an appliance that is out, do not hold it', async () => {
  const found = await ask(1, ['two', 'other-hsm']);
  expect(found.map((one) => [one.appliance?.name, one.isSelf, stateOf(one)])).toEqual([
    ['one', true, 'holds'],
    ['two', false, 'holds'],
    ['other-hsm', false, 'lacks'],
    ['out', false, 'away'],
  ]);
  const [{ holding: own }, { holding: its }, { holding: foreign }] = found as [Found, Found, Found];
  expect(own).toMatchObject({ token: { name: 'main', serial: expect.stringMatching(/^[0-9a-f]{16}$/) } });
  expect(its).toEqual(own);
  expect(foreign).toMatchObject({ reason: expect.stringContaining('its token main does not open it: ') });
  expect(questions()).toBe(0);
});

test('a version without a private part is held by every appliance that has its record', async () => {
  expect((await ask(2, ['two', 'other-hsm'])).map(stateOf)).toEqual(['holds', 'holds', 'holds', 'away']);
});

test('a question that nobody waits for any more is answered by nobody twice, and removed', async () => {
  const { store, tables } = partsOf('one');
  const question = { appliance: 'gone', tenantId: 'tenant', name: 'orders', keyId: 'former', version: 1 };
  await store.write((transaction) => transaction.put(tables.distributionQuestions, ['left'], question));
  let nowMs = 0;
  const [job] = distributionJobs(partsOf('two'), () => nowMs);
  await job?.run(signal);
  expect(tables.distributionAnswers.get(['left', 'two'])).toBeUndefined();
  store.refresh();
  expect(tables.distributionAnswers.get(['left', 'two'])).toEqual({ isHeld: false, reason: 'the store of the appliance does not have it' });
  const { commits } = appliances.get('two') as ModelAppliance;
  await job?.run(signal);
  expect((appliances.get('two') as ModelAppliance).commits).toBe(commits);
  nowMs = 60_001;
  await job?.run(signal);
  expect(questions()).toBe(0);
});
