// The few messages of Kubernetes' KMS v2 in protobuf's wire format (k8s.io/kms apis/v2/api.proto): fields of octets and texts alone.

/** Fields by their numbers; of one that comes twice, the last. */
export type Fields = ReadonlyMap<number, Buffer>;

const lengthDelimited = 2;
/** Octets of values of the other wire types that are skipped; a varint is skipped by its octets. */
const fixedOctets: Readonly<Record<number, number>> = { 1: 8, 5: 4 };

/** Reads the length-delimited fields of a message; others are skipped. Throws RangeError for what is not a message. */
export function readFields(octets: Buffer): Fields {
  const fields = new Map<number, Buffer>();
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let place = 0; place < 10; place++) {
      const octet = octets[at++];
      if (octet === undefined) throw new RangeError('the message is cut off');
      value += (octet & 0x7f) * 2 ** (7 * place);
      if (octet < 0x80) return value;
    }
    throw new RangeError('a number of more than 64 bits');
  };
  while (at < octets.length) {
    const key = varint();
    const [field, type] = [Math.floor(key / 8), key % 8];
    if (type === 0) {
      varint();
      continue;
    }
    const length = type === lengthDelimited ? varint() : fixedOctets[type];
    if (length === undefined) throw new RangeError(`wire type ${type}`);
    if (at + length > octets.length) throw new RangeError('the message is cut off');
    if (type === lengthDelimited) fields.set(field, octets.subarray(at, at + length));
    at += length;
  }
  return fields;
}

/** A message of fields with octets or text; empty ones are left out, as protobuf has it. */
export function writeFields(fields: Readonly<Record<number, string | Uint8Array>>): Buffer {
  return Buffer.concat(
    Object.entries(fields).flatMap(([field, value]) => {
      const octets = Buffer.from(value);
      return octets.length === 0 ? [] : [varintOf(Number(field) * 8 + lengthDelimited), varintOf(octets.length), octets];
    }),
  );
}

function varintOf(value: number): Buffer {
  const octets: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) octets.push((rest % 0x80) + 0x80);
  return Buffer.from([...octets, rest]);
}
