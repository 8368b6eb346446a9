// Whose PIN a sealed appliance looks at, with the real daemon: of who has the code of this seal or is at the machine, and of nobody else.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { type Answer, ask, readAll } from '../../harness/client.ts';
import { type Daemon, startDaemon } from '../../harness/daemon.ts';
import { patienceMs } from '../../harness/patience.ts';
import { startProxy } from '../../harness/proxy.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const at = temporaryDirectory();
const unseal = '/v1/state/keystore/system/unseal';
const nobody = 65_534;

let daemon: Daemon;
const proxies: { close(): void }[] = [];
afterEach(async () => {
  for (const proxy of proxies.splice(0)) proxy.close();
  await daemon.stop();
});

/** Sealed, behind a proxy at 127.0.0.2 through which all others come. */
async function startSealed(name: string): Promise<{ readonly pin: string; readonly elsewhere: string }> {
  writeFileSync(at(`${name}.yaml`), 'proxies: {proxy-protocol: [127.0.0.2]}\n');
  daemon = await startDaemon({ directory: at(name), args: ['--config', at(`${name}.yaml`)] });
  const pin = readFileSync(join(at(name), 'pin'), 'utf8');
  await daemon.request('POST', '/v1/state/keystore/system/seal');
  const proxy = await startProxy({ port: new URL(daemon.url).port, from: '127.0.0.2', client: '192.0.2.7' });
  proxies.push(proxy);
  return { pin, elsewhere: `https://127.0.0.1:${proxy.port}` };
}

const post = (origin: string, body: object): Promise<Answer> => ask(origin, unseal, { method: 'POST', body, ca: daemon.caPem });
const codesOf = (answers: readonly Answer[]): readonly string[] => [...new Set(answers.map(({ body }) => String(body.code)))];
const shownCode = (): string => [...daemon.output().matchAll(/^unseal code: (.*)$/gm)].at(-1)?.[1] ?? '';
const times = (count: number, what: () => Promise<Answer>): Promise<Answer[]> => Promise.all(Array.from({ length: count }, what));

describe('from elsewhere', () => {
  test('no PIN is looked at without the code, however many come; with it one is, and nobody has used up a try or made it wait', async () => {
    const { pin, elsewhere } = await startSealed('elsewhere');
    const code = shownCode();
    expect(code).toMatch(/^([BCDFGHJKLMNPQRSTVWXZ]{4}-){2}[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
    expect(codesOf(await times(30, () => post(elsewhere, { pin: 'wrong' })))).toEqual(['unseal-code-refused']);
    expect(codesOf(await times(5, () => post(elsewhere, { pin })))).toEqual(['unseal-code-refused']);
    expect(codesOf(await times(30, () => post(elsewhere, { pin, 'unseal-code': 'BCDF-GHJK-LMNP' })))).toEqual(['unseal-code-refused']);
    expect((await post(elsewhere, { pin: 'wrong', 'unseal-code': code })).body.code).toBe('pin-refused');
    await expect
      .poll(async () => (await post(elsewhere, { pin, 'unseal-code': code.toLowerCase().replaceAll('-', ' ') })).status, slowly)
      .toBe(204);
  });

  test('what proves nothing is on record, but not all of a flood', async () => {
    const { elsewhere } = await startSealed('flood');
    await times(100, () => post(elsewhere, { pin: 'wrong' }));
    const recorded = (): number =>
      readdirSync(join(at('flood'), 'audit'))
        .filter((name) => name.startsWith('supervisor'))
        .flatMap((name) => readFileSync(join(at('flood'), 'audit', name), 'utf8').split('\n'))
        .filter((line) => line.includes('"code":"unseal-code-refused"') && line.includes('"client-ip":"192.0.2.7"')).length;
    await expect.poll(recorded, slowly).toBe(20);
    expect(readFileSync(join(at('flood'), 'unseal-code'), 'utf8')).toBe(`${shownCode()}\n`);
  });

  test('each seal has a code of its own, in the log, and in a file that goes with it', async () => {
    const { pin, elsewhere } = await startSealed('each');
    const first = shownCode();
    expect(readFileSync(join(at('each'), 'unseal-code'), 'utf8').trim()).toBe(first);
    expect((await post(elsewhere, { pin, 'unseal-code': first })).status).toBe(204);
    expect(existsSync(join(at('each'), 'unseal-code'))).toBe(false);
    await expect.poll(async () => (await ask(daemon.url, '/v1/state/system/health', { ca: daemon.caPem })).status, slowly).toBe(200);
    const log = await daemon.exchange('GET', '/v1/state/topics/system:logs?limit=500');
    expect(log.text).toContain(first);
    await daemon.request('POST', '/v1/state/keystore/system/seal');
    await expect.poll(shownCode, slowly).not.toBe(first);
    expect((await post(elsewhere, { pin, 'unseal-code': first })).body.code).toBe('unseal-code-refused');
    expect((await post(elsewhere, { pin, 'unseal-code': shownCode() })).status).toBe(204);
  });

  test('the form at /unseal takes the code', async () => {
    const { pin, elsewhere } = await startSealed('form');
    const send = (body: string): Promise<Answer> =>
      ask(elsewhere, '/unseal', {
        ...{ method: 'POST', body, ca: daemon.caPem },
        headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
      });
    const refused = await send(`pin=${pin}`);
    expect(refused.status).toBe(403);
    expect(refused.text).toContain('The PIN was not looked at');
    expect((await send(`pin=${pin}&unseal-code=${shownCode()}`)).text).toContain('The appliance is unsealed');
  });
});

const slowly = { timeout: patienceMs, interval: 500 };

describe('at the machine', () => {
  test('the user of the service needs no code, until two PINs were refused; who has the code has a try left', async () => {
    const { pin } = await startSealed('here');
    expect((await post(daemon.url, { pin: 'wrong' })).body.code).toBe('pin-refused');
    expect((await post(daemon.url, { pin: 'wrong' })).body.code).toBe('rate-limited');
    await expect.poll(async () => (await post(daemon.url, { pin: 'wrong' })).body.code, slowly).toBe('pin-refused');
    expect(codesOf(await times(5, () => post(daemon.url, { pin })))).toEqual(['unseal-code-refused']);
    await expect.poll(async () => (await post(daemon.url, { pin, 'unseal-code': shownCode() })).status, slowly).toBe(204);
  });

  test.skipIf(process.getuid?.() !== 0)('another user of the machine needs it', async () => {
    const { pin } = await startSealed('another-user');
    const request = `POST ${unseal} HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${pin.length + 10}\r\n\r\n{"pin":"${pin}"}`;
    const child = spawn('openssl', ['s_client', '-quiet', '-connect', new URL(daemon.url).host], { uid: nobody, gid: nobody, cwd: '/' });
    // Before the answer is read: it may close at the end of that.
    const closed = once(child, 'close');
    child.stdin.write(request);
    const text = await readAll(child.stdout as unknown as Socket);
    child.stdin.end();
    await closed;
    expect(text).toContain('unseal-code-refused');
  });
});
