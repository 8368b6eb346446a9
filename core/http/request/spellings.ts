// Values that requests may spell in two ways, in one of them: for limits of policies, which mean octets, and for the audit trail.
import { z } from 'zod';
import { decodeBase64, decodeUtf8, encodeBase64, encodeUtf8 } from '../../base/bytes.ts';
import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import { toKebab } from '../../wire/schema.ts';

/** Fields of a schema (wire form) that have two spellings. */
export type Spellings = {
  /** texts that are base64, or raw UTF-8 with `base64-encoded` false (`x-payload`) */
  readonly payloads: ReadonlySet<string>;
  /** texts, by the fields that have the same octets in base64 (`x-octets-of`) */
  readonly texts: ReadonlyMap<string, string>;
};

/** Longer values are in no rule: those have 1,024 characters at most. */
const longestLimited = 1_024;

/** The two-way fields of object schemas together. */
export function spellingsOf(schemas: readonly (z.ZodType | undefined)[]): Spellings {
  const fields = schemas.flatMap((schema) => (schema instanceof z.ZodObject ? Object.entries<z.ZodType>(schema.shape) : []));
  const marked = (mark: string) => fields.flatMap(([camel, field]) => [[toKebab(camel), metaOf(field, mark)] as const]);
  return {
    payloads: new Set(marked('x-payload').flatMap(([wire, isPayload]) => (isPayload === true ? [wire] : []))),
    texts: new Map(marked('x-octets-of').flatMap(([wire, text]) => (typeof text === 'string' ? [[wire, text] as const] : []))),
  };
}

function metaOf(schema: z.ZodType, mark: string): unknown {
  const own = schema.meta()?.[mark];
  return own === undefined && schema instanceof z.ZodOptional ? metaOf(schema.unwrap() as z.ZodType, mark) : own;
}

/** A payload in base64, however the request has it. */
export function payloadInBase64(text: unknown, base64Encoded: unknown): unknown {
  return base64Encoded === false && typeof text === 'string' ? encodeBase64(encodeUtf8(text)) : text;
}

/**
 * The document (wire form), and each request of a batch in it, as rules about values judge it: payloads in base64, and of two fields that have
 * the same octets both. `none`: stands for a text where octets are not UTF-8; no rule may have it.
 */
export function inOneSpelling(spellings: Spellings, document: unknown, none: string): unknown {
  const { payloads, texts } = spellings;
  if (!isJsonObject(document) || (payloads.size === 0 && texts.size === 0)) return document;
  const { 'batch-input': items } = document;
  const own = respelt(spellings, document, none);
  return Array.isArray(items)
    ? { ...own, 'batch-input': items.map((one) => (isJsonObject(one) ? respelt(spellings, one, none) : one)) }
    : own;
}

function respelt({ payloads, texts }: Spellings, document: JsonObject, none: string): JsonObject {
  const spelt: Record<string, unknown> = { ...document };
  for (const wire of payloads) {
    const { [wire]: text } = spelt;
    if (typeof text === 'string' && text.length <= longestLimited) spelt[wire] = payloadInBase64(text, document['base64-encoded']);
  }
  for (const [wire, textField] of texts) {
    const { [wire]: octets, [textField]: text } = document;
    if (typeof text === 'string' && octets === undefined) spelt[wire] = encodeBase64(encodeUtf8(text));
    else if (typeof octets === 'string' && text === undefined)
      spelt[textField] = decodeUtf8(decodeBase64(octets) ?? new Uint8Array([0xff])) ?? none;
  }
  return spelt as JsonObject;
}
