// What node would answer itself, without a body and a record: a request without Host, and an expectation that it does not know.
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { openTls } from '../../harness/client.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
let appliance: TestAppliance;

beforeAll(async () => {
  appliance = await startTestAppliance({ directory: path() });
});
afterAll(() => appliance.close());

async function raw(head: string): Promise<string> {
  const socket = await openTls(Number(new URL(appliance.url).port), { host: '127.0.0.1', rejectUnauthorized: false });
  socket.write(`${head}\r\nconnection: close\r\n\r\n`);
  return Buffer.concat(await Array.fromAsync<Buffer>(socket)).toString();
}

const records = (): string =>
  readdirSync(path('audit'))
    .map((name) => readFileSync(path('audit', name), 'utf8'))
    .join('');

describe.each([
  ['no Host', 'GET /v1/config/tenants HTTP/1.1\r\nx-test: 1', 'host'],
  ['an expectation', 'GET /v1/config/tenants HTTP/1.1\r\nhost: x\r\nexpect: 200-ok', 'expect'],
])('%s', (_, head, name) => {
  test('is refused with a problem document that names the header', async () => {
    const answer = await raw(head);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('application/problem+json');
    expect(answer).toContain(`The header ${name} `);
    expect(answer).toMatch(/request-id/i);
  });

  test('of a caller with a token leaves a record', async () => {
    const answer = await raw(`${head}\r\nauthorization: Bearer ${appliance.rootToken}`);
    const id = /"request-id":"([^"]+)"/.exec(answer)?.[1] ?? /request-id: (\S+)/i.exec(answer)?.[1] ?? '';
    expect(id).not.toBe('');
    expect(records()).toContain(id);
  });
});

test('HTTP/1.0 needs no Host, and 100-continue is met', async () => {
  expect(await raw('GET /v1/state/system/health HTTP/1.0')).toMatch(/^HTTP\/1\.1 200 /);
  expect(await raw('GET /v1/state/system/health HTTP/1.1\r\nhost: x\r\nexpect: 100-continue')).toMatch(/HTTP\/1\.1 200 /);
});
