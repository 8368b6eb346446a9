// The test appliance with helpers for OpenPGP keys: the plugins transit and openpgp only, and a clock that the test sets.
import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { TestClock } from '../../harness/clock.ts';
import type { Statement } from '../../../plugins/openpgp/certificates/certificate.ts';
import openpgp from '../../../plugins/openpgp/index.ts';
import transit from '../../../plugins/transit/index.ts';
import { type Answer, startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';

const config = '/v1/config/keystore/transit-keys';
const state = '/v1/state/keystore/transit-keys';

/** What openpgp-verify says of a good signature. */
type Verdict = { readonly valid: boolean; readonly version?: number; readonly fingerprint?: string };

export type OpenpgpHarness = Awaited<ReturnType<typeof startOpenpgpHarness>>;

/** Starts an appliance whose clock shows `start`. */
export async function startOpenpgpHarness(directory: string, start: string) {
  return harnessOf(await startTestAppliance({ directory, clock: new TestClock(start), plugins: [transit, openpgp] }));
}

function harnessOf(appliance: TestAppliance) {
  const request = (method: string, path: string, body?: unknown): Promise<Answer> => appliance.request(method, path, body);
  const act = (name: string, action: string, body: unknown = {}): Promise<Answer> => request('POST', `${state}/${name}/${action}`, body);
  // Actions without output answer 204, all others 200.
  const run = (name: string, action: string, body?: unknown): Promise<Answer['body']> => ok(act(name, action, body));
  return {
    ...appliance,
    act,
    do: run,
    create: (name: string, fields: object = {}) => ok(request('POST', config, { name, ...fields })),
    send: (...sent: Parameters<TestAppliance['request']>): Promise<Answer> => appliance.request(...sent),
    config: (name: string) => ok(request('GET', `${config}/${name}`)),
    state: (name: string) => ok(request('GET', `${state}/${name}`)),
    exists: async (name: string) => (await request('GET', `${config}/${name}`)).status === 200,
    patch: (name: string, fields: object) => request('PATCH', `${config}/${name}`, fields),
    put: (name: string, fields: object) => request('PUT', `${config}/${name}`, fields),
    remove: (name: string) => request('DELETE', `${config}/${name}`),
    importBlock: (name: string, block: string) => request('POST', '/v1/state/keystore/import-openpgp', { name, openpgp: block }),
    /** The public block of a version, by default the latest. */
    block: async (name: string, version: number | 'latest' = 'latest'): Promise<string> => {
      const { keys } = await run(name, 'export-openpgp-public', { version });
      expect(keys).toHaveLength(1);
      return keys[0].keyblock;
    },
    /** A signature over octets. */
    sign: async (name: string, data: Uint8Array, fields: object = {}): Promise<string> =>
      (await run(name, 'openpgp-sign', { text: base64(data), ...fields })).signature,
    verify: (name: string, signature: string, data: Uint8Array): Promise<Verdict> =>
      run(name, 'openpgp-verify', { text: base64(data), signature }),
    isValid: async (name: string, signature: string, data: Uint8Array): Promise<boolean> =>
      (await run(name, 'openpgp-verify', { text: base64(data), signature })).valid,
    today: (): Date => new Date(appliance.clock.now().epochMilliseconds),
    /** The records of the audit trail, oldest first. */
    auditRecords: (): readonly Record<string, unknown>[] => {
      const directory = `${appliance.directory}/audit`;
      const lines = readdirSync(directory).flatMap((file) => readFileSync(`${directory}/${file}`, 'utf8').trim().split('\n'));
      return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    },
    /** Every broken invariant of the store and of the plugins. */
    findings: async () => {
      appliance.store.refresh();
      return appliance.check();
    },
  };
}

/** Expects success and gives the body. */
async function ok(answer: Promise<Answer>): Promise<Answer['body']> {
  const { status, body } = await answer;
  expect({ success: status >= 200 && status < 300, ...(status < 300 ? {} : { status, body }) }).toEqual({ success: true });
  return body;
}

/** What a primary key with one User ID says of itself. */
export function statementWith(userId: string): Statement {
  return { userIds: [userId], revokedUserIds: [], lifetime: undefined };
}

/** Attached fields of a key without any. */
export const noFields = { openpgpKeyUsage: [] } as const;

/** Status and code of a refusal. */
export async function codeOf(answer: Promise<Answer>): Promise<{ status: number; code: string }> {
  const { status, body } = await answer;
  return { status, code: body?.code };
}

export function base64(octets: Uint8Array | string): string {
  return Buffer.from(octets).toString('base64');
}
