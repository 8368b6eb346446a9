// The action unbind-subkey: the holder of a primary key ends its tie to a subkey, also of somebody else, and gets what revokes it.
import { z } from 'zod';
import { failAt, invalid } from '../../../core/base/texts/invalid.ts';
import { type AnyEndpoint, defineEndpoint } from '../../../core/http/endpoint.ts';
import { naming } from '../../../core/http/named-entries.ts';
import { nameField, pemExample } from '../../../core/wire/fields.ts';
import { type Revocation, revokeSubkey } from '../certificates/revocation.ts';
import { requireSigner } from '../format/signer.ts';
import type { OpenpgpKey } from '../records.ts';
import { fail } from '../errors.ts';
import { revocationFields } from './export-openpgp-revocation.ts';
import { actionPath, type Parts, requireKey } from './request.ts';
import { openpgpTag } from '../tags.ts';

const input = z.object({
  subkey: naming(nameField(), {
    resource: 'keystore/transit-keys',
    needs: [],
    because: 'It is bound to the key in the path, whose holders decide about its bindings.',
  }).describe('Name of the subkey.'),
  ...revocationFields,
});

const output = z.object({
  revocations: z
    .array(
      z.object({
        version: z.int().describe('Version of the subkey.'),
        revocation: z.string().meta({ description: 'Its block with the revocation in it.', example: pemExample('PGP PUBLIC KEY BLOCK') }),
      }),
    )
    .describe('One for each version that a version of the primary key here has bound.'),
});

export function unbindSubkey(parts: Parts): AnyEndpoint {
  const { transitKeys } = parts;
  return defineEndpoint({
    method: 'POST',
    named: 'UnbindSubkey',
    path: actionPath('unbind-subkey'),
    summary: 'Unbind a subkey from its primary key',
    description:
      'The subkey becomes an ordinary transit key, which no longer keeps the primary key from being changed or deleted; no right to that key is needed. What it signed still verifies with the blocks that are out in the world: publish the revocations that are answered.',
    tag: openpgpTag,
    access: 'token',
    operation: 'execute',
    audit: 'required',
    act: 'destroy',
    auditFields: ['subkey', 'reason', 'comment'],
    errors: ['operation-not-supported', 'conflict'],
    // A key that has no subkeys says so first.
    input: input.partial({ subkey: true }),
    documented: { input },
    output,
    commandLine: { positional: ['subkey'], ends: 'takes the subkey from the primary key, and no new binding gives it back' },
    secretOutput: ['revocations'],
    find: (call) => requireKey(transitKeys, call),
    async run(call, { subkey: name, ...why }, primary) {
      if (primary.fields.openpgpUserId === undefined || primary.verificationOnly) throw noPrimary();
      if (name === undefined) throw missing();
      const subkey = transitKeys.find(primary.tenantId, name);
      if (subkey?.fields.openpgpPrimary !== primary.name) throw notBound(name);
      const revocations = await revoke(parts, primary, subkey, { ...why, at: call.now });
      await transitKeys.dropFields(subkey, ['openpgpPrimary', 'openpgpKeyUsage']);
      return { revocations };
    },
  });
}

function noPrimary(): Error {
  return fail('operation-not-supported', { detail: 'The key is not a primary key: it has no bound subkey.' });
}

function missing(): Error {
  return invalid('subkey', 'is required', 'missing-field');
}

/** Versions that this primary key has not bound, or that a removed version bound, cannot be revoked. */
async function revoke({ hsm, transitKeys }: Parts, primary: OpenpgpKey, subkey: OpenpgpKey, how: Revocation) {
  const revocations: { version: number; revocation: string }[] = [];
  for (const version of subkey.versions) {
    const { attached } = version;
    const bound = attached?.subkey;
    const by = primary.versions.find((one) => bound !== undefined && one.attached?.fingerprints[0] === bound.primaryFingerprint);
    if (attached === undefined || bound === undefined || by === undefined) continue;
    await transitKeys.countSignature(primary, by.version, how.at);
    const signer = requireSigner(hsm, primary, by);
    const revocation = await revokeSubkey(signer, requireSigner(hsm, subkey, version), { ...attached, subkey: bound }, how);
    revocations.push({ version: version.version, revocation });
  }
  return revocations;
}

function notBound(name: string): Error {
  return failAt('subkey', `"${name}" is not a subkey of this key.`);
}
