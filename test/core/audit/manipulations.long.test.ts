// Manipulations of a copy of a trail, by class: both verifiers, ours and one in Python that was written from the documented format,
// find each of them, and neither finds anything in a trail that the appliance wrote.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { emptyChain, formatLine, parseLine, type TrailRecord } from '../../../core/audit/line.ts';
import { verifyTrail } from '../../harness/verify-trail.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { makeSigner, openAll, openTrail, record, TestMemory } from './trail.ts';

const temporary = temporaryDirectory();
const { signHead, keys, pem } = makeSigner();
const otherSigner = makeSigner();
const hasPython = spawnSync('python3', ['--version']).status === 0 && spawnSync('openssl', ['version']).status === 0;

/** Files of a trail by name, each a list of lines. */
type Files = Map<string, string[]>;

const good = temporary('good');
const older = temporary('older');
const kept = temporary('kept-heads.json');

/** Two chains over several files, with retention in both, two starts, and an older copy. */
beforeAll(async () => {
  writeFileSync(temporary('keys.pem'), pem);
  const memory = new TestMemory();
  for (const start of [1, 2]) {
    await openAll(good, memory, signHead);
    const one = await openTrail(good, { chain: 'one', maxFileBytes: 2_500, retainFiles: 4, signHead, memory });
    const two = await openTrail(good, { chain: 'two', maxFileBytes: 2_500, retainFiles: 4, memory });
    for (let n = 0; n < 30; n++) {
      await Promise.all([one.write(record(n)), two.write(record(n))]);
      if (n % 8 === 0) await one.signHeads();
    }
    await two.close();
    await one.close();
    if (start === 1) cpSync(good, older, { recursive: true });
  }
  writeFileSync(kept, JSON.stringify({ heads: memory.heads() }));
}, 120_000);

function read(directory = good): Files {
  const names = readdirSync(directory).filter((name) => name.endsWith('.jsonl'));
  return new Map(names.sort().map((name) => [name, readFileSync(`${directory}/${name}`, 'utf8').split('\n').slice(0, -1)]));
}

let copies = 0;
function write(files: Files): string {
  const directory = temporary(`copy-${copies++}`);
  mkdirSync(directory);
  for (const [name, lines] of files) writeFileSync(`${directory}/${name}`, lines.map((line) => `${line}\n`).join(''));
  return directory;
}

/** How many findings each verifier has: ours, and the second one, if it can run here. */
async function judge(directory: string, withHeads: boolean): Promise<{ findings: string[]; second: number | null }> {
  const heads = withHeads ? (JSON.parse(readFileSync(kept, 'utf8')) as { heads: [] }).heads : [];
  const { findings } = await verifyTrail(directory, keys, heads);
  const script = new URL('verify-trail.py', import.meta.url).pathname;
  const args = [script, directory, temporary('keys.pem'), ...(withHeads ? [kept] : [])];
  const run = hasPython ? spawnSync('python3', args, { encoding: 'utf8' }) : undefined;
  if (run !== undefined && run.status !== 0 && run.status !== 7) throw new Error(run.stderr);
  return { findings: findings.map(({ where, problem }) => `${where}: ${problem}`), second: run?.status ?? null };
}

const parsed = (line: string | undefined): TrailRecord | undefined => (line === undefined ? undefined : parseLine(Buffer.from(line)));
const namesOf = (files: Files, chain: string): string[] => [...files.keys()].filter((name) => name.startsWith(`${chain}.`)).sort();
const linesOf = (files: Files, chain: string): string[] => namesOf(files, chain).flatMap((name) => files.get(name) ?? []);
const fieldsOf = (line: string): string => line.slice(line.indexOf(',"kind"'), line.lastIndexOf(',"hash":"'));

/** All records of a chain rewritten without the key, in one file from record 1 on. */
function remake(files: Files, chain: string, change: (fields: string) => string | undefined, as = chain): void {
  const all = linesOf(files, chain).flatMap((line) => change(fieldsOf(line)) ?? []);
  if (as === chain) for (const name of namesOf(files, chain)) files.delete(name);
  let head = emptyChain;
  files.set(
    `${as}.000000000001.jsonl`,
    all.map((fields) => {
      const made = formatLine(as, head, fields);
      head = made.head;
      return made.text.trimEnd();
    }),
  );
}

function append(files: Files, chain: string, fields: string): void {
  const newest = namesOf(files, chain).at(-1) ?? '';
  const last = parsed(files.get(newest)?.at(-1));
  const { text } = formatLine(chain, { sequence: Number(last?.sequence), hash: String(last?.hash) }, fields);
  files.get(newest)?.push(text.trimEnd());
}

const someRecord = ',"kind":"request","occurred-at":"2026-11-21T10:00:00.000000Z","path":"/v1/x","status":200';
const isHead = (fields: string): boolean => fields.startsWith(',"kind":"head"');
const first = (files: Files, chain: string): string => namesOf(files, chain)[0] ?? '';
const splice = (files: Files, name: string, at: number, count: number, ...more: string[]): void =>
  void files.get(name)?.splice(at, count, ...more);

/** All but the newest two files of a chain: more than those whose removal is recorded. Returns the last missing record. */
function dropOldest(files: Files): { name: string; last: TrailRecord | undefined } {
  const gone = namesOf(files, 'two').slice(0, -2);
  const name = gone.at(-1) ?? '';
  const last = parsed(files.get(name)?.at(-1));
  for (const one of gone) files.delete(one);
  return { name, last };
}

function retireOneself(files: Files, noteIn: string): void {
  const { name, last } = dropOldest(files);
  const place = `"file":"${name}","last-sequence":${last?.sequence},"last-hash":"${last?.hash}"`;
  append(files, noteIn, `,"kind":"trail","occurred-at":"2026-11-21T10:00:00.000000Z","event":"retired",${place}`);
}

/** A genuine head whose entries are moved to another field: the signed text is the same. */
function hidePromises(fields: string): string {
  if (!isHead(fields)) return fields;
  const head = JSON.parse(`{${fields.slice(1)}}`) as { 'occurred-at': string; heads: { chain: string; sequence: number; hash: string }[] };
  const lines = head.heads.toSorted((a, b) => (a.chain < b.chain ? -1 : 1)).map((one) => `${one.chain} ${one.sequence} ${one.hash}`);
  const hidden = { ...head, 'occurred-at': [head['occurred-at'], ...lines].join('\n'), heads: [] };
  return `,${JSON.stringify(hidden).slice(1, -1)}`;
}

function mergeNames(fields: string): string {
  if (!isHead(fields)) return fields;
  const head = JSON.parse(`{${fields.slice(1)}}`) as { heads: { chain: string; sequence: number; hash: string }[] };
  const [one, two] = head.heads.toSorted((a, b) => (a.chain < b.chain ? -1 : 1));
  const heads = [{ chain: `${one?.chain} ${one?.sequence} ${one?.hash}\n${two?.chain}`, sequence: two?.sequence, hash: two?.hash }];
  return `,${JSON.stringify({ ...head, heads }).slice(1, -1)}`;
}

const manipulations: Readonly<Record<string, (files: Files) => void>> = {
  'a flipped bit': (files) => {
    // Which records of a chain are requests depends on where its files were cut.
    const lines = files.get(first(files, 'two')) ?? [];
    const at = lines.findIndex((line) => line.includes('"status":200'));
    lines[at] = (lines[at] ?? '').replace('"status":200', '"status":201');
  },
  'a record dropped': (files) => splice(files, first(files, 'two'), 3, 1),
  'the first record of a chain dropped': (files) => splice(files, first(files, 'two'), 0, 1),
  'the first record of a later file dropped': (files) => splice(files, namesOf(files, 'two')[1] ?? '', 0, 1),
  'a record twice': (files) => splice(files, first(files, 'two'), 3, 0, files.get(first(files, 'two'))?.[2] ?? ''),
  'two records in each other’s place': (files) => splice(files, first(files, 'two'), 2, 2, ...(files.get(first(files, 'two'))?.slice(2, 4).toReversed() ?? [])), // prettier-ignore
  'a record of another chain': (files) => splice(files, first(files, 'two'), 3, 0, linesOf(files, 'one')[3] ?? ''),
  'a line that is no record': (files) => splice(files, first(files, 'two'), 3, 0, '{}'),
  'the end of a chain cut off': (files) => splice(files, namesOf(files, 'two').at(-1) ?? '', -2, 2),
  'the newest file emptied': (files) => void files.set(namesOf(files, 'two').at(-1) ?? '', []),
  'the oldest files gone': (files) => void dropOldest(files),
  'a file in the middle gone': (files) => void files.delete(namesOf(files, 'two')[1] ?? ''),
  'all files of a chain gone': (files) => namesOf(files, 'two').forEach((name) => files.delete(name)),
  'all files of the signing chain gone': (files) => namesOf(files, 'one').forEach((name) => files.delete(name)),
  'every file gone': (files) => files.clear(),
  'two files of a chain in each other’s place': (files) => {
    const [a = '', b = ''] = namesOf(files, 'two');
    const [left = [], right = []] = [files.get(a), files.get(b)];
    files.set(a, right).set(b, left);
  },
  'files of two chains in each other’s place': (files) => {
    const [a, b] = [first(files, 'one'), first(files, 'two')];
    const [left = [], right = []] = [files.get(a), files.get(b)];
    files.set(a, right).set(b, left);
  },
  'a file under another number': (files) => {
    const name = first(files, 'two');
    files.set('two.000000000001.jsonl', files.get(name) ?? []).delete(name);
  },
  'a file under a name that nobody reads': (files) => void files.set('two.1.jsonl', []),
  'the oldest files removed, and a forged record that claims it was retention': (files) => retireOneself(files, 'two'),
  'the same in another chain': (files) => retireOneself(files, 'one'),
  'all heads removed and every chain recomputed': (files) => {
    for (const chain of ['one', 'two']) remake(files, chain, (fields) => (isHead(fields) ? undefined : fields));
  },
  'every chain recomputed around its heads': (files) => {
    for (const chain of ['one', 'two']) remake(files, chain, (fields) => fields.replace('"status":200', '"status":403'));
  },
  'every chain recomputed around heads whose entries are in their time': (files) => {
    for (const chain of ['one', 'two']) remake(files, chain, hidePromises);
  },
  'every chain recomputed around heads whose entries are in a chain name': (files) => {
    for (const chain of ['one', 'two']) remake(files, chain, mergeNames);
  },
  'one record replaced, and the chain recomputed after it': (files) => remake(files, 'two', (fields) => fields.replace('request-7"', 'request-x"')),
  'a chain added': (files) => void files.set('worker-9.000000000001.jsonl', [formatLine('worker-9', emptyChain, someRecord).text.trimEnd()]),
  'a chain copied under another name': (files) => remake(files, 'two', (fields) => fields, 'three'),
  'an empty file of a chain added': (files) => void files.set('worker-9.000000000001.jsonl', []),
  'a note of a start that found something': (files) =>
    append(files, 'two', ',"kind":"trail","occurred-at":"2026-11-21T10:00:00.000000Z","event":"cut-off","of-chain":"two","after-sequence":1,"through-sequence":2'),
}; // prettier-ignore

describe.each(Object.entries(manipulations))('%s', (_what, change) => {
  test('is found by both', async () => {
    const files = read();
    change(files);
    const { findings, second } = await judge(write(files), false);
    expect(findings).not.toEqual([]);
    expect(second).toBe(hasPython ? 7 : null);
  });
});

test.each([
  ['an older copy of the whole', (files: Files) => files],
  ['an older copy with forged records after it', (files: Files) => {
    for (let n = 0; n < 60; n++) for (const chain of ['one', 'two']) append(files, chain, someRecord);
    return files;
  }], // prettier-ignore
])('%s is sound in itself, and found by both with heads that were kept elsewhere', async (_what, change) => {
  const directory = write(change(read(older)));
  expect(await judge(directory, false)).toEqual({ findings: [], second: hasPython ? 0 : null });
  const { findings, second } = await judge(directory, true);
  expect(findings).toContainEqual(
    expect.stringMatching(/^chain two: records? \d+( to \d+)? (is|are) missing at its end|not the one a signed head names/),
  );
  expect(second).toBe(hasPython ? 7 : null);
});

test('a head signed with another key is accepted under no key id', async () => {
  const { keyId } = await otherSigner.signHead(Buffer.from(''));
  for (const name of [keyId, [...keys.keys()][0]]) {
    const files = read();
    const heads = [{ chain: 'one', sequence: 0, hash: emptyChain.hash }];
    const occurredAt = '2026-11-21T10:00:00.000000Z';
    const { signature } = await otherSigner.signHead(Buffer.from(`keystored audit heads 1\n${occurredAt}\none 0 ${emptyChain.hash}\n`));
    const head = { kind: 'head', 'occurred-at': occurredAt, heads, 'key-id': name, signature: Buffer.from(signature).toString('base64') };
    append(files, 'one', `,${JSON.stringify(head).slice(1, -1)}`);
    const { findings, second } = await judge(write(files), false);
    expect(findings).toHaveLength(1);
    expect(second).toBe(hasPython ? 7 : null);
  }
});

describe('nothing is found by either', () => {
  const expectNothing = async (directory: string, withHeads = false): Promise<void> =>
    expect(await judge(directory, withHeads)).toEqual({ findings: [], second: hasPython ? 0 : null });

  test('in what the appliance wrote, retention included, also with the heads it published', async () => {
    expect(parsed(linesOf(read(), 'two')[0])?.sequence).toBeGreaterThan(1);
    await expectNothing(good);
    await expectNothing(good, true);
  });

  test('in records after the last head, and in the incomplete line of a killed process', async () => {
    const files = read();
    for (const chain of ['one', 'two']) append(files, chain, someRecord);
    const directory = write(files);
    const newest = `${directory}/${namesOf(files, 'two').at(-1)}`;
    writeFileSync(newest, `${readFileSync(newest, 'utf8')}{"chain":"two","seq`);
    await expectNothing(directory, true);
  });

  test('in a trail of an earlier version, which announced no chains', async () => {
    const directory = temporary('earlier-version');
    const two = await openTrail(directory, { chain: 'two' });
    await two.write(record(1));
    await two.close();
    const one = await openTrail(directory, { chain: 'one', signHead });
    await one.write(record(1));
    await one.close();
    await expectNothing(directory);
    rmSync(directory, { recursive: true });
  });

  test.skipIf(!hasPython)('the second verifier judged as well: python3 and openssl are there', () => expect(hasPython).toBe(true));
});
