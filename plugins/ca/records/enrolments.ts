// Records of enrolments by protocols in which a device asks again: what was answered, what waits for a person, and secrets for one device.
import type { StoredKey } from '../../../hsm/api.ts';

/** Settings of SCEP. The container `scep` of the CA resource; names and lives are those of `est`. */
export type ScepSettings = {
  readonly enabled: boolean;
  readonly initialEnrollSecret?: string | undefined;
  readonly allowReenrollWithIssuedCert: boolean;
  readonly approvalRequired: boolean;
  readonly allowOld: readonly OldAlgorithm[];
  /** name of the CA that comes after this one, which devices are told */
  readonly nextCa?: string | undefined;
};

/** Algorithms that a CA takes from its devices only by name. */
export const oldAlgorithms = ['des', 'des3', 'md5', 'sha1'] as const;
export type OldAlgorithm = (typeof oldAlgorithms)[number];

/** SCEP at a CA that does not mention it: off. */
export const disabledScep: ScepSettings = { enabled: false, allowReenrollWithIssuedCert: true, approvalRequired: false, allowOld: [] };

/** Settings of ACME. The container `acme` of the CA resource; names and lives are those of `est`. */
export type AcmeSettings = {
  readonly enabled: boolean;
  /** only who has a key of an administrator makes an account */
  readonly externalAccountRequired: boolean;
  readonly challenges: readonly ChallengeType[];
  /** names of this CA in CAA records, without which they are not asked */
  readonly caaIdentities?: readonly string[] | undefined;
};

/** Ways to prove the control over a name (RFC 8555 section 8, RFC 8737). */
export const challengeTypes = ['http-01', 'dns-01', 'tls-alpn-01'] as const;
export type ChallengeType = (typeof challengeTypes)[number];

/** ACME at a CA that does not mention it: off. */
export const disabledAcme: AcmeSettings = { enabled: false, externalAccountRequired: true, challenges: [...challengeTypes] };

/** Settings of CMP. The container `cmp` of the CA resource; names and lives are those of `est`. */
export type CmpSettings = {
  readonly enabled: boolean;
  readonly initialEnrollSecret?: string | undefined;
  readonly allowReenrollWithIssuedCert: boolean;
  /** accepts certificates of `est/initial-enroll-trust-ca` for first enrolments */
  readonly allowTrustedCert: boolean;
  readonly approvalRequired: boolean;
  readonly allowOld: readonly OldMacHash[];
  /** longest distance of messageTime from the clock; undefined: any, for devices without a clock */
  readonly messageTimeWindow?: string | undefined;
  /** certificates (PEM) of registration authorities that speak for devices */
  readonly raCerts?: readonly string[] | undefined;
};

/** Hashes that a CA takes in the MAC of its devices only by name. */
export const oldMacHashes = ['sha1'] as const;
export type OldMacHash = (typeof oldMacHashes)[number];

/** CMP at a CA that does not mention it: off. */
export const disabledCmp: CmpSettings = {
  ...{ enabled: false, allowReenrollWithIssuedCert: true, allowTrustedCert: false, approvalRequired: false, allowOld: [] },
};

/**
 * A key with which accounts of ACME are bound to an administrator's decision (RFC 8555 section 7.3.4). Key: [tenant uuid, CA id, id]. Deleted, it ends
 * the accounts that were made with it.
 */
export type EabKey = {
  readonly id: string;
  /** the HMAC key, in the token or wrapped by it */
  readonly stored: StoredKey;
  /** alternative names as formatAlternativeName writes them, for which no proof is asked; with any, no others are allowed */
  readonly names: readonly string[];
  readonly createdAt: string;
  /** accounts are made with it until then */
  readonly until: string;
  readonly uses: number;
  readonly usesLeft: number;
};

/** The identity that a device may have, as an administrator wrote it down. */
export type FixedIdentity = {
  /** as parseName reads it */
  readonly subject: string;
  /** alternative names as formatAlternativeName writes them; the device may ask for fewer */
  readonly names: readonly string[];
  /** true if it may be outside the identity policy of the CA */
  readonly beyondPolicy: boolean;
};

/** A secret for one device. Key: [tenant uuid, CA id, SHA-256 of the secret, hexadecimal]. */
export type EnrolmentSecret = FixedIdentity & {
  /** identifies it for people; tells nothing of the secret */
  readonly id: string;
  readonly createdAt: string;
  readonly until: string;
  readonly uses: number;
  readonly usesLeft: number;
};

/**
 * A secret of a device that proves it with a MAC, for which the hash is not enough. Key: [tenant uuid, CA id, id of the EnrolmentSecret], without which it
 * counts for nothing.
 */
export type MacSecret = { readonly secret: string };

/**
 * The answer to a request, which a repetition gets again. Key: [tenant uuid, CA id, `first` or the serial number of the renewed certificate,
 * SHA-256 of protocol and transaction, and of the key where another requester uses the transaction, hexadecimal]. And that a message was answered with a certificate: [tenant uuid, CA id, `message`, SHA-256 of
 * protocol and message, hexadecimal].
 */
export type Enrolment = {
  /** SHA-256 of key, subject and alternative names, hexadecimal */
  readonly requestHash: string;
  /** SHA-256 of the SubjectPublicKeyInfo, hexadecimal */
  readonly keyHash: string;
  /** serial number; undefined: refused by a person */
  readonly serial: string | undefined;
  /** the record is deleted after this time */
  readonly until: string;
  /** requester of SCEP, as requesterOf has it */
  readonly requester?: string;
};

/** Failures of devices at an address since one of them was successful. Key: [tenant uuid, CA id, subscriber of the address]. */
export type EnrolmentFailures = {
  readonly clientIp: string;
  readonly protocol: string;
  /** last refusal in the words that the device was told, and the subject that it asked for, if it came so far */
  readonly reason: string;
  readonly subject: string | undefined;
  readonly count: number;
  readonly firstAt: string;
  readonly lastAt: string;
};

/** Absent: a PKCS#10. `crmf-ra`: a registration authority vouches for the key, in place of its signature. */
export type RequestForm = 'crmf' | 'crmf-ra';

/** A first request that waits for a person. Key: [tenant uuid, CA id, SHA-256 as that of an Enrolment]. */
export type PendingEnrolment = {
  readonly requestHash: string;
  readonly keyHash: string;
  readonly requester?: string;
  /** DER of a PKCS#10, or of the CertReqMsg of CMP */
  readonly csr: Uint8Array;
  readonly form?: RequestForm;
  readonly subject: string;
  readonly names: readonly string[];
  readonly keyName: string;
  readonly via: string;
  readonly clientIp: string;
  readonly requestedAt: string;
  readonly until: string;
  /** SHA-256 of protocol and message, hexadecimal, and the time until which its credential may be shown */
  readonly message?: { readonly hash: string; readonly until: string };
  /** identity that the one-time secret of the device allows; undefined: the identity policy counts */
  readonly identity: FixedIdentity | undefined;
};
