// The key that signs custody statements: in the token for good, replaced on demand or when it is lost, and published as long as it verifies.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { StatementRefused, verifyStatement } from '../../../appliance/attestation/statement-jws.ts';
import { thumbprintOf } from '../../../core/base/public-keys/jwk.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { keyObjectLabels, removeKeyObject } from '../../harness/token/token-objects.ts';
import { type TransitHarness, codeOf, ok, startTransitHarness } from '../../plugins/transit/harness.ts';
import { publishedKeys, statementOf } from '../../plugins/transit/custody/statements.ts';

const path = temporaryDirectory();
const rotatePath = '/v1/state/system/rotate-attestation-key';
let harness: TransitHarness;
let pin: string;

beforeAll(async () => {
  harness = await startTransitHarness(path('harness'));
  pin = readFileSync((harness.token.pin as { file: string }).file, 'utf8');
  await harness.create('orders');
});
afterAll(async () => {
  await harness.expectSound();
  await harness.stop();
});

const objects = async (): Promise<string[]> =>
  (await keyObjectLabels(harness.token, pin)).filter((label) => label.startsWith('keystored system attestation '));
const kidsOf = async (): Promise<string[]> => (await publishedKeys(harness)).map((key) => thumbprintOf(key));

test('it is one object of the token, which shows no value and lets nothing out', async () => {
  await statementOf(harness, 'orders');
  const [name = ''] = harness.hsm.status().map((token) => token.name);
  const own = (await harness.hsm.ownObjects(name, 100)).filter(({ label }) => label.startsWith('keystored system attestation '));
  expect(own).toMatchObject([{ kind: 'private', isSensitive: true, isExtractable: false, uses: ['sign'], needless: [] }]);
});

test('a rotation makes another key, destroys the former one in the token, and keeps it published', async () => {
  const before = await statementOf(harness, 'orders');
  const [first] = await kidsOf();
  const { kid } = await ok(200, harness.request('POST', rotatePath, {}));
  expect(await kidsOf()).toEqual([first, kid]);
  expect(await objects()).toEqual(['keystored system attestation v2 attest']);
  const keys = await publishedKeys(harness);
  expect(verifyStatement(before, keys).kid).toBe(first);
  const after = await statementOf(harness, 'orders');
  expect(verifyStatement(after, keys).kid).toBe(kid);
  expect(() => verifyStatement(after, keys.slice(0, 1))).toThrow(StatementRefused);
  const record = harness.records().findLast((one) => one['path'] === rotatePath);
  expect(record).toMatchObject({ status: 200, 'request-parameters': { kid } });
});

test('statements that are made while it is rotated verify, and each rotation answers a key that is published', async () => {
  const known = (await kidsOf()).length;
  const rotations = Array.from({ length: 3 }, () => ok(200, harness.request('POST', rotatePath, {})));
  const statements = Array.from({ length: 20 }, () => statementOf(harness, 'orders'));
  const kids = new Set((await Promise.all(rotations)).map(({ kid }) => String(kid)));
  const keys = await publishedKeys(harness);
  for (const statement of await Promise.all(statements))
    expect(keys.map((key) => thumbprintOf(key))).toContain(verifyStatement(statement, keys).kid);
  expect(keys.length - known).toBe(kids.size);
  expect(await objects()).toHaveLength(1);
});

test('a key that is removed from the token is replaced with the next statement', async () => {
  const known = await kidsOf();
  for (const label of await objects()) await removeKeyObject(harness.token, pin, 'privkey', label);
  const statement = await statementOf(harness, 'orders');
  const kids = await kidsOf();
  expect(kids).toHaveLength(known.length + 1);
  expect(verifyStatement(statement, await publishedKeys(harness)).kid).toBe(kids.at(-1));
});

test('what a crash left of a key that was being made is destroyed', async () => {
  const binding = { tenant: 'system', keyId: 'attestation', version: 99, purpose: 'attest' };
  const { stored } = await harness.hsm.generate('ecdsa-p256', binding, { custody: 'token', extractable: false });
  const pending = harness.store.table<object>('attestation-pending');
  await harness.store.write((transaction) =>
    transaction.put(pending, ['attestation', Buffer.from(stored.mac).toString('hex')], { stored, binding }),
  );
  expect(await objects()).toHaveLength(2);
  await harness.runJobs();
  expect(await objects()).toHaveLength(1);
  harness.store.refresh();
  expect(pending.count([])).toBe(0);
});

test('only root of the tenant system rotates it', async () => {
  const { token: user } = await ok(200, harness.request('POST', '/v1/state/keystore/token/create', { policies: ['user'] }));
  expect(await codeOf(harness.request('POST', rotatePath, {}, { token: String(user) }))).toEqual({ status: 403, code: 'policy-denied' });
  await ok(201, harness.request('POST', '/v1/config/tenants', { name: 'other', policies: ['root'] }));
  const { token: other } = await ok(200, harness.request('POST', '/v1/state/keystore/token/create-root', { name: 'other' }));
  expect(await codeOf(harness.request('POST', rotatePath, {}, { token: String(other) }))).toEqual({ status: 404, code: 'not-found' });
});
