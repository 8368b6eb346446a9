// Signing data: one signature per call, never dated before the key; by itself, in a cleartext document, or in a message (RFC 9580, 7 and 10).
import { concat, decodeUtf8, encodeUtf8, uint32 } from '../../../core/base/bytes.ts';
import { fail as failCore } from '../../../core/base/errors.ts';
import type { HashName } from '../../../hsm/api.ts';
import type { OpenpgpRecord } from '../records.ts';
import { hashIds } from '../format/algorithms.ts';
import { formatArmor, formatLargeArmor } from '../format/keyblock.ts';
import { formatFingerprint, packet, packetTag, splitPacket, subpacket, uint16 } from '../format/packets.ts';
import { readSignature, signatureHead, signatureType, signData, subpacketType } from '../format/signature.ts';
import { openpgpSeconds, type PublicKeyBody, type Signer } from '../format/signer.ts';
import { canonicalText, cleartext } from '../format/text.ts';

/** A signature and its data, written; a cleartext document has no packets around it. */
export type Written = { readonly armored: string; readonly packets?: Uint8Array };

/** Data that a signature can be made over: what is hashed, and how both are written. */
export type Prepared = {
  readonly type: number;
  readonly hashed: Uint8Array;
  write(signature: Uint8Array, signer: Signer, hash: HashName): Written | Promise<Written>;
};

type Form = {
  readonly describes: string;
  /** Throws `invalid-value`, `payload-too-large` for data that the form cannot take. */
  prepare(data: Uint8Array): Prepared | Promise<Prepared>;
};

/** The forms of openpgp-sign, a row each. */
export const forms = {
  detached: {
    describes: 'a signature over the octets',
    prepare: (data) => ({
      type: signatureType.binary,
      hashed: data,
      write: (signature, signer) => armored('signature', signature, signer),
    }),
  },
  'detached-text': {
    describes: 'a signature over the text, whatever its line endings become',
    prepare: async (data) => ({
      type: signatureType.text,
      hashed: await canonicalText(data),
      write: (signature, signer) => armored('signature', signature, signer),
    }),
  },
  cleartext: { describes: 'the readable text with the signature behind it', prepare: prepareCleartext },
  message: { describes: 'the octets and the signature in one block', prepare: prepareMessage },
} as const satisfies Readonly<Record<string, Form>>;

/** Names of the forms; the first is the default. */
export const formNames = Object.keys(forms) as (keyof typeof forms)[];

async function armored(kind: 'signature' | 'message', packets: Uint8Array, { version }: Signer): Promise<Written> {
  return { armored: await formatLargeArmor(kind, packets, version), packets };
}

/**
 * Header ‖ text with escaped dashes ‖ armored signature over the text without the blanks at its lines' ends. The header names the hash,
 * because gpg takes MD5 otherwise; it names no charset, which is UTF-8 then. With version 6 there is no such header (RFC 9580, 7).
 */
async function prepareCleartext(data: Uint8Array): Promise<Prepared> {
  const { hashed, framed } = await cleartext(data);
  const text = decodeUtf8(framed);
  if (text === undefined || framed.includes(0)) throw notText();
  return {
    type: signatureType.text,
    hashed,
    write(signature, { version }, hash) {
      const header = version === 6 ? '' : `Hash: ${hash.toUpperCase()}\n`;
      return { armored: `-----BEGIN PGP SIGNED MESSAGE-----\n${header}\n${text}${formatArmor('signature', signature, version)}` };
    },
  };
}

function notText(): Error {
  return failCore('invalid-value', {
    detail: 'text must be UTF-8 without NUL for a cleartext document, which people read. Use the form detached or message.',
    items: [{ message: 'must be UTF-8 without NUL', info: 'text' }],
  });
}

/** Most octets of a message; its armor is half as long again. */
const maxMessageBytes = 8 * 1024 * 1024;

/** One-pass signature ‖ literal data ‖ signature: readers learn the hash before the data (RFC 9580, 5.4). */
function prepareMessage(data: Uint8Array): Prepared {
  if (data.length > maxMessageBytes)
    throw failCore('payload-too-large', { detail: `A message may have at most ${maxMessageBytes / 1024 / 1024} MiB; use detached.` });
  return {
    type: signatureType.binary,
    hashed: data,
    write(signature, signer, hash) {
      const { version, algorithm, fingerprint } = signer;
      // version 3 ‖ type ‖ hash ‖ algorithm ‖ key ID(8) ‖ the last of them; version 6 ‖ … ‖ length ‖ salt ‖ fingerprint(32) ‖ the last of them
      const how = Uint8Array.of(version === 6 ? 6 : 3, signatureType.binary, hashIds[hash], algorithm.id);
      const salt = readSignature(splitPacket(signature).body)?.salt ?? new Uint8Array(0);
      const by = version === 6 ? concat(Uint8Array.of(salt.length), salt, fingerprint) : fingerprint.subarray(12);
      const onePass = packet(packetTag.onePassSignature, concat(how, by, Uint8Array.of(1)));
      // octets ‖ no file name ‖ no date
      const literal = packet(packetTag.literalData, concat(encodeUtf8('b'), Uint8Array.of(0), uint32(0), data));
      return armored('message', concat(onePass, literal, signature), signer);
    },
  };
}

/** A signature packet over prepared data, which is not copied. */
export async function signPrepared(
  signer: Signer,
  { type, hashed }: Prepared,
  created: number,
  choice: SignatureChoice,
): Promise<Uint8Array> {
  return signData(signer, dataSignatureHead(signer, type, created, choice), hashed);
}

/** A remark in a signature; names end in a domain, whose owner says what they mean (RFC 9580, 5.2.3.24). */
export type Notation = { readonly name: string; readonly value: string };

/** Choices of a caller. */
export type SignatureChoice = {
  /** default: that of the key */
  readonly hash?: HashName;
  /** counted from its date */
  readonly expiresAfterSeconds?: number;
  readonly notations?: readonly Notation[];
};

/**
 * Date of a signature, in seconds. While the clock is behind the date of the key, it is the date of the key: no verifier accepts an
 * earlier one.
 */
export function signatureTime(record: OpenpgpRecord, now: Temporal.Instant): number {
  return Math.max(openpgpSeconds(now), record.notBefore);
}

/** The fields of a signature of data that its hashed part has. */
export type DataSignatureHead = {
  readonly type: number;
  readonly created: number;
  /** upper-case hexadecimal */
  readonly fingerprint: string;
  readonly hash: HashName | undefined;
  readonly expiresAfterSeconds: number | undefined;
};

/** The hashed part of a signature of data: creation time ‖ issuer fingerprint ‖ expiry, if any ‖ notations. */
export function dataSignatureHead(
  signer: PublicKeyBody,
  type: number,
  created: number,
  { hash, expiresAfterSeconds, notations = [] }: SignatureChoice,
): Uint8Array {
  const expiry =
    expiresAfterSeconds === undefined ? [] : [subpacket(subpacketType.expirationTime, uint32(expiresAfterSeconds), { critical: true })];
  return signatureHead(signer, type, created, [...expiry, ...notations.map(notationSubpacket)], hash);
}

/** Not critical: verifiers refuse a signature with a critical notation that they do not know. */
function notationSubpacket({ name, value }: Notation): Uint8Array {
  const [named, said] = [encodeUtf8(name), encodeUtf8(value)];
  // The flag: value is text.
  const flags = Uint8Array.of(0x80, 0, 0, 0);
  return subpacket(subpacketType.notation, concat(flags, uint16(named.length), uint16(said.length), named, said));
}

/** Reads the fields from a trailer. Only one that is written from them again is ours: this finds them by their places. */
export function readDataSignatureHead(trailer: Uint8Array): DataSignatureHead | undefined {
  const view = new DataView(trailer.buffer, trailer.byteOffset, trailer.length);
  if (trailer.length !== headOctets + 6 && trailer.length !== headOctets + expiryOctets + 6) return undefined;
  const type = view.getUint8(1);
  if (type !== signatureType.binary && type !== signatureType.text) return undefined;
  return {
    type,
    created: view.getUint32(8),
    fingerprint: formatFingerprint(trailer.subarray(15, 35)),
    hash: (Object.keys(hashIds) as HashName[]).find((name) => hashIds[name] === view.getUint8(3)),
    expiresAfterSeconds: trailer.length === headOctets + 6 ? undefined : view.getUint32(37),
  };
}

/** version to length, 6 octets ‖ creation time, 6 ‖ issuer fingerprint, 23; the expiry. */
const [headOctets, expiryOctets] = [35, 6];

/** Tells whether the date is one that a signature may have now: within the time that hashing much data takes. */
export function isRecentHead({ created }: DataSignatureHead, record: OpenpgpRecord, now: Temporal.Instant): boolean {
  const latest = signatureTime(record, now);
  return created <= latest && created >= Math.max(record.notBefore, latest - hashingSeconds);
}

const hashingSeconds = 3600;
