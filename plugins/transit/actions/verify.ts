// Action verify: a signature with the public key, or an HMAC with the companion secret.
import { z } from 'zod';
import { equalConstantTime, parseBase64 } from '../../../core/base/bytes.ts';
import { fail as coreFail } from '../../../core/base/errors.ts';
import type { AnyEndpoint } from '../../../core/http/endpoint.ts';
import type { HashName } from '../../../hsm/api.ts';
import { cipherOf } from '../ciphers.ts';
import { fail } from '../errors.ts';
import { readPayload } from '../formats/payload.ts';
import {
  type SignatureOptions,
  decodeSignature,
  methodFor,
  readContext,
  requireDigestLength,
  signatureFields,
} from '../formats/signatures.ts';
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
    summary: 'Verify a signature or a MAC',
    description:
      'Takes what sign, hmac or cmac answered, and signatures made elsewhere with the same key. A wrong signature is an answer, not an error: `valid` is false.',
    fields: {
      text: payloadField('What was signed'),
      base64Encoded: base64EncodedField,
      signature: valueField('The signature, made here or elsewhere.').optional(),
      hmac: valueField('In place of signature.', 'store:hashed:v1:').optional(),
      cmac: valueField('In place of signature: of a key that makes CMACs, made here or elsewhere.').optional(),
      ...signatureFields,
    },
    subject: 'text',
    exampleInput: { text: 'aGVsbG8=', signature: `store:v1:${exampleSignature}` },
    secretInput: ['text', 'signature', 'hmac', 'cmac'],
    answer: z.object({ valid: z.boolean().describe('`true` if signature or MAC fit the text.'), keyVersion: keyVersionOutput }),
    secretOutput: [],
    commandLine: { verdict: 'valid' },
    auditFields: ['hashAlgorithm', 'prehashed', 'signatureAlgorithm', 'context', 'marshaling'],
    errors: ['invalid-format', 'operation-not-supported', 'version-unknown', 'version-not-allowed', 'key-disabled'],
    versionOf: ({ signature }) =>
      typeof signature === 'string' ? Number(/^store:v(\d{1,10}):/.exec(signature.slice(0, 20))?.[1]) : Number.NaN,
    plan: (used, item) => {
      const data = readPayload(item.text, item.base64Encoded, 'text', used.decode);
      const { signature, hmac, cmac } = item;
      const { context: _, ...rest } = item;
      const options = { ...rest, ...readContext(item, used.decode) };
      const given = [signature, hmac, cmac].filter((one) => one !== undefined).length;
      if (given !== 1)
        throw coreFail(given === 0 ? 'missing-field' : 'invalid-value', { detail: 'Give signature, hmac or cmac, one of the three.' });
      if (signature !== undefined) return { steps: checkSignature(used, data, signature, options) };
      return hmac === undefined ? planCmacCheck(used, data, cmac as string, options) : planHmacCheck(used, data, hmac, options);
    },
  });
}

async function checkSignature(used: UsedKey, data: Uint8Array, text: string, options: SignatureOptions): Promise<Verdict> {
  const { transit, key, now } = used;
  const cipher = cipherOf(key.record);
  if (cipher.kind !== 'signing') throw fail('operation-not-supported', { detail: 'This key makes no signatures; give hmac or cmac.' });
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
    used.by,
  );
  transit.usage.note(key, version, now);
  return { valid, keyVersion: number };
}

type HmacOptions = SignatureOptions & { readonly hashAlgorithm?: HashName | undefined };

/** Throws invalid-value for options of signatures. */
function requireNoSignatureOptions({ prehashed, signatureAlgorithm, context, marshaling }: SignatureOptions, of: 'hmac' | 'cmac'): void {
  if (prehashed !== true && signatureAlgorithm === undefined && context === undefined && marshaling === undefined) return;
  throw coreFail('invalid-value', {
    detail: `The options prehashed, signature-algorithm, context and marshaling are for signatures, not for ${of}.`,
  });
}

function planCmacCheck(used: UsedKey, message: Uint8Array, text: string, options: HmacOptions): TokenUse<Verdict> {
  if (cipherOf(used.key.record).kind !== 'cmac')
    throw fail('operation-not-supported', { detail: 'This key makes no CMAC: its cipher is not aes128-cmac or aes256-cmac.' });
  requireNoSignatureOptions(options, 'cmac');
  if (options.hashAlgorithm !== undefined)
    throw coreFail('invalid-value', {
      detail: '"hash-algorithm" is not for cmac, which has no hash.',
      items: [{ message: 'is not for cmac', info: 'hash-algorithm' }],
    });
  const { version: number, payload } = parseValue('value', text, 'cmac');
  const given = parseBase64(payload, 'cmac', used.decode);
  const version = used.forDecryption(number);
  return {
    version,
    counts: undefined,
    use: { use: 'sign', key: used.reference(version, 'cmac'), scheme: { scheme: 'cmac', message } },
    answer: (mac) => ({ valid: equalConstantTime(mac, given), keyVersion: number }),
  };
}

function planHmacCheck(used: UsedKey, octets: Uint8Array, text: string, options: HmacOptions): TokenUse<Verdict> {
  requireNoSignatureOptions(options, 'hmac');
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
