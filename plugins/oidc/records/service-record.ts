// An OIDC service as administrators write it and as it is stored, with what follows from its fields.
import { z } from 'zod';
import { parseDuration } from '../../../core/base/time.ts';
import { naming } from '../../../core/http/named-entries.ts';
import { durationText, nameField, pemExample } from '../../../core/wire/fields.ts';
import { shownText } from '../../../core/wire/shown-text.ts';

/** Path of every redirect URI. */
export const callbackPath = '/oidc-callback';

/** Text without control characters, which forms and headers of requests to the provider cannot contain. */
const sendable = (text: string): boolean => !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text);

const hostPattern = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/;
const hostRule = 'must be a host in lower case, with its port where that is not 443';

const emailAddress = z
  .string()
  .max(320)
  .regex(/^[^\s@]+@[^\s@]+$/, 'must be an e-mail address')
  .refine(sendable, 'must not contain control characters');

const googleGroups = z.object({
  transitKey: naming(nameField(), {
    resource: 'keystore/transit-keys',
    needs: [],
    because: 'The plan of the service requires the right to sign with it (requireMaySign), also where the tokens go elsewhere.',
  }).meta({
    description: 'RSA key that signs as the service account: its certificate is uploaded there, or it was imported from there.',
    example: 'google-directory',
  }),
  clientEmail: emailAddress.meta({
    description: 'Address of the service account, to which the domain has delegated the scope admin.directory.group.readonly.',
    example: 'keystore@my-project.iam.gserviceaccount.com',
  }),
  adminEmail: emailAddress.meta({
    description: 'Address of the administrator of the domain as whom the service account reads groups.',
    example: 'groups-reader@example.com',
  }),
  directoryHost: z
    .string()
    .max(256)
    .regex(hostPattern, hostRule)
    .default('admin.googleapis.com')
    .meta({ description: 'Host of the directory API.', example: 'admin.googleapis.com' }),
});

export type GoogleGroups = z.output<typeof googleGroups>;

/** Document that administrators write. */
export const serviceDocument = z.object({
  displayName: shownText({ minCharacters: 1, maxCharacters: 128 })
    .optional()
    .meta({ description: 'What the login page calls it.', example: 'Company account' }),
  discoveryUrl: z.string().min(1).max(2048).meta({
    description: "Where the provider's OpenID Connect metadata is.",
    example: 'https://id.example.com/realms/staff/.well-known/openid-configuration',
  }),
  providerHosts: z
    .array(z.string().max(256).regex(hostPattern, hostRule))
    .max(16)
    .optional()
    .meta({
      description:
        'Hosts beside that of discovery-url at which the provider may have its token endpoint and its keys, as some do. Those of Google are known. ' +
        'A service of version 0.1.0 without this field takes any host.',
      example: ['login.example.net'],
    }),
  expectedIssuer: z
    .string()
    .min(1)
    .max(2048)
    .optional()
    .meta({
      description:
        'Issuer that the metadata has to name, exactly, where it is not the address of discovery-url: Azure AD B2C and Entra External ID have such. ' +
        'Absent: that of discovery-url.',
      example: 'https://contoso.b2clogin.com/0c3bd4f5-5a0e-4f4f-9c5e-6a5b1d3f2a10/v2.0/',
    }),
  useRootCaCerts: z.boolean().default(true).describe('Trusts the public CAs for the provider.'),
  caCerts: z
    .string()
    .min(1)
    .max(262_144)
    .optional()
    .meta({ description: 'CAs trusted for the provider besides, PEM.', example: pemExample('CERTIFICATE') }),
  clientId: z
    .string()
    .min(1)
    .max(512)
    .refine(sendable, 'must not contain control characters')
    .meta({ description: 'The id the provider gave this appliance.', example: 'keystore' }),
  clientSecret: z
    .string()
    .min(1)
    .max(4096)
    .refine(sendable, 'must not contain control characters')
    .optional()
    .meta({ description: 'The secret the provider gave this appliance.', example: 'the provider shows it once' }),
  verboseLogging: z.boolean().default(false).describe('Write claims of sign-ins into system:logs: while setting up, not in production.'),
  roleSelect: z
    .object({
      roleClaim: z.string().min(1).max(256).meta({
        description:
          'Claim whose values are matched against the names of roles; a nested one is written as a JSON pointer, such as /realm_access/roles.',
        example: 'groups',
      }),
      keysOfObject: z.boolean().default(false).meta({
        description:
          'Counts the names of the members where the claim is an object, as that of Zitadel is; members that are null or false do not count.',
        example: true,
      }),
      roleWithoutGroups: z.string().min(1).max(256).optional().meta({
        description:
          'Role of people for whom the provider sends no value of the claim: everybody with an account there may get it. Not given where it says that the groups are too many.',
        example: 'guest',
      }),
    })
    .describe('How roles are chosen.'),
  googleGroups: googleGroups
    .optional()
    .describe(
      'Groups of Google, whose ID tokens have none: the addresses of those of which the account is a direct member, in lower case, become the values of role-claim. A sign-in whose groups cannot be read is refused.',
    ),
  allowedRedirectUris: z
    .array(z.string().min(1).max(2048))
    .min(1)
    .max(64)
    .meta({
      description: 'Redirect URIs as registered at the provider; the path is /oidc-callback.',
      example: ['https://keystore.example.com:4646/oidc-callback'],
    }),
  tokenEndpointAuthMethod: z
    .enum(['client_secret_basic', 'client_secret_post'])
    .meta({ typeName: 'TokenEndpointAuthMethod' })
    .optional()
    .describe('How the secret is sent; default: as the provider says.'),
  clockTolerance: durationText({ maxSeconds: 300 }).default('60s').meta({ description: 'How far the clocks may differ.', example: '60s' }),
  sessionTtl: durationText({ minSeconds: 60, maxSeconds: 30 * 86_400 })
    .default('8h')
    .meta({ description: 'How long a sign-in lasts.', example: '8h' }),
});

export type ServiceDocument = z.output<typeof serviceDocument>;

/** Record as stored. The revision changes with every write, so that logins under way notice (R10). */
export type ServiceRecord = Omit<ServiceDocument, 'roleSelect'> & {
  readonly name: string;
  readonly clientSecret: string;
  readonly revision: string;
  /** `keysOfObject` is absent in records of version 0.1.0, which is false */
  readonly roleSelect: Omit<ServiceDocument['roleSelect'], 'keysOfObject'> & { readonly keysOfObject?: boolean | undefined };
};

/** The provider's name for people. */
export function providerName({ displayName, name }: Pick<ServiceRecord, 'displayName' | 'name'>): string {
  return displayName ?? name;
}

/** Duration of a session of this service, in seconds. */
export function sessionSeconds(record: ServiceRecord): number {
  return parseDuration(record.sessionTtl, 'session-ttl').seconds;
}

/** Chosen by the configuration only, because a client controls the Host of its request (R17). */
export function chooseRedirectUri(allowed: readonly string[], publicUrl: string): string {
  const { origin } = new URL(publicUrl);
  return allowed.find((uri) => new URL(uri).origin === origin) ?? (allowed[0] as string);
}
