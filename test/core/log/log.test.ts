// The log: readable lines on the terminal and in files, without secrets, limited in length, never delaying the service.
import { spawnSync } from 'node:child_process';
import { appendFileSync, chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { openLog, type LogOptions, type OpenLog } from '../../../core/log/log.ts';
import { Secret } from '../../../core/base/secret.ts';
import { TestClock } from '../../harness/clock.ts';
import { readTopic } from '../../../core/log/topic.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const temporary = temporaryDirectory();

function open(directory: string, options: Partial<LogOptions> = {}): OpenLog {
  return openLog({ directory, stream: 'worker-1', level: 'info', clock: new TestClock(), terminal: false, ...options });
}

async function written(directory: string): Promise<Record<string, unknown>[]> {
  const lines = [];
  for await (const { record } of readTopic({ directory })) lines.push(record);
  return lines;
}

test('a line has time, level, component, tenant, message and fields', async () => {
  const directory = temporary('plain');
  const log = open(directory);
  log.info('started');
  log.with('oidc', 'tenant-1').warn('role-select claim is missing', { claimName: 'groups', count: 2 });
  log.with('oidc', 'tenant-1').with('directory').debug('not important enough');
  log.with('oidc', 'tenant-1').with('directory').error('inner');
  await log.close();
  const at = { 'occurred-at': '2026-01-01T00:00:00.000000Z' };
  expect(await written(directory)).toEqual([
    { ...at, level: 'info', component: 'worker-1', message: 'started' },
    {
      ...at,
      level: 'warn',
      component: 'oidc',
      tenant: 'tenant-1',
      message: 'role-select claim is missing',
      fields: { 'claim-name': 'groups', count: 2 },
    },
    { ...at, level: 'error', component: 'directory', tenant: 'tenant-1', message: 'inner' },
  ]);
  expect(statSync(`${directory}/worker-1.000000000001.jsonl`).mode & 0o077).toBe(0);
});

test('secrets show as [secret], octets as their number, long, deep and unusual values are cut, and nothing throws', async () => {
  const directory = temporary('strange');
  const log = open(directory);
  const circle: Record<string, unknown> = {};
  circle['self'] = circle;
  const values = {
    pin: new Secret('1234'),
    nested: { token: new Secret('t') },
    octets: new Uint8Array(3),
    text: 'x'.repeat(5_000),
    list: Array(500).fill(1),
    circle,
    error: new TypeError('wrong'),
    big: 1n,
    symbol: Symbol('s'),
    at: Temporal.Instant.from('2026-01-01T00:00:00Z'),
    none: undefined,
    nothing: null,
  };
  log.info('y'.repeat(5_000), values);
  const refuses = {
    get bad(): never {
      throw new Error('no');
    },
  };
  expect(() => log.info('z', refuses)).not.toThrow();
  log.info('after');
  await log.close();
  const [lost, line, after] = await written(directory);
  expect(JSON.stringify(line)).not.toMatch(/1234/);
  expect(line).toMatchObject({
    message: `${'y'.repeat(1_000)}…`,
    fields: {
      pin: '[secret]',
      nested: { token: '[secret]' },
      octets: { bytes: 3 },
      text: `${'x'.repeat(1_000)}…`,
      list: Array(50).fill(1),
      error: 'TypeError: wrong',
      big: '1',
      symbol: 'Symbol(s)',
      at: '2026-01-01T00:00:00Z',
      nothing: null,
    },
  });
  expect([lost, after]).toMatchObject([{ fields: { lost: 1 } }, { message: 'after' }]);
});

test('files are limited in size and number, and a new start continues the last one, also after an incomplete line', async () => {
  const directory = temporary('rotated');
  for (let start = 0; start < 2; start++) {
    const log = open(directory, { maxFileBytes: 2_000, retainFiles: 3 });
    for (let n = 0; n < 100; n++) {
      log.info(`line ${n} of start ${start}`);
      await vi.waitFor(async () => expect((await written(directory)).at(-1)).toMatchObject({ message: `line ${n} of start ${start}` }), {
        ...{ timeout: 60_000, interval: 1 },
      });
    }
    await log.close();
  }
  const names = readdirSync(directory);
  expect(names).toHaveLength(3);
  expect(Math.max(...names.map((name) => statSync(`${directory}/${name}`).size))).toBeLessThan(2_200);
  appendFileSync(`${directory}/${names.sort().at(-1)}`, '{"half');
  const log = open(directory);
  log.info('whole');
  await log.close();
  expect((await written(directory)).at(-1)).toMatchObject({ message: 'whole' });
});

test('lines that cannot be written are counted, and the count is written as soon as possible', async () => {
  const directory = temporary('blocked');
  writeFileSync(directory, 'a file where the directory should be');
  const log = open(directory);
  for (let n = 0; n < 3; n++) log.info(`lost ${n}`);
  await new Promise(setImmediate);
  // There is no other sign that a line could not be written.
  await vi.waitFor(() => expect(process.getActiveResourcesInfo()).not.toContain('FSReqPromise'), 60_000);
  rmSync(directory);
  log.info('written');
  await log.close();
  log.info('after close');
  expect(await written(directory)).toMatchObject([{ component: 'log', fields: { lost: 3 } }, { message: 'written' }]);
});

test('a directory that is removed while a process logs is made again, with a line about it, and the line of the moment is kept', async () => {
  const directory = temporary('removed');
  const log = open(directory);
  const messagesIn = async (at: string): Promise<unknown[]> => (await written(at)).map(({ message }) => message);
  log.info('first');
  await expect.poll(() => messagesIn(directory)).toEqual(['first']);
  rmSync(directory, { recursive: true });
  log.info('second');
  await expect.poll(() => messagesIn(directory)).toEqual(['the directory of the log was removed: earlier lines are missing', 'second']);
  log.info('third');
  await log.close();
  expect((await messagesIn(directory)).at(-1)).toBe('third');
});

test('a flood faster than the disk is dropped beyond a limit, not kept in memory', async () => {
  const directory = temporary('flood');
  const log = open(directory);
  for (let n = 0; n < 20_000; n++) log.info('x'.repeat(500));
  log.info('end');
  await log.close();
  expect(readFileSync(`${directory}/worker-1.000000000001.jsonl`).length).toBeLessThan(2 << 20);
});

test('the terminal gets one line each, without control characters; a closed terminal does not end the process', async () => {
  const directory = temporary('terminal');
  mkdirSync(directory);
  chmodSync(directory, 0o755);
  const script = `
    import { openLog } from '${new URL('../../../core/log/log.ts', import.meta.url).href}';
    import { systemClock } from '${new URL('../../../core/base/time.ts', import.meta.url).href}';
    const log = openLog({ directory: ${JSON.stringify(directory)}, stream: 'main', level: 'warn', clock: systemClock });
    log.info('not shown');
    log.with('est').warn('bad \\u001b[31mname\\nsecond', { deviceName: 'd\\r', count: 2 });
    await new Promise((resolve) => setTimeout(resolve, 30));
    log.error('still here');
    await log.close();
    await new Promise((resolve) => setTimeout(resolve, 30));
    process.stdout.write('ended well');`;
  const run = (redirect: string) =>
    spawnSync('sh', ['-c', `"$0" --input-type=module -e "$1" ${redirect}`, process.execPath, script], {
      // Nothing that says that this is a test.
      env: { PATH: process.env['PATH'], JOURNAL_STREAM: process.env['JOURNAL_STREAM'] },
      encoding: 'utf8',
    });
  const shown = run('');
  expect(shown.stderr).toMatch(
    /^\[warn\] \[est\] bad \uFFFD\[31mname\uFFFDsecond device-name=d\uFFFD count=2\n\[error\] \[main\] still here\n$/,
  );
  // As under systemd: the journal adds the time, and reads the priority from the prefix.
  const journal = temporary('journal');
  writeFileSync(journal, '');
  const { dev, ino } = statSync(journal);
  vi.stubEnv('JOURNAL_STREAM', `${dev}:${ino}`);
  run(`2>>${journal}`);
  expect(readFileSync(journal, 'utf8')).toBe('<4>est: bad \uFFFD[31mname\uFFFDsecond device-name=d\uFFFD count=2\n<3>main: still here\n');
  expect(run('').stderr).toMatch(/^\[warn\] /);
  vi.unstubAllEnvs();
  expect(run('2>&1 >/dev/null | true').status).toBe(0);
  expect(run('2>/dev/full').stdout).toBe('ended well');
  expect(run('2>&-').stdout).toBe('ended well');
  expect((await written(directory)).filter(({ message }) => message === 'still here')).toHaveLength(6);
});

test('on a terminal, consola shows the time, and no text from outside controls it', () => {
  const program = temporary('program.mjs');
  writeFileSync(
    program,
    `import { openLog } from '${new URL('../../../core/log/log.ts', import.meta.url).href}';
    import { systemClock } from '${new URL('../../../core/base/time.ts', import.meta.url).href}';
    const log = openLog({ directory: ${JSON.stringify(temporary('shown'))}, stream: 'main', level: 'info', clock: systemClock });
    log.with('est\\u001b[2J').info('bad \\u001b[31mname', { deviceName: 'd\\r' });
    await log.close();`,
  );
  const { stdout } = spawnSync('script', ['-qec', `stty columns 120; "${process.execPath}" "${program}"`, '/dev/null'], {
    env: { PATH: process.env['PATH'], TERM: 'xterm', SHELL: '/bin/sh' },
    encoding: 'utf8',
  });
  // Colours and the end of the line are consola's.
  // oxlint-disable-next-line no-control-regex -- the sequences of colours
  const plain = stdout.replaceAll(/\u001b\[\d+m|\r?\n/g, '');
  expect(stdout).toContain('\u001b[');
  expect(plain).toMatch(/^. bad \uFFFD\[31mname device-name=d\uFFFD +est\uFFFD\[2J \d{1,2}:\d\d:\d\d\b/);
  expect(plain).not.toMatch(/\p{Cc}/u);
});
