// PKCSReq and RenewalReq. A renewal is known by the certificate that signed, never by the type: three of five clients send PKCSReq for it.
import { hash } from 'node:crypto';
import { refusalOf } from '../../../core/audit/record.ts';
import type {
  EnrolmentOutcome,
  HeldCertificate,
  Transaction,
  VerifiedRequest,
} from '../../../core/plugin/services/certificate-authority.ts';
import type { ScepCall, ScepContext } from '../context.ts';
import { messageType } from '../message/attributes.ts';
import { type CertificationRequest, readCertificationRequest } from '../message/content.ts';
import { ScepMalformed } from '../message/malformed.ts';
import type { Asked, Granted } from './opened.ts';

const protocol = 'scep';

/** Throws ScepMalformed, and ServiceError as the CA does. */
export async function enrol(
  { audit }: ScepContext,
  call: ScepCall,
  { request, open, encryptedKey = new Uint8Array() }: Asked,
): Promise<Granted> {
  const csr = readCertificationRequest(await open(), request.signer);
  const verified = call.ca.readRequest(csr.der);
  const { subject, names, keyName } = verified;
  call.note({ subject, names, 'key-type': keyName });
  // A certificate whose issue could not be recorded is refused before it is signed, not after.
  const refusal = refusalOf(audit);
  if (refusal !== undefined) throw refusal;
  const held = call.ca.findIssued(request.signer.der);
  // A thief of the key can sign what was recorded once more, under another nonce, but not encrypt it once more.
  const transaction = { protocol, transaction: request.transactionId, message: hash('sha256', encryptedKey) };
  if (held !== undefined) return grantedOf(call, await renew(call, verified, held, transaction));
  requireFirst(request, csr);
  const outcome = await verified.enrol({
    ...transaction,
    secret: csr.challengePassword,
    clientIp: call.clientIp,
    // A device that needs no secret, because a person decides, has proven nothing.
    onAccepted: (credential) => (credential === 'none' ? call.note({ credential }) : call.accept({ credential })),
  });
  return grantedOf(call, outcome);
}

function renew(call: ScepCall, verified: VerifiedRequest, held: HeldCertificate, transaction: Transaction): Promise<EnrolmentOutcome> {
  if (!call.settings.renewsHeldCertificates)
    throw new ScepMalformed('badRequest', 'the CA does not allow renewals with a certificate that it has issued: enrol for the first time');
  if (held.problem !== undefined) throw new ScepMalformed('badRequest', `the certificate that signed ${problems[held.problem]}`);
  call.accept({ credential: 'certificate', 'renewed-serial': held.serial });
  return verified.enrolAgain(transaction, held);
}

const problems: Readonly<Record<NonNullable<HeldCertificate['problem']>, string>> = {
  revoked: 'is revoked and renews nothing',
  'not-valid-now': 'has expired, or is not valid yet, and renews nothing: enrol for the first time',
  'not-for-clients': 'is not one of a device',
  'not-confirmed': 'was not confirmed by its holder, and renews nothing: confirm it by CMP first',
};

/** A first request is signed with its own key, or the signature would prove nothing; one with another type than PKCSReq is not one. */
function requireFirst({ messageType: type, signer }: Asked['request'], { publicKey }: CertificationRequest): void {
  if (type === messageType.renewalReq)
    throw new ScepMalformed(
      'badRequest',
      'the certificate that signed the RenewalReq was not issued by this CA: sign with the one to renew',
    );
  if (Buffer.compare(signer.publicKey, publicKey) !== 0)
    throw new ScepMalformed(
      'badRequest',
      'the message is signed with another key than that of its request: sign a first request with its own key',
    );
}

/** The content of the answer; a refusal is thrown. */
export async function grantedOf(call: ScepCall, outcome: EnrolmentOutcome): Promise<Granted> {
  if (outcome.status === 'refused') throw new ScepMalformed('badRequest', outcome.detail);
  // Recorded messages can be sent again by anybody.
  if (!call.isAccepted()) call.ca.countRepeated(call.clientIp);
  if (outcome.status === 'pending') return 'pending';
  const { serial, certificate, subject, names, isRepetition } = outcome;
  if (!isRepetition) await call.ca.forgetFailures(call.clientIp);
  call.note({ subject, names, serial, 'certificate-sha256': hash('sha256', certificate), ...(isRepetition ? { repetition: true } : {}) });
  return { certificates: [certificate] };
}
