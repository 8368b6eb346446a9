// The action export-openpgp-public: public key blocks, the same octets at every call until a version is added or removed.
import { z } from 'zod';
import { defined } from '../../../core/base/defined.ts';
import { fail as failCore } from '../../../core/base/errors.ts';
import { integer, pemExample } from '../../../core/wire/fields.ts';
import { type AnyEndpoint, defineEndpoint } from '../../../core/http/endpoint.ts';
import { findRecord, isPublished, type OpenpgpKey, type OpenpgpKeys, type OpenpgpVersion } from '../records.ts';
import { formatPublicBlock, formatWholeBlock } from '../format/keyblock.ts';
import { boundRecords } from '../published/whole-certificates.ts';
import { actionPath, notAnOpenpgpKey, type Parts, requireKey, requireRecord, requireVersion } from './request.ts';
import { openpgpTag } from '../tags.ts';

const input = z.object({
  version: z
    .union([z.literal('latest'), z.literal('all'), integer(1, 2 ** 31 - 1)])
    .default('latest')
    .describe('Version to export; default: the newest.'),
  allVersions: z.boolean().default(false).describe('Every version, in one block; without `version`.'),
  subkeys: z.boolean().default(false).describe('Of a primary key: also the subkeys that these versions bound, in all their versions.'),
});

const output = z.object({
  keys: z
    .array(
      z.object({
        version: z.int().describe('Version of the key; of several the newest.'),
        keyblock: z
          .string()
          .meta({ description: 'Public key block; of a subkey with its primary key.', example: pemExample('PGP PUBLIC KEY BLOCK') }),
      }),
    )
    .describe('One item with the block asked for.'),
  keyVersion: z.int().describe('Version in the answer; of several the newest.'),
  publicPath: z.string().optional().meta({
    description: 'Of a published key: where anybody gets its certificates, with those of its subkeys.',
    example: '/v1/openpgp/f81d4fae-7dec-41d0-a765-00a0c91e6bf6/my-key/key.asc',
  }),
});

export function exportOpenpgpPublic({ transitKeys }: Parts): AnyEndpoint {
  return defineEndpoint({
    method: 'POST',
    named: 'ExportOpenpgpPublic',
    idempotent: true,
    path: actionPath('export-openpgp-public'),
    summary: 'Export the OpenPGP public key block',
    description:
      'Of a primary key its certificate; of a subkey the certificate of its primary with the subkey in it. With all-versions and subkeys one block that verifies everything the primary key and its subkeys have signed. Needs no exportable.',
    tag: openpgpTag,
    access: 'token',
    operation: 'execute',
    audit: 'reads-go-on',
    act: 'none',
    auditFields: ['version', 'allVersions', 'subkeys'],
    errors: ['version-unknown', 'operation-not-supported'],
    input,
    output,
    commandLine: { output: 'keys.0.keyblock' },
    find: (call) => requireKey(transitKeys, call),
    run(call, { version: named, allVersions, subkeys }, key) {
      if (allVersions && typeof named === 'number') throw eitherOr();
      const wanted = allVersions ? 'all' : named;
      if (subkeys) requirePrimary(key);
      const version = requireVersion(key, wanted === 'all' ? 'latest' : wanted);
      call.noteAudit({ keyVersion: version.version });
      const keyblock =
        wanted === 'all' || subkeys
          ? wholeBlock(transitKeys, key, wanted, version, subkeys)
          : formatPublicBlock(requireRecord(key, version));
      const publicPath = isPublished(key.fields) ? `/v1/openpgp/${key.tenantId}/${key.name}/key.asc` : undefined;
      return { keys: [{ version: version.version, keyblock }], keyVersion: version.version, ...defined({ publicPath }) };
    },
  });
}

function eitherOr(): Error {
  return failCore('invalid-value', {
    detail: 'Give version or all-versions, one of the two.',
    items: [{ message: 'does not go with version', info: 'all-versions' }],
  });
}

// Newest first: a program that reads only the first certificate of a block gets the one that signs now.
function wholeBlock(
  transitKeys: OpenpgpKeys,
  key: OpenpgpKey,
  wanted: number | 'latest' | 'all',
  version: OpenpgpVersion,
  withSubkeys: boolean,
): string {
  const versions = wanted === 'all' ? key.versions.toReversed() : [version];
  const own = versions.flatMap((one) => findRecord(key, one) ?? []);
  const [first] = own;
  if (first === undefined) throw notAnOpenpgpKey();
  if (first.imported !== undefined) return first.imported;
  if (!withSubkeys) return formatWholeBlock(own.map(({ brought: _brought, ...record }) => record));
  const bound = boundRecords(transitKeys, key);
  const fingerprints = new Set(own.flatMap((record) => record.fingerprints));
  // All subkeys include those of removed versions of the primary key.
  const chosen = wanted === 'all' ? bound : bound.filter(({ subkey }) => fingerprints.has(subkey?.primaryFingerprint ?? ''));
  return formatWholeBlock([...own, ...chosen]);
}

function requirePrimary({ fields: { openpgpPrimary } }: OpenpgpKey): void {
  if (openpgpPrimary === undefined) return;
  throw failCore('invalid-value', {
    detail: `subkeys goes with a primary key: export ${openpgpPrimary}.`,
    items: [{ message: 'goes with a primary key', info: 'subkeys' }],
  });
}
