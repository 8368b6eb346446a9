// Words that people bring from other programs, and answers that lead on.
import { mkdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { otherWords, programCommands } from '../../../appliance/cli/program.ts';
import type { TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { ctlFor, type Ctl } from './run.ts';
import { startWholeAppliance } from './whole-appliance.ts';

const path = temporaryDirectory();
let appliance: TestAppliance;
let ctl: Ctl;

beforeAll(async () => {
  for (const name of ['appliance', 'home']) mkdirSync(path(name));
  appliance = await startWholeAppliance(path('appliance'));
  ctl = ctlFor(appliance, readFileSync(path('appliance', 'tls-cert.pem'), 'utf8'), path('home'));
});
afterAll(() => appliance.close());

test.each(Object.keys(otherWords))('%s is answered with the word that does it here', async (word) => {
  expect(programCommands.map(({ name }) => name)).not.toContain(word);
  const { code, stderr } = await ctl([word, 'transit-keys']);
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(`keystorectl ${otherWords[word]}`) });
});

test('-o is --output', async () => {
  const yaml = await ctl(['list', 'policies', '-o', 'yaml']);
  expect(yaml).toMatchObject({ code: 0, stdout: expect.stringContaining('- name: ') });
  expect((await ctl(['show', 'health', '-o', 'xml'])).stderr).toContain('-o, --output <FORMAT>');
});

test('a word behind a flag that nothing takes is said to be neither true nor false', async () => {
  const { code, stderr } = await ctl(['create', 'transit-keys', 'flagged', '--exportable', 'yes']);
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('--exportable is true or false, and "yes" is neither') });
  expect((await ctl(['show', 'transit-keys', 'flagged'])).code).toBe(4);
  expect((await ctl(['create', 'transit-keys', '--exportable', 'yes'])).code).toBe(0);
});

test('policy check of a path that does not exist is a no, whatever the policies say', async () => {
  const { code, stdout } = await ctl(['policy', 'check', '/v1/config/no-such-thing', 'read']);
  expect({ code, answer: JSON.parse(stdout) }).toMatchObject({ code: 7, answer: { exists: false } });
  expect((await ctl(['policy', 'check', '/v1/config/keystore/transit-keys/orders', 'read'])).code).toBe(0);
});

test('completion names every shell that it has a script for', async () => {
  const summary = programCommands.find(({ name }) => name === 'completion')?.summary ?? '';
  const { stdout } = await ctl(['__complete', 'completion', '']);
  for (const shell of stdout.trim().split('\n')) expect(summary).toContain(shell);
});
