// What a start finds is a part of health, with the numbers, until a person has answered it; and what is over is no part of it any more.
import { cpSync, readdirSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { TokenConfig } from '../../../hsm/api.ts';
import { type Daemon, startDaemon } from '../../harness/daemon.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { makeEmptySoftToken } from '../../harness/token/softhsm.ts';

const path = temporaryDirectory();
const keys = '/v1/config/keystore/transit-keys';
const uses = '/v1/state/keystore/transit-keys';
const findings = '/v1/state/system/findings';
const plaintext = Buffer.from('plaintext').toString('base64');

type Health = { readonly status: number; readonly body: Readonly<Record<string, unknown>> };
const health = (daemon: Daemon): Promise<Health> => daemon.exchange('GET', '/v1/state/system/health', undefined, '');
/** The part of health, once it is there. */
async function partOf(daemon: Daemon, name: string): Promise<Health> {
  await expect.poll(async () => (await health(daemon)).body[name], { timeout: 90_000 }).toBeDefined();
  return health(daemon);
}
const isOk = async (daemon: Daemon): Promise<void> => {
  await expect.poll(async () => (await health(daemon)).body, { timeout: 30_000 }).toMatchObject({ status: 'ok' });
};

/** Puts the parts of a data directory aside, or back. */
function copyParts(from: string, to: string, parts: readonly string[]): void {
  for (const part of parts) {
    rmSync(join(to, part), { recursive: true, force: true });
    cpSync(join(from, part), join(to, part), { recursive: true, preserveTimestamps: true });
  }
}

test(
  'a store that lost acknowledged changes is a part of health until it is answered, also over restarts',
  { timeout: 180_000 },
  async () => {
    const [data, kept] = [path('behind'), path('behind-kept')];
    let daemon = await startDaemon({ directory: data });
    await daemon.request('POST', keys, { name: 'early' });
    await daemon.stop();
    copyParts(data, kept, ['store']);
    daemon = await startDaemon({ directory: data });
    for (const name of ['one', 'two', 'three']) await daemon.request('POST', keys, { name });
    await daemon.kill();
    copyParts(kept, data, ['store']);

    daemon = await startDaemon({ directory: data });
    const reason = expect.stringMatching(
      /^the store lacks \d+ acknowledged commits: .* names revision \d+ of it, and it was opened with \d+: put/,
    );
    expect(await partOf(daemon, 'store-behind')).toMatchObject({
      status: 200,
      body: { status: 'degraded', 'store-behind': { state: 'unanswered', reason } },
    });
    await daemon.stop();
    daemon = await startDaemon({ directory: data });
    expect(await partOf(daemon, 'store-behind')).toMatchObject({ body: { 'store-behind': { reason } } });
    expect(await daemon.exchange('POST', `${findings}/no-such/answer`, {})).toMatchObject({ status: 404 });
    expect(await daemon.exchange('POST', `${findings}/store-behind/answer`, {})).toMatchObject({
      status: 200,
      body: { state: 'answered', 'answered-by': 'root' },
    });
    await isOk(daemon);
    await daemon.stop();
    daemon = await startDaemon({ directory: data });
    await isOk(daemon);
    expect(await daemon.request('GET', findings)).toMatchObject([{ name: 'store-behind', state: 'answered' }]);
    await daemon.stop();
  },
);

test('records that were cut off from the audit trail are a part of health', { timeout: 120_000 }, async () => {
  const [data, kept] = [path('cut'), path('cut-kept')];
  let daemon = await startDaemon({ directory: data });
  await daemon.stop();
  copyParts(data, kept, ['audit']);
  daemon = await startDaemon({ directory: data });
  await daemon.request('POST', keys, { name: 'unseen' });
  await daemon.stop();
  copyParts(kept, data, ['audit']);
  daemon = await startDaemon({ directory: data });
  const reason = expect.stringMatching(/records? \d+( to \d+)? of chain worker-1 of the audit trail (was|were) cut off or replaced/);
  expect(await partOf(daemon, 'audit-trail')).toMatchObject({ status: 200, body: { status: 'degraded', 'audit-trail': { reason } } });
  await daemon.stop();
});

test(
  'a token without a wrapping key that the store uses is a part of health, and no more when the key is back',
  { timeout: 180_000 },
  async () => {
    const [data, early, late] = [path('token'), path('token-early'), path('token-late')];
    const ofToken = ['softhsm', 'store-key.json'];
    let daemon = await startDaemon({ directory: data });
    await daemon.request('POST', keys, { name: 'first' });
    await daemon.stop();
    copyParts(data, early, ofToken);
    daemon = await startDaemon({ directory: data });
    await daemon.request('POST', '/v1/state/system/rotate-wrapping-key', {});
    const wrapping = async (): Promise<unknown> =>
      ((await daemon.request('GET', '/v1/state/system/hsm')) as { tokens: Record<string, unknown>[] }).tokens[0]?.['wrapping-key'];
    await expect.poll(wrapping, { timeout: 90_000, interval: 500 }).toMatchObject({ number: 2, state: 'in-use' });
    await daemon.stop();
    copyParts(data, late, ofToken);
    copyParts(early, data, ofToken);

    daemon = await startDaemon({ directory: data });
    const atOnce = { reason: expect.stringContaining('token default has no wrapping key 2') };
    expect((await daemon.exchange('GET', '/v1/state/system/health')).body).toMatchObject({ status: 'down', 'keys-lost': atOnce });
    expect(await daemon.exchange('POST', `${uses}/first/encrypt`, { plaintext })).toMatchObject({
      status: 409,
      body: { detail: 'The token has no wrapping key 2: restore the token from the backup that goes with the store.' },
    });
    expect(await daemon.exchange('POST', `${uses}/first/encrypt`, { 'batch-input': [{ plaintext }] })).toMatchObject({
      body: { 'batch-results': [{ 'error-message': expect.stringContaining('has no wrapping key 2: restore the token') }] },
    });
    const reason = expect.stringMatching(
      /^\d of \d stored keys do not open: \d under wrapping key 2 of token default, which it does not have.*; token default has no wrapping key 2: restore the token from the backup that goes with the store/,
    );
    await expect
      .poll(() => health(daemon), { timeout: 90_000 })
      .toMatchObject({ status: 503, body: { status: 'down', 'keys-lost': { reason } } });
    await daemon.stop();
    copyParts(late, data, ofToken);
    daemon = await startDaemon({ directory: data });
    await isOk(daemon);
    expect((await daemon.exchange('POST', `${uses}/first/encrypt`, { plaintext })).status).toBe(200);
    await daemon.stop();
  },
);

test('keys of a token of a group that was taken away are answered as lost, and health has how many', { timeout: 240_000 }, async () => {
  const [first, second] = [await makeEmptySoftToken(path('tokens'), 'first'), await makeEmptySoftToken(path('tokens'), 'second')];
  const start = (tokens: readonly TokenConfig[], isGroup: boolean): Promise<Daemon> => {
    const configured = tokens.map((token) => ({ ...token, ...(isGroup ? { group: 'default' } : { name: 'default' }) }));
    writeFileSync(path('keystored.yaml'), JSON.stringify({ hsm: { tokens: configured, 'job-timeout': '2s' } }));
    return startDaemon({ directory: path('group'), args: ['--config', path('keystored.yaml')] });
  };
  let daemon = await start([first], false);
  const { rootToken } = daemon;
  const as = (method: string, at: string, body?: unknown) => daemon.exchange(method, at, body, rootToken);
  await as('POST', keys, { name: 'held', custody: 'token', cipher: 'ecdsa-p256' });
  await as('POST', keys, { name: 'wrapped' });
  expect(
    (await as('POST', '/v1/config/keystore/tls/ca', { name: 'devices', est: { enabled: true, 'allowed-domains': ['example.org'] } }))
      .status,
  ).toBe(201);
  await daemon.stop();
  daemon = await start([first, second], true);
  const isIn = async (): Promise<unknown> =>
    ((await as('GET', '/v1/state/system/hsm')).body.tokens as { group: { 'opens-keys': boolean } }[]).map(
      ({ group }) => group['opens-keys'],
    );
  await expect.poll(isIn, { timeout: 90_000, interval: 500 }).toEqual([true, true]);
  await expect
    .poll(async () => (await as('GET', '/v1/state/system/hsm')).body.tokens[0]['wrapping-key'].state, { timeout: 90_000 })
    .toBe('in-use');
  await daemon.stop();
  renameSync(path('tokens/first-tokens'), path('tokens/first-tokens.gone'));

  daemon = await start([second], true);
  expect(await as('POST', `${uses}/wrapped/encrypt`, { plaintext })).toMatchObject({ status: 200 });
  expect(await as('POST', `${uses}/held/sign`, { text: plaintext })).toMatchObject({ status: 409, body: { code: 'key-object-missing' } });
  const reason = expect.stringMatching(/^\d+ of \d+ stored keys do not open: \d+ that token default had as objects and has no more/);
  expect(await partOf(daemon, 'keys-lost')).toMatchObject({ body: { 'keys-lost': { reason } } });
  await daemon.stop();
});

test('records cut off the audit trail under a running appliance are a part of health and on record until that is answered', async () => {
  const data = path('cut-trail');
  const daemon = await startDaemon({ directory: data });
  await daemon.request('POST', keys, { name: 'one' });
  const [file = ''] = readdirSync(join(data, 'audit')).filter((name) => name.startsWith('worker-1.'));
  truncateSync(join(data, 'audit', file), statSync(join(data, 'audit', file)).size - 100);
  // Of the first one the record is refused.
  let count = 0;
  await expect.poll(async () => (await daemon.exchange('POST', keys, { name: `two-${++count}` })).status, { timeout: 30_000 }).toBe(201);
  const reason = expect.stringMatching(
    /^records? \d+( to \d+)? of chain worker-1 of the audit trail (was|were) cut off or replaced while the appliance ran: compare/,
  );
  expect(await partOf(daemon, 'audit-trail')).toMatchObject({
    body: { status: 'degraded', 'audit-trail': { state: 'unanswered', reason } },
  });
  const records = String(await daemon.request('GET', '/v1/state/topics/system:audit-trail-log?limit=50'));
  expect(records.split('\n').filter((line) => line.includes('"event":"changed"'))).toHaveLength(1);
  await daemon.request('POST', `${findings}/audit-trail/answer`, {});
  await isOk(daemon);
  expect(await daemon.stop()).toBe(0);
});
