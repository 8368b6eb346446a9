// Attributes as p11-kit writes them: the type says how the value is encoded, so a server must know every type that a client may send
// (map_attribute_to_value_type in rpc-message.c).
import { type ArgumentReader, number32, octet, octets, ulong } from './frames.ts';
import { rv } from './refused.ts';

/** Values by type: a flag is one octet, a number eight, anything else as it is. Lists of attributes or mechanisms are not shown. */
export type Attributes = ReadonlyMap<number, Buffer>;

type Kind = 'flag' | 'number' | 'attributes' | 'mechanisms' | 'octets';

const types: Readonly<Record<Exclude<Kind, 'octets'>, readonly number[]>> = {
  flag: [
    ...[0x1, 0x2, 0x86, 0x103, 0x104, 0x105, 0x106, 0x107, 0x108, 0x109, 0x10a, 0x10b, 0x10c],
    ...[0x162, 0x163, 0x164, 0x165, 0x170, 0x171, 0x200, 0x202, 0x210, 0x301, 0x302, 0x405],
    ...[0x8001_0001, 0x8001_0002, 0x8001_0003, 0x8001_0004, 0x8001_0008, 0x8001_000c, 0x8001_000d],
  ],
  number: [
    ...[0x0, 0x80, 0x87, 0x88, 0x100, 0x121, 0x133, 0x134, 0x160, 0x161, 0x166, 0x201, 0x300],
    ...[0x400, 0x401, 0x402, 0x403, 0x404, 0x406, 0x500],
    ...[0x8001_0005, 0x8001_000a, 0x800d_0001, 0x800d_0009, 0x800d_0101],
  ],
  attributes: [0x4000_0211, 0x4000_0212, 0x4000_0213],
  mechanisms: [0x4000_0600],
};
const kinds: ReadonlyMap<number, Kind> = new Map(
  (Object.keys(types) as (keyof typeof types)[]).flatMap((kind) => types[kind].map((type) => [type, kind] as const)),
);

/** Attributes that a private key has and does not tell: the private numbers of RSA and EC keys. */
const secretTypes: ReadonlySet<number> = new Set([0x11, 0x123, 0x124, 0x125, 0x126, 0x127, 0x128]);

/** More attributes than a call has from any program. */
const mostAttributes = 1_024;
/** Searched attributes may hold lists of attributes, which may hold lists: this deep. */
const mostDepth = 4;

/** An attribute of a search. `value` is undefined where it is absent, or a list, which no object has. */
type Wanted = { readonly type: number; readonly value: Buffer | undefined };

/** Reads a template (`aA`). Throws RangeError where it ends too early. */
export function readTemplate(given: ArgumentReader, depth = 0): readonly Wanted[] {
  if (depth > mostDepth) throw new RangeError('the attributes are nested too deep');
  const wanted: Wanted[] = [];
  for (let left = countOf(given); left > 0; left--) {
    const type = given.number32();
    const isThere = given.octet() !== 0;
    wanted.push({ type, value: isThere ? readValue(given, type, depth) : undefined });
  }
  return wanted;
}

function readValue(given: ArgumentReader, type: number, depth: number): Buffer | undefined {
  given.number32();
  const kind = kinds.get(type) ?? 'octets';
  if (kind === 'flag') return given.take(1);
  if (kind === 'number') return given.take(8);
  if (kind === 'octets') return given.octets();
  if (kind === 'attributes') readTemplate(given, depth + 1);
  else given.take(8 * given.number32());
  return undefined;
}

/** Tells whether an object has all that is searched for. */
export function fits(attributes: Attributes, template: readonly Wanted[]): boolean {
  return template.every(({ type, value }) => value !== undefined && attributes.get(type)?.equals(value) === true);
}

/** Reads the types of C_GetAttributeValue (`fA`). Buffers of the caller count as large enough: its client looks at them. */
export function readTypes(given: ArgumentReader): readonly number[] {
  const asked: number[] = [];
  for (let left = countOf(given); left > 0; left--) {
    asked.push(given.number32());
    given.number32();
  }
  return asked;
}

function countOf(given: ArgumentReader): number {
  const count = given.number32();
  if (count > mostAttributes) throw new RangeError(`${count} attributes are more than any program asks for`);
  return count;
}

/** The answer to C_GetAttributeValue (`aAu`): what is there, and a CK_RV that says whether all of it was. */
export function attributeValues(asked: readonly number[], attributes: Attributes, isPrivate: boolean): Buffer {
  const encoded = asked.map((type) => {
    const value = attributes.get(type);
    if (value === undefined) return Buffer.concat([number32(type), octet(0)]);
    const isFixed = kinds.has(type);
    return Buffer.concat([number32(type), octet(1), number32(value.length), isFixed ? value : octets(value)]);
  });
  const isSecret = isPrivate && asked.some((type) => secretTypes.has(type));
  const isWhole = asked.every((type) => attributes.has(type));
  return Buffer.concat([
    number32(asked.length),
    ...encoded,
    ulong(isWhole ? rv.ok : isSecret ? rv.attributeSensitive : rv.attributeTypeInvalid),
  ]);
}

export const flag = (isSet: boolean): Buffer => octet(isSet ? 1 : 0);
export const number = (value: number): Buffer => ulong(value);
