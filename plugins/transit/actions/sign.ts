// Action sign.
import { z } from 'zod';
import type { AnyEndpoint } from '../../../core/http/endpoint.ts';
import { encodeBase64 } from '../../../core/base/bytes.ts';
import { hashInTurns } from '../../../core/base/hash.ts';
import { contentHashOf, openCms } from '../certificates/cms.ts';
import { instantOf } from '../instants.ts';
import type { Version } from '../records/keyring.ts';
import { cipherOf, type SigningCipher } from '../ciphers.ts';
import { fail } from '../errors.ts';
import { requireSignable } from '../versions/attached.ts';
import { readPayload } from '../formats/payload.ts';
import { compactJws, jwsAlgorithm, jwsFields, type JwsOptions, signatureOptionsOf, signingInput } from '../formats/jws.ts';
import {
  type Signed,
  encodeSignature,
  methodFor,
  readContext,
  requireDigestLength,
  requireHashLength,
  type SignatureMethod,
  signatureFields,
  signedOf,
} from '../formats/signatures.ts';
import { variantsOf } from '../../../hsm/api.ts';
import type { Transit } from '../context.ts';
import { verifySignature } from '../formats/verification.ts';
import { formatValue } from '../formats/value-format.ts';
import { type TokenUse, runAlone } from '../uses/token-use.ts';
import type { UsedKey } from '../uses/used-key.ts';
import { base64EncodedField, defineBatchAction, keyVersionField, keyVersionOutput, payloadField, valueField } from './action.ts';

/** Fields of a request. */
export const signFields = {
  text: payloadField('What to sign'),
  base64Encoded: base64EncodedField,
  ...signatureFields,
  ...jwsFields,
  deterministic: z.boolean().optional().meta({
    description: 'ML-DSA without random octets, where the token has it: the same signature of a text each time.',
    'x-default': false,
  }),
  keyVersion: keyVersionField,
};

/** POST …/sign */
export function sign(transit: Transit): AnyEndpoint[] {
  return defineBatchAction(transit, {
    action: 'sign',
    summary: 'Sign a text',
    description:
      'The audit record names what was signed in `signed-digest`: `sha256:` and the SHA-256 of the text, or with `prehashed` the algorithm and the hash that was given; of a JWS that of its header and payload; of a CMS signature `sha256:` and so on with the hash of the content; of a batch a list, one for each item.',
    fields: signFields,
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
    auditFields: [
      'hashAlgorithm',
      'prehashed',
      'signatureAlgorithm',
      'context',
      'deterministic',
      'marshaling',
      'format',
      'jwsType',
      'keyVersion',
    ],
    errors: [
      'operation-not-supported',
      'certificate-chain-missing',
      ...transit.attachments.signErrors,
      'version-unknown',
      'version-not-allowed',
      'key-disabled',
    ],
    versionOf: ({ keyVersion }) => keyVersion,
    plan: (used, item, noteSigned) => {
      const cipher = cipherOf(used.key.record);
      if (cipher.kind !== 'signing')
        throw fail('operation-not-supported', { detail: 'This key does not sign; hmac authenticates data with it.' });
      const { context: _, ...rest } = item;
      const method = methodFor(cipher, signatureOptionsOf(cipher, { ...rest, ...readContext(item, used.decode) }), () =>
        used.publicKeyOf(item.keyVersion),
      );
      const payload = readPayload(item.text, item.base64Encoded, 'text', used.decode);
      if (item.format === 'cms') return { steps: signCms({ used, cipher, method, item, noteSigned }, payload) };
      const text = item.format === 'jws' ? jwsInput(used, cipher, method, item, payload) : payload;
      requireDigestLength(method, text);
      const plan = (signed: Signed): TokenUse<Signature> =>
        useOf({ used, cipher, method, item, noteSigned }, text, signed, (raw, { number }) =>
          item.format === 'jws' ? compactJws(text, raw) : formatValue('value', number, encodeSignature(method, raw, item.marshaling)),
        );
      const signed = signedOf(method, text);
      return signed instanceof Promise ? { steps: signed.then((one) => runAlone(used, plan(one))) } : plan(signed);
    },
  });
}

type Item = Omit<JwsOptions, 'context'> & { readonly keyVersion?: number | undefined };

/** One signature to be made. */
type Signing = {
  readonly used: UsedKey;
  readonly cipher: SigningCipher;
  readonly method: SignatureMethod;
  readonly item: Item;
  readonly noteSigned: (digest: string) => void;
};

/** The use of the token for a text; `write` makes the answer of what the token answers. */
function useOf(
  { used, cipher, method, item, noteSigned }: Signing,
  text: Uint8Array,
  { scheme, signedDigest }: Signed,
  write: (raw: Uint8Array, version: Version) => string,
): TokenUse<Signature> {
  const version = used.forEncryption(item.keyVersion);
  const key = used.reference(version, 'sign');
  const missing = variantsOf(scheme).find((variant) => !used.transit.hsm.signsBy(key.stored, variant));
  if (missing !== undefined)
    throw fail('operation-not-supported', {
      detail: `The token of this key was not proven to sign by ${missing}; the state of the HSM lists what it has.`,
    });
  requireSignable(used, version, method, text, item.format === 'cms');
  const holds = (raw: Uint8Array): Promise<boolean> =>
    verifySignature(cipher, method, version.record.publicKey as Uint8Array, text, raw, true, used.by);
  const check = used.transit.hsm.checksAnswers ? holds : undefined;
  const answer = (raw: Uint8Array): Signature => {
    noteSigned(signedDigest);
    return { signature: write(raw, version), keyVersion: version.number };
  };
  return { version, counts: 1, use: { use: 'sign', key, scheme, check }, answer };
}

/** Makes a CMS signature. Throws certificate-chain-missing, invalid-value for a digest of another length. */
async function signCms(signing: Signing, payload: Uint8Array): Promise<Signature> {
  const { used, cipher, method, item } = signing;
  const contentHash = contentHashOf(method);
  if (item.prehashed === true) requireHashLength(contentHash, payload);
  const digest = item.prehashed === true ? payload.slice() : await hashInTurns(contentHash, payload);
  const { certificateChain: chain } = used.forEncryption(item.keyVersion).record;
  if (chain === undefined) throw fail('certificate-chain-missing');
  const message = await openCms({ cipher, method, digest, chain, at: instantOf(used.now) });
  const { scheme } = await signedOf(method, message.signed);
  const signed = { scheme, signedDigest: `${contentHash}:${digest.toHex()}` };
  return runAlone(
    used,
    useOf(signing, message.signed, signed, (raw) => encodeBase64(message.finish(raw))),
  );
}

function jwsInput(
  used: UsedKey,
  cipher: SigningCipher,
  method: SignatureMethod,
  { keyVersion, jwsType }: Item,
  payload: Uint8Array,
): Uint8Array {
  const { publicKey } = used.forEncryption(keyVersion).record;
  return signingInput(jwsAlgorithm(cipher, method), publicKey as Uint8Array, jwsType, payload);
}

type Signature = { readonly signature: string; readonly keyVersion: number };
