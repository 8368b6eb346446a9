// Encoding of record values: msgpack of plain data, frozen after decoding.
import { Packr } from 'msgpackr';
import { fail } from '../../base/errors.ts';

const packr = new Packr({ useRecords: false, copyBuffers: true });

/** Encodes plain data. Anything else (class instances, functions, Map, Date, Secret) is a programming error and throws TypeError. */
export function encodeRecord(value: unknown): Uint8Array {
  if (value === undefined) throw new TypeError('undefined is not a record: delete it instead');
  requirePlain(value, 'value');
  return packr.pack(value);
}

/** Decodes a value, deeply frozen (octet arrays cannot be frozen: do not modify them). */
export function decodeRecord(octets: Uint8Array): unknown {
  // Given a plain view, msgpackr returns Uint8Array instead of Buffer, so that a value equals what was put.
  return deepFrozen(packr.unpack(new Uint8Array(octets.buffer, octets.byteOffset, octets.byteLength)));
}

// Refuses values that msgpack would silently convert, so that a record is always read as it was put.
function requirePlain(value: unknown, where: string): void {
  switch (typeof value) {
    case 'string':
      if (!value.isWellFormed()) throw fail('invalid-value', { detail: `${where} holds text that is not well-formed Unicode.` });
      return;
    case 'number':
    case 'boolean':
    case 'undefined':
      return;
    case 'object':
      if (value === null || value instanceof Uint8Array) return;
      if (Array.isArray(value)) return value.forEach((item, index) => requirePlain(item, `${where}[${index}]`));
      if (Object.getPrototypeOf(value) === Object.prototype || Object.getPrototypeOf(value) === null) {
        for (const [name, item] of Object.entries(value)) {
          if (name === '__proto__') throw fail('invalid-value', { detail: `${where} has a field of the name __proto__.` });
          requirePlain(item, `${where}.${name}`);
        }
        return;
      }
      break;
    case 'bigint':
    case 'symbol':
    case 'function':
      break;
  }
  throw new TypeError(`${where} is not plain data and cannot be stored`);
}

function deepFrozen(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  for (const item of Array.isArray(value) ? value : Object.values(value)) deepFrozen(item);
  return Object.freeze(value);
}
