// Action sign (spec; api 32, 35, 45).
import { z } from 'zod';
import type { AnyEndpoint } from '../../../core/http/endpoint.ts';
import { cipherOf } from '../ciphers.ts';
import { fail } from '../errors.ts';
import { microseconds } from '../instants.ts';
import { referenceTo } from '../records/keyring.ts';
import { requireSignable } from '../versions/attached.ts';
import { readPayload } from '../formats/payload.ts';
import { digestForAudit, encodeSignature, methodFor, schemeFor, signatureFields } from '../formats/signatures.ts';
import type { Transit } from '../context.ts';
import { formatValue } from '../formats/value-format.ts';
import { base64EncodedField, defineBatchAction, keyVersionField, keyVersionOutput, payloadField, valueField } from './action.ts';

/** POST …/sign */
export function sign(transit: Transit): AnyEndpoint[] {
  return defineBatchAction(transit, {
    action: 'sign',
    summary: 'Sign a text',
    description:
      'The audit record names what was signed in `signed-digest`: `sha256:` and the SHA-256 of the text, or with `prehashed` the algorithm and the hash that was given; of a batch a list, one for each item.',
    fields: { text: payloadField('What to sign'), base64Encoded: base64EncodedField, ...signatureFields, keyVersion: keyVersionField },
    subject: 'text',
    secretInput: ['text'],
    answer: z.object({ signature: valueField('The signature.'), keyVersion: keyVersionOutput }),
    secretOutput: [],
    commandLine: { output: 'signature' },
    auditFields: ['hashAlgorithm', 'prehashed', 'signatureAlgorithm', 'marshaling', 'keyVersion'],
    errors: ['operation-not-supported', ...transit.attachments.signErrors, 'version-unknown', 'version-not-allowed'],
    run: async (call, item, key, noteSigned) => {
      const cipher = cipherOf(key.record);
      if (cipher.kind !== 'signing')
        throw fail('operation-not-supported', { detail: `${key.record.cipher} keys do not sign; hmac authenticates data with them.` });
      const method = methodFor(cipher, item);
      const text = readPayload(item.text, item.base64Encoded, 'text');
      const scheme = await schemeFor(method, text);
      const signedDigest = await digestForAudit(method, text, scheme);
      const now = microseconds(call.now);
      const version = transit.keyring.forEncryption(key, item.keyVersion, now);
      const reference = referenceTo(key, version, 'sign');
      requireSignable(transit, key, version, method, text);
      await transit.usage.take(key, version, 1, now);
      const signature = encodeSignature(method, await transit.hsm.sign(reference, scheme), item.marshaling);
      noteSigned(signedDigest);
      return { signature: formatValue('value', version.number, signature), keyVersion: version.number };
    },
  });
}
