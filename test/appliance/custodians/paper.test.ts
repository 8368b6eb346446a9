// Shares on paper: one at a time, each until it is written down, and nothing of one before the next custodian.
import { spawn } from 'node:child_process';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { showOnPaper } from '../../../appliance/cli/custodians/paper.ts';
import { formatShare } from '../../../appliance/custodians/share.ts';
import { Secret } from '../../../core/base/secret.ts';

const shares = [1, 2].map((number) =>
  formatShare({ ceremony: '7v2m0q4x', number, value: new Secret(Uint8Array.from({ length: 33 }, (_, at) => at * number)) }),
);
const texts = ['ks1-7v2m0q4x-1-', 'ks1-7v2m0q4x-2-'];

/** Shows the shares to people who answer by what they see: each screen, from one time that it is cleared to the next. */
async function shown(answer: (screen: string) => string | undefined): Promise<readonly string[]> {
  const [stdin, stderr] = [new PassThrough(), new PassThrough()];
  const screens: string[] = [''];
  stderr.on('data', (chunk: Buffer) => {
    const [first = '', ...more] = chunk.toString().split('\u001b[2J\u001b[3J\u001b[H');
    screens.push(`${screens.pop() ?? ''}${first}`, ...more);
    const said = answer(screens.at(-1) ?? '');
    if (said === undefined) stdin.end();
    else if (said !== '') stdin.write(`${said}\n`);
  });
  await showOnPaper(shares, { environment: {}, stdin, stdout: new PassThrough(), stderr });
  return screens;
}

test('each share is alone on the screen, with a code, until its last letters are typed', async () => {
  let wrong = 1;
  const screens = await shown((screen) => {
    if (screen.endsWith('press Enter.\n')) return ' ';
    if (!screen.endsWith('written down: ')) return '';
    return wrong-- > 0 ? 'abcd' : (/-(\w{4})\n/.exec(screen)?.[1] ?? '').toUpperCase();
  });
  const withShares = screens.filter((screen) => screen.includes('ks1-'));
  expect(withShares.map((screen) => texts.map((text) => screen.includes(text)))).toEqual([
    [true, false],
    [false, true],
  ]);
  expect(withShares.map((screen) => screen.includes('█'))).toEqual([true, true]);
  expect(withShares[0]).toContain('Not these. Its last four letters');
  expect([screens.at(-1), screens.at(-2)?.includes('ks1-')]).toEqual(['', true]);
});

test('an input that ends before the last share is written down ends it, and clears the screen', async () => {
  const seen = shown((screen) => (screen.endsWith('press Enter.\n') ? ' ' : screen.endsWith('written down: ') ? undefined : ''));
  await expect(seen).rejects.toThrow('nothing was done');
});

test('what is typed before a custodian is asked is no answer', async () => {
  const [stdin, stderr] = [new PassThrough(), new PassThrough()];
  let seen = '';
  stderr.on('data', (chunk: Buffer) => {
    seen += chunk.toString();
    if (seen.endsWith('press Enter.\n')) stdin.end();
  });
  stdin.write('\n\n\n');
  await expect(showOnPaper(shares, { environment: {}, stdin, stdout: new PassThrough(), stderr })).rejects.toThrow('nothing was done');
  expect(seen).not.toContain('ks1-');
});

test.each(['SIGINT', 'SIGQUIT', 'SIGTERM'] as const)('%s clears the screen and ends the command', async (signal) => {
  const program = `
    import { showOnPaper } from './appliance/cli/custodians/paper.ts';
    import { Secret } from './core/base/secret.ts';
    await showOnPaper([new Secret('ks1-of-one-custodian')], { environment: {}, stdin: process.stdin, stdout: process.stdout, stderr: process.stderr });`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], { stdio: ['pipe', 'ignore', 'pipe'] });
  let seen = '';
  child.stderr.on('data', (chunk: Buffer) => {
    const before = seen;
    seen += chunk.toString();
    if (!before.includes('press Enter.\n') && seen.includes('press Enter.\n')) child.stdin.write('\n');
    if (!before.includes('written down: ') && seen.includes('written down: ')) child.kill(signal);
  });
  const [endedBy] = await new Promise<[NodeJS.Signals | null]>((resolve) => void child.on('close', (_, by) => resolve([by])));
  expect([endedBy, seen.includes('ks1-'), seen.endsWith('\u001b[2J\u001b[3J\u001b[H')]).toEqual([signal, true, true]);
});
