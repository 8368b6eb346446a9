// Looks for planted secrets in files, in texts, and in the store's pages in the memory of running processes, in every encoding.
import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';

/** A secret in one encoding, with a name for reports. */
export type Needle = { readonly what: string; readonly octets: Buffer };
export type Planted = ReadonlyMap<string, string | Buffer>;

export function needlesOf(planted: Planted): readonly Needle[] {
  return [...planted].flatMap(([what, secret]) => formsOf(secret).map(([form, octets]) => ({ what: `${what} (${form})`, octets })));
}

/** As it is, as text of it, and inside base64 and base64url at each of the three alignments. */
function formsOf(secret: string | Buffer): readonly (readonly [string, Buffer])[] {
  const octets = Buffer.from(secret);
  if (octets.length < 12) throw new Error('a secret as short as this is found by chance');
  // The characters at both ends depend on the neighbouring octets.
  const aligned = [0, 1, 2].map((shift) => Buffer.concat([Buffer.alloc(shift), octets]).toString('base64').slice(4, -4)); // prettier-ignore
  const forms: readonly (readonly [string, Buffer | string])[] = [
    ['as it is', octets],
    ['hexadecimal', octets.toString('hex')],
    ['HEXADECIMAL', octets.toString('hex').toUpperCase()],
    ['UTF-16', Buffer.from(octets.toString('latin1'), 'utf16le')],
    ['percent-encoded', encodeURIComponent(octets.toString('latin1'))],
    ['in JSON', JSON.stringify(octets.toString('latin1')).slice(1, -1)],
    ...aligned.map((text, shift) => [`base64 ${shift}`, text] as const),
    ...aligned.map((text, shift) => [`base64url ${shift}`, text.replaceAll('+', '-').replaceAll('/', '_')] as const),
  ];
  const seen = new Set<string>();
  return forms.flatMap(([form, what]) => {
    const needle = Buffer.from(what);
    const isNew = !seen.has(needle.toString('latin1'));
    seen.add(needle.toString('latin1'));
    return isNew ? [[form, needle] as const] : [];
  });
}

/** The secrets that were found. */
export function found(octets: Buffer, needles: readonly Needle[]): readonly string[] {
  return needles.filter((needle) => octets.includes(needle.octets)).map(({ what }) => what);
}

/** The pages of the store's file in the memory of a process, as a core dump would contain them; none of a process that is ending. */
export function mappedStore(pid: number): readonly Buffer[] {
  try {
    return readMappedStore(pid).filter((octets) => octets.length > 0);
  } catch (error) {
    if (['ESRCH', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '')) return [];
    throw error;
  }
}

function readMappedStore(pid: number): readonly Buffer[] {
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  try {
    const maps = readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n').filter((line) => line.endsWith('/store/data.mdb')); // prettier-ignore
    return maps.map((line) => {
      const [start = 0, end = 0] = (/^([0-9a-f]+)-([0-9a-f]+)/.exec(line) ?? []).slice(1).map((digits) => Number.parseInt(digits, 16));
      return readUntilUnmapped(memory, start, end);
    });
  } finally {
    closeSync(memory);
  }
}

/** The map is far larger than the file; reads behind the file's end fail. */
function readUntilUnmapped(memory: number, start: number, end: number): Buffer {
  const octets = Buffer.alloc(Math.min(end - start, 64 << 20));
  let read = 0;
  try {
    while (read < octets.length) {
      const got = readSync(memory, octets, read, Math.min(1 << 20, octets.length - read), start + read);
      if (got === 0) break;
      read += got;
    }
  } catch {
    // EIO at the end of the file
  }
  return octets.subarray(0, read);
}

/** Every file below a folder. */
export function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** The processes that a process has started. */
export function childrenOf(pid: number): readonly number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter((one) => one !== '').map(Number); // prettier-ignore
}
