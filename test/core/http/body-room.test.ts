// Large bodies of all requests together take no more memory than there is for them: they wait in line, and not for ever.
import { once } from 'node:events';
import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { BodyRoom } from '../../../core/http/request/body-room.ts';
import { startCoreApp, type CoreApp } from '../../harness/core-app.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { things } from '../../harness/things.ts';

const at = temporaryDirectory();

describe('the room', () => {
  const names = (room: BodyRoom, log: string[]) => (holder: string, octets: number, name: string) =>
    room.enter(holder, octets, (isAdmitted) => log.push(`${name} ${isAdmitted ? 'in' : 'refused'}`));

  test('never holds more than its octets, lets in first come first served, and a body leaves once', () => {
    const room = new BodyRoom({ octets: 100 });
    const log: string[] = [];
    const enter = names(room, log);
    const [a, b] = [enter('1', 50, 'a'), enter('2', 40, 'b')];
    const c = enter('3', 20, 'c');
    enter('4', 5, 'd');
    expect([log, room.held, room.waiting]).toEqual([['a in', 'b in'], 90, 2]);
    b();
    b();
    expect([log, room.held, room.waiting]).toEqual([['a in', 'b in', 'c in', 'd in'], 75, 0]);
    for (const leave of [a, c]) leave();
    expect(room.held).toBe(5);
  });

  test('one holder has half of it at most, and others pass those who wait for it', () => {
    const room = new BodyRoom({ octets: 100 });
    const log: string[] = [];
    const enter = names(room, log);
    const first = enter('1', 30, 'first');
    enter('1', 30, 'second');
    enter('2', 1_000, 'huge');
    expect([log, room.held, room.waiting]).toEqual([['first in', 'huge in'], 80, 1]);
    first();
    expect([log, room.held]).toEqual([['first in', 'huge in', 'second in'], 80]);
  });

  test('who goes away while waiting leaves the line, and who waits too long is refused and makes way', () => {
    vi.useFakeTimers();
    try {
      const room = new BodyRoom({ octets: 100, patienceMs: 1_000 });
      const log: string[] = [];
      const enter = names(room, log);
      const [a, b] = [enter('1', 50, 'a'), enter('2', 40, 'b')];
      enter('3', 50, 'gone')();
      vi.advanceTimersByTime(500);
      const late = enter('4', 50, 'late');
      enter('5', 10, 'small');
      expect([log, room.waiting]).toEqual([['a in', 'b in'], 2]);
      vi.advanceTimersByTime(999);
      enter('6', 50, 'later');
      vi.advanceTimersByTime(1);
      expect(log).toEqual(['a in', 'b in', 'late refused', 'small in']);
      for (const leave of [late, a, b]) leave();
      expect([log.at(-1), room.held, room.waiting]).toEqual(['later in', 60, 0]);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('requests', () => {
  const room = new BodyRoom({ octets: 4 * 1024 * 1024, patienceMs: 300_000 });
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
  /** 256 KiB, which counts as 1 MiB: a tenant has room for two, all together for four */
  const large = JSON.stringify({ payload: Buffer.alloc(3 * 63 * 1024).toString('base64') }).padEnd(256 * 1024);

  /** A request of which the body is still to come. */
  function begin(token: string | undefined): ClientRequest {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'content-length': large.length };
    const request = httpRequest(`${app.url}${path}`, { method: 'POST', headers, agent: false });
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
    expect(most).toBeLessThanOrEqual(4 * 1024 * 1024);
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
    await settled(2, 0);
    const [response] = (await once(request.end(large.slice(128 * 1024)), 'response')) as [IncomingMessage];
    expect(response.resume().statusCode).toBe(200);
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
    for (const holder of ['one', 'two']) full.enter(holder, 1, () => undefined);
    const answer = await app.send('POST', '/v1/state/things/one/seal-up', ' '.repeat(100_000));
    expect(answer).toMatchObject({ status: 503, body: { code: 'busy' }, headers: { 'retry-after': '5' } });
  } finally {
    await app.stop();
  }
});
