// Field types that all schemas share: names, base64, durations, whole numbers.
import { z } from 'zod';
import { decodeBase64 } from '../base/bytes.ts';
import { counted } from '../base/texts/counted.ts';
import { decodeDuration, type Duration } from '../base/time.ts';

/** Names of resources. */
export const namePattern = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;

/** The same in words, for messages. */
export const nameRule = 'lower-case letters, digits and inner hyphens';

/** Tells whether a text could be such a name, for names that are not fields of a document. */
export function isName(text: string): boolean {
  return text.length <= 128 && namePattern.test(text);
}

/** A resource's name: lower-case letters, digits and inner hyphens, 1 to 128 characters. */
export function nameField() {
  return z.string().max(128).regex(namePattern, `must be ${nameRule}, at most 128 characters`).meta({ example: 'my-name' });
}

/** Strict standard base64 with padding, decoded to octets; anything else is `invalid-base64`. */
export function base64Field(options: { readonly minBytes?: number; readonly maxBytes?: number } = {}) {
  const { minBytes = 0, maxBytes = Infinity } = options;
  return z
    .string()
    .transform((text, context): Uint8Array => {
      const bytes = decodeBase64(text);
      if (bytes !== undefined && bytes.length >= minBytes && bytes.length <= maxBytes) return bytes;
      context.issues.push(
        bytes === undefined
          ? {
              code: 'custom',
              input: '',
              params: { code: 'invalid-base64' },
              message: 'must be standard base64 with padding, without white space',
            }
          : {
              code: 'custom',
              input: '',
              message: `must stand for ${octetsBetween(minBytes, maxBytes)}`,
            },
      );
      return z.NEVER;
    })
    .meta({ contentEncoding: 'base64', maxLength: Math.min(longestText, Math.ceil(maxBytes / 3) * 4) });
}

function octetsBetween(least: number, most: number): string {
  if (least === most) return counted(least, 'octet');
  return most === Infinity ? `at least ${counted(least, 'octet')}` : `${least} to ${counted(most, 'octet')}`;
}

/** Longest text of a field: the size of the largest body. */
const longestText = 4 * 1024 * 1024;

/** A duration such as `90d` or `1y12h`, kept as text because answers repeat it as given; read it with parseDuration. */
export function durationText(options: { readonly minSeconds?: number; readonly maxSeconds?: number } = {}) {
  const { minSeconds = 0, maxSeconds = Infinity } = options;
  return z
    .string()
    .max(64)
    .refine((text) => decodeDuration(text) !== undefined, { error: durationRule, abort: true })
    .refine((text) => (decodeDuration(text)?.seconds ?? 0) >= minSeconds, { error: `must be at least ${minSeconds}s` })
    .refine((text) => (decodeDuration(text)?.seconds ?? 0) <= maxSeconds, { error: `must be at most ${maxSeconds}s` })
    .meta({ pattern: durationPattern, example: '90d', 'x-form': 'duration' });
}

/** A duration for the inputs of actions: text and seconds. */
export function durationField(options: { readonly minSeconds?: number; readonly maxSeconds?: number } = {}) {
  return durationText(options).transform((text): Duration => decodeDuration(text) ?? z.NEVER);
}

/** For the API description; decodeDuration decides. */
const durationPattern = '^(?=.)([0-9]+y)?([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?$';
const durationRule = 'must be a duration such as 90d or 1y12h, in the order y d h m s, at most 100y';

/** A whole number between two bounds, both included. */
export function integer(min: number, max: number) {
  return z.int().min(min).max(max);
}

/** A list whose order matters: a merge replaces it instead of uniting it. */
export function orderedList<T extends z.ZodType>(element: T) {
  return z.array(element).meta({ ordered: true });
}

/** An instant in answers, sent as RFC 3339 in UTC with six decimals. */
export function timestamp() {
  return z.custom<Temporal.Instant>((value) => value instanceof Temporal.Instant).meta({ type: 'string', format: 'date-time' });
}

/** As timestamp, for records that keep the text. */
export function timestampText() {
  return z.string().meta({ format: 'date-time' });
}

/** The shape of a PEM block, for the API description. */
export function pemExample(label: string): string {
  return `-----BEGIN ${label}-----\nMIIB…\n-----END ${label}-----\n`;
}

/** A custody statement in an answer. */
export function statementField() {
  return z.string().meta({
    description: 'Compact JWS (RFC 7515), ES256; GET /v1/state/system/attestation-keys has the key that `kid` of its header names.',
    example: 'eyJhbGciOiJFUzI1NiJ9.eyJpYXQiOjE3OTU0MjAwMDB9.MZQ5VLMBYpNuLKB-CduuX7O0CHrvSAix2i3KlM2CIvg',
  });
}
