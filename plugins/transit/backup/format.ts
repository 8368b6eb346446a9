// The backup of one key: a versioned document with a checksum, which later versions of the appliance must be able to read.
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { concat, decodeUtf8, encodeUtf8, equalConstantTime } from '../../../core/base/bytes.ts';
import type { Custody } from '../../../hsm/api.ts';
import { nameField } from '../../../core/wire/fields.ts';
import { documentSchema } from '../keys/document.ts';
import { unusable } from '../errors.ts';
import { maxVersion } from '../formats/value-format.ts';
import { hkdf } from '../records/records.ts';
import type { Attachments } from '../records/attachments.ts';

/*
 * document = magic(16) ‖ format(1) ‖ SHA-256 of payload(32) ‖ payload
 * payload  = JSON in UTF-8; octets are written as {"base64": "…"}
 */

const magic = encodeUtf8('keystore-transit');
const format = 1;
const head = magic.length + 1;

const octets = z.custom<Uint8Array>((value) => value instanceof Uint8Array);
/** Up to the year 2106; a due rotation is up to a hundred years later and must stay exact. */
const micros = z
  .int()
  .min(0)
  .max(0xffff_ffff * 1_000_000);
/** Inputs of key derivation. More iterations would let the contexts of one key occupy the HSM processes. */
const salt = octets.refine(({ length }) => length >= 16 && length <= 64);
const iterations = z.int().min(1).max(100_000);

/** A version in a backup; what attachments keep with it are further members. */
const versionSchema = z.strictObject({
  version: z.int().min(1).max(maxVersion),
  createdAt: micros,
  activatesAt: micros,
  /** encryptions so far, never too low */
  uses: z
    .int()
    .min(0)
    .max(2 ** 48),
  /** PKCS#8 DER or raw octets; absent on a version that only verifies */
  material: octets.optional(),
  hmac: octets.optional(),
  convergent: octets.optional(),
  /** PKCS#8 DER, of ciphers whose versions have two private keys */
  agreement: octets.optional(),
  publicKey: octets.optional(),
  certificateChain: z.array(octets).max(16).optional(),
});

/** A backup in format 1. Strict: with an unknown field, the key could not be restored completely. */
const payloadSchema = z.strictObject({
  name: nameField(),
  /** whole document of the key */
  document: documentSchema.strict(),
  createdAt: micros,
  latest: z.int().min(1).max(maxVersion),
  floor: z.int().min(1).max(maxVersion),
  kdf: z.union([z.strictObject({ salt, iterations }), z.literal(hkdf)]).optional(),
  versions: z.array(versionSchema).min(1),
});

/** The schema with what attachments add to documents and versions. */
function schemaWith(attachments: Attachments): typeof payloadSchema {
  const version = versionSchema.extend(attachments.keptShape) as unknown as typeof versionSchema;
  return payloadSchema.extend({
    document: attachments.extend(documentSchema, 'stored').strict(),
    versions: z.array(version).min(1),
  });
}

/** A backup, parsed. */
export type Backup = z.output<typeof payloadSchema>;

/** Custody of a restored key. */
export function custodyIn({ custody = 'wrapped' }: Backup['document']): Custody {
  return custody;
}

/** Octets of a backup document. */
export function formatBackup(backup: Backup): Uint8Array {
  const payload = encodeUtf8(JSON.stringify(tagOctets(backup)));
  return concat(magic, Uint8Array.of(format), checksum(payload), payload);
}

/** Parses a backup document; throws invalid-key-data for anything else. */
export function parseBackup(document: Uint8Array, attachments: Attachments): Backup {
  if (!equalConstantTime(document.subarray(0, magic.length), magic)) throw unusable('This is not a backup of a transit key.');
  if (document[magic.length] !== format)
    throw unusable(`The backup has format ${document[magic.length]}; this version reads format ${format}.`);
  const payload = document.subarray(head + 32);
  if (!equalConstantTime(document.subarray(head, head + 32), checksum(payload)))
    throw unusable('The backup was truncated or altered: its checksum does not match.');
  const schema = schemaWith(attachments);
  const parsed = schema.safeParse(withoutEmptyFields(untagOctets(parseJson(payload)), schema.shape.document.shape));
  if (!parsed.success) throw unusable(`The backup contradicts its format at ${parsed.error.issues[0]?.path.join('/')}.`);
  return parsed.data;
}

/** Drops unknown fields with an empty default from the document: fields that only a plugin knows which this appliance leaves out. */
function withoutEmptyFields(payload: unknown, known: object): unknown {
  const { document } = { ...(payload as { document?: unknown } | null) };
  if (typeof document !== 'object' || document === null) return payload;
  const isEmpty = (value: unknown): boolean => Array.isArray(value) && value.length === 0;
  const kept = Object.entries(document).filter(([name, value]) => name in known || !isEmpty(value));
  return { ...(payload as object), document: Object.fromEntries(kept) };
}

function checksum(payload: Uint8Array): Uint8Array {
  return createHash('sha256').update(payload).digest();
}

function parseJson(payload: Uint8Array): unknown {
  try {
    return JSON.parse(decodeUtf8(payload) ?? '');
  } catch {
    throw unusable('The backup holds no readable payload.');
  }
}

function tagOctets(value: unknown): unknown {
  if (value instanceof Uint8Array) return { base64: value.toBase64() };
  if (Array.isArray(value)) return value.map(tagOctets);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, tagOctets(one)]));
}

/** Levels of a payload; ours has six, and what attachments keep a few more. */
const deepest = 24;

function untagOctets(value: unknown, depth = 0): unknown {
  if (depth > deepest) throw unusable('The backup is nested more deeply than a backup is.');
  if (Array.isArray(value)) return value.map((one) => untagOctets(one, depth + 1));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  if (entries.length === 1 && entries[0]?.[0] === 'base64') return fromBase64(entries[0][1]);
  return Object.fromEntries(entries.map(([name, one]) => [name, untagOctets(one, depth + 1)]));
}

function fromBase64(text: unknown): unknown {
  try {
    return Uint8Array.fromBase64(text as string);
  } catch {
    return undefined;
  }
}
