// Chains for the tests of path validation, signed by node:crypto.
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { encodeTbsCertificate } from '../../../../plugins/ca/der/certificate.ts';
import { bitString, objectIdentifier, sequence } from '../../../../core/der/der.ts';
import { basicConstraints, extKeyUsage, keyUsage } from '../../../../plugins/ca/der/extensions.ts';
import { commonName } from '../../../../core/der/name.ts';

export type KeyPair = { readonly publicKey: KeyObject; readonly privateKey: KeyObject };

/** A certificate with its key. */
export type Made = KeyPair & { readonly der: Uint8Array; readonly subject: Uint8Array };

export type Wish = {
  readonly name: string;
  /** absent: self-signed */
  readonly issuer?: Made;
  readonly keys?: KeyPair;
  readonly extensions?: readonly Uint8Array[];
  readonly from?: string;
  readonly to?: string;
  /** digest of the signature; default sha256 */
  readonly digest?: keyof typeof signatures;
  /** name of the issuer, when it differs from the issuer's subject */
  readonly issuerName?: string;
};

/** ECDSA identifiers. */
const signatures = { sha1: '1.2.840.10045.4.1', sha256: '1.2.840.10045.4.3.2', sha384: '1.2.840.10045.4.3.3' } as const;
const dsaWithSha256 = '2.16.840.1.101.3.4.3.2';

let lastSerial = 1;

/** The moment at which chains are validated, within the dates of certificates that give none. */
export const now = Temporal.Instant.from('2026-06-01T00:00:00Z');

export const newKey = (namedCurve = 'P-256'): KeyPair => generateKeyPairSync('ec', { namedCurve });

/** A certificate of a CA: basicConstraints and keyUsage unless `extensions` are given. */
export function makeCa(name: string, wish: Omit<Wish, 'name'> & { readonly pathLength?: number } = {}): Made {
  const { pathLength, ...rest } = wish;
  const constraints = basicConstraints(pathLength === undefined ? {} : { pathLength });
  return make({ extensions: [constraints, keyUsage('keyCertSign', 'crlSign')], ...rest, name });
}

/** A client's certificate. */
export function makeLeaf(issuer: Made, wish: Omit<Wish, 'name' | 'issuer'> = {}): Made {
  return make({
    extensions: [basicConstraints('leaf'), keyUsage('digitalSignature'), extKeyUsage('clientAuth')],
    ...wish,
    name: 'leaf',
    issuer,
  });
}

/** A certificate with exactly these extensions. */
export function make(wish: Wish): Made {
  const { name, issuer, keys = newKey(), extensions = [], from = '2020-01-01T00:00:00Z', to = '2040-01-01T00:00:00Z' } = wish;
  const subject = commonName(name);
  const signer = issuer ?? keys;
  const { digest = 'sha256' } = wish;
  const isDsa = signer.privateKey.asymmetricKeyType === 'dsa';
  const algorithm = sequence(objectIdentifier(isDsa ? dsaWithSha256 : signatures[digest]));
  const tbs = encodeTbsCertificate(
    {
      serial: Uint8Array.of(lastSerial++ % 127),
      issuer: wish.issuerName === undefined ? (issuer?.subject ?? subject) : commonName(wish.issuerName),
      subject,
      notBefore: Temporal.Instant.from(from),
      notAfter: Temporal.Instant.from(to),
      publicKey: keys.publicKey.export({ format: 'der', type: 'spki' }),
      extensions,
    },
    algorithm,
  );
  return { ...keys, subject, der: sequence(tbs, algorithm, bitString(sign(digest, tbs, signer.privateKey))) };
}
