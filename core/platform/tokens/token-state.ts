// State of a token in answers of the API: its form on the wire, made from the record.
import { z } from 'zod';
import type { Caller } from '../../access/caller.ts';
import { type Lineage, lineageOf, type TokenRecord, userOriginOf } from '../../access/tokens/record.ts';
import { defined } from '../../base/defined.ts';
import { formatDuration } from '../../base/time.ts';
import type { Store } from '../../store/store.ts';
import { durationText, timestampText } from '../../wire/fields.ts';

export const accessorText = z.uuid().describe('Stands for the token where the token itself must not be seen.');
/** A token as `token/info` and the list tell of it. */
export const tokenState = z.object({
  accessor: accessorText,
  tenant: z.string().meta({ description: 'Tenant of the token.', example: 'system' }),
  user: z.string().meta({ description: 'Who holds it: a user, an approle, a workload, a device, or root.', example: 'root' }),
  userKind: z
    .enum(['root-token', 'approle', 'sign-in', 'workload', 'certificate'])
    .meta({ typeName: 'UserKind' })
    .describe('Where the name of the user comes from: names of different sources may be alike.'),
  userSource: z.string().optional().meta({
    description: 'The approle, the service at which the person signed in, the issuer of a workload, or the role of a certificate.',
    example: 'company',
  }),
  identity: z
    .object({
      kind: z
        .enum(['root-token', 'approle', 'sign-in', 'workload', 'certificate'])
        .meta({ typeName: 'IdentityKind' })
        .describe('Kind of the login.'),
      source: z
        .string()
        .meta({ description: 'Uuid of the tenant, id of the approle, issuer, or uuid of the CA.', example: 'https://id.example.com' }),
      subject: z.string().meta({
        description: '`root`, the name of the approle, the subject there, or the name in the certificate.',
        example: '248289761001',
      }),
    })
    .optional()
    .describe('What the login has proved, which no other user ever has; absent for tokens of earlier versions.'),
  policies: z.array(z.string()).describe('What it may do, within what its tenant may do.'),
  creationTime: timestampText().describe('When it was made.'),
  expires: timestampText().optional().describe('When it ends; root tokens have no end.'),
  expiresIn: z.int().optional().meta({ description: 'Seconds until then.', example: 3600 }),
  latestExpires: timestampText().optional().describe('The end that no refresh passes; absent: refreshes have no end.'),
  period: durationText()
    .optional()
    .meta({ description: 'What each refresh gives it, if refreshes have no end; absent: they have one, or it needs none.', example: '3d' }),
  usesLeft: z.int().optional().meta({ description: 'Requests that it can still make; absent: any number.', example: 1 }),
  boundCidrs: z
    .array(z.string())
    .optional()
    .meta({ description: 'Ranges of addresses it works from.', example: ['10.1.0.0/16'] }),
  boundTo: z
    .enum(['certificate', 'key'])
    .meta({ typeName: 'TokenBinding' })
    .optional()
    .describe('What of a TLS client it works with alone; absent: with any client, or as its parent.'),
  thumbprint: z.string().optional().meta({
    description: 'SHA-256 of that certificate (x5t#S256) or key, base64url.',
    example: 'A4DtL2JmUMhAsvJj5tKyn64SqzmuXbMrJa0n761y5v0',
  }),
  session: z
    .object({
      address: z.string().optional().meta({ description: 'Address that the person signed in from.', example: '10.1.2.3' }),
      program: z
        .string()
        .optional()
        .meta({ description: 'Browser, as it calls itself.', example: 'Mozilla/5.0 (X11; Linux x86_64) Firefox/128.0' }),
      lastUsed: timestampText().optional().describe('When it was used last, to the minute.'),
    })
    .optional()
    .describe('Of the session of a browser; absent for other tokens.'),
  opened: z
    .object({
      by: z.string().meta({ description: 'Who of the tenant `system` has the tenant open.', example: 'ada' }),
      reason: z.string().meta({ description: 'Why.', example: 'case 4711: the key orders is not found' }),
    })
    .optional()
    .describe('Of a token with which an administrator of the tenant `system` reads this tenant; absent for other tokens.'),
  parent: z.uuid().optional().describe('Accessor of the token that made it and that it ends with.'),
  approle: z.string().optional().meta({ description: 'Approle it was issued for.', example: 'build-server' }),
});
export type TokenState = z.output<typeof tokenState>;

/** The state of a token of the tenant. `lineage`: where it is known. */
export function stateOf(
  store: Store,
  { tenantName }: Pick<Caller, 'tenantName'>,
  record: TokenRecord,
  now: Temporal.Instant,
  lineage: Lineage = lineageOf(store, record) ?? [record],
): TokenState {
  const { accessor, user, identity, policies, creationTime, expires, latestExpires, usesLeft, boundCidrs, cnf, parent, approle } = record;
  const { browser, signedIn, lastUsed, ttlSeconds } = record;
  const expiresIn = expires === undefined ? undefined : Math.round(now.until(Temporal.Instant.from(expires)).total('seconds'));
  return {
    accessor,
    tenant: tenantName,
    user,
    ...userOriginOf(lineage),
    identity: identity === undefined ? undefined : { ...identity },
    policies: [...policies],
    creationTime,
    expires,
    expiresIn,
    latestExpires,
    period: expires === undefined || latestExpires !== undefined || ttlSeconds === undefined ? undefined : formatDuration(ttlSeconds),
    usesLeft,
    boundCidrs: boundCidrs === undefined ? undefined : [...boundCidrs],
    boundTo: cnf?.kind,
    thumbprint: cnf?.sha256,
    session: browser === true ? defined({ ...signedIn, lastUsed }) : undefined,
    opened: record.opened,
    parent,
    approle: approle?.name,
  };
}
