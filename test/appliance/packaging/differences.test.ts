// The comparison of two builds: equal files have no difference, and a planted one is named by the members that lead to it and its place.
import { spawnSync } from 'node:child_process';
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { constants, gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { archiveDeb, controlOf } from '../../../appliance/packaging/debian-archive.ts';
import { openArchive } from '../../../appliance/packaging/reproduce/archives.ts';
import { compareFiles, compareOctets, pairUp } from '../../../appliance/packaging/reproduce/differences.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();

test('equal octets have no difference, others have a place and both sides of it', () => {
  expect(compareOctets(Buffer.from('the same'), Buffer.from('the same'))).toEqual([]);
  expect(compareOctets(Buffer.from('made on Monday'), Buffer.from('made on Tuesday'))).toEqual([
    '14 | 15 octets, from 8 (0x8) on: "made on Monday" | "made on Tuesday"',
  ]);
  expect(compareOctets(Buffer.from([0, 1, 2, 3]), Buffer.from([0, 9, 2, 8]))).toEqual(['2 of 4 octets, from 1 (0x1) on: 010203 | 090208']);
  expect(compareOctets(Buffer.from([0, 1]), Buffer.from([0]))).toEqual(['2 | 1 octets, from 1 (0x1) on: 01 | the end']);
});

test('a Debian package is compared member by member, through its archives and their compression', () => {
  const [one, other] = [packageWith('one', 'right', 1_700_000_000), packageWith('other', 'wrong', 1_700_000_000)];
  expect(compareFiles(one, packageWith('same', 'right', 1_700_000_000))).toEqual([]);
  const found = compareFiles(one, other);
  expect(found).toEqual([
    expect.stringMatching(/^data\.tar\.zst > what is packed > \.\/usr\/share\/word: .* from 0 \(0x0\) on: "right" \| "wrong"$/),
  ]);
  const later = compareFiles(one, packageWith('later', 'right', 1_700_000_060));
  expect(later.join('\n')).toMatch(/data\.tar\.zst > what is packed > \.\/usr\/share\/word: .*time 1700000000, .* \| .*time 1700000060, /);
});

test.each([
  ['ustar', 'short'],
  ['gnu', 'a/'.repeat(70) + 'long'],
  ['pax', 'a/'.repeat(70) + 'long'],
])('names, modes, owners and times in an archive of the form %s are seen', (format, name) => {
  const make = (folder: string, mode: string): Buffer => {
    mkdirSync(dirname(path(folder, name)), { recursive: true });
    writeFileSync(path(folder, name), 'content');
    utimesSync(path(folder, name), 1_700_000_000, 1_700_000_000);
    const settled = [
      `--format=${format}`,
      `--mode=${mode}`,
      '--owner=someone:7',
      '--group=0',
      '--pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime',
    ];
    const options = format === 'pax' ? settled : settled.slice(0, -1);
    const { status, stdout, stderr } = spawnSync('tar', ['--create', ...options, `--directory=${path(folder)}`, name], {
      maxBuffer: 1 << 20,
    });
    expect(status, String(stderr)).toBe(0);
    return stdout;
  };
  const [one, other] = [make(`${format}-one`, '0644'), make(`${format}-other`, '0755')];
  expect(openArchive(one)).toMatchObject({ format: 'tar', members: [{ name, content: Buffer.from('content') }] });
  expect(compareOctets(one, make(`${format}-same`, '0644'))).toEqual([]);
  expect(compareOctets(one, other)).toEqual([
    expect.stringMatching(/: type 0, mode 644, owner 7:0 someone:.*, time 1700000000, .* \| type 0, mode 755, /),
  ]);
});

test('what is compressed in another way, but the same, is told apart from other content', () => {
  const text = Buffer.from('a text that is long enough to be compressed '.repeat(50));
  const summed = zstdCompressSync(text, { params: { [constants.ZSTD_c_checksumFlag]: 1 } });
  expect(compareOctets(zstdCompressSync(text), summed)).toEqual([expect.stringContaining('the same members in another form of zstd')]);
  expect(compareOctets(zstdCompressSync(text), zstdCompressSync(Buffer.concat([text, Buffer.from('.')])))).toEqual([
    expect.stringMatching(/^what is packed: 2200 \| 2201 octets, from 2200 /),
  ]);
});

test('a damaged archive is compared as octets', () => {
  const whole = gzipSync('content');
  const damaged = Buffer.from(whole);
  damaged[damaged.length - 1] = 0xff;
  expect(openArchive(damaged)).toBeUndefined();
  expect(compareOctets(whole, damaged)).toEqual([expect.stringMatching(/^1 of \d+ octets/)]);
});

test('members and files whose names are hashes meet their like', () => {
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((digit) => `blobs/sha256/${digit.repeat(64)}`);
  const named = (...names: readonly (string | undefined)[]) => names.map((name = '') => ({ name }));
  expect(pairUp(named(a, b, 'index.json'), named(c, 'index.json', d))).toEqual({
    pairs: [named('index.json', 'index.json'), named(a, c), named(b, d)],
    alone: [],
  });
  expect(pairUp(named('only-here', 'both'), named('both', 'only-there'))).toEqual({
    pairs: [named('both', 'both')],
    alone: [
      { name: 'only-here', where: 'first' },
      { name: 'only-there', where: 'second' },
    ],
  });
});

/** A package with one file of this content and time. */
function packageWith(name: string, content: string, epochSeconds: number): string {
  const stage = path(`stage-${name}`);
  mkdirSync(`${stage}/DEBIAN`, { recursive: true });
  mkdirSync(`${stage}/usr/share`, { recursive: true });
  writeFileSync(`${stage}/usr/share/word`, content);
  const fields = {
    Package: 'planted',
    Version: '1.0',
    Architecture: 'all',
    Maintainer: 'Nobody <nobody@localhost>',
    Description: 'planted\n',
  };
  writeFileSync(`${stage}/DEBIAN/control`, controlOf(fields));
  return archiveDeb(stage, path(`${name}.deb`), { epochSeconds, isExecutable: () => false });
}
