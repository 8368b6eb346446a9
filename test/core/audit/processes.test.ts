// The audit trail when its process is killed or its disk is full: no acknowledged record is missing, and it recovers.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { verifyTrail } from '../../harness/verify-trail.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { openTrail, record } from './trail.ts';

const temporary = temporaryDirectory();
const script = new URL('child.ts', import.meta.url).pathname;
const running = new Set<ChildProcess>();

afterEach(() => {
  for (const child of running) child.kill('SIGKILL');
});

test('kill -9 while writing: every acknowledged record is there, and the chain continues and verifies', async () => {
  const directory = temporary('killed');
  for (let round = 0; round < 4; round++) {
    const child = spawn(process.execPath, [script, 'write', directory], { stdio: ['ignore', 'pipe', 'inherit'] });
    running.add(child);
    let said = '';
    child.stdout.on('data', (chunk) => (said += String(chunk)));
    while (said.split('\n').length < 50 * (round + 1)) await once(child.stdout, 'data');
    child.kill('SIGKILL');
    await once(child, 'close');
    const written = readdirSync(directory).map((name) => readFileSync(`${directory}/${name}`, 'utf8')).join(''); // prettier-ignore
    const acknowledged = said.split('\n').slice(0, -1);
    expect(acknowledged.filter((id) => !written.includes(`"${id}"`))).toEqual([]);
  }
  const trail = await openTrail(directory);
  await trail.write(record(1));
  await trail.close();
  expect((await verifyTrail(directory, new Map())).findings).toEqual([]);
});

test('a full disk: records are refused, nothing acknowledged is lost, and writing continues when there is room', async () => {
  const directory = temporary('full');
  // A limit of 512 KiB per file acts as the full disk.
  const args = ['-c', 'ulimit -S -f 1024; exec "$0" "$@"', process.execPath, script, 'fill', directory];
  const child = spawn('sh', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  running.add(child);
  let said = '';
  child.stdout.on('data', (chunk) => (said += String(chunk)));
  expect(await once(child, 'close')).toEqual([0, null]);
  const result = JSON.parse(said) as { acknowledged: number };
  expect(result).toMatchObject({ code: 'audit-unavailable', writable: false, again: 'audit-unavailable', stillFull: false });
  expect(result.acknowledged).toBeGreaterThan(100);
  const verified = await verifyTrail(directory, new Map());
  expect(verified.findings).toEqual([]);
  expect(verified.notes.map(({ note }) => note['event'])).toContain('resumed');
  // started, the acknowledged, resumed, the last one, stopped
  expect(verified.chains.find(({ chain }) => chain === 'large')?.last).toBe(result.acknowledged + 4);
});
