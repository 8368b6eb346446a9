// Documents that have their signature with them: cleartext documents and messages, read as strictly as they are written here.
import type { PartialConfig, SignaturePacket } from 'openpgp';
import { decodeUtf8, encodeUtf8 } from '../../../core/base/bytes.ts';
import { fail as failCore } from '../../../core/base/errors.ts';
import { fail } from '../errors.ts';
import { openpgp } from '../format/library.ts';
import { maxSignaturePackets, readingConfig, readSignatures, unarmored } from '../format/reading.ts';
import { signatureType } from '../format/signature.ts';
import { eachLine, maxLinedBytes, withoutBlanks, writerFor } from '../format/text.ts';

/** Parts of a document: `hashed` is what its signatures are over, `text` what a reader gets of it. */
export type SignedDocument = {
  readonly hashed: Uint8Array;
  readonly text: Uint8Array;
  readonly signatures: readonly SignaturePacket[];
};

/** Largest message, in octets. */
const maxMessageBytes = 12 * 1024 * 1024;
/** Largest cleartext document: a text of lines that are one dash is twice as long in it. */
const maxCleartextBytes = 2 * maxLinedBytes + 1024 * 1024;

const [headLine, signatureLine] = [encodeUtf8('-----BEGIN PGP SIGNED MESSAGE-----'), encodeUtf8('-----BEGIN PGP SIGNATURE-----')];
/** The header is not signed, so it has no words of its own (RFC 9580, 7.1 and 9.5). */
const hashNumbers: ReadonlyMap<string, number> = new Map([
  ...([
    ['MD5', 1],
    ['SHA1', 2],
    ['RIPEMD160', 3],
    ['SHA256', 8],
    ['SHA384', 9],
    ['SHA512', 10],
  ] as const),
  ...([
    ['SHA224', 11],
    ['SHA3-256', 12],
    ['SHA3-512', 14],
  ] as const),
]);
const [lineEnd, networkEnd] = [Uint8Array.of(0x0a), Uint8Array.of(0x0d, 0x0a)];
const [dash, blank] = [0x2d, 0x20];

/** The forms of documents that openpgp-verify reads. */
export const documents: Readonly<Record<'cleartext' | 'message', (octets: Uint8Array) => Promise<SignedDocument>>> = {
  cleartext: readCleartext,
  message: readSignedMessage,
};

/**
 * Reads a cleartext document (RFC 9580, 7): nothing before and nothing behind it, no header but Hash, and every line either escaped or without a
 * dash at its beginning. So nothing can be read that was not signed. Throws `invalid-format`, `payload-too-large`, `invalid-value`.
 */
async function readCleartext(octets: Uint8Array): Promise<SignedDocument> {
  requireSmall(octets, maxCleartextBytes);
  const [hashed, signed] = [writerFor(octets, 1), writerFor(octets, 1)];
  let part: 'head' | 'header' | 'text' = 'head';
  let end = 0;
  let signatureAt = -1;
  const hashes: number[] = [];
  // Line by line, for there may be millions.
  const take = (line: Uint8Array, ending: Uint8Array): void => {
    if (signatureAt >= 0) return;
    const bare = withoutBlanks(line);
    if (part === 'head') {
      if (!isSame(bare, headLine)) throw noBeginning();
      part = 'header';
    } else if (isSame(bare, signatureLine)) {
      if (part === 'header') throw noCleartext('no empty line ends its header');
      signatureAt = end;
    } else if (part === 'header') {
      if (bare.length === 0) part = 'text';
      else hashes.push(...hashesIn(bare));
    } else {
      const covered = withoutBlanks(unescaped(line));
      hashed.add(covered);
      hashed.add(networkEnd);
      signed.add(covered);
      signed.add(lineEnd);
    }
    end += line.length + ending.length;
  };
  await eachLine(octets, take, maxCleartextBytes);
  if (signatureAt < 0) throw noBeginning();
  const signature = decodeUtf8(octets.subarray(signatureAt));
  if (signature === undefined || !/-----END PGP SIGNATURE-----\s*$/.test(signature)) throw noCleartext('something is behind its signature');
  const text = signed.octets();
  // The end of its last line belongs to the frame.
  if (text.length - lineEnd.length > maxLinedBytes) throw tooLarge();
  if (text.includes(0)) throw noCleartext('it has NUL in it');
  const found = await readSignatures(signature);
  // gpg takes the hashes of the header, and finds other signatures bad.
  const signatures = hashes.length === 0 ? found : found.filter(({ hashAlgorithm }) => hashes.includes(Number(hashAlgorithm)));
  if (signatures.length === 0) throw noCleartext('its header names other hashes than that of the signature');
  // A signature of octets over these lines does not belong to a cleartext document.
  const covered = hashed.octets();
  return {
    hashed: covered.subarray(0, Math.max(0, covered.length - networkEnd.length)),
    text,
    signatures: signatures.filter((one) => isOfText(one)),
  };
}

/** The hashes that a line of the header names. */
function hashesIn(line: Uint8Array): readonly number[] {
  const names = /^Hash: (.+)$/.exec(decodeUtf8(line) ?? '')?.[1]?.split(/, ?/) ?? [];
  const numbers = names.flatMap((name) => hashNumbers.get(name) ?? []);
  if (names.length > 0 && numbers.length === names.length) return numbers;
  throw noCleartext('its header has more than Hash with names of hashes');
}

function isOfText({ signatureType: type }: SignaturePacket): boolean {
  const code: number | null = type;
  return code === signatureType.text;
}

/** A line without its escape. */
function unescaped(line: Uint8Array): Uint8Array {
  if (line[0] !== dash) return line;
  if (line[1] === blank) return line.subarray(2);
  throw noCleartext('a line begins with a dash that is not escaped');
}

function isSame(line: Uint8Array, wanted: Uint8Array): boolean {
  return line.length === wanted.length && Buffer.compare(line, wanted) === 0;
}

/**
 * Reads a message, in armor, base64 or octets: signatures around literal data, compressed or not. Throws `invalid-format`,
 * `payload-too-large`.
 */
async function readSignedMessage(octets: Uint8Array): Promise<SignedDocument> {
  requireSmall(octets, maxMessageBytes);
  const armored = octets[0] !== undefined && octets[0] < 0x80 ? decodeUtf8(octets) : undefined;
  if (armored !== undefined && armored.split('-----BEGIN ').length !== 2) throw noMessage();
  const binaryMessage = armored === undefined ? octets : await unarmored(armored, noMessage);
  if (isBzip2(binaryMessage)) throw noMessage();
  const config = { ...readingConfig, maxDecompressedMessageSize: maxLinedBytes };
  // Reading fails in many ways; all are the same refusal.
  const read = await readPackets(binaryMessage, config).catch(() => undefined);
  if (read === undefined || read.signatures.length === 0 || read.signatures.length > maxSignaturePackets) throw noMessage();
  const { text, signatures } = read;
  if (text.length > maxLinedBytes) throw tooLarge();
  return { hashed: text, text, signatures };
}

async function readPackets(
  binaryMessage: Uint8Array,
  config: PartialConfig,
): Promise<{ readonly text: Uint8Array; readonly signatures: readonly SignaturePacket[] } | undefined> {
  const message = await openpgp().readMessage({ binaryMessage, config });
  const { packets } = message.unwrapCompressed();
  const { packet } = openpgp().enums;
  const text: unknown = message.getLiteralData();
  const signatures = [
    ...(packets.filterByTag(packet.signature) as unknown as readonly SignaturePacket[]),
    ...(await laterSignatures(packets)),
  ];
  return text instanceof Uint8Array && packets.filterByTag(packet.literalData).length === 1 ? { text, signatures } : undefined;
}

/** Signatures behind the data, which openpgp.js reads when they are asked for; the types leave this out. */
async function laterSignatures(packets: object): Promise<readonly SignaturePacket[]> {
  const { stream } = packets as { readonly stream?: ReadableStream<unknown> | null };
  const found: SignaturePacket[] = [];
  if (stream === undefined || stream === null) return found;
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return found;
    if (value instanceof openpgp().SignaturePacket && found.length <= maxSignaturePackets) found.push(value);
  }
}

/** Tells whether a message begins as compressed by bzip2, which openpgp.js undoes on the event loop, slowly. */
function isBzip2(message: Uint8Array): boolean {
  const [header = 0, length = 0] = message;
  const isNew = (header & 0x40) !== 0;
  const tag = isNew ? header & 0x3f : (header >> 2) & 0x0f;
  const newWidth = length < 192 || (length >= 224 && length < 255) ? 1 : length < 224 ? 2 : 5;
  const oldWidth = [1, 2, 4, 0][header & 3] ?? 0;
  const at = isNew ? newWidth : oldWidth;
  return tag === compressedData && message[1 + at] === bzip2;
}

const [compressedData, bzip2] = [8, 3];

function requireSmall({ length }: Uint8Array, most: number): void {
  if (length > most) throw tooLarge();
}

function tooLarge(): Error {
  return failCore('payload-too-large', {
    detail: `A document with its signature may have at most ${maxLinedBytes / 1024 / 1024} MiB of text.`,
  });
}

function noBeginning(): Error {
  return noCleartext('it has no beginning or no signature');
}

function noCleartext(why: string): Error {
  return fail('invalid-format', { detail: `text is not a cleartext document: ${why}.` });
}

function noMessage(): Error {
  return fail('invalid-format', {
    detail: 'text is not one readable signed message: signatures around data, in armor or as packets, not encrypted.',
  });
}
