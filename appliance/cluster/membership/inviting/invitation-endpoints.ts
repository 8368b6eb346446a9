// The endpoints for invitations: made, listed, withdrawn. For root of the system tenant, but for the list.
import { z } from 'zod';
import { defined } from '../../../../core/base/defined.ts';
import { type AnyEndpoint, defineEndpoint } from '../../../../core/http/endpoint.ts';
import { tags } from '../../../../core/http/tags.ts';
import { nameField, timestamp, timestampText } from '../../../../core/wire/fields.ts';
import type { OwnTokens } from '../../keys/own-tokens.ts';
import type { Admissions } from './admissions.ts';

type Parts = { readonly membership: { readonly admissions: Admissions }; readonly ownTokens?: OwnTokens | undefined };

const base = '/v1/state/system/cluster';

export function invitationEndpoints(parts: Parts): AnyEndpoint[] {
  return [inviteEndpoint(parts), listEndpoint(parts), withdrawEndpoint(parts)];
}

const idField = () =>
  z
    .string()
    .regex(/^[\da-f]{16}$/, 'must be 16 hexadecimal digits')
    .meta({ description: 'Names the invitation in lists and audit records; nobody comes in by it.', example: '9f86d081884c7d65' });
const memberField = () =>
  nameField().max(48).describe('The `cluster/name` of the one appliance that may come by it; absent: any that is free.');

function inviteEndpoint({ membership }: Parts): AnyEndpoint {
  return defineEndpoint({
    method: 'POST',
    path: `${base}/invite`,
    act: 'change-trust',
    access: 'token',
    operation: 'execute',
    tag: tags.system,
    summary: 'Invite an appliance into the cluster',
    description:
      'The invitation has the address of this appliance, the fingerprint of its CA and a secret. It is good for one appliance and one hour, and over as soon as that has come in; who has it can join, so carry it like a password.',
    audit: 'required',
    input: z.object({ member: memberField().optional() }),
    auditFields: ['member'],
    output: z.object({
      id: idField(),
      invitation: z
        .string()
        .meta({ description: 'One line, for the file that the new appliance is started with.', example: 'keystored-invitation-1.eyJ1cmw' }),
      expires: timestamp().describe('Until when it is good.'),
    }),
    secretOutput: ['invitation'],
    errors: ['not-found', 'operation-refused'],
    commandLine: { positional: ['member'], output: 'invitation' },
    reservedFor: 'system-root',
    async run(call, { member }) {
      const made = await membership.admissions.invite(call.caller.user, member);
      call.noteAudit({ requestParameters: { id: made.id, ...defined({ member }) } });
      return made;
    },
  });
}

const shownInvitation = z
  .object({
    id: idField(),
    state: z
      .enum(['open', 'used', 'over'])
      .meta({ typeName: 'InvitationState' })
      .describe(
        '`open`: nobody has used it. `used`: its appliance was admitted and has not come in yet; within the hour it may ask again. `over`: its appliance has come in, or was removed.',
      ),
    member: memberField().optional(),
    by: z.string().meta({ description: 'User of the token that invited.', example: 'root' }),
    expires: timestampText().describe('Until when it is good.'),
    usedBy: z
      .object({
        name: z.string().meta({ description: 'Its name.', example: 'plant-b' }),
        id: z.string().meta({ description: 'Its identity.', example: '0f3c9a52-7d0e-4c35-9d53-7a1c26a5b1ee' }),
        at: timestampText().describe('When it asked first.'),
      })
      .optional()
      .describe('The appliance that has used it.'),
  })
  .meta({ typeName: 'ClusterInvitation' });

function listEndpoint({ membership }: Parts): AnyEndpoint {
  return defineEndpoint({
    method: 'GET',
    path: `${base}/invitations`,
    access: 'token',
    operation: 'read',
    tag: tags.system,
    summary: 'The invitations into the cluster',
    operationId: 'clusterInvitations',
    named: 'ClusterInvitations',
    description: 'Those of the last hour, without their secrets, and those by which an appliance was admitted that has not come in since.',
    audit: 'reads-go-on',
    errors: ['not-found', 'operation-refused'],
    output: z.object({ invitations: z.array(shownInvitation).describe('The newest last.') }),
    reservedFor: 'system-tenant',
    run: () => ({
      invitations: membership.admissions.list().map(({ member, usedBy, ...one }) => ({
        ...one,
        ...defined({ member, usedBy: usedBy && { name: usedBy.name, id: usedBy.appliance, at: usedBy.at } }),
      })),
    }),
  });
}

const withdrawal = z.object({
  id: idField(),
  unconfirmed: z.array(z.string()).meta({
    description:
      'Appliances that have not confirmed within 20 seconds that the one that was admitted by it no longer has a way to the shared store.',
    example: [],
  }),
  wrappingKey: z
    .enum(['rotating', 'rotated', 'unchanged'])
    .optional()
    .meta({ typeName: 'WrappingKeyAfterRemoval' })
    .describe('Where each appliance has a token, and one was admitted by it: as of `remove-member`.'),
});

function withdrawEndpoint({ membership, ownTokens }: Parts): AnyEndpoint {
  return defineEndpoint<{ readonly id: string }, z.output<typeof withdrawal>>({
    method: 'POST',
    path: `${base}/withdraw-invitation`,
    act: 'none',
    access: 'token',
    operation: 'execute',
    tag: tags.system,
    summary: 'Withdraw an invitation into the cluster',
    description:
      'Nobody comes in by it from then on. Of an appliance that was admitted by it and has not come in, the certificates are revoked and its member of etcd leaves; one that has come in is removed with `remove-member`.',
    audit: 'required',
    input: z.object({ id: idField() }),
    output: withdrawal,
    auditFields: ['id'],
    commandLine: {
      positional: ['id'],
      ends: 'ends the invitation, and the credentials of an appliance that has used it and has not come in',
    },
    errors: ['not-found', 'operation-refused'],
    reservedFor: 'system-root',
    async run(_call, { id }) {
      const { appliance, unconfirmed } = await membership.admissions.withdraw(id);
      const wrappingKey = appliance === undefined ? undefined : await ownTokens?.rotateAfterWithdrawal(appliance);
      return { id, unconfirmed: [...unconfirmed], ...defined({ wrappingKey }) };
    },
  });
}
