// Service of the plugin `ca` for enrolment protocols and listeners: CAs whose keys are in the HSM.
import type { KeyReference, Secret } from '../../../hsm/api.ts';
import type { WriteTransaction } from '../../store/store.ts';
import { defineService } from '../service.ts';
import type { CertificateEnds, NamesCa } from './certificate-logins.ts';
import type { AnswerSigner, RegistrationAuthority, TrustedRegistration } from './registration-authority.ts';
import type { RevocationQuestion } from './revocation-question.ts';

/** Provided by the plugin `ca`. */
export const certificateAuthorityService = defineService<CertificateAuthorities>('certificate-authority');

export type CertificateAuthorities = {
  /** Finds a CA of the tenant that has a key. Reads the state of the last refresh of the store. */
  find(tenantId: string, name: string): CertificateAuthority | undefined;
  /** Tells whether a CA with this id is there, for protocols that keep records of it. */
  exists(tenantId: string, id: string): boolean;
  /** Finds a CA of the tenant whose certificates may log clients in, with a key or only trusted. Reads the state of the last refresh of the store. */
  findClientAuthority(tenantId: string, name: string): ClientAuthority | undefined;
  /** Takes as long as the judgement of a certificate by a CA that has not issued it. */
  judgeNothing(shown: ShownCertificate): void;
  /** Called with the ends of certificates and CAs by a plugin that relies on them, while it is provisioned. */
  onEnd(ends: CertificateEnds): void;
  /** Called by a plugin by which clients log in with certificates, while it is provisioned: a change of a CA that it names changes who logs in. */
  attachLogin(isNamed: NamesCa): void;
  /** Reads subject and serial number of any certificate; undefined if it cannot be parsed. */
  describe(certificate: Uint8Array): { readonly subject: string; readonly serial: string } | undefined;
  /** Reads the names of any certificate (DER), judged by nobody; undefined if it cannot be parsed. */
  namesOf(certificate: Uint8Array): ClientNames | undefined;
  /** limit of a client's intermediates that `trusts` examines; more are ignored */
  readonly maxIntermediates: number;
  /** Called by a plugin that lets devices enrol, while it is provisioned. */
  attach(protocol: EnrolmentProtocol): void;
  /**
   * The TLS identity of the appliance's listeners for these host names and addresses, the first being the common name: the one on record,
   * or a new one if none exists, if less than a third of its lifetime is left, if the hosts changed, or if its CA got a new key.
   * Creates the CA `appliance` of the given tenant on first use and rolls it over a year before its end. Called at start and then
   * every hour. Safe to repeat after a crash at any line; concurrent processes get the same identity. A doubt about the clock does not prevent it:
   * without an identity, an administrator could not connect to confirm the time. A key in the token that the token has lost is replaced; with
   * `place` `store` an existing one is removed.
   */
  listenerIdentity(tenantId: string, hosts: readonly string[], place: ListenerKeyPlace): Promise<ListenerIdentity>;
};

/** A CA whose certificates may log clients in. */
export type ClientAuthority = {
  /** uuid, never used again */
  readonly id: string;
  /** object of the trust of a role: the id and, of a CA elsewhere, the digest of its certificate, which may be replaced */
  readonly anchor: string;
  readonly name: string;
  /** false: a CA elsewhere that is only trusted, of whose certificates there is no record here */
  readonly isOwn: boolean;
  /** Tells whether a CA elsewhere has signed a revocation list (DER). */
  hasSigned(list: Uint8Array): boolean;
  /**
   * Judges the certificate of a client: path, dates, purpose, revocation; not its names. `lists`: revocation lists (DER) of CAs elsewhere, of which
   * each certificate below the anchor needs a current one, or one of `answers`, which are those of OCSP responders (DER); undefined: revocations elsewhere
   * do not matter.
   */
  judge(shown: ShownCertificate, lists: readonly Uint8Array[] | undefined, answers?: readonly Uint8Array[]): JudgedClient | ClientRefusal;
  /** Questions for OCSP responders about a certificate of a CA elsewhere, and each CA between; none for one that is not good otherwise. */
  questions(shown: ShownCertificate): readonly RevocationQuestion[];
};

/** A certificate that is good for its CA. */
export type JudgedClient = {
  /** lower-case hexadecimal */
  readonly serial: string;
  readonly notAfter: Temporal.Instant;
  readonly names: ClientNames;
  /** way in which it was issued here, as on record: `est-secret`, `est-renewal`, `sign-csr`; absent for a CA elsewhere */
  readonly via?: string;
  /** Tells whether it is still on record and not revoked, and its CA is there, as a transaction sees it. */
  isGood(transaction: WriteTransaction): boolean;
};

/** Every name of each kind in a certificate, as it is written: common names, and dNSName, URI, rfc822Name of subjectAltName. */
export type ClientNames = Readonly<Record<'cn' | 'dns' | 'uri' | 'email', readonly string[]>>;

export type ClientRefusal = {
  readonly problem: 'unreadable' | 'not-issued' | 'no-path' | 'no-revocation-list' | NonNullable<HeldCertificate['problem']>;
};

/** One CA with its key, for an enrolment protocol. */
export type CertificateAuthority = {
  readonly tenantId: string;
  /** uuid, never used again */
  readonly id: string;
  readonly name: string;
  /**
   * Returns the rules of enrolment by a protocol: the container with its name in the CA resource; undefined if it is off. The CA decides about
   * names (`approve`).
   */
  enrolment(protocol: string): EnrolmentSettings | undefined;
  /** longest life of a certificate that its rules allow, in seconds */
  readonly longestTtlSeconds: number;
  /** DER SubjectPublicKeyInfo of the key that signs new certificates */
  readonly publicKey: Uint8Array;
  /** DER AlgorithmIdentifier of its signatures */
  readonly signatureAlgorithm: Uint8Array;
  /**
   * Certificates (DER) that a device needs to trust certificates of this CA: the newest one with its issuers up to the root and, while they
   * are valid, the earlier ones with their issuers and roll-over certificates.
   */
  trustedCertificates(): readonly Uint8Array[];
  /**
   * Tells whether a client certificate chains to the CA that this one trusts for first enrolments (which may be trust-only), is now
   * valid, for client authentication, and not revoked by a CA of the tenant. A deleted CA is no longer trusted, nor is another CA with its name.
   */
  trusts(shown: ShownCertificate): boolean;
  /** Finds a certificate issued by this CA, compared octet by octet with its records; undefined if it did not issue it. */
  findIssued(certificate: Uint8Array): HeldCertificate | undefined;
  /** Finds a certificate issued by this CA by its serial number, lower-case hexadecimal. */
  findBySerial(serial: string): HeldCertificate | undefined;
  /** Revokes a certificate that it issued, for good, on the disk when it resolves. Returns whether it was not revoked before. Throws `not-found`. */
  revoke(serial: string, reason: RevocationReason): Promise<boolean>;
  /** Reason for which its rules forbid names (`DNS:…`, `IP:…`), as a clause for people; undefined if they allow all of them. */
  findForbidden(names: readonly string[]): string | undefined;
  /** Finds a key for accounts of ACME that an administrator made; undefined for an unknown or revoked one. */
  findAccountKey(id: string): ExternalAccountKey | undefined;
  /**
   * Limits proofs that fail: throws `rate-limited` for an address from which too many have failed. `countFailure` counts one more; `running`:
   * attempts of the address that are not decided yet, which count as if they had failed.
   */
  requireFewFailures(clientIp: string, running?: number): void;
  countFailure(clientIp: string): Promise<void>;
  /** Makes the revocation list (DER) of its newest key, with every revocation. Rejects with HsmError. */
  revocationList(): Promise<Uint8Array>;
  /**
   * Returns the registration authority that decrypts requests and signs answers, made at the first use; undefined for a CA that certifies no RSA keys.
   * Rejects as `issue`.
   */
  registrationAuthority(): Promise<RegistrationAuthority | undefined>;
  /** Returns the key that signs answers which nobody encrypts: that of the registration authority, of whatever kind. Rejects as `issue`. */
  answerSigner(): Promise<AnswerSigner>;
  /**
   * Judges the MAC of a message: undefined if it is not that of a secret of the CA, which is counted. Throws `rate-limited` after too many wrong ones from
   * an address.
   */
  judgeMac(question: MacQuestion): Promise<AcceptedMac | undefined>;
  /**
   * The answer to a first enrolment that is known under a transaction, for a device that asks for news; undefined for an unknown one.
   * `publicKey`: DER SubjectPublicKeyInfo of the key that asks, which must be that of the request.
   */
  findEnrolment(transaction: Transaction, publicKey: Uint8Array): EnrolmentOutcome | undefined;
  /**
   * Limits messages that prove nothing, which cost the token as much as others: throws `rate-limited` for an address that has sent too
   * many. `isQuestion`: of a message whose content nobody has signed, as soon as one more would be limited.
   */
  requireFewUnproven(clientIp: string, isQuestion: boolean): void;
  /** Counts a message that was refused before its sender was accepted: for example, it could not be decrypted. Throws `rate-limited`. */
  countUnproven(clientIp: string): Promise<void>;
  /**
   * Limits answers that cost the token a signature and that anybody can ask for again and again: throws `rate-limited` for an address that has had
   * many in the last minute.
   */
  countRepeated(clientIp: string): void;
  /**
   * Limits refusals of senders who are known, each of which costs the token a signature and the trail a record: throws `rate-limited` for one who has had
   * many in the last minute. `sender`: a name that nobody else has; without it the address counts, as for a secret that many share.
   */
  countRefused(clientIp: string, sender: string | undefined): void;
  /** Notes what a device was told when it was refused, for the people who look after it; `subject`: what it asked for. */
  noteFailure(failure: {
    readonly protocol: string;
    readonly clientIp: string;
    readonly reason: string;
    readonly subject?: string | undefined;
  }): Promise<void>;
  /** A device at this address has got its certificate: its failures are forgotten. */
  forgetFailures(clientIp: string): Promise<void>;
  /** Verifies a DER PKCS#10 request. Throws `invalid-csr` with a detail that names the correction. */
  readRequest(der: Uint8Array): VerifiedRequest;
  /** The same for a DER CertReqMsg (RFC 4211). `takesRaVerified`: a registration authority has sent it, and may vouch for the key of the device. */
  readTemplate(der: Uint8Array, takesRaVerified?: boolean): VerifiedRequest;
  /** Finds a registration authority that its settings name, by its certificate (DER); undefined for every other certificate. */
  findRegistration(certificate: Uint8Array): TrustedRegistration | undefined;
  /** Certificates (DER) of the CA that its settings name as the next one, with its issuers; undefined without one. */
  nextCertificates(): readonly Uint8Array[] | undefined;
  /**
   * Notes, inside a transaction, whether the holder of a certificate that it has issued has confirmed that it is the one that was wanted. Before, nobody
   * authenticates with it. Without effect for a serial number that it does not know.
   */
  noteConfirmation(transaction: WriteTransaction, serial: string, isConfirmed: boolean): void;
};

/** Reasons of RFC 5280 section 5.3.1 that a protocol gives. */
export type RevocationReason =
  | 'unspecified'
  | 'key-compromise'
  | 'affiliation-changed'
  | 'superseded'
  | 'cessation-of-operation'
  | 'privilege-withdrawn';

/** A key of an administrator for accounts of ACME (RFC 8555 section 7.3.4). */
export type ExternalAccountKey = {
  /** names (`DNS:…`, `IP:…`) for which nothing is to be proved; with any, accounts get no others */
  readonly names: readonly string[];
  /** reason for which no account is made with it any longer, as a clause; undefined if one is */
  readonly problem: string | undefined;
  /** Tells whether a MAC is that of HMAC with SHA-256 under the key, which is computed in the token. Rejects with HsmError. */
  verify(octets: Uint8Array, mac: Uint8Array): Promise<boolean>;
  /** Takes a use, inside the transaction that records the account. Returns the reason for which it cannot, as a clause; undefined if it is done. */
  spend(transaction: WriteTransaction): string | undefined;
  /** Tells whether it is on record still, as a transaction sees it. */
  isPresent(transaction: WriteTransaction): boolean;
};

/** Rules of enrolment by a protocol. */
export type EnrolmentSettings = {
  /** shared secret of first enrolments; undefined: none is accepted */
  readonly sharedSecret: string | undefined;
  /** accepts certificates of another CA for first enrolments, which `trusts` judges */
  readonly takesTrustedCertificates: boolean;
  /** lets the holder of a certificate of this CA renew it */
  readonly renewsHeldCertificates: boolean;
  /** of EST: makes keys for devices */
  readonly makesKeys?: boolean;
  /** algorithms that are taken although they are weak: `des`, `des3`, `md5`, `sha1`; absent: none */
  readonly oldAlgorithms?: readonly string[];
  /** of CMP: the longest distance of the time of a message from the clock, in seconds; absent: any */
  readonly messageTimeSeconds?: number;
  /** of ACME alone */
  readonly acme?: {
    readonly externalAccountRequired: boolean;
    readonly challenges: readonly string[];
    /** names of the CA in CAA records, in lower case; none: they are not asked */
    readonly caaIdentities: readonly string[];
  };
};

/** A MAC that a message carries. */
export type MacQuestion = {
  readonly protocol: string;
  /** name of the secret in the message: the id of a one-time secret */
  readonly reference: string;
  readonly clientIp: string;
  /** Tells whether the MAC is that of a secret; takes as long for a wrong one. */
  matches(secret: Secret<string>): Promise<boolean>;
};

/** `problem`: reason for which the secret enrols nobody any longer, as a clause; it still proves who has begun a transaction. */
export type AcceptedMac = {
  readonly credential: 'shared-secret' | 'one-time-secret';
  readonly secret: Secret<string>;
  readonly problem: string | undefined;
};

/** The certificates of a TLS client, DER. */
export type ShownCertificate = { readonly leaf: Uint8Array; readonly intermediates: readonly Uint8Array[] };

/** A certificate on record at the CA that issued it. */
export type HeldCertificate = {
  readonly certificate: Uint8Array;
  readonly serial: string;
  /** reason for which its holder cannot authenticate with it now; undefined if it can */
  readonly problem: 'revoked' | 'not-valid-now' | 'not-for-clients' | 'not-confirmed' | undefined;
  /** Tells whether it is revoked, as a transaction sees it. */
  isRevoked(transaction: WriteTransaction): boolean;
  /** certificates (DER) of its issuers, nearest first, up to the root */
  readonly issuers: readonly Uint8Array[];
};

/** Identifier that a device gives for the key to which a private key is to be encrypted: of an asymmetric key; of a symmetric one, which is not here, only that. */
export type DecryptKey = 'symmetric' | Uint8Array;

/** A request whose signature verifies under the key it carries, or for whose key a registration authority vouches. Only the CA makes one. */
export type VerifiedRequest = {
  /** for records: subject, alternative names, and kind of key */
  readonly subject: string;
  readonly names: readonly string[];
  readonly keyName: string;
  /** DER SubjectPublicKeyInfo */
  readonly publicKey: Uint8Array;
  /** every common name of the subject */
  readonly commonNames: readonly string[];
  /** the other attributes of the subject as text, which no protocol proves; empty without any */
  readonly unproved: string;
  /** channel binding of a client (RFC 7030 section 3.5) */
  readonly challengePassword: string | undefined;
  /** the key under which the device wants a private key that is made for it (RFC 7030 section 4.4.1) */
  readonly decryptKey: DecryptKey | undefined;
  /** Approves the identity by the policy of the CA. Throws `identity-not-allowed`. */
  approve(): Issuable;
  /** The same request for a key that is made in the token, of the kind that this one has. Rejects with `invalid-csr` for another kind, and with HsmError. */
  makeKey(): Promise<MadeForDevice>;
  /** As approve, for a renewal, whose subject and names must be those of the renewed certificate. */
  approveRenewal(held: HeldCertificate): Issuable;
  /**
   * Decides about a first enrolment and issues the certificate, once for each transaction: a repeated request gets the same certificate.
   * Throws `identity-not-allowed`, `rate-limited`, and as `issue`.
   */
  enrol(asked: FirstEnrolment): Promise<EnrolmentOutcome>;
  /** As enrol, for names that were proved to the protocol, or that an administrator has given an account. */
  enrolProven(asked: ProvenEnrolment): Promise<EnrolmentOutcome>;
  /** As enrol, for the holder of a certificate. */
  enrolAgain(asked: Transaction, held: HeldCertificate): Promise<EnrolmentOutcome>;
};

/** A key made for a device, with the request for its certificate. It is kept nowhere: `take` or `drop` ends it. */
export type MadeForDevice = {
  readonly request: VerifiedRequest;
  /** Lets `use` have the private key, PKCS#8, in clear in memory; zeroed, and destroyed in the token, afterwards. Rejects with HsmError. */
  take<T>(use: (privateKey: Uint8Array) => T | Promise<T>): Promise<T>;
  drop(): Promise<void>;
};

/** A transaction of a device, by the name that the device gave it. */
export type Transaction = {
  readonly protocol: string;
  readonly transaction: string;
  /** tells the message that asks from every other, where it can be recorded and sent again: once its certificate is revoked or has ended it is refused */
  readonly message?: string;
  /** Records more in the transaction of the store that records the certificate; not called for a repetition. */
  readonly keep?: (transaction: WriteTransaction, issued: { readonly serial: string; readonly notAfter: string }) => void;
};

export type FirstEnrolment = Transaction & {
  /** shared or one-time secret of the device; undefined: it has sent none */
  readonly secret: string | undefined;
  /** the protocol has judged a certificate, by `trusts` or as one of a registration authority, which counts in place of a secret */
  readonly vouched?: 'trusted-certificate' | 'registration-authority';
  readonly clientIp: string;
  /** called with the kind of the credential once it was accepted, for the record */
  readonly onAccepted?: (credential: string) => void;
};

export type ProvenEnrolment = Transaction & {
  /** for the records, a word: `account` */
  readonly credential: string;
  readonly purposes: readonly ('clientAuth' | 'serverAuth')[];
  /** a shorter life than the rules give; undefined: as they do */
  readonly ttlSeconds: number | undefined;
  /** Returns the reason, as a sentence, for which nothing is issued now, in the transaction that would record the certificate. */
  findProblem(transaction: WriteTransaction): string | undefined;
  /** Records more in that transaction. */
  keep(transaction: WriteTransaction, issued: { readonly serial: string; readonly notAfter: string }): void;
};

export type EnrolmentOutcome =
  | (EnrolledCertificate & CertifiedTexts & { readonly status: 'issued'; readonly isRepetition: boolean })
  /** a person decides */
  | { readonly status: 'pending' }
  | { readonly status: 'refused'; readonly why: 'credential' | 'transaction' | 'rejected' | 'full'; readonly detail: string };

/** Right to one certificate. Only an approval makes one. */
export type Issuable = {
  /**
   * Signs the certificate and records it; resolves when the record is on the disk. `via` names in the records the way of the request,
   * `recheck` repeats the checks of the decision inside the recording transaction. Throws `clock-implausible`, `ca-expired`
   * or `not-found` (the CA was deleted meanwhile).
   */
  issue(options: { readonly via: string; recheck?(transaction: WriteTransaction): void }): Promise<EnrolledCertificate & CertifiedTexts>;
};

/** For records: the names as they are certified, which a renewal may write otherwise. */
type CertifiedTexts = { readonly subject: string; readonly names: readonly string[] };

export type EnrolledCertificate = { readonly certificate: Uint8Array; readonly serial: string };

/** Description of an enrolment protocol for a CA. */
export type EnrolmentProtocol = {
  /** as for `enrolment`: `est` */
  readonly name: string;
  /** `EST`, for messages */
  readonly title: string;
  /** names that no CA may carry, because they mean something else in the protocol's paths */
  readonly reservedNames: ReadonlySet<string>;
  /** Returns base URLs for devices of a CA, for its state. */
  urls(tenantId: string, caName: string): readonly string[];
};

/**
 * Place of the private key of the listeners: in the store, inside a sealed record, or an object in a token that never reveals it. `store-rsa`: as
 * `store`, an RSA key beside the other one, for a listener whose clients know nothing else.
 */
export type ListenerKeyPlace = 'store' | 'token' | 'store-rsa';

/** Private key as PKCS#8 PEM, or the key in a token with its DER SubjectPublicKeyInfo. */
export type ListenerKey = { readonly pem: string } | (KeyReference & { readonly publicKey: Uint8Array });

/** Identity of a TLS server. */
export type ListenerIdentity = {
  readonly key: ListenerKey;
  /** the certificate, and the link to the previous root after a roll-over */
  readonly chainPem: string;
  /** changes with the identity */
  readonly serial: string;
  readonly notAfter: Temporal.Instant;
  /** roots that clients trust, newest first */
  readonly caPem: string;
  /** identity of a sealed appliance, which has no token: the same one, or another one if the key is in a token */
  readonly whileSealed: { readonly keyPem: string; readonly chainPem: string; readonly serial: string };
};
