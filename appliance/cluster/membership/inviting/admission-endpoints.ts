// The endpoints for an invited appliance: for the own keys of the others, and for its certificates. It has no token of a user.
import { createPublicKey } from 'node:crypto';
import { isIP } from 'node:net';
import { z } from 'zod';
import { defined } from '../../../../core/base/defined.ts';
import { fail } from '../../../../core/base/errors.ts';
import { cleanly } from '../../../../core/base/public-keys/openssl.ts';
import { hasMadeUpCurve } from '../../../../core/base/public-keys/public-key.ts';
import { type AnyEndpoint, definePublicEndpoint } from '../../../../core/http/endpoint.ts';
import { tags } from '../../../../core/http/tags.ts';
import { base64Field, nameField, pemExample } from '../../../../core/wire/fields.ts';
import type { ClusterState, ClusterWay } from '../../cluster-way.ts';
import type { OwnTokens } from '../../keys/own-tokens.ts';
import type { Admissions } from './admissions.ts';

export type AdmissionEndpointParts = {
  readonly membership: { readonly admissions: Admissions };
  readonly cluster?: ClusterWay | undefined;
  readonly stateOf: (cluster: ClusterWay) => Promise<ClusterState>;
  /** present if each appliance has a token */
  readonly ownTokens?: OwnTokens | undefined;
};

const base = '/v1/state/system/cluster';
/** More than any token sees. */
const mostRotations = 1_000_000;

export function admissionEndpoints(parts: AdmissionEndpointParts): AnyEndpoint[] {
  return [admitTokenEndpoint(parts), admitEndpoint(parts)];
}

const applicant = {
  secret: z.string().max(128).meta({ description: 'The secret of the invitation.', example: 'b64url' }),
  appliance: z.uuid().meta({ description: 'Identity of the new appliance.', example: '0f3c9a52-7d0e-4c35-9d53-7a1c26a5b1ee' }),
  name: nameField().max(48).describe('Its name, which no other appliance of the cluster has.'),
};

const carryingField = () =>
  z
    .string()
    .regex(/^[\da-f]{16}$/, 'must be 16 hexadecimal digits')
    .meta({ description: 'The carrying by which it came into the tokens.', example: '9f86d081884c7d65' });

const peerRequestField = () => base64Field({ minBytes: 1, maxBytes: 4_096 });

const tokenAdmission = z.object({
  ...applicant,
  peerRequest: peerRequestField().describe(
    'DER PKCS#10 request with the key of the one of `admit`. Its challengePassword is the SHA-256, hexadecimal, of the JSON list of `keystored-admit-token-1`, the secret, the identity and the public key of the transport key: nobody else puts another one in its place.',
  ),
  transport: z
    .strictObject({
      id: z
        .string()
        .regex(/^[\da-f]{32}$/, 'must be 32 hexadecimal digits')
        .meta({ description: 'CKA_ID of the transport key.', example: '4a1f0c7be9d2358610ffab3c5d7e9124' }),
      publicKey: z
        .string()
        .max(1_024)
        .refine(isTransportKey, 'must be an RSA public key of 3072 bits, DER SubjectPublicKeyInfo in base64')
        .meta({ description: 'RSA public key of 3072 bits, DER SubjectPublicKeyInfo in base64.', example: 'MIIBojANBgkqhkiG9w0BAQ==' }),
      hashes: z
        .array(z.enum(['sha256', 'sha384', 'sha512', 'sha1']).meta({ typeName: 'OaepHash' }))
        .min(1)
        .max(2)
        .describe('Hashes that the token takes for RSA-OAEP, the best first.'),
      types: z.array(z.string().max(32)).max(64).describe('Key types that the token has.'),
      present: z
        .array(
          z
            .strictObject({
              number: z.int().min(1).max(mostRotations).describe('Number of the key.'),
              carrying: carryingField().optional(),
            })
            .meta({ typeName: 'OwnKeyInput' }),
        )
        .max(64)
        .describe('The wrapping keys that the token has.'),
    })
    .meta({ typeName: 'TransportKeyInput' })
    .describe('What the token of the new appliance says of itself.'),
});

function isTransportKey(text: string): boolean {
  try {
    const key = Buffer.from(text, 'base64');
    if (hasMadeUpCurve(key)) return false;
    return cleanly(() => {
      const { asymmetricKeyType, asymmetricKeyDetails } = createPublicKey({ key, format: 'der', type: 'spki' });
      return asymmetricKeyType === 'rsa' && asymmetricKeyDetails?.modulusLength === 3072;
    });
  } catch {
    return false;
  }
}

const wrappedKey = (what: string) => z.string().meta({ description: `${what}, in base64.`, contentEncoding: 'base64' });
const mark = (what: string) =>
  z.string().meta({ description: `What ${what} makes of a constant, in hexadecimal.`, example: '5fd924625f6ab16a' });

const carriedKeys = z.object({
  number: z.int().min(1).meta({ description: 'Number of the wrapping key.', example: 2 }),
  carrying: carryingField(),
  marks: z
    .object({ wrapping: mark('the wrapping key'), binding: mark('the binding key') })
    .describe('What the token has to make with the keys that it has taken.'),
  parcel: z
    .object({
      hash: z.enum(['sha256', 'sha384', 'sha512', 'sha1']).meta({ typeName: 'OaepHash' }).describe('The hash of RSA-OAEP.'),
      wrapping: wrappedKey('The wrapping key under the transport key'),
      binding: wrappedKey('The binding key under the transport key'),
    })
    .describe('The keys, for that token alone.'),
});

function admitTokenEndpoint({ membership, cluster, stateOf, ownTokens }: AdmissionEndpointParts): AnyEndpoint {
  return definePublicEndpoint({
    method: 'POST',
    path: `${base}/admit-token`,
    access: 'public',
    tag: tags.system,
    summary: 'Give the token of the appliance that was invited the own keys of the others',
    description:
      'Asked by an appliance that joins a cluster with a token in each appliance, with the secret of its invitation and no token of a user, again and again until the state is `ready`. The wrapping key is rotated for it: the next one is carried to the token of every appliance, wrapped by RSA-OAEP, and every key is wrapped again under it.',
    audit: 'required',
    auditFields: ['appliance', 'name', 'peerRequest', 'transport'],
    input: tokenAdmission,
    output: z.object({
      state: z
        .enum(['waiting', 'rewrapping', 'ready'])
        .meta({ typeName: 'TokenAdmissionState' })
        .describe(
          '`waiting`: another rotation comes first. `rewrapping`: the keys are wrapped again. `ready`: the appliance may be admitted.',
        ),
      done: z.int().min(0).describe('Keys that are wrapped again.'),
      total: z.int().min(0).describe('Keys to wrap again, as counted so far.'),
      keys: carriedKeys.optional().describe('When ready; absent for a token that has the keys already.'),
    }),
    secretInput: ['secret'],
    errors: ['login-failed', 'invalid-csr', 'operation-refused', 'conflict', 'cluster-unavailable', 'hsm-unavailable'],
    async run(call, { secret, transport, peerRequest, ...self }) {
      if (cluster === undefined) throw standsAlone();
      const asking = { ...self, secret, peerRequest, transportKey: transport.publicKey };
      const invitation = await membership.admissions.requireInvitedToken(asking, await stateOf(cluster));
      call.noteAudit({ requestParameters: { ...self, invitation } });
      if (ownTokens === undefined) {
        throw fail('operation-refused', {
          detail: 'The appliances of this cluster share one HSM: name it under hsm/tokens of the new one, without a group.',
        });
      }
      const { keys, ...shown } = await ownTokens.prepare({ ...self, transport });
      return { ...shown, ...defined({ keys }) };
    },
  });
}

function standsAlone() {
  return fail('operation-refused', { detail: 'This appliance stands alone and has invited nobody.' });
}

const admission = z.object({
  ...applicant,
  address: z
    .string()
    .refine((text) => isIP(text) !== 0, 'must be an IP address')
    .meta({ description: 'IP address of its member of etcd.', example: '192.0.2.12' }),
  peerRequest: peerRequestField().describe('DER PKCS#10 request for the certificate among the members of etcd.'),
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

function admitEndpoint({ membership, cluster, stateOf, ownTokens }: AdmissionEndpointParts): AnyEndpoint {
  return definePublicEndpoint({
    method: 'POST',
    path: `${base}/admit`,
    access: 'public',
    tag: tags.system,
    summary: 'Admit the appliance that was invited',
    description:
      'Asked by an appliance that joins, with the secret of its invitation and no token. It gets certificates for its member of etcd, and adds that itself. Asked again within the hour with the same keys, before the appliance has come in, it gets others, and those before are revoked. Nobody else is the same: the requests prove their keys.',
    audit: 'required',
    auditFields: ['appliance', 'name', 'address', 'peerRequest', 'clientRequest'],
    input: admission,
    output: z.object({
      cluster: z.string().meta({ description: 'Name of the etcd of the cluster.', example: '6d1f1c1e-3b0a-4b6e-9b55-2f6f0e9b7a10' }),
      endpoints: z.array(z.string()).meta({ description: 'Client URLs of the members of etcd.', example: ['https://192.0.2.11:2379'] }),
      peer: issued('Among the members of etcd.'),
      client: issued('For the shared store.'),
    }),
    secretInput: ['secret'],
    errors: ['login-failed', 'operation-refused', 'invalid-csr', 'clock-implausible', 'cluster-unavailable', 'in-use'],
    async run(call, applicant) {
      if (cluster === undefined) throw standsAlone();
      const state = await stateOf(cluster);
      const invitation = await membership.admissions.requireInvited(applicant, state);
      const { appliance, name, address } = applicant;
      call.noteAudit({ requestParameters: { appliance, name, address, invitation } });
      await ownTokens?.requireReady(appliance);
      return membership.admissions.admit(applicant, state);
    },
  });
}
