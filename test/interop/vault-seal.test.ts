// The life of a service with `seal "transit"`, by the client of such a seal: start, init, restart, rotations, days of renewals, an appliance that is
// killed, sealed or away, a key out of service, a token that was ended. It never opens anything wrong, and says why it stays sealed.
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requireToolchain } from '../clients/commands.ts';
import { type Daemon, freePort, startDaemon } from '../harness/daemon.ts';
import { ShiftedClock } from '../harness/steady/shifted-clock.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { buildClients, type SealedService, startSealedService } from './vault/service.ts';

const at = temporaryDirectory();
const program = at('clients');
const [config, state] = ['/v1/config/keystore/transit-keys', '/v1/state/keystore/transit-keys'];
const tokens = '/v1/state/keystore/token';
let daemon: Daemon;
let port: number;
let clock: ShiftedClock;

const noGo = await requireToolchain('go').then(
  () => '',
  (error: Error) => ` (${error.message})`,
);

async function startAppliance(): Promise<void> {
  const environment = await clock.environment();
  daemon = await startDaemon({ directory: at('data'), port, args: ['--config', at('keystored.yaml')], environment });
}

beforeAll(async () => {
  if (noGo !== '') return;
  await buildClients(program);
  writeFileSync(at('keystored.yaml'), 'vault:\n  tenants: { system: {} }\n');
  clock = new ShiftedClock(at('clock'));
  port = await freePort();
  await startAppliance();
  writeFileSync(at('ca.pem'), daemon.caPem);
});
afterAll(() => daemon?.stop());

type Made = { readonly token: string; readonly accessor: string };

/** A key of its own with a token that may encrypt and decrypt with it, and a service that has both. */
async function withSeal(name: string, ttl = '1h'): Promise<{ readonly service: SealedService; readonly token: Made }> {
  const rules = ['encrypt', 'decrypt'].map((act) => ({ path: `${state}/${name}/${act}`, operations: { execute: 'allow' } }));
  await daemon.request('POST', '/v1/config/policy/policies', { name, 'rest-api': { rules } });
  await daemon.request('POST', config, { name });
  const token = (await daemon.request('POST', `${tokens}/create`, { policies: [name], ttl })) as Made;
  const environment = { VAULT_ADDR: daemon.url, VAULT_CACERT: at('ca.pem'), VAULT_TOKEN: token.token, SEAL_KEY: name };
  return { service: startSealedService(program, environment), token };
}

const endsAt = async ({ accessor }: Made): Promise<string> =>
  ((await daemon.request('POST', `${tokens}/info`, { accessor })) as { readonly expires: string }).expires;

describe.skipIf(noGo !== '')(`a service with a transit seal${noGo}`, () => {
  test('is initialized, starts again, goes on under a rotation of its key, and forgets the former version by itself', async () => {
    const { service } = await withSeal('rotated');
    expect(await service.obey('start')).toBe('unsealed v1');
    expect(await service.obey('stop')).toBe('stopped');
    expect(await service.obey('start')).toBe('unsealed v1');
    await daemon.request('POST', `${state}/rotated/rotate`, {});
    expect(await service.obey('start')).toBe('unsealed v1');
    expect(await service.obey('check')).toBe('healthy v2');
    await daemon.request('PATCH', `${config}/rotated`, { 'min-decryption-version': 2 });
    expect(await service.obey('start')).toBe('unsealed v2');
  });

  test('stays sealed where its root key is under a version that no longer decrypts, and says so', async () => {
    const { service } = await withSeal('too-old');
    expect(await service.obey('start')).toBe('unsealed v1');
    await daemon.request('POST', `${state}/too-old/rotate`, {});
    await daemon.request('PATCH', `${config}/too-old`, { 'min-decryption-version': 2 });
    expect(await service.obey('start')).toMatch(/^sealed: 400: ciphertext or signature version is disallowed by policy \(too old\)/);
    await daemon.request('PATCH', `${config}/too-old`, { 'min-decryption-version': 1 });
    expect(await service.obey('start')).toBe('unsealed v1');
  });

  test('stays sealed while its key is disabled, and says so', async () => {
    const { service } = await withSeal('disabled');
    expect(await service.obey('start')).toBe('unsealed v1');
    await daemon.request('PATCH', `${config}/disabled`, { disabled: true });
    expect(await service.obey('check')).toMatch(/^unhealthy: 400: .*disabled/);
    expect(await service.obey('start')).toMatch(/^sealed: 400: .*disabled/);
    await daemon.request('PATCH', `${config}/disabled`, { disabled: false });
    expect(await service.obey('start')).toBe('unsealed v1');
  });

  test('an appliance that is killed under load loses it nothing and opens nothing wrong; meanwhile it stays sealed, and says so', async () => {
    const { service } = await withSeal('killed');
    expect(await service.obey('start')).toBe('unsealed v1');
    for (let round = 0; round < 3; round++) {
      expect(await service.obey('load')).toBe('loaded');
      await expect.poll(() => service.obey('progress').then(Number)).toBeGreaterThan(20);
      await daemon.kill();
      expect(await service.obey('check')).toMatch(/^unhealthy: .*(connection (refused|reset)|EOF)/);
      expect(await service.obey('start')).toMatch(/^sealed: .*connection refused/);
      await startAppliance();
      expect(await service.obey('unload')).toBe('true true 0');
      expect(await service.obey('start')).toBe('unsealed v1');
    }
  });

  test('stays sealed while the appliance is sealed, and says so', async () => {
    const { service } = await withSeal('behind');
    expect(await service.obey('start')).toBe('unsealed v1');
    await daemon.request('POST', '/v1/state/keystore/system/seal', {});
    await expect.poll(() => service.obey('start')).toMatch(/^sealed: 503: .*"The appliance waits for the PIN of its tokens: /);
    await daemon.stop();
    await startAppliance();
    expect(await service.obey('start')).toBe('unsealed v1');
  });

  test('its client renews its token by itself: it outlives its first end', async () => {
    const { service, token } = await withSeal('renewed', '6s');
    const first = await endsAt(token);
    expect(await service.obey('start')).toBe('unsealed v1');
    await expect.poll(() => endsAt(token), { timeout: 60_000, interval: 500 }).not.toBe(first);
    const second = await endsAt(token);
    await expect.poll(() => endsAt(token), { timeout: 60_000, interval: 500 }).not.toBe(second);
    await expect.poll(() => Date.now(), { timeout: 60_000 }).toBeGreaterThan(Date.parse(first));
    expect(await service.obey('check')).toBe('healthy v1');
  });

  test('renewals every 40 minutes keep a token of an hour for five days; silence of an hour ends it, and it stays sealed', async () => {
    const { service } = await withSeal('for-days');
    expect(await service.obey('start')).toBe('unsealed v1');
    const [step, days] = [40 * 60, 5];
    let passed = 0;
    for (; passed < days * 86_400; passed += step) {
      clock.set(passed + step);
      expect(await service.obey('renew')).toBe('renewed');
    }
    expect(await service.obey('start')).toBe('unsealed v1');
    clock.set(passed + 2 * 3_600);
    expect(await service.obey('renew')).toMatch(/^not renewed: 403: permission denied/);
    expect(await service.obey('start')).toMatch(/^sealed: 403: permission denied/);
  });

  test('a token that was ended: what is open stays open, a start stays sealed, and says so', async () => {
    const { service, token } = await withSeal('ended');
    expect(await service.obey('start')).toBe('unsealed v1');
    await daemon.request('POST', `${tokens}/disable`, { accessor: token.accessor });
    expect(await service.obey('check')).toMatch(/^unhealthy: 403: permission denied/);
    expect(await service.obey('start')).toMatch(/^sealed: 403: permission denied/);
  });
});
