// Large bodies of all requests together take no more memory than there is for them: they wait in line, and not for ever.
import { once } from 'node:events';
import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { BodyRoom } from '../../../core/http/request/body-room.ts';
import { startCoreApp, type CoreApp } from '../../harness/core-app.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { things } from '../../harness/things.ts';

const at = temporaryDirectory();

describe('the room', () => {
  /** Enters with a body of so many octets, each of which takes one of memory. */
  const entering =
    (room: BodyRoom, log: string[]) =>
    (tenant: string, octets: number, name: string, origin = tenant) =>
      room.enter({
        owner: { tenant, origin },
        octets,
        memoryPerOctet: 1,
        proceed: () => void log.push(`${name} in`),
        refuse: (reason) => void log.push(`${name} ${reason}`),
      });

  test('never holds more than its octets, lets in first come first served, and a body leaves once', () => {
    const room = new BodyRoom({ octets: 100 });
    const log: string[] = [];
    const enter = entering(room, log);
    const [a, b] = [enter('1', 50, 'a'), enter('2', 40, 'b')];
    const c = enter('3', 20, 'c');
    enter('4', 5, 'd');
    expect([log, room.held, room.waiting]).toEqual([['a in', 'b in'], 90, 2]);
    b.leave();
    b.leave();
    expect([log, room.held, room.waiting]).toEqual([['a in', 'b in', 'c in', 'd in'], 75, 0]);
    for (const place of [a, c]) place.leave();
    expect(room.held).toBe(5);
  });

  test('a tenant has half of it at most and an approle less, and others pass those who wait for it', () => {
    const room = new BodyRoom({ octets: 120 });
    const log: string[] = [];
    const enter = entering(room, log);
    const first = enter('1', 30, 'first', 'a');
    enter('1', 30, 'same approle', 'a');
    enter('1', 20, 'other approle', 'b');
    enter('1', 20, 'third approle', 'c');
    expect([log, room.held, room.waiting]).toEqual([['first in', 'other approle in'], 50, 2]);
    const huge = enter('2', 1_000, 'huge');
    expect([log.at(-1), room.held]).toEqual(['huge in', 110]);
    for (const place of [huge, first]) place.leave();
    expect([log.slice(3), room.held]).toEqual([['same approle in'], 50]);
  });

  test('however many tenants take their shares, one that has nothing yet gets some', () => {
    const room = new BodyRoom({ octets: 1_000 });
    const log: string[] = [];
    const enter = entering(room, log);
    for (let tenant = 0; tenant < 5; tenant++) for (let n = 0; n < 64; n++) enter(`${tenant}`, 10, 'greedy', `${tenant} ${n}`);
    const greedy = log.length;
    enter('modest', 10, 'modest');
    expect([log.at(-1), log.length]).toEqual(['modest in', greedy + 1]);
  });

  test('who goes away while waiting leaves the line, and who waits too long is refused and makes way', () => {
    vi.useFakeTimers();
    try {
      const room = new BodyRoom({ octets: 100, patienceMs: 1_000 });
      const log: string[] = [];
      const enter = entering(room, log);
      const [a, b] = [enter('1', 50, 'a'), enter('2', 40, 'b')];
      for (const place of [a, b]) place.whole(50);
      for (const place of [a, b]) expect(place.arrived(50)).toBe(true);
      enter('3', 50, 'gone').leave();
      vi.advanceTimersByTime(500);
      const late = enter('4', 50, 'late');
      enter('5', 10, 'small').whole(10);
      expect([log, room.waiting]).toEqual([['a in', 'b in'], 1]);
      vi.advanceTimersByTime(999);
      enter('6', 50, 'later');
      vi.advanceTimersByTime(1);
      expect(log).toEqual(['a in', 'b in', 'late no-room']);
      for (const place of [late, a, b]) place.leave();
      expect([log.at(-1), room.waiting]).toEqual(['later in', 0]);
    } finally {
      vi.useRealTimers();
    }
  });

  describe('and time', () => {
    beforeEach(() => void vi.useFakeTimers());
    afterEach(() => void vi.useRealTimers());
    const mebibyte = 1024 * 1024;

    test('a body that does not come gives back what it does not need, and goes on in steps', () => {
      const room = new BodyRoom({ octets: 8 * mebibyte });
      const log: string[] = [];
      const slow = entering(room, log)('1', 4 * mebibyte, 'slow');
      expect(room.held).toBe(4 * mebibyte);
      vi.advanceTimersByTime(2_000);
      expect(room.held).toBeLessThan(mebibyte / 4);
      for (let arrived = 0; arrived <= 4 * mebibyte; arrived += 65_536) {
        expect(slow.arrived(arrived)).toBe(true);
        expect(room.held).toBeGreaterThanOrEqual(arrived);
        expect(room.held).toBeLessThan(arrived + mebibyte / 4);
      }
      slow.whole(4 * mebibyte);
      expect([new Set(log), room.held]).toEqual([new Set(['slow in']), 4 * mebibyte]);
    });

    test('a step that has no room waits in line, and the body goes on when there is some', () => {
      const room = new BodyRoom({ octets: 2 * mebibyte });
      const log: string[] = [];
      const enter = entering(room, log);
      const slow = enter('1', mebibyte, 'slow');
      vi.advanceTimersByTime(2_000);
      const others = [enter('2', mebibyte, 'b'), enter('3', mebibyte - 131_072, 'c')];
      for (const place of others) place.whole(mebibyte - 131_072);
      expect(slow.arrived(131_072)).toBe(true);
      expect([slow.arrived(262_144), room.waiting, log]).toEqual([false, 1, ['slow in', 'b in', 'c in']]);
      others[0]?.leave();
      expect([room.waiting, log.at(-1)]).toEqual([0, 'slow in']);
    });

    test('one that comes quickly keeps room for all of it', () => {
      const room = new BodyRoom({ octets: 8 * mebibyte });
      const log: string[] = [];
      const quick = entering(room, log)('1', 4 * mebibyte, 'quick');
      for (let second = 1; second < 12; second++) {
        quick.arrived(second * 300 * 1024);
        vi.advanceTimersByTime(1_000);
      }
      expect([log, room.held]).toEqual([['quick in'], 4 * mebibyte]);
    });

    test('one of which less than 8 KiB come in a second is given up after ten, and one that waits for room is not', () => {
      const room = new BodyRoom({ octets: 2 * mebibyte });
      const log: string[] = [];
      const enter = entering(room, log);
      const [lazy, steady] = [enter('1', mebibyte / 2, 'lazy'), enter('2', mebibyte / 2, 'steady')];
      const whole = enter('3', mebibyte, 'whole');
      whole.whole(mebibyte);
      enter('4', mebibyte, 'waits');
      for (let second = 1; second <= 10; second++) {
        lazy.arrived(second * 8_000);
        steady.arrived(second * 9_000);
        vi.advanceTimersByTime(1_000);
      }
      expect(log).toEqual(['lazy in', 'steady in', 'whole in', 'lazy too-slow']);
    });
  });
});

describe('requests', () => {
  const room = new BodyRoom({ octets: 6 * 1024 * 1024, patienceMs: 300_000 });
  let app: CoreApp;
  let tokens: string[];
  let most = 0;

  beforeAll(async () => {
    app = await startCoreApp({ directory: at('core'), plugin: things, bodyRoom: room });
    tokens = [app.rootToken, await app.makeTenant('other', ['root']), await app.makeTenant('third', ['root'])];
    for (const token of tokens) await app.send('POST', '/v1/config/things', { name: 'one' }, { token });
  });
  afterAll(() => app.stop());

  const path = '/v1/state/things/one/seal-up';
  /** 256 KiB, which counts as 1 MiB: a token has room for two, all together for six */
  const large = JSON.stringify({ payload: Buffer.alloc(3 * 63 * 1024).toString('base64') }).padEnd(256 * 1024);

  /** A request of which the body is still to come. */
  function begin(token: string | undefined, target = path, type = 'application/json'): ClientRequest {
    const headers = { authorization: `Bearer ${token}`, 'content-type': type, 'content-length': large.length };
    const request = httpRequest(`${app.url}${target}`, { method: 'POST', headers, agent: false });
    request.on('error', () => undefined).flushHeaders();
    return request;
  }
  async function finish(request: ClientRequest): Promise<number | undefined> {
    const [response] = (await once(request.end(large), 'response')) as [IncomingMessage];
    await once(response.resume(), 'end');
    most = Math.max(most, room.held);
    return response.statusCode;
  }
  const settled = (held: number, waiting: number): Promise<void> =>
    vi.waitFor(() => expect([room.held, room.waiting]).toEqual([held * 1024 * 1024, waiting]), { timeout: 30_000, interval: 5 });

  test('wait in line for each other, and every one is answered', async () => {
    const slow = begin(tokens[0]);
    await settled(1, 0);
    const answers = Array.from({ length: 12 }, (_, index) => finish(begin(tokens[index % tokens.length])));
    expect(await Promise.all(answers)).toEqual(Array(12).fill(200));
    expect(await finish(slow)).toBe(200);
    await settled(0, 0);
    expect(most).toBeLessThanOrEqual(6 * 1024 * 1024);
  });

  test('another tenant and small ones pass those that wait', async () => {
    const slow = [begin(tokens[0]), begin(tokens[0])];
    await settled(2, 0);
    const waiting = finish(begin(tokens[0]));
    await settled(2, 1);
    expect((await app.send('POST', path, { payload: 'AP8=' })).status).toBe(200);
    expect((await app.send('POST', path, large, { token: tokens[1] ?? '' })).status).toBe(200);
    expect(await Promise.all([...slow.map(finish), waiting])).toEqual([200, 200, 200]);
    await settled(0, 0);
  });

  test('one that is broken off, before it got room or after, gives its place back', async () => {
    const slow = [begin(tokens[0]), begin(tokens[0])];
    await settled(2, 0);
    const waiting = begin(tokens[0]);
    await settled(2, 1);
    waiting.destroy();
    await settled(2, 0);
    for (const request of slow) request.destroy();
    await settled(0, 0);
    expect((await app.send('POST', path, large)).status).toBe(200);
  });

  test('one of no announced length asks for room when it gets large', async () => {
    const headers = { authorization: `Bearer ${tokens[0]}`, 'content-type': 'application/json' };
    const request = httpRequest(`${app.url}${path}`, { method: 'POST', headers, agent: false });
    request.write(large.slice(0, 128 * 1024));
    // 4 MiB is what it may become, and half of the room what it gets.
    await settled(3, 0);
    const [response] = (await once(request.end(large.slice(128 * 1024)), 'response')) as [IncomingMessage];
    expect(response.resume().statusCode).toBe(200);
    await settled(0, 0);
  });

  test('callers who are refused get none, whatever they say of its length and however slowly it comes', async () => {
    const { token } = (await app.send('POST', '/v1/state/keystore/token/create', { policies: ['default'] })).body as { token: string };
    const missing = path.replace('one', 'missing');
    for (const [as, target, status, type] of [
      [token, path, 403],
      [tokens[0], path, 415, 'text/plain'],
      [tokens[0], missing, 404],
      [tokens[0], `${path}?unknown=1`, 400],
    ] as const) {
      const slow = Array.from({ length: 16 }, () => begin(as, target, type));
      const answers = await Promise.all(
        slow.map(async (request) => ((await once(request, 'response')) as [IncomingMessage])[0].statusCode),
      );
      expect([answers, room.held, room.waiting]).toEqual([Array(16).fill(status), 0, 0]);
      for (const request of slow) request.destroy();
    }
  });

  test('slow ones of two tenants leave room for a third', async () => {
    const slow = [0, 1].flatMap((tenant) => Array.from({ length: 16 }, () => begin(tokens[tenant])));
    await vi.waitFor(() => expect(room.waiting).toBeGreaterThan(20), { timeout: 30_000, interval: 5 });
    expect((await app.send('POST', path, large, { token: tokens[2] ?? '' })).status).toBe(200);
    for (const request of slow) request.destroy();
    await settled(0, 0);
  });

  test('unauthenticated callers get none', async () => {
    expect((await app.send('POST', path, large, { token: null })).status).toBe(401);
    expect([room.held, room.waiting]).toEqual([0, 0]);
  });
});

test('a request that waits too long is answered 503 busy with Retry-After', async () => {
  const full = new BodyRoom({ octets: 2, patienceMs: 50 });
  const app = await startCoreApp({ directory: at('full'), plugin: things, bodyRoom: full });
  try {
    for (const tenant of ['one', 'two'])
      full.enter({ owner: { tenant, origin: tenant }, octets: 1, memoryPerOctet: 1, proceed: () => undefined, refuse: () => undefined });
    await app.send('POST', '/v1/config/things', { name: 'one' });
    const answer = await app.send('POST', '/v1/state/things/one/seal-up', ' '.repeat(100_000));
    expect(answer).toMatchObject({ status: 503, body: { code: 'busy' }, headers: { 'retry-after': '5' } });
  } finally {
    await app.stop();
  }
});
