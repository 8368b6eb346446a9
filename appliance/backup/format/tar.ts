// tar in its plain form (POSIX.1-1988 ustar): regular files under known names, so that any tar lists and unpacks a backup.
import { BackupError } from './error.ts';
import { OctetReader } from './source.ts';

/*
 * name(100) mode(8) uid(8) gid(8) size(12) mtime(12) checksum(8) type(1) link(100) "ustar" NUL "00" owner(32) group(32) major(8) minor(8)
 * prefix(155), zeros up to 512; then the content, filled with zeros to a multiple of 512. Two blocks of zeros end the archive.
 */
const blockBytes = 512;
const longestName = 100;
/** Eleven octal digits; larger sizes are written in base 256, as GNU tar and bsdtar do. */
const largestOctal = 8 ** 11;

/** The length of an archive of files of these lengths. */
export function tarBytes(sizes: readonly number[]): number {
  return sizes.reduce((sum, size) => sum + blockBytes + size + paddingOf(size), 2 * blockBytes);
}

/** One file: header, content, padding. `bytes` is the exact length of the content; another length throws. */
export async function* formatTarEntry(name: string, bytes: number, content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>) {
  yield formatHeader(name, bytes);
  let written = 0;
  for await (const part of content) {
    written += part.length;
    yield part;
  }
  if (written !== bytes) throw new Error(`${name} has ${written} octets and should have ${bytes}`);
  if (paddingOf(bytes) > 0) yield Buffer.alloc(paddingOf(bytes));
}

/** The end of an archive. */
export function formatTarEnd(): Buffer {
  return Buffer.alloc(2 * blockBytes);
}

/** An entry that is being read: its content must be read to the end before the next entry. */
export type TarEntry = { readonly name: string; readonly bytes: number; readonly content: AsyncGenerator<Uint8Array> };

/** Reads an archive to its end. Throws BackupError for anything that formatTarEntry would not have written: links, devices, long names. */
export async function* readTar(stream: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry> {
  const reader = new OctetReader(stream);
  for (;;) {
    const header = await reader.take(blockBytes);
    if (header.every((octet) => octet === 0)) break;
    const { name, bytes } = parseHeader(header);
    let isRead = false;
    async function* content(): AsyncGenerator<Uint8Array> {
      for (let left = bytes; left > 0;) {
        const part = await reader.some(left);
        left -= part.length;
        yield part;
      }
      isRead = true;
    }
    yield { name, bytes, content: content() };
    if (!isRead && bytes > 0) throw new Error(`${name} was not read to its end`);
    await reader.take(paddingOf(bytes));
  }
  // Octets after the end are read and ignored, so that a stream that was cut off after it does not pass.
  for await (const _ of reader.rest());
}

function formatHeader(name: string, bytes: number): Buffer {
  if (Buffer.byteLength(name) > longestName || !/^[\w.][\w./-]*$/.test(name)) throw new Error(`${name} does not fit a tar header`);
  const header = Buffer.alloc(blockBytes);
  header.write(name, 0, 'latin1');
  header.write('0000600\0', 100, 'latin1');
  header.write('0000000\0', 108, 'latin1');
  header.write('0000000\0', 116, 'latin1');
  if (bytes < largestOctal) header.write(`${bytes.toString(8).padStart(11, '0')}\0`, 124, 'latin1');
  else {
    header[124] = 0x80;
    header.writeBigUInt64BE(BigInt(bytes), 128);
  }
  header.write('00000000000\0', 136, 'latin1');
  header.write('0', 156, 'latin1');
  header.write('ustar\u000000', 257, 'latin1');
  header.write(`${checksumOf(header).toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return header;
}

/** Accepts only output of formatHeader: the header is written again from the parsed fields, and must be the same. */
function parseHeader(header: Buffer): { readonly name: string; readonly bytes: number } {
  const name = header.toString('latin1', 0, longestName).replace(/\0+$/, '');
  const isLarge = header[124] === 0x80;
  const bytes = isLarge ? Number(header.readBigUInt64BE(128)) : Number.parseInt(header.toString('latin1', 124, 135), 8);
  try {
    if (Number.isSafeInteger(bytes) && formatHeader(name, bytes).equals(header)) return { name, bytes };
  } catch {
    // The name is not one that is written.
  }
  throw new BackupError('the backup has a file that does not belong there');
}

/** The sum of all octets, the checksum itself as spaces. */
function checksumOf(header: Buffer): number {
  let sum = 8 * 0x20;
  for (const [index, octet] of header.entries()) if (index < 148 || index >= 156) sum += octet;
  return sum;
}

function paddingOf(bytes: number): number {
  return (blockBytes - (bytes % blockBytes)) % blockBytes;
}
