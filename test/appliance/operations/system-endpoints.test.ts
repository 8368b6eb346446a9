// What those who run the appliance are offered: who may, what metrics say, and what is held while the clock cannot be right.
import { WorkerCounts } from '../../../appliance/processes/worker-counts.ts';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { type ClockWatch, softwareDate, watchClock } from '../../../appliance/machine/clock-watch.ts';
import { tokenTable } from '../../../core/access/tokens/record.ts';
import { TestClock } from '../../harness/clock.ts';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const metrics = '/v1/state/system/metrics';
const health = '/v1/state/system/health';
let appliance: TestAppliance;
let foreign: string;

beforeAll(async () => {
  appliance = await startTestAppliance({ directory: path() });
  await appliance.request('POST', '/v1/config/tenants', { name: 'foreign', policies: ['root'] });
  foreign = String((await appliance.request('POST', '/v1/state/keystore/token/create-root', { name: 'foreign' })).body.token);
});
afterEach(async () => {
  expect(await appliance.check()).toEqual([]);
});
afterAll(() => appliance.close());

test('metrics count requests by path template, so that names make no series', async () => {
  await appliance.request('POST', '/v1/config/keystore/transit-keys', { name: 'counted', cipher: 'ed25519' });
  for (const name of ['counted', 'absent']) await appliance.request('GET', `/v1/state/keystore/transit-keys/${name}`);
  await appliance.request('GET', '/no/such/path');
  const { status, body, headers } = await appliance.request('GET', metrics);
  expect(status).toBe(200);
  expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
  const route = '/v1/state/keystore/transit-keys/{name}';
  expect(body).toContain(`keystored_http_requests_total{method="GET",route="${route}",status="200"} 1`);
  expect(body).toContain(`keystored_http_requests_total{method="GET",route="${route}",status="404"} 1`);
  expect(body).toContain('keystored_http_requests_total{method="any",route="none",status="404"} 1');
  expect(body).not.toContain('absent');
  expect(body).toContain('keystored_transit_keys{tenant="system",cipher="ed25519"} 1');
  expect(body).toContain('keystored_audit_writable 1');
  expect(body).toContain('keystored_clock_plausible 1');
  expect(body).toMatch(/keystored_disk_free_bytes \d+/);
  const generated = (part: string): number =>
    Number(new RegExp(`^keystored_hsm_operation_seconds_${part} (\\S+)$`, 'm').exec(String(body))?.[1]);
  expect(generated('count\\{token="main",operation="generate"\\}')).toBeGreaterThan(0);
  expect(generated('bucket\\{token="main",operation="generate",le="\\+Inf"\\}')).toBe(
    generated('count\\{token="main",operation="generate"\\}'),
  );
  expect(generated('sum\\{token="main",operation="generate"\\}')).toBeGreaterThan(0);
  expect(body).toMatch(/keystored_hsm_waiting_calls\{token="main"\} \d/);
  // The token's process tells of its sessions at intervals; at one such moment all of them may be in use.
  await vi.waitFor(
    async () => expect((await appliance.request('GET', metrics)).body).toMatch(/keystored_hsm_sessions\{token="main",state="idle"\} [1-9]/),
    { timeout: 60_000, interval: 100 },
  );
});

test('every metric is documented, and every documented metric exists', async () => {
  const { body } = await appliance.request('GET', metrics);
  // The supervisor, which there is none of here, counts some of its own.
  const ofSupervisor = (await new WorkerCounts().collect([])).flat().map(({ name }) => name);
  const told = [...[...String(body).matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name as string), ...ofSupervisor];
  const text = readFileSync(join(import.meta.dirname, '../../../appliance/docs/administer/monitoring.md'), 'utf8');
  const documented = [...text.matchAll(/^\| `((?:keystored|process)_[a-z_]+)`/gm)].map(([, name]) => name as string);
  expect(documented.toSorted((a, b) => (a < b ? -1 : 1))).toEqual(told.toSorted((a, b) => (a < b ? -1 : 1)));
});

test('metrics that are asked for by their names are answered alone', async () => {
  const { body } = await appliance.request('GET', `${metrics}?names=keystored_clock_plausible,keystored_hsm_token_up,none_such`);
  const named = [...String(body).matchAll(/^(?:# TYPE )?([a-z_]+)/gm)].map(([, name]) => name);
  expect(new Set(named)).toEqual(new Set(['keystored_clock_plausible', 'keystored_hsm_token_up']));
});

test('every line of the metrics is one of the text format', async () => {
  const { body } = await appliance.request('GET', metrics);
  const line = /^(?:# (?:HELP|TYPE) [a-z_]+ .+|[a-z_]+(?:\{[a-z]+="[^"\n]*"(?:,[a-z]+="[^"\n]*")*\})? [-+0-9.eE]+|)$/;
  expect(
    String(body)
      .split('\n')
      .filter((one) => !line.test(one)),
  ).toEqual([]);
});

test.each([
  ['GET', metrics, undefined],
  ['POST', '/v1/state/system/backup', { passphrase: 'long enough to be taken' }],
  ['POST', '/v1/state/system/accept-clock', undefined],
  ['POST', '/v1/state/keystore/system/seal', undefined],
])('%s %s is not there for another tenant, and needs a token', async (method, at, body) => {
  expect((await appliance.request(method, at, body, { token: foreign })).status).toBe(404);
  expect((await appliance.request(method, at, body, { token: undefined })).status).toBe(401);
});

test('a backup needs a passphrase of 12 characters, and a PIN is not looked at while nothing is sealed', async () => {
  expect((await appliance.request('POST', '/v1/state/system/backup', { passphrase: 'short' })).status).toBe(400);
  const answer = await appliance.request('POST', '/v1/state/keystore/system/unseal', { pin: '1234' }, { token: undefined });
  expect(answer).toMatchObject({ status: 409, body: { code: 'not-sealed' } });
});

test('a clock that went back is implausible: certificates and expiry wait until it is right or accepted', async () => {
  const cas = '/v1/config/keystore/tls/ca';
  const seen = appliance.jobs.find(({ name }) => name === 'seen-time');
  const sweep = appliance.jobs.find(({ name }) => name === 'expired-tokens');
  const { signal } = new AbortController();
  await seen?.run(signal);
  appliance.clock.step(-86_400);
  const sick = await appliance.request('GET', health);
  expect(sick).toMatchObject({ status: 200, body: { status: 'degraded', clock: { state: 'implausible' } } });
  expect(sick.body.clock.reason).toContain('2025-12-31');
  expect(await appliance.request('POST', cas, { name: 'held' })).toMatchObject({ status: 503, body: { code: 'clock-implausible' } });
  expect((await appliance.request('GET', metrics)).body).toContain('keystored_clock_plausible 0');
  await expect(sweep?.run(signal)).resolves.toBeUndefined();

  appliance.clock.step(86_400);
  expect((await appliance.request('GET', health)).body.clock).toEqual({ state: 'up' });
  appliance.clock.step(-86_400);
  expect((await appliance.request('POST', '/v1/state/system/accept-clock')).status).toBe(204);
  expect((await appliance.request('GET', health)).body.status).toBe('ok');
  expect((await appliance.request('POST', cas, { name: 'held' })).status).toBe(201);
});

test('while the clock is behind nothing that has ended works again, what is to end ends, and no record is removed', async () => {
  const create = async (ttl: string): Promise<string> =>
    (await appliance.request('POST', '/v1/state/keystore/token/create', { ttl })).body.token;
  const works = async (token: string): Promise<boolean> =>
    (await appliance.request('GET', health.replace('health', 'hsm'), undefined, { token })).status === 200;
  const sweep = async (): Promise<void> => appliance.jobs.find(({ name }) => name === 'expired-tokens')?.run(new AbortController().signal);
  const records = (): number => {
    appliance.store.refresh();
    return tokenTable(appliance.store).count([]);
  };
  const [short, long] = [await create('60s'), await create('1h')];
  appliance.clock.advance(120);
  await appliance.request('POST', '/v1/state/system/accept-clock');
  const before = records();
  appliance.clock.step(-86_400);
  expect([await works(short), await works(long)]).toEqual([false, true]);
  await sweep();
  expect(records()).toBe(before);
  appliance.clock.advance(3_000);
  expect(await works(long)).toBe(true);
  appliance.clock.advance(1_000);
  expect(await works(long)).toBe(false);
  await sweep();
  expect(records()).toBe(before);
  appliance.clock.step(86_400);
  expect(await works(long)).toBe(false);
  await sweep();
  expect(records()).toBe(before - 2);
});

test('the clock cannot be before the software was put together, whatever the store remembers', () => {
  expect(Temporal.Instant.compare(softwareDate(), Temporal.Now.instant())).toBeLessThanOrEqual(0);
  const machine = new TestClock(softwareDate().subtract({ hours: 1 }).toString());
  const watch = watchClock(appliance.store.prefixed('another'), machine);
  expect(watch.clock.doubt).toContain('the clock says');
  machine.step(3_600);
  expect(watch.clock.doubt).toBeUndefined();
  watch.stop();
});

test('a clock that others outvote is not used, and raises nothing that it would be measured by later', () => {
  const machine = new TestClock('2026-03-01T00:00:00Z');
  let others: number | undefined;
  const earliest = Temporal.Instant.from('2026-01-01T00:00:00Z');
  const watch = watchClock(appliance.store.prefixed('outvoted'), machine, { earliest, othersMs: () => others });
  const { clock } = watch;
  const right = machine.now();
  others = right.epochMilliseconds + 0.4;
  const seen = (): readonly unknown[] => [clock.now().toString(), clock.doubt, clock.correction?.split('T')[0]];
  for (const seconds of [86_400, -86_400]) {
    machine.step(seconds);
    expect(seen()).toEqual([right.toString(), undefined, `the clock says ${machine.now().toString().split('T')[0]}`]);
    machine.step(-seconds);
    expect(seen()).toEqual([right.toString(), undefined, undefined]);
  }
  machine.step(299);
  expect(seen()).toEqual([machine.now().toString(), undefined, undefined]);
  // What the others say must not bring an ended token back either.
  others = earliest.epochMilliseconds - 86_400_000;
  expect(clock.doubt).toContain('it was');
  watch.stop();
});

test('the time never goes back and never stands still, however the clock of the machine is set', () => {
  const machine = new TestClock('2026-03-01T00:00:00Z');
  const watch = watchClock(appliance.store.prefixed('set'), machine, { earliest: machine.now() });
  const { clock } = watch;
  let before = clock.now();
  for (const step of [-120, 60, -86_400, -10, 86_300, -299, 299, -301, 0, 0]) {
    machine.step(step);
    expect(Temporal.Instant.compare(clock.now(), before)).toBeGreaterThanOrEqual(0);
    for (const seconds of [0.5, 1, 60]) {
      machine.advance(seconds);
      const gone = clock.now().since(before).total('seconds');
      expect(gone).toBeGreaterThanOrEqual(seconds * 0.89);
      before = clock.now();
    }
  }
  machine.advance(3_100);
  expect([clock.doubt, clock.now().since(machine.now()).total('seconds') < 1]).toEqual([expect.any(String), false]);
  machine.step(200);
  machine.advance(3_600);
  expect([clock.doubt, clock.now().toString()]).toEqual([undefined, machine.now().toString()]);
  watch.stop();
});

test('a process that begins after the clock was set back begins where the one before was', async () => {
  const machine = new TestClock('2026-03-01T00:00:00Z');
  const store = appliance.store.prefixed('begins');
  const earliest = machine.now();
  const options = { earliest, sinceBoot: () => ({ boot: 'one', ms: machine.monotonicMs() }) };
  const first = watchClock(store, machine, options);
  await first.record();
  machine.advance(50);
  machine.step(-120);
  const secondsAfter = (inTrail?: number, boot = 'one'): number => {
    const trail = inTrail === undefined ? {} : { inTrail: earliest.add({ seconds: inTrail }) };
    const watch = watchClock(store, machine, { ...options, ...trail, sinceBoot: () => ({ boot, ms: machine.monotonicMs() }) });
    watch.stop();
    return watch.clock.now().since(earliest).total('seconds');
  };
  expect(secondsAfter()).toBe(50);
  // After a restart of the machine the trail knows more than the last record, unless the clock was wrong then.
  expect([secondsAfter(undefined, 'other'), secondsAfter(45, 'other'), secondsAfter(86_400, 'other')]).toEqual([0, 45, 0]);
  machine.step(120);
  await first.record();
  machine.step(-120);
  expect(secondsAfter(undefined, 'other')).toBe(50);
  first.stop();
});

test('a time that was read before a person accepted the clock is not recorded after that', async () => {
  const machine = new TestClock('2026-03-01T00:00:00Z');
  const store = appliance.store.prefixed('race');
  const [one, other] = [0, 1].map(() => watchClock(store, machine, { earliest: machine.now() })) as [ClockWatch, ClockWatch];
  await one.record();
  machine.step(86_400);
  await one.record();
  other.clock.now();
  machine.step(-86_400);
  let told = 0;
  other.onSetBack(() => void told++);
  const right = machine.now();
  const accepting = other.accept();
  // It does not know yet, and its write comes after the other one.
  await Promise.all([accepting, one.record()]);
  await one.record();
  const begun = watchClock(store, machine, { earliest: right });
  for (const watch of [other, begun]) expect(watch.clock.now().toString()).toBe(right.toString());
  expect(told).toBe(1);
  for (const watch of [one, other, begun]) watch.stop();
});

test('two minutes back, a token and a secret-id that have ended work no more, and a lock-out ends', async () => {
  const create = await appliance.request('POST', '/v1/state/keystore/token/create', { ttl: '60s' });
  const works = async (): Promise<number> =>
    (await appliance.request('GET', health.replace('health', 'hsm'), undefined, { token: create.body.token })).status;
  expect(await works()).toBe(200);
  const login = (): Promise<number> =>
    appliance
      .request('POST', '/v1/approle-login', { 'role-id': 'nobody-there', 'secret-id': 'wrong' }, { token: undefined })
      .then(({ status }) => status);
  for (let attempt = 0; attempt < 10; attempt++) expect(await login()).toBe(401);
  expect(await login()).toBe(429);
  for (const step of [-120, -86_400]) {
    appliance.clock.advance(70);
    expect([await works(), await login()]).toEqual([401, 401]);
    for (let attempt = 0; attempt < 12; attempt++) await login();
    appliance.clock.step(step);
    expect([await works(), await login()]).toEqual([401, 429]);
  }
  appliance.clock.advance(70);
  expect([await works(), await login()]).toEqual([401, 401]);
  appliance.clock.step(86_400 + 120);
});

test('a small correction of the clock is none of this', async () => {
  appliance.clock.step(-200);
  expect((await appliance.request('GET', health)).body.clock).toEqual({ state: 'up' });
});

test('what the image is, the tenant system may read, and no other; a machine without it says so', async () => {
  const image = '/v1/state/system/image';
  expect(await appliance.request('GET', image)).toMatchObject({ status: 200, body: { 'is-image': false } });
  expect((await appliance.request('GET', image, undefined, { token: foreign })).status).toBe(404);
});

test('where the PINs come from is told to those who may seal, and to no other reader of the HSM', async () => {
  const read = async (token?: string) =>
    (await appliance.request('GET', '/v1/state/system/hsm', undefined, token === undefined ? {} : { token })).body;
  expect(await read()).toMatchObject({ start: { pins: [{ token: 'main' }], 'pin-files': expect.any(Array) } });
  const rules = [{ path: '/v1/**', operations: { all: 'allow' } }];
  await appliance.request('POST', '/v1/config/policy/policies', { name: 'everything', 'rest-api': { rules } });
  const made = await appliance.request('POST', '/v1/state/keystore/token/create', { policies: ['everything'] });
  const body = await read(String(made.body.token));
  expect(body).toMatchObject({ tokens: [{ name: 'main' }] });
  expect(body).not.toHaveProperty('start');
});
