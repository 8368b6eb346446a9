// The action openpgp-sign: a signature over the caller's data, by itself or with the data.
import { z } from 'zod';
import { fail as failCore } from '../../../core/base/errors.ts';
import { failAt } from '../../../core/base/texts/invalid.ts';
import { integer, durationField, pemExample } from '../../../core/wire/fields.ts';
import { type AnyEndpoint, defineEndpoint, type EndpointCall } from '../../../core/http/endpoint.ts';
import { defined } from '../../../core/base/defined.ts';
import { shownText } from '../../../core/wire/shown-text.ts';
import { hashInTurns } from '../../../core/base/hash.ts';
import { formNames, forms, signatureTime, signPrepared } from '../certificates/signed-data.ts';
import { openpgpSeconds, requireSigner } from '../format/signer.ts';
import type { OpenpgpKey, OpenpgpRecord } from '../records.ts';
import {
  actionPath,
  hashField,
  type Parts,
  requireAlive,
  requireHash,
  requireKey,
  requireRecord,
  requireSignAsWell,
  signatureFormat,
  textBodyLimit,
  textOctets,
  textField,
} from './request.ts';
import { openpgpTag } from '../tags.ts';

const notation = z
  .object({
    name: z
      .string()
      .max(128)
      .regex(/^[A-Za-z0-9._-]+@[A-Za-z0-9.-]+$/, 'must be a name and a domain: build@example.org')
      .meta({ description: 'Name, and the domain whose owner has given it.', example: 'build@example.org' }),
    value: shownText({ maxCharacters: 256, maxOctets: 512 }).meta({ description: 'Text.', example: 'job 4711' }),
  })
  .meta({ typeName: 'OpenpgpNotationInput' });

const input = z.object({
  text: textField('What to sign'),
  base64Encoded: z.boolean().default(true).describe('false: the text is raw UTF-8.'),
  keyVersion: integer(1, 2 ** 31 - 1)
    .optional()
    .describe('Version to use; default: the version in use.'),
  form: z
    .enum(formNames)
    .default('detached')
    .describe(`How the signature is made: ${formNames.map((name) => `${name}, ${forms[name].describes}`).join('; ')}.`),
  format: signatureFormat.default('armored').describe('binary answers the packets in base64; not for cleartext.'),
  expiresAfter: durationField({ minSeconds: 1 }).optional().describe('How long the signature holds; without limit when absent.'),
  signedAt: integer(0, 0xffff_ffff).optional().meta({
    description:
      'Date of the signature in seconds since 1970, as SOURCE_DATE_EPOCH has it: not before the key, not in the future. Needs "execute" of openpgp-date at the key.',
    example: 1_700_000_000,
  }),
  hashAlgorithm: hashField,
  notations: z
    .array(notation)
    .max(8)
    .default([])
    .meta({ whenEmpty: [], description: 'Remarks in the signature, which programs can ask for.' }),
});

const output = z.object({
  signature: z.string().meta({ description: 'The detached signature, or the signed document.', example: pemExample('PGP SIGNATURE') }),
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
      'Makes an OpenPGP signature that gpg, sq and package managers verify with the block of export-openpgp-public: detached, or with form in a cleartext document or a message. The audit record names what was signed in `signed-digest`: `sha256:` and the SHA-256 of the text.',
    tag: openpgpTag,
    access: 'token',
    operation: 'execute',
    audit: 'required',
    act: 'none',
    auditFields: ['base64Encoded', 'keyVersion', 'form', 'format', 'expiresAfter', 'signedAt', 'hashAlgorithm', 'notations'],
    errors: ['version-unknown', 'version-not-allowed', 'key-disabled', 'operation-not-supported'],
    bodyLimit: textBodyLimit,
    largeField: 'text',
    input,
    output,
    commandLine: { input: 'text', output: 'signature', octetsWith: { format: 'binary' } },
    secretInput: ['text'],
    find: (call) => requireKey(transitKeys, call),
    async run(call, request, key) {
      if (request.form === 'cleartext' && request.format === 'binary') throw noBinaryCleartext();
      const data = await textOctets(call, request.text, request.base64Encoded);
      const version = transitKeys.requireSigningVersion(key, request.keyVersion, call.now);
      call.noteAudit({ keyVersion: version.version });
      requireSignAsWell(call, key, version);
      const record = requireRecord(key, version);
      const signer = requireSigner(hsm, key, version);
      if (request.signedAt !== undefined) requireDate(call, key, record, request.signedAt);
      const created = request.signedAt ?? signatureTime(record, call.now);
      requireAlive(record, created);
      const hash = requireHash(signer, request.hashAlgorithm);
      const prepared = await forms[request.form].prepare(data);
      await transitKeys.countSignature(key, version.version, call.now);
      const choice = { hash, notations: request.notations, ...defined({ expiresAfterSeconds: request.expiresAfter?.seconds }) };
      const packet = await signPrepared(signer, prepared, created, choice);
      call.noteAudit({ signedDigest: `sha256:${(await hashInTurns('sha256', data)).toHex()}` });
      const { armored, packets } = await prepared.write(packet, signer, hash);
      const signature = request.format === 'binary' && packets !== undefined ? packets.toBase64() : armored;
      return { signature, keyVersion: version.version };
    },
  });
}

function noBinaryCleartext(): Error {
  return failAt('format', 'A cleartext document is text: leave format out.');
}

/** A date of the caller's could be one before a revocation, so it is a right of its own. */
function requireDate({ access, now }: EndpointCall, { name }: OpenpgpKey, { notBefore }: OpenpgpRecord, signedAt: number): void {
  if (!access.allowsAt(['v1', 'state', 'keystore', 'transit-keys', name, 'openpgp-date'], 'execute')) {
    throw failCore('policy-denied', {
      detail:
        'To date a signature, the policies of tenant and token must also allow "execute" on the path of openpgp-date. Leave signed-at out.',
    });
  }
  if (signedAt >= notBefore && signedAt <= openpgpSeconds(now)) return;
  throw failAt('signed-at', `A signature is dated between ${notBefore}, when the key was certified, and now.`);
}
