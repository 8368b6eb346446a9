// Bindings of a role: claims that a token must have, by exact value. Text is compared octet by octet, without folding or normalisation.
import { z } from 'zod';
import { type Claims, findClaim, showableText } from '../../../core/identity/claims.ts';
import type { JsonValue } from '../../../core/wire/json.ts';

const longestText = 1_024;

/** A claim that a token must have. */
export const bindingSchema = z
  .object({
    claim: z.string().min(1).max(512).meta({
      description: 'Name of the claim; a nested one, or one with a slash at the begin, as a JSON pointer (RFC 6901).',
      example: '/kubernetes.io/serviceaccount/uid',
    }),
    value: z
      .union([z.string().min(1).max(longestText), z.int(), z.boolean()])
      .optional()
      .meta({
        description: 'Its exact value and type. A text that ends with `/*` or `:*` stands for all texts that begin so.',
        example: '123456789',
      }),
    contains: z
      .string()
      .min(1)
      .max(longestText)
      .optional()
      .meta({ description: 'In place of `value`: the claim is a list, and has this text.', example: 'deployers' }),
  })
  .refine(({ value, contains }) => (value === undefined) !== (contains === undefined), 'must have either value or contains');
export type Binding = z.output<typeof bindingSchema>;

/** A binding as a token meets it. `found`: the claim in JSON, shortened; undefined when it is absent. */
export type BindingVerdict = {
  readonly claim: string;
  readonly wanted: string;
  readonly found: string | undefined;
  readonly holds: boolean;
};

export function judgeBinding(claims: Claims, binding: Binding): BindingVerdict {
  const value = findClaim(claims, binding.claim);
  return { claim: binding.claim, wanted: describeWanted(binding), found: describeFound(value), holds: holds(value, binding) };
}

function holds(found: JsonValue | undefined, { value, contains }: Binding): boolean {
  if (contains !== undefined) return Array.isArray(found) && found.includes(contains);
  if (typeof value === 'string') return typeof found === 'string' && isText(found, value);
  // Numbers beyond the safe range are not what was written: two of them may read as the same.
  if (typeof value === 'number') return Number.isSafeInteger(found) && found === value;
  return value !== undefined && found === value;
}

function isText(value: string, wanted: string): boolean {
  const start = prefixOf(wanted);
  return start === undefined ? value === wanted : value.length > start.length && value.startsWith(start);
}

/** The beginning, with its separator, that a value with `*` as its last segment asks for; undefined for an exact value. */
export function prefixOf(wanted: string): string | undefined {
  return /[/:]\*$/.test(wanted) ? wanted.slice(0, -1) : undefined;
}

function describeWanted({ value, contains }: Binding): string {
  return contains === undefined ? JSON.stringify(value) : `a list with ${JSON.stringify(contains)}`;
}

function describeFound(value: JsonValue | undefined): string | undefined {
  return value === undefined ? undefined : showableText(JSON.stringify(value));
}
