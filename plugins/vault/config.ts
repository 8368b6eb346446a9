// The plugin's section of the configuration.
import { z } from 'zod';
import { nameField } from '../../core/wire/fields.ts';

/** Segments that no mount may begin with: they are those of the management API, or of this API itself. */
const taken = new Set([
  'config',
  'state',
  'ca',
  'docs',
  'ui',
  'openapi.json',
  'approle-login',
  'oidc-login',
  'keystorectl',
  'auth',
  'sys',
  'identity',
  'cubbyhole',
]);

const mount = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]*(?:\/[a-z0-9][a-z0-9_-]*){0,3}$/, 'must be one to four segments of small letters, digits, - and _')
  .refine((path) => !taken.has(path.split('/')[0] ?? ''), 'begins with a segment that is taken');

const certificateMount = z
  .strictObject({
    tenant: nameField().optional().describe('the tenant that this path is of; only then it answers without a token'),
    ca: nameField().optional().describe('the CA of paths that name none: ca, crl, cert, certs, revoke, root/sign-intermediate'),
  })
  .prefault({});

/** One is the other, or is below it: the paths of one would be those of the other. */
function overlap(left: string, right: string): boolean {
  return `${left}/`.startsWith(`${right}/`) || `${right}/`.startsWith(`${left}/`);
}

export const configSchema = z
  .strictObject({
    tenants: z
      .record(
        nameField(),
        z
          .strictObject({
            upsert: z
              .boolean()
              .default(false)
              .describe(
                'encrypt makes a key that does not exist, where the token may create it: a derived one, if the request gives a context',
              ),
            strictContext: z
              .boolean()
              .default(false)
              .describe(
                'refuse a context for a key that is not derived, which would not be authenticated, instead of ignoring it with a warning',
              ),
            rsaUse: z
              .enum(['sign', 'encrypt'])
              .default('sign')
              .describe('use of RSA keys that this API makes or imports: a key has one, and clients of Vault cannot say which'),
          })
          .prefault({}),
      )
      .default({})
      .describe('tenants whose tokens may use the API of Vault, by name; none: the API is off'),
    transitMounts: z.array(mount).min(1).max(8).default(['transit']).describe('paths below /v1/ at which the transit keys are found'),
    pkiMounts: z
      .record(mount, certificateMount)
      .refine((mounts) => Object.keys(mounts).length <= 8, 'must be at most 8 paths')
      .default({ pki: {} })
      .describe('paths below /v1/ at which certificates are issued, each with its tenant and its CA'),
    approleMounts: z.array(mount).min(1).max(8).default(['approle']).describe('paths below /v1/auth/ at which approles log in'),
  })
  .refine(({ transitMounts, pkiMounts }) => {
    const paths = [...transitMounts, ...Object.keys(pkiMounts)];
    return !paths.some((path, at) => paths.slice(at + 1).some((other) => overlap(path, other)));
  }, 'transit-mounts and pki-mounts must be apart: one is the other, or is below it')
  .prefault({});

export type Config = z.output<typeof configSchema>;
