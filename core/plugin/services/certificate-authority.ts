// Service of the plugin `ca` for enrolment protocols and listeners: CAs whose keys are in the HSM. Types, and the shared refusal.
import type { ErrorTable } from '../../base/errors.ts';
import type { HashName, KeyReference, OaepHash } from '../../../hsm/api.ts';
import type { WriteTransaction } from '../../store/store.ts';
import { defineService } from '../service.ts';

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
  /** Reads subject and serial number of any certificate; undefined if it cannot be parsed. */
  describe(certificate: Uint8Array): { readonly subject: string; readonly serial: string } | undefined;
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
   * each certificate below the anchor needs a current one; undefined: revocations elsewhere do not matter.
   */
  judge(shown: ShownCertificate, lists: readonly Uint8Array[] | undefined): JudgedClient | ClientRefusal;
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

/** Called inside the transaction that ends a certificate, or a CA with all of its certificates. */
export type CertificateEnds = {
  /** `certificate`: DER */
  revoked(transaction: WriteTransaction, tenantId: string, caId: string, certificate: Uint8Array): void;
  /** also for a CA elsewhere that gets another certificate */
  removed(transaction: WriteTransaction, tenantId: string, caId: string): void;
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
  /** algorithms that are taken although they are weak: `des`, `des3`, `md5`, `sha1`; absent: none */
  readonly oldAlgorithms?: readonly string[];
  /** of ACME alone */
  readonly acme?: { readonly externalAccountRequired: boolean; readonly challenges: readonly string[] };
};

/** An RSA key in the token with a certificate of the CA, which decrypts requests and signs answers in its place (RFC 8894 section 2.1.2). */
export type RegistrationAuthority = {
  /** certificate (DER) for digital signatures and key encipherment */
  readonly certificate: Uint8Array;
  /** this one, and those before it for which requests may still be encrypted, newest first */
  readonly certificates: readonly Uint8Array[];
  /**
   * Decrypts a content key of `bytes` octets that was encrypted for one of `certificates`. What does not decrypt to so many octets gives as
   * many pseudo-random ones: nobody learns which it was. The caller zeroes the key. Rejects with HsmError when the token is away.
   */
  openKey(certificate: Uint8Array, transport: KeyTransport, encryptedKey: Uint8Array, bytes: number): Promise<Uint8Array>;
  /** Signs with RSASSA-PKCS1-v1_5 and the key of `certificate`. Rejects with HsmError. */
  sign(hash: HashName, octets: Uint8Array): Promise<Uint8Array>;
};

/** Encryption of a content key: RSAES-PKCS1-v1_5, or RSAES-OAEP with one hash for label and mask and an empty label. */
export type KeyTransport = { readonly padding: 'pkcs1v15' } | { readonly padding: 'oaep'; readonly hash: OaepHash };

/** The certificates of a TLS client, DER. */
export type ShownCertificate = { readonly leaf: Uint8Array; readonly intermediates: readonly Uint8Array[] };

/** A certificate on record at the CA that issued it. */
export type HeldCertificate = {
  readonly certificate: Uint8Array;
  readonly serial: string;
  /** reason for which its holder cannot authenticate with it now; undefined if it can */
  readonly problem: 'revoked' | 'not-valid-now' | 'not-for-clients' | undefined;
  /** Tells whether it is revoked, as a transaction sees it. */
  isRevoked(transaction: WriteTransaction): boolean;
  /** certificates (DER) of its issuers, nearest first, up to the root */
  readonly issuers: readonly Uint8Array[];
};

/** A request whose signature verifies under the key it carries. Only the CA makes one. */
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
  /** Approves the identity by the policy of the CA. Throws `identity-not-allowed`. */
  approve(): ApprovedRequest;
  /** As approve, for a renewal, whose subject and names must be those of the renewed certificate. */
  approveRenewal(held: HeldCertificate): ApprovedRequest;
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

/** A transaction of a device, by the name that the device gave it. */
export type Transaction = { readonly protocol: string; readonly transaction: string };

export type FirstEnrolment = Transaction & {
  /** shared or one-time secret of the device; undefined: it has sent none */
  readonly secret: string | undefined;
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
  | { readonly status: 'issued'; readonly certificate: Uint8Array; readonly serial: string; readonly isRepetition: boolean }
  /** a person decides */
  | { readonly status: 'pending' }
  | { readonly status: 'refused'; readonly why: 'credential' | 'transaction' | 'rejected' | 'full'; readonly detail: string };

/** Right to one certificate. Only an approval makes one. */
export type ApprovedRequest = {
  /**
   * Signs the certificate and records it; resolves when the record is on the disk. `via` names in the records the way of the request,
   * `recheck` repeats the checks of the decision inside the recording transaction. Throws `clock-implausible`, `ca-expired`
   * or `not-found` (the CA was deleted meanwhile).
   */
  issue(options: { readonly via: string; recheck?(transaction: WriteTransaction): void }): Promise<EnrolledCertificate>;
};

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

/** Place of the private key of the listeners: in the store, inside a sealed record, or an object in a token that never reveals it. */
export type ListenerKeyPlace = 'store' | 'token';

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

/** Refusal shared by the CA and the protocols in front of it; it belongs to the plugin `ca`. */
export const requestErrors = {
  'invalid-csr': {
    status: 400,
    title: 'Certification request not usable',
    when: 'the request is not a well-formed PKCS#10, its self-signature does not verify, or its key is not one the CA certifies',
    detail: 'Send a PKCS#10 request signed by its own key, of a key type that the CA certifies; the message says what is wrong.',
  },
} as const satisfies ErrorTable;
