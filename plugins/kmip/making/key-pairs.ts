// Pairs of keys that CreateKeyPair makes (KMIP 1.4 section 4.2): generated in the token, sealed as every object is, each half with a Link to the other.
import { readBitString, readOnly, tag } from '../../../core/der/der.ts';
import { Secret } from '../../../core/base/secret.ts';
import type { SigningKeyType } from '../../../hsm/api.ts';
import type { Kmip } from '../context.ts';
import { fail } from '../errors.ts';
import type { StoredAttribute } from '../records/object-record.ts';
import type { Attribute, AttributeValue } from '../records/object-values.ts';
import { sealingBinding } from '../records/space-record.ts';
import { requireRoom } from '../spaces/space-count.ts';
import { invalid } from '../objects/attribute-json.ts';
import { attributesOfNew, numberOf, valueOf, withAdded, withSet } from '../objects/attributes.ts';
import { drawId } from '../objects/ids.ts';
import { linkTo, links } from '../objects/links.ts';
import { formats, type NewObject, ofToken, type Place, prepare, type Prepared } from '../objects/make.ts';

/** Attributes of both halves, and of each. */
export type PairAttributes = {
  readonly common: readonly Attribute[];
  readonly private: readonly Attribute[];
  readonly public: readonly Attribute[];
};

export type Pair = { readonly privateId: string; readonly publicId: string };

/** Cryptographic Algorithms */
const [rsa, ecdsa, ec, ed25519] = [4, 6, 0x1a, 0x37];

/** Recommended Curves, and lengths, of key types. */
const curves: ReadonlyMap<number, SigningKeyType> = new Map([
  [7, 'ecdsa-p256'],
  [10, 'ecdsa-p384'],
  [13, 'ecdsa-p521'],
]);
const lengths: Readonly<Partial<Record<SigningKeyType, number>>> = {
  ...{ 'rsa-2048': 2_048, 'rsa-3072': 3_072, 'rsa-4096': 4_096 },
  ...{ 'ecdsa-p256': 256, 'ecdsa-p384': 384, 'ecdsa-p521': 521, ed25519: 256 },
};

/** Makes both objects, or none. Throws `kmip-algorithm-unsupported`, `kmip-attribute-invalid`, `kmip-space-full`. */
export async function createPair(kmip: Kmip, place: Place, given: PairAttributes, now: Temporal.Instant): Promise<Pair> {
  const { tenantId, space } = place;
  const [ofPrivate, ofPublic] = [attributesOf(given.common, given.private), attributesOf(given.common, given.public)];
  const keyType = keyTypeOf(kmip, ofPrivate);
  if (keyTypeOf(kmip, ofPublic) !== keyType) throw invalid('Cryptographic Algorithm', 'must be the same, with the length, for both keys');
  const [privateId, publicId] = [await drawId(kmip), await drawId(kmip)];
  const isRsa = keyType.startsWith('rsa');
  const completed = (attributes: readonly StoredAttribute[], type: number, id: string): readonly StoredAttribute[] =>
    withAdded(withSet(attributes, [ofToken, lengthOf(keyType)]), linkTo(type, id));
  // A pair takes the token some time: without room for both halves it is not made.
  requireRoom(kmip, tenantId, space, 2);
  const { privateKey, publicKey } = await generate(kmip, tenantId, privateId, keyType);
  const halves: readonly NewObject[] = [
    {
      ...{ id: privateId, objectType: 'private-key', attributes: completed(ofPrivate, links.publicKey, publicId) },
      material: { octets: new Secret(privateKey), keyFormat: isRsa ? formats.pkcs1 : formats.pkcs8 },
    },
    {
      ...{ id: publicId, objectType: 'public-key', attributes: completed(ofPublic, links.privateKey, privateId) },
      material: { octets: new Secret(publicKey), keyFormat: isRsa ? formats.pkcs1 : formats.x509 },
    },
  ];
  try {
    const prepared: Prepared[] = [];
    for (const half of halves) prepared.push(await prepare(kmip, place, half, now));
    await kmip.store.write((transaction) => {
      for (const half of prepared) half.put(transaction);
    });
    return { privateId, publicId };
  } finally {
    privateKey.fill(0);
  }
}

/** Joins both; what is stated for a half counts before what is stated for both. */
function attributesOf(common: readonly Attribute[], own: readonly Attribute[]): readonly StoredAttribute[] {
  const names = new Set(own.map(({ name }) => name));
  return attributesOfNew([...common.filter(({ name }) => !names.has(name)), ...own]);
}

function keyTypeOf({ hsm }: Kmip, attributes: readonly StoredAttribute[]): SigningKeyType {
  const algorithm = numberOf(attributes, 'Cryptographic Algorithm');
  const bits = numberOf(attributes, 'Cryptographic Length');
  if (algorithm === undefined) throw invalid('Cryptographic Algorithm', 'is required');
  const candidates = Object.entries(lengths) as [SigningKeyType, number][];
  const family = algorithm === rsa ? 'rsa' : algorithm === ecdsa || algorithm === ec ? 'ecdsa' : 'ed25519';
  const curve = family === 'ecdsa' ? curveIn(attributes) : undefined;
  const found = candidates.find(([type, length]) => {
    if (!type.startsWith(family) || (family === 'ed25519' && algorithm !== ed25519)) return false;
    if (bits !== undefined && bits !== length) return false;
    return curve === undefined ? bits !== undefined || family === 'ed25519' : curves.get(curve) === type;
  });
  if (found === undefined || !hsm.offers(found[0]))
    throw fail('kmip-algorithm-unsupported', {
      detail:
        'Pairs are made for RSA of 2048, 3072 or 4096 bits, ECDSA on P-256, P-384 or P-521, and Ed25519, as far as the token has them.',
    });
  return found[0];
}

function curveIn(attributes: readonly StoredAttribute[]): number | undefined {
  const domain = valueOf(attributes, 'Cryptographic Domain Parameters');
  const curve = domain?.type === 'structure' ? domain.fields.find(([name]) => name === 'RecommendedCurve')?.[1] : undefined;
  return curve?.type === 'enumeration' ? curve.value : undefined;
}

function lengthOf(keyType: SigningKeyType): Attribute {
  const value: AttributeValue = { type: 'integer', value: lengths[keyType] ?? 0 };
  return { name: 'Cryptographic Length', value };
}

/** Generates a pair in the token, and reads it for its seal; RSA keys in the form of PKCS #1, which KMIP means by default (1.4 section 4.11). */
async function generate(
  { hsm }: Kmip,
  tenantId: string,
  id: string,
  keyType: SigningKeyType,
): Promise<{ readonly privateKey: Uint8Array; readonly publicKey: Uint8Array }> {
  const binding = { ...sealingBinding(tenantId, id), purpose: 'sign' };
  const { stored, publicKey } = await hsm.generate(keyType, binding, { custody: 'wrapped' });
  if (publicKey === undefined) throw new Error('a pair without a public key');
  const pkcs8 = await hsm.readKeyMaterialInClear({ stored, binding });
  if (!keyType.startsWith('rsa')) return { privateKey: pkcs8, publicKey: Uint8Array.from(publicKey) };
  const outer = readOnly(pkcs8, tag.sequence);
  outer.next(tag.integer);
  outer.next(tag.sequence);
  const privateKey = Uint8Array.from(outer.next(tag.octetString).content);
  pkcs8.fill(0);
  const spki = readOnly(publicKey, tag.sequence);
  spki.next(tag.sequence);
  return { privateKey, publicKey: Uint8Array.from(readBitString(spki.next(tag.bitString).content)) };
}
