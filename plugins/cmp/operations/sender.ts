// The sender of a message: the holder of a secret, by its MAC, or of a certificate, by its signature. The same protects the answer.
import { hash, X509Certificate } from 'node:crypto';
import { revealSecret, type Secret } from '../../../core/base/secret.ts';
import type { HeldCertificate } from '../../../core/plugin/services/certificate-authority.ts';
import type { CmpCall, CmpContext } from '../context.ts';
import { isRoot, readCertificate } from '../message/certificate.ts';
import { answering, computeMac, encodeMacScheme, isMacOf, type MacScheme, readMacScheme, workOf } from '../message/mac.ts';
import type { Message, SignedHeader } from '../message/message.ts';
import { CmpRefusal, reading } from '../message/refusal.ts';
import { isSignedBy, readSignatureAlgorithm } from '../message/signature.ts';
import { directoryName, type Protector } from '../message/write.ts';
import { placeOf } from '../records/records.ts';

export type Sender = {
  /** for transactions, which the same sender goes on with */
  readonly name: string;
  readonly protector: Protector;
} & (
  | {
      readonly kind: 'mac';
      readonly secret: Secret<string>;
      /** many have the secret */
      readonly isShared: boolean;
      /** the secret has ended and the sender has begun no transaction: it was not accepted */
      readonly problem: string | undefined;
    }
  | { readonly kind: 'held'; readonly held: HeldCertificate }
  | { readonly kind: 'trusted' }
  /** a registration authority that the CA names */
  | { readonly kind: 'authority'; readonly serial: string }
);

type Sent = Message & { readonly header: SignedHeader };

/** Finds and proves the sender. Throws CmpRefusal, `rate-limited` after too many wrong secrets from an address, and `busy`. */
export function authenticate(context: CmpContext, call: CmpCall, message: Sent): Promise<Sender> {
  const scheme = readMacScheme(message.header.protectionAlgorithm);
  return scheme === undefined ? judgeSignature(call, message) : judgeMac(context, call, message, scheme);
}

const noProtection = () => new CmpRefusal('badMessageCheck', 'the message has a protectionAlg and no protection');

async function judgeMac(
  context: CmpContext,
  call: CmpCall,
  { header, protectedPart, protection }: Sent,
  scheme: MacScheme,
): Promise<Sender> {
  const { ca, settings, clientIp } = call;
  const { senderKeyId } = header;
  if (protection === undefined) throw noProtection();
  if (senderKeyId === undefined || senderKeyId.length === 0)
    throw new CmpRefusal('badMessageCheck', 'the header has no senderKID: name the secret by its reference');
  if (scheme.kind === 'passwordBased' && scheme.hash === 'sha1' && settings.oldAlgorithms?.includes('sha1') !== true)
    throw new CmpRefusal('badAlg', 'the key of the MAC is derived with SHA-1: use SHA-256, or have the CA allow it in "cmp/allow-old"');
  const reference = referenceOf(senderKeyId);
  const accepted = await context.macTurns.judge(clientIp, workOf(scheme), () =>
    ca.judgeMac({
      ...{ protocol: 'cmp', reference, clientIp },
      matches: (secret) => isMacOf(scheme, revealSecret(secret), protectedPart, protection),
    }),
  );
  if (accepted === undefined)
    throw new CmpRefusal('badMessageCheck', 'the MAC is not that of a secret that this CA knows under the reference');
  const { credential, secret } = accepted;
  const name = `${credential} ${reference}`;
  // A secret that has ended goes on with its own transactions. Otherwise it counts as no credential: the tenant does not pay for it.
  const problem = hasBegun(context, call, header, name) ? undefined : accepted.problem;
  const parameters = { credential, reference: reference.slice(0, 64) };
  if (problem === undefined) call.accept(parameters);
  else call.note(parameters);
  const own = answering(scheme, await context.nonces.next());
  const trusted = ca.trustedCertificates();
  const issuer = trusted[0] === undefined ? undefined : readCertificate(trusted[0]);
  return {
    ...{ kind: 'mac', name, secret, problem, isShared: credential === 'shared-secret' },
    protector: {
      sender: directoryName(issuer?.subject ?? Uint8Array.of(0x30, 0)),
      keyId: senderKeyId,
      algorithm: encodeMacScheme(own),
      certificates: trusted,
      protect: (octets) => computeMac(own, revealSecret(secret), octets),
    },
  };
}

const hasBegun = ({ tables }: CmpContext, { ca }: CmpCall, { transactionId }: SignedHeader, name: string): boolean =>
  transactionId !== undefined && tables.transactions.get(placeOf(ca, transactionId))?.sender === name;

/** The reference as text; octets that are not visible characters are written as hexadecimal. */
function referenceOf(keyId: Uint8Array): string {
  const text = Buffer.from(keyId).toString('latin1');
  return /^[\x21-\x7e]+$/.test(text) ? text : `0x${Buffer.from(keyId).toString('hex')}`;
}

async function judgeSignature(call: CmpCall, { header, protectedPart, protection, certificates }: Sent): Promise<Sender> {
  const algorithm = readSignatureAlgorithm(header.protectionAlgorithm);
  if (protection === undefined) throw noProtection();
  const [leaf, ...others] = certificates;
  if (leaf === undefined) throw new CmpRefusal('badMessageCheck', 'the message is signed and has no certificate in extraCerts');
  const certificate = reading('the first certificate of extraCerts', () => readCertificate(leaf));
  if (Buffer.compare(header.sender, directoryName(certificate.subject)) !== 0)
    throw new CmpRefusal('badMessageCheck', 'the sender is not the subject of the first certificate of extraCerts, which signs');
  const { keyId } = certificate;
  if (keyId !== undefined && (header.senderKeyId === undefined || Buffer.compare(keyId, header.senderKeyId) !== 0))
    throw new CmpRefusal('badMessageCheck', 'the senderKID is not the key identifier of the first certificate of extraCerts, which signs');
  const authority = call.ca.findRegistration(leaf);
  const held = authority === undefined ? call.ca.findIssued(leaf) : undefined;
  if (held === undefined && authority === undefined) requireTrusted(call, leaf, others);
  if (!isSignedBy(new X509Certificate(leaf).publicKey, algorithm, protectedPart, protection))
    throw new CmpRefusal('badMessageCheck', 'the signature of the message does not verify');
  // Told to its holder alone.
  const problem = authority?.problem ?? held?.problem;
  if (problem !== undefined) throw new CmpRefusal(problem === 'revoked' ? 'certRevoked' : 'signerNotTrusted', problems[problem]);
  const protector = await signingProtector(call);
  if (authority !== undefined) {
    call.accept({ credential: 'registration-authority', 'signer-serial': authority.serial.slice(0, 64) });
    return { kind: 'authority', name: `authority ${hash('sha256', leaf)}`, serial: authority.serial.slice(0, 64), protector };
  }
  if (held !== undefined) {
    call.accept({ credential: 'certificate', 'signer-serial': held.serial });
    return { kind: 'held', name: `certificate ${held.serial}`, held, protector };
  }
  call.accept({ credential: 'trusted-certificate', 'signer-serial': certificate.serial.slice(0, 64) });
  return { kind: 'trusted', name: `trusted ${hash('sha256', leaf)}`, protector };
}

const problems: Readonly<Record<NonNullable<HeldCertificate['problem']>, string>> = {
  revoked: 'the certificate that signed is revoked',
  'not-valid-now': 'the certificate that signed has expired, or is not valid yet',
  'not-for-clients': 'the certificate that signed is not one of a device',
  'not-confirmed': 'the certificate that signed was not confirmed: send certConf for it first',
};

function requireTrusted({ ca, settings }: CmpCall, leaf: Uint8Array, intermediates: readonly Uint8Array[]): void {
  if (settings.takesTrustedCertificates && ca.trusts({ leaf, intermediates })) return;
  const also = settings.takesTrustedCertificates
    ? ', nor by the CA that it trusts for first enrolments with a complete chain in extraCerts'
    : '';
  throw new CmpRefusal('signerNotTrusted', `the certificate that signed was not issued by this CA${also}`);
}

/** Signs answers with the registration authority of the CA. */
export async function signingProtector({ ca }: Pick<CmpCall, 'ca'>): Promise<Protector> {
  const signer = await ca.answerSigner();
  const { certificate, issuers, algorithm } = signer;
  const { subject, keyId } = readCertificate(certificate);
  return {
    sender: directoryName(subject),
    keyId,
    algorithm,
    certificates: [certificate, ...issuers],
    protect: (octets) => signer.sign(octets),
  };
}

/** The newest root above the CA, in a list. */
export function rootsOf({ ca }: Pick<CmpCall, 'ca'>): readonly Uint8Array[] {
  return ca
    .trustedCertificates()
    .filter((der) => isRoot(readCertificate(der)))
    .slice(0, 1);
}
