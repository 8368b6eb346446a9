// The endpoints by which a cluster begins and grows: init, invite, join, and the admission of the appliance that was invited.
import { isIP } from 'node:net';
import { z } from 'zod';
import { fail } from '../../core/base/errors.ts';
import { type AnyEndpoint, defineEndpoint, definePublicEndpoint } from '../../core/http/endpoint.ts';
import { tags } from '../../core/http/tags.ts';
import { base64Field, nameField, pemExample, timestamp } from '../../core/wire/fields.ts';
import type { Membership } from './membership.ts';
import type { ClusterState, ClusterWay } from '../state/cluster-way.ts';

type Parts = {
  readonly membership: Membership;
  readonly cluster?: ClusterWay | undefined;
  readonly stateOf: (cluster: ClusterWay) => Promise<ClusterState>;
};

const base = '/v1/state/system/cluster';

export function membershipEndpoints(parts: Parts): AnyEndpoint[] {
  return [initEndpoint(parts), inviteEndpoint(parts), joinEndpoint(parts), admitEndpoint(parts)];
}

function initEndpoint({ membership }: Parts): AnyEndpoint {
  return defineEndpoint({
    method: 'POST',
    path: `${base}/init`,
    access: 'token',
    operation: 'execute',
    tag: tags.system,
    summary: 'Make an appliance that stands alone the first of a cluster',
    description:
      'Nothing that it has is lost. Its configuration has the section `cluster` with `member`. The answer comes first; then all processes are replaced, which takes a few seconds without an answer, and an attended appliance waits for its PIN.',
    audit: 'required',
    output: z.object({ name: z.string().meta({ description: 'Name of the appliance in the cluster.', example: 'plant-a' }) }),
    errors: ['not-found', 'operation-refused', 'conflict', 'clock-implausible', 'in-use'],
    commandLine: { ends: 'makes this appliance the first of a cluster, and lets it answer nothing for a few seconds' },
    reservedFor: 'system-root',
    run: () => membership.found(),
  });
}

function inviteEndpoint({ membership }: Parts): AnyEndpoint {
  return defineEndpoint({
    method: 'POST',
    path: `${base}/invite`,
    access: 'token',
    operation: 'execute',
    tag: tags.system,
    summary: 'Invite an appliance into the cluster',
    description:
      'The invitation has the address of this appliance, the fingerprint of its CA and a secret. It is good for one appliance and one hour; who has it can join, so carry it like a password.',
    audit: 'required',
    output: z.object({
      invitation: z
        .string()
        .meta({ description: 'One line, for the file that the new appliance is started with.', example: 'keystored-invitation-1.eyJ1cmw' }),
      expires: timestamp().describe('Until when it is good.'),
    }),
    secretOutput: ['invitation'],
    errors: ['not-found', 'operation-refused'],
    commandLine: { output: 'invitation' },
    reservedFor: 'system-root',
    run: (call) => membership.invite(call.caller.user),
  });
}

function joinEndpoint({ membership }: Parts): AnyEndpoint {
  return defineEndpoint({
    method: 'POST',
    path: `${base}/join`,
    access: 'token',
    operation: 'execute',
    tag: tags.system,
    summary: 'Join the cluster that has invited this appliance',
    description:
      'Of an appliance that stands alone and has nothing yet but a way to log in: who may claim it may let it join, with the token of that login. Its configuration has the section `cluster` with `member`. The state of the cluster replaces its own, with all tokens: its former audit trail is kept beside the new one. Whether the HSM opens the keys of the cluster is proven first; what is refused leaves it as it was. The answer comes first; then all processes are replaced, which takes seconds to minutes without an answer, and an attended appliance waits for its PIN.',
    audit: 'required',
    input: z.object({
      invitation: z
        .string()
        .min(1)
        .max(4_096)
        .meta({ description: 'The line that a member has made.', example: 'keystored-invitation-1.eyJ1cmw' }),
    }),
    secretInput: ['invitation'],
    output: z.object({
      name: z.string().meta({ description: 'Name of this appliance in the cluster.', example: 'plant-b' }),
      invitedBy: z.string().meta({ description: 'Where the member is that has invited.', example: 'https://192.0.2.11:4646' }),
    }),
    errors: [
      ...(['not-found', 'operation-refused', 'conflict', 'not-new', 'invitation-refused', 'inviter-unreachable'] as const),
      ...(['level-not-supported', 'cluster-keys-refused', 'hsm-unavailable'] as const),
    ],
    commandLine: { input: 'invitation', ends: 'replaces what this appliance has by the state of the cluster, with all tokens' },
    reservedFor: 'system-root',
    run: (_call, { invitation }) => membership.join(invitation),
  });
}

const admission = z.object({
  secret: z.string().max(128).meta({ description: 'The secret of the invitation.', example: 'b64url' }),
  appliance: z.uuid().meta({ description: 'Identity of the new appliance.', example: '0f3c9a52-7d0e-4c35-9d53-7a1c26a5b1ee' }),
  name: nameField().max(48).describe('Its name, which no other appliance of the cluster has.'),
  address: z
    .string()
    .refine((text) => isIP(text) !== 0, 'must be an IP address')
    .meta({ description: 'IP address of its member of etcd.', example: '192.0.2.12' }),
  peerRequest: base64Field({ minBytes: 1, maxBytes: 4_096 }).describe('DER PKCS#10 request for the certificate among the members of etcd.'),
  clientRequest: base64Field({ minBytes: 1, maxBytes: 4_096 }).describe('DER PKCS#10 request for the certificate for the shared store.'),
});

const issued = (what: string) =>
  z
    .object({
      certificate: z.string().meta({ description: 'PEM.', example: pemExample('CERTIFICATE') }),
      authority: z
        .string()
        .meta({ description: 'The CA that issued it and the others of its kind, PEM.', example: pemExample('CERTIFICATE') }),
      revocations: z.string().meta({ description: 'Its revocation list, DER in base64.', contentEncoding: 'base64' }),
    })
    .describe(what);

function admitEndpoint({ membership, cluster, stateOf }: Parts): AnyEndpoint {
  return definePublicEndpoint({
    method: 'POST',
    path: `${base}/admit`,
    access: 'public',
    tag: tags.system,
    summary: 'Admit the appliance that was invited',
    description:
      'Asked by an appliance that joins, with the secret of its invitation and no token. It gets certificates for its member of etcd, and adds that itself. Asked again by the same appliance within the hour, it gets others, and those before are revoked.',
    audit: 'required',
    auditFields: ['appliance', 'name', 'address'],
    input: admission,
    output: z.object({
      cluster: z.string().meta({ description: 'Name of the etcd of the cluster.', example: '6d1f1c1e-3b0a-4b6e-9b55-2f6f0e9b7a10' }),
      endpoints: z.array(z.string()).meta({ description: 'Client URLs of the members of etcd.', example: ['https://192.0.2.11:2379'] }),
      peer: issued('Among the members of etcd.'),
      client: issued('For the shared store.'),
    }),
    secretInput: ['secret'],
    errors: ['login-failed', 'operation-refused', 'invalid-csr', 'clock-implausible', 'cluster-unavailable', 'in-use'],
    async run(_call, { secret, ...applicant }) {
      if (cluster === undefined) throw fail('operation-refused', { detail: 'This appliance stands alone and has invited nobody.' });
      return membership.admit(secret, applicant, await stateOf(cluster));
    },
  });
}
