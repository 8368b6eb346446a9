// Managed objects in messages (KMIP 1.4 section 2): key blocks, certificates, opaque objects.
import type { Attribute, ManagedObject, Material, ObjectType } from '../objects/object-service.ts';
import { enumerationNameOf, enumerations, type EnumerationWord } from '../ttlv/enumerations.ts';
import { enumerated, enumeration, integer, type Item, octets, type Structure, structure } from '../ttlv/item.ts';
import { type TagName, tags } from '../ttlv/tags.ts';
import { readItem } from '../ttlv/read.ts';
import { writeItem } from '../ttlv/write.ts';
import { writeNamed } from './attributes.ts';
import { KmipFailure } from './failure.ts';
import { Fields } from './fields.ts';
import { hasTypedAttributes, type Version } from './versions.ts';

/** Objects that are kept, by their Object Type. */
const words = {
  certificate: 'Certificate',
  'symmetric-key': 'SymmetricKey',
  'public-key': 'PublicKey',
  'private-key': 'PrivateKey',
  template: 'Template',
  'secret-data': 'SecretData',
  'opaque-object': 'OpaqueObject',
} as const satisfies Record<ObjectType, EnumerationWord<'ObjectType'>>;
type Kept = (typeof words)[ObjectType];

/** Types of objects that are kept, for Query. */
export function keptTypes(version: Version): readonly Kept[] {
  return Object.values(words).filter((word) => word !== 'Template' || !hasTypedAttributes(version));
}

const typesByWord = new Map(Object.entries(words).map(([type, word]) => [word as string, type as ObjectType]));

/** Reads the type of the object that a request is about. */
export function readObjectType(payload: Fields, version: Version): ObjectType {
  const word = payload.requiredWord('ObjectType');
  const type = typesByWord.get(word);
  if (type === undefined || (type === 'template' && hasTypedAttributes(version)))
    throw new KmipFailure('InvalidField', `Objects of type ${word} are not kept here: see Query.`);
  return type;
}

export function writeObjectType(type: ObjectType): Item {
  return enumeration('ObjectType', words[type]);
}

/** An object as it is registered, and the attributes that its key block has. */
export type Registered = { readonly material: Material; readonly attributes: readonly Attribute[] };

/** Reads the object of Register. */
export function readObject(payload: Fields, type: ObjectType): Registered {
  const object = payload.requiredStructure(words[type]);
  if (type === 'certificate') {
    const subtype = enumerations.CertificateType[object.requiredWord('CertificateType')];
    return { material: { octets: object.required('CertificateValue', 'octets'), subtype }, attributes: [] };
  }
  if (type === 'opaque-object') {
    const subtype = object.required('OpaqueDataType', 'enumeration');
    return { material: { octets: object.required('OpaqueDataValue', 'octets'), subtype }, attributes: [] };
  }
  const read = readKeyBlock(object.requiredStructure('KeyBlock'));
  if (type !== 'secret-data') return read;
  return { ...read, material: { ...read.material, subtype: object.required('SecretDataType', 'enumeration') } };
}

function readKeyBlock(block: Fields): Registered {
  if (block.item('KeyCompressionType') !== undefined)
    throw new KmipFailure('KeyCompressionTypeNotSupported', 'Compressed keys are not taken: leave Key Compression Type out.');
  const format = block.requiredWord('KeyFormatType');
  const algorithm = block.value('CryptographicAlgorithm', 'enumeration');
  const length = block.value('CryptographicLength', 'integer');
  return {
    material: readWrapped(block, format) ?? readClear(block, format),
    attributes: [
      ...(algorithm === undefined ? [] : [{ name: 'Cryptographic Algorithm', value: { type: 'enumeration', value: algorithm } } as const]),
      ...(length === undefined ? [] : [{ name: 'Cryptographic Length', value: { type: 'integer', value: length } } as const]),
    ],
  };
}

function readClear(block: Fields, format: EnumerationWord<'KeyFormatType'>): Material {
  const material = block.requiredStructure('KeyValue').item('KeyMaterial');
  if (material === undefined) throw new KmipFailure('MissingData', 'Key Material is missing.');
  return readMaterial(format, material);
}

/** Longest Key Wrapping Data that is kept. */
const mostWrappingOctets = 4_096;

/** A key that is wrapped under another one is kept as it came, with what says how; undefined for one in clear. */
function readWrapped(block: Fields, format: EnumerationWord<'KeyFormatType'>): Material | undefined {
  const said = block.value('KeyWrappingData', 'structure');
  if (said === undefined) return undefined;
  new Fields(said).requiredWord('WrappingMethod');
  const data = writeItem({ tag: tags.KeyWrappingData, type: 'structure', value: said });
  if (data.length > mostWrappingOctets)
    throw new KmipFailure('InvalidField', `Key Wrapping Data has more than ${mostWrappingOctets} octets.`);
  if (!octetFormats.has(format))
    throw new KmipFailure('KeyFormatTypeNotSupported', `Wrapped keys in the format ${format} are not taken: send octets.`);
  const value = block.item('KeyValue');
  const isWhole = value?.type === 'octets';
  const octetsIn = isWhole ? value.value : block.requiredStructure('KeyValue').required('KeyMaterial', 'octets');
  return { octets: octetsIn, keyFormat: enumerations.KeyFormatType[format], wrapping: { data, isWhole } };
}

/** Formats whose material is octets. */
const octetFormats: ReadonlySet<EnumerationWord<'KeyFormatType'>> = new Set([
  ...(['Raw', 'Opaque', 'PKCS_1', 'PKCS_8', 'X_509', 'ECPrivateKey'] as const),
]);

function readMaterial(format: EnumerationWord<'KeyFormatType'>, material: Item): Material {
  if (octetFormats.has(format) && material.type === 'octets')
    return { octets: material.value, keyFormat: enumerations.KeyFormatType[format] };
  if (format === 'TransparentSymmetricKey' && material.type === 'structure')
    return { octets: new Fields(material.value).required('Key', 'octets'), keyFormat: enumerations.KeyFormatType.Raw };
  throw new KmipFailure(
    'KeyFormatTypeNotSupported',
    `Keys in the format ${format} are not taken: send Raw, PKCS#1, PKCS#8, X.509 or EC Private Key as octets.`,
  );
}

/** The form in which a key leaves. */
export type Leaving = {
  readonly version: Version;
  /** as the client has asked; undefined: as it is kept */
  readonly format?: EnumerationWord<'KeyFormatType'> | undefined;
  /** wrapped under this specification: the material is the ciphertext */
  readonly wrapping?: Wrapping | undefined;
};

/** Key Wrapping Specification, as far as it is offered: NIST key wrap. */
export type Wrapping = {
  readonly keyId: string;
  readonly encoding: EnumerationWord<'EncodingOption'>;
  /** to be shown in the answer */
  readonly parameters: readonly Item[];
};

/** Writes the object of Get. */
export function writeObject(object: ManagedObject, leaving: Leaving): Item {
  const { objectType, material } = object;
  const tag: TagName = words[objectType];
  const { octets: value, subtype } = material;
  if (objectType === 'certificate')
    return structure(tag, enumerated('CertificateType', subtype ?? enumerations.CertificateType.X_509), octets('CertificateValue', value));
  if (objectType === 'opaque-object') return structure(tag, enumerated('OpaqueDataType', subtype ?? 0), octets('OpaqueDataValue', value));
  const block = keyBlock(object, leaving);
  if (objectType !== 'secret-data') return structure(tag, block);
  return structure(tag, enumerated('SecretDataType', subtype ?? enumerations.SecretDataType.Password), block);
}

function keyBlock({ material, algorithm, length }: ManagedObject, { format, wrapping }: Leaving): Structure {
  const { wrapping: registered } = material;
  const isTransparent = format === 'TransparentSymmetricKey';
  return structure(
    'KeyBlock',
    enumerated(
      'KeyFormatType',
      isTransparent ? enumerations.KeyFormatType.TransparentSymmetricKey : (material.keyFormat ?? enumerations.KeyFormatType.Raw),
    ),
    // With TTLV Encoding the whole Key Value is the ciphertext, else the Key Material in it (1.4 section 2.1.4).
    wrapping?.encoding === 'TTLVEncoding' || registered?.isWhole === true
      ? octets('KeyValue', material.octets)
      : keyValue(material, isTransparent),
    algorithm === undefined ? undefined : enumerated('CryptographicAlgorithm', algorithm),
    length === undefined ? undefined : integer('CryptographicLength', length),
    wrapping === undefined ? registered && readItem(registered.data) : wrappingData(wrapping),
  );
}

function keyValue({ octets: value }: Material, isTransparent = false): Structure {
  return structure('KeyValue', isTransparent ? structure('KeyMaterial', octets('Key', value)) : octets('KeyMaterial', value));
}

function wrappingData({ keyId, encoding, parameters }: Wrapping): Item {
  return structure(
    'KeyWrappingData',
    enumeration('WrappingMethod', 'Encrypt'),
    structure(
      'EncryptionKeyInformation',
      { tag: tags.UniqueIdentifier, type: 'text', value: keyId },
      parameters.length === 0 ? undefined : structure('CryptographicParameters', ...parameters),
    ),
    enumeration('EncodingOption', encoding),
  );
}

/** The octets that are wrapped: the material, or its Key Value in TTLV. */
export function octetsToWrap(
  { material }: ManagedObject,
  { encoding }: Wrapping,
  attributes: readonly Attribute[],
  version: Version,
): Uint8Array {
  if (encoding === 'NoEncoding') return material.octets;
  if (hasTypedAttributes(version)) return writeItem(keyValue(material));
  const { value } = keyValue(material);
  return writeItem(structure('KeyValue', ...value, ...attributes.map((attribute) => writeNamed(attribute, version))));
}

/** Reads how a key is to be wrapped; undefined: in clear. */
export function readWrapping(payload: Fields): (Wrapping & { readonly attributeNames: readonly string[] }) | undefined {
  const specification = payload.structure('KeyWrappingSpecification');
  if (specification === undefined) return undefined;
  if (specification.requiredWord('WrappingMethod') !== 'Encrypt' || specification.item('MACSignatureKeyInformation') !== undefined)
    throw new KmipFailure('FeatureNotSupported', 'Keys are wrapped by encryption alone: Wrapping Method must be Encrypt.');
  const key = specification.requiredStructure('EncryptionKeyInformation');
  const parameters = key.structure('CryptographicParameters');
  const mode = parameters?.word('BlockCipherMode') ?? 'NISTKeyWrap';
  if (mode !== 'NISTKeyWrap') throw new KmipFailure('FeatureNotSupported', `Keys are wrapped with NIST key wrap, and not with ${mode}.`);
  const encoding = specification.word('EncodingOption') ?? 'TTLVEncoding';
  const attributeNames = specification.values('AttributeName', 'text');
  if (encoding === 'NoEncoding' && attributeNames.length > 0)
    throw new KmipFailure('EncodingOptionError', 'Attributes are wrapped with a key only where the Encoding Option is TTLV Encoding.');
  return { keyId: key.required('UniqueIdentifier', 'text'), encoding, parameters: parameters?.items ?? [], attributeNames };
}

/** The Key Format Type that Get asks for; undefined: as it is kept. */
export function readFormat(payload: Fields): EnumerationWord<'KeyFormatType'> | undefined {
  const format = payload.value('KeyFormatType', 'enumeration');
  if (format === undefined) return undefined;
  const word = enumerationNameOf('KeyFormatType', format);
  if (word === undefined) throw new KmipFailure('KeyFormatTypeNotSupported', 'The Key Format Type is not known.');
  return word;
}
