// Messages of CMS for a registration authority: it opens requests and signs answers, both with its key in the token.
import { hash as hashOf, verify } from 'node:crypto';
import { CmsError, type CmsHash } from '../../../core/cms/algorithms.ts';
import { decryptContent, type EnvelopedData, findRecipient, readEnvelopedData, undecryptable } from '../../../core/cms/enveloped-data.ts';
import { readSignedData, type SignedData, verifySignedData } from '../../../core/cms/signed-data.ts';
import { writeEnvelopedData } from '../../../core/cms/write-enveloped-data.ts';
import { writeSignedData } from '../../../core/cms/write-signed-data.ts';
import type { AnswerToSign, OpenedMessage, RegistrationAuthority } from '../../../core/plugin/services/certificate-authority.ts';
import { HsmError } from '../../../hsm/api.ts';
import { registrationReference } from '../authority/registration-key.ts';
import type { CaContext } from '../context.ts';
import { type Certificate, readCertificate } from '../der/certificate.ts';
import { publicKeyObject } from '../der/public-key.ts';
import type { Registration } from '../records/records.ts';

/** `registrations`: newest first. */
export function registrationAuthority(
  context: CaContext,
  ca: { readonly tenantId: string; readonly caId: string },
  registrations: readonly [Registration, ...Registration[]],
): RegistrationAuthority {
  const [newest] = registrations;
  return {
    certificate: newest.certificate,
    open: (message, known) => open(context, ca, registrations, message, known),
    answer: (answer) => sign(context, ca, newest, answer),
  };
}

async function open(
  context: CaContext,
  ca: { readonly tenantId: string; readonly caId: string },
  registrations: readonly Registration[],
  message: Uint8Array,
  known: ReadonlySet<string>,
): Promise<OpenedMessage> {
  const signed = readSignedData(message, known);
  const signer = signerOf(signed);
  verifySignedData(signed, publicKeyObject(signer.publicKey));
  if (signed.content === undefined) throw new CmsError('malformed', 'the message has no content');
  const enveloped = readEnvelopedData(signed.content);
  const { content, transport } = await decrypt(context, ca, registrations, enveloped);
  const { attributes, hash } = signed.signer;
  return { signer: signer.der, attributes, hash, content, transport, cipher: enveloped.cipher };
}

/** The certificate that the signature names; it proves nothing, but that the message was signed with its key. */
function signerOf({ certificates, signer }: SignedData): Certificate {
  for (const der of certificates) {
    const read = readable(der);
    if (read === undefined) continue;
    if (Buffer.compare(read.issuer, signer.issuer) === 0 && read.serial === Buffer.from(signer.serial).toString('hex')) return read;
  }
  throw new CmsError('not-signed', 'the message has no certificate of its signer');
}

function readable(der: Uint8Array): Certificate | undefined {
  try {
    const certificate = readCertificate(der);
    publicKeyObject(certificate.publicKey);
    return certificate;
  } catch {
    return undefined;
  }
}

async function decrypt(
  context: CaContext,
  ca: { readonly tenantId: string; readonly caId: string },
  registrations: readonly Registration[],
  enveloped: EnvelopedData,
): Promise<Pick<OpenedMessage, 'content' | 'transport'>> {
  for (const { number, key, certificate } of registrations) {
    const { issuer, serial } = readCertificate(certificate);
    const recipient = findRecipient(enveloped, { issuer, serial: Buffer.from(serial, 'hex') });
    if (recipient === undefined) continue;
    const { transport, encryptedKey } = recipient;
    // The token has no decryption with PKCS#1 v1.5 that answers the same whatever is inside.
    if (transport.padding !== 'oaep') throw new CmsError('unsupported', 'the content key is to be encrypted with RSAES-OAEP and SHA-256');
    const reference = { ...registrationReference(ca, number), stored: key.stored };
    const contentKey = await context.hsm.decryptOaep(reference, transport.hash, encryptedKey).catch((error: unknown) => {
      throw error instanceof HsmError && error.kind === 'decryption-failed' ? undecryptable() : error;
    });
    return { content: decryptContent(enveloped, contentKey), transport };
  }
  throw undecryptable();
}

async function sign(
  context: CaContext,
  ca: { readonly tenantId: string; readonly caId: string },
  { number, key, certificate }: Registration,
  { content, attributes, hash }: AnswerToSign,
): Promise<Uint8Array> {
  const publicKey = publicKeyObject(key.publicKey);
  const inside = content === undefined ? undefined : writeEnvelopedData(content);
  return writeSignedData({
    content: inside,
    hash,
    attributes,
    signingTime: context.clock.now(),
    signer: {
      certificate,
      sign(name: CmsHash, octets: Uint8Array) {
        const scheme = { scheme: 'rsa-pkcs1v15', hash: name, digest: hashOf(name, octets, 'buffer') } as const;
        const reference = { ...registrationReference(ca, number), stored: key.stored };
        return context.hsm.sign(reference, scheme, (signature) => verify(name, octets, publicKey, signature));
      },
    },
  });
}
