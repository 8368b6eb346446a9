// DER as a tree, for tests that change certificates and for their judge: shares nothing with the reader of the product.

/** A value: of a constructed one its members, else its octets. */
export type Node = { tag: number; octets: Buffer; members: Node[] | undefined };

/** Reads one value that fills the octets; throws for what is not DER. Members are read where the tag says that there are some. */
export function readTree(der: Buffer): Node {
  const [node, end] = readAt(der, 0);
  if (end !== der.length) throw new RangeError('octets after the value');
  return node;
}

function readAt(der: Buffer, at: number): [Node, number] {
  const tag = der.readUInt8(at);
  if ((tag & 31) === 31) throw new RangeError('a tag of several octets');
  const first = der.readUInt8(at + 1);
  let [begin, length] = [at + 2, first];
  if (first > 127) {
    const octets = first & 127;
    if (octets === 0 || octets > 3) throw new RangeError('a length that is not DER');
    length = der.readUIntBE(begin, octets);
    begin += octets;
    if (length < 128 || length < 2 ** (8 * (octets - 1))) throw new RangeError('a length that is too long');
  }
  const end = begin + length;
  if (end > der.length) throw new RangeError('a value that is cut off');
  const octets = der.subarray(begin, end);
  if ((tag & 32) === 0) return [{ tag, octets, members: undefined }, end];
  const members: Node[] = [];
  for (let inner = begin; inner < end;) {
    const [member, next] = readAt(der.subarray(0, end), inner);
    members.push(member);
    inner = next;
  }
  return [{ tag, octets, members }, end];
}

export function writeTree({ tag, octets, members }: Node): Buffer {
  const content = members === undefined ? octets : Buffer.concat(members.map(writeTree));
  const size = content.length;
  const length =
    size < 128
      ? [size]
      : size < 256
        ? [0x81, size]
        : size < 65_536
          ? [0x82, size >> 8, size & 255]
          : [0x83, size >> 16, (size >> 8) & 255, size & 255];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}
