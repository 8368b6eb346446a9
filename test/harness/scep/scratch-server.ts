// A server of SCEP with its keys in the process and no policy: it stands for a real one where clients and the messages are the subject.
import { createHash, createPrivateKey, privateDecrypt, constants, randomBytes, sign as signWith } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { encodeCertsOnly } from '../../../core/cms/certs-only.ts';
import { encode, nullValue, objectIdentifier, sequence, tag, time } from '../../../core/der/der.ts';
import { readCertificate } from '../../../plugins/scep/message/certificate.ts';
import { readCertificationRequest, readIssuerAndSerial } from '../../../plugins/scep/message/content.ts';
import { findRecipient, type Recipient } from '../../../plugins/scep/message/envelope.ts';
import { ScepMalformed } from '../../../plugins/scep/message/malformed.ts';
import { decodeMessage, readQuery } from '../../../plugins/scep/message/query.ts';
import { type Outcome, type Reply, writeReply } from '../../../plugins/scep/message/reply.ts';
import { readRequest, type ScepRequest } from '../../../plugins/scep/message/request.ts';
import { type Identity, x509 } from '../../plugins/ca/pki.ts';
import type { HttpAnswer } from './client.ts';

export type ScratchServer = {
  readonly url: string;
  /** requests as read, the newest last */
  readonly requests: readonly ScepRequest[];
  /** what was refused, the newest last */
  readonly refusals: readonly ScepMalformed[];
  close(): Promise<void>;
};

export type ScratchOptions = {
  readonly ca: Identity;
  /** certified by the CA, with an RSA key */
  readonly ra: Identity;
  readonly capabilities?: readonly string[];
};

/** Grants the challengePassword `open sesame`, lets the first `later` wait, and refuses others, unless the signer has a certificate of the CA. */
export async function startScratchServer({ ca, ra, capabilities = allCapabilities }: ScratchOptions): Promise<ScratchServer> {
  const requests: ScepRequest[] = [];
  const refusals: ScepMalformed[] = [];
  const authority = new ScratchAuthority(ca, ra);
  const answer = async (request: IncomingMessage): Promise<HttpAnswer> => {
    const query = readQuery((request.url ?? '').split('?')[1] ?? '');
    const body = await buffer(request);
    if (query?.operation === 'GetCACaps') return ok('text/plain', Buffer.from(capabilities.join('\n')));
    if (query?.operation === 'GetCACert') return ok('application/x-x509-ca-ra-cert', encodeCertsOnly([ra.certificate, ca.certificate]));
    const octets = request.method === 'POST' ? body : decodeMessage(query?.message ?? '');
    if (query?.operation !== 'PKIOperation' || octets === undefined)
      return { status: 400, contentType: 'text/plain', body: Buffer.from('no') };
    try {
      const read = readRequest(octets);
      requests.push(read);
      return ok('application/x-pki-message', await authority.answer(read));
    } catch (error) {
      if (!(error instanceof ScepMalformed)) throw error;
      refusals.push(error);
      return ok('application/x-pki-message', await authority.refuse(error));
    }
  };
  const server = createServer((request, response) => {
    answer(request).then(
      ({ status, contentType, body }) => response.writeHead(status, { 'content-type': contentType ?? '' }).end(body),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = async (): Promise<void> => {
    const closed = once(server, 'close');
    server.close().closeAllConnections();
    await closed;
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/scep`, requests, refusals, close };
}

const allCapabilities = ['AES', 'SHA-256', 'SHA-384', 'SHA-512', 'SCEPStandard', 'POSTPKIOperation', 'Renewal'];
const ok = (contentType: string, body: Uint8Array): HttpAnswer => ({ status: 200, contentType, body: Buffer.from(body) });

class ScratchAuthority {
  readonly #ca: Identity;
  readonly #ra: Identity;
  /** by the digest of the request's key */
  readonly #issued = new Map<string, Buffer>();
  readonly #waiting = new Map<string, Uint8Array>();

  constructor(ca: Identity, ra: Identity) {
    [this.#ca, this.#ra] = [ca, ra];
  }

  async answer(request: ScepRequest): Promise<Uint8Array> {
    const outcome = await this.#decide(request).catch((error: unknown): Outcome => {
      if (!(error instanceof ScepMalformed)) throw error;
      return { pkiStatus: 'failure', failInfo: error.failInfo, failInfoText: error.reason };
    });
    return this.#write({ ...request, ...outcome });
  }

  refuse({ failInfo, reason, answerable }: ScepMalformed): Promise<Uint8Array> {
    const { transactionId, senderNonce } = answerable ?? { transactionId: 'none', senderNonce: Buffer.alloc(16) };
    return this.#write({ transactionId, senderNonce, digest: 'sha256', pkiStatus: 'failure', failInfo, failInfoText: reason });
  }

  #write(parts: Pick<Reply, 'transactionId' | 'senderNonce' | 'digest'> & Outcome): Promise<Uint8Array> {
    const nonces = { recipientNonce: parts.senderNonce, senderNonce: randomBytes(16) };
    const key = createPrivateKey(this.#ra.keys.pem);
    return writeReply({ ...parts, ...nonces, signer: this.#ra.certificate }, async (octets, digest) => signWith(digest, octets, key));
  }

  async #decide(request: ScepRequest): Promise<Outcome> {
    if (!request.verifySignature()) throw new ScepMalformed('badMessageCheck', 'the signature does not hold');
    const recipient = findRecipient(request.envelope, readCertificate(this.#ra.certificate));
    if (recipient === undefined) throw new ScepMalformed('badRequest', 'the message is for somebody else');
    const content = request.envelope.open(this.#decryptKey(recipient));
    const success = { pkiStatus: 'success', recipient: request.signer, cipher: request.envelope.contentCipher } as const;
    if (request.messageType === 21) {
      const { serial } = readIssuerAndSerial(content);
      const found = [...this.#issued.values()].find((one) => Buffer.from(readCertificate(one).serial).toString('hex') === serial);
      if (found === undefined) throw new ScepMalformed('badCertId', 'the certificate is not known');
      return { ...success, certificates: [found] };
    }
    if (request.messageType === 22) {
      readIssuerAndSerial(content);
      return { ...success, crl: this.#list() };
    }
    if (request.messageType === 20) {
      const waiting = this.#waiting.get(request.transactionId);
      if (waiting === undefined) throw new ScepMalformed('badCertId', 'nothing waits');
      return { ...success, certificates: [await this.#issue(waiting)] };
    }
    const { der, challengePassword } = readCertificationRequest(content, request.signer);
    const isHeld = [...this.#issued.values()].some((one) => one.equals(request.signer.der));
    if (challengePassword === 'later' && !isHeld) {
      this.#waiting.set(request.transactionId, der);
      return { pkiStatus: 'pending' };
    }
    if (challengePassword !== 'open sesame' && !isHeld) throw new ScepMalformed('badRequest', 'the challengePassword is another one');
    return { ...success, certificates: [await this.#issue(der)] };
  }

  #decryptKey({ keyTransport, encryptedKey }: Recipient): Uint8Array {
    const key = createPrivateKey(this.#ra.keys.pem);
    const oaep = keyTransport.padding === 'oaep' ? { padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: keyTransport.hash } : undefined;
    return privateDecrypt({ key, ...(oaep ?? { padding: constants.RSA_PKCS1_PADDING }) }, encryptedKey);
  }

  async #issue(der: Uint8Array): Promise<Buffer> {
    const csr = new x509.Pkcs10CertificateRequest(new Uint8Array(der));
    const id = createHash('sha256').update(der).digest('hex');
    const present = this.#issued.get(id);
    if (present !== undefined) return present;
    const certificate = await x509.X509CertificateGenerator.create({
      ...{ subject: csr.subject, publicKey: csr.publicKey, serialNumber: randomBytes(8).toString('hex').replace(/^./, '1') },
      issuer: new x509.X509Certificate(new Uint8Array(this.#ca.certificate)).subject,
      ...{ signingKey: this.#ca.keys.privateKey, signingAlgorithm: this.#ca.keys.signing },
      ...{ notBefore: new Date(Date.now() - 60_000), notAfter: new Date(Date.now() + 86_400_000) },
      extensions: csr.extensions.filter(({ type }) => type === '2.5.29.17'),
    });
    const made = Buffer.from(certificate.rawData);
    this.#issued.set(id, made);
    return made;
  }

  /** An empty revocation list. */
  #list(): Uint8Array {
    const key = createPrivateKey(this.#ca.keys.pem);
    const algorithm =
      key.asymmetricKeyType === 'ec'
        ? sequence(objectIdentifier('1.2.840.10045.4.3.2'))
        : sequence(objectIdentifier('1.2.840.113549.1.1.11'), nullValue);
    const now = Temporal.Now.instant();
    const content = sequence(algorithm, readCertificate(this.#ca.certificate).subject, time(now), time(now.add({ hours: 24 })));
    return sequence(content, algorithm, encode(tag.bitString, Buffer.of(0), signWith('sha256', content, key)));
  }
}
