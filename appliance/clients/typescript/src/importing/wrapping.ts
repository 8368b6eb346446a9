// A key wrapped for its import: RSA-OAEP of a fresh AES key, then that key's wrap of the material (RFC 5649), as CKM_RSA_AES_KEY_WRAP has it.
import { decodeBase64 } from '../base64.ts';

type Octets = Uint8Array<ArrayBuffer>;

/** Wraps octets under an RSA key (SubjectPublicKeyInfo, PEM): OAEP and MGF1 with SHA-256, AES of 256 bits. */
export async function wrapKey(wrappingKey: string, material: Uint8Array): Promise<Uint8Array> {
  const spki = Uint8Array.from(decodeBase64(wrappingKey.replace(/-----[^-]+-----|\s/g, '')));
  const publicKey = await crypto.subtle.importKey('spki', spki, { name: 'RSA-OAEP', hash: 'SHA-256' }, false, ['encrypt']);
  const transportKey = crypto.getRandomValues(new Uint8Array(32));
  try {
    const sealedKey = new Uint8Array(await crypto.subtle.encrypt({ name: 'RSA-OAEP' }, publicKey, transportKey));
    const wrapped = await wrapPadded(transportKey, material);
    const both = new Uint8Array(sealedKey.length + wrapped.length);
    both.set(sealedKey);
    both.set(wrapped, sealedKey.length);
    return both;
  } finally {
    transportKey.fill(0);
  }
}

/** RFC 5649 section 4.1. WebCrypto has the wrap without padding alone (RFC 3394). */
async function wrapPadded(transportKey: Octets, material: Uint8Array): Promise<Octets> {
  const key = await crypto.subtle.importKey('raw', transportKey, 'AES-CBC', false, ['encrypt']);
  const half = 8;
  const padded = new Uint8Array(half + half * Math.ceil(material.length / half));
  const view = new DataView(padded.buffer);
  view.setUint32(0, 0xa65959a6);
  view.setUint32(4, material.length);
  padded.set(material, half);
  const last = padded.length / half - 1;
  const block = new Uint8Array(2 * half);
  if (last === 1) return encryptBlock(key, padded);
  for (let round = 0; round < 6; round += 1) {
    for (let at = 1; at <= last; at += 1) {
      block.set(padded.subarray(0, half));
      block.set(padded.subarray(at * half, (at + 1) * half), half);
      const encrypted = await encryptBlock(key, block);
      padded.set(encrypted.subarray(0, half));
      view.setUint32(4, view.getUint32(4) ^ (last * round + at));
      padded.set(encrypted.subarray(half), at * half);
    }
  }
  block.fill(0);
  return padded;
}

/** One block by AES alone: the first one of CBC after an initialization vector of zeros. */
async function encryptBlock(key: CryptoKey, block: Octets): Promise<Octets> {
  const encrypted = await crypto.subtle.encrypt({ name: 'AES-CBC', iv: new Uint8Array(16) }, key, block);
  return new Uint8Array(encrypted, 0, 16);
}
