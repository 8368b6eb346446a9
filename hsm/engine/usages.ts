// Allowed uses of objects in the token. Every use of the object's class is set explicitly, because modules have defaults of their own.
import type { KeyType, OwnObject } from '../api.ts';
import * as ck from '../pkcs11/constants.ts';
import { isSymmetric, type KeyFamily, keyRows } from '../pkcs11/mechanisms.ts';
import type { ObjectHandle } from '../pkcs11/module.ts';
import { findAttribute, flag } from './attributes.ts';
import { CKR_OK, TokenError } from '../pkcs11/return-values.ts';
import type { Sessions } from './sessions.ts';
import type { AttributeName, Attributes } from '../pkcs11/template.ts';

/** The uses that PKCS#11 defines for each class of objects (version 3.2, sections 4.8 to 4.10). */
const usesOf = {
  secret: ['encrypt', 'decrypt', 'sign', 'verify', 'wrap', 'unwrap', 'derive'],
  private: ['decrypt', 'sign', 'signRecover', 'unwrap', 'derive', 'decapsulate'],
  public: ['encrypt', 'verify', 'verifyRecover', 'wrap', 'derive', 'encapsulate'],
} as const satisfies Record<string, readonly AttributeName[]>;

export type ObjectKind = keyof typeof usesOf;
export type Use = (typeof usesOf)[ObjectKind][number];

/** Uses since PKCS#11 3.2, which earlier modules refuse to be told: they are named for keys that can have them. */
const newerUses: readonly Use[] = ['encapsulate', 'decapsulate'];

/** All uses of that kind of object: true for those in `wanted`, false for all others. `family`: of the key, if it is not one of the appliance itself. */
export function onlyFor(kind: ObjectKind, wanted: readonly Use[], family?: KeyFamily): Attributes {
  const named = usesOf[kind].filter((use) => family === 'ml-kem' || !newerUses.includes(use));
  return Object.fromEntries(named.map((use) => [use, wanted.includes(use)]));
}

/** The uses of keys of a type. */
export function usesOfType(type: KeyType): readonly Use[] {
  const { family, use } = keyRows[type];
  if (family === 'aes') return ['encrypt', 'decrypt'];
  if (family === 'ml-kem') return ['decapsulate'];
  return use === ck.CKM_ECDH1_DERIVE ? ['derive'] : ['sign'];
}

/** Kind of the keys of a type: secret or private. */
export function kindOfType(type: KeyType): 'secret' | 'private' {
  const { family } = keyRows[type];
  return isSymmetric(family) ? 'secret' : 'private';
}

/** CKR_ATTRIBUTE_READ_ONLY, ATTRIBUTE_TYPE_INVALID, ATTRIBUTE_VALUE_INVALID, TEMPLATE_INCONSISTENT. */
const refusals: ReadonlySet<number> = new Set([0x10, 0x12, 0x13, 0xd1]);

/**
 * Makes a persistent object whose uses cannot be changed later, if the token supports CKA_MODIFIABLE. Not for the token's own keys: SoftHSM
 * does not copy objects that cannot be modified, and own keys are used as session copies.
 */
export function makeFixed<T>(attributes: Attributes, make: (attributes: Attributes) => T): T {
  try {
    return make({ ...attributes, modifiable: false });
  } catch (error) {
    if (!(error instanceof TokenError) || !refusals.has(error.rv)) throw error;
    return make(attributes);
  }
}

/** Labels of this service's persistent objects, with their uses. Other objects in a token are ignored. */
const jobs: readonly { readonly label: RegExp; uses(kind: ObjectKind, keyType: number): readonly Use[] }[] = [
  { label: /^keystored-wrapping-key$/, uses: () => ['wrap', 'unwrap'] },
  { label: /^keystored-binding-key$/, uses: () => ['sign'] },
  { label: /^keystored-transport-key$/, uses: () => ['unwrap'] },
  { label: /^keystored \S+ \S+ v\d+ decrypt$/, uses: () => ['decrypt'] },
  { label: /^keystored \S+ \S+ v\d+ agree$/, uses: () => ['derive'] },
  { label: /^keystored \S+ \S+ v\d+ decapsulate$/, uses: () => ['decapsulate'] },
  { label: /^keystored \S+ \S+ v\d+ cmac$/, uses: () => ['sign'] },
  { label: /^keystored \S+ \S+ v\d+ /, uses: (_kind, keyType) => (keyType === ck.CKK_AES ? ['encrypt', 'decrypt'] : ['sign']) },
];

/** The uses that the token allows an object. */
export function allowedUses(sessions: Pick<Sessions, 'module' | 'owner'>, object: ObjectHandle, kind: ObjectKind): readonly Use[] {
  return usesOf[kind].filter((name) => isSet(sessions, object, name));
}

/** One sentence for each persistent object of this service with more uses than needed: made by an earlier version, or changed since. */
export function findWiderObjects(sessions: Sessions): string[] {
  return describeObjects(sessions, Infinity).flatMap(({ label, needless }) =>
    needless.length === 0 ? [] : [`${label} may also ${needless.join(', ')}`],
  );
}

/** The first `most` persistent objects of this service, with their attributes as the token returns them now. */
export function describeObjects({ module, owner, work }: Sessions, most: number): OwnObject[] {
  const described: OwnObject[] = [];
  for (const kind of ['secret', 'private'] as const) {
    const keyClass = kind === 'secret' ? ck.CKO_SECRET_KEY : ck.CKO_PRIVATE_KEY;
    for (const object of module.allObjects(work, { class: keyClass, token: true })) {
      if (described.length >= most) return described;
      const label = findAttribute({ module, owner }, object, 'label')?.toString() ?? '';
      const job = jobs.find((one) => one.label.test(label));
      if (job === undefined) continue;
      const has = (name: AttributeName): boolean => isSet({ module, owner }, object, name);
      const wanted = job.uses(kind, numberIn(module.attribute(owner, object, 'keyType')));
      const uses = allowedUses({ module, owner }, object, kind);
      described.push({
        ...{ label, kind, uses, needless: uses.filter((use) => !wanted.includes(use)) },
        ...{ isSensitive: has('sensitive'), isExtractable: has('extractable'), isModifiable: has('modifiable') },
      });
    }
  }
  return described;
}

/** The value of a CK_ULONG attribute. */
function numberIn(value: Buffer): number {
  if (value.length < 4) throw new TokenError(CKR_OK, 'C_GetAttributeValue');
  return value.readUInt32LE();
}

function isSet(sessions: Pick<Sessions, 'module' | 'owner'>, object: ObjectHandle, name: AttributeName): boolean {
  const value = findAttribute(sessions, object, name);
  return value !== undefined && flag(value);
}
