// The audit trail: an acknowledged record is on the disk and in the chain; while nothing can be written, records are refused.
import {
  appendFileSync,
  chmodSync,
  existsSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { verifyTrail } from '../../harness/verify-trail.ts';
import { TestClock } from '../../harness/clock.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { makeSigner, openAll, openTrail, record, TestMemory } from './trail.ts';

const temporary = temporaryDirectory();
const noKeys = new Map();
/** How long an event may take on a busy machine. */
const patience = { timeout: 60_000, interval: 5 };

function lines(directory: string): Record<string, unknown>[] {
  const files = readdirSync(directory).filter((name) => name.endsWith('.jsonl'));
  const texts = files.sort().flatMap((name) => readFileSync(`${directory}/${name}`, 'utf8').split('\n'));
  return texts
    .filter((text) => /^\{"chain":"main","sequence":\d+,.*\}$/s.test(text))
    .map((text) => JSON.parse(text) as Record<string, unknown>);
}

function events(directory: string): unknown[] {
  return lines(directory).flatMap((line) => line['event'] ?? []);
}

describe('writing', () => {
  test('an acknowledged record is in the file, with wire names, chained to the one before', async () => {
    const directory = temporary('one');
    const trail = await openTrail(directory);
    await trail.write(record(1, { keyVersion: 3, requestParameters: { plaintext: { bytes: 5 } }, userAgent: 'a"b\n\u2028é' }));
    const [first, second] = lines(directory);
    expect(first).toMatchObject({ chain: 'main', sequence: 1, previous: '0'.repeat(64), kind: 'trail', event: 'started' });
    expect(second).toMatchObject({
      sequence: 2,
      previous: first?.['hash'],
      'occurred-at': '2026-11-21T10:00:00.000000Z',
      'request-id': 'request-1',
      'key-version': 3,
      'user-agent': 'a"b\n\u2028é',
      'request-parameters': { plaintext: { bytes: 5 } },
    });
    await trail.close();
    expect(events(directory)).toEqual(['started', 'stopped']);
    expect(statSync(directory).mode & 0o077).toBe(0);
    expect(readdirSync(directory).map((name) => statSync(`${directory}/${name}`).mode & 0o077)).toEqual([0]);
  });

  test('concurrent records keep their order, and none is acknowledged twice or lost', async () => {
    const directory = temporary('many');
    const trail = await openTrail(directory, { maxFileBytes: 50_000 });
    await Promise.all(Array.from({ length: 5_000 }, (_, n) => trail.write(record(n))));
    await trail.close();
    expect(lines(directory).flatMap((line) => line['request-id'] ?? [])).toEqual(Array.from({ length: 5_000 }, (_, n) => `request-${n}`));
    expect(await verifyTrail(directory, noKeys)).toMatchObject({ records: 5_002, findings: [] });
  });

  test('a huge field is cut, and a record that cannot be written as JSON is refused alone', async () => {
    const directory = temporary('huge');
    const trail = await openTrail(directory);
    const bad = trail.write(record(1, { requestParameters: { n: 1n } }));
    const good = trail.write(record(2, { userAgent: 'x'.repeat(100_000), requestParameters: { list: Array(100_000).fill(1) } }));
    await expect(bad).rejects.toThrow(TypeError);
    await good;
    await trail.close();
    expect(lines(directory).find((line) => line['request-id'] === 'request-2')).toMatchObject({
      'user-agent': `${'x'.repeat(2_048)}…`,
      'request-parameters': { bytes: 200_010 },
    });
  });

  test('after close records are refused', async () => {
    const trail = await openTrail(temporary('closed'));
    const last = trail.write(record(1));
    await Promise.all([trail.close(), last]);
    await trail.close();
    expect(trail.writable).toBe(false);
    await expect(trail.write(record(2))).rejects.toMatchObject({ code: 'audit-unavailable' });
  });
});

describe('continuing', () => {
  test('a new start continues the chain; full files are followed by new ones and made read-only', async () => {
    const directory = temporary('rotated');
    for (let start = 0; start < 3; start++) {
      const trail = await openTrail(directory, { maxFileBytes: 2_000 });
      for (let n = 0; n < 20; n++) await trail.write(record(n));
      await trail.close();
    }
    const names = readdirSync(directory).sort();
    expect(names.length).toBeGreaterThan(5);
    expect(statSync(`${directory}/${names[0]}`).mode & 0o777).toBe(0o400);
    expect(await verifyTrail(directory, noKeys)).toMatchObject({
      records: 66,
      findings: [],
      chains: [{ chain: 'main', first: 1, last: 66 }],
    });
  });

  test.each([
    ['a kill left the next one empty', (next: string) => truncateSync(next)],
    ['the next one is gone', (next: string) => rmSync(next)],
  ])('after a full file, when %s, a new file goes on: what is closed is not written again', async (_how, spoil) => {
    const directory = temporary(`closed-${_how.length}`);
    const trail = await openTrail(directory, { maxFileBytes: 2_000 });
    for (let n = 0; n < 12; n++) await trail.write(record(n));
    await trail.close();
    const names = (): string[] =>
      readdirSync(directory)
        .filter((name) => name.endsWith('.jsonl'))
        .sort();
    const [full = '', next = '', ...more] = names();
    for (const name of more) rmSync(`${directory}/${name}`);
    spoil(`${directory}/${next}`);
    const before = readFileSync(`${directory}/${full}`, 'utf8');
    await (await openTrail(directory)).close();
    expect(readFileSync(`${directory}/${full}`, 'utf8')).toBe(before);
    expect(names().length).toBeGreaterThan(1);
    expect((await verifyTrail(directory, noKeys)).findings).toEqual([]);
    // Half a record at its end was never acknowledged: it is cut off, and the file stays closed.
    const [newest = ''] = names().toReversed();
    for (const name of names()) if (name !== full) rmSync(`${directory}/${name}`);
    chmodSync(`${directory}/${full}`, 0o600);
    writeFileSync(`${directory}/${full}`, `${before}{"chain":"main","sequ`);
    chmodSync(`${directory}/${full}`, 0o400);
    await (await openTrail(directory)).close();
    expect([readFileSync(`${directory}/${full}`, 'utf8'), statSync(`${directory}/${full}`).mode & 0o777]).toEqual([before, 0o400]);
    expect(names()).toContain(newest);
  });

  test('old files beyond the number to keep are removed, after a signed record names them', async () => {
    const directory = temporary('retired');
    const { signHead, keys } = makeSigner();
    let isSigning = false;
    const trail = await openTrail(directory, {
      ...{ maxFileBytes: 2_000, retainFiles: 3, memory: new TestMemory() },
      signHead: (octets) => (isSigning ? signHead(octets) : Promise.reject(new Error('token away'))),
    });
    for (let n = 0; n < 100; n++) await trail.write(record(n));
    expect(readdirSync(directory)).toContain('main.000000000001.jsonl');
    isSigning = true;
    await trail.write(record(100));
    await trail.close();
    expect(readdirSync(directory).length).toBeLessThanOrEqual(4);
    const verified = await verifyTrail(directory, keys);
    expect(verified.findings).toEqual([]);
    expect(verified.chains[0]?.first).toBeGreaterThan(50);
    expect(verified.notes.some(({ note }) => note['event'] === 'retired')).toBe(true);
    rmSync(`${directory}/${readdirSync(directory).sort()[0]}`);
    expect((await verifyTrail(directory, keys)).findings).toEqual([
      { where: 'chain main', problem: expect.stringMatching(/^records? 1( to \d+)? (is|are) missing/) },
    ]);
  });

  test.each([
    ['half a line', '{"chain":"main","sequence":3,"prev'],
    ['a complete line of garbage', `${'\0'.repeat(300)}\n`],
    ['two lines of which one is complete', '{"chain":"main"}\n{"cha'],
  ])('%s at the end, left by a crash, is cut off, kept beside, and noted', async (_what, rubbish) => {
    const directory = temporary(`torn-${rubbish.length}`);
    const before = await openTrail(directory);
    await before.write(record(1));
    await before.close();
    const path = `${directory}/${readdirSync(directory)[0]}`;
    appendFileSync(path, rubbish);
    const trail = await openTrail(directory);
    await trail.write(record(2));
    await trail.close();
    expect(readFileSync(`${path}.torn`, 'utf8')).toBe(rubbish);
    expect(lines(directory).find((line) => line['torn'] !== undefined)?.['torn']).toEqual([{ file: path, bytes: rubbish.length }]);
    expect(await verifyTrail(directory, noKeys)).toMatchObject({ records: 6, findings: [] });
  });

  describe('records of one write with a hole between them', () => {
    /** A trail of records 1 to 9 with zeros in record 6, and the length of what is before that. */
    async function makeHole(
      name: string,
      signed: number,
    ): Promise<{ directory: string; path: string; before: number; memory: TestMemory }> {
      const directory = temporary(name);
      const memory = new TestMemory();
      const trail = await openTrail(directory);
      for (let n = 0; n < 7; n++) await trail.write(record(n));
      await trail.close();
      const path = `${directory}/${readdirSync(directory)[0]}`;
      const text = readFileSync(path, 'latin1').split('\n');
      const before = text.slice(0, 5).join('\n').length + 1;
      const octets = readFileSync(path);
      writeFileSync(path, octets.fill(0, before + 20, before + 80));
      const { sequence, hash } = JSON.parse(text[signed - 1] as string) as { sequence: number; hash: string };
      await memory.update([{ chain: 'main', part: 'signed', head: { sequence, hash } }]);
      return { directory, path, before, memory };
    }

    test('are cut off from the hole on, left by a loss of power', async () => {
      const { directory, path, before, memory } = await makeHole('hole', 5);
      const size = statSync(path).size;
      await (await openTrail(directory, { memory })).close();
      expect(lines(directory).find((line) => line['torn'] !== undefined)?.['torn']).toEqual([{ file: path, bytes: size - before }]);
      expect(await verifyTrail(directory, noKeys)).toMatchObject({ records: 7, findings: [] });
    });

    test('stay where a signed head names one behind the hole: somebody changed the file', async () => {
      const { directory, path, memory } = await makeHole('changed', 8);
      const octets = readFileSync(path);
      await (await openTrail(directory, { memory })).close();
      expect(readFileSync(path).subarray(0, octets.length)).toEqual(octets);
      expect((await verifyTrail(directory, noKeys)).findings.length).toBeGreaterThan(0);
    });
  });

  test('what a crash left in a chain that no process goes on with is cut off, too', async () => {
    const directory = temporary('fewer');
    const memory = new TestMemory();
    const { signHead, keys } = makeSigner();
    await openAll(directory, memory, signHead);
    const other = await openTrail(directory, { chain: 'two', memory });
    await other.write(record(1));
    await other.close();
    const path = `${directory}/${readdirSync(directory).find((name) => name.startsWith('two'))}`;
    appendFileSync(path, `{"chain":"two",${'\0'.repeat(300)}}\n`);
    await memory.update([{ chain: 'two', part: 'closed' }]);
    await openAll(directory, memory, signHead);
    const { findings, notes } = await verifyTrail(directory, keys);
    expect(findings).toEqual([]);
    expect(notes.find(({ note }) => note['torn'] !== undefined)?.note).toMatchObject({ event: 'opened', torn: [{ file: path }] });
  });

  test('a new file that a crash left without a complete record does not prevent a start', async () => {
    const directory = temporary('empty');
    const before = await openTrail(directory);
    await before.close();
    writeFileSync(`${directory}/main.000000000003.jsonl`, '{"chain":');
    writeFileSync(`${directory}/main.000000000004.jsonl`, '');
    const trail = await openTrail(directory);
    await trail.write(record(1));
    await trail.close();
    expect(await verifyTrail(directory, noKeys)).toMatchObject({ records: 5, findings: [] });
  });
});

describe('a file that was changed by others', () => {
  test.each<[string, (path: string) => void, RegExp]>([
    ['removed', (path) => rmSync(path), /was removed/],
    ['renamed', (path) => renameSync(path, `${path}.moved`), /was removed/],
    ['replaced', (path) => { rmSync(path); writeFileSync(path, ''); }, /was replaced/], // prettier-ignore
    ['truncated', (path) => truncateSync(path, 10), /octets where/],
    ['emptied', (path) => truncateSync(path, 0), /octets where/],
    ['appended to', (path) => appendFileSync(path, '{}\n'), /octets where/],
  ])('%s: the next record is refused, then the trail goes on and says so', async (what, change, problem) => {
    const directory = temporary(`lost-${what.replaceAll(' ', '-')}`);
    const trail = await openTrail(directory);
    await trail.write(record(1));
    change(`${directory}/${readdirSync(directory)[0]}`);
    const refused = await Promise.allSettled([trail.write(record(2)), trail.write(record(3))]);
    expect(refused.map((result) => result.status === 'rejected' && result.reason.code)).toEqual(['audit-unavailable', 'audit-unavailable']);
    expect(trail.writable).toBe(false);
    expect(trail.problem).toMatch(problem);
    await expect(trail.write(record(4))).rejects.toMatchObject({ code: 'audit-unavailable', status: 503 });
    await vi.waitFor(() => expect(trail.writable).toBe(true), patience);
    await trail.write(record(5));
    await trail.close();
    const written = (await verifyTrail(directory, noKeys)).notes.find(({ note }) => note['event'] === 'resumed');
    expect(written?.note).toMatchObject({ refused: 3, problem: expect.stringMatching(problem) });
    const isThere = (n: number): boolean => lines(directory).some((line) => line['request-id'] === `request-${n}`);
    expect([4, 5].map(isThere)).toEqual([false, true]);
  });

  test('records that were lost with the file are found by the verification', async () => {
    const directory = temporary('lost-records');
    const trail = await openTrail(directory);
    await trail.write(record(1));
    rmSync(`${directory}/${readdirSync(directory)[0]}`);
    await expect(trail.write(record(2))).rejects.toMatchObject({ code: 'audit-unavailable' });
    await vi.waitFor(() => expect(trail.writable).toBe(true), patience);
    await trail.close();
    expect((await verifyTrail(directory, noKeys)).findings).toEqual([
      { where: 'main.000000000003.jsonl:2', problem: 'records 1 to 2 of chain main were cut off or replaced while the appliance ran' },
      { where: 'chain main', problem: 'records 1 to 2 are missing, and no later record says that they were removed' },
    ]);
  });
});

test('a disk that does not answer in time: queued records are refused, and late ones are removed again', async () => {
  const directory = temporary('late');
  const clock = new TestClock();
  const trail = await openTrail(directory, { clock, retrySeconds: 0.001, maxFileBytes: 2 ** 30 });
  // Large enough that the disk is still busy at the next check.
  const slow = Array.from({ length: 2_000 }, (_, n) => trail.write(record(n, { requestParameters: { text: 'x'.repeat(16_000) } })));
  setImmediate(() => clock.advance(6));
  const results = await Promise.allSettled(slow);
  expect(new Set(results.map((result) => result.status))).toEqual(new Set(['rejected']));
  await vi.waitFor(() => expect(trail.writable).toBe(true), patience);
  await trail.write(record(1));
  await trail.close();
  expect(lines(directory).flatMap((line) => line['request-id'] ?? [])).toEqual(['request-1']);
  expect(await verifyTrail(directory, noKeys)).toMatchObject({
    findings: [],
    notes: [{}, { note: { problem: 'the disk does not answer', refused: 2_000 } }, {}],
  });
});

test('a directory that cannot be made stops the opening', async () => {
  writeFileSync(temporary('file'), '');
  await expect(openTrail(temporary('file'))).rejects.toMatchObject({ code: 'EEXIST' });
  expect(existsSync(temporary('file'))).toBe(true);
});
