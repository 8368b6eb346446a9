// Action verify: a signature with the public key, or an HMAC with the companion secret (spec; api 33, 45).
import { z } from 'zod';
import { equalConstantTime, parseBase64 } from '../../../core/base/bytes.ts';
import { fail as coreFail } from '../../../core/base/errors.ts';
import type { AnyEndpoint } from '../../../core/http/endpoint.ts';
import type { HashName } from '../../../hsm/api.ts';
import { cipherOf } from '../ciphers.ts';
import { fail } from '../errors.ts';
import { readPayload } from '../formats/payload.ts';
import { type SignatureOptions, decodeSignature, methodFor, requireDigestLength, signatureFields } from '../formats/signatures.ts';
import type { Transit } from '../context.ts';
import { parseValue } from '../formats/value-format.ts';
import { verifySignature } from '../formats/verification.ts';
import type { TokenUse } from '../uses/token-use.ts';
import type { UsedKey } from '../uses/used-key.ts';
import { base64EncodedField, defineBatchAction, keyVersionOutput, payloadField, valueField } from './action.ts';

const exampleSignature = 'MZQ5VLMBYpNuLKB+CduuX7O0CHrvSAix2i3KlM2CIvgr';

type Verdict = { readonly valid: boolean; readonly keyVersion: number };

/** POST …/verify */
export function verify(transit: Transit): AnyEndpoint[] {
  return defineBatchAction(transit, {
    action: 'verify',
    summary: 'Verify a signature or an HMAC',
    description:
      'Takes what sign or hmac answered, and signatures made elsewhere with the same key. A wrong signature is an answer, not an error: `valid` is false.',
    fields: {
      text: payloadField('What was signed'),
      base64Encoded: base64EncodedField,
      signature: valueField('The signature, made here or elsewhere.').optional(),
      hmac: valueField('In place of signature.', 'store:hashed:v1:').optional(),
      ...signatureFields,
    },
    subject: 'text',
    exampleInput: { text: 'aGVsbG8=', signature: `store:v1:${exampleSignature}` },
    secretInput: ['text', 'signature', 'hmac'],
    answer: z.object({ valid: z.boolean().describe('Whether signature or HMAC fit the text.'), keyVersion: keyVersionOutput }),
    secretOutput: [],
    commandLine: { verdict: 'valid' },
    auditFields: ['hashAlgorithm', 'prehashed', 'signatureAlgorithm', 'marshaling'],
    errors: ['invalid-format', 'operation-not-supported', 'version-unknown', 'version-not-allowed', 'key-disabled'],
    versionOf: ({ signature }) =>
      typeof signature === 'string' ? Number(/^store:v(\d{1,10}):/.exec(signature.slice(0, 20))?.[1]) : Number.NaN,
    plan: (used, item) => {
      const data = readPayload(item.text, item.base64Encoded, 'text', used.decode);
      if (item.signature !== undefined && item.hmac === undefined) return { steps: checkSignature(used, data, item.signature, item) };
      if (item.hmac !== undefined && item.signature === undefined) return planHmacCheck(used, data, item.hmac, item);
      throw coreFail(item.hmac === undefined ? 'missing-field' : 'invalid-value', { detail: 'Give signature or hmac, one of the two.' });
    },
  });
}

async function checkSignature(used: UsedKey, data: Uint8Array, text: string, options: SignatureOptions): Promise<Verdict> {
  const { transit, key, now } = used;
  const cipher = cipherOf(key.record);
  if (cipher.kind !== 'signing') throw fail('operation-not-supported', { detail: 'This key makes no signatures; give hmac.' });
  const { version: number, payload } = parseValue('value', text, 'signature');
  const method = methodFor(cipher, options, () => used.publicKeyOf(number));
  const signature = decodeSignature(payload, options.marshaling);
  requireDigestLength(method, data);
  const version = used.forDecryption(number);
  const valid = await verifySignature(
    cipher,
    method,
    version.record.publicKey as Uint8Array,
    data,
    signature,
    options.marshaling === 'jws',
  );
  transit.usage.note(key, version, now);
  return { valid, keyVersion: number };
}

type HmacOptions = SignatureOptions & { readonly hashAlgorithm?: HashName | undefined };

function planHmacCheck(used: UsedKey, octets: Uint8Array, text: string, options: HmacOptions): TokenUse<Verdict> {
  if (options.prehashed === true || options.signatureAlgorithm !== undefined || options.marshaling !== undefined) {
    throw coreFail('invalid-value', {
      detail: 'The options prehashed, signature-algorithm and marshaling are for signatures, not for hmac.',
    });
  }
  const { version: number, payload } = parseValue('hashed', text, 'hmac');
  const given = parseBase64(payload, 'hmac', used.decode);
  const version = used.forDecryption(number);
  return {
    version,
    counts: undefined,
    use: { use: 'hmac', key: used.reference(version, 'hmac'), hash: options.hashAlgorithm ?? 'sha256', octets },
    answer: (mac) => ({ valid: equalConstantTime(mac, given), keyVersion: number }),
  };
}
