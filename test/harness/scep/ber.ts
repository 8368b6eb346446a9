// Writes DER as BER: the same values with indefinite lengths, lengths that are longer than they need to be, and octet strings in pieces.
import { Reader, tag } from '../../../core/der/der.ts';

/** Choices for each element; a number below `n` decides between `n`. */
export type BerForm = {
  /** Tells whether a constructed element has an indefinite length. */
  isIndefinite(): boolean;
  /** octets before the shortest form of a length, all zero */
  zerosOfLength(): number;
  /** octets of a piece of an OCTET STRING; 0: one piece */
  pieceLength(): number;
};

/** As jscep writes envelopes: indefinite lengths wherever it may, octet strings in pieces. */
export const likeJscep: BerForm = { isIndefinite: () => true, zerosOfLength: () => 0, pieceLength: () => 1_000 };

const endOfContents = Buffer.of(0, 0);

/** The one element in BER. */
export function toBer(der: Uint8Array, form: BerForm): Buffer {
  const { tag: type, content } = new Reader(der).next();
  const pieceLength = type === tag.octetString ? form.pieceLength() : 0;
  if (pieceLength > 0) return wrap(0x24, piecesOf(content, pieceLength, form), form);
  if ((type & 0x20) === 0) return Buffer.concat([Buffer.of(type), lengthOf(content.length, form), content]);
  return wrap(
    type,
    Array.from(new Reader(content).rest(), ({ whole }) => toBer(whole, form)),
    form,
  );
}

/** An implicit OCTET STRING, such as encryptedContent, in pieces. */
export function implicitInPieces(number: number, content: Uint8Array, pieceLength: number, form: BerForm): Buffer {
  return wrap(tag.constructed(number), piecesOf(content, pieceLength, form), form);
}

function piecesOf(content: Uint8Array, pieceLength: number, form: BerForm): readonly Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < content.length; at += pieceLength) {
    const piece = content.subarray(at, at + pieceLength);
    pieces.push(Buffer.concat([Buffer.of(tag.octetString), lengthOf(piece.length, form), piece]));
  }
  return pieces;
}

function wrap(type: number, parts: readonly Buffer[], form: BerForm): Buffer {
  const content = Buffer.concat(parts);
  if (form.isIndefinite()) return Buffer.concat([Buffer.of(type, 0x80), content, endOfContents]);
  return Buffer.concat([Buffer.of(type), lengthOf(content.length, form), content]);
}

function lengthOf(length: number, form: BerForm): Buffer {
  const zeros = form.zerosOfLength();
  if (length < 0x80 && zeros === 0) return Buffer.of(length);
  const digits = length.toString(16);
  const octets = Buffer.concat([Buffer.alloc(zeros), Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex')]);
  return Buffer.concat([Buffer.of(0x80 | octets.length), octets]);
}
