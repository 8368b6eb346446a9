// An appliance whose token becomes one of two: nothing stops, either can be lost, and another one takes its place.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { TokenConfig } from '../../../hsm/api.ts';
import { numbersIn } from '../../harness/token/carrying.ts';
import { childrenOf } from '../../harness/token/canaries.ts';
import { type Daemon, startDaemon } from '../../harness/daemon.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { makeEmptySoftToken } from '../../harness/token/softhsm.ts';

const path = temporaryDirectory();
const plaintext = Buffer.from('plaintext').toString('base64');
const keys = '/v1/state/keystore/transit-keys';

type Shown = {
  name: string;
  state: string;
  group?: { name: string; 'opens-keys': boolean };
  'wrapping-key': { number: number; state: string };
};

async function shown(daemon: Daemon): Promise<readonly Shown[]> {
  return ((await daemon.request('GET', '/v1/state/system/hsm')) as { tokens: Shown[] }).tokens;
}

/** Starts with these tokens as the group `default`. */
function start(tokens: readonly TokenConfig[], isGroup = true): Promise<Daemon> {
  const configured = tokens.map((token) => ({ ...token, ...(isGroup ? { group: 'default' } : { name: 'default' }) }));
  writeFileSync(path('keystored.yaml'), JSON.stringify({ hsm: { tokens: configured, 'job-timeout': '2s' } }));
  return startDaemon({ directory: path('data'), workers: 2, args: ['--config', path('keystored.yaml')] });
}

/** Until every token opens the keys and no rotation runs. */
async function untilIn(daemon: Daemon, names: readonly string[]): Promise<void> {
  const state = async (): Promise<unknown> =>
    (await shown(daemon)).map((token) => [token.name, token.group?.['opens-keys'], token['wrapping-key'].state]);
  await expect.poll(state, { timeout: 90_000, interval: 500 }).toEqual(names.map((name) => [name, true, 'in-use']));
}

const files = ({ name }: TokenConfig): string => path(`tokens/${name}-tokens`);

/** Takes a token away: its files, and every process that has it open. */
function lose(daemon: Daemon, token: TokenConfig): void {
  renameSync(files(token), `${files(token)}.gone`);
  const below = (pid: number): number[] => childrenOf(pid).flatMap((child) => [child, ...below(child)]);
  for (const pid of below(daemon.pid)) {
    if (readFileSync(`/proc/${pid}/environ`, 'utf8').includes(token.environment?.['SOFTHSM2_CONF'] ?? '-')) process.kill(pid, 'SIGKILL');
  }
}

test('one token becomes two, one is lost under load, and a third takes its place', { timeout: 240_000 }, async () => {
  const [first, second, third] = [
    await makeEmptySoftToken(path('tokens'), 'first'),
    await makeEmptySoftToken(path('tokens'), 'second'),
    await makeEmptySoftToken(path('tokens'), 'third'),
  ];
  const alone = await start([first], false);
  await alone.request('POST', '/v1/config/keystore/transit-keys', { name: 'early' });
  const { ciphertext } = (await alone.request('POST', `${keys}/early/encrypt`, { plaintext })) as { ciphertext: string };
  const { rootToken } = alone;
  await alone.stop();

  let daemon = await start([first, second]);
  const as = (method: string, at: string, body?: unknown): Promise<unknown> => daemon.request(method, at, body, rootToken);
  const opens = async (): Promise<void> => expect(await as('POST', `${keys}/early/decrypt`, { ciphertext })).toMatchObject({ plaintext });
  await opens();
  await untilIn(daemon, ['first', 'second']);
  expect([await numbersIn(first), await numbersIn(second)]).toEqual([[2], [2]]);
  await as('POST', '/v1/config/keystore/transit-keys', { name: 'signer', cipher: 'ecdsa-p256' });
  await as('POST', '/v1/config/keystore/tls/ca', { name: 'devices' });
  expect(await daemon.exchange('POST', '/v1/config/keystore/transit-keys', { name: 'object', custody: 'token' }, rootToken)).toMatchObject({
    status: 400,
  });

  // Every caller goes on while the first token dies, with changes among the uses.
  const answers: { status: number; text: string }[] = [];
  const over = new AbortController();
  const load = Array.from({ length: 8 }, async (_, caller) => {
    for (let round = 0; !over.signal.aborted; round++) {
      answers.push(await daemon.exchange('POST', `${keys}/early/decrypt`, { ciphertext }, rootToken));
      answers.push(await daemon.exchange('POST', `${keys}/signer/sign`, { text: plaintext, 'base64-encoded': true }, rootToken));
      if (caller === 0)
        answers.push(await daemon.exchange('POST', '/v1/config/keystore/transit-keys', { name: `new-${round}` }, rootToken));
    }
  });
  await expect.poll(() => answers.length, { timeout: 30_000 }).toBeGreaterThan(100);
  lose(daemon, first);
  await expect.poll(async () => (await shown(daemon))[0]?.state, { timeout: 60_000, interval: 500 }).toBe('down');
  const before = answers.length;
  await expect.poll(() => answers.length, { timeout: 30_000 }).toBeGreaterThan(before + 100);
  over.abort();
  await Promise.all(load);
  expect(answers.filter(({ status }) => status >= 400).map(({ text }) => text)).toEqual([]);
  const { hsm } = (await daemon.request('GET', '/v1/state/system/health')) as { hsm: { tokens: { reason?: string }[] } };
  expect(hsm.tokens.map(({ reason }) => reason)).toEqual([expect.stringContaining('the other tokens of its group go on'), undefined]);
  await as('POST', '/v1/config/keystore/tls/ca', { name: 'more-devices' });
  expect(await as('GET', '/v1/state/keystore/tls/ca/devices/custody')).toBeDefined();
  await daemon.stop();

  // Without the first token it starts; with a third one, that is brought in, and the lost one is not needed for anything.
  daemon = await start([first, second]);
  await opens();
  await daemon.stop();
  daemon = await start([second, third]);
  await untilIn(daemon, ['second', 'third']);
  await opens();
  await daemon.stop();

  daemon = await start([third]);
  await opens();
  expect(await as('GET', '/v1/state/keystore/tls/ca/devices/custody')).toBeDefined();
  expect(await as('GET', '/v1/state/system/health')).toMatchObject({ status: 'ok' });
  await daemon.stop();
});
