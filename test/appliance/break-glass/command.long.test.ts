// keystored break-glass on a stopped appliance: it needs the PIN, and the next start takes the rules away.
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { rule, rulePath } from '../../core/approvals/people.ts';
import { startDaemon } from '../../harness/daemon.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const program = process.env['KEYSTORED_TEST_PROGRAM'] ?? resolve('appliance/keystored.ts');

function breakGlass(...words: readonly string[]): { status: number | null; said: string } {
  const shared = ['--data', path('data'), '--tenant', 'system', '--reason', 'everybody has left'];
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'break-glass', ...shared, ...words], { encoding: 'utf8' });
  return { status, said: stdout + stderr };
}

test('break-glass needs a stopped appliance and the PIN, and the next start takes the rules away', async () => {
  const daemon = await startDaemon({ directory: path('data') });
  await daemon.request('POST', '/v1/config/keystore/authentication/approles', { name: 'gone' });
  await daemon.request('POST', rulePath, rule('all', { approvers: { approles: ['gone'] }, force: true }));
  const own = ['--pin-file', path('data', 'pin')];
  expect(breakGlass(...own, '--yes').said).toContain('is held by another running keystored');
  await daemon.stop();
  writeFileSync(path('wrong'), 'not the PIN');
  expect(breakGlass('--pin-file', path('wrong'), '--yes')).toEqual({
    status: 1,
    said: expect.stringContaining('the token refused the PIN that was given'),
  });
  // Custodians alone have the PIN then, and a PIN of somebody would use up a try of the token.
  writeFileSync(path('data', 'custodians.json'), '{}');
  expect(breakGlass('--pin-file', path('wrong'), '--yes')).toEqual({ status: 1, said: expect.stringContaining('there are custodians') });
  rmSync(path('data', 'custodians.json'));
  expect(breakGlass(...own)).toEqual({ status: 1, said: expect.stringContaining('approval rules: all.\nNothing was changed') });
  expect(existsSync(path('data', 'break-glass.json'))).toBe(false);
  expect(breakGlass(...own, '--yes').status).toBe(0);
  const next = await startDaemon({ directory: path('data'), rootToken: daemon.rootToken });
  await expect.poll(async () => (await next.request('GET', rulePath)) as unknown[], { timeout: 30_000 }).toEqual([]);
  const health = async (): Promise<unknown> => next.request('GET', '/v1/state/system/health');
  await expect.poll(health, { timeout: 30_000 }).toMatchObject({ 'break-glass': { state: 'unanswered' } });
  await next.stop();
});
