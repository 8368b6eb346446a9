// A device and registration authorities of the tests, with keys made by WebCrypto.
import { createPrivateKey, createPublicKey, constants, privateDecrypt, type KeyObject } from 'node:crypto';
import type { Recipient } from '../../../../plugins/scep/message/envelope.ts';
import { makeCsr, makeIdentity, type Identity, x509 } from '../../ca/pki.ts';

export type Party = Identity & { readonly privateKey: KeyObject; readonly publicKey: KeyObject };

export async function makeParty(options: Parameters<typeof makeIdentity>[0]): Promise<Party> {
  const identity = await makeIdentity(options);
  const privateKey = createPrivateKey(identity.keys.pem);
  return { ...identity, privateKey, publicKey: createPublicKey(privateKey) };
}

/** A request for `CN=device` with a challengePassword and a name. */
export function makeDeviceRequest({ keys }: Party, password = 'open sesame'): Promise<Buffer> {
  return makeCsr({
    keys,
    subject: 'CN=device',
    names: [{ type: 'dns', value: 'device.example.test' }],
    attributes: [new x509.ChallengePasswordAttribute(password)],
  });
}

/** Decrypts the content key as the token does. Throws if the padding is bad. */
export function decryptKey({ privateKey }: Party, { keyTransport, encryptedKey }: Recipient): Buffer {
  if (keyTransport.padding === 'oaep')
    return privateDecrypt({ key: privateKey, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: keyTransport.hash }, encryptedKey);
  // Node.js decodes PKCS#1 v1.5 with implicit rejection alone, which answers anything for bad padding.
  const block = privateDecrypt({ key: privateKey, padding: constants.RSA_NO_PADDING }, encryptedKey);
  const end = block.indexOf(0, 2);
  if (block[0] !== 0 || block[1] !== 2 || end < 10) throw new Error('bad padding');
  return Buffer.from(block.subarray(end + 1));
}
