// Rules about the signature algorithm, the same for certificates, CRLs and OCSP responses.
import { findKeyKind, type KeyKind } from './key-kinds.ts';
import type { Lint } from './rule.ts';

/** Signer: DER SubjectPublicKeyInfo, and the DER AlgorithmIdentifier beside the signature. */
export type Signer = { readonly publicKey: Uint8Array; readonly algorithm: Uint8Array };

/** `signature`: the AlgorithmIdentifier inside what is signed. */
export type SignedSubject = { readonly signer: Signer; readonly signature: Uint8Array };

const remembered = new WeakMap<Uint8Array, KeyKind>();

function kindOfSigner({ publicKey }: Signer): KeyKind | undefined {
  const known = remembered.get(publicKey);
  if (known !== undefined) return known;
  const kind = findKeyKind(publicKey);
  if (kind !== undefined) remembered.set(publicKey, kind);
  return kind;
}

/** Rules about the algorithm that signs, one for each family of keys, by the document that defines its parameters. */
export const algorithmLints: readonly Lint<Pick<SignedSubject, 'signer'>>[] = [
  ofFamily(
    'rsa',
    'rsa-signature',
    'RFC 4055 3.1, 5',
    'an RSA key signs with sha256, sha384 or sha512WithRSAEncryption, parameters NULL, or with RSASSA-PSS, one of these hashes for signature and mask and a salt of its length',
  ),
  ofFamily('ec', 'ecdsa-signature', 'RFC 5758 3.2', 'an EC key signs with ecdsa-with-SHA256, -SHA384 or -SHA512, without parameters'),
  ofFamily('ed25519', 'ed25519-signature', 'RFC 8410 3', 'an Ed25519 key signs with id-Ed25519, without parameters'),
  ofFamily(
    'ml-dsa',
    'ml-dsa-signature',
    'RFC 9881 3',
    'an ML-DSA key signs with the identifier of its own parameter set, without parameters',
  ),
];

/** Rules about structures that repeat the algorithm inside what is signed. */
export const signatureLints: readonly Lint<SignedSubject>[] = [
  ...algorithmLints,
  {
    id: 'signature-algorithm',
    source: 'RFC 5280 4.1.1.2, 5.1.1.2',
    rule: 'the algorithm inside is the one beside the signature',
    holds: ({ signer, signature }) => Buffer.compare(signer.algorithm, signature) === 0,
  },
];

function ofFamily(family: KeyKind['family'], id: string, source: string, rule: string): Lint<Pick<SignedSubject, 'signer'>> {
  return {
    id,
    source,
    rule,
    holds({ signer }) {
      const kind = kindOfSigner(signer);
      if (kind?.family !== family) return kind !== undefined;
      return kind.signatureIdentifiers.some((identifier) => Buffer.compare(identifier, signer.algorithm) === 0);
    },
  };
}
