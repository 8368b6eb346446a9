// keystorectl asks for approval, shows and decides requests, and runs what was approved.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
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
  expect(refused.stderr).toContain(
    'the rule "key-material" needs 1 approval of people of anna. Give --ask-approval REASON to ask for them.',
  );
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

test('approvals shows what a request does, and approves only with its six words', async () => {
  const change = ['merge', 'transit-keys', 'box', '--allow-plaintext-backup', 'true', '--token', String(tokens['asker'])];
  const asked = (await ctl.json(...change, '--ask-approval', 'for the \u202Eknab')) as { id: string; 'digest-words': string };
  const asAnna = ['--token', String(tokens['anna'])];
  const { stdout: shown } = await ctl(['approvals', 'show', asked.id, ...asAnna]);
  expect(shown).toContain('allow-plaintext-backup: false -> true');
  expect(shown).toContain('in the words of the person who asks: "for the \u{FFFD}knab"');
  const approve = ['approvals', 'approve', asked.id, ...asAnna];
  expect((await ctl(approve, { stdin: '' })).stderr).toContain('--words');
  expect(await ctl([...approve, '--words', 'a b c d e f'])).toMatchObject({ code: 7, stderr: expect.stringContaining('are others') });
  expect((await ctl(approve, { typed: 'n\n', terminal: true })).code).toBe(1);
  expect(await ctl([...approve, '--words', asked['digest-words'].toUpperCase()])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('granted'),
  });
  expect((await ctl(['approvals', 'withdraw', asked.id, ...asAnna])).stdout).toContain('open (key-material: 0 of 1)');
  expect((await ctl(['approvals', 'reject', asked.id, 'nobody asked me', ...asAnna])).stdout).toContain('rejected');
  expect((await ctl(['approvals', 'list', ...asAnna])).stdout).toContain(asked.id);
});

test('apply asks for what needs approval and makes the rest, and makes it all when it is repeated after the approvals', async () => {
  const documents = [
    { resource: 'transit-keys', name: 'free', config: {} },
    { resource: 'policies', name: 'one', config: { description: 'first' } },
    { resource: 'policies', name: 'two', config: { description: 'second' } },
  ];
  writeFileSync(path('all.yaml'), documents.map((one) => JSON.stringify(one)).join('\n---\n'));
  const apply = ['apply', '-f', path('all.yaml'), '--yes', '--token', String(tokens['asker'])];
  expect(await ctl(apply)).toMatchObject({ code: 3, stderr: expect.stringContaining('approval-needed') });
  const asked = await ctl([...apply, '--ask-approval', 'as agreed on Monday']);
  expect(asked.code, asked.stderr).toBe(3);
  expect(asked.stdout).toContain('created transit-keys free');
  const waiting = Array.from(asked.stderr.matchAll(/policies \w+ waits for 1 approval: ([\da-f-]+) \(([a-z ]+)\)/g));
  expect(waiting).toHaveLength(2);
  for (const [, id = '', words = ''] of waiting)
    expect((await ctl(['approvals', 'approve', id, '--words', words, '--token', String(tokens['anna'])])).code).toBe(0);
  const done = await ctl([...apply, '--ask-approval', 'as agreed on Monday']);
  expect(done, done.stderr).toMatchObject({ code: 0, stdout: expect.stringMatching(/created policies one\ncreated policies two/) });
});

test('what never needs approval has no options for it', async () => {
  expect((await ctl(['do', 'transit-keys', 'box', 'encrypt', '--help'])).stdout).not.toContain('--ask-approval');
});
