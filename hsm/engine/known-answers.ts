// Types of keys that a token offers because they were proven at its start: each is used twice with what node:crypto answers as well, the second time with
// another input or parameter, so that a mechanism that is listed and gives something else, or ignores what it is given, is not offered.
import {
  createCipheriv,
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  encapsulate,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import { type HashName, type KeyType, throwAwayPair } from '../api.ts';
import { parseMaterial } from '../pkcs11/key-material.ts';
import { gcmMechanism, nonceBytes, type KeyFamily, keyRows, plainMechanism } from '../pkcs11/mechanisms.ts';
import type { ObjectHandle } from '../pkcs11/module.ts';
import { accepts, kindOf, TokenError } from '../pkcs11/return-values.ts';
import type { Attributes } from '../pkcs11/template.ts';
import { keyAttributes } from './custody.ts';
import type { Engine } from './engine.ts';
import { deriveSecret } from './operations/agreement.ts';
import { cmacOutside } from './operations/cmac.ts';
import { rawDecapsulation } from './operations/decapsulation.ts';
import { generateObject } from './operations/making.ts';
import { rawSignature } from './operations/signing.ts';

/** The types of the engine that gave no wrong answer. */
export function provenTypes(engine: Engine): readonly KeyType[] {
  // RSA keys of every length have one mechanism, and longer ones take longer.
  let isRsaRight: boolean | undefined;
  return engine.keyTypes.filter((type) => {
    const { family } = keyRows[type];
    return family === 'rsa' ? (isRsaRight ??= isProvenType(engine, 'rsa-2048')) : isProvenType(engine, type);
  });
}

/**
 * Asked twice, so that one wrong answer does not take a type away. A token that takes no known keys gives no answer, and each key is proven when it is
 * made; a token that refuses the mechanism, or to make such a key, does not have it.
 */
function isProvenType(engine: Engine, type: KeyType): boolean {
  const attempt = (): boolean => {
    try {
      return proofs[keyRows[type].family](engine, type);
    } catch (error) {
      if (!(error instanceof TokenError)) throw error;
      engine.sessions.renewWork();
      return error.fn === 'C_CreateObject' && kindOf(error) !== 'unavailable';
    }
  };
  return attempt() || attempt();
}

/** By family. Keys on curves and of ML-DSA are made for it, in less than a millisecond; making an RSA key takes seconds. */
const proofs: Readonly<Record<KeyFamily, (engine: Engine, type: KeyType) => boolean>> = {
  aes: isGcm,
  secret: (engine, type) => withKnownKey(engine, type, (key, octets) => answersAs(engine, type, key, hmacOutside(octets))),
  cmac: (engine, type) =>
    withKnownKey(engine, type, (key, octets) => answersAs(engine, type, key, (message) => cmacOutside(octets, message))),
  rsa: signsAsOutside,
  ec: (engine, type) => (keyRows[type].signatureBytes === undefined ? agreesAsOutside(engine, type) : signsVerifiably(engine, type)),
  edwards: signsVerifiably,
  montgomery: agreesAsOutside,
  'ml-dsa': signsVerifiably,
  'ml-kem': decapsulatesAsOutside,
};

/** Octets that nobody takes for a key, as many as asked for. */
function knownOctets(bytes: number): Buffer {
  return createHash('sha512').update('keystored known answer').digest().subarray(0, bytes);
}

const messages = [Buffer.alloc(0), Buffer.from('keystored known answer: one block, and a part of another')] as const;

function withKnownKey(engine: Engine, type: KeyType, use: (key: ObjectHandle, octets: Buffer) => boolean): boolean {
  const octets = knownOctets(keyRows[type].bytes);
  return withObject(engine, { ...keyAttributes(type, 'use'), value: octets }, (key) => use(key, octets));
}

export function withObject({ sessions }: Engine, attributes: Attributes, use: (key: ObjectHandle) => boolean): boolean {
  const key = sessions.module.createObject(sessions.owner, attributes);
  try {
    return use(key);
  } finally {
    sessions.destroy(key);
  }
}

function answersAs({ sessions: { module, work } }: Engine, type: KeyType, key: ObjectHandle, answer: (message: Buffer) => Buffer): boolean {
  const { use, signatureBytes } = keyRows[type];
  return messages.every((message) => {
    const expected = answer(message);
    return module.sign(work, plainMechanism(use), key, message, signatureBytes ?? expected.length).equals(expected);
  });
}

function hmacOutside(secret: Buffer): (message: Buffer) => Buffer {
  return (message) => createHmac('sha256', secret).update(message).digest();
}

/** Encrypts as node:crypto does under two nonces, where the token takes them, opens what that has sealed, each with other associated data, and refuses one ciphertext with the data of the other. */
function isGcm(engine: Engine, type: KeyType): boolean {
  const { sessions } = engine;
  const text = knownOctets(40);
  return withKnownKey(engine, type, (key, octets) => {
    const decrypts = (nonce: Buffer, data: Buffer, sealed: Buffer): boolean =>
      sessions.module.decrypt(sessions.work, gcmMechanism(nonce, data), key, sealed, Buffer.alloc(sealed.length)).equals(text);
    return messages.every((data, at) => {
      const nonce = Buffer.alloc(nonceBytes, at + 1);
      const cipher = createCipheriv(`aes-${(8 * octets.length) as 128 | 192 | 256}-gcm`, octets, nonce).setAAD(data);
      const sealed = Buffer.concat([cipher.update(text), cipher.final(), cipher.getAuthTag()]);
      const sealsAsOutside = (): boolean =>
        sessions.module.encrypt(sessions.work, gcmMechanism(nonce, data), key, text, Buffer.alloc(sealed.length)).equals(sealed);
      if (engine.gcm.source === 'own' && !sealsAsOutside()) return false;
      if (!decrypts(nonce, data, sealed)) return false;
      const isTaken = accepts(() => decrypts(nonce, messages[1 - at] as Buffer, sealed));
      // Some modules keep an operation that failed, by which another one fails.
      if (!engine.canaryWorks()) sessions.renewWork();
      return !isTaken;
    });
  });
}

/** Signatures by PKCS #1 v1.5 have one value (RFC 8017 section 8.2.1), here with two hashes. */
function signsAsOutside(engine: Engine, type: KeyType): boolean {
  const pkcs8 = Buffer.from(knownRsaKey.join(''), 'base64');
  const outside = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' });
  const material = parseMaterial(type, pkcs8);
  try {
    return withObject(engine, { ...keyAttributes(type, 'use'), ...material.values }, (key) =>
      (['sha256', 'sha512'] as const).every((hash) => {
        const digest = createHash(hash).update(messages[1]).digest();
        return rawSignature(engine, type, key, { scheme: 'rsa-pkcs1v15', hash }, digest).equals(sign(hash, messages[1], outside));
      }),
    );
  } finally {
    material.wipe();
  }
}

/** A new key signs two messages, and neither signature is one of the other message. */
function signsVerifiably(engine: Engine, type: KeyType): boolean {
  return withNewPair(engine, type, (key, publicKey) => {
    const { family } = keyRows[type];
    const scheme = family === 'ec' ? 'ecdsa' : family === 'edwards' ? 'ed25519' : 'ml-dsa';
    const hash: HashName | null = family === 'ec' ? 'sha256' : null;
    const signed = messages.map((message) =>
      rawSignature(engine, type, key, { scheme }, hash === null ? message : createHash(hash).update(message).digest()),
    );
    return messages.every((message, at) => {
      const fits = signed.map((signature) => verify(hash, message, { key: publicKey, dsaEncoding: 'ieee-p1363' }, signature));
      return fits.every((isRight, other) => isRight === (other === at));
    });
  });
}

/** A new key agrees with two others on what they compute, which differs. */
function agreesAsOutside(engine: Engine, type: KeyType): boolean {
  return withNewPair(engine, type, (key, publicKey) => {
    const secrets = [throwAwayPair(type), throwAwayPair(type)].map(({ privateKey, point }) => {
      const secret = deriveSecret(engine, type, key, Buffer.from(point));
      return secret.equals(diffieHellman({ privateKey, publicKey })) ? secret.toString('hex') : undefined;
    });
    return !secrets.includes(undefined) && secrets[0] !== secrets[1];
  });
}

/** A new key gives the two secrets that were encapsulated for it, and another one for a changed ciphertext, which it does not refuse (FIPS 203 section 6.3). */
function decapsulatesAsOutside(engine: Engine, type: KeyType): boolean {
  return withNewPair(engine, type, (key, publicKey) => {
    const secretOf = (ciphertext: Buffer): Buffer => rawDecapsulation(engine, type, key, ciphertext);
    return messages.every(() => {
      const { sharedKey, ciphertext } = encapsulate(publicKey);
      if (!secretOf(ciphertext).equals(sharedKey)) return false;
      ciphertext.writeUInt8(ciphertext.readUInt8() ^ 1);
      return !secretOf(ciphertext).equals(sharedKey);
    });
  });
}

export function withNewPair(engine: Engine, type: KeyType, use: (key: ObjectHandle, publicKey: KeyObject) => boolean): boolean {
  const { key, publicKey } = generateObject(engine, type, keyAttributes(type, 'use'));
  try {
    return publicKey !== undefined && use(key, createPublicKey({ key: publicKey, format: 'der', type: 'spki' }));
  } finally {
    engine.sessions.destroy(key);
  }
}

/** A key of nobody, in public since it is here. */
export const knownRsaKey = [
  'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQCSBKsfF/7+NCdvJSgQtoqowhdcFUUCwJPGNRX1+3rW2rrgz23P2Sn4ECf7x+uZxRgTwj6JvNNoJ14UhVMMWubDQBgW',
  'lsw4cswJufrnD3t9664hU0zEeTldHa04Q0AYKbcyskeQ4Oxm2i31gK44p2C3udy2uFkz34w7FJkNQy7jSooGPJFbySEGc5xQAoxLTKy6P+uxN80samDHqpYhgxg1gSMxiGeJHcQTOj7Z',
  'a+YqoPGK+pTSVSHN9HLP2/VkJKAJRc2fsLw7t9EqyZ2qq3AnTxiC5uh+92jvUpVLRTGMPtTVD5objOUA7mcEej8Q0oCFjcOkZBh7Q2YCrHuvWYrpAgMBAAECggEABiThZO9r7LsZ0i7O',
  'cOaXbsqs9DRWaStchHVxIT610GLXhHRh9uIYxp36arkisB+Xl+Q/YKkT/bDTX/pssEtGZL6WjOPHP9RPwtSDKtQPUpD3TKJuS2Gc8O653lFRGfsuYNkY0w8tz1Wco7UIj6x2UMDGuV8I',
  'LNs6EbXYC1NxfoGRBWv9KOEr3DxN084WN/YR7V9n1PUXQruW1xsruBNsG7HZdevx5G68xcE41dVp3l8byjyqL9/Z+R2yp/eF7LdWOqRfJRO/zSh9sjtQGOJMfHWWEu8TgXVNsrbCp7sF',
  'Eqghe+g1XJ85k6ehU5L9ciMITL8+97bIZjmAr8IAS+KEEQKBgQDIeNMWPZErmI5ooSlL67UAU15j/WBz2VGneZggOZKhgpg7OT6kGMqkymY3Q4AbW0VpFRuPFQb5H9Xd1YwRkimRZmcV',
  'DmrQxKZg8OIM9wQmsXMmAVqpBoDhAl2rSn+dLK9XHHZADDRpQ2A0l1/DR5aNvfE6Otx66eoPceM2WgPbOQKBgQC6dpvez2srPx186yPvDvON3W7rdAZ89Ef1LRGbQpzodJlnLEuXSNvB',
  'DC9tbjA89/9eg5duf5ouNO7CT8iSavggW5Z1UHk7sYatauh/c4bai/tMeLEG93EwrA7uY+bYBVqWDTLrfN6ZBHMOeBMo0OIjSFIlRZR2YTZZIQ4l9GA9MQKBgQDIDlNQmYYahHZxEYs9',
  'mW4achf7Hqq3UYK754sZdXrPtJyoVVsetSLcyqKwuarJIg8la4wCAJDh4ZQyeV37VuomkJOEHswXpHcIvLpJB+TbnC/2GFnZ3YSVhx/kxUaOmj4sZ1nWVpejCDqkoP9OyE0FDC0D2COY',
  'gYAzg4qj/bZleQKBgBlANK2As0eg/XJMOYqHIM5mXT3/cV18iz4Vg1veMnd8SsXhBr+O+0tyRf3wvRGUl/2Jnnk1SIDXZDnmKghB+iYPoRlz82b1DILxhli0IV/5MufRNE/4NFjeBAue',
  'dcVtPC4zzWB8gXyBUL913UpatzUF9zHa8VbypTR+uHbFWD8RAoGAUq7FrIQdEOtnUpSS506rKwO/HG4EDTMaTfA9I/lAKnPnGOFgnGaz1W8NpA/6bNoIfymg6DGA5zVRr5RyYS5MffBZ',
  'ljLvIKBCt4KPNkwI6YPwnmYGlaqO8Ixvl5kKo9IH6kz9xQogb1CyKZ2s2UeiY/k2oX4H8cMHyK1o7nJcy6g=',
];
