// The endpoints of the appliance that bootstraps a cluster or joins one; those of the other side are in inviting/.
import { z } from 'zod';
import { type AnyEndpoint, defineEndpoint } from '../../../core/http/endpoint.ts';
import { tags } from '../../../core/http/tags.ts';
import type { KeyReference } from '../../../hsm/api.ts';
import { admissionEndpoints, type AdmissionEndpointParts } from './inviting/admission-endpoints.ts';
import { invitationEndpoints } from './inviting/invitation-endpoints.ts';
import type { Membership } from './membership.ts';

type Parts = AdmissionEndpointParts & {
  readonly membership: Membership;
  /** every stored key */
  readonly keys: () => Iterable<KeyReference>;
};

const base = '/v1/state/system/cluster';
export function membershipEndpoints(parts: Parts): AnyEndpoint[] {
  return [initEndpoint(parts), ...invitationEndpoints(parts), joinEndpoint(parts), ...admissionEndpoints(parts)];
}

function initEndpoint({ membership, keys }: Parts): AnyEndpoint {
  return defineEndpoint({
    method: 'POST',
    path: `${base}/init`,
    act: 'change-trust',
    access: 'token',
    operation: 'execute',
    tag: tags.system,
    summary: 'Make an appliance that stands alone the first of a cluster',
    description:
      'Nothing that it has is lost. Its configuration has the section `cluster` with `member`. The answer comes first; then all processes are replaced, which takes a few seconds without an answer, and an attended appliance waits for its PIN.',
    audit: 'required',
    auditFields: ['formerKeysStay'],
    input: z.object({
      formerKeysStay: z
        .boolean()
        .default(false)
        .describe(
          'With a token in each appliance: former keys of CAs that are objects in the token of this one, with certificates that did not end, stay there. Only this appliance makes their revocation lists and OCSP answers then.',
        ),
    }),
    output: z.object({ name: z.string().meta({ description: 'Name of the appliance in the cluster.', example: 'plant-a' }) }),
    errors: ['not-found', 'operation-refused', 'conflict', 'clock-implausible', 'in-use'],
    commandLine: { ends: 'makes this appliance the first of a cluster, and lets it answer nothing for a few seconds' },
    reservedFor: 'system-root',
    run: (_call, { formerKeysStay }) => membership.bootstrap({ stored: keys(), formerKeysStay }),
  });
}

function joinEndpoint({ membership }: Parts): AnyEndpoint {
  return defineEndpoint({
    method: 'POST',
    path: `${base}/join`,
    act: 'change-trust',
    access: 'token',
    operation: 'execute',
    tag: tags.system,
    summary: 'Join the cluster that has invited this appliance',
    description:
      'Of an appliance that stands alone and has nothing yet but a way to log in: who may claim it may let it join, with the token of that login. Its configuration has the section `cluster` with `member`. The state of the cluster replaces its own, with all tokens: its former audit trail is kept beside the new one. Whether the HSM opens the keys of the cluster is proven first; what is refused leaves it as it was. With a token in each appliance, the own keys are carried into its token first; `conflict` says how far that is after 40 seconds, and the same request goes on with it. The answer comes first; then all processes are replaced, which takes seconds to minutes without an answer, and an attended appliance waits for its PIN.',
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
