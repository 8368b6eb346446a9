// The action export-openpgp-revocation: a revocation certificate, for an emergency or for publication.
import { z } from 'zod';
import { fail as failCore } from '../../../core/base/errors.ts';
import { integer, pemExample } from '../../../core/wire/fields.ts';
import { shownText } from '../../../core/wire/shown-text.ts';
import { type AnyEndpoint, defineEndpoint } from '../../../core/http/endpoint.ts';
import { namedFieldsOf, requireNamed } from '../../../core/http/named-entries.ts';
import { openpgpFields, type OpenpgpRecord, type OpenpgpKey, type OpenpgpKeys } from '../records.ts';
import type { Hsm } from '../../../hsm/api.ts';
import { type Revocation, revokePrimary, revokeSubkey } from '../certificates/revocation.ts';
import { requireSigner, type Signer } from '../format/signer.ts';
import { actionPath, type Parts, requireKey, requireRecord, requireVersion } from './request.ts';
import { openpgpTag } from '../tags.ts';

/** Fields of every revocation. */
export const revocationFields = {
  reason: z
    .enum(['no-reason', 'superseded', 'compromised', 'retired'])
    .meta({ typeName: 'ExportOpenpgpRevocationRequestReason' })
    .default('no-reason')
    .describe('Why.'),
  comment: shownText({ maxCharacters: 256 })
    .default('')
    .meta({ description: 'A remark that everybody will read.', example: 'replaced by a new key' }),
};

const input = z.object({
  version: z
    .union([z.literal('latest'), integer(1, 2 ** 31 - 1)])
    .default('latest')
    .describe('Version to revoke.'),
  ...revocationFields,
});

const output = z.object({
  revocation: z.string().meta({ description: 'Revocation certificate.', example: pemExample('PGP PUBLIC KEY BLOCK') }),
  keyVersion: z.int().describe('Version that it revokes.'),
});

const usesNamed = namedFieldsOf(z.object({ openpgpPrimary: openpgpFields.openpgpPrimary.schema }));

export function exportOpenpgpRevocation({ hsm, transitKeys }: Parts): AnyEndpoint {
  return defineEndpoint({
    method: 'POST',
    named: 'ExportOpenpgpRevocation',
    idempotent: true,
    path: actionPath('export-openpgp-revocation'),
    summary: 'Make an OpenPGP revocation certificate',
    description:
      'Publishing it revokes the key for everybody; the key itself goes on working here. Of a subkey, its block with the revocation in it. With the reasons superseded and retired earlier signatures stay good.',
    tag: openpgpTag,
    access: 'token',
    operation: 'execute',
    audit: 'required',
    act: 'destroy',
    auditFields: ['version', 'reason', 'comment'],
    errors: ['version-unknown', 'operation-not-supported', 'conflict'],
    // The primary key signs the revocation of a subkey.
    usesNamed,
    input,
    output,
    commandLine: { output: 'revocation' },
    secretOutput: ['revocation'],
    find: (call) => requireKey(transitKeys, call),
    async run(call, request, key) {
      const version = requireVersion(key, request.version);
      call.noteAudit({ keyVersion: version.version });
      const record = requireRecord(key, version);
      if (record.subkey !== undefined) requireNamed(call.access, usesNamed, key.fields);
      const signer = requireSigner(hsm, key, version);
      await transitKeys.countSignature(key, version.version, call.now);
      const how: Revocation = { reason: request.reason, comment: request.comment, at: call.now };
      const { subkey } = record;
      const revocation =
        subkey === undefined
          ? await revokePrimary(signer, how)
          : await revokeSubkey(primaryOf(hsm, transitKeys, key, subkey), signer, { ...record, subkey }, how);
      return { revocation, keyVersion: version.version };
    },
  });
}

/** Finds the primary version that bound a subkey: only it can revoke the subkey. */
function primaryOf(hsm: Hsm, transitKeys: OpenpgpKeys, key: OpenpgpKey, bound: NonNullable<OpenpgpRecord['subkey']>): Signer {
  const { openpgpPrimary } = key.fields;
  const primary = openpgpPrimary === undefined ? undefined : transitKeys.find(key.tenantId, openpgpPrimary);
  const version = primary?.versions.find(({ attached }) => attached?.fingerprints[0] === bound.primaryFingerprint);
  if (primary !== undefined && version !== undefined) return requireSigner(hsm, primary, version);
  throw failCore('conflict', { detail: `The version of the primary key that bound this subkey is gone: ${bound.primaryFingerprint}.` });
}
