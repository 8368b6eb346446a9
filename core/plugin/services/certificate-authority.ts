// What the plugin `ca` offers to enrolment protocols and to the listeners: CAs whose keys are in the HSM. Types, and the shared refusal.
import type { ErrorTable } from '../../base/errors.ts';
import type { CmsCipher, CmsHash, KeyTransport } from '../../cms/algorithms.ts';
import type { KeyReference } from '../../../hsm/api.ts';
import type { WriteTransaction } from '../../store/store.ts';
import { defineService } from '../service.ts';

/** Provided by the plugin `ca`. */
export const certificateAuthorityService = defineService<CertificateAuthorities>('certificate-authority');

export type CertificateAuthorities = {
  /** A CA of the tenant that has a key. Reads the state of the last refresh of the store. */
  find(tenantId: string, name: string): CertificateAuthority | undefined;
  /** Subject and serial number of any certificate; undefined when it cannot be read. */
  describe(certificate: Uint8Array): { readonly subject: string; readonly serial: string } | undefined;
  /** Intermediates of a client that `trusts` looks at; more are ignored. */
  readonly maxIntermediates: number;
  /** Called by a plugin that lets devices enrol, while it is provisioned. */
  attach(protocol: EnrolmentProtocol): void;
  /**
   * The TLS identity of the appliance's listeners for these host names and addresses, the first being the common name: the one on record,
   * or a new one when there is none, when it has less than a third of its life left, when the hosts changed, or when its CA got a new key.
   * Creates the CA `appliance` of the given tenant on first use and rolls it over a year before its end. To be called at start and then
   * every hour. Safe to repeat after a crash at any line; processes that race get the same identity. Not held by a doubt about the clock:
   * without an identity, an administrator could not connect to confirm the time. A key in the token that the token has lost is replaced; with
   * `place` `store` one that is there from before is removed.
   */
  listenerIdentity(tenantId: string, hosts: readonly string[], place: ListenerKeyPlace): Promise<ListenerIdentity>;
};

/** One CA with its key, as an enrolment protocol uses it. */
export type CertificateAuthority = {
  readonly tenantId: string;
  /** uuid, never used again */
  readonly id: string;
  readonly name: string;
  /**
   * Who may enrol by a protocol, and how: the container of its name in the CA resource; undefined where it is off. For which names is decided
   * by the CA (`approve`).
   */
  enrolment(protocol: string): EnrolmentSettings | undefined;
  /** DER SubjectPublicKeyInfo of the key that signs new certificates */
  readonly publicKey: Uint8Array;
  /** DER AlgorithmIdentifier of its signatures */
  readonly signatureAlgorithm: Uint8Array;
  /**
   * DER of what a device needs to trust certificates of this CA: the newest certificate with its issuers up to the root and, while they
   * are valid, the earlier ones with their issuers and roll-over certificates.
   */
  trustedCertificates(): readonly Uint8Array[];
  /**
   * Whether a client certificate chains to the certificate of the CA that this one trusts for first enrolments, which may be trust-only: now
   * valid, for client authentication, and not revoked by a CA of the tenant. One that was deleted is trusted no more, nor is another of its name.
   */
  trusts(shown: ShownCertificate): boolean;
  /** What this CA issued, compared octet by octet with its records; undefined when it did not issue this certificate. */
  findIssued(certificate: Uint8Array): HeldCertificate | undefined;
  /** What this CA issued under a serial number, lower-case hexadecimal; undefined when there is none. */
  findBySerial(serial: string): HeldCertificate | undefined;
  /** DER of the revocation list of its newest key, with every revocation there is. Rejects with HsmError. */
  revocationList(): Promise<Uint8Array>;
  /**
   * The registration authority that decrypts requests and signs answers, made at the first use; undefined for a CA that certifies no RSA keys.
   * Rejects as `issue`.
   */
  registrationAuthority(): Promise<RegistrationAuthority | undefined>;
  /** Verifies a DER PKCS#10 request. Throws `invalid-csr` with a detail that says what to correct. */
  readRequest(der: Uint8Array): VerifiedRequest;
};

/** Who may enrol by a protocol. */
export type EnrolmentSettings = {
  /** a shared secret of first enrolments; undefined: none is taken */
  readonly sharedSecret: string | undefined;
  /** whether certificates of another CA are taken for first enrolments, which `trusts` judges */
  readonly takesTrustedCertificates: boolean;
  /** whether the holder of a certificate of this CA may renew it */
  readonly renewsHeldCertificates: boolean;
};

/** An RSA key in the token with a certificate of the CA, which speaks CMS for it (RFC 8894 section 2.1.2). */
export type RegistrationAuthority = {
  /** DER; for digital signatures and key encipherment */
  readonly certificate: Uint8Array;
  /**
   * Opens a signed message whose content is encrypted for this authority, or for the one before it. `known`: signed attributes of the
   * protocol, by type. Throws CmsError; the signer is who has the key of the certificate it shows, and nobody has looked at that yet.
   */
  open(message: Uint8Array, known: ReadonlySet<string>): Promise<OpenedMessage>;
  /** Signs an answer. Throws CmsError `unsupported` for a recipient without an RSA key. */
  answer(answer: AnswerToSign): Promise<Uint8Array>;
};

export type OpenedMessage = {
  /** DER certificate of the key that signed */
  readonly signer: Uint8Array;
  /** DER of the one value of each signed attribute, by type */
  readonly attributes: ReadonlyMap<string, Uint8Array>;
  readonly content: Uint8Array;
  /** what the sender used, which its answer may use as well */
  readonly hash: CmsHash;
  readonly cipher: CmsCipher;
  readonly transport: KeyTransport;
};

export type AnswerToSign = {
  /** what is encrypted, and for whom (DER certificate with an RSA key); undefined: an answer without content */
  readonly content:
    | { readonly content: Uint8Array; readonly recipient: Uint8Array; readonly cipher: CmsCipher; readonly transport: KeyTransport }
    | undefined;
  readonly hash: CmsHash;
  /** signed attributes of the protocol, with the DER of their one value */
  readonly attributes: ReadonlyMap<string, Uint8Array>;
};

/** The certificates of a TLS client, DER. */
export type ShownCertificate = { readonly leaf: Uint8Array; readonly intermediates: readonly Uint8Array[] };

/** A certificate on record at the CA that issued it. */
export type HeldCertificate = {
  readonly certificate: Uint8Array;
  readonly serial: string;
  /** why its holder cannot authenticate with it now; undefined when it can */
  readonly problem: 'revoked' | 'not-valid-now' | 'not-for-clients' | undefined;
  /** Whether it is revoked, as a transaction sees it. */
  isRevoked(transaction: WriteTransaction): boolean;
};

/** A request whose signature verifies under the key it carries. Only the CA makes one. */
export type VerifiedRequest = {
  /** for records: subject, alternative names, and kind of key */
  readonly subject: string;
  readonly names: readonly string[];
  readonly keyName: string;
  /** RFC 7030 section 3.5: where a client puts the channel binding */
  readonly challengePassword: string | undefined;
  /** Approves the identity by the policy of the CA. Throws `identity-not-allowed`. */
  approve(): ApprovedRequest;
  /** The same for a renewal, whose subject and names must be those of the certificate it renews. */
  approveRenewal(held: HeldCertificate): ApprovedRequest;
};

/** The right to one certificate. Only an approval makes one. */
export type ApprovedRequest = {
  /**
   * Signs the certificate and records it; resolves when the record is on the disk. `via` says in the records how the certificate was
   * requested, `recheck` repeats inside the recording transaction what the decision was based on. Throws `clock-implausible`, `ca-expired`
   * or `not-found` (the CA was deleted meanwhile).
   */
  issue(options: { readonly via: string; recheck?(transaction: WriteTransaction): void }): Promise<EnrolledCertificate>;
};

export type EnrolledCertificate = { readonly certificate: Uint8Array; readonly serial: string };

/** What a CA needs to know of a protocol by which devices enrol. */
export type EnrolmentProtocol = {
  /** `EST`, for messages */
  readonly title: string;
  /** names that no CA may carry, because they mean something else in the protocol's paths */
  readonly reservedNames: ReadonlySet<string>;
  /** Base URLs for devices of a CA, for its state. */
  urls(tenantId: string, caName: string): readonly string[];
};

/** Where the private key of the listeners is: in the store, inside a sealed record, or as an object in a token that never shows it. */
export type ListenerKeyPlace = 'store' | 'token';

/** Private key as PKCS#8 PEM, or the key in a token with its DER SubjectPublicKeyInfo. */
export type ListenerKey = { readonly pem: string } | (KeyReference & { readonly publicKey: Uint8Array });

/** What a TLS server needs. */
export type ListenerIdentity = {
  readonly key: ListenerKey;
  /** the certificate, and the link to the previous root after a roll-over */
  readonly chainPem: string;
  /** changes when the identity does */
  readonly serial: string;
  readonly notAfter: Temporal.Instant;
  /** roots that clients trust, newest first */
  readonly caPem: string;
  /** for a sealed appliance, which has no token: the same identity, or with the key in a token another one */
  readonly whileSealed: { readonly keyPem: string; readonly chainPem: string; readonly serial: string };
};

/** The refusal that the CA and the protocols in front of it share; it belongs to the plugin `ca`. */
export const requestErrors = {
  'invalid-csr': {
    status: 400,
    title: 'Certification request not usable',
    when: 'the request is not a well-formed PKCS#10, its self-signature does not verify, or its key is not one the CA certifies',
    detail: 'Send a PKCS#10 request signed by its own key, of a key type that the CA certifies; the message says what is wrong.',
  },
} as const satisfies ErrorTable;
