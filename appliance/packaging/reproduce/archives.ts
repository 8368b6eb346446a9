// Reads archives member by member with all stored metadata: ar (Debian packages), tar, and files packed by gzip and zstd.
import { gunzipSync, zstdDecompressSync } from 'node:zlib';

/** `header`: the metadata stored beside the content, in words. */
export type Member = { readonly name: string; readonly header: string; readonly content: Buffer };

export type Archive = { readonly format: string; readonly members: readonly Member[] };

const formats: readonly (readonly [format: string, is: (octets: Buffer) => boolean, read: (octets: Buffer) => readonly Member[]])[] = [
  ['ar', (octets) => octets.subarray(0, 8).toString('latin1') === '!<arch>\n', readAr],
  ['tar', (octets) => octets.subarray(257, 262).toString('latin1') === 'ustar', readTar],
  ['gzip', (octets) => octets.readUInt16BE() === 0x1f8b, (octets) => unpacked(octets.subarray(0, 10), gunzipSync(octets))],
  ['zstd', (octets) => octets.readUInt32BE() === 0x28b52ffd, (octets) => unpacked(octets.subarray(0, 0), zstdDecompressSync(octets))],
];

/** Undefined for a damaged archive, and for any other file. */
export function openArchive(octets: Buffer): Archive | undefined {
  if (octets.length < 4) return undefined;
  const [format, , read] = formats.find(([, is]) => is(octets)) ?? [];
  if (format === undefined || read === undefined) return undefined;
  try {
    return { format, members: read(octets) };
  } catch {
    return undefined;
  }
}

function unpacked(header: Buffer, content: Buffer): readonly Member[] {
  return [{ name: 'what is packed', header: header.toString('hex'), content }];
}

/** ar(5): headers of 60 octets in ASCII; contents begin at even places. */
function readAr(octets: Buffer): readonly Member[] {
  const members: Member[] = [];
  for (let at = 8; at + 60 <= octets.length;) {
    const field = (from: number, to: number): string => octets.toString('latin1', at + from, at + to).trim();
    const size = Number(field(48, 58));
    const header = `time ${field(16, 28)}, owner ${field(28, 34)}:${field(34, 40)}, mode ${field(40, 48)}`;
    members.push({ name: field(0, 16).replace(/\/$/, ''), header, content: octets.subarray(at + 60, at + 60 + size) });
    at += 60 + size + (size % 2);
  }
  return members;
}

const block = 512;

/** tar(5), with the long names of GNU and the records of POSIX (pax), which are before the member that they are about. */
function readTar(octets: Buffer): readonly Member[] {
  const members: Member[] = [];
  let ahead: Readonly<Record<string, string>> = {};
  for (let at = 0; at + block <= octets.length && octets[at] !== 0;) {
    const head = octets.subarray(at, at + block);
    const size = numberOf(head, 124, 12);
    const content = octets.subarray(at + block, at + block + size);
    at += block + Math.ceil(size / block) * block;
    const type = textOf(head, 156, 1);
    if ('LKxg'.includes(type) && type !== '') {
      ahead = { ...ahead, ...extensionOf(type, content) };
      continue;
    }
    const { path = nameOf(head), ...others } = ahead;
    members.push({ name: path, header: describeHead(head, others), content });
    ahead = {};
  }
  return members;
}

function extensionOf(type: string, content: Buffer): Readonly<Record<string, string>> {
  if (type === 'L') return { path: textOf(content, 0, content.length) };
  if (type === 'K') return { linkpath: textOf(content, 0, content.length) };
  // Lines of `LENGTH NAME=VALUE`.
  return Object.fromEntries([...content.toString().matchAll(/^\d+ ([^=]+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]));
}

function nameOf(head: Buffer): string {
  const prefix = textOf(head, 257, 6) === 'ustar' ? textOf(head, 345, 155) : '';
  return prefix === '' ? textOf(head, 0, 100) : `${prefix}/${textOf(head, 0, 100)}`;
}

function describeHead(head: Buffer, others: Readonly<Record<string, string>>): string {
  const number = (at: number, length: number): number => numberOf(head, at, length);
  const words = [
    `type ${textOf(head, 156, 1) || '0'}`,
    `mode ${number(100, 8).toString(8)}`,
    `owner ${number(108, 8)}:${number(116, 8)} ${textOf(head, 265, 32)}:${textOf(head, 297, 32)}`,
    `time ${number(136, 12)}`,
    `link ${textOf(head, 157, 100)}`,
    `device ${number(329, 8)}:${number(337, 8)}`,
    ...Object.entries(others).map(([name, value]) => `${name} ${value}`),
  ];
  return words.join(', ');
}

function textOf(octets: Buffer, at: number, length: number): string {
  const field = octets.subarray(at, at + length);
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end === -1 ? field.length : end);
}

/** Octal digits, or with the highest bit set a number of that many octets. */
function numberOf(octets: Buffer, at: number, length: number): number {
  if (((octets[at] ?? 0) & 0x80) === 0) return Number.parseInt(textOf(octets, at, length).trim() || '0', 8);
  return octets.subarray(at + 1, at + length).reduce((value, octet) => value * 256 + octet, 0);
}
