// Seals to public keys with @hpke/core, as a browser does: node seal.mjs FOLDER [x-wing]. It prints a line for each message: key, KDF, AEAD, base64.
import { createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Chacha20Poly1305 } from '@hpke/chacha20poly1305';
import * as hpke from '@hpke/core';
import { XWing } from '@hpke/hybridkem-x-wing';

const encode = (text) => new TextEncoder().encode(text);
const kems = {
  p256: hpke.DhkemP256HkdfSha256,
  p384: hpke.DhkemP384HkdfSha384,
  p521: hpke.DhkemP521HkdfSha512,
  x25519: hpke.DhkemX25519HkdfSha256,
};
const kdfs = { 'hkdf-sha256': hpke.HkdfSha256, 'hkdf-sha384': hpke.HkdfSha384, 'hkdf-sha512': hpke.HkdfSha512 };
const aeads = { 'aes-128-gcm': hpke.Aes128Gcm, 'aes-256-gcm': hpke.Aes256Gcm, 'chacha20-poly1305': Chacha20Poly1305 };

const [, , folder, only] = process.argv;
const textOf = (key) => readFileSync(join(folder, `${key}.pem`), 'utf8');
/** The raw key is the end of its SubjectPublicKeyInfo. */
const rawKey = () =>
  new Uint8Array(Buffer.from(textOf('mlkem768-x25519').replaceAll(/-----.*-----/g, ''), 'base64').subarray(-1216)).buffer;

for (const [key, Kem] of Object.entries(only === 'x-wing' ? { 'mlkem768-x25519': XWing } : kems)) {
  const known = only === 'x-wing' ? ['raw', rawKey()] : ['jwk', createPublicKey(textOf(key)).export({ format: 'jwk' })];
  for (const [kdf, Kdf] of Object.entries(kdfs))
    for (const [aead, Aead] of Object.entries(aeads)) {
      const suite = new hpke.CipherSuite({ kem: new Kem(), kdf: new Kdf(), aead: new Aead() });
      const recipientPublicKey = await suite.kem.importKey(...known, true);
      const sealed = await suite.seal({ recipientPublicKey, info: encode('info') }, encode('by @hpke/core'), encode('bound'));
      const message = Buffer.concat([Buffer.from(sealed.enc), Buffer.from(sealed.ct)]).toString('base64');
      console.log(key, kdf, aead, message);
    }
}
