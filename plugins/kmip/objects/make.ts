// New objects: the material is sealed by the token before the transaction that makes record, material and index, so that no object is without it.
import { hash } from 'node:crypto';
import { defined } from '../../../core/base/defined.ts';
import { fail as coreFail } from '../../../core/base/errors.ts';
import { revealSecret, Secret } from '../../../core/base/secret.ts';
import { formatTimestamp } from '../../../core/base/time.ts';
import type { WriteTransaction } from '../../../core/store/store.ts';
import type { Kmip } from '../context.ts';
import { fail } from '../errors.ts';
import type { KeyWrapping, ObjectRecord, StoredAttribute } from '../records/object-record.ts';
import type { Attribute, AttributeValue, ObjectType } from '../records/object-values.ts';
import type { SpaceRecord } from '../records/space-record.ts';
import { sealMaterial } from '../spaces/sealing.ts';
import { requireRoom, takeRoom } from '../spaces/space-count.ts';
import { octetsOf, setOddParity, tripleDesNumber } from './algorithms.ts';
import { invalid } from './attribute-json.ts';
import { putIndex } from './attribute-index.ts';
import { attributesOfNew, numberOf, withSet } from './attributes.ts';
import { drawId } from './ids.ts';

/** A space of a tenant, and the client that works in it. */
export type Place = { readonly tenantId: string; readonly spaceName: string; readonly space: SpaceRecord; readonly client?: string };

/** Octets of material: a record must fit into a transaction of a shared store. */
export const mostMaterial = 131_072;

export type NewMaterial = {
  readonly octets: Secret<Uint8Array>;
  readonly keyFormat?: number;
  readonly subtype?: number;
  /** it came wrapped under a key of the client, and stays so */
  readonly wrapping?: KeyWrapping;
};

/** Makes a symmetric key of the random generator of the token. */
export async function createKey(kmip: Kmip, place: Place, given: readonly Attribute[], now: Temporal.Instant): Promise<string> {
  const attributes = attributesOfNew(given);
  const drawn = { octets: await drawKey(kmip, attributes), keyFormat: formats.raw };
  return register(kmip, place, 'symmetric-key', drawn, withSet(attributes, [ofToken]), now);
}

/** The generator of the token, of which KMIP has no name: RNG Algorithm Unspecified. */
export const ofToken: Attribute = {
  name: 'Random Number Generator',
  value: { type: 'structure', fields: [['RNGAlgorithm', { type: 'enumeration', value: 1 }]] },
};

/** Key Format Types of what is made and read here. */
export const formats = { raw: 1, pkcs1: 3, pkcs8: 4, x509: 5, ecPrivateKey: 6 } as const;

export async function drawKey({ hsm }: Kmip, attributes: readonly StoredAttribute[]): Promise<Secret<Uint8Array>> {
  const algorithm = numberOf(attributes, 'Cryptographic Algorithm');
  const bits = numberOf(attributes, 'Cryptographic Length');
  if (algorithm === undefined) throw invalid('Cryptographic Algorithm', 'is required');
  if (bits === undefined) throw invalid('Cryptographic Length', 'is required');
  const key = Uint8Array.from(await hsm.random(octetsOf(algorithm, bits)));
  if (algorithm === tripleDesNumber) setOddParity(key);
  return new Secret(key);
}

/** An object whose material is sealed: `put` makes it in a transaction. */
export type Prepared = { readonly id: string; put(transaction: WriteTransaction): void };

/** Seals the material of a new object. The octets are zeroed. */
export async function prepare(
  kmip: Kmip,
  place: Place,
  { id, objectType, material, attributes }: NewObject,
  now: Temporal.Instant,
): Promise<Prepared> {
  const { tenantId, space } = place;
  const octets = revealSecret(material.octets);
  try {
    const record = recordOf(place, objectType, material, attributes, now);
    const sealed = await sealMaterial(kmip, { tenantId, space, id, objectType }, material.octets);
    return {
      id,
      put(transaction) {
        putNew(kmip, transaction, place, id, record);
        transaction.put(kmip.tables.materials, [tenantId, space.id, id], sealed);
      },
    };
  } finally {
    octets.fill(0);
  }
}

export type NewObject = {
  readonly id: string;
  readonly objectType: ObjectType;
  readonly material: NewMaterial;
  readonly attributes: readonly StoredAttribute[];
};

/** Makes an object of material that a client has sent, or that was drawn. The octets are zeroed. Returns its id. */
export async function register(
  kmip: Kmip,
  place: Place,
  objectType: ObjectType,
  material: NewMaterial,
  attributes: readonly StoredAttribute[],
  now: Temporal.Instant,
  also?: (transaction: WriteTransaction, id: string) => void,
): Promise<string> {
  const { length } = revealSecret(material.octets);
  if (length === 0 || length > mostMaterial) throw invalid('Key Value', `must have material of 1 to ${mostMaterial} octets`);
  try {
    requireRoom(kmip, place.tenantId, place.space, 1);
    const prepared = await prepare(kmip, place, { id: await drawId(kmip), objectType, material, attributes }, now);
    await kmip.store.write((transaction) => {
      prepared.put(transaction);
      also?.(transaction, prepared.id);
    });
    return prepared.id;
  } finally {
    revealSecret(material.octets).fill(0);
  }
}

/** Puts a new record with its index. Throws `kmip-space-full`, and `not-found` where the space went meanwhile. */
export function putNew(kmip: Kmip, transaction: WriteTransaction, place: Place, id: string, record: ObjectRecord): void {
  const { tenantId, spaceName, space } = place;
  const present = transaction.get(kmip.tables.spaces, [tenantId, spaceName]);
  if (present?.id !== space.id) throw coreFail('not-found');
  takeRoom(kmip, transaction, tenantId, present);
  transaction.put(kmip.tables.objects, [tenantId, space.id, id], record);
  putIndex(kmip, transaction, { tenantId, space, id }, [], record.attributes);
}

function recordOf(
  { client }: Place,
  objectType: ObjectType,
  material: NewMaterial,
  attributes: readonly StoredAttribute[],
  now: Temporal.Instant,
): ObjectRecord {
  const { keyFormat, subtype, wrapping } = material;
  const date: AttributeValue = { type: 'date', value: secondsOf(now) };
  const set: Attribute[] = [
    { name: 'Initial Date', value: date },
    { name: 'Last Change Date', value: date },
  ];
  // The digest of a password lets others try what it may be; that of a wrapped key would be one of the wrapping.
  if (objectType !== 'secret-data' && wrapping === undefined)
    set.push({ name: 'Digest', value: digestOf(revealSecret(material.octets), keyFormat) });
  if (objectType === 'certificate') {
    set.push({ name: 'Certificate Type', value: { type: 'enumeration', value: subtype ?? 1 } });
    set.push({ name: 'Certificate Length', value: { type: 'integer', value: revealSecret(material.octets).length } });
  }
  return {
    ...{ objectType, created: formatTimestamp(now), attributes: withSet(attributes, set) },
    ...defined({ client, keyFormat, subtype, wrapping }),
  };
}

const sha256 = 6;

/** SHA-256 of material. */
export function digestOf(octets: Uint8Array, keyFormat: number | undefined): AttributeValue {
  return {
    type: 'structure',
    fields: [
      ['HashingAlgorithm', { type: 'enumeration', value: sha256 }],
      ['DigestValue', { type: 'octets', value: hash('sha256', octets, 'buffer') }],
      ...(keyFormat === undefined ? [] : [['KeyFormatType', { type: 'enumeration', value: keyFormat }] as const]),
    ],
  };
}

export function secondsOf(now: Temporal.Instant): number {
  return Math.floor(now.epochMilliseconds / 1_000);
}

/** Requires that an object is one of the keys that can be made again. */
export function requireSymmetric({ objectType }: ObjectRecord): void {
  if (objectType !== 'symmetric-key') throw fail('kmip-usage', { detail: 'Only a symmetric key can be made again.' });
}

/** Name of KMIP. */
export function named(text: string): Attribute {
  return {
    name: 'Name',
    value: {
      type: 'structure',
      fields: [
        ['NameValue', { type: 'text', value: text }],
        ['NameType', { type: 'enumeration', value: 1 }],
      ],
    },
  };
}
