// The checklist of a ceremony: its commands are those that the machine takes, with the files that the appliance names.
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { runCustodians } from '../../../appliance/cli/custodians/command.ts';
import { ceremonySteps } from '../../../plugins/console/app/views/operations/ceremony-steps.ts';

const origin = 'https://keys.example:4646';
const steps = (files?: readonly string[], source: 'person' | 'own-file' = 'person') =>
  ceremonySteps(5, 3, origin, files && { 'opens-by-itself': false, pins: [{ token: 'default', source }], 'pin-files': files });
const commandOf = (id: string, ...given: Parameters<typeof steps>): string => steps(...given).find((one) => one.id === id)?.command ?? '';

test('keystorectl takes the command that makes shares: nothing but the configuration is missing here', async () => {
  const [, words = ''] = commandOf('make', ['/var/lib/keystored/pin']).split(' -- keystorectl custodians ');
  expect(words).toContain('--shares 5 --needed 3 --paper --pin-file /media/safe/pin');
  const stream = new PassThrough();
  const io = { stdin: stream, stdout: stream, stderr: stream, env: {} } as never;
  await expect(runCustodians(words.split(' '), {}, io)).rejects.toThrow('/etc/keystored/keystored.yaml');
});

test('what the appliance knows is ticked, and every file with a PIN is taken away', () => {
  const done = (...given: Parameters<typeof steps>) => steps(...given).flatMap(({ id, isDone }) => (isDone === true ? [id] : []));
  expect(done()).toEqual([]);
  expect(done(['/data/pin', '/data/so pin'])).toEqual(['attended']);
  expect(done([])).toEqual(['attended', 'keep']);
  expect(done(['/data/pin'], 'own-file')).toEqual([]);
  expect(commandOf('keep', ['/data/pin', "/data/it's"])).toBe(
    String.raw`cp /data/pin '/data/it'\''s' /media/safe/ && rm /data/pin '/data/it'\''s'`,
  );
  expect(commandOf('make', ['/data/so-pin', '/etc/hsm-pin'])).toContain('--pin-file /media/safe/hsm-pin');
});
