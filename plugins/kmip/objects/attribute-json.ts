// Attributes in requests of the API from this process: octets in base64, everything else as it is. Read strictly, with limits before anything is kept.
import { decodeBase64, encodeBase64 } from '../../../core/base/bytes.ts';
import { isJsonObject, type JsonObject } from '../../../core/wire/json.ts';
import { fail } from '../errors.ts';
import type { Attribute, AttributeValue } from '../records/object-values.ts';

const longestText = 4_096;
const mostOctets = 8_192;
const mostFields = 32;
const deepest = 4;

export function attributeToJson({ name, index, value }: Attribute): JsonObject {
  return { name, ...(index === undefined ? {} : { index }), value: valueToJson(value) };
}

export function valueToJson(value: AttributeValue): JsonObject {
  if (value.type === 'structure') return { type: value.type, fields: value.fields.map(([tag, inner]) => [tag, valueToJson(inner)]) };
  const { type, value: inner } = value;
  return { type, value: inner instanceof Uint8Array ? encodeBase64(inner) : inner };
}

/** Throws `kmip-attribute-invalid`. */
export function attributeFromJson(json: unknown): Attribute {
  if (!isJsonObject(json)) throw invalid('attribute', 'must be an object');
  const { name, index, value } = json;
  if (typeof name !== 'string' || name.length > 260 || !name.isWellFormed()) throw invalid('attribute', 'must have a name');
  if (index !== undefined && (!Number.isSafeInteger(index) || (index as number) < 0))
    throw invalid(name, 'must have a whole number as its index');
  return { name, ...(index === undefined ? {} : { index: index as number }), value: valueFromJson(name, value, 0) };
}

function valueFromJson(name: string, json: unknown, depth: number): AttributeValue {
  if (!isJsonObject(json)) throw invalid(name, 'must have a value');
  const { type, value, fields } = json;
  if (type === 'structure' && Array.isArray(fields) && fields.length <= mostFields && depth < deepest)
    return { type, fields: fields.map((field) => fieldFromJson(name, field, depth)) };
  if (type === 'text' && typeof value === 'string' && value.length <= longestText && value.isWellFormed()) return { type, value };
  if ((type === 'integer' || type === 'enumeration' || type === 'interval' || type === 'date') && Number.isSafeInteger(value))
    return { type, value: value as number };
  if (type === 'long' && typeof value === 'string' && /^-?\d{1,19}$/.test(value)) return { type, value };
  if (type === 'boolean' && typeof value === 'boolean') return { type, value };
  if ((type === 'octets' || type === 'big-integer') && typeof value === 'string') {
    const octets = decodeBase64(value);
    if (octets !== undefined && octets.length <= mostOctets) return { type, value: octets };
  }
  throw invalid(name, `must be a value of its type, texts at most ${longestText} characters, octets at most ${mostOctets}`);
}

function fieldFromJson(name: string, field: unknown, depth: number): readonly [string, AttributeValue] {
  if (!Array.isArray(field) || field.length !== 2 || typeof field[0] !== 'string' || field[0].length > 64)
    throw invalid(name, 'must have fields with names and values');
  return [field[0], valueFromJson(name, field[1], depth + 1)];
}

/** A refusal that names the attribute. */
export function invalid(name: string, rule: string): Error {
  const shown = /^[\w #.-]{1,64}$/.test(name) ? name : 'attribute';
  return fail('kmip-attribute-invalid', { detail: `"${shown}" ${rule}.`, items: [{ message: rule, info: shown }] });
}
