// GET /v1/state/system/audit: the signing keys and signed heads of the audit trail, to keep elsewhere; for the system tenant.
import { z } from 'zod';
import { defineEndpoint, type AnyEndpoint } from '../../core/http/endpoint.ts';
import type { Store } from '../../core/store/store.ts';
import { auditPublicKeys } from './audit-signing.ts';
import { lastSignedHeads } from './chain-records.ts';
import { tags } from '../../core/http/tags.ts';

const output = z.object({
  keys: z
    .array(
      z.object({
        keyId: z.string().meta({ description: 'Id of the key in head records.', example: '0f343b0931126a20f133d67c2b018a3b' }),
        publicKey: z.string().meta({ description: 'The public key, PEM.', example: '-----BEGIN PUBLIC KEY-----\n…' }),
      }),
    )
    .describe('Keys that have signed the trail, the newest last.'),
  heads: z
    .array(
      z.object({
        chain: z.string().meta({ description: 'Chain of one process.', example: 'worker-1' }),
        sequence: z.int().meta({ description: 'Number of its last signed record.', example: 42 }),
        hash: z.string().meta({ description: 'SHA-256 of that record.', example: 'a3f5…' }),
      }),
    )
    .describe('The last signed position of every chain.'),
});

/** Refused with 404 for every tenant but `system`. */
export function auditEndpoint(store: Store): AnyEndpoint {
  return defineEndpoint<undefined, z.output<typeof output>>({
    method: 'GET',
    path: '/v1/state/system/audit',
    access: 'token',
    operation: 'read',
    tag: tags.system,
    summary: 'Keys and signed heads of the audit trail',
    named: 'Audit',
    description: 'Kept elsewhere, they show whether a copy of the trail is complete and authentic.',
    audit: 'reads-go-on',
    output,
    errors: ['not-found'],
    reservedFor: 'system-tenant',
    run: () => ({
      keys: auditPublicKeys(store).map(({ keyId, pem }) => ({ keyId, publicKey: pem })),
      heads: lastSignedHeads(store).map(({ chain, sequence, hash }) => ({ chain, sequence, hash })),
    }),
  });
}
