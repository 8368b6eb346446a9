// Functions of PKCS#11 3.2 that the binding lacks: C_DecapsulateKey. C_GetInterface gives a list of their addresses, and node:ffi calls functions by name
// alone; so they are called by ffi_call of the system's libffi, which has a name. It is the library that the binding has loaded, with its sessions and objects.
import type * as Ffi from 'node:ffi';
import type { ObjectHandle, SessionHandle } from './module.ts';
import { addressOf, findFfi, wordBytes } from './pointers.ts';
import { CKR_OK, TokenError } from './return-values.ts';
import { type Attributes, template, type Template } from './template.ts';

/** C_DecapsulateKey of a module. `mechanism` has no parameter. Throws TokenError. */
export type DecapsulateKey = (
  session: SessionHandle,
  mechanism: number,
  key: ObjectHandle,
  ciphertext: Buffer,
  attributes: Attributes,
) => ObjectHandle;

const known = new Map<string, DecapsulateKey | undefined>();
/** Keeps libraries referenced: they would be closed when their objects are collected. */
const opened: Ffi.DynamicLibrary[] = [];

/**
 * C_DecapsulateKey of a loaded and initialised module; undefined if the module has no interface of PKCS#11 3.2, this Node.js no node:ffi, or the system
 * no libffi.
 */
export function findDecapsulateKey(path: string): DecapsulateKey | undefined {
  if (!known.has(path)) known.set(path, lookForIt(path));
  return known.get(path);
}

/** Index of C_DecapsulateKey in CK_FUNCTION_LIST_3_2, whose first word is the version. */
const place = 1 + 93;

function lookForIt(path: string): DecapsulateKey | undefined {
  const ffi = findFfi();
  if (ffi === undefined) return undefined;
  const list = findFunctionList(ffi, path);
  if (list === undefined || ffi.getUint8(list, 0) !== version[0] || ffi.getUint8(list, 1) < version[1]) return undefined;
  const address = ffi.getUint64(list, place * wordBytes);
  const call = address === 0n ? undefined : findCall(ffi, 8);
  if (call === undefined) return undefined;
  return (session, mechanism, key, ciphertext, attributes) => {
    const [parameterless, made] = [words(BigInt(mechanism), 0n, 0n), Buffer.alloc(wordBytes)];
    const values = template(attributes).map(({ type, value }) => ({ type, octets: octetsOf(value) }));
    const asked = words(...values.flatMap(({ type, octets }) => [BigInt(type), addressOf(octets), BigInt(octets.length)]));
    held.pointedAt = [parameterless, made, values, asked, ciphertext];
    const rv = call(address, [
      ...[session.readBigUInt64LE(), addressOf(parameterless), key.readBigUInt64LE()],
      ...[addressOf(asked), BigInt(values.length), addressOf(ciphertext), BigInt(ciphertext.length), addressOf(made)],
    ]);
    if (rv !== BigInt(CKR_OK)) throw new TokenError(Number(rv), 'C_DecapsulateKey');
    return made as ObjectHandle;
  };
}

/** Keeps what the last call was given referenced: it is synchronous, and the token reads it until it returns. */
const held: { pointedAt?: readonly unknown[] } = {};

const version = [3, 2] as const;

/** The address of the function list that C_GetInterface gives for the version. */
function findFunctionList(ffi: typeof Ffi, path: string): bigint | undefined {
  try {
    const library = open(ffi, path);
    const getInterface = library.getFunction('C_GetInterface', {
      return: 'uint64',
      arguments: ['pointer', 'pointer', 'pointer', 'uint64'],
    });
    const [name, asked, found] = [Buffer.from('PKCS 11\0'), Buffer.from(version), Buffer.alloc(wordBytes)];
    if (getInterface(addressOf(name), addressOf(asked), addressOf(found), 0n) !== BigInt(CKR_OK)) return undefined;
    // CK_INTERFACE: name, function list, flags
    const list = ffi.getUint64(found.readBigUInt64LE(), wordBytes);
    return list === 0n ? undefined : list;
  } catch {
    return undefined;
  }
}

type Call = (address: bigint, values: readonly bigint[]) => bigint;

/** FFI_DEFAULT_ABI of libffi on Linux. */
const abis: Readonly<Partial<Record<NodeJS.Architecture, number>>> = { x64: 2, arm64: 1 };
/** Octets that are enough for an ffi_cif. */
const cifBytes = 128;

/** A function that calls one at an address, with so many words, of which it returns one. */
function findCall(ffi: typeof Ffi, count: number): Call | undefined {
  const abi = abis[process.arch];
  if (abi === undefined) return undefined;
  try {
    const library = open(ffi, 'libffi.so.8');
    const prepare = library.getFunction('ffi_prep_cif', {
      return: 'int32',
      arguments: ['pointer', 'int32', 'uint32', 'pointer', 'pointer'],
    });
    const call = library.getFunction('ffi_call', { return: 'void', arguments: ['pointer', 'pointer', 'pointer', 'pointer'] });
    const word = library.getSymbol('ffi_type_uint64');
    const [cif, types] = [Buffer.alloc(cifBytes), words(...Array.from({ length: count }, () => word))];
    if (prepare(addressOf(cif), abi, count, word, addressOf(types)) !== 0) return undefined;
    const [given, result] = [Buffer.alloc(count * wordBytes), Buffer.alloc(wordBytes)];
    const places = words(...Array.from({ length: count }, (_, at) => addressOf(given) + BigInt(at * wordBytes)));
    // libffi reads the types at each call.
    const used = { cif, types, given, places, result };
    return (address, values) => {
      for (const [at, value] of values.entries()) used.given.writeBigUInt64LE(value, at * wordBytes);
      call(addressOf(used.cif), address, addressOf(used.result), addressOf(used.places));
      return used.result.readBigUInt64LE();
    };
  } catch {
    return undefined;
  }
}

function open(ffi: typeof Ffi, path: string): Ffi.DynamicLibrary {
  const library = new ffi.DynamicLibrary(path);
  opened.push(library);
  return library;
}

/** The value of an attribute as C has it: CK_ULONG, CK_BBOOL or octets. */
function octetsOf(value: Template[number]['value']): Buffer {
  if (typeof value === 'number') return words(BigInt(value));
  if (typeof value === 'boolean') return Buffer.of(value ? 1 : 0);
  return typeof value === 'string' ? Buffer.from(value) : Buffer.from(value ?? []);
}

function words(...values: readonly bigint[]): Buffer {
  const octets = Buffer.alloc(values.length * wordBytes);
  for (const [at, value] of values.entries()) octets.writeBigUInt64LE(value, at * wordBytes);
  return octets;
}
