// One reader takes neither all places nor all time: answers are counted when they are asked for, and a search that finds little goes on
// in the next answer.
import { once } from 'node:events';
import { appendFileSync, mkdirSync, readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { streamFilePath } from '../../../core/log/stream-files.ts';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { ctlFor } from '../../appliance/cli/run.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const at = temporaryDirectory();
const trail = '/v1/state/topics/system:audit-trail-log';
const patienceMs = 60_000;
let appliance: TestAppliance;
/** of tenant acme: root, and three tokens of each of two approles */
let root: string;
let readers: string[];
let otherReaders: string[];

beforeAll(async () => {
  appliance = await startTestAppliance({ directory: at() });
  await appliance.request('POST', '/v1/config/tenants', { name: 'acme' });
  root = String((await appliance.request('POST', '/v1/state/keystore/token/create-root', { name: 'acme' })).body.token);
  readers = await logIns('reader');
  otherReaders = await logIns('other-reader');
});
afterAll(() => appliance.close());

/** Tokens of three logins of a new approle. */
async function logIns(name: string): Promise<string[]> {
  const ask = async (method: string, path: string, body?: unknown) =>
    (await appliance.request(method, `/v1${path}`, body, { token: root })).body;
  await ask('POST', '/config/keystore/authentication/approles', { name, 'token-policies': ['root'] });
  const { 'role-id': roleId } = await ask('GET', `/state/keystore/authentication/approles/${name}`);
  const { 'secret-id': secretId } = await ask('POST', `/state/keystore/authentication/approles/${name}/generate-secret-id`, {});
  const logIn = async () => String((await ask('POST', '/approle-login', { 'role-id': roleId, 'secret-id': secretId })).token);
  return Promise.all([logIn(), logIn(), logIn()]);
}

const turnOf = (tokens: readonly string[], index: number): string => tokens[index % tokens.length] ?? '';

/** Begins to read, and answers the status; the answer goes on until `end`. */
function open(query: string, token: string): { readonly status: Promise<number>; readonly end: () => void } {
  const sent = request(`${appliance.url}${trail}?${query}`, {
    headers: { authorization: `Bearer ${token}` },
    rejectUnauthorized: false,
    agent: false,
  });
  const status = new Promise<number>((resolve, reject) => {
    sent.on('response', (response) => resolve(response.resume().statusCode ?? 0));
    sent.on('error', reject);
  });
  sent.end();
  return { status, end: () => void sent.destroy() };
}

describe('places', () => {
  test('of 300 readers at once a tenant gets 16 and one approle fewer, however often it logs in; another one and another tenant get theirs', async () => {
    const crowd = Array.from({ length: 300 }, (_, index) => open('follow=true&limit=1', turnOf(readers, index)));
    const count = async (all: typeof crowd) =>
      (await Promise.all(all.map(({ status }) => status))).filter((status) => status === 200).length;
    expect(await count(crowd)).toBe(10);
    const others = Array.from({ length: 100 }, (_, index) => open('follow=true&limit=1', turnOf(otherReaders, index)));
    expect(await count(others)).toBe(6);
    const foreign = open('follow=true&limit=1', appliance.rootToken);
    expect(await foreign.status).toBe(200);
    for (const { end } of [...crowd, ...others, foreign]) end();
    await vi.waitFor(
      async () => expect((await appliance.request('GET', `${trail}?limit=1`, undefined, { token: readers[0] })).status).toBe(200),
      patienceMs,
    );
  });

  test('come back, also from those who go away before they are answered, and from heads', async () => {
    for (let round = 0; round < 3; round++) {
      const crowd = Array.from({ length: 40 }, () => open('follow=true&limit=1', readers[0] ?? ''));
      for (const { status, end } of crowd) {
        void status.catch(() => undefined);
        end();
      }
      const heads = Array.from({ length: 10 }, async () =>
        appliance.request('HEAD', `${trail}?follow=true`, undefined, { token: readers[0] }),
      );
      await Promise.all(heads);
    }
    const kept: ReturnType<typeof open>[] = [];
    await vi.waitFor(async () => {
      const one = open('follow=true&limit=1', readers[0] ?? '');
      kept.push(one);
      expect(await one.status).toBe(200);
      expect(kept.length).toBeGreaterThan(9);
    }, patienceMs);
    for (const { end } of kept) end();
  });
});

describe('a search in 80 MiB of which nearly nothing is wanted', () => {
  // The user of the wanted records: a name of hexadecimal digits alone would be found in accessors too.
  const wanted: string[] = [];

  beforeAll(() => {
    const filler = 'x'.repeat(8_000);
    for (const stream of ['old-1', 'old-2']) {
      let text = '';
      for (let n = 0; n < 5_000; n++) {
        const isWanted = n % 1_000 === 0;
        const id = `${stream} ${n}`;
        const occurredAt = `2025-01-01T${String(Math.floor(n / 3_600)).padStart(2, '0')}:${String(Math.floor(n / 60) % 60).padStart(2, '0')}:${String(n % 60).padStart(2, '0')}.000000Z`;
        text += `${JSON.stringify({ 'occurred-at': occurredAt, kind: 'request', 'request-id': id, user: isWanted ? 'olga' : 'bob', filler })}\n`;
        if (isWanted) wanted.push(id);
      }
      appendFileSync(streamFilePath(join(at(), 'audit'), stream, 1), text);
    }
  });

  /** Follows the links, and answers what each answer had. */
  async function pages(query: string, as = appliance.rootToken, most = Infinity): Promise<string[][]> {
    const found: string[][] = [];
    for (let path: string | undefined = `${trail}?${query}`; path !== undefined && found.length < most;) {
      const { status, body, headers } = await appliance.request('GET', path, undefined, { token: as });
      expect(status).toBe(200);
      const rows = String(body)
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Record<string, unknown>);
      found.push(rows.map((row) => String(row['request-id'])));
      path = /^<([^>]+)>; rel="next"$/.exec(String(headers['link'] ?? ''))?.[1];
    }
    return found;
  }
  const sorted = (ids: readonly string[]) => [...ids].sort();

  test('from a time on: each record comes once, in a few answers', async () => {
    const found = await pages('who=olga&since=2025-01-01T00:00:00Z&before=2025-12-31T00:00:00Z');
    expect(found.length).toBeGreaterThan(2);
    expect(found.length).toBeLessThan(6);
    expect(sorted(found.flat())).toEqual(sorted(wanted));
    for (const ids of found.slice(0, -1)) expect(ids.length).toBeLessThan(6);
  });

  test('the newest: further answers are older, and together they have as many as were asked for', async () => {
    const found = await pages('who=olga&limit=7');
    expect(found.length).toBeGreaterThan(1);
    const all = sorted(found.flat());
    expect(all).toHaveLength(7);
    expect(all).toEqual(
      sorted([...wanted].sort((a, b) => Number(b.split(' ')[1]) - Number(a.split(' ')[1])).slice(0, 8)).filter((id) => all.includes(id)),
    );
    expect((await pages('who=olga&limit=2')).flat()).toHaveLength(2);
  });

  test('nothing: the tenant that has no record there comes to the end, and gets its own', async () => {
    const found = await pages('since=2024-01-01T00:00:00Z', readers[0]);
    expect(found.length).toBeGreaterThan(2);
    expect(found.slice(0, -1).flat()).toEqual([]);
    expect(found.at(-1)?.length).toBeGreaterThan(0);
  });

  test('from a time on and followed: the answers before the last one end, and each is searched no further than others', async () => {
    const ends = await pages('who=olga&since=2025-01-01T00:00:00Z&follow=true', appliance.rootToken, 2);
    expect(ends.length).toBe(2);
    const followed = request(`${appliance.url}${trail}?since=2025-12-31T00:00:00Z&follow=true`, {
      ...{ headers: { authorization: `Bearer ${readers[0]}` }, rejectUnauthorized: false, agent: false },
    });
    const [answer] = (await once(followed.end(), 'response')) as [IncomingMessage];
    expect(answer.headers['link']).toBeUndefined();
    await once(answer, 'data');
    followed.destroy();
  });

  test('keystorectl goes on by itself, and prints in the order of time', async () => {
    const home = at('home');
    mkdirSync(home);
    const ctl = ctlFor(appliance, readFileSync(at('tls-cert.pem'), 'utf8'), home);
    const idsOf = async (...words: string[]) => {
      const { code, stdout } = await ctl(['show', 'topics', 'system:audit-trail-log', '--who', 'olga', ...words]);
      expect(code).toBe(0);
      return stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, string>);
    };
    const newest = await idsOf('--limit', '7');
    expect(newest).toHaveLength(7);
    const times = newest.map((row) => String(row['occurred-at']));
    expect(times).toEqual(sorted(times));
    const all = await idsOf('--since', '2025-01-01T00:00:00Z', '--before', '2025-12-31T00:00:00Z');
    expect(sorted(all.map((row) => String(row['request-id'])))).toEqual(sorted(wanted));
  });

  test('who sees all and asks for all gets all at once', async () => {
    const found = await pages('since=2025-01-01T00:00:00Z&before=2025-12-31T00:00:00Z');
    expect(found.map((ids) => ids.length)).toEqual([10_000]);
  });
});
