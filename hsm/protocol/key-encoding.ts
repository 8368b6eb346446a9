// The canonical encoding of a key reference: sent to the host, used as the key of the cache, and covered by the binding MAC.
//
// reference: frame(type) ‖ frame(custody) ‖ frame(tenant) ‖ frame(keyId) ‖ frame(version) ‖ frame(purpose) ‖ frame(blob) ‖ frame(mac)
// frame(x):  length(4, big endian) ‖ x      text is UTF-8, the version is decimal. The MAC covers label and all frames but the last;
// this is an on-disk format: a change makes every stored key unusable.
import type { Custody, KeyBinding, KeyReference, KeyType, StoredKey } from '../api.ts';

/** Length-framed concatenation: no two different lists give the same octets. */
export function frames(...parts: readonly (string | Uint8Array)[]): Buffer {
  const contents = parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'utf8') : part));
  const buffer = Buffer.allocUnsafe(contents.reduce((total, part) => total + 4 + part.length, 0));
  let offset = 0;
  for (const part of contents) {
    buffer.writeUInt32BE(part.length, offset);
    buffer.set(part, offset + 4);
    offset += 4 + part.length;
  }
  return buffer;
}

/** The parts of a length-framed concatenation, as views. */
export function readFrames(bytes: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  for (let offset = 0; offset < bytes.length;) {
    const length = bytes.readUInt32BE(offset);
    parts.push(bytes.subarray(offset + 4, offset + 4 + length));
    offset += 4 + length;
  }
  return parts;
}

/** The input of a key's binding MAC: frame(label) followed by the frames of the reference up to the blob. */
export function macInput(type: KeyType, custody: Custody, binding: KeyBinding, blob: Uint8Array): Buffer {
  return frames('keystored/key-binding/1', ...words(type, custody, binding), blob);
}

/**
 * The octets of a reference as text, one character per octet: the key of the cache of loaded keys. It holds the whole reference, so a blob
 * that was copied to another record has another identity and is checked before it is loaded.
 */
export type KeyIdentity = string;

const encoded = new WeakMap<StoredKey, { binding: KeyBinding; bytes: Buffer }>();

/** The canonical octets of a reference. Cached per stored key, because the same key is used often. */
export function encodeKeyReference({ stored, binding }: KeyReference): Buffer {
  const known = encoded.get(stored);
  if (known !== undefined && sameBinding(known.binding, binding)) return known.bytes;
  const bytes = frames(...words(stored.type, stored.custody, binding), stored.blob, stored.mac);
  encoded.set(stored, { binding: { ...binding }, bytes });
  return bytes;
}

/** The identity of a reference. */
export function keyIdentity(reference: KeyReference): KeyIdentity {
  return encodeKeyReference(reference).toString('latin1');
}

/** A reference as the host sees it. */
export type DecodedReference = {
  readonly type: KeyType;
  readonly custody: Custody;
  readonly binding: KeyBinding;
  readonly blob: Buffer;
  readonly mac: Buffer;
};

/** The reverse of encodeKeyReference. The parent process encoded the octets, so only the MAC is checked, and later. */
export function decodeKeyReference(bytes: Buffer): DecodedReference {
  const parts = readFrames(bytes);
  const text = (index: number): string => parts[index]?.toString('utf8') ?? '';
  return {
    type: text(0) as KeyType,
    custody: text(1) as Custody,
    binding: { tenant: text(2), keyId: text(3), version: Number(text(4)), purpose: text(5) },
    blob: parts[6] ?? Buffer.alloc(0),
    mac: parts[7] ?? Buffer.alloc(0),
  };
}

function words(type: KeyType, custody: Custody, binding: KeyBinding): string[] {
  return [type, custody, binding.tenant, binding.keyId, String(binding.version), binding.purpose];
}

function sameBinding(a: KeyBinding, b: KeyBinding): boolean {
  return a === b || (a.keyId === b.keyId && a.version === b.version && a.purpose === b.purpose && a.tenant === b.tenant);
}
