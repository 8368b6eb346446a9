// PKIOperation: a message is read, judged by its algorithms and signature, opened with the key in the token, and answered with a signed message.
import { isKeyAway } from '../../../core/http/response/problem.ts';
import { ServiceError } from '../../../core/base/errors.ts';
import type { HashName, OaepHash } from '../../../hsm/api.ts';
import type { KeyTransport, RegistrationAuthority } from '../../../core/plugin/services/registration-authority.ts';
import { answer, type ScepAnswer, type ScepCall, type ScepContext } from '../context.ts';
import type { Digest, OldAlgorithm } from '../message/algorithms.ts';
import { messageType } from '../message/attributes.ts';
import { readCertificate } from '../message/certificate.ts';
import { findRecipient, type Recipient } from '../message/envelope.ts';
import { type AnswerableFields, type FailInfo, ScepMalformed } from '../message/malformed.ts';
import { type Outcome, writeReply } from '../message/reply.ts';
import { readRequest, type ScepRequest } from '../message/request.ts';
import { requireRegistration } from './ca.ts';
import type { Asked, Granted } from './opened.ts';
import { enrol } from './enrol.ts';
import { findCertificate, findList, poll } from './queries.ts';
import { isLimit, noteFailure, sentence } from '../../../core/enrolment/refusals.ts';

const names: Readonly<Record<number, string>> = {
  [messageType.pkcsReq]: 'PKCSReq',
  [messageType.renewalReq]: 'RenewalReq',
  [messageType.certPoll]: 'CertPoll',
  [messageType.getCert]: 'GetCert',
  [messageType.getCrl]: 'GetCRL',
};

const handlers: Readonly<Record<number, (context: ScepContext, call: ScepCall, asked: Asked) => Granted | Promise<Granted>>> = {
  [messageType.pkcsReq]: enrol,
  [messageType.renewalReq]: enrol,
  [messageType.certPoll]: poll,
  [messageType.getCert]: findCertificate,
  [messageType.getCrl]: findList,
};

export async function pkiOperation(context: ScepContext, call: ScepCall): Promise<ScepAnswer> {
  const octets = await call.readMessage();
  const registration = await requireRegistration(call);
  let asked: AnswerableFields | undefined;
  let digest: Digest = 'sha256';
  let outcome: Outcome;
  try {
    const request = readRequest(octets);
    asked = request;
    ({ digest } = request);
    call.note({ 'message-type': names[request.messageType], transaction: request.transactionId });
    call.ca.requireFewUnproven(call.clientIp, false);
    const granted = await grant(context, call, registration, request);
    const { signer: recipient, envelope } = request;
    outcome =
      granted === 'pending' ? { pkiStatus: 'pending' } : { pkiStatus: 'success', ...granted, recipient, cipher: envelope.contentCipher };
  } catch (error) {
    if (isLimit(error)) await countUnproven(call, asked);
    const refusal = refusalOf(error);
    asked ??= refusal.answerable;
    await countUnproven(call, asked);
    if (call.isAccepted()) countRefused(call);
    // Counted first: a flood beyond the limit is noted nowhere, and costs the store nothing.
    if (asked !== undefined) await noteFailure(call, 'scep', refusal.reason);
    call.note({ reason: refusal.reason });
    call.noteRefusal(error instanceof ServiceError ? error.code : `scep-${refusal.failInfo}`);
    // Without a transaction there is nothing to answer to.
    if (asked === undefined)
      return { status: 400, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: `${sentence(refusal.reason)}\n` };
    outcome = { pkiStatus: 'failure', failInfo: refusal.failInfo, failInfoText: sentence(refusal.reason) };
  }
  call.note({ 'pki-status': outcome.pkiStatus });
  return answer('application/x-pki-message', await signedReply(context, registration, asked, digest, outcome));
}

async function signedReply(
  context: ScepContext,
  registration: RegistrationAuthority,
  { transactionId, senderNonce: recipientNonce }: AnswerableFields,
  digest: Digest,
  outcome: Outcome,
): Promise<Uint8Array> {
  const shared = {
    transactionId,
    recipientNonce,
    senderNonce: await context.drawNonce(),
    signer: registration.certificate,
    signingTime: context.clock.now(),
  };
  // Nobody here signs with SHA-1 or MD5: those who send them read SHA-256 as well.
  const hash: HashName = digest === 'sha384' || digest === 'sha512' ? digest : 'sha256';
  return writeReply({ ...shared, ...outcome, digest: hash }, (octets) => registration.sign(hash, octets));
}

/** Throws ScepMalformed and ServiceError. */
async function grant(context: ScepContext, call: ScepCall, registration: RegistrationAuthority, request: ScepRequest): Promise<Granted> {
  requireAllowed(call, request);
  if (request.signer.key.type !== 'rsa')
    throw new ScepMalformed('badAlg', 'the key of the signer is not an RSA key, for which answers can be encrypted: use one');
  if (!request.verifySignature()) throw new ScepMalformed('badMessageCheck', 'the signature of the message does not verify');
  const handler = handlers[request.messageType];
  if (handler === undefined) throw new ScepMalformed('badRequest', 'the messageType is not taken');
  const addressed = findAddressed(registration, request);
  return handler(context, call, {
    ...{ request, encryptedKey: addressed?.recipient.encryptedKey },
    open: (isQuestion) => open(call, registration, request, addressed, isQuestion),
  });
}

const settingOf: Readonly<Record<OldAlgorithm, string>> = { 'des-cbc': 'des', 'des-ede3-cbc': 'des3', md5: 'md5', sha1: 'sha1' };

/** Requires that the CA takes the old algorithms of the message, each by its name. */
function requireAllowed(call: ScepCall, { oldAlgorithms: used }: ScepRequest): void {
  const { oldAlgorithms = [] } = call.settings;
  const written = used.map((one) => settingOf[one]);
  if (written.length > 0) call.note({ 'old-algorithms': written });
  const refused = written.filter((name) => !oldAlgorithms.includes(name));
  if (refused.length === 0) return;
  throw new ScepMalformed(
    'badAlg',
    `the message uses ${refused.join(' and ')}: use AES and SHA-256, or have the CA allow it in "scep/allow-old"`,
  );
}

type Addressed = { readonly certificate: Uint8Array; readonly recipient: Recipient };

/** The certificate of this CA for which the message is encrypted. */
function findAddressed({ certificates }: RegistrationAuthority, { envelope }: ScepRequest): Addressed | undefined {
  for (const certificate of certificates) {
    const recipient = findRecipient(envelope, readCertificate(certificate));
    if (recipient !== undefined) return { certificate, recipient };
  }
  return undefined;
}

/** The content of the envelope; octets that are nothing if it was not encrypted for this CA with the key that it carries. */
async function open(
  { ca, clientIp }: ScepCall,
  registration: RegistrationAuthority,
  { envelope }: ScepRequest,
  addressed: Addressed | undefined,
  isQuestion = false,
): Promise<Uint8Array> {
  if (addressed === undefined)
    throw new ScepMalformed(
      'badCertId',
      'the message is not encrypted for this CA: ask for GetCACert again, and encrypt for its first certificate',
    );
  const { certificate, recipient } = addressed;
  ca.requireFewUnproven(clientIp, isQuestion);
  return envelope.open(
    await registration.openKey(certificate, transportOf(recipient.keyTransport), recipient.encryptedKey, envelope.keyLength),
  );
}

function transportOf(transport: { readonly padding: 'pkcs1v15' } | { readonly padding: 'oaep'; readonly hash: Digest }): KeyTransport {
  if (transport.padding === 'pkcs1v15') return transport;
  if (transport.hash === 'md5') throw new ScepMalformed('badAlg', 'the content key is encrypted with OAEP and MD5: use SHA-256');
  return { padding: 'oaep', hash: transport.hash satisfies OaepHash };
}

/**
 * Counts what was refused before its sender was accepted: even a refusal costs the token a signature, and who guesses at ciphertexts or secrets needs
 * many. What is beyond another limit counts too, so that in the end it is not even decrypted. Throws `rate-limited`.
 */
async function countUnproven(call: ScepCall, asked: AnswerableFields | undefined): Promise<void> {
  if (asked !== undefined && !call.isAccepted()) await call.ca.countUnproven(call.clientIp);
}

/** Counts the refusal of a sender that is known: the holder of a certificate, or an address of those who know a secret. Throws `rate-limited`. */
function countRefused(call: ScepCall): void {
  const { 'renewed-serial': serial } = call.noted();
  call.ca.countRefused(call.clientIp, typeof serial === 'string' ? `certificate ${serial}` : undefined);
}

type Refusal = { readonly failInfo: FailInfo; readonly reason: string; readonly answerable?: AnswerableFields | undefined };

/** The refusal in the words of SCEP; throws what is not one of the message: HTTP answers that. */
function refusalOf(error: unknown): Refusal {
  if (error instanceof ScepMalformed) return error;
  if (!(error instanceof ServiceError) || isKeyAway(error) || error.status >= 500 || error.status === 429) throw error;
  return { failInfo: 'badRequest', reason: error.details.detail ?? error.advice };
}
