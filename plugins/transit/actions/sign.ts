// Action sign (spec; api 32, 35, 45).
import { z } from 'zod';
import type { AnyEndpoint } from '../../../core/http/endpoint.ts';
import { cipherOf } from '../ciphers.ts';
import { fail } from '../errors.ts';
import { requireSignable } from '../versions/attached.ts';
import { readPayload } from '../formats/payload.ts';
import { type Signed, encodeSignature, methodFor, requireDigestLength, signatureFields, signedOf } from '../formats/signatures.ts';
import type { Transit } from '../context.ts';
import { verifySignature } from '../formats/verification.ts';
import { formatValue } from '../formats/value-format.ts';
import { type TokenUse, runAlone } from '../uses/token-use.ts';
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
    fieldRights: transit.attachments.signNeeds.map((action) => ({
      field: 'text',
      operation: 'execute',
      path: `/v1/state/keystore/transit-keys/{name}/${action}`,
    })),
    auditFields: ['hashAlgorithm', 'prehashed', 'signatureAlgorithm', 'marshaling', 'keyVersion'],
    errors: ['operation-not-supported', ...transit.attachments.signErrors, 'version-unknown', 'version-not-allowed', 'key-disabled'],
    versionOf: ({ keyVersion }) => keyVersion,
    plan: (used, item, noteSigned) => {
      const cipher = cipherOf(used.key.record);
      if (cipher.kind !== 'signing')
        throw fail('operation-not-supported', { detail: 'This key does not sign; hmac authenticates data with it.' });
      const method = methodFor(cipher, item, () => used.publicKeyOf(item.keyVersion));
      const text = readPayload(item.text, item.base64Encoded, 'text', used.decode);
      requireDigestLength(method, text);
      const plan = ({ scheme, signedDigest }: Signed): TokenUse<Signature> => {
        const version = used.forEncryption(item.keyVersion);
        const key = used.reference(version, 'sign');
        requireSignable(used, version, method, text);
        const answer = (raw: Uint8Array): Signature => {
          const signature = encodeSignature(method, raw, item.marshaling);
          noteSigned(signedDigest);
          return { signature: formatValue('value', version.number, signature), keyVersion: version.number };
        };
        const holds = (raw: Uint8Array): Promise<boolean> =>
          verifySignature(cipher, method, version.record.publicKey as Uint8Array, text, raw, true);
        const check = transit.hsm.checksAnswers ? holds : undefined;
        return { version, counts: 1, use: { use: 'sign', key, scheme, check }, answer };
      };
      const signed = signedOf(method, text);
      return signed instanceof Promise ? { steps: signed.then((one) => runAlone(used, plan(one))) } : plan(signed);
    },
  });
}

type Signature = { readonly signature: string; readonly keyVersion: number };
