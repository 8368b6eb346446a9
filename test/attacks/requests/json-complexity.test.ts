// OpenBao CVE-2025-59043: JSON of a few megabytes cost gigabytes before authentication.
import { beforeAll, describe, expect, test } from 'vitest';
import { startVictim, type Victim } from '../victim.ts';

let victim: Victim;
beforeAll(async () => {
  victim = await startVictim();
  await victim.request('POST', '/v1/config/keystore/transit-keys', { name: 'k' });
});

const repeated = (text: string, times: number): string => Array.from({ length: times }, () => text).join('');
const bodies: readonly (readonly [string, string, number])[] = [
  ['nesting of lists', `{"plaintext":${repeated('[', 200_000)}${repeated(']', 200_000)}}`, 400],
  ['nesting of objects', `${repeated('{"a":', 200_000)}1${repeated('}', 200_000)}`, 400],
  ['nesting that never ends', repeated('{"a":[', 300_000), 400],
  ['a million keys', `{${Array.from({ length: 300_000 }, (_, n) => `"k${n}":0`).join(',')}}`, 400],
  ['one key, a million times', `{${repeated('"plaintext":"",', 250_000)}"plaintext":""}`, 400],
  ['a list of a million', `{"batch-input":[${repeated('0,', 1_000_000)}0]}`, 400],
  ['a batch of empty objects', `{"batch-input":[${repeated('{},', 60_000)}{}]}`, 400],
  ['a huge number', `{"key-version":${repeated('9', 1_000_000)}}`, 400],
  ['a huge exponent', '{"key-version":1e999999999}', 400],
  ['a tiny fraction', `{"key-version":0.${repeated('0', 1_000_000)}1}`, 400],
  ['__proto__', '{"__proto__":{"plaintext":"aGVsbG8=","admin":true}}', 400],
  ['constructor and prototype', '{"constructor":{"prototype":{"plaintext":"aGVsbG8="}}}', 400],
  ['escapes', `{"plaintext":"${repeated(String.raw`\u0041`, 600_001)}"}`, 400],
  ['backslashes without an end', `{"plaintext":"${repeated('\\', 3_000_000)}`, 400],
  ['quotes without an end', `{${repeated('"', 3_000_001)}`, 400],
  ['white space', `{${repeated(' ', 4_000_000)}}`, 400],
  ['over four megabytes', `{"plaintext":"${repeated('A', 4_500_000)}"}`, 413],
];

describe.each(bodies)('%s', (_, body, expected) => {
  test('with a token: refused at small cost, and the next request is served', async () => {
    const began = process.cpuUsage();
    expect((await victim.request('POST', '/v1/state/keystore/transit-keys/k/encrypt', body)).status).toBe(expected);
    // Processor time, which other work on the machine does not add to.
    const { user, system } = process.cpuUsage(began);
    expect((user + system) / 1_000_000).toBeLessThan(3);
    expect(await victim.verdict('POST', '/v1/state/keystore/transit-keys/k/encrypt', { plaintext: '' })).toBe('200 done');
  });

  test('without one: not read as a value at all', async () => {
    for (const path of ['/v1/state/keystore/transit-keys/k/encrypt', '/v1/approle-login']) {
      expect([400, 401, 413]).toContain((await victim.request('POST', path, body, { token: undefined })).status);
    }
  });
});

test('nothing of it changed what objects have', () => {
  expect(({} as Record<string, unknown>)['plaintext']).toBeUndefined();
  expect(({} as Record<string, unknown>)['admin']).toBeUndefined();
});

test('memory does not grow with what unauthenticated callers send', async () => {
  const body = bodies[3]?.[1] ?? '';
  const send = () => Promise.all(Array.from({ length: 8 }, () => victim.request('POST', '/v1/approle-login', body, { token: undefined })));
  await send();
  globalThis.gc?.();
  const before = process.memoryUsage().rss;
  for (let round = 0; round < 10; round++) await send();
  globalThis.gc?.();
  expect(process.memoryUsage().rss - before).toBeLessThan(300 << 20);
});
