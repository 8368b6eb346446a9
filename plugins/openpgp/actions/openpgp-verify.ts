// The action openpgp-verify: whether one of the given detached signatures was made by this key over this data.
import { z } from 'zod';
import { fail as failCore } from '../../../core/base/errors.ts';
import { failAt } from '../../../core/base/texts/invalid.ts';
import { defined } from '../../../core/base/defined.ts';
import { timestamp, pemExample } from '../../../core/wire/fields.ts';
import { type AnyEndpoint, defineEndpoint } from '../../../core/http/endpoint.ts';
import { maxSignatureCharacters, readSignatures } from '../format/reading.ts';
import { documents, type SignedDocument } from '../certificates/signed-document.ts';
import { findGoodSignature, matchVersions } from '../certificates/verification.ts';
import { actionPath, notAnOpenpgpKey, type Parts, requireKey, textBodyLimit, textOctets, textField } from './request.ts';
import { findRecord } from '../records.ts';
import { openpgpTag } from '../tags.ts';

const input = z.object({
  text: textField('What was signed, or the document that has its signature with it'),
  base64Encoded: z.boolean().default(true).describe('false: the text is raw UTF-8.'),
  form: z
    .enum(['detached', 'cleartext', 'message'])
    .default('detached')
    .describe(
      'detached: text and signature are two fields; cleartext, message: the text is a document of that form, as openpgp-sign makes it.',
    ),
  signature: z
    .string()
    .max(maxSignatureCharacters)
    .optional()
    .meta({
      description: 'Detached signature: ASCII armor, or base64 of the packets. Required with detached, and only with it.',
      example: pemExample('PGP SIGNATURE'),
      'x-text-or-base64': true,
    }),
});

const output = z.object({
  valid: z.boolean().describe('`true` if a key of the certificate made the signature over this text.'),
  fingerprint: z
    .string()
    .optional()
    .meta({ description: 'Fingerprint of the key that signed.', example: '8F2D6B6E0A4C1D3E5F708192A3B4C5D6E7F80912' }),
  keyId: z.string().optional().meta({ description: 'Its key id.', example: 'A3B4C5D6E7F80912' }),
  version: z.int().optional().describe('Version of the transit key that signed.'),
  keyVersion: z.int().optional().describe('The same, as every key action says it.'),
  signedAt: timestamp().optional().describe('When, as the signature says.'),
  signedText: z.string().optional().meta({
    description: 'Of a document whose signature is good: what was signed, in base64. Use this, and nothing else of the document.',
    contentEncoding: 'base64',
    example: 'T3JpZ2luOiBFeGFtcGxlCg==',
  }),
});

export function openpgpVerify({ transitKeys }: Parts): AnyEndpoint {
  return defineEndpoint({
    method: 'POST',
    named: 'OpenpgpVerify',
    idempotent: true,
    path: actionPath('openpgp-verify'),
    whileIsolated: true,
    summary: 'Verify an OpenPGP signature',
    description:
      'The version is found by the fingerprint in the signature. Of several signatures one good one suffices. Well-formed but not good is valid: false; unreadable is an error. Of a cleartext document or a message the answer has what was signed.',
    tag: openpgpTag,
    access: 'token',
    operation: 'execute',
    audit: 'reads-go-on',
    act: 'none',
    auditFields: ['base64Encoded', 'form'],
    errors: ['invalid-format', 'missing-field', 'version-not-allowed', 'key-disabled', 'operation-not-supported'],
    bodyLimit: textBodyLimit,
    largeField: 'text',
    input,
    output,
    commandLine: { input: 'text', verdict: 'valid' },
    secretInput: ['text', 'signature'],
    secretOutput: ['signedText'],
    find: (call) => requireKey(transitKeys, call),
    async run(call, request, key) {
      const data = await textOctets(call, request.text, request.base64Encoded);
      const certified = key.versions.filter((version) => findRecord(key, version) !== undefined);
      if (certified.length === 0) throw notAnOpenpgpKey();
      const document = request.form === 'detached' ? undefined : await readDocument(request.form, request.signature, data);
      const signatures = document === undefined ? await readSignatures(requireSignature(request.signature)) : document.signatures;
      const matched = await matchVersions(signatures, certified);
      const allowed = matched.filter(({ version }) => !transitKeys.isBarredForVerification(key, version.version, call.now));
      const [first] = matched;
      if (first !== undefined && allowed.length === 0) transitKeys.requireVerifyingVersion(key, first.version.version, call.now);
      const good = await findGoodSignature(allowed, document?.hashed ?? data, call.now);
      const keyVersion = good?.version ?? allowed[0]?.version.version;
      if (keyVersion !== undefined) call.noteAudit({ keyVersion });
      const signedText = good === undefined ? undefined : document?.text.toBase64();
      return { valid: good !== undefined, ...good, ...defined({ keyVersion, signedText }) };
    },
  });
}

function readDocument(form: 'cleartext' | 'message', signature: string | undefined, octets: Uint8Array): Promise<SignedDocument> {
  if (signature === undefined) return documents[form](octets);
  throw failAt('signature', `The text has the signature with it in the form ${form}: leave signature out.`);
}

function requireSignature(signature: string | undefined): string {
  if (signature !== undefined) return signature;
  throw failCore('missing-field', {
    detail: '"signature" is required, unless form says that the text has it with it.',
    items: [{ message: 'is required', info: 'signature' }],
  });
}
