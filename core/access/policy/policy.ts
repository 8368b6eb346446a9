// Policies: rules on paths, with the effect of each operation, the allowed values and the hidden fields (api 53).
import { z } from 'zod';
import { shownText } from '../../wire/shown-text.ts';

export const operations = ['create', 'read', 'update', 'delete', 'execute'] as const;

/** The verbs that policies allow or reject (api 53). */
export type PolicyOperation = (typeof operations)[number];

/** One segment of a rule's path: a decoded literal, any one segment, or (at the end only) any number of segments. */
export type PatternSegment = { readonly kind: 'literal'; readonly text: string } | { readonly kind: 'one' } | { readonly kind: 'rest' };

/** More than any path of the API has. The engine ranks patterns by position and needs a bound. */
export const maxPatternSegments = 24;

/**
 * Reads the path of a rule: `/v1/state/keystore/transit-keys/<any>/rewrap` with a star for `<any>`. `*` stands for one whole segment, `**` at the end for any
 * rest, also none; percent-encoding is undone, so `%2A` is a literal star. Undefined when the text is not such a path.
 */
export function readPattern(path: string): readonly PatternSegment[] | undefined {
  if (!path.startsWith('/')) return undefined;
  const texts = path.slice(1).split('/');
  if (texts.length > maxPatternSegments) return undefined;
  const segments = texts.map((text, index) => readSegment(text, index === texts.length - 1));
  return segments.includes(undefined) ? undefined : (segments as PatternSegment[]);
}

function readSegment(text: string, last: boolean): PatternSegment | undefined {
  if (text === '*') return { kind: 'one' };
  if (text === '**') return last ? { kind: 'rest' } : undefined;
  // A star inside a segment looks like a pattern but is not one; a query would never match.
  if (/[*?#]/.test(text)) return undefined;
  try {
    const literal = decodeURIComponent(text);
    return isSegment(literal) ? { kind: 'literal', text: literal } : undefined;
  } catch {
    return undefined;
  }
}

/** Tells whether a request can have this segment: a rule that matches no request has no effect, and a refusal without effect is a hole. */
function isSegment(text: string): boolean {
  return text !== '' && text !== '.' && text !== '..' && !/\p{Cc}/u.test(text);
}

const effect = (operation: string) =>
  z.enum(['allow', 'reject']).meta({ typeName: 'PolicyEffect' }).optional().describe(`Whether ${operation}.`);
const operationEffects = z
  .object({
    all: effect('anything may be done that no other field here says'),
    create: effect('entries may be made'),
    read: effect('it may be read'),
    update: effect('entries may be changed'),
    delete: effect('entries may be deleted'),
    execute: effect('actions may be run'),
  })
  .meta({ typeName: 'PolicyOperations' });

const rule = z
  .object({
    path: z
      .string()
      .max(2_048)
      .refine((path) => readPattern(path) !== undefined, {
        error: `must be a path of at most ${maxPatternSegments} segments such as /v1/config/** or /v1/state/*/x, with * for one whole segment and ** only at the end`,
      })
      .meta({
        description: 'The paths the rule is about: `*` stands for one segment, `**` at the end for any rest.',
        example: '/v1/state/keystore/transit-keys/*/rewrap',
      }),
    operations: operationEffects.describe('What the rule says of each operation.'),
    allowedValues: z
      .record(z.string().max(256), z.array(z.union([z.string().max(1_024), z.number(), z.boolean(), z.null()])).max(256))
      .default({})
      .describe(
        'Name of a field, inside containers `a/b`, to the values a request may give it. One that is left out counts with its default or, if that is not a value of its own, as null; so does an empty list that means more than nothing.',
      ),
    hideFields: z.array(z.string().min(1).max(256)).max(256).default([]).describe('Names of fields left out of answers.'),
  })
  .meta({ typeName: 'PolicyRule' });

/** The writable fields of a policy. */
export const policyDocument = z.object({
  description: shownText({ maxCharacters: 1_024, lines: true })
    .default('')
    .meta({ description: 'What the policy is for.', example: 'Rewrap and nothing else' }),
  restApi: z
    .object({
      rules: z
        .array(rule)
        .max(1_000)
        .meta({ whenEmpty: [] })
        .default([])
        .describe('The most exact rule for a path decides; without one it is refused.'),
    })
    .prefault({})
    .describe('What may be done over this API.'),
});

export type PolicyRule = z.output<typeof rule>;
export type PolicyDocument = z.output<typeof policyDocument>;

/** A policy as it is stored. */
export type Policy = PolicyDocument & { readonly name: string };
