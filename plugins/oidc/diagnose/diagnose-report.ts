// The answer of the `test` action.
import { z } from 'zod';
import { timestamp } from '../../../core/wire/fields.ts';

const finding = z.object({
  level: z.enum(['error', 'warning']).meta({ typeName: 'FindingLevel' }).describe('`error` where sign-ins fail because of it.'),
  message: z.string().meta({ description: 'What is wrong.', example: 'The provider does not accept client-secret.' }),
  fix: z
    .string()
    .optional()
    .meta({ description: 'What to do about it.', example: 'Create a new secret at the provider and write it to client-secret.' }),
});
export type Finding = z.output<typeof finding>;

export const reportSchema = z.object({
  usable: z.boolean().describe('`true` if sign-ins can work.'),
  findings: z.array(finding).describe('What is wrong, errors first.'),
  issuer: z.string().optional().meta({ description: 'Issuer in the metadata.', example: 'https://id.example.com/realms/staff' }),
  authorizationEndpoint: z
    .string()
    .optional()
    .meta({ description: 'Where users sign in.', example: 'https://id.example.com/realms/staff/auth' }),
  tokenEndpoint: z
    .string()
    .optional()
    .meta({ description: 'Where codes are exchanged.', example: 'https://id.example.com/realms/staff/token' }),
  algorithms: z.array(z.string()).optional().describe('Signature algorithms both sides know.'),
  pkce: z
    .object({
      method: z.literal('S256').describe('Always sent.'),
      listed: z.boolean().describe('`true` if the provider promises to check it.'),
    })
    .optional()
    .describe('Proof key for code exchange (RFC 7636).'),
  issParameter: z.boolean().optional().describe('`true` if the provider names itself in its redirects (RFC 9207).'),
  tokenEndpointAuthMethod: z.string().optional().meta({ description: 'How the secret is sent.', example: 'client_secret_basic' }),
  clientCredentials: z
    .enum(['accepted', 'refused', 'unknown'])
    .optional()
    .describe('What the token endpoint says to client-id and client-secret, tried with a code that does not exist.'),
  redirectUris: z
    .array(
      z.object({
        uri: z.string().meta({ description: 'One of allowed-redirect-uris.', example: 'https://keystore.example.com:4646/oidc-callback' }),
        registered: z.enum(['yes', 'unknown']).describe('`yes` where the provider knows it.'),
      }),
    )
    .optional()
    .describe('The redirect URIs.'),
  keys: z
    .array(
      z.object({
        kid: z.string().optional().meta({ description: 'Key id.', example: '2026-11' }),
        kty: z.string().meta({ description: 'Key type.', example: 'RSA' }),
        alg: z.string().optional().meta({ description: 'Algorithm.', example: 'RS256' }),
        use: z.string().optional().meta({ description: 'What for.', example: 'sig' }),
      }),
    )
    .optional()
    .describe('Keys of the provider.'),
  directoryHost: z
    .string()
    .optional()
    .meta({ description: 'Host of the directory API that answers memberships.', example: 'graph.microsoft.com' }),
  certificateChain: z
    .array(
      z.object({
        subject: z.string().meta({ description: 'Subject.', example: 'CN=id.example.com' }),
        issuer: z.string().meta({ description: 'Issuer.', example: 'CN=Example CA' }),
        notAfter: timestamp().describe('When it ends.'),
      }),
    )
    .optional()
    .describe('TLS certificates of the provider.'),
  clockDifferenceSeconds: z
    .number()
    .optional()
    .meta({ description: "Seconds the provider's clock is ahead of the appliance's, by its Date header.", example: 0.4 }),
  scopes: z.array(z.string()).optional().describe('Scopes a sign-in asks for.'),
});
export type Report = z.output<typeof reportSchema>;
