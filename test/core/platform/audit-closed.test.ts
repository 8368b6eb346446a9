// The composed appliance when its audit trail cannot be written: changes and key uses are refused, reads go on, and it heals.
import { readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { verifyTrail } from '../../harness/verify-trail.ts';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { mayMount, mountSmallDisk } from '../../harness/small-disk.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

/** How long the trail may take to heal, or to give up, on a busy machine. */
const patienceMs = 60_000;
const at = temporaryDirectory();
const keys = '/v1/config/keystore/transit-keys';
const actions = '/v1/state/keystore/transit-keys';
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function start(name: string): Promise<TestAppliance> {
  const appliance = await startTestAppliance({ directory: at(name) });
  closing.push(() => appliance.close());
  await appliance.request('POST', keys, { name: 'k', exportable: true });
  return appliance;
}

const verdict = async (appliance: TestAppliance, method: string, path: string, body?: unknown) => {
  const { status, body: answer } = await appliance.request(method, path, body);
  return `${status} ${String(answer?.code ?? 'done')}`;
};

/** Everything that changes something or uses a key, and what only reads. */
async function expectClosed(appliance: TestAppliance): Promise<void> {
  for (const [method, path, body] of [
    ['POST', `${actions}/k/encrypt`, { plaintext: '' }],
    ['POST', `${actions}/k/decrypt`, { ciphertext: 'store:v1:AAAA' }],
    ['POST', `${actions}/k/export`, {}],
    ['POST', `${actions}/k/rotate`, undefined],
    ['POST', `${actions}/k/generate-data-key`, {}],
    ['POST', keys, { name: 'l' }],
    ['PATCH', `${keys}/k`, { 'deletion-allowed': true }],
    ['DELETE', `${keys}/k`, undefined],
    ['POST', '/v1/state/keystore/token/create', {}],
    ['POST', '/v1/approle-login', { 'role-id': 'a', 'secret-id': 'b' }],
    ['POST', '/v1/state/keystore/crypto-functions/random-bytes', {}],
  ] as const) {
    expect([path, await verdict(appliance, method, path, body)]).toEqual([path, '503 audit-unavailable']);
  }
  for (const path of [`${keys}/k`, `${actions}/k`, '/v1/state/keystore/tokens', '/v1/config/tenants']) {
    expect([path, await verdict(appliance, 'GET', path)]).toEqual([path, '200 done']);
  }
  expect(await verdict(appliance, 'GET', `${keys}/nothing`)).toBe('404 not-found');
  expect((await appliance.request('GET', `${keys}?keys=true`)).body).toEqual(['k']);
  expect((await appliance.request('GET', `${actions}/k`)).body).toMatchObject({ 'latest-version': 1, 'deletion-allowed': false });
}

describe('the file of the trail', () => {
  test.each<[string, (path: string) => void, RegExp]>([
    ['is removed', (path) => rmSync(path), /was removed/],
    ['is replaced by another', (path) => { rmSync(path); writeFileSync(path, ''); }, /was replaced/], // prettier-ignore
    ['is emptied', (path) => writeFileSync(path, ''), /octets where/],
  ])('%s: the next use of a key is refused and told in health, then the trail goes on and has it on record', async (what, change, why) => {
    const appliance = await start(what.replaceAll(' ', '-'));
    const directory = at(what.replaceAll(' ', '-'), 'audit');
    change(`${directory}/${readdirSync(directory)[0]}`);
    expect(await verdict(appliance, 'POST', `${actions}/k/encrypt`, { plaintext: '' })).toBe('503 audit-unavailable');
    const health = await appliance.request('GET', '/v1/state/system/health', undefined, { token: undefined });
    expect(health.status).toBe(503);
    expect(health.body.audit).toMatchObject({ state: 'down', reason: expect.stringMatching(why) });
    expect(JSON.stringify(health.body)).not.toContain(at());
    await vi.waitFor(
      async () => expect(await verdict(appliance, 'POST', `${actions}/k/encrypt`, { plaintext: '' })).toBe('200 done'),
      patienceMs,
    );
    expect((await appliance.request('GET', '/v1/state/system/health', undefined, { token: undefined })).status).toBe(200);
    const { notes, findings } = await verifyTrail(directory, new Map());
    expect(notes.map(({ note }) => note['event'])).toContain('resumed');
    expect(findings).not.toEqual([]);
  });
});

describe.skipIf(!mayMount)('the disk of the trail (needs the right to mount)', () => {
  test('is full: refused within the bounded wait while it is, nothing half-done, and on again when there is room', async () => {
    const unmount = mountSmallDisk(at('full', 'audit'), 512);
    closing.push(unmount);
    const appliance = await start('full');
    const filler = at('full', 'audit', 'filler');
    const { bavail, bsize } = statfsSync(at('full', 'audit'));
    writeFileSync(filler, Buffer.alloc(bavail * bsize));
    await vi.waitFor(
      async () => expect(await verdict(appliance, 'POST', `${actions}/k/encrypt`, { plaintext: '' })).toBe('503 audit-unavailable'),
      patienceMs,
    );
    await expectClosed(appliance);
    expect((await appliance.request('GET', '/v1/state/system/health', undefined, { token: undefined })).body.audit.reason).toMatch(
      /ENOSPC/,
    );
    rmSync(filler);
    await vi.waitFor(
      async () => expect(await verdict(appliance, 'POST', `${actions}/k/encrypt`, { plaintext: '' })).toBe('200 done'),
      patienceMs,
    );
    const { findings, notes } = await verifyTrail(at('full', 'audit'), new Map());
    expect(findings).toEqual([]);
    expect(notes.some(({ note }) => note['event'] === 'resumed')).toBe(true);
    appliance.store.refresh();
    expect(await appliance.check()).toEqual([]);
  });
});
