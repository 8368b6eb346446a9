// A role of a JWT issuer as administrators write it and as it is stored.
import { z } from 'zod';
import { cidrsField } from '../../../core/base/addresses.ts';
import { givenPolicy, naming } from '../../../core/http/named-entries.ts';
import { durationText, orderedList } from '../../../core/wire/fields.ts';
import { bindingSchema } from '../token/bindings.ts';
import type { IssuerKind } from './issuer-record.ts';

/** Document that administrators write. */
export const roleDocument = z.object({
  audience: z.string().min(1).max(1_024).meta({
    description: 'Value that aud of the token must have: a name of this appliance, for which the workload asks its platform.',
    example: 'https://keystore.example.com',
  }),
  audiences: z
    .enum(['one', 'any'])
    .meta({ typeName: 'JwtAudiences' })
    .default('one')
    .describe('Whether tokens may be for others as well: each of them could log in with such a token.'),
  bindings: orderedList(bindingSchema)
    .max(32)
    .meta({
      description: 'Claims that the token must have; at least one that identifies the workload.',
      example: [{ claim: 'repository_id', equals: '123456789' }],
    }),
  maxAge: durationText({ minSeconds: 1, maxSeconds: 366 * 86_400 })
    .optional()
    .meta({
      description: 'Longest life of a token that is taken, from its issue to its end; unless given, as the platform needs.',
      example: '1h',
    }),
  use: z
    .enum(['auto', 'once', 'many'])
    .meta({ typeName: 'JwtUse' })
    .default('auto')
    .describe('How often one token logs in; auto: once where the platform makes a new one for each request (GitHub, GitLab, AWS).'),
  accessTokens: z.boolean().default(false).describe('Whether access tokens (typ at+jwt, RFC 9068) are taken as well.'),
  tokenPolicies: z
    .array(naming(z.string().min(1).max(128), givenPolicy))
    .max(64)
    .meta({ whenEmpty: [] })
    .default([])
    .meta({ description: 'Policies of the tokens; only such as the caller has.', example: ['user'] }),
  tokenTtl: durationText({ minSeconds: 1 })
    .default('1h')
    .meta({ description: 'Life of a token, and what a refresh gives it.', example: '1h' }),
  tokenMaxTtl: durationText({ minSeconds: 1 })
    .default('1d')
    .meta({ description: 'Longest life of a token over all refreshes.', example: '1d' }),
  tokenBoundCidrs: cidrsField()
    .default([])
    .meta({ description: 'Ranges of addresses the tokens work from; empty: from anywhere.', example: ['10.1.0.0/16'] }),
});

export type RoleDocument = z.output<typeof roleDocument>;

/** Record as stored. */
export type RoleRecord = RoleDocument & {
  readonly issuer: string;
  readonly kind: IssuerKind;
  /** tokens end with it: it is another one when the role gives less, or to others */
  readonly grant: string;
};
