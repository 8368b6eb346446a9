// Concurrent changes in several processes, which share no queue: the loser of a race retries until it succeeds.
import { expect, test } from 'vitest';
import { startDaemon } from '../../harness/daemon.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const keys = '/v1/config/keystore/transit-keys';
const actions = '/v1/state/keystore/transit-keys';
const cas = 'keystore/tls/ca';

test('fifty rotations, merges and renewals on new connections to four workers are all done', { timeout: 300_000 }, async () => {
  const daemon = await startDaemon({ directory: path('four'), workers: 4 });
  await daemon.request('POST', keys, { name: 'one', custody: 'token', 'allow-plaintext-backup': true });
  await daemon.request('POST', `/v1/config/${cas}`, { name: 'one' });
  await daemon.request('POST', keys, { name: 'source', 'allow-plaintext-backup': true, 'deletion-allowed': true });
  await daemon.request('POST', keys, { name: 'target' });
  const { key } = (await daemon.request('POST', `${actions}/source/backup`)) as { key: string };
  const many = (count: number, method: string, at: string, body?: unknown) =>
    Array.from({ length: count }, () => daemon.exchange(method, at, body));
  const answers = await Promise.all([
    ...many(50, 'POST', `${actions}/one/rotate`),
    ...many(50, 'PATCH', `${keys}/one`, { 'min-decryption-version': 1 }),
    ...many(12, 'POST', `/v1/state/${cas}/one/renew`),
    ...many(12, 'POST', `${actions}/target/restore`, { key }),
  ]);
  expect(answers.filter(({ status }) => status >= 300).map(({ body }) => body)).toEqual([]);
  expect(await daemon.request('GET', `${actions}/one`)).toMatchObject({ 'latest-version': 51 });
  expect(await daemon.request('GET', `/v1/state/${cas}/one`)).toMatchObject({ 'key-version': 13 });
  expect(await daemon.stop()).toBe(0);
});
