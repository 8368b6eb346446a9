// Parsers of keys of others: public keys, imported material in texts and octets, and OpenPGP certificates and signatures.
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { createCleartextMessage, createMessage, generateKey, sign, type PrivateKey } from 'openpgp';
import { importCertificate } from '../../../plugins/openpgp/certificates/import-public-key.ts';
import { documents } from '../../../plugins/openpgp/certificates/signed-document.ts';
import { packet } from '../../../plugins/openpgp/format/packets.ts';
import { readSignatures } from '../../../plugins/openpgp/format/reading.ts';
import { requireCipher } from '../../../plugins/transit/ciphers.ts';
import { parseMaterialOctets, parseMaterialText } from '../../../plugins/transit/formats/private-keys.ts';
import { parsePublicKey } from '../../../plugins/transit/formats/public-keys.ts';
import type { Parser } from './parser.ts';

const pairs: Readonly<Record<string, () => { readonly publicKey: KeyObject; readonly privateKey: KeyObject }>> = {
  'ecdsa-p256': () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  ed25519: () => generateKeyPairSync('ed25519'),
  'rsa-2048': () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  'ml-dsa-44': () => generateKeyPairSync('ml-dsa-44'),
};
const words = ['-----BEGIN PUBLIC KEY-----\n', '-----BEGIN PRIVATE KEY-----\n', '\n-----END ', '-----', '\\n', '\n', '=', 'ENCRYPTED'];

/** Parsers of public and private keys of each family. */
export function keyParsers(): readonly Parser[] {
  return Object.entries(pairs).flatMap(([cipherName, make]): readonly Parser[] => {
    const { publicKey, privateKey } = make();
    const target = { cipherName, cipher: requireCipher(cipherName), derived: false };
    const [spki, pkcs8] = [publicKey.export({ format: 'pem', type: 'spki' }), privateKey.export({ format: 'pem', type: 'pkcs8' })];
    const read = (octets: Buffer) => parseMaterialOctets(octets, target);
    return [
      {
        ...{ name: `public key, ${cipherName}`, samples: [Buffer.from(spki)], words, share: 0.5 },
        read: (octets) => parsePublicKey(octets.toString('utf8'), cipherName, target.cipher),
      },
      {
        ...{ name: `private key in a text, ${cipherName}`, samples: [Buffer.from(pkcs8)], words, share: 0.25 },
        read: (octets) => parseMaterialText(octets.toString('utf8'), target),
      },
      { name: `private key, ${cipherName}`, samples: [privateKey.export({ format: 'der', type: 'pkcs8' })], words: [], share: 0.25, read },
    ];
  });
}

/** Parsers of OpenPGP packets; armor is around them. */
export async function openpgpParsers(): Promise<readonly Parser[]> {
  const keys = [await makeOpenpgpKey('nistP256'), await makeOpenpgpKey('ed25519Legacy')];
  const message = await createMessage({ binary: new Uint8Array(10) });
  const signatures = await Promise.all(
    keys.map((signingKeys) => sign({ message, signingKeys, detached: true, format: 'binary' }) as Promise<Uint8Array>),
  );
  const [signingKeys] = keys;
  const whole = (await sign({ message, signingKeys, format: 'binary' } as never)) as unknown as Uint8Array;
  const messages = [whole, packet(8, Buffer.concat([Buffer.of(2), deflateSync(whole)]))];
  const lines = await createCleartextMessage({ text: '-- \nOrigin: Example\n' });
  const document = (await sign({ message: lines, signingKeys } as never)) as unknown as string;
  const cleartextWords = ['-----BEGIN PGP SIGNED MESSAGE-----\n', '-----BEGIN PGP SIGNATURE-----\n', '\n- ', '\nHash: ', '\r\n', '\n\n'];
  const armorWords = ['-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n', '\n-----END PGP PUBLIC KEY BLOCK-----\n', '\nComment: x', '\n\n', '='];
  const blocks = keys.map((key) => key.toPublic());
  return [
    {
      ...{ name: 'OpenPGP certificate', samples: blocks.map((key) => Buffer.from(key.write())), words: [], share: 0.1 },
      read: (octets) => importCertificate(octets.toString('base64'), Temporal.Now.instant()),
    },
    {
      ...{ name: 'OpenPGP block', samples: blocks.map((key) => Buffer.from(key.armor())), words: armorWords, share: 0.1 },
      read: (octets) => importCertificate(octets.toString('latin1'), Temporal.Now.instant()),
    },
    {
      ...{ name: 'OpenPGP signature', samples: signatures.map((octets) => Buffer.from(octets)), words: [], share: 0.5 },
      read: (octets) => readSignatures(octets.toString('base64')),
    },
    {
      ...{ name: 'OpenPGP message', samples: messages.map((octets) => Buffer.from(octets)), words: [], share: 0.3 },
      read: (octets) => documents.message(octets),
    },
    {
      ...{ name: 'OpenPGP cleartext document', samples: [Buffer.from(document)], words: cleartextWords, share: 0.3 },
      read: (octets) => documents.cleartext(octets),
    },
  ];
}

async function makeOpenpgpKey(curve: 'nistP256' | 'ed25519Legacy'): Promise<PrivateKey> {
  const { privateKey } = await generateKey({
    type: 'ecc',
    curve,
    userIDs: [{ name: 'Drill', email: 'drill@example.test' }],
    format: 'object',
  });
  return privateKey;
}
