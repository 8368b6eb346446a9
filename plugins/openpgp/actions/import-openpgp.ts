// The action import-openpgp: a foreign public key block becomes a verification-only transit key.
import { z } from 'zod';
import { naming } from '../../../core/http/named-entries.ts';
import { nameField, pemExample } from '../../../core/wire/fields.ts';
import { type AnyEndpoint, defineEndpoint, Reply } from '../../../core/http/endpoint.ts';
import { importCertificate } from '../certificates/import-public-key.ts';
import type { Parts } from './request.ts';
import { openpgpTag } from '../tags.ts';

const input = z.object({
  name: naming(nameField(), {
    resource: 'keystore/transit-keys',
    needs: [{ operation: 'create', path: '/v1/config/keystore/transit-keys/{}' }],
  }).describe('Name of the new transit key.'),
  openpgp: z
    .string()
    .max(4 * 1024 * 1024)
    .meta({
      description: 'Public key block with one certificate: ASCII armor, or base64 of the packets; of these at most 256 KiB.',
      example: pemExample('PGP PUBLIC KEY BLOCK'),
      'x-text-or-base64': true,
    }),
  clean: z
    .boolean()
    .default(false)
    .describe('Leaves signatures of other keys and pictures out, as large certificates need: the limit is of what is left.'),
});

const output = z.object({
  name: z.string().meta({ description: 'Name of the new transit key.', example: 'my-key' }),
  cipher: z.string().meta({ description: 'What the key in the block is.', example: 'ed25519' }),
  fingerprints: z.array(z.string()).describe('Of the primary key first, then of its subkeys.'),
  keyVersion: z.int().describe('Its one version.'),
  warnings: z
    .array(z.string().meta({ example: 'The self-signatures of 0F3A… are made with SHA-1: sqv, apt 3 and rpm refuse what this key signs.' }))
    .optional()
    .describe('What other programs refuse of the certificate; absent where there is nothing.'),
});

export function importOpenpgp({ transitKeys }: Parts): AnyEndpoint {
  return defineEndpoint({
    method: 'POST',
    named: 'ImportOpenpgp',
    path: '/v1/state/keystore/import-openpgp',
    summary: 'Make a transit key from an OpenPGP public key block',
    description:
      'The new key verifies signatures (openpgp-verify by any signing key of the certificate, verify by the one in keys). It never signs. Private keys go through import of a transit key.',
    tag: openpgpTag,
    access: 'token',
    operation: 'execute',
    audit: 'required',
    act: 'bring-keys-in',
    concerns: (_call, { name }) => [['v1', 'config', 'keystore', 'transit-keys', name]],
    auditFields: ['name', 'openpgp', 'clean'],
    errors: ['already-exists', 'invalid-key-data', 'unsupported-cipher'],
    successStatus: 201,
    input,
    output,
    commandLine: { positional: ['name'], input: 'openpgp' },
    async run(call, { name, openpgp, clean }) {
      const { cipher, publicKey, record, warnings } = await importCertificate(openpgp, call.now, clean);
      await transitKeys.createVerificationOnly(call, { name, cipher, publicKey, attached: record });
      const body = { name, cipher, fingerprints: record.fingerprints, keyVersion: 1, ...(warnings.length === 0 ? {} : { warnings }) };
      return new Reply(201, body, { location: `/v1/config/keystore/transit-keys/${name}` });
    },
  });
}
