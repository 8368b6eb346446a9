// Policies: rules on paths, with the effect of each operation, the allowed values and the hidden fields.
import { z } from 'zod';
import { shownText } from '../../wire/shown-text.ts';
import { maxPatternSegments, readPattern } from './patterns.ts';

const effect = (operation: string) =>
  z.enum(['allow', 'reject']).meta({ typeName: 'PolicyEffect' }).optional().describe(`Allows or rejects ${operation}.`);
const operationEffects = z
  .object({
    all: effect('whatever no other field here names'),
    create: effect('making entries'),
    read: effect('reading'),
    update: effect('changing entries'),
    delete: effect('deleting entries'),
    execute: effect('running actions'),
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
