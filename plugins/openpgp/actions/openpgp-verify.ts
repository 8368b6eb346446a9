// The action openpgp-verify: whether one of the given detached signatures was made by this key over this data (spec, api 36).
import { z } from 'zod';
import { defined } from '../../../core/base/defined.ts';
import { timestamp, pemExample } from '../../../core/wire/fields.ts';
import { type AnyEndpoint, defineEndpoint } from '../../../core/http/endpoint.ts';
import { maxSignatureCharacters, readSignatures } from '../format/reading.ts';
import { findGoodSignature, matchVersions } from '../certificates/verification.ts';
import { actionPath, findRecord, notAnOpenpgpKey, type Parts, requireKey, textBodyLimit, textOctets, textField } from './request.ts';
import { openpgpTag } from '../tags.ts';

const input = z.object({
  text: textField('What was signed'),
  base64Encoded: z.boolean().default(true).describe('false: the text is raw UTF-8.'),
  signature: z
    .string()
    .max(maxSignatureCharacters)
    .meta({
      description: 'Detached signature: ASCII armor, or base64 of the packets.',
      example: pemExample('PGP SIGNATURE'),
      'x-text-or-base64': true,
    }),
});

const output = z.object({
  valid: z.boolean().describe('Whether a key of the certificate made the signature over this text.'),
  fingerprint: z
    .string()
    .optional()
    .meta({ description: 'Fingerprint of the key that signed.', example: '8F2D6B6E0A4C1D3E5F708192A3B4C5D6E7F80912' }),
  keyId: z.string().optional().meta({ description: 'Its key id.', example: 'A3B4C5D6E7F80912' }),
  version: z.int().optional().describe('Version of the transit key that signed.'),
  keyVersion: z.int().optional().describe('The same, as every key action says it.'),
  signedAt: timestamp().optional().describe('When, as the signature says.'),
});

export function openpgpVerify({ transitKeys }: Parts): AnyEndpoint {
  return defineEndpoint({
    method: 'POST',
    named: 'OpenpgpVerify',
    idempotent: true,
    path: actionPath('openpgp-verify'),
    whileIsolated: true,
    summary: 'Verify a detached OpenPGP signature',
    description:
      'The version is found by the fingerprint in the signature. Of several signatures one good one suffices. Well-formed but not good is valid: false; unreadable is an error.',
    tag: openpgpTag,
    access: 'token',
    operation: 'execute',
    audit: 'reads-go-on',
    act: 'none',
    auditFields: ['base64Encoded'],
    errors: ['invalid-format', 'version-not-allowed', 'key-disabled', 'operation-not-supported'],
    bodyLimit: textBodyLimit,
    largeField: 'text',
    input,
    output,
    commandLine: { input: 'text', verdict: 'valid' },
    secretInput: ['text', 'signature'],
    find: (call) => requireKey(transitKeys, call),
    async run(call, request, key) {
      const data = await textOctets(call, request.text, request.base64Encoded);
      const certified = key.versions.filter((version) => findRecord(key, version) !== undefined);
      if (certified.length === 0) throw notAnOpenpgpKey();
      const matched = await matchVersions(await readSignatures(request.signature), certified);
      const allowed = matched.filter(({ version }) => !transitKeys.isBarredForVerification(key, version.version, call.now));
      const [first] = matched;
      if (first !== undefined && allowed.length === 0) transitKeys.requireVerifyingVersion(key, first.version.version, call.now);
      const good = await findGoodSignature(allowed, data, call.now);
      const keyVersion = good?.version ?? allowed[0]?.version.version;
      if (keyVersion !== undefined) call.noteAudit({ keyVersion });
      return { valid: good !== undefined, ...good, ...defined({ keyVersion }) };
    },
  });
}
