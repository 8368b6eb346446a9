// Failures of the host process or its module: no request hangs, repeatable jobs are repeated, and no PIN is tried twice.
import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Hsm, HsmConfig, HsmError, TokenConfig } from '../../hsm/api.ts';
import { openHsm } from '../../hsm/client/open.ts';
import type { HsmEvent } from '../../hsm/client/options.ts';
import { faultyEnvironment, markOf, type Faults } from '../harness/token/faulty-binding.ts';
import { makeKey } from '../harness/keys.ts';
import { makeSoftToken, testHsmConfig } from '../harness/token/softhsm.ts';

const message = Buffer.from('message');
const digest = createHash('sha256').update(message).digest();
/** How long an event may take on a busy machine. */
const patience = { timeout: 60_000, interval: 50 };
const directory = mkdtempSync(join(tmpdir(), 'keystored-faults-'));
const faultFile = join(directory, 'faults.json');
let token: TokenConfig;
let opened: { hsm: Hsm; events: HsmEvent[]; pid: () => number }[] = [];

beforeAll(async () => {
  const plain = await makeSoftToken(directory);
  token = { ...plain, environment: { ...plain.environment, ...faultyEnvironment(faultFile) } };
});

afterEach(async () => {
  inject({});
  await Promise.all(opened.map(({ hsm }) => hsm.close()));
  opened = [];
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe('the host process', () => {
  test('is killed with jobs in flight: the next host answers the repeatable ones', async () => {
    const { hsm, pid } = await open();
    const { key } = await makeKey(hsm, 'aes-256', 'kill');
    const { key: rsa } = await makeKey(hsm, 'rsa-2048', 'kill-rsa');
    const first = pid();
    const work = [
      ...Array.from({ length: 500 }, () => hsm.encrypt(key, message)),
      ...Array.from({ length: 50 }, () => hsm.sign(rsa, { scheme: 'rsa-pkcs1v15', hash: 'sha256', digest })),
    ];
    await nextTurn();
    process.kill(first, 'SIGKILL');
    const results = await Promise.all(work);
    expect(results).toHaveLength(550);
    for (const sealed of results.slice(0, 500)) expect(Buffer.from(await hsm.decrypt(key, sealed))).toEqual(message);
    expect(pid()).not.toBe(first);
  });

  test('is killed while it makes a key: the job is not repeated', async () => {
    const { hsm, pid } = await open();
    inject({ C_GenerateKeyPair: { delayMilliseconds: 5_000 } });
    const making = kindOf(hsm.generate('rsa-2048', { tenant: 't', keyId: 'k', version: 1, purpose: 'sign' }));
    await comeTo('C_GenerateKeyPair');
    process.kill(pid(), 'SIGKILL');
    expect(await making).toBe('unavailable');
  });

  test('is stopped: it is replaced when the deadline has passed, and the service answers again', async () => {
    const { hsm, pid } = await open({ jobTimeoutSeconds: 4 });
    const { key } = await makeKey(hsm, 'aes-256', 'stop');
    const first = pid();
    process.kill(first, 'SIGSTOP');
    expect(await kindOf(hsm.encrypt(key, message))).toBe('timeout');
    expect((await hsm.encrypt(key, message)).length).toBe(message.length + 28);
    expect(pid()).not.toBe(first);
  });

  test('dies while idle: it is replaced without a request', async () => {
    const { hsm, pid } = await open();
    const first = pid();
    process.kill(first, 'SIGKILL');
    await vi.waitFor(() => expect(pid()).not.toBe(first), patience);
    await hsm.selfTest();
  });

  test('cannot be restarted: requests are refused at once, and served again when it can', async () => {
    const { hsm, pid } = await open();
    const { key } = await makeKey(hsm, 'aes-256', 'down');
    inject({ C_Initialize: { rv: 0x30 } });
    process.kill(pid(), 'SIGKILL');
    await vi.waitFor(
      () => expect(hsm.status()[0]).toMatchObject({ state: 'down', reason: expect.stringContaining('CKR_DEVICE_ERROR') }),
      patience,
    );
    const begun = performance.now();
    const refused = await Promise.all(Array.from({ length: 100 }, () => kindOf(hsm.encrypt(key, message))));
    expect(new Set(refused)).toEqual(new Set(['unavailable']));
    // The deadline of a job is 10 seconds.
    expect(performance.now() - begun).toBeLessThan(5_000);
    inject({});
    await vi.waitFor(async () => hsm.encrypt(key, message), patience);
    expect(hsm.status()[0]?.state).toBe('up');
  });

  test('is not disturbed by a thousand jobs that all fail', async () => {
    const { hsm, pid } = await open();
    const { key } = await makeKey(hsm, 'aes-256', 'failing');
    const first = pid();
    const kinds = await Promise.all(Array.from({ length: 1_000 }, () => kindOf(hsm.decrypt(key, Buffer.alloc(64)))));
    expect(new Set(kinds)).toEqual(new Set(['decryption-failed']));
    expect(pid()).toBe(first);
  });

  test('ends when the service closes', async () => {
    const { hsm, pid } = await open();
    await hsm.close();
    await hsm.close();
    expect(() => process.kill(pid(), 0)).toThrow('ESRCH');
    expect(await kindOf(hsm.random(1))).toBe('unavailable');
  });
});

describe('the module', () => {
  test('hangs in a signature: that job times out, quick ones continue meanwhile, the host is replaced', async () => {
    const { hsm, pid } = await open();
    const { key: rsa } = await makeKey(hsm, 'rsa-2048', 'hang-rsa');
    const { key: aes } = await makeKey(hsm, 'aes-256', 'hang-aes');
    const first = pid();
    inject({ C_Sign: { delayMilliseconds: 60_000 } });
    const signing = kindOf(hsm.sign(rsa, { scheme: 'rsa-pkcs1v15', hash: 'sha256', digest }));
    await comeTo('C_Sign');
    expect(await Promise.race([signing, hsm.encrypt(aes, message).then(() => 'encrypted')])).toBe('encrypted');
    expect(await signing).toBe('timeout');
    inject({});
    await hsm.encrypt(aes, message);
    await hsm.sign(rsa, { scheme: 'rsa-pkcs1v15', hash: 'sha256', digest });
    expect(pid()).not.toBe(first);
  });

  test('hangs in a quick call: the host is replaced when the deadline has passed', async () => {
    const { hsm } = await open({ jobTimeoutSeconds: 4 });
    const { key } = await makeKey(hsm, 'aes-256', 'hang');
    inject({ C_Encrypt: { delayMilliseconds: 60_000 } });
    const hanging = kindOf(hsm.encrypt(key, message));
    await comeTo('C_Encrypt');
    inject({});
    expect(await hanging).toBe('timeout');
    expect((await hsm.encrypt(key, message)).length).toBe(message.length + 28);
  });

  test.each([0x30, 0x32, 0xe0, 0x190])('reports CK_RV %i once: the host is replaced and the job repeated', async (rv) => {
    const { hsm, pid } = await open();
    const { key } = await makeKey(hsm, 'aes-256', 'device');
    const first = pid();
    inject({ C_EncryptInit: { rv, firstHost: true } });
    const work = Promise.all(Array.from({ length: 20 }, () => hsm.encrypt(key, message)));
    await vi.waitFor(() => expect(() => process.kill(first, 0)).toThrow('ESRCH'), patience);
    inject({});
    for (const sealed of await work) expect(Buffer.from(await hsm.decrypt(key, sealed))).toEqual(message);
    expect(pid()).not.toBe(first);
  });

  test('takes long to make a key: neither encryptions nor signatures wait for it', async () => {
    const { hsm } = await open();
    const { key: aes } = await makeKey(hsm, 'aes-256', 'meanwhile-aes');
    const { key: rsa } = await makeKey(hsm, 'rsa-2048', 'meanwhile-rsa');
    inject({ C_GenerateKeyPair: { delayMilliseconds: 4_000 } });
    const order: string[] = [];
    const making = Promise.all(['one', 'two', 'three'].map((name) => makeKey(hsm, 'rsa-2048', name))).then(() => order.push('made'));
    await comeTo('C_GenerateKeyPair');
    for (let count = 0; count < 50; count++) await hsm.encrypt(aes, message);
    order.push('encrypted');
    await hsm.sign(rsa, { scheme: 'rsa-pkcs1v15', hash: 'sha256', digest });
    order.push('signed');
    await making;
    expect(order).toEqual(['encrypted', 'signed', 'made']);
  });

  test('is remote: calls run in parallel, and the delays of one key do not add up', async () => {
    inject({ C_GenerateRandom: { delayMilliseconds: 1 }, C_Encrypt: { delayMilliseconds: 100 } });
    const { hsm } = await open({ jobTimeoutSeconds: 60 });
    const { key } = await makeKey(hsm, 'aes-256', 'far');
    await Promise.all(Array.from({ length: 64 }, () => hsm.encrypt(key, message)));
    const begun = performance.now();
    await Promise.all(Array.from({ length: 320 }, () => hsm.encrypt(key, message)));
    // One after another takes 32 seconds, in parallel two.
    expect(performance.now() - begun).toBeLessThan(25_000);
  });
});

describe('the PIN', () => {
  test('is refused at the first start: one clear error', async () => {
    const wrong = join(directory, 'wrong-pin');
    writeFileSync(wrong, 'not-the-pin', { mode: 0o600 });
    await expect(openHsm(testHsmConfig({ ...token, pin: { file: wrong } }))).rejects.toMatchObject({ kind: 'pin-refused' });
  });

  test('is refused later: it is tried once, and every request says so until a person acts', async () => {
    const pin = join(directory, 'changing-pin');
    renameSync((token.pin as { file: string }).file, pin);
    try {
      const { hsm, pid, events } = await open({ tokens: [{ ...token, pin: { file: pin } }] });
      const { key } = await makeKey(hsm, 'aes-256', 'latch');
      renameSync(pin, `${pin}.kept`);
      writeFileSync(pin, 'not-the-pin', { mode: 0o600 });
      process.kill(pid(), 'SIGKILL');
      await vi.waitFor(() => expect(hsm.status()[0]?.state).toBe('pin-refused'), patience);
      expect(await kindOf(hsm.encrypt(key, message))).toBe('pin-refused');
      const starts = events.length;
      await sleep(1_500);
      expect(events).toHaveLength(starts);
      expect(events.filter(({ kind }) => kind === 'pin-refused')).toHaveLength(1);
      renameSync(`${pin}.kept`, pin);
    } finally {
      renameSync(pin, (token.pin as { file: string }).file);
    }
  });
});

async function open(changes: Partial<HsmConfig> = {}) {
  const events: HsmEvent[] = [];
  const hsm = await openHsm({ ...testHsmConfig(token), ...changes }, { onEvent: (event) => events.push(event) });
  const pid = (): number => events.findLast(({ kind }) => kind === 'token-up')?.pid ?? 0;
  const one = { hsm, events, pid };
  opened.push(one);
  return one;
}

function inject(faults: Faults): void {
  for (const name of Object.keys(faults)) rmSync(markOf(faultFile, name), { force: true });
  writeFileSync(`${faultFile}.new`, JSON.stringify(faults));
  renameSync(`${faultFile}.new`, faultFile);
}

/** Resolves when a host has reached an injected fault. */
async function comeTo(name: string): Promise<void> {
  await vi.waitFor(() => expect(existsSync(markOf(faultFile, name))).toBe(true), patience);
}

function kindOf(attempt: Promise<unknown>): Promise<string> {
  return attempt.then(
    () => 'done',
    (error: HsmError) => error.kind,
  );
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}
