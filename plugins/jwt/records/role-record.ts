// A role of a JWT issuer as administrators write it and as it is stored.
import { z } from 'zod';
import { tokenFields } from '../../../core/platform/sessions/login-role.ts';
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
    .describe('`any` takes tokens that are for others as well: each of them could log in with such a token.'),
  bindings: orderedList(bindingSchema)
    .max(32)
    .meta({
      description: 'Claims that the token must have; at least one that identifies the workload.',
      example: [{ claim: 'repository_id', value: '123456789' }],
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
  accessTokens: z.boolean().default(false).describe('Takes access tokens (typ at+jwt, RFC 9068) as well.'),
  ...tokenFields,
});

export type RoleDocument = z.output<typeof roleDocument>;

/** Record as stored. */
export type RoleRecord = RoleDocument & {
  readonly issuer: string;
  readonly kind: IssuerKind;
  /** tokens end with it: it is another one when the role gives less, or to others */
  readonly grant: string;
};
