// AES-CMAC (RFC 4493, NIST SP 800-38B) outside the token: a token's answer under a known key is compared with it.
import { createCipheriv } from 'node:crypto';

const blockBytes = 16;
/** Of the polynomial x^128 + x^7 + x^2 + x + 1. */
const reduction = 0x87;

/** The CMAC of a message under a known key of 16, 24 or 32 octets. */
export function cmacOutside(key: Buffer, message: Buffer): Buffer {
  const cipher = createCipheriv(`aes-${(key.length * 8) as 128 | 192 | 256}-ecb`, key, null).setAutoPadding(false);
  const subkey1 = doubled(cipher.update(Buffer.alloc(blockBytes)));
  const isWhole = message.length > 0 && message.length % blockBytes === 0;
  const blocks = Math.max(1, Math.ceil(message.length / blockBytes));
  const padded = Buffer.alloc(blocks * blockBytes);
  message.copy(padded);
  if (!isWhole) padded[message.length] = 0x80;
  const last = padded.subarray(-blockBytes);
  last.set(xor(last, isWhole ? subkey1 : doubled(subkey1)));
  let mac: Buffer = Buffer.alloc(blockBytes);
  for (let at = 0; at < padded.length; at += blockBytes) mac = cipher.update(xor(mac, padded.subarray(at, at + blockBytes)));
  return mac;
}

/** Multiplies by x in GF(2^128). */
function doubled(block: Buffer): Buffer {
  const shifted = block.map((octet, at) => (octet << 1) | ((block[at + 1] ?? 0) >> 7));
  if ((block[0] ?? 0) >> 7 === 1) shifted[blockBytes - 1] = (shifted[blockBytes - 1] ?? 0) ^ reduction;
  return Buffer.from(shifted);
}

function xor(left: Buffer, right: Buffer): Buffer {
  return Buffer.from(left.map((octet, at) => octet ^ (right[at] ?? 0)));
}
