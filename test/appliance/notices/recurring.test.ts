// Notices that come and go, and those of appliances that are gone.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { noteSeen, noticeTable } from '../../../appliance/notices/records.ts';
import { openTenants } from '../../../core/access/tenants.ts';
import { noticesSection } from '../../../core/config/notices.ts';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { selfSignedIdentity } from '../../harness/tls.ts';
import { type Hook, startHook } from './receivers.ts';

const inside = temporaryDirectory();
const [directory, others] = [inside('appliance'), inside('others')];
for (const made of [directory, others]) mkdirSync(made);
const identity = selfSignedIdentity(others);
let [hook, appliance]: [Hook, TestAppliance] = [] as never;

beforeAll(async () => {
  hook = await startHook(identity);
  const secret = join(others, 'hook-secret');
  writeFileSync(secret, 'hook-secret-3c', { mode: 0o600 });
  const notices = noticesSection.parse({ webhook: { url: hook.url, caFile: join(others, 'tls-cert.pem'), secret: { file: secret } } });
  appliance = await startTestAppliance({ directory, notices });
});
afterAll(async () => {
  expect(await appliance.check()).toEqual([]);
  await appliance.close();
  await hook.close();
});

const systemId = (): string => openTenants(appliance.store).findByName('system')?.uuid ?? '';
const present = (): string => appliance.clock.now().toString({ smallestUnit: 'microsecond' });
const see = (source: string, ...names: string[]): Promise<void> => {
  const seen = names.map((name) => ({ name, text: `the ${name} is full`, path: '/v1/state/system/health' }));
  return noteSeen(appliance.store, systemId(), source, seen, present());
};
const run = async (...names: string[]): Promise<void> => {
  for (const name of names) await appliance.jobs.find((job) => job.name === name)?.run(new AbortController().signal);
};

/** Goes on for as long as is enough for a message, and sends. */
async function passHalfAMinute(): Promise<void> {
  appliance.clock.advance(31);
  await run('note-notices', 'send-notices-webhook');
}

function eventsOf(wanted: string): readonly string[] {
  const messages = hook.received.map(({ body }) => JSON.parse(body) as { name: string; event: string });
  return messages.filter(({ name }) => name === wanted).map(({ event }) => event);
}

test('what comes and goes is told three times an hour, and once more after it where it is there still', async () => {
  const begin = appliance.clock.now();
  const threeTimes = ['begun', 'over', 'begun', 'over', 'begun', 'over'];
  for (let round = 0; round < 30; round += 1) {
    await see('elsewhere', 'relay');
    await passHalfAMinute();
    await see('elsewhere');
    await passHalfAMinute();
  }
  expect(appliance.clock.now().since(begin).total('minutes')).toBeGreaterThanOrEqual(31);
  expect(eventsOf('relay')).toEqual(threeTimes);
  await see('elsewhere', 'relay');
  await passHalfAMinute();
  expect(eventsOf('relay')).toEqual(threeTimes);
  appliance.clock.advance(3_600);
  await passHalfAMinute();
  await passHalfAMinute();
  expect(eventsOf('relay')).toEqual([...threeTimes, 'begun']);
  await see('elsewhere');
  await passHalfAMinute();
  await passHalfAMinute();
  expect(eventsOf('relay')).toEqual([...threeTimes, 'begun', 'over']);
  expect(noticeTable(appliance.store).get([systemId(), 'relay'])).toBeDefined();
  appliance.clock.advance(3_600);
  await passHalfAMinute();
  expect(noticeTable(appliance.store).get([systemId(), 'relay'])).toBeUndefined();
});

test('what an appliance has seen that is gone is over, or lasts as a present one sees it', async () => {
  const since = present();
  await see('before', 'chute', 'hopper');
  await passHalfAMinute();
  expect([eventsOf('chute'), eventsOf('hopper')]).toEqual([['begun'], ['begun']]);
  await see('appliance', 'hopper');
  await run('forget-former-appliances');
  const recordOf = (name: string) => noticeTable(appliance.store).get([systemId(), name]);
  expect([recordOf('hopper'), recordOf('chute')]).toMatchObject([
    { since, seenBy: ['appliance'] },
    { since, seenBy: [] },
  ]);
  await passHalfAMinute();
  expect([eventsOf('chute'), eventsOf('hopper')]).toEqual([['begun', 'over'], ['begun']]);
});
