// Makes the keys of a version: the main key and its companion secrets, generated in the token or imported into it.
import { defined } from '../../../core/base/defined.ts';
import type { Custody, GeneratedKey, Hsm, KeyBinding, KeyReference, KeyType, MakingOptions, StoredKey } from '../../../hsm/api.ts';
import type { WriteTransaction } from '../../../core/store/store.ts';
import { besideOf, cipherOf, type CipherUse, isSymmetric, useOf } from '../ciphers.ts';
import { mainPurpose } from '../records/keyring.ts';
import { notePrivateKey, notePrivateKeysOfBefore, publicKeysOf } from '../records/private-key-uses.ts';
import { type Purpose, type VersionRecord, bindingOf } from '../records/records.ts';
import type { Transit } from '../context.ts';

/** A version that is being made: of which key, and of which kind. */
export type VersionSubject = {
  readonly tenantId: string;
  readonly keyId: string;
  readonly name: string;
  readonly number: number;
  readonly cipher: string;
  readonly use?: CipherUse | undefined;
  readonly derived: boolean;
  readonly convergentEncryption: boolean;
  readonly custody: Custody;
};

/** Material given instead of generated. Every buffer but that of the public key is zeroed. */
export type GivenMaterial = {
  readonly main?: Uint8Array;
  readonly hmac?: Uint8Array;
  readonly convergent?: Uint8Array;
  readonly agreement?: Uint8Array;
  /** SubjectPublicKeyInfo of `main` as it is named, where the token names it in another way (RSASSA-PSS) */
  readonly publicKey?: Uint8Array;
  /** past of a key that was made elsewhere, for the attachments, by the name of each */
  readonly origins?: ReadonlyMap<string, unknown>;
};

/** The keys of a version as its record holds them. */
export type VersionMaterial = Pick<
  VersionRecord,
  'stored' | 'hmac' | 'convergent' | 'agreement' | 'publicKey' | 'agreementPublicKey' | 'origin'
>;

/**
 * Makes main key and companions. Companions are made with the version, not at first use, so that a copy restored
 * elsewhere has the same ones. They are always wrapped: `custody: token` concerns private keys and the main key only. The commit claims the
 * keys; when it fails, the caller discards them. Rejects with HsmError; then nothing is left in the token.
 */
export async function makeMaterial(transit: Transit, subject: VersionSubject, given: GivenMaterial = {}): Promise<VersionMaterial> {
  const { type, binding } = mainKeyOf(subject);
  try {
    if (given.main !== undefined && !isSymmetric(cipherOf(subject))) await notePrivateKeysOfBefore(transit, subject.tenantId);
    const second = await makeSecond(transit, subject, given);
    try {
      const made = await transit.ledger.make(type, binding, subject.custody, (reserved) => makeKeys(transit.hsm, subject, reserved, given));
      return { ...made, ...second };
    } catch (error) {
      await discard(transit, subject, second);
      throw error;
    }
  } finally {
    for (const octets of [given.main, given.hmac, given.convergent, given.agreement]) octets?.fill(0);
  }
}

/** Makes the second private key of a version that has two, under a reservation of its own. */
async function makeSecond(
  { ledger, hsm }: Transit,
  subject: VersionSubject,
  given: GivenMaterial,
): Promise<Pick<VersionMaterial, 'agreement' | 'agreementPublicKey'>> {
  const type = besideOf(cipherOf(subject));
  if (type === undefined) return {};
  const wanted: WantedKey = { type, binding: bindingFor(subject, 'agree') };
  const { stored: agreement, publicKey } = await ledger.make(type, wanted.binding, subject.custody, (reserved) =>
    makeKey(hsm, wanted, optionsOf(reserved), given.agreement),
  );
  return { agreement, ...defined({ agreementPublicKey: publicKey }) };
}

function optionsOf(reserved: StoredKey | undefined): MakingOptions {
  return reserved === undefined ? { custody: 'wrapped' } : { reserved };
}

async function makeKeys(
  hsm: Hsm,
  subject: VersionSubject,
  reserved: StoredKey | undefined,
  given: GivenMaterial,
): Promise<VersionMaterial> {
  const wanted = [
    makeKey(hsm, mainKeyOf(subject), optionsOf(reserved), given.main),
    makeKey(hsm, { type: 'secret-256', binding: bindingFor(subject, 'hmac') }, { custody: 'wrapped' }, given.hmac),
    subject.convergentEncryption
      ? makeKey(hsm, { type: 'secret-256', binding: bindingFor(subject, 'convergent') }, { custody: 'wrapped' }, given.convergent)
      : Promise.resolve(undefined),
  ] as const;
  // All have ended before a reservation is given up.
  const [main, hmac, convergent] = await Promise.allSettled(wanted);
  if (main.status === 'rejected' || hmac.status === 'rejected' || convergent.status === 'rejected')
    throw [main, hmac, convergent].find((one) => one.status === 'rejected')?.reason;
  return {
    stored: main.value.stored,
    hmac: hmac.value.stored,
    origin: given.main === undefined ? 'generated' : 'imported',
    ...defined({ convergent: convergent.value?.stored, publicKey: given.publicKey ?? main.value.publicKey }),
  };
}

/** Destroys what makeMaterial made for a version that is not committed. Never rejects. */
export async function discard(
  transit: Transit,
  subject: VersionSubject,
  material: Pick<VersionMaterial, 'stored' | 'agreement'>,
): Promise<void> {
  await transit.ledger.destroy(persistentKeys(subject, material));
}

/**
 * Claims the keys of a version, inside the transaction that commits it. `had`: public keys of private keys that have had this use until this transaction,
 * which puts them back. Throws conflict, private-key-in-use.
 */
export function claim(
  transit: Transit,
  transaction: WriteTransaction,
  subject: VersionSubject,
  material: VersionMaterial,
  had: readonly Uint8Array[] = [],
): void {
  const { stored, hmac, convergent, agreement, origin } = material;
  for (const publicKey of publicKeysOf(material)) {
    const allowsOthers = transit.allowsDualUse(subject.tenantId) || had.some((one) => Buffer.compare(one, publicKey) === 0);
    notePrivateKey(transit, transaction, { ...subject, use: useOf(subject) }, publicKey, { isNew: origin === 'generated', allowsOthers });
  }
  transit.rotation.admit(
    transaction,
    [stored, hmac, convergent, agreement].filter((one) => one !== undefined),
  );
  transit.ledger.claim(transaction, persistentKeys(subject, material));
}

function persistentKeys(subject: VersionSubject, { stored, agreement }: Pick<VersionMaterial, 'stored' | 'agreement'>): KeyReference[] {
  const main = stored && { stored, binding: mainKeyOf(subject).binding };
  const second = agreement && { stored: agreement, binding: bindingFor(subject, 'agree') };
  return [main, second].filter((one) => one?.stored.custody === 'token') as KeyReference[];
}

type WantedKey = { readonly type: KeyType; readonly binding: KeyBinding };

function mainKeyOf(subject: VersionSubject): WantedKey {
  return { type: subject.derived ? 'secret-256' : cipherOf(subject).keyType, binding: bindingFor(subject, mainPurpose(subject)) };
}

/** The material is copied, because an import zeroes what it is given, and may have to be repeated. */
function makeKey(hsm: Hsm, { type, binding }: WantedKey, options: MakingOptions, given: Uint8Array | undefined): Promise<GeneratedKey> {
  return given === undefined ? hsm.generate(type, binding, options) : hsm.importKey(type, Uint8Array.from(given), binding, options);
}

function bindingFor({ tenantId, keyId, number }: VersionSubject, purpose: Purpose): KeyBinding {
  return bindingOf(tenantId, keyId, number, purpose);
}
