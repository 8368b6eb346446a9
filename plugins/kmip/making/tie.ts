// Objects that are tied to a version of a transit key: made by an administrator, without material of their own.
import { defined } from '../../../core/base/defined.ts';
import { fail as coreFail } from '../../../core/base/errors.ts';
import { formatTimestamp } from '../../../core/base/time.ts';
import type { KeyVersionNature } from '../../../core/plugin/services/transit-keys.ts';
import type { Kmip } from '../context.ts';
import { fail } from '../errors.ts';
import type { ObjectRecord, Tie } from '../records/object-record.ts';
import type { Attribute, AttributeValue, ObjectType } from '../records/object-values.ts';
import { attributesOfNew, withAdded, withSet } from '../objects/attributes.ts';
import { drawId } from '../objects/ids.ts';
import { linkTo, links } from '../objects/links.ts';
import { digestOf, formats, named, type Place, putNew, secondsOf } from '../objects/make.ts';
import { usage } from '../objects/read.ts';

/** A cipher of transit keys in KMIP: Cryptographic Algorithm and Length, and Recommended Curve. */
type Row = { readonly algorithm: number; readonly length: number; readonly curve?: number };

const rows: ReadonlyMap<string, Row> = new Map(
  Object.entries({
    'aes128-gcm96': { algorithm: 3, length: 128 },
    'aes192-gcm96': { algorithm: 3, length: 192 },
    'aes256-gcm96': { algorithm: 3, length: 256 },
    'aes128-cmac': { algorithm: 3, length: 128 },
    'aes256-cmac': { algorithm: 3, length: 256 },
    'rsa-2048': { algorithm: 4, length: 2_048 },
    'rsa-3072': { algorithm: 4, length: 3_072 },
    'rsa-4096': { algorithm: 4, length: 4_096 },
    'ecdsa-p256': { algorithm: 6, length: 256, curve: 7 },
    'ecdsa-p384': { algorithm: 6, length: 384, curve: 10 },
    'ecdsa-p521': { algorithm: 6, length: 521, curve: 13 },
    ed25519: { algorithm: 0x37, length: 256 },
  } satisfies Record<string, Row>),
);

/** Types of the objects of a version, each with the bits of its Cryptographic Usage Mask. */
const masks: Readonly<Record<Tie['use'], Readonly<Partial<Record<ObjectType, number>>>>> = {
  encrypt: { 'symmetric-key': usage.encrypt | usage.decrypt, 'private-key': usage.decrypt, 'public-key': usage.encrypt },
  mac: { 'symmetric-key': usage.macGenerate | usage.macVerify },
  sign: { 'private-key': usage.sign, 'public-key': usage.verify },
};

export type Tying = {
  readonly transitKey: string;
  readonly version?: number | undefined;
  readonly names: readonly string[];
  readonly objectGroups: readonly string[];
};

type Made = { readonly id: string; readonly objectType: ObjectType };

/**
 * Makes the objects of a version of a transit key, Active from now on: one of a symmetric key, of a pair one of each half. Throws `invalid-value` and
 * `kmip-tie-refused`.
 */
export async function tie(kmip: Kmip, place: Place, wanted: Tying, now: Temporal.Instant): Promise<readonly Made[]> {
  const { tenantId } = place;
  const nature = kmip.transitKeys.findVersion(tenantId, wanted.transitKey, wanted.version);
  if (nature === undefined)
    throw coreFail('invalid-value', { detail: '"transit-key" and "version" must name a version of a transit key of this tenant.' });
  const { row, use } = requireTiable(nature);
  const types = nature.publicKey === undefined ? (['symmetric-key'] as const) : (['private-key', 'public-key'] as const);
  const made: Made[] = [];
  for (const objectType of types) made.push({ id: await drawId(kmip), objectType });
  // Of a pair both are there, or none.
  await kmip.store.write((transaction) => {
    for (const { id, objectType } of made) {
      const partner = made.find((one) => one.id !== id);
      putNew(kmip, transaction, place, id, recordOf({ ...wanted, nature, row, use, objectType, partner }, now));
    }
  });
  return made;
}

function requireTiable({ cipher, use, isDerived, isExportable, hasSecret }: KeyVersionNature): Pick<Recorded, 'row' | 'use'> {
  const row = rows.get(cipher);
  if (row === undefined) throw fail('kmip-tie-refused', { detail: `KMIP has no name for keys of cipher ${cipher}.` });
  if (use === 'agree' || use === 'decapsulate')
    throw fail('kmip-tie-refused', { detail: 'The key gives secrets, for which clients of KMIP have no operation.' });
  if (isDerived) throw fail('kmip-tie-refused', { detail: 'A derived key has a key for each context, and KMIP has no contexts.' });
  if (!isExportable) throw fail('kmip-tie-refused', { detail: 'Set exportable of the transit key to true first; it cannot be set back.' });
  if (!hasSecret) throw fail('kmip-tie-refused', { detail: 'The version has a public key alone: register that as an object.' });
  return { row, use };
}

type Recorded = Tying & {
  readonly nature: KeyVersionNature;
  readonly row: Row;
  readonly use: Tie['use'];
  readonly objectType: ObjectType;
  readonly partner: Made | undefined;
};

function recordOf(
  { transitKey, names, objectGroups, nature, row, use, objectType, partner }: Recorded,
  now: Temporal.Instant,
): ObjectRecord {
  const { keyId, version, cipher, publicKey } = nature;
  const isPublic = objectType === 'public-key';
  const keyFormat = publicKey === undefined ? formats.raw : isPublic ? formats.x509 : formats.pkcs8;
  const given: Attribute[] = [
    ...names.map(named),
    ...objectGroups.map((value): Attribute => ({ name: 'Object Group', value: { type: 'text', value } })),
    { name: 'Cryptographic Algorithm', value: { type: 'enumeration', value: row.algorithm } },
    { name: 'Cryptographic Length', value: { type: 'integer', value: row.length } },
    { name: 'Cryptographic Usage Mask', value: { type: 'integer', value: masks[use][objectType] ?? 0 } },
  ];
  if (row.curve !== undefined) given.push(domainOf(row));
  const date: AttributeValue = { type: 'date', value: secondsOf(now) };
  const set: Attribute[] = ['Initial Date', 'Last Change Date', 'Activation Date'].map((name) => ({ name, value: date }));
  if (isPublic && publicKey !== undefined) set.push({ name: 'Digest', value: digestOf(publicKey, formats.x509) });
  let attributes = withSet(attributesOfNew(given), set);
  if (partner !== undefined) attributes = withAdded(attributes, linkTo(isPublic ? links.privateKey : links.publicKey, partner.id));
  return {
    ...{ objectType, created: formatTimestamp(now), attributes, keyFormat },
    tie: { transitKey, keyId, version, cipher, use },
  };
}

function domainOf({ length, curve = 0 }: Row): Attribute {
  return {
    name: 'Cryptographic Domain Parameters',
    value: {
      type: 'structure',
      fields: [
        ['Qlength', { type: 'integer', value: length }],
        ['RecommendedCurve', { type: 'enumeration', value: curve }],
      ],
    },
  };
}

/**
 * The version that an object is tied to, as it is now. Throws `kmip-not-tied` for an object that is not, and `not-found` where the transit key or the version
 * has gone, or the name is that of a later key.
 */
export function requireTie(
  { transitKeys }: Kmip,
  tenantId: string,
  { tie: stands }: ObjectRecord,
): Tie & Pick<KeyVersionNature, 'publicKey'> {
  if (stands === undefined) throw fail('kmip-not-tied');
  const nature = transitKeys.findVersion(tenantId, stands.transitKey, stands.version);
  if (nature?.keyId !== stands.keyId)
    throw coreFail('not-found', {
      detail: 'The transit key of the object was deleted or replaced by another, or its version was trimmed.',
    });
  return { ...stands, ...defined({ publicKey: nature.publicKey }) };
}
