// Differences between two files: the members of archives, those of archives in them, and the first different octets.
import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { type Archive, type Member, openArchive } from './archives.ts';

/** Larger files, which are disks, are compared piece by piece. */
const largestInMemory = 1 << 29;
const pieceOctets = 1 << 20;
/** Limit of named pieces of a disk. */
const mostPieces = 10;

/** Lines that describe the differences between two files; empty if they are the same octet by octet. */
export function compareFiles(one: string, other: string): readonly string[] {
  const size = Math.max(statSync(one).size, statSync(other).size);
  return size > largestInMemory ? comparePieces(one, other) : compareOctets(readFileSync(one), readFileSync(other));
}

/** The same for octets. `place`: the names of the archives and members that lead to them. */
export function compareOctets(one: Buffer, other: Buffer, place: readonly string[] = []): readonly string[] {
  if (one.equals(other)) return [];
  const [left, right] = [openArchive(one), openArchive(other)];
  if (left === undefined || left.format !== right?.format) return [`${nameOf(place)}${firstDifference(one, other)}`];
  const inside = compareArchives(left, right, place);
  if (inside.length > 0) return inside;
  return [`${nameOf(place)}the same members in another form of ${left.format}: ${firstDifference(one, other)}`];
}

function compareArchives(one: Archive, other: Archive, place: readonly string[]): readonly string[] {
  const { pairs, alone } = pairUp(bySize(one.members), bySize(other.members));
  const order = ({ members }: Archive): string => members.map(({ name }) => name).join('\n');
  const moved = alone.length === 0 && pairs.every(([left, right]) => left.name === right.name) && order(one) !== order(other);
  return [
    ...alone.map(({ name, where }) => `${nameOf([...place, name])}only in the ${where}`),
    ...(moved ? [`${nameOf(place)}the members are in another order`] : []),
    ...pairs.flatMap(([left, right]) => {
      const at = [...place, left.name === right.name ? left.name : `${left.name} | ${right.name}`];
      const headers = left.header === right.header ? [] : [`${nameOf(at)}${left.header} | ${right.header}`];
      return [...headers, ...compareOctets(left.content, right.content, at)];
    }),
  ];
}

/** So that members with hashes for names meet their like. */
function bySize(members: readonly Member[]): readonly Member[] {
  return members.toSorted((one, other) => one.content.length - other.content.length);
}

export type Pairs<T> = {
  readonly pairs: readonly (readonly [T, T])[];
  readonly alone: readonly { readonly name: string; readonly where: 'first' | 'second' }[];
};

/**
 * Pairs of two lists: entries with the same name, and of the rest those with the same name but for the hashes in it, in the order of the
 * lists.
 */
export function pairUp<T extends { readonly name: string }>(first: readonly T[], second: readonly T[]): Pairs<T> {
  const byName = match(first, second, (name) => name);
  const byKind = match(byName.left, byName.right, withoutHashes);
  const left = byKind.left.map(({ name }) => ({ name, where: 'first' as const }));
  const right = byKind.right.map(({ name }) => ({ name, where: 'second' as const }));
  return { pairs: [...byName.pairs, ...byKind.pairs], alone: [...left, ...right] };
}

type Matched<T> = { readonly pairs: readonly (readonly [T, T])[]; readonly left: readonly T[]; readonly right: readonly T[] };

function match<T extends { readonly name: string }>(
  first: readonly T[],
  second: readonly T[],
  keyOf: (name: string) => string,
): Matched<T> {
  const right = Map.groupBy(second, ({ name }) => keyOf(name));
  const pairs: (readonly [T, T])[] = [];
  const left: T[] = [];
  for (const one of first) {
    const other = right.get(keyOf(one.name))?.shift();
    if (other === undefined) left.push(one);
    else pairs.push([one, other]);
  }
  return { pairs, left, right: [...right.values()].flat() };
}

/** SHA-256, and identifiers of file systems that are made from one. */
function withoutHashes(name: string): string {
  return name.replaceAll(/[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}(?:[0-9a-f]{32})?/gi, '*');
}

function nameOf(place: readonly string[]): string {
  return place.length === 0 ? '' : `${place.join(' > ')}: `;
}

function firstDifference(one: Buffer, other: Buffer): string {
  const at = firstPlace(one, other);
  const extent =
    one.length === other.length ? `${countDifferent(one, other)} of ${one.length} octets` : `${one.length} | ${other.length} octets`;
  return `${extent}, from ${at} (0x${at.toString(16)}) on: ${excerpt(one, at)} | ${excerpt(other, at)}`;
}

function firstPlace(one: Buffer, other: Buffer): number {
  const shorter = Math.min(one.length, other.length);
  let at = 0;
  // In pieces first: octet by octet a large file takes long.
  while (at < shorter && one.subarray(at, at + pieceOctets).equals(other.subarray(at, at + pieceOctets))) at += pieceOctets;
  while (at < shorter && one[at] === other[at]) at += 1;
  return Math.min(at, shorter);
}

function countDifferent(one: Buffer, other: Buffer): number {
  let count = 0;
  for (let at = 0; at < one.length; at += 1) if (one[at] !== other[at]) count += 1;
  return count;
}

/** Text with the octets before it, other octets as hex. */
function excerpt(octets: Buffer, at: number): string {
  const near = octets.subarray(Math.max(0, at - 24), at + 40);
  const isText = near.length > 0 && near.every((octet) => octet === 0x0a || octet === 0x09 || (octet >= 0x20 && octet < 0x7f));
  return isText ? JSON.stringify(near.toString('latin1')) : octets.subarray(at, at + 16).toString('hex') || 'the end';
}

/** For files that are too large for the memory. */
function comparePieces(one: string, other: string): readonly string[] {
  const [left, right] = [openSync(one, 'r'), openSync(other, 'r')];
  const [ofOne, ofOther] = [Buffer.alloc(pieceOctets), Buffer.alloc(pieceOctets)];
  const found: string[] = [];
  try {
    for (let at = 0; found.length < mostPieces; at += pieceOctets) {
      const piece = ofOne.subarray(0, readSync(left, ofOne, 0, pieceOctets, at));
      const against = ofOther.subarray(0, readSync(right, ofOther, 0, pieceOctets, at));
      if (!piece.equals(against)) found.push(`in the MiB at ${at}: ${firstDifference(piece, against)}`);
      if (piece.length < pieceOctets || against.length < pieceOctets) break;
    }
  } finally {
    closeSync(left);
    closeSync(right);
  }
  return found;
}
