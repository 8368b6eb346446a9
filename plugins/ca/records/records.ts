// Records of CAs in the store: the CA itself, the certificates it issued and revoked, and keys without an owning CA.
import type { Failures } from '../../../core/access/failure-limit.ts';
import type { KeyReference, KeyType, StoredKey } from '../../../hsm/api.ts';
import type { KeyLedgerRecord } from '../../../core/plugin/key-ledger.ts';
import type { Store, Table } from '../../../core/store/store.ts';
import type {
  AcmeSettings,
  CmpSettings,
  EabKey,
  Enrolment,
  EnrolmentFailures,
  EnrolmentSecret,
  MacSecret,
  PendingEnrolment,
  ScepSettings,
} from './enrolments.ts';

/** Padding of the RSA signatures of a CA; absent: PKCS #1 v1.5. */
export type CaPadding = 'pss';

/** A CA's key pair: the private half is a handle into the token. */
export type CaKey = {
  readonly type: KeyType;
  readonly stored: StoredKey;
  /** DER SubjectPublicKeyInfo */
  readonly publicKey: Uint8Array;
  /** of an RSA key that signs by RSASSA-PSS; absent: PKCS #1 v1.5 */
  readonly padding?: CaPadding;
};

/** Settings of enrolment with a CA: credentials, names and lifetime. The container `est` of the CA resource. */
export type EstSettings = {
  readonly enabled: boolean;
  readonly initialEnrollSecret?: string | undefined;
  readonly initialEnrollTrustCa?: string | undefined;
  readonly allowedDomains: readonly string[];
  readonly allowSubdomains: boolean;
  readonly allowBareDomains: boolean;
  readonly allowIpSans: boolean;
  /** absent in records of earlier versions: none */
  readonly allowedUris?: readonly string[] | undefined;
  /** absent: none */
  readonly allowedEmails?: readonly string[] | undefined;
  readonly allowedOtherNames?: readonly string[] | undefined;
  /** names like `*.example.com`; absent in records of earlier versions: none */
  readonly allowWildcards?: boolean | undefined;
  readonly ttl: string;
  readonly allowReenrollWithIssuedCert: boolean;
  /** true if keys are made here for devices; absent in records of earlier versions: no */
  readonly serverKeygen?: boolean | undefined;
};

/** Enrolment at a CA that does not mention it: off, and nothing allowed. */
export const disabledEnrolment: EstSettings = {
  enabled: false,
  allowedDomains: [],
  allowSubdomains: false,
  allowBareDomains: false,
  allowIpSans: false,
  allowWildcards: false,
  ttl: '30d',
  allowReenrollWithIssuedCert: true,
  serverKeygen: false,
};

/** Key pair of a CA with its certificate. A renewal adds one; the old ones stay for CRLs, OCSP and re-enrolment. */
export type CaGeneration = {
  /** 1, 2, …: also the version in the key's binding */
  readonly generation: number;
  readonly key: CaKey;
  /** DER of the CA's certificate for this key */
  readonly certificate: Uint8Array;
  /** DER of its issuers up to the root, nearest first; empty for a root */
  readonly chain: readonly Uint8Array[];
  /** made when a root's new key replaced the one before (RFC 4210 4.4) */
  readonly rollover?: { readonly newWithOld: Uint8Array; readonly oldWithNew: Uint8Array };
};

/** A key pair of the registration authority of a CA, with its certificate, which the CA has issued. */
export type Registration = {
  /** 1, 2, …: also the version in the key's binding */
  readonly number: number;
  readonly key: CaKey;
  /** DER */
  readonly certificate: Uint8Array;
};

/** Limits on the names below a CA, by the fields in which users write them. */
export const nameLimitFields = [
  'permittedDomains',
  'excludedDomains',
  'permittedUriHosts',
  'permittedIpRanges',
  'permittedEmails',
] as const;

/** Absent: no limit of that kind. */
export type NameLimits = { readonly [Field in (typeof nameLimitFields)[number]]?: string[] | undefined };

/** A CA. Key in the store: [tenant uuid, name]. */
export type CaRecord = {
  /** uuid, never used again, also when a CA of the same name is made later */
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
  /** undefined: trust-only */
  readonly keyType: KeyType | undefined;
  /** of its RSA keys; absent: PKCS #1 v1.5 */
  readonly padding?: CaPadding;
  /** as the user wrote it */
  readonly subject: string;
  readonly ttl: string;
  readonly issuingCa: string | undefined;
  /** limits on names that each of its certificates states; absent: none */
  readonly nameLimits?: NameLimits;
  /** DER of the uploaded certificate of a trust-only CA */
  readonly trustCertificate: Uint8Array | undefined;
  /** oldest first; empty for a trust-only CA */
  readonly generations: readonly CaGeneration[];
  readonly est: EstSettings;
  /** absent: off */
  readonly scep?: ScepSettings | undefined;
  /** absent: off */
  readonly acme?: AcmeSettings | undefined;
  /** absent: off */
  readonly cmp?: CmpSettings | undefined;
  /** id of the CA that scep.nextCa names */
  readonly nextCaId?: string | undefined;
  /** id of the CA that est.initialEnrollTrustCa names; absent in older records, until that CA is deleted */
  readonly trustedCaId?: string | undefined;
  /** oldest first; absent until a protocol needs one (registration/registration.ts) */
  readonly registrations?: readonly Registration[] | undefined;
  /** true if it has delta CRLs; absent in older records: it has none */
  readonly deltaCrl?: boolean;
  /** true if the CA may be deleted while certificates of it are valid; absent in older records */
  readonly deletionAllowed?: boolean;
  /** certifies the appliance's own listeners, or members of a cluster: cannot be deleted */
  readonly ownedByAppliance?: true;
  /** certifies only the members of a cluster: a holder of such a certificate writes to the shared store */
  readonly forMembers?: true;
};

/** Revocation reasons of RFC 5280 5.3.1 that a caller may give. */
export const revocationReasons = {
  unspecified: 0,
  'key-compromise': 1,
  'affiliation-changed': 3,
  superseded: 4,
  'cessation-of-operation': 5,
  'privilege-withdrawn': 9,
} as const;
export type RevocationReason = keyof typeof revocationReasons;

/** A certificate this CA issued. Key: [tenant uuid, CA id, serial]. */
export type IssuedCertificate = {
  readonly certificate: Uint8Array;
  readonly generation: number;
  readonly subject: string;
  readonly names: readonly string[];
  readonly notBefore: string;
  readonly notAfter: string;
  /**
   * way of the request: `sign-csr`, `issuing-ca`, `listener`, `cluster-member`, `registration-authority`, or the word of an enrolment
   * protocol
   */
  readonly via: string;
  readonly revoked?: { readonly at: string; readonly reason: RevocationReason };
  /** for a renewal: serial number of the first certificate of its line (status/line.ts); absent in older records */
  readonly line?: string;
  /** limits that its renewals keep to; absent if a device enrolled for it, and in older records */
  readonly limits?: RenewalLimits;
  /** true until its holder has confirmed that it got what it wanted: nobody authenticates with it before */
  readonly unconfirmed?: true;
  /** true if it is found by its public key (records/by-key.ts); absent in records of earlier versions until the hourly job has been there */
  readonly byKey?: true;
};

export type Purpose = 'clientAuth' | 'serverAuth';

/** Request of a caller of `sign-csr`: the rules of that caller may allow no more. */
export type RenewalLimits = {
  readonly purposes: readonly Purpose[];
  /** undefined: est/ttl of the CA, as of each renewal */
  readonly ttlSeconds?: number;
  /** true if an administrator has allowed the names, which may be outside the identity policy; renewals keep them */
  readonly namesAllowed?: true;
  /** protocol that has had the names proved, for each certificate again; others do not renew it */
  readonly provedTo?: string;
};

/** Entry of the CRL. Key: [tenant uuid, CA id, generation, serial]; removed once the certificate has expired. */
export type Revocation = {
  readonly at: string;
  readonly reason: RevocationReason;
  readonly notAfter: string;
  /** the count of changes with it; absent in older records */
  readonly change?: number;
};

/**
 * The CRL of a key generation. Key: [tenant uuid, CA id, generation]. `changes` counts revocations, so a CRL that does not cover
 * all of them is known to be old, also when one was revoked while it was being signed.
 */
export type PublishedCrl = {
  /** the last number given out; numbers are never used twice (RFC 5280 5.2.3) */
  readonly lastNumber: number;
  readonly changes: number;
  readonly newest?: SignedCrl;
  /** the newest delta CRL */
  readonly newestDelta?: SignedCrl;
  /** complete lists from which a delta CRL may go on, a day apart, oldest first; absent without delta CRLs */
  readonly bases?: readonly { readonly number: number; readonly covers: number; readonly at: string }[];
};

export type SignedCrl = {
  readonly crl: Uint8Array;
  readonly number: number;
  readonly covers: number;
  readonly thisUpdate: string;
  readonly nextUpdate: string;
};

/** The last CRL of a key of a deleted CA. Key: [tenant uuid, name of the CA, generation]; kept until the last certificate has ended. */
export type LastCrl = {
  readonly crl: Uint8Array;
  /** DER of the CA's certificate for the key, and of its issuers up to the root */
  readonly certificate: Uint8Array;
  readonly chain: readonly Uint8Array[];
  readonly until: string;
};

/** A removed CA whose certificates and keys are still being cleared away. Key: [CA id]. */
export type RemovedCa = { readonly tenantId: string; readonly caId: string };

/**
 * A TLS identity of an appliance's listeners. Key: ['listener'] with the key in the record, ['token-listener'] with the key in a token,
 * ['rsa-listener'] with an RSA key in the record; in a cluster with the id of the appliance after it.
 */
export type ListenerRecord = {
  readonly certificate: Uint8Array;
  readonly serial: string;
  readonly generation: number;
  readonly hosts: readonly string[];
} & (
  | {
      /** PKCS#8; on the disk only inside the sealed record */
      readonly keyPem: string;
    }
  | {
      readonly tokenKey: ListenerTokenKey;
      /** the key before it, which other processes use until they look for a renewal */
      readonly formerKey?: ListenerTokenKey;
    }
);

export type ListenerTokenKey = KeyReference & {
  /** DER SubjectPublicKeyInfo */
  readonly publicKey: Uint8Array;
};

/** Names of the tables that up to version 1 the plugin `est` kept. They keep its prefix: no record had to move. */
export const tableNames = [
  'cas',
  'certificates',
  'revocations',
  'crls',
  'last-crls',
  'unclaimed-keys',
  'removed-cas',
  'listener-identity',
] as const;

/** The plugin's tables, opened once. */
export type CaTables = {
  readonly cas: Table<CaRecord>;
  readonly certificates: Table<IssuedCertificate>;
  /** renewals. Key: [tenant uuid, CA id, serial of the first of the line, serial] */
  readonly lines: Table<true>;
  /** certificates by their public keys. Key: [tenant uuid, CA id, SHA-256 of SubjectPublicKeyInfo in hexadecimal, serial] */
  readonly certificateKeys: Table<true>;
  readonly revocations: Table<Revocation>;
  readonly crls: Table<PublishedCrl>;
  readonly lastCrls: Table<LastCrl>;
  /** the key ledger; key ids are those of CAs */
  readonly pendingKeys: Table<KeyLedgerRecord>;
  readonly removedCas: Table<RemovedCa>;
  readonly enrolmentSecrets: Table<EnrolmentSecret>;
  readonly macSecrets: Table<MacSecret>;
  readonly enrolments: Table<Enrolment>;
  readonly pendingEnrolments: Table<PendingEnrolment>;
  readonly eabKeys: Table<EabKey>;
  readonly enrolmentFailures: Table<EnrolmentFailures>;
  readonly secretFailures: Table<Failures>;
  readonly identities: Table<ListenerRecord>;
};

export function openCaTables(store: Store): CaTables {
  return {
    cas: store.tenantTable('cas'),
    certificates: store.table('certificates'),
    lines: store.table('lines'),
    certificateKeys: store.table('certificate-keys'),
    revocations: store.table('revocations'),
    crls: store.table('crls'),
    lastCrls: store.table('last-crls'),
    pendingKeys: store.table('unclaimed-keys'),
    removedCas: store.table('removed-cas'),
    enrolmentSecrets: store.table('enrolment-secrets'),
    macSecrets: store.table('mac-secrets'),
    enrolments: store.table('enrolments'),
    pendingEnrolments: store.table('pending-enrolments'),
    eabKeys: store.table('eab-keys'),
    enrolmentFailures: store.table('enrolment-failures'),
    secretFailures: store.table('secret-failures'),
    identities: store.table('listener-identity'),
  };
}

/** Returns newestGeneration of a CA that was found to have a key. */
export function requireNewestGeneration(ca: CaRecord): CaGeneration {
  const newest = newestGeneration(ca);
  if (newest === undefined) throw new Error('the CA has no key');
  return newest;
}

/** The generation that signs new certificates; undefined for a trust-only CA. */
export function newestGeneration(ca: CaRecord): CaGeneration | undefined {
  return ca.generations.at(-1);
}
