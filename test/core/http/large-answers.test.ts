// A large answer goes out in pieces and does not spoil the request that follows it on its connection.
import { Agent, request as httpsRequest } from 'node:https';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { defined } from '../../../core/base/defined.ts';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
let appliance: TestAppliance;

beforeAll(async () => {
  appliance = await startTestAppliance({ directory: path() });
});

afterAll(async () => {
  await appliance.close();
});

test('after the largest answer, a request whose head and body come apart is answered like any other', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
  for (let round = 0; round < 30; round += 1) {
    const page = await exchange(agent, 'GET', '/v1/openapi.json');
    expect(page.status).toBe(200);
    expect(page.bytes).toBeGreaterThan(256 * 1024);
    expect(page.connection).toBe('keep-alive');
    const answer = await exchange(agent, 'POST', '/v1/state/keystore/crypto-functions/random-bytes', '{"bytes": 8}');
    expect(answer.status).toBe(200);
  }
  agent.destroy();
});

type Exchanged = { readonly status: number | undefined; readonly bytes: number; readonly connection: string | undefined };

function exchange(agent: Agent, method: string, target: string, body?: string): Promise<Exchanged> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${appliance.rootToken}`, 'content-type': 'application/json' };
    const length = defined({ 'content-length': body?.length });
    const request = httpsRequest(`${appliance.url}${target}`, { method, agent, headers: { ...headers, ...length } }, (response) => {
      let bytes = 0;
      response.on('data', (chunk: Buffer) => (bytes += chunk.length));
      response.on('end', () => resolve({ status: response.statusCode, bytes, connection: response.headers.connection }));
    });
    request.on('error', reject);
    request.flushHeaders();
    if (body !== undefined) request.write(body);
    request.end();
  });
}
