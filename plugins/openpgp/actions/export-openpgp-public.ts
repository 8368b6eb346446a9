// The action export-openpgp-public: the public key block of a version, the same octets at every call (spec, api 38).
import { z } from 'zod';
import { integer, pemExample } from '../../../core/fields.ts';
import { type AnyEndpoint, defineEndpoint } from '../../../core/http/endpoint.ts';
import { formatPublicBlock } from '../keyblock.ts';
import { actionPath, type Parts, requireKey, requireRecord, requireVersion } from './request.ts';

const input = z.object({
  version: z
    .union([z.literal('latest'), integer(1, 2 ** 31 - 1)])
    .default('latest')
    .describe('Version to export.'),
});

const output = z.object({
  keys: z
    .array(
      z.object({
        version: z.int().describe('Version of the key.'),
        keyblock: z
          .string()
          .meta({ description: 'Public key block; of a subkey with its primary key.', example: pemExample('PGP PUBLIC KEY BLOCK') }),
      }),
    )
    .describe('One item for the version asked for.'),
  keyVersion: z.int().describe('Version in the answer.'),
});

export function exportOpenpgpPublic({ transitKeys }: Parts): AnyEndpoint {
  return defineEndpoint({
    method: 'POST',
    path: actionPath('export-openpgp-public'),
    summary: 'Export the OpenPGP public key block',
    description: 'Of a primary key its certificate; of a subkey the certificate of its primary with the subkey in it. Needs no exportable.',
    tag: 'key actions',
    access: 'token',
    operation: 'execute',
    audit: 'reads-go-on',
    auditFields: ['version'],
    errors: ['version-unknown', 'operation-not-supported'],
    input,
    output,
    commandLine: { output: 'keys.0.keyblock' },
    find: (call) => requireKey(transitKeys, call),
    run(call, request, key) {
      const version = requireVersion(key, request.version);
      call.noteAudit({ keyVersion: version.version });
      const keyblock = formatPublicBlock(requireRecord(key, version));
      return { keys: [{ version: version.version, keyblock }], keyVersion: version.version };
    },
  });
}
