// Making a CA's key pair and certificate: a root, an intermediate under another of our CAs, and a root's roll-over.
import { defined } from '../../../core/base/defined.ts';
import { fail } from '../../../core/base/errors.ts';
import { isSameStored } from '../../../core/plugin/key-holders.ts';
import type { KeyHolder } from '../../../core/plugin/services/wrapping-keys.ts';
import type { StoreKey, Table, WriteTransaction } from '../../../core/store/store.ts';
import { type Custody, HsmError, type KeyReference, type KeyType, type StoredKey } from '../../../hsm/api.ts';
import { type Certificate, encodeTbsCertificate, readCertificate } from '../der/certificate.ts';
import { authorityKeyIdentifier, basicConstraints, keyIdentifierOf, keyUsage, subjectKeyIdentifier } from '../der/extensions.ts';
import { type CaContext, locationsOf, publicUrls } from '../context.ts';
import { issuerKeyIdentifier } from '../der/read-extensions.ts';
import type { CaGeneration, CaKey, CaPadding, CaRecord } from '../records/records.ts';
import { registrationKeys } from './registration-key.ts';
import { caKeyBinding, type CaKeyReference, signStructure } from './signer.ts';

/** The plan of a new key generation of a CA. */
export type GenerationPlan = {
  readonly tenantId: string;
  readonly caId: string;
  readonly generation: number;
  readonly keyType: KeyType;
  readonly padding?: CaPadding;
  /** DER Name */
  readonly subject: Uint8Array;
  /** true if an earlier certificate of the CA has this subject */
  readonly namesOnRecord: boolean;
  readonly ttlSeconds: number;
  /** number of CAs that may follow below; undefined: no limit */
  readonly pathLength?: number;
  /** name constraints, encoded, or none */
  readonly constraints?: readonly Uint8Array[];
};

/** The CA of this appliance that certifies an intermediate. */
export type IssuingCa = Pick<CaRecord, 'name' | 'deltaCrl'> & {
  readonly tenantId: string;
  readonly caId: string;
  readonly newest: CaGeneration;
};

/** Certificates begin this long before now, for devices whose clocks are slow. */
export const backdateSeconds = 60;

/**
 * Generates the key in the token and certifies it: self-signed, or by `issuer`. The key is on record as unclaimed until the
 * transaction that keeps the generation claims it, so that a crash or a refused commit leaves no key behind permanently.
 */
export async function makeGeneration(context: CaContext, plan: GenerationPlan, issuer?: IssuingCa): Promise<CaGeneration> {
  const key = await makeKey(context, plan);
  if (issuer === undefined) return { generation: plan.generation, key, certificate: await selfSign(context, plan, key), chain: [] };
  const certificate = await certifyUnder(context, issuer, plan, key.publicKey);
  return { generation: plan.generation, key, certificate, chain: [issuer.newest.certificate, ...issuer.newest.chain] };
}

/**
 * A root's next generation with its roll-over certificates (RFC 4210 4.4): the new key under the old one, for relying parties that trust
 * the old root, and the old key under the new one, for those that trust only the new root. Both end with the old root. A root whose old key
 * the HSM has lost is renewed without them: relying parties have to obtain the new root.
 */
export async function rollRoot(context: CaContext, plan: GenerationPlan, old: CaGeneration): Promise<CaGeneration> {
  const made = await makeGeneration(context, plan);
  const [oldRoot, newRoot] = [readCertificate(old.certificate), readCertificate(made.certificate)];
  const cross = (signer: CaGeneration, issuer: Certificate, subject: Certificate): Promise<Uint8Array> =>
    certifyCa(context, referenceOf(plan, signer), {
      issuer,
      subject: subject.subject,
      namesOnRecord: true,
      publicKey: subject.publicKey,
      notBefore: subject.notBefore,
      notAfter: oldRoot.notAfter,
      pathLength: plan.pathLength,
      ...defined({ more: plan.constraints }),
    });
  // Signed by an expired root it would never be valid.
  if (Temporal.Instant.compare(newRoot.notBefore, oldRoot.notAfter) > 0) return made;
  const newWithOld = await cross(old, oldRoot, newRoot).catch((error: unknown) => {
    if (error instanceof HsmError && error.kind === 'key-missing') return undefined;
    throw error;
  });
  if (newWithOld === undefined) return made;
  return { ...made, rollover: { newWithOld, oldWithNew: await cross(made, newRoot, oldRoot) } };
}

/** A CA certificate for this key under another CA of the appliance; ends no later than the issuer. */
async function certifyUnder(context: CaContext, above: IssuingCa, plan: GenerationPlan, publicKey: Uint8Array): Promise<Uint8Array> {
  const issuer = readCertificate(above.newest.certificate);
  const urls = publicUrls(context, above.tenantId, above, above.newest.generation);
  return certifyCa(context, referenceOf(above, above.newest), {
    issuer,
    subject: plan.subject,
    namesOnRecord: plan.namesOnRecord,
    publicKey,
    ...lifetime(context, plan.ttlSeconds, issuer),
    pathLength: plan.pathLength,
    more: [...(plan.constraints ?? []), ...locationsOf(urls)],
  });
}

/** Now minus the backdating to now plus the lifetime, both within the validity of the issuer. Throws `clock-implausible`. */
export function lifetime(
  context: CaContext,
  ttlSeconds: number,
  issuer?: Certificate,
): { readonly notBefore: Temporal.Instant; readonly notAfter: Temporal.Instant } {
  if (context.clock.doubt !== undefined) throw fail('clock-implausible');
  const nowMs = context.clock.now().epochMilliseconds;
  const [early, late] = [-backdateSeconds, ttlSeconds].map((seconds) =>
    Temporal.Instant.fromEpochMilliseconds(nowMs + seconds * 1_000),
  ) as [Temporal.Instant, Temporal.Instant];
  if (issuer === undefined) return { notBefore: early, notAfter: late };
  return {
    notBefore: Temporal.Instant.compare(early, issuer.notBefore) < 0 ? issuer.notBefore : early,
    notAfter: Temporal.Instant.compare(late, issuer.notAfter) > 0 ? issuer.notAfter : late,
  };
}

/** The key of a generation as the key ledger knows it. */
export function ledgerReference(ca: { readonly tenantId: string; readonly caId: string }, of: CaGeneration): KeyReference {
  return { stored: of.key.stored, binding: caKeyBinding(ca.tenantId, ca.caId, of.generation) };
}

/** The keys of all generations of all CAs in a custody. */
export function* keysOfCas({ tables }: CaContext, custody: Custody): Iterable<KeyReference> {
  for (const [[tenantId], record] of tables.cas.entries([])) yield* keysOf(String(tenantId), record, custody);
}

function keysOf(tenantId: string, record: CaRecord, custody: Custody): KeyReference[] {
  const { id, generations } = record;
  const references = generations.map((generation) => ledgerReference({ tenantId, caId: id }, generation));
  return [...references, ...registrationKeys(tenantId, record)].filter(({ stored }) => stored.custody === custody);
}

/** The CAs with wrapped keys, for the rotation of the wrapping key: those that were made where several tokens have to open them. */
export function* caKeyHolders({ tables }: CaContext): Iterable<KeyHolder> {
  for (const [storeKey, seen] of tables.cas.allEntries([])) {
    const keys = keysOf(String(storeKey[0]), seen, 'wrapped');
    if (keys.length > 0)
      yield { keys, replace: (transaction, rewrapped) => replaceKeys(transaction, tables.cas, storeKey, keys, rewrapped) };
  }
}

function replaceKeys(
  transaction: WriteTransaction,
  cas: Table<CaRecord>,
  storeKey: StoreKey,
  seen: readonly KeyReference[],
  rewrapped: ReadonlyMap<StoredKey, StoredKey>,
): number {
  const current = transaction.get(cas, storeKey);
  if (current === undefined) return 0;
  let count = 0;
  const withNewKey = <One extends { readonly key: CaKey }>(one: One): One => {
    const was = seen.find(({ stored }) => isSameStored(stored, one.key.stored));
    const stored = was && rewrapped.get(was.stored);
    if (stored === undefined) return one;
    count++;
    return { ...one, key: { ...one.key, stored } };
  };
  const generations = current.generations.map(withNewKey);
  const registrations = current.registrations?.map(withNewKey);
  if (count > 0) transaction.put(cas, storeKey, { ...current, generations, ...defined({ registrations }) });
  return count;
}

/** The key of a generation with its binding. */
export function referenceOf(ca: { readonly tenantId: string; readonly caId: string }, of: CaGeneration): CaKeyReference {
  return { key: of.key, binding: caKeyBinding(ca.tenantId, ca.caId, of.generation) };
}

async function makeKey(context: CaContext, plan: GenerationPlan): Promise<CaKey> {
  const binding = caKeyBinding(plan.tenantId, plan.caId, plan.generation);
  const custody = context.hsm.ownCustody(plan.keyType);
  const { stored, publicKey } = await context.ledger.make(plan.keyType, binding, custody, (reserved) =>
    context.hsm.generate(plan.keyType, binding, { custody, extractable: false, ...defined({ reserved }) }),
  );
  if (publicKey === undefined) throw new Error('the token made an asymmetric key without a public key');
  return { type: plan.keyType, stored, publicKey, ...defined({ padding: plan.padding }) };
}

async function selfSign(context: CaContext, plan: GenerationPlan, key: CaKey): Promise<Uint8Array> {
  return certifyCa(
    context,
    { key, binding: caKeyBinding(plan.tenantId, plan.caId, plan.generation) },
    {
      issuer: undefined,
      subject: plan.subject,
      namesOnRecord: plan.namesOnRecord,
      publicKey: key.publicKey,
      ...lifetime(context, plan.ttlSeconds),
      pathLength: plan.pathLength,
      ...defined({ more: plan.constraints }),
    },
  );
}

type CaCertificateContent = {
  /** undefined: self-signed */
  readonly issuer: Certificate | undefined;
  readonly subject: Uint8Array;
  readonly namesOnRecord: boolean;
  readonly publicKey: Uint8Array;
  readonly notBefore: Temporal.Instant;
  readonly notAfter: Temporal.Instant;
  readonly pathLength: number | undefined;
  readonly more?: readonly Uint8Array[];
};

/** A CA certificate, self-signed without `issuer`. */
export async function certifyCa(context: CaContext, signer: CaKeyReference, content: CaCertificateContent): Promise<Uint8Array> {
  const { issuer, subject, namesOnRecord, publicKey, notBefore, notAfter, pathLength, more = [] } = content;
  const serial = await context.serials.next();
  const ownIdentifier = keyIdentifierOf(publicKey);
  const extensions = [
    basicConstraints(defined({ pathLength })),
    keyUsage('digitalSignature', 'keyCertSign', 'crlSign'),
    subjectKeyIdentifier(ownIdentifier),
    authorityKeyIdentifier(issuer === undefined ? ownIdentifier : issuerKeyIdentifier(issuer)),
    ...more,
  ];
  return signStructure(context.hsm, signer, { kind: 'certificate', issuer: issuer?.der, namesOnRecord }, (algorithm) =>
    encodeTbsCertificate({ serial, issuer: issuer?.subject ?? subject, subject, notBefore, notAfter, publicKey, extensions }, algorithm),
  );
}
