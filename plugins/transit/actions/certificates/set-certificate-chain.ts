// Action set-certificate-chain: certificates that were issued for a version of the key, kept and shown with it.
import { z } from 'zod';
import { type AnyEndpoint, Reply } from '../../../../core/http/endpoint.ts';
import { pemExample } from '../../../../core/wire/fields.ts';
import { maxChainCharacters, readChain, requireChainOf } from '../../certificates/chain.ts';
import type { Transit } from '../../context.ts';
import { fail } from '../../errors.ts';
import { microseconds } from '../../instants.ts';
import { removedMeanwhile } from '../../records/keyring.ts';
import type { VersionRecord } from '../../records/records.ts';
import { defineKeyAction, keyVersionField } from '../action.ts';

const inputSchema = z.object({
  certificateChain: z
    .string()
    .max(maxChainCharacters)
    .meta({
      description:
        'PEM: the certificate of the key first, then that of its CA and those above; or PKCS #7 in PEM (`.p7b`), in any order. An empty text removes what is there.',
      example: pemExample('CERTIFICATE'),
    }),
  keyVersion: keyVersionField,
});

/** POST …/set-certificate-chain */
export function setCertificateChain(transit: Transit): AnyEndpoint {
  return defineKeyAction<z.output<typeof inputSchema>, never>(transit, 'set-certificate-chain', {
    summary: 'Keep the certificates of a version with it',
    description:
      'The first certificate must be for the key of the version, and each one issued by the next. The state of the key shows them under `versions`, and keystorectl pkcs11 to programs. Whether to trust them is up to who reads them.',
    idempotent: true,
    audit: 'required',
    act: 'none',
    input: inputSchema,
    successStatus: 204,
    auditFields: ['certificateChain', 'keyVersion'],
    commandLine: { input: 'certificateChain' },
    errors: ['invalid-certificate-chain', 'operation-not-supported', 'version-unknown'],
    run: async (call, { certificateChain: pem, keyVersion }, key) => {
      const { keyring, store, tables } = transit;
      const version = keyring.version(key, keyVersion ?? keyring.inUse(key, microseconds(call.now)));
      const { publicKey } = version.record;
      if (publicKey === undefined)
        throw fail('operation-not-supported', { detail: 'This key is symmetric, and certificates are for public keys.' });
      const certificateChain = pem.trim() === '' ? undefined : await readChain(pem, publicKey);
      if (certificateChain !== undefined) requireChainOf(publicKey, certificateChain);
      await store.write((transaction) => {
        const storeKey = [key.tenantId, key.record.id, version.number];
        const current = transaction.get(tables.versions, storeKey);
        if (current === undefined || transaction.get(tables.keys, [key.tenantId, key.name])?.id !== key.record.id) throw removedMeanwhile();
        const { certificateChain: _, ...others } = current;
        transaction.put(tables.versions, storeKey, {
          ...others,
          ...(certificateChain === undefined ? {} : { certificateChain }),
        } satisfies VersionRecord);
      });
      call.noteAudit({ keyVersion: version.number });
      return new Reply(204);
    },
  });
}
