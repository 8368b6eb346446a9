// Offline verification: every change to a copy of the trail is found, with its place.
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formatLine, parseLine } from '../../../core/audit/line.ts';
import type { SignHead } from '../../../core/audit/heads.ts';
import { verifyTrail } from '../../harness/verify-trail.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { openTrail, record } from './trail.ts';

const temporary = temporaryDirectory();
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const keys = new Map<string, KeyObject>([['audit-1', publicKey]]);
const signHead: SignHead = (octets) =>
  Promise.resolve({ keyId: 'audit-1', signature: sign('sha256', octets, { key: privateKey, dsaEncoding: 'ieee-p1363' }) });

const good = temporary('good');
const copy = temporary('copy');

/** Two chains over several files, the heads of both signed at the end. */
beforeAll(async () => {
  const other = await openTrail(good, { chain: 'worker-1', maxFileBytes: 1_500 });
  for (let n = 0; n < 15; n++) await other.write(record(n));
  await other.close();
  const trail = await openTrail(good, { maxFileBytes: 1_500, signHead });
  for (let n = 0; n < 15; n++) await trail.write(record(n));
  await trail.close();
});

afterAll(() => rmSync(copy, { recursive: true, force: true }));

/** Files of a fresh copy, as lists of lines. */
function copied(): Map<string, string[]> {
  rmSync(copy, { recursive: true, force: true });
  cpSync(good, copy, { recursive: true });
  return new Map(readdirSync(copy).sort().map((name) => [name, readFileSync(`${copy}/${name}`, 'utf8').split('\n').slice(0, -1)])); // prettier-ignore
}

async function findingsOf(files: ReadonlyMap<string, readonly string[]>): Promise<string[]> {
  rmSync(copy, { recursive: true, force: true });
  mkdirSync(copy);
  for (const [name, lines] of files) writeFileSync(`${copy}/${name}`, lines.map((line) => `${line}\n`).join(''));
  return (await verifyTrail(copy, keys)).findings.map(({ where, problem }) => `${where}: ${problem}`);
}

/** A file and a line in it, any of the trail but the last line of the signing chain, which nothing signs. */
const place = fc.tuple(fc.nat(), fc.nat());
function at(files: Map<string, string[]>, [fileSeed, lineSeed]: [number, number]): { name: string; lines: string[]; index: number } {
  const signing = [...files.keys()].findLast((name) => name.startsWith('main'));
  const choices = [...files]
    .map(([name, lines]) => ({ name, lines, count: name === signing ? lines.length - 1 : lines.length }))
    .filter(({ count }) => count > 0);
  const { name, lines, count } = choices[fileSeed % choices.length] ?? { name: '', lines: [], count: 1 };
  return { name, lines, index: lineSeed % count };
}

test('an untouched trail has no findings; every chain is signed up to the last head', async () => {
  const verified = await verifyTrail(good, keys);
  expect(verified.findings).toEqual([]);
  expect(verified.lastSigned).toBeDefined();
  const [main, worker] = verified.chains;
  expect(worker).toEqual({ chain: 'worker-1', first: 1, last: 17, signedThrough: 17 });
  expect(main).toMatchObject({ chain: 'main', first: 1, signedThrough: (main?.last ?? 0) - 1 });
});

test('a signature in progress when the trail is closed is followed by one that covers the last records', async () => {
  const directory = temporary('slow-signer');
  const begun = Promise.withResolvers<void>();
  const slowSigner: SignHead = async (octets) => {
    begun.resolve();
    await new Promise((resolve) => setTimeout(resolve, 100));
    return signHead(octets);
  };
  const trail = await openTrail(directory, { signHead: slowSigner });
  await trail.write(record(1));
  const underWay = trail.signHeads();
  await begun.promise;
  await trail.write(record(2));
  await trail.close();
  await underWay;
  const [main] = (await verifyTrail(directory, keys)).chains;
  expect(main).toMatchObject({ signedThrough: (main?.last ?? 0) - 1 });
});

describe('any one change is found', () => {
  test('one flipped bit anywhere, named with its file and line', async () => {
    await fc.assert(
      fc.asyncProperty(place, fc.nat(), fc.nat({ max: 7 }), async (seed, octetSeed, bit) => {
        const files = copied();
        const { name, lines, index } = at(files, seed);
        const line = Buffer.from(lines[index] ?? '');
        const octet = octetSeed % line.length;
        line[octet] = (line[octet] ?? 0) ^ (1 << bit);
        // Raw octets: a flipped high bit is not UTF-8.
        const all = lines.map((text, n) => Buffer.concat([n === index ? line : Buffer.from(text), Buffer.from('\n')]));
        writeFileSync(`${copy}/${name}`, Buffer.concat(all));
        const { findings } = await verifyTrail(copy, keys);
        expect(findings[0]?.where).toBe(`${name}:${index + 1}`);
      }),
      { numRuns: 40 },
    );
  });

  test('one removed record', async () => {
    await fc.assert(
      fc.asyncProperty(place, async (seed) => {
        const files = copied();
        const { lines, index } = at(files, seed);
        lines.splice(index, 1);
        expect(await findingsOf(files)).not.toEqual([]);
      }),
      { numRuns: 30 },
    );
  });

  test('two swapped records', async () => {
    await fc.assert(
      fc.asyncProperty(place, place, async (one, two) => {
        const files = copied();
        const [left, right] = [at(files, one), at(files, two)];
        fc.pre(left.name !== right.name || left.index !== right.index);
        [left.lines[left.index], right.lines[right.index]] = [right.lines[right.index] ?? '', left.lines[left.index] ?? ''];
        expect(await findingsOf(files)).not.toEqual([]);
      }),
      { numRuns: 30 },
    );
  });

  test('a record written twice, a record of another chain, a foreign line', async () => {
    for (const strange of ['same', 'other chain', '{}', '']) {
      const files = copied();
      const { lines, index } = at(files, [0, 2]);
      const other = files.get([...files.keys()].at(-1) ?? '')?.[0] ?? '';
      lines.splice(index, 0, strange === 'same' ? (lines[index] ?? '') : strange === 'other chain' ? other : strange);
      expect(await findingsOf(files)).not.toEqual([]);
    }
  });

  test('the end of a chain cut off at any record, also where a file ends', async () => {
    const names = [...copied().keys()].filter((name) => name.startsWith('worker-1'));
    for (const name of names) {
      for (let keep = 0; keep < (copied().get(name)?.length ?? 0); keep++) {
        const files = copied();
        files.set(name, files.get(name)?.slice(0, keep) ?? []);
        for (const later of names.slice(names.indexOf(name) + 1)) files.delete(later);
        const findings = await findingsOf(files);
        expect(findings.at(-1)).toMatch(/^chain worker-1: (records? (\d+ to )?17 (is|are) missing at its end|is named by)/);
      }
    }
  });

  test.each(['first', 'middle', 'only those of one chain'])('files gone: %s', async (which) => {
    const files = copied();
    const names = [...files.keys()].filter((name) => name.startsWith('worker-1'));
    for (const name of which === 'first' ? names.slice(0, 1) : which === 'middle' ? names.slice(1, 2) : names) files.delete(name);
    expect(await findingsOf(files)).not.toEqual([]);
  });

  test('a record replaced and every later hash recomputed: the signed head has the old one', async () => {
    const files = copied();
    const names = [...files.keys()].filter((name) => name.startsWith('worker-1'));
    let head: { sequence: number; hash: string } | undefined;
    for (const name of names) {
      const lines = (files.get(name) ?? []).map((line) => {
        const old = parseLine(Buffer.from(line));
        if (old?.sequence === 4) line = line.replace('"status":200', '"status":403');
        head ??= { sequence: 0, hash: String(old?.previous) };
        const made = formatLine('worker-1', head, line.slice(line.indexOf(',"kind"'), line.lastIndexOf(',"hash"')));
        head = made.head;
        return made.text.trimEnd();
      });
      files.set(name, lines);
    }
    expect(await findingsOf(files)).toEqual([
      expect.stringMatching(/^worker-1\.\d+\.jsonl:\d+: record 17 is not the one a signed head names$/),
    ]);
  });
});

describe('signatures', () => {
  test('an unknown key is one finding, however often it signed', async () => {
    const verified = await verifyTrail(good, new Map());
    expect(verified.signedHeads).toBe(0);
    expect(verified.findings).toHaveLength(1);
    expect(verified.findings[0]?.problem).toBe('heads are signed by key audit-1, which is not known');
  });

  test('a signature of another key under the same name does not count', async () => {
    const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey;
    expect((await verifyTrail(good, new Map([['audit-1', other]]))).findings[0]?.problem).toMatch(/does not verify under key audit-1$/);
  });

  test.each(['ed25519', 'ml-dsa-65', 'rsa'] as const)('%s signs too', async (type) => {
    const pair = type === 'rsa' ? generateKeyPairSync('rsa', { modulusLength: 2048 }) : generateKeyPairSync(type as 'ed25519');
    const directory = temporary(`signed-${type}`);
    const trail = await openTrail(directory, {
      signHead: (octets) => Promise.resolve({ keyId: 'k', signature: sign(type === 'rsa' ? 'sha256' : null, octets, pair.privateKey) }),
    });
    await trail.write(record(1));
    await trail.close();
    expect(await verifyTrail(directory, new Map([['k', pair.publicKey]]))).toMatchObject({ signedHeads: 1, findings: [] });
  });

  test('heads are signed again only when a chain has grown, and a failing signer stops nothing', async () => {
    const directory = temporary('sparing');
    let failing = true;
    const trail = await openTrail(directory, {
      signHead: (octets) => (failing ? Promise.reject(new Error('token away')) : signHead(octets)),
    });
    await trail.signHeads();
    failing = false;
    await trail.write(record(1));
    for (let n = 0; n < 3; n++) await trail.signHeads();
    const other = await openTrail(directory, { chain: 'worker-2' });
    for (let n = 0; n < 3; n++) await trail.signHeads();
    await other.close();
    await trail.close();
    expect(await verifyTrail(directory, keys)).toMatchObject({ signedHeads: 3, findings: [] });
  });
});
