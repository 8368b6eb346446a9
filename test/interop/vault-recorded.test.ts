// Requests of OpenBao's command line, which no registry has: written from what a logging proxy saw of version 2.6.2, and sent again in order.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestAppliance, type TestAppliance } from '../harness/appliance.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

type Recorded = {
  /** the command */
  readonly of: string;
  readonly method: string;
  /** below `/v1/` */
  readonly path: string;
  readonly body?: unknown;
  /** default: that of root; false: none */
  readonly token?: string | false;
  readonly status: number;
  /** default: application/json */
  readonly type?: string;
  /** members of the answer, at its top and in `data` */
  readonly top?: object;
  readonly data?: object;
};

const recorded = JSON.parse(readFileSync(join(import.meta.dirname, 'vault-recorded/command-line.json'), 'utf8')) as readonly Recorded[];
const at = temporaryDirectory();
let appliance: TestAppliance;

beforeAll(async () => {
  appliance = await startTestAppliance({
    directory: at('vault'),
    configuration: { vault: { tenants: { system: {} }, pkiMounts: { pki: { tenant: 'system', ca: 'web' } } } },
  });
  await appliance.request('POST', '/v1/config/keystore/tls/ca', { name: 'web' });
});
afterAll(() => appliance.close());

test.each(recorded)(
  '$of: $method $path',
  async ({ method, path, body, token = appliance.rootToken, status, type = 'application/json', top = {}, data }) => {
    const headers = { 'x-vault-request': 'true', ...(token === false ? {} : { 'x-vault-token': token }) };
    // The client in Go sends JSON without a media type.
    const sent = body === undefined ? undefined : JSON.stringify(body);
    const answer = await appliance.request(method, `/v1/${path}`, sent, { token: null, headers: { ...headers, 'content-type': '' } });
    expect([answer.status, answer.headers['content-type']], answer.text).toEqual([status, type]);
    const document = typeof answer.body === 'object' && answer.body !== null ? answer.body : {};
    expect(document).toMatchObject({ ...top, ...(data === undefined ? {} : { data }) });
  },
);
