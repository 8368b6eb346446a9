// A JWT issuer as administrators write it and as it is stored.
import { z } from 'zod';
import { durationText, pemExample } from '../../../core/wire/fields.ts';
import { algorithmNames } from '../../../core/identity/signature-algorithms.ts';

/** Platforms whose tokens the appliance knows; `generic` for all others. */
export const issuerKinds = ['github', 'gitlab', 'kubernetes', 'spiffe', 'entra', 'google', 'aws', 'generic'] as const;
export type IssuerKind = (typeof issuerKinds)[number];

const address = z.string().min(1).max(2_048);

/** Document that administrators write. */
export const issuerDocument = z.object({
  kind: z
    .enum(issuerKinds)
    .meta({ typeName: 'JwtIssuerKind' })
    .default('generic')
    .describe('Platform: which claims identify its workloads, and how long its tokens live.'),
  issuer: address.optional().meta({
    description:
      'Value that iss of the tokens must have, character by character; a trust domain such as spiffe://example.org for tokens without iss. Known for github, gitlab.com and google.',
    example: 'https://token.actions.githubusercontent.com',
  }),
  discoveryUrl: address.optional().meta({
    description:
      'Where the keys are found by the metadata of the issuer (OpenID Connect Discovery); its issuer must be `issuer`. Unless another source is given, the issuer.',
    example: 'https://token.actions.githubusercontent.com',
  }),
  jwksUrl: address.optional().meta({
    description: 'Where the key set is, in place of `discovery-url`.',
    example: 'https://gitlab.example.com/oauth/discovery/keys',
  }),
  staticKeys: z
    .string()
    .min(1)
    .max(262_144)
    .optional()
    .meta({
      description: 'The keys themselves, in place of a URL: a key set in JSON, or public keys in PEM.',
      example: pemExample('PUBLIC KEY'),
    }),
  providerHosts: z
    .array(
      z
        .string()
        .max(256)
        .regex(/^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/, 'must be a host in lower case, with its port where that is not 443'),
    )
    .max(16)
    .default([])
    .meta({ description: 'Hosts beside that of discovery-url at which the keys may be.', example: ['keys.example.net'] }),
  useRootCaCerts: z.boolean().default(true).describe('Trusts the public CAs for the issuer.'),
  caCerts: z
    .string()
    .min(1)
    .max(262_144)
    .optional()
    .meta({ description: 'CAs trusted for the issuer besides, PEM.', example: pemExample('CERTIFICATE') }),
  algorithms: z
    .array(z.enum(algorithmNames).meta({ typeName: 'JwtAlgorithm' }))
    .min(1)
    .max(algorithmNames.length)
    .default(['RS256', 'ES256'])
    .describe('Signature algorithms that are taken.'),
  clockTolerance: durationText({ maxSeconds: 60 }).default('30s').meta({ description: 'How far the clocks may differ.', example: '30s' }),
});

export type IssuerDocument = z.output<typeof issuerDocument>;

/** Record as stored. */
export type IssuerRecord = IssuerDocument & {
  readonly name: string;
  readonly issuer: string;
  /** changes with the source of the keys, so that keys of another source are never used */
  readonly keySource: string;
  /** tokens end with it: it is another one when others could log in, or by other keys */
  readonly grant: string;
};
