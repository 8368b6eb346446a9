// Gathers the token's evidence about a key: the token itself, the attributes of the object and of the wrapping key, the vendor's attestation.
import { isDeepStrictEqual } from 'node:util';
import type { KeyEvidence, ObjectAttributes, TokenIdentity, VendorEvidence } from '../../key-evidence.ts';
import * as ck from '../../pkcs11/constants.ts';
import { keyRows } from '../../pkcs11/mechanisms.ts';
import { mechanismName, type ObjectHandle } from '../../pkcs11/module.ts';
import { CKR_OK, TokenError } from '../../pkcs11/return-values.ts';
import type { AttributeName } from '../../pkcs11/template.ts';
import type { KeyIdentity } from '../../protocol/key-encoding.ts';
import { parseBlob } from '../../protocol/blob-format.ts';
import type { Engine } from '../engine.ts';
import { handlingFor } from '../custody.ts';
import { findAttribute, flag } from '../attributes.ts';
import type { Sessions } from '../sessions.ts';
import { allowedUses } from '../usages.ts';
import { vendorAttestors, type VendorAttestor } from '../vendor-attestation.ts';

/**
 * Gathers the evidence about a key. A wrapped key is unwrapped and the object destroyed again, so the answer also proves that
 * the blob opens. `key-not-usable` and `key-missing` as for a use.
 */
export function gatherEvidence(engine: Engine, identity: KeyIdentity, attestors: readonly VendorAttestor[] = vendorAttestors): KeyEvidence {
  const { type, custody, blob, binding } = engine.reference(identity);
  const { sessions } = engine;
  const token = agreed('C_GetTokenInfo', () => identify(engine));
  const serving = attestors.filter((attestor) => attestor.serves(token));
  if (custody === 'token') {
    const { handle } = engine.key(identity);
    return { token, object: readAttributes(sessions, handle), vendor: attested(sessions, serving, 'key', handle) };
  }
  const parsed = parseBlob(blob);
  const { number, content } = parsed;
  const under = engine.custody.wrappingKeys.find(number);
  // Only the attributes of the persistent object say how the key is kept.
  const wrappingObject = under.object;
  const wrappingKey = {
    ...{ number, mechanism: mechanismName(engine.custody.mechanismOf(parsed, under)), content },
    ...(under.carrying === undefined ? {} : { carried: true as const }),
    object: readAttributes(sessions, wrappingObject),
  };
  const loaded = engine.custody.unwrap(type, blob, handlingFor(binding));
  try {
    // A device attests persistent objects: a session object is gone in a moment.
    const vendor = attested(sessions, serving, 'wrapping-key', wrappingObject);
    return { token, object: readAttributes(sessions, loaded), wrappingKey, vendor };
  } finally {
    engine.destroyObject(loaded);
  }
}

function identify(engine: Engine): TokenIdentity {
  const { label, serial, manufacturer, model, hardware, firmware } = engine.tokenInfo();
  return { label, serial, manufacturer, model, hardware, firmware, library: engine.sessions.module.info() };
}

function attested(
  sessions: Sessions,
  attestors: readonly VendorAttestor[],
  about: VendorEvidence['about'],
  object: ObjectHandle,
): VendorEvidence[] {
  return attestors.flatMap((attestor) => {
    const parts = attestor.attest(sessions, object);
    if (parts === undefined) return [];
    return [{ format: attestor.format, about, parts: parts.map((part) => Buffer.from(part).toString('base64')) }];
  });
}

function readAttributes(sessions: Sessions, object: ObjectHandle): ObjectAttributes {
  return agreed('C_GetAttributeValue', () => askAttributes(sessions, object));
}

/** Asks twice, because the answer is signed and trusted for years. Throws TokenError if the answers differ. */
function agreed<T>(fn: string, ask: () => T): T {
  const answer = ask();
  if (!isDeepStrictEqual(answer, ask())) throw new TokenError(CKR_OK, fn);
  return answer;
}

function askAttributes(sessions: Sessions, object: ObjectHandle): ObjectAttributes {
  const read = (name: AttributeName): Buffer | undefined => findAttribute(sessions, object, name);
  const kind = numberOf(read('class')) === ck.CKO_SECRET_KEY ? 'secret' : 'private';
  const keyType = numberOf(read('keyType'));
  const mechanism = numberOf(read('keyGenMechanism'));
  const flags = flagNames.flatMap((name) => {
    const value = read(name);
    return value === undefined ? [] : [[name, flag(value)] as const];
  });
  return {
    kind,
    keyType: keyTypeNames.get(keyType) ?? (keyType === undefined ? 'unknown' : `0x${keyType.toString(16)}`),
    ...sizes.get(keyType)?.(read),
    ...(Object.fromEntries(flags) as Partial<Record<(typeof flagNames)[number], boolean>>),
    ...(mechanism === undefined ? {} : { keyGenMechanism: mechanismName(mechanism) }),
    uses: allowedUses(sessions, object, kind),
  };
}

const flagNames = ['token', 'private', 'local', 'sensitive', 'alwaysSensitive', 'extractable', 'neverExtractable', 'modifiable'] as const;

const keyTypeNames = new Map<number | undefined, string>([
  [ck.CKK_RSA, 'CKK_RSA'],
  [ck.CKK_EC, 'CKK_EC'],
  [ck.CKK_GENERIC_SECRET, 'CKK_GENERIC_SECRET'],
  [ck.CKK_AES, 'CKK_AES'],
  [ck.CKK_EC_EDWARDS, 'CKK_EC_EDWARDS'],
  [ck.CKK_EC_MONTGOMERY, 'CKK_EC_MONTGOMERY'],
  [ck.CKK_ML_DSA, 'CKK_ML_DSA'],
  [ck.CKK_ML_KEM, 'CKK_ML_KEM'],
]);

type Reader = (name: AttributeName) => Buffer | undefined;
type Size = Pick<ObjectAttributes, 'bits' | 'parameters'>;

/** Readers of the size of a key, by its type. */
const sizes = new Map<number | undefined, (read: Reader) => Size>([
  [ck.CKK_AES, byLength],
  [ck.CKK_GENERIC_SECRET, byLength],
  [ck.CKK_RSA, byModulus],
  [ck.CKK_EC, byCurve],
  [ck.CKK_EC_EDWARDS, byCurve],
  [ck.CKK_EC_MONTGOMERY, byCurve],
  [ck.CKK_ML_DSA, byParameterSet],
  [ck.CKK_ML_KEM, byParameterSet],
]);

/** Reads the length of a key. SoftHSM2 answers 0 for keys that it has unwrapped. */
function byLength(read: Reader): Size {
  const bytes = numberOf(read('valueLength')) ?? 0;
  return bytes === 0 ? {} : { bits: bytes * 8 };
}

function byModulus(read: Reader): Size {
  const modulus = read('modulus')
    ?.toString('hex')
    .replace(/^(00)+/, '');
  return modulus === undefined ? {} : { bits: modulus.length * 4 };
}

/**
 * Reads the curve. CKA_EC_PARAMS is an OID, or the name of the curve as PrintableString (PKCS#11 3.2, section 6.3.3): SoftHSM2 has
 * `edwards25519`.
 */
function byCurve(read: Reader): Size {
  const curve = read('ecParams');
  if (curve === undefined) return {};
  const name = curve.toString('latin1', 2);
  if (curve[0] === printableString) return { parameters: printedNames[name] ?? name };
  const oid = curve.toString('hex');
  return { parameters: Object.values(keyRows).find((row) => row.curve === oid)?.nodeName ?? oid };
}

const printableString = 0x13;
const printedNames: Readonly<Record<string, string>> = { edwards25519: 'ed25519', curve25519: 'x25519' };

function byParameterSet(read: Reader): Size {
  const [type, set] = [numberOf(read('keyType')), numberOf(read('parameterSet'))];
  const row = Object.values(keyRows).find(
    ({ keyType, parameterSet }) => keyType === type && parameterSet !== undefined && parameterSet === set,
  );
  return row?.nodeName === undefined ? {} : { parameters: row.nodeName };
}

/** Reads a CK_ULONG, little endian in 4 or 8 octets. Undefined for CK_UNAVAILABLE_INFORMATION and for an absent attribute. */
function numberOf(value: Buffer | undefined): number | undefined {
  if (value === undefined || value.every((octet) => octet === 0xff)) return undefined;
  return value.readUIntLE(0, Math.min(value.length, 6));
}
