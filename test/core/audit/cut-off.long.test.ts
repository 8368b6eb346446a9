// Changes to the files while no process wrote them: the next start finds them by what was remembered elsewhere and records them under
// its signature; a process killed at any point causes no false alarm.
import { appendFileSync, cpSync, existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { afterEach, expect, test, vi } from 'vitest';
import { AuditFile } from '../../../core/audit/file.ts';
import { emptyChain, formatLine, parseLine } from '../../../core/audit/line.ts';
import { verifyTrail } from '../../harness/verify-trail.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { makeSigner, openAll, openTrail, record, TestMemory } from './trail.ts';

const temporary = temporaryDirectory();
const { signHead, keys } = makeSigner();

afterEach(() => vi.restoreAllMocks());

/** Two chains, signed, then five more records in each, signed again. A copy of the earlier state is kept. */
async function makeTrail(directory: string): Promise<TestMemory> {
  const memory = new TestMemory();
  await openAll(directory, memory, signHead);
  const one = await openTrail(directory, { chain: 'one', signHead, memory });
  const two = await openTrail(directory, { chain: 'two', memory });
  for (const n of [1, 2, 3, 4, 5]) await Promise.all([one.write(record(n)), two.write(record(n))]);
  await one.signHeads();
  cpSync(directory, `${directory}-earlier`, { recursive: true });
  for (const n of [6, 7, 8, 9, 10]) await Promise.all([one.write(record(n)), two.write(record(n))]);
  await two.close();
  await one.close();
  return memory;
}

async function startAndStop(directory: string, memory: TestMemory): Promise<void> {
  await openAll(directory, memory, signHead);
  const one = await openTrail(directory, { chain: 'one', signHead, memory });
  const two = await openTrail(directory, { chain: 'two', memory });
  await two.close();
  await one.close();
}

async function findings(directory: string): Promise<string[]> {
  return (await verifyTrail(directory, keys)).findings.map(({ problem }) => problem);
}

const fileOf = (directory: string, chain: string): string => `${directory}/${chain}.000000000001.jsonl`;
const linesOf = (path: string): string[] => readFileSync(path, 'utf8').split('\n').slice(0, -1);

/** Appends a record as the appliance would have written it. */
function forge(path: string, chain: string, fields: string): void {
  const last = parseLine(Buffer.from(linesOf(path).at(-1) ?? ''));
  appendFileSync(path, formatLine(chain, { sequence: last?.sequence ?? 0, hash: String(last?.hash) }, fields).text);
}

test('back to an earlier head: the files alone show nothing, the next start names the missing records', async () => {
  const directory = temporary('rolled-back');
  const memory = await makeTrail(directory);
  rmSync(directory, { recursive: true });
  cpSync(`${directory}-earlier`, directory, { recursive: true });
  expect(await findings(directory)).toEqual([]);
  await startAndStop(directory, memory);
  expect((await findings(directory)).sort()).toEqual([
    'records 10 to 16 of chain one had been cut off or replaced when the appliance started',
    'records 7 to 12 of chain two had been cut off or replaced when the appliance started',
  ]);
  // Reported once: the next start continues from the present state.
  await startAndStop(directory, memory);
  expect(await findings(directory)).toHaveLength(2);
});

test('all files of a chain gone', async () => {
  const directory = temporary('gone');
  const memory = await makeTrail(directory);
  rmSync(fileOf(directory, 'two'));
  await startAndStop(directory, memory);
  expect(await findings(directory)).toContain('records 1 to 12 of chain two had been cut off or replaced when the appliance started');
});

test('a chain that was cut and then extended beyond what was signed', async () => {
  const directory = temporary('lengthened');
  const memory = await makeTrail(directory);
  const path = fileOf(directory, 'two');
  writeFileSync(path, linesOf(path).slice(0, 9).concat('').join('\n'));
  for (let n = 10; n < 15; n++) forge(path, 'two', ',"kind":"request","occurred-at":"2026-11-21T10:00:00.000000Z"');
  await startAndStop(directory, memory);
  expect(await findings(directory)).toContain('record 12 of chain two had been cut off or replaced when the appliance started');
});

test('a record after the last one of an orderly stop, and the last one removed', async () => {
  const directory = temporary('after-stop');
  const memory = await makeTrail(directory);
  forge(fileOf(directory, 'two'), 'two', ',"kind":"request","occurred-at":"2026-11-21T10:00:00.000000Z"');
  const path = fileOf(directory, 'one');
  writeFileSync(path, linesOf(path).slice(0, -1).concat('').join('\n'));
  expect(await findings(directory)).toEqual([]);
  await startAndStop(directory, memory);
  expect((await findings(directory)).sort()).toEqual([
    'record 13 of chain two had been added when the appliance started: its last stop wrote none of them',
    'record 16 of chain one had been cut off or replaced when the appliance started',
  ]);
});

test('the first records removed, the file renamed, and a forged record that claims it was retention', async () => {
  const directory = temporary('self-retired');
  const memory = await makeTrail(directory);
  const path = fileOf(directory, 'two');
  const lines = linesOf(path);
  const dropped = parseLine(Buffer.from(lines[4] ?? ''));
  const renamed = `${directory}/two.000000000006.jsonl`;
  rmSync(path);
  writeFileSync(renamed, lines.slice(5).concat('').join('\n'));
  memory.chains.set('two', { ...memory.chains.get('two'), closed: undefined as never });
  forge(
    renamed,
    'two',
    `,"kind":"trail","occurred-at":"2026-11-21T10:00:00.000000Z","event":"retired","file":"two.000000000001.jsonl","last-sequence":5,"last-hash":"${dropped?.hash}"`,
  );
  expect(await findings(directory)).toEqual(['records 1 to 5 are missing, and no signed record says that they were removed']);
  await startAndStop(directory, memory);
  expect(await findings(directory)).toContain('records 1 to 5 of chain two had been cut off or replaced when the appliance started');
});

test('a chain that the appliance never started is set aside, recorded, and never signed', async () => {
  const directory = temporary('made-up');
  const memory = await makeTrail(directory);
  const made = `${directory}/worker-9.000000000001.jsonl`;
  writeFileSync(made, formatLine('worker-9', emptyChain, ',"kind":"request","occurred-at":"2026-11-21T10:00:00.000000Z"').text);
  expect(await findings(directory)).toEqual(['no signed head names this chain']);
  await startAndStop(directory, memory);
  expect(await findings(directory)).toEqual([
    'files of chain worker-9 were set aside when the appliance started: it never began this chain',
  ]);
  expect([existsSync(made), existsSync(`${made}.set-aside`)]).toEqual([false, true]);
  const named = readdirSync(directory).filter((name) => name.endsWith('.jsonl')).flatMap((name) => linesOf(`${directory}/${name}`)); // prettier-ignore
  expect(named.some((line) => line.includes('"chain":"worker-9","sequence"'))).toBe(false);
});

test('signed heads without a memory', async () => {
  const directory = temporary('forgotten');
  await makeTrail(directory);
  await startAndStop(directory, new TestMemory());
  expect(await findings(directory)).toEqual(['the appliance found this trail when it started and remembered none of its heads']);
});

test('a process that replaces a killed one compares its chain again, and nothing is signed before the result is recorded', async () => {
  const directory = temporary('replaced');
  const memory = new TestMemory();
  await openAll(directory, memory, signHead);
  const one = await openTrail(directory, { chain: 'one', signHead, memory });
  const two = await openTrail(directory, { chain: 'two', memory });
  for (const n of [1, 2, 3, 4, 5]) await two.write(record(n));
  await one.signHeads();
  const path = fileOf(directory, 'two');
  writeFileSync(path, linesOf(path).slice(0, 3).concat('').join('\n'));
  vi.spyOn(AuditFile.prototype, 'append').mockRejectedValueOnce(new Error('no room'));
  const again = await openTrail(directory, { chain: 'two', memory });
  await vi.waitFor(() => expect(again.writable).toBe(true), { timeout: 60_000, interval: 5 });
  await again.signHeads();
  await again.close();
  await one.close();
  await two.close();
  expect(await findings(directory)).toContain('records 4 to 6 of chain two had been cut off or replaced when the appliance started');
});

test('an untouched trail and a first start report nothing; nor does the memory of an earlier version', async () => {
  const directory = temporary('untouched');
  const memory = await makeTrail(directory);
  await startAndStop(directory, memory);
  await startAndStop(directory, memory);
  expect(await findings(directory)).toEqual([]);
  for (const [chain, { signed }] of memory.chains) memory.chains.set(chain, signed === undefined ? {} : { signed });
  await startAndStop(directory, memory);
  expect(await findings(directory)).toEqual([]);
});

test('a trail of an earlier version that retired files: its signed record about that is accepted, an unsigned one is not', async () => {
  for (const isSigned of [true, false]) {
    const directory = temporary(`earlier-version-${isSigned}`);
    const memory = await makeTrail(directory);
    const path = fileOf(directory, 'two');
    const lines = linesOf(path);
    // As an earlier version left it: the record first, then the file removed, then the next head.
    const dropped = parseLine(Buffer.from(lines[4] ?? ''));
    const retired = `,"kind":"trail","occurred-at":"2026-11-21T10:00:00.000000Z","event":"retired","file":"two.000000000001.jsonl","last-sequence":5,"last-hash":"${dropped?.hash}"`;
    forge(path, 'two', retired);
    memory.chains = new Map([...memory.chains].map(([chain, { signed = emptyChain }]) => [chain, { signed }]));
    const end = parseLine(Buffer.from(linesOf(path).at(-1) ?? ''));
    if (isSigned) memory.chains.set('two', { signed: { sequence: Number(end?.sequence), hash: String(end?.hash) } });
    writeFileSync(`${directory}/two.000000000006.jsonl`, linesOf(path).slice(5).concat('').join('\n'));
    rmSync(path);
    await startAndStop(directory, memory);
    const expected = 'records 1 to 5 of chain two had been cut off or replaced when the appliance started';
    expect(await findings(directory)).toEqual(isSigned ? [] : [expected]);
  }
});

test('killed between any two writes of a start, a run with retention, and a stop: no later start finds anything', async () => {
  /** Runs a start, a run and a stop, in which all writes after a given number fail as if the process had been killed. */
  const live = async (directory: string, memory: TestMemory, writes: number): Promise<boolean> => {
    let left = writes;
    const isAlive = (): boolean => left-- > 0;
    const append = Reflect.get<AuditFile, 'append'>(AuditFile.prototype, 'append');
    vi.spyOn(AuditFile.prototype, 'append').mockImplementation(function (this: AuditFile, octets) {
      return isAlive() ? append.call(this, octets) : Promise.reject(new Error('killed'));
    });
    memory.isAlive = isAlive;
    try {
      await openAll(directory, memory, signHead);
      const options = { maxFileBytes: 1_200, retainFiles: 1, memory };
      const one = await openTrail(directory, { ...options, chain: 'one', signHead });
      const two = await openTrail(directory, { ...options, chain: 'two' });
      for (let n = 0; n < 6; n++) {
        await Promise.allSettled([one.write(record(n)), two.write(record(n))]);
        if (n % 2 === 1) await one.signHeads();
      }
      await Promise.allSettled([two.close(), one.close()]);
    } catch {
      // Killed in the opening.
    }
    memory.isAlive = () => true;
    vi.restoreAllMocks();
    return left < 0;
  };
  let wasKilled = true;
  for (let writes = 0; wasKilled; writes++) {
    const directory = temporary(`killed-${writes}`);
    const memory = new TestMemory();
    await live(directory, memory, 1_000);
    wasKilled = await live(directory, memory, writes);
    expect([writes, await findings(directory)]).toEqual([writes, []]);
    await live(directory, memory, 1_000);
    expect([writes, await findings(directory)]).toEqual([writes, []]);
  }
}, 300_000);

/** What the appliance is told for its health, by chain. */
class ToldMemory extends TestMemory {
  told: unknown[] = [];
  refuses = false;

  async report(findings: readonly unknown[]): Promise<void> {
    if (this.refuses) throw new Error('the store takes nothing');
    this.told.push(...findings);
  }
}

/** Keeps the first records of a file, in the same file. */
const cutTo = (path: string, records: number): void => writeFileSync(path, linesOf(path).slice(0, records).concat('').join('\n'));

test.each<[string, (path: string) => void, number, number]>([
  ['cut off after a record', (path) => cutTo(path, 4), 4, 7],
  ['cut off within a record', (path) => truncateSync(path, readFileSync(path).length - 10), 6, 7],
  ['emptied', (path) => truncateSync(path), 0, 7],
  ['replaced by a shorter one', (path) => { const text = linesOf(path).slice(0, 3).concat('').join('\n'); rmSync(path); writeFileSync(path, text); }, 3, 7], // prettier-ignore
  ['removed', (path) => rmSync(path), 0, 7],
  ['written to', (path) => appendFileSync(path, '{}\n'), 7, 7],
])('%s while a process writes it: told once, in the trail and for health', async (what, change, afterSequence, throughSequence) => {
  const directory = temporary(`running-${what.replaceAll(' ', '-')}`);
  const memory = new ToldMemory();
  await openAll(directory, memory, signHead);
  const one = await openTrail(directory, { chain: 'one', signHead, memory });
  for (const n of [1, 2, 3]) await one.write(record(n));
  // opened, its head, started, three records, another head
  await one.signHeads();
  memory.refuses = true;
  change(fileOf(directory, 'one'));
  await expect(one.write(record(4))).rejects.toMatchObject({ code: 'audit-unavailable' });
  await vi.waitFor(() => expect(one.writable).toBe(true), { timeout: 20_000 });
  const event = { event: 'changed', ofChain: 'one', afterSequence, throughSequence };
  const said = Object.values(linesOf(`${directory}/one.000000000008.jsonl`)).map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(said).toMatchObject([
    { event: 'resumed', refused: 1 },
    { event: 'changed', 'of-chain': 'one', 'after-sequence': afterSequence, 'through-sequence': throughSequence },
  ]);
  expect(memory.told).toEqual([]);
  memory.refuses = false;
  await one.write(record(5));
  await one.signHeads();
  await vi.waitFor(() => expect(memory.told).toEqual([event]), { timeout: 20_000 });
  await one.signHeads();
  await one.close();
  await startAndStop(directory, memory);
  await startAndStop(directory, memory);
  expect(memory.told).toEqual([event]);
});

test('a file that is gone between two others is found by the next start, once', async () => {
  const directory = temporary('between');
  const memory = new ToldMemory();
  await openAll(directory, memory, signHead);
  const one = await openTrail(directory, { chain: 'one', signHead, memory, maxFileBytes: 2_000, retainFiles: 1_000 });
  for (let n = 0; n < 60; n++) await one.write(record(n));
  await one.close();
  await startAndStop(directory, memory);
  const files = readdirSync(directory).filter((name) => name.startsWith('one.')).sort(); // prettier-ignore
  expect(files.length).toBeGreaterThan(5);
  const [, gone = '', next = ''] = files;
  rmSync(`${directory}/${gone}`);
  await startAndStop(directory, memory);
  const [first, after] = [gone, next].map((name) => Number(name.split('.')[1]));
  expect(memory.told).toEqual([{ event: 'cut-off', ofChain: 'one', afterSequence: (first ?? 0) - 1, throughSequence: (after ?? 0) - 1 }]);
  await startAndStop(directory, memory);
  expect(memory.told).toHaveLength(1);
  rmSync(`${directory}/${files[4]}`);
  await startAndStop(directory, memory);
  expect(memory.told).toHaveLength(2);
});
