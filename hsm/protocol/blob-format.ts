// The format of a wrapped key on the disk: mechanism, content, and the number of the token's wrapping key.
//
// blob: form(1) ‖ wrapped key                              under the first wrapping key; the only form of versions without rotation
//       form(1) ‖ number(4, big endian) ‖ wrapped key      under a later one
// form: 1 CKM_AES_KEY_WRAP_PAD, 3 CKM_AES_KEY_WRAP_KWP, of the key itself (raw or PKCS#8);
//       2 and 4 the same of an Ed25519 or ML-DSA seed as a generic secret of 32 octets; 5 to 8 the same again with the number
import { HsmError } from '../api.ts';
import * as ck from '../pkcs11/constants.ts';

export type WrappedContent = 'key' | 'seed';
export type WrappedBlob = {
  readonly mechanism: number;
  readonly content: WrappedContent;
  /** number of the wrapping key, 1 or more */
  readonly number: number;
  readonly wrapped: Buffer;
};

/** By the first octet of a blob. It includes the mechanism, because a later firmware may prefer another one. */
const forms: ReadonlyMap<number, Pick<WrappedBlob, 'mechanism' | 'content'>> = new Map([
  [1, { mechanism: ck.CKM_AES_KEY_WRAP_PAD, content: 'key' }],
  [2, { mechanism: ck.CKM_AES_KEY_WRAP_PAD, content: 'seed' }],
  [3, { mechanism: ck.CKM_AES_KEY_WRAP_KWP, content: 'key' }],
  [4, { mechanism: ck.CKM_AES_KEY_WRAP_KWP, content: 'seed' }],
]);
/** Added to a form when the number follows. */
const numbered = 4;

/** Encodes a wrapped key. */
export function formatBlob({ mechanism, content, number, wrapped }: WrappedBlob): Buffer {
  const [form] = [...forms].find(([, row]) => row.mechanism === mechanism && row.content === content) as [number, unknown];
  if (number === 1) return Buffer.concat([Buffer.of(form), wrapped]);
  const head = Buffer.of(form + numbered, 0, 0, 0, 0);
  head.writeUInt32BE(number, 1);
  return Buffer.concat([head, wrapped]);
}

/** The reverse of formatBlob. Throws `key-not-usable` for anything else. */
export function parseBlob(blob: Uint8Array): WrappedBlob {
  const octets = Buffer.from(blob.buffer, blob.byteOffset, blob.byteLength);
  const first = octets[0] ?? 0;
  const isNumbered = first > numbered;
  const form = forms.get(isNumbered ? first - numbered : first);
  const headBytes = isNumbered ? 5 : 1;
  if (form === undefined || octets.length <= headBytes) throw new HsmError('key-not-usable', 'the stored key has an unknown form');
  return { ...form, number: isNumbered ? octets.readUInt32BE(1) : 1, wrapped: octets.subarray(headBytes) };
}
