// Action generate-csr: a certification request that a version of the key signs, for a CA here or elsewhere.
import { z } from 'zod';
import { defined } from '../../../../core/base/defined.ts';
import { formatPem } from '../../../../core/base/texts/pem.ts';
import { pemExample } from '../../../../core/wire/fields.ts';
import { bitString, sequence } from '../../../../core/der/der.ts';
import { encodeEcdsaSignature } from '../../../../core/der/ecdsa-signature.ts';
import type { AnyEndpoint } from '../../../../core/http/endpoint.ts';
import { signatureIdentifier } from '../../certificates/algorithms.ts';
import { nameFields, requestInfo } from '../../certificates/request.ts';
import { cipherOf } from '../../ciphers.ts';
import type { Transit } from '../../context.ts';
import { fail } from '../../errors.ts';
import { hashOfCurve } from '../../formats/hash-of-curve.ts';
import { methodFor, rsaSignatureAlgorithm, signedOf } from '../../formats/signatures.ts';
import { verifySignature } from '../../formats/verification.ts';
import type { Version } from '../../records/keyring.ts';
import { barForEncryption } from '../../records/version-rules.ts';
import { runAlone } from '../../uses/token-use.ts';
import { UsedKey } from '../../uses/used-key.ts';
import { requireSignable } from '../../versions/attached.ts';
import { defineKeyAction, keyVersionField, keyVersionOutput, withDefaultsOf } from '../action.ts';

const inputSchema = z.object({
  ...nameFields,
  hashAlgorithm: z.enum(['auto', 'sha256', 'sha384', 'sha512']).meta({ typeName: 'CsrHashAlgorithm' }).optional().meta({
    description: 'Hash of the signature of RSA and ECDSA keys. auto: as strong as the curve, or what the key names; sha256 for RSA.',
    'x-default': 'auto',
  }),
  signatureAlgorithm: rsaSignatureAlgorithm
    .optional()
    .meta({ description: 'Padding of RSA signatures. A version that is a key for RSASSA-PSS has pss only.', 'x-default': 'pkcs1v15' }),
  keyVersion: keyVersionField.describe('Version to use, also one that waits for `activate-after`; default: the version in use.'),
});
const outputSchema = z.object({
  csr: z.string().meta({ description: 'PKCS#10 certification request, PEM.', example: pemExample('CERTIFICATE REQUEST') }),
  keyVersion: keyVersionOutput,
});

/** POST …/generate-csr */
export function generateCsr(transit: Transit): AnyEndpoint {
  return defineKeyAction<z.output<typeof inputSchema>, z.output<typeof outputSchema>>(transit, 'generate-csr', {
    summary: 'Make a certification request for the key',
    description:
      'For a CA of the appliance (`sign-csr`) or any other; `set-certificate-chain` takes in what it issues. The private key stays where it is, and signs the request. Names are wishes: the CA decides about them.',
    idempotent: true,
    audit: 'required',
    act: 'none',
    input: inputSchema,
    output: outputSchema,
    documented: { exampleInput: { subject: 'CN=Release signing, O=Example' } },
    auditFields: ['subject', 'dnsNames', 'ipAddresses', 'emailAddresses', 'uris', 'hashAlgorithm', 'signatureAlgorithm', 'keyVersion'],
    commandLine: { output: 'csr' },
    errors: ['operation-not-supported', ...transit.attachments.signErrors, 'version-unknown', 'version-not-allowed', 'key-disabled'],
    complete: withDefaultsOf(transit),
    run: async (call, input, key) => {
      const cipher = cipherOf(key.record);
      if (cipher.kind !== 'signing')
        throw fail('operation-not-supported', { detail: 'This key does not sign, and a request must be signed by its key.' });
      const used = new UsedKey(transit, key, call);
      const { signatureAlgorithm, hashAlgorithm, keyVersion } = input;
      const chosen = hashAlgorithm === 'auto' ? undefined : hashAlgorithm;
      const options = defined({ signatureAlgorithm, hashAlgorithm: chosen ?? hashOfCurve(cipher) });
      const method = methodFor(cipher, options, () => used.publicKeyOf(keyVersion));
      const version = signingVersion(used, keyVersion);
      const publicKey = version.record.publicKey as Uint8Array;
      const info = requestInfo(input, publicKey);
      const reference = used.reference(version, 'sign');
      requireSignable(used, version, method, info, true);
      const { scheme, signedDigest } = await signedOf(method, info);
      const check = (raw: Uint8Array): Promise<boolean> => verifySignature(cipher, method, publicKey, info, raw, true, used.by);
      const signature = await runAlone(used, {
        version,
        counts: 1,
        use: { use: 'sign', key: reference, scheme, check },
        answer: (raw) => (method.family === 'ecdsa' ? encodeEcdsaSignature(raw) : raw.slice()),
      });
      call.noteAudit({ keyVersion: version.number, signedDigest });
      const csr = sequence(info, signatureIdentifier(cipher, method), bitString(signature));
      return { csr: formatPem('CERTIFICATE REQUEST', csr), keyVersion: version.number };
    },
  });
}

/** A version that waits is not barred: its certificate has to be there before it signs. */
function signingVersion(used: UsedKey, requested: number | undefined): Version {
  if (requested === undefined) return used.forEncryption(undefined);
  const { transit, key, now } = used;
  const { number, record } = transit.keyring.version(key, requested);
  return barForEncryption(key.record, number, record, now) === 'pending' ? used.forDecryption(number) : used.forEncryption(number);
}
