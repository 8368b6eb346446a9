// Makes attribute templates. The binding aborts the process on a malformed attribute, so each value is checked here.

type Kind = 'number' | 'boolean' | 'bytes' | 'text';
type ValueOf<K extends Kind> = K extends 'number' ? number : K extends 'boolean' ? boolean : K extends 'bytes' ? Uint8Array : string;

const attributes = {
  class: [0x0, 'number'],
  token: [0x1, 'boolean'],
  private: [0x2, 'boolean'],
  label: [0x3, 'text'],
  value: [0x11, 'bytes'],
  keyType: [0x100, 'number'],
  id: [0x102, 'bytes'],
  sensitive: [0x103, 'boolean'],
  encrypt: [0x104, 'boolean'],
  decrypt: [0x105, 'boolean'],
  wrap: [0x106, 'boolean'],
  unwrap: [0x107, 'boolean'],
  sign: [0x108, 'boolean'],
  signRecover: [0x109, 'boolean'],
  verify: [0x10a, 'boolean'],
  verifyRecover: [0x10b, 'boolean'],
  derive: [0x10c, 'boolean'],
  modulus: [0x120, 'bytes'],
  modulusBits: [0x121, 'number'],
  publicExponent: [0x122, 'bytes'],
  privateExponent: [0x123, 'bytes'],
  prime1: [0x124, 'bytes'],
  prime2: [0x125, 'bytes'],
  exponent1: [0x126, 'bytes'],
  exponent2: [0x127, 'bytes'],
  coefficient: [0x128, 'bytes'],
  valueLength: [0x161, 'number'],
  extractable: [0x162, 'boolean'],
  local: [0x163, 'boolean'],
  neverExtractable: [0x164, 'boolean'],
  alwaysSensitive: [0x165, 'boolean'],
  keyGenMechanism: [0x166, 'number'],
  modifiable: [0x170, 'boolean'],
  ecParams: [0x180, 'bytes'],
  ecPoint: [0x181, 'bytes'],
  parameterSet: [0x61d, 'number'],
  encapsulate: [0x633, 'boolean'],
  decapsulate: [0x634, 'boolean'],
  seed: [0x637, 'bytes'],
  /** CK_ULONG of each mechanism */
  allowedMechanisms: [0x40000600, 'bytes'],
  /** CKA_NSS_DB, of NSS softoken alone */
  nssPublicPoint: [0xd5a0db00, 'bytes'],
} as const satisfies Record<string, readonly [number, Kind]>;

/** Names of the attributes in use, each for the CKA_ with the same meaning. */
export type AttributeName = keyof typeof attributes;
export type Attributes = { readonly [N in AttributeName]?: ValueOf<(typeof attributes)[N][1]> | undefined };

declare const checked: unique symbol;

/** A checked template. A new one for every call, because the binding writes into it. */
export type Template = { type: number; value?: number | boolean | string | Buffer }[] & { readonly [checked]: true };

/** Makes a template; attributes that are undefined are left out. Throws TypeError on a value of the wrong kind. */
export function template(values: Attributes): Template {
  const result: { type: number; value: number | boolean | string | Buffer }[] = [];
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) continue;
    const [type, kind] = attributes[name as AttributeName];
    result.push({ type, value: checkedValue(name, kind, value) });
  }
  return result as Template;
}

/** Makes a template that reads one attribute. Only one, because a single absent attribute fails the whole call. */
export function templateAsking(name: AttributeName): Template {
  return [{ type: attributes[name][0] }] as unknown as Template;
}

/** The name of an attribute in PKCS#11. */
export function attributeName(name: AttributeName): string {
  const own: Partial<Record<AttributeName, string>> = { valueLength: 'CKA_VALUE_LEN', nssPublicPoint: 'CKA_NSS_DB' };
  return own[name] ?? `CKA_${name.replace(/[A-Z]|\d+$/g, (part) => `_${part}`).toUpperCase()}`;
}

function checkedValue(name: string, kind: Kind, value: unknown): number | boolean | string | Buffer {
  if (kind === 'number' && typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 0xffffffff) return value;
  if (kind === 'boolean' && typeof value === 'boolean') return value;
  if (kind === 'text' && typeof value === 'string' && !value.includes('\0')) return value;
  if (kind === 'bytes' && value instanceof Uint8Array && value.length > 0) {
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  }
  throw new TypeError(`attribute ${name} must be ${kind}`);
}
