// Endpoints about the seal: seal, unseal, and the CA certificates for callers that know only the address.
import { z } from 'zod';
import { fail } from '../../core/base/errors.ts';
import { type AnyEndpoint, defineEndpoint, definePublicEndpoint, Reply } from '../../core/http/endpoint.ts';
import { tags } from '../../core/http/tags.ts';
import { readApplianceCa } from '../tls/sealed-identity.ts';

export type SealParts = {
  /** of the data */
  readonly directory: string;
  /** Resolves when no process holds a key; sealed processes replace them afterwards. */
  seal(): Promise<void>;
};

/** The endpoints of a process that serves. */
export function sealEndpoints(parts: SealParts): AnyEndpoint[] {
  return [sealEndpoint(parts), unsealEndpoint, caEndpoint(parts)];
}

function sealEndpoint(parts: SealParts): AnyEndpoint {
  return defineEndpoint({
    tag: tags.system,
    access: 'token',
    errors: ['not-found'],
    method: 'POST',
    path: '/v1/state/keystore/system/seal',
    act: 'stop',
    operation: 'execute',
    summary: 'Seal the appliance until a person gives the PIN',
    whileBehind: true,
    description:
      'No new use of a key begins, running ones end, and the keys are removed from the memory of every process. Then the request is answered, as the last one on its connection. A sealed appliance answers only health, its CA certificates and unseal.',
    audit: 'required',
    commandLine: { ends: 'stops every use of keys until a person gives the PIN' },
    reservedFor: 'system-root',
    // The record is the last one of its process: none can be kept in mind once the store is closed.
    run: () => new Reply(204, undefined, { connection: 'close' }, () => parts.seal()),
  });
}

function caEndpoint(parts: SealParts): AnyEndpoint {
  return definePublicEndpoint({
    tag: tags.system,
    access: 'public',
    method: 'GET',
    path: '/v1/ca/system/appliance/ca.pem',
    summary: 'The CA certificates of this appliance, for callers that know only its address',
    operationId: 'applianceDownloadCaCertificates',
    description: 'A caller that does not trust them yet compares the fingerprint with one from another source.',
    audit: 'none',
    produces: 'application/x-pem-file',
    run: () => new Reply(200, readApplianceCa(parts.directory), { 'content-type': 'application/x-pem-file' }),
  });
}

/** One PIN for all tokens, or one for each by name. */
export const unsealInput = z.object({
  pin: z.string().min(1).max(256).optional().meta({ description: 'The user PIN of every configured token.', example: '12345678' }),
  pins: z
    .record(z.string().max(64), z.string().min(1).max(256))
    .optional()
    .meta({ description: 'PINs by name of the token, where they differ.', example: { default: '12345678' } }),
  share: z.string().min(1).max(256).optional().meta({
    description: 'The share of one custodian, in place of a PIN. It needs no unseal code.',
    example: 'ks1-7v2m0q4x-2-3kq9…',
  }),
  unsealCode: z.string().min(1).max(64).optional().meta({
    description:
      'What the appliance has shown on its console and in its log when it was sealed; needed from elsewhere than the machine itself.',
    example: 'BCDF-GHJK-LMNP',
  }),
});

/** The answer to a share; that to a PIN is empty. */
const unsealOutput = z.object({
  ceremony: z.string().meta({ description: 'In which the share was made.', example: '7v2m0q4x' }),
  have: z.int().describe('Shares that are here.'),
  needed: z.int().describe('Shares that unseal the appliance.'),
});

export type UnsealInput = z.output<typeof unsealInput>;

/** The answer of a process that serves. While the appliance is sealed, seal/sealed-server.ts answers, from the same description. */
export const unsealEndpoint = definePublicEndpoint<UnsealInput, z.output<typeof unsealOutput>>({
  tag: tags.system,
  access: 'public',
  method: 'POST',
  path: '/v1/state/keystore/system/unseal',
  summary: 'Give the PIN of the tokens, or the share of a custodian, to a sealed appliance',
  output: unsealOutput,
  documented: { empty: 'Unsealed by a PIN' },
  description:
    'A PIN is looked at from those who give the unseal code of this seal, or are at the machine itself as root or the user of the service. It is tried once. After a refused one the next attempt has to wait; after three the daemon must be started again, because tokens lock themselves. With custodians each gives `share`: a wrong one is refused alone and counts for nothing, and the token sees a PIN once enough are here.',
  audit: 'none',
  whileSealed: true,
  input: unsealInput,
  secretInput: ['pin', 'pins', 'share', 'unsealCode'],
  errors: [
    ...(['not-sealed', 'conflict', 'data-damaged', 'unseal-code-refused', 'share-refused', 'pin-refused', 'rate-limited'] as const),
    ...(['hsm-unavailable', 'cluster-unavailable', 'audit-unavailable'] as const),
  ],
  run() {
    throw fail('not-sealed', { detail: 'The appliance is not sealed; the PIN was not looked at.' });
  },
});
