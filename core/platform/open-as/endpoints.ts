// Opening a tenant as an administrator of the tenant `system`: only where the tenant has allowed it, to read, for 15 minutes, with a reason on record.
import { z } from 'zod';
import type { Hsm } from '../../../hsm/api.ts';
import { requireUnbound, requireUncounted } from '../../access/policy/granting.ts';
import { systemTenantName, type Tenant, type Tenants } from '../../access/tenants.ts';
import { endGrant, openGrant } from '../../access/logins/grants.ts';
import { lineageOf, type Read, tokenTable, worksAt } from '../../access/tokens/record.ts';
import { drawToken, issueToken } from '../../access/tokens/tokens.ts';
import type { Clock, Notice } from '../../base/context.ts';
import { defined } from '../../base/defined.ts';
import { fail } from '../../base/errors.ts';
import { revealSecret } from '../../base/secret.ts';
import { formatTimestamp } from '../../base/time.ts';
import { type AnyEndpoint, defineEndpoint, type EndpointCall } from '../../http/endpoint.ts';
import { tags } from '../../http/tags.ts';
import type { Store } from '../../store/store.ts';
import { timestampText } from '../../wire/fields.ts';
import { shownText } from '../../wire/shown-text.ts';
import { consentTable, openingsOf } from './records.ts';

const lifeSeconds = 900;
const base = '/v1/state/open-as';

const opening = z
  .object({
    accessor: z.uuid().describe('Stands for the token; with it the opening can be ended.'),
    by: z.string().meta({ description: 'Who of the tenant `system` has it open.', example: 'ada' }),
    reason: z.string().meta({ description: 'Why, in the own words of that person.', example: 'case 4711: the key orders is not found' }),
    since: timestampText().describe('Since when.'),
    until: timestampText().optional().describe('When it ends at the latest.'),
  })
  .meta({ typeName: 'Opening' });

const state = z.object({
  allowed: z.boolean().describe('`true` lets administrators of the tenant `system` open this tenant to read it.'),
  openings: z.array(opening).describe('Who has it open now.'),
});
type State = z.output<typeof state>;

const opened = z.object({
  accessor: z.uuid().describe('Stands for the token.'),
  token: z.uuid().describe('The token; it is shown this once.'),
  tenant: z.string().meta({ description: 'Tenant that it reads.', example: 'payments' }),
  creationTime: timestampText().describe('When it was made.'),
  expires: timestampText().describe('When it ends.'),
});

export type OpenAsOptions = { readonly store: Store; readonly hsm: Hsm; readonly clock: Clock; readonly tenants: Tenants };

export function openAsEndpoints(options: OpenAsOptions): AnyEndpoint[] {
  const { store } = options;
  const stateFor = ({ caller, now }: EndpointCall): State => ({
    allowed: consentTable(store).get([caller.tenantId]) !== undefined,
    openings: openingsOf(store, caller.tenantId, now).map(({ accessor, opened: { by, reason }, creationTime, expires }) => ({
      ...{ accessor, by, reason, since: creationTime },
      ...defined({ until: expires }),
    })),
  });
  return [
    defineEndpoint<undefined, State>({
      method: 'GET',
      path: base,
      access: 'token',
      operation: 'read',
      tag: tags.tenants,
      named: 'OpenAs',
      summary: 'Show if administrators of the tenant `system` may open this tenant, and who has it open',
      description: 'No, unless the tenant has allowed it. They read alone, for 15 minutes, and say why.',
      audit: 'reads-go-on',
      output: state,
      run: stateFor,
    }),
    defineEndpoint<{ allowed: boolean }, State>({
      method: 'POST',
      path: `${base}/allow`,
      access: 'token',
      operation: 'execute',
      act: 'change-trust',
      idempotent: true,
      tag: tags.tenants,
      named: 'AllowOpenAs',
      summary: 'Allow administrators of the tenant `system` to open this tenant, or forbid it',
      description: 'Forbidding ends every token with which it is open, at once. The policy `user` does not let do this.',
      audit: 'required',
      input: z.object({ allowed: z.boolean().default(false).describe('`true` allows it from now on, `false` forbids it.') }),
      output: state,
      auditFields: ['allowed'],
      errors: ['operation-refused'],
      async run(call, { allowed }) {
        await setConsent(store, call, allowed);
        store.refresh();
        return stateFor(call);
      },
    }),
    defineEndpoint<{ reason: string }, z.output<typeof opened>, Tenant>({
      method: 'POST',
      path: '/v1/state/tenants/{name}/open-as',
      access: 'token',
      operation: 'execute',
      act: 'change-trust',
      reservedFor: 'system-tenant',
      tag: tags.tenants,
      named: 'OpenTenant',
      summary: 'Open a tenant that allows it, to read it for 15 minutes',
      description:
        'The token reads the configuration and the state of the tenant. It changes and uses nothing, makes no other tokens, cannot be renewed, and ends with the token of this request. The reason is in the audit trails of both tenants.',
      audit: 'required',
      documented: { names: { name: { description: 'Name of the tenant.', example: 'payments' } } },
      input: z.object({
        reason: shownText({ minCharacters: 10, maxCharacters: 500 }).meta({
          description: 'Why. The tenant sees it.',
          example: 'case 4711: the key orders is not found',
        }),
      }),
      output: opened,
      secretOutput: ['token'],
      commandLine: { output: 'token' },
      auditFields: ['reason'],
      errors: ['not-found', 'operation-refused'],
      find({ params }) {
        const tenant = options.tenants.findByName(params['name'] ?? '');
        if (tenant === undefined) throw fail('not-found', { detail: 'There is no tenant of this name.' });
        return tenant;
      },
      run: (call, { reason }, tenant) => openTenant(options, call, reason, tenant),
    }),
  ];
}

/** Notice to a tenant that somebody has open. */
export function openingNotices(store: Store, tenantId: string, now: Temporal.Instant): readonly Notice[] {
  const open = openingsOf(store, tenantId, now).length;
  return open === 0
    ? []
    : [{ name: 'opened-as', text: 'An administrator of the tenant system has this tenant open to read it', path: base }];
}

async function setConsent(store: Store, { caller, now }: EndpointCall, allowed: boolean): Promise<void> {
  const { tenantId, tenantName } = caller;
  if (tenantName === systemTenantName)
    throw fail('operation-refused', { detail: 'The tenant "system" is not opened: its administrators sign in to it.' });
  await store.write((transaction) => {
    const table = consentTable(store);
    const present = transaction.get(table, [tenantId]);
    if (allowed && present === undefined)
      transaction.put(table, [tenantId], { grant: openGrant(transaction, store, tenantId), since: formatTimestamp(now) });
    if (!allowed && present !== undefined) {
      endGrant(transaction, store, tenantId, present.grant);
      transaction.delete(table, [tenantId]);
    }
  });
}

async function openTenant(
  { store, hsm, clock }: OpenAsOptions,
  call: EndpointCall,
  reason: string,
  tenant: Tenant,
): Promise<z.output<typeof opened>> {
  const { caller, now } = call;
  requireUncounted(caller, 'A token that opens a tenant');
  requireUnbound(caller, 'A token that opens a tenant');
  const madeBy = { tenantId: caller.tenantId, accessor: caller.accessor };
  const token = await drawToken(hsm);
  const issued = await store.write((transaction) => {
    const read: Read = (table, key) => transaction.get(table, key);
    const consent = read(consentTable(store), [tenant.uuid]);
    if (consent === undefined)
      throw fail('operation-refused', {
        detail: `The tenant "${tenant.name}" does not allow to be opened. An administrator of it can: keystorectl do open-as allow --allowed true.`,
      });
    const own = read(tokenTable(store), [caller.tenantId, caller.accessor]);
    const lineage = own && lineageOf(store, own, read);
    if (lineage === undefined || !worksAt(lineage, now)) throw fail('invalid-token');
    const left = lineage.flatMap(({ expires }) =>
      expires === undefined ? [] : [now.until(Temporal.Instant.from(expires)).total('seconds')],
    );
    return issueToken(transaction, store, clock, token, {
      ...{ tenantId: tenant.uuid, user: `${systemTenantName}/${caller.user}`, policies: ['system-visitor'], madeBy },
      ...{ identity: caller.identity, grants: [consent.grant], opened: { by: caller.user, reason } },
      ttlSeconds: Math.max(1, Math.floor(Math.min(lifeSeconds, ...left))),
    });
  });
  const { accessor, creationTime, expires = creationTime } = issued;
  call.noteAudit({
    requestParameters: { reason, made: accessor },
    alsoOf: [{ tenant: tenant.name, tenantId: tenant.uuid, user: `${systemTenantName}/${caller.user}` }],
  });
  return {
    ...{ accessor, token: revealSecret(issued.token), tenant: tenant.name },
    ...{ creationTime: formatTimestamp(creationTime), expires: formatTimestamp(expires) },
  };
}
