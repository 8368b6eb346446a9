// keystorectl asks for approval, shows and decides requests, and runs what was approved.
import { mkdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { ctlFor, type Ctl } from './run.ts';
import { startWholeAppliance } from './whole-appliance.ts';

const path = temporaryDirectory();
let appliance: TestAppliance;
let ctl: Ctl;
const people = ['asker', 'anna'] as const;
const tokens: Record<string, string> = {};

beforeAll(async () => {
  for (const name of ['appliance', 'home']) mkdirSync(path(name));
  appliance = await startWholeAppliance(path('appliance'));
  ctl = ctlFor(appliance, readFileSync(path('appliance', 'tls-cert.pem'), 'utf8'), path('home'));
  await ctl.json('create', 'transit-keys', 'box', '--exportable', 'true');
  for (const name of people) {
    await ctl.json('create', 'approles', name, '--token-policies', 'root');
    const { 'role-id': roleId } = (await ctl.json('show', 'approles', name)) as Record<string, string>;
    const { 'secret-id': secretId } = (await ctl.json('do', 'approles', name, 'generate-secret-id')) as Record<string, string>;
    const { body } = await appliance.request(
      'POST',
      '/v1/approle-login',
      { 'role-id': roleId, 'secret-id': secretId },
      { token: undefined },
    );
    tokens[name] = String(body.token);
  }
  const words = ['--acts', 'take-keys-out', '--needed', '1', '--approvers/approles', 'anna', '--force', 'true'];
  await ctl.json('create', 'rules', 'key-material', ...words);
});
afterAll(() => appliance.close());

test('an export is refused, asked for, approved and run', async () => {
  const exporting = ['do', 'transit-keys', 'box', 'export', '--token', String(tokens['asker'])];
  const refused = await ctl(exporting);
  expect(refused.code).toBe(3);
  expect(refused.stderr).toContain('the rule "key-material" needs 1 approvals of people of anna');
  const asked = (await ctl.json(...exporting, '--ask-approval', 'for the bank: müller & co')) as { id: string; digest: string };
  expect(asked).toMatchObject({ needed: 1, id: expect.stringMatching(/^[0-9a-f-]{36}$/) });
  const asAnna = ['--token', String(tokens['anna'])];
  const shown = (await ctl.json('show', 'approvals', asked.id, ...asAnna)) as { digest: string };
  expect(shown).toMatchObject({ 'may-decide': true, reason: 'for the bank: müller & co', state: 'open' });
  const decided = await ctl.json('do', 'approvals', asked.id, 'approve', '--digest', shown.digest, ...asAnna);
  expect(decided).toMatchObject({ state: 'granted' });
  expect(await ctl.json(...exporting, '--approval', asked.id)).toHaveProperty('keys');
  expect((await ctl([...exporting, '--approval', asked.id])).code).toBe(5);
});

test('what never needs approval has no options for it', async () => {
  expect((await ctl(['do', 'transit-keys', 'box', 'encrypt', '--help'])).stdout).not.toContain('--ask-approval');
});
