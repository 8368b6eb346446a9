// Writes encrypted CMS messages with pkijs: AES-CBC under a new key, which RSA carries to the recipient.
import { constants, createCipheriv, type KeyObject, publicEncrypt, randomBytes, X509Certificate } from 'node:crypto';
import { contentType } from '../der/oids.ts';
import {
  CmsError,
  cipherIds,
  cipherKeyBytes,
  type CmsCipher,
  hashIds,
  type KeyTransport,
  mgf1,
  rsaEncryption,
  rsaesOaep,
} from './algorithms.ts';
import { readEnvelopedData } from './enveloped-data.ts';
import { pkijsWithAsn1 } from './pkijs.ts';
import { bufferOf, parseCertificate } from './write-signed-data.ts';

export type MessageToEncrypt = {
  readonly content: Uint8Array;
  /** DER certificate; its key is RSA */
  readonly recipient: Uint8Array;
  readonly cipher: CmsCipher;
  readonly transport: KeyTransport;
};

/** DER ContentInfo of an EnvelopedData of version 0. Throws CmsError `unsupported` for a recipient without an RSA key. */
export function writeEnvelopedData({ content, recipient, cipher, transport }: MessageToEncrypt): Uint8Array {
  const { pkijs, asn1js } = pkijsWithAsn1();
  const key = randomBytes(cipherKeyBytes[cipher]);
  const iv = randomBytes(16);
  const encryption = createCipheriv(cipher, key, iv);
  const encryptedContent = Buffer.concat([encryption.update(content), encryption.final()]);
  const encryptedKey = encryptFor(recipientKey(recipient), transport, key);
  key.fill(0);
  const { issuer, serialNumber } = parseCertificate(recipient);
  const enveloped = new pkijs.EnvelopedData({
    version: 0,
    recipientInfos: [
      new pkijs.RecipientInfo({
        variant: 1,
        value: new pkijs.KeyTransRecipientInfo({
          version: 0,
          rid: new pkijs.IssuerAndSerialNumber({ issuer, serialNumber }),
          keyEncryptionAlgorithm: transportAlgorithm(transport),
          encryptedKey: new asn1js.OctetString({ valueHex: bufferOf(encryptedKey) }),
        }),
      }),
    ],
    encryptedContentInfo: new pkijs.EncryptedContentInfo({
      contentType: contentType.data,
      contentEncryptionAlgorithm: new pkijs.AlgorithmIdentifier({
        algorithmId: cipherIds[cipher],
        algorithmParams: new asn1js.OctetString({ valueHex: bufferOf(iv) }),
      }),
      // Otherwise the content is cut into pieces, which is BER.
      disableSplit: true,
      encryptedContent: new asn1js.OctetString({ valueHex: bufferOf(encryptedContent) }),
    }),
  });
  const info = new pkijs.ContentInfo({ contentType: contentType.envelopedData, content: enveloped.toSchema() });
  const written = new Uint8Array(info.toSchema().toBER());
  readEnvelopedData(written);
  return written;
}

function recipientKey(certificate: Uint8Array): KeyObject {
  const { publicKey } = new X509Certificate(certificate);
  if (publicKey.asymmetricKeyType !== 'rsa') throw new CmsError('unsupported', 'the answer can be encrypted for an RSA key alone');
  return publicKey;
}

function encryptFor(key: KeyObject, transport: KeyTransport, octets: Uint8Array): Uint8Array {
  if (transport.padding === 'pkcs1v15') return publicEncrypt({ key, padding: constants.RSA_PKCS1_PADDING }, octets);
  return publicEncrypt({ key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: transport.hash }, octets);
}

function transportAlgorithm(transport: KeyTransport) {
  const { pkijs, asn1js } = pkijsWithAsn1();
  if (transport.padding === 'pkcs1v15')
    return new pkijs.AlgorithmIdentifier({ algorithmId: rsaEncryption, algorithmParams: new asn1js.Null() });
  const hash = () => new pkijs.AlgorithmIdentifier({ algorithmId: hashIds[transport.hash], algorithmParams: new asn1js.Null() });
  const parameters = new pkijs.RSAESOAEPParams({
    hashAlgorithm: hash(),
    maskGenAlgorithm: new pkijs.AlgorithmIdentifier({ algorithmId: mgf1, algorithmParams: hash().toSchema() }),
  });
  return new pkijs.AlgorithmIdentifier({ algorithmId: rsaesOaep, algorithmParams: parameters.toSchema() });
}
