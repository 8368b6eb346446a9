// One private key does one job (NIST SP 800-57 part 1, section 5.2): clients register none for another use than a transit key of the tenant has it for.
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { hasMadeUpCurve } from '../../../core/base/public-keys/public-key.ts';
import { cleanly } from '../../../core/base/public-keys/openssl.ts';
import type { KeyVersionNature } from '../../../core/plugin/services/transit-keys.ts';
import type { Kmip } from '../context.ts';
import { numberOf } from '../objects/attributes.ts';
import { formats } from '../objects/make.ts';
import { usage } from '../objects/read.ts';
import type { StoredAttribute } from '../records/object-record.ts';

type Use = KeyVersionNature['use'];

/** Bits of Cryptographic Usage Mask by the use of a transit key. */
const bits: readonly (readonly [Use, number])[] = [
  ['sign', usage.sign | usage.contentCommitment | usage.certificateSign | usage.crlSign],
  ['encrypt', usage.encrypt | usage.decrypt | usage.wrapKey | usage.unwrapKey],
  ['agree', usage.deriveKey | usage.keyAgreement],
];

/** Encodings by Key Format Type. */
const encodings: ReadonlyMap<number, 'pkcs1' | 'pkcs8' | 'sec1'> = new Map([
  [formats.pkcs1, 'pkcs1'],
  [formats.pkcs8, 'pkcs8'],
  [formats.ecPrivateKey, 'sec1'],
]);

/** Longer than any private key that a transit key has. */
const mostOctets = 8_192;

/** Throws `private-key-in-use` for a private key in clear whose mask names another use than that of a transit key with it. */
export async function requireOneJob(
  { transitKeys }: Kmip,
  tenantId: string,
  { octets, keyFormat = 0 }: { readonly octets: Uint8Array; readonly keyFormat?: number | undefined },
  attributes: readonly StoredAttribute[],
): Promise<void> {
  const mask = numberOf(attributes, 'Cryptographic Usage Mask') ?? 0;
  const uses = bits.flatMap(([use, those]) => ((mask & those) === 0 ? [] : [use]));
  const publicKey = uses.length === 0 ? undefined : publicKeyOf(octets, keyFormat);
  if (publicKey !== undefined) await transitKeys.requireOneJob(tenantId, publicKey, uses);
}

/** SubjectPublicKeyInfo of a private key; undefined for octets that no transit key can have. */
function publicKeyOf(octets: Uint8Array, keyFormat: number): Uint8Array | undefined {
  const type = encodings.get(keyFormat);
  if (type === undefined || octets.length > mostOctets || hasMadeUpCurve(octets)) return undefined;
  // A view: a copy would stay in memory.
  const key = Buffer.from(octets.buffer, octets.byteOffset, octets.length);
  try {
    return cleanly(() => createPublicKey(createPrivateKey({ key, format: 'der', type })).export({ format: 'der', type: 'spki' }));
  } catch {
    return undefined;
  }
}
