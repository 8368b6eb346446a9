// The action openpgp-sign: a detached signature over the caller's data (spec, api 36).
import { z } from 'zod';
import { integer, durationField, pemExample } from '../../../core/wire/fields.ts';
import { type AnyEndpoint, defineEndpoint } from '../../../core/http/endpoint.ts';
import { hashInTurns } from '../../../core/base/hash.ts';
import { signDetached } from '../certificates/detached-signature.ts';
import { formatArmor } from '../format/keyblock.ts';
import { requireSigner } from '../format/signer.ts';
import { actionPath, type Parts, requireKey, requireRecord, textBodyLimit, textOctets, textField } from './request.ts';
import { openpgpTag } from '../tags.ts';

const input = z.object({
  text: textField('What to sign'),
  base64Encoded: z.boolean().default(true).describe('false: the text is raw UTF-8.'),
  keyVersion: integer(1, 2 ** 31 - 1)
    .optional()
    .describe('Version to use; default: the version in use.'),
  format: z.enum(['armored', 'binary']).default('armored').describe('binary answers the packet in base64.'),
  expiresAfter: durationField({ minSeconds: 1 }).optional().describe('How long the signature holds; without limit when absent.'),
});

const output = z.object({
  signature: z.string().meta({ description: 'The detached signature.', example: pemExample('PGP SIGNATURE') }),
  keyVersion: z.int().describe('Version of the key that was used.'),
});

export function openpgpSign({ hsm, transitKeys }: Parts): AnyEndpoint {
  return defineEndpoint({
    method: 'POST',
    named: 'OpenpgpSign',
    idempotent: true,
    path: actionPath('openpgp-sign'),
    whileIsolated: true,
    summary: 'Sign data with an OpenPGP key',
    description:
      'Makes a detached OpenPGP signature that gpg, sq and package managers verify with the block of export-openpgp-public. The audit record names what was signed in `signed-digest`: `sha256:` and the SHA-256 of the text.',
    tag: openpgpTag,
    access: 'token',
    operation: 'execute',
    audit: 'required',
    act: 'none',
    auditFields: ['base64Encoded', 'keyVersion', 'format', 'expiresAfter'],
    errors: ['version-unknown', 'version-not-allowed', 'key-disabled', 'operation-not-supported'],
    bodyLimit: textBodyLimit,
    largeField: 'text',
    input,
    output,
    commandLine: { input: 'text', output: 'signature', octetsWith: { format: 'binary' } },
    secretInput: ['text'],
    find: (call) => requireKey(transitKeys, call),
    async run(call, request, key) {
      const data = await textOctets(call, request.text, request.base64Encoded);
      const version = transitKeys.requireSigningVersion(key, request.keyVersion, call.now);
      call.noteAudit({ keyVersion: version.version });
      const record = requireRecord(key, version);
      const signer = requireSigner(hsm, key, version);
      await transitKeys.countSignature(key, version.version, call.now);
      const packet = await signDetached(signer, record, data, call.now, request.expiresAfter?.seconds);
      call.noteAudit({ signedDigest: `sha256:${(await hashInTurns('sha256', data)).toHex()}` });
      const signature = request.format === 'binary' ? packet.toBase64() : formatArmor('signature', packet);
      return { signature, keyVersion: version.version };
    },
  });
}
