// The documents of the API, with the field names of the wire. Made by `npm run clients`; do not edit.

export type ActivityAnswer = {
  /** The oldest first. The last one ends now and may be shorter. */
  points: ActivityPoint[];
  /** Median of the time of a request; absent: there was none. */
  'median-milliseconds'?: number | undefined;
  /** 99th percentile of the time of a request. */
  'p99-milliseconds'?: number | undefined;
};

export type ActivityPoint = {
  /** When it begins. */
  from: string;
  /** When it ends. */
  until: string;
  /** Requests of the API and of EST a second; a batch is one. */
  requests: number;
  /** Requests that signed something a second; a batch is one. */
  signatures: number;
  /** Requests that encrypted, decrypted or rewrapped a second; a batch is one. */
  encryptions: number;
  /** Requests that were answered with 4xx or 5xx a second; a batch is one. */
  refusals: number;
  /** Median of the time of a request; absent: there was none. */
  'median-milliseconds'?: number | undefined;
  /** 99th percentile of the time of a request. */
  'p99-milliseconds'?: number | undefined;
};

export type AnswerFindingAnswer = {
  /** Name of the finding, and of its part of health. */
  name: string;
  /** What was found. */
  message: string;
  /** What to do, before the answer. */
  remedy: string;
  /** When. */
  found: string;
  /** `unanswered`: a part of health, which is not `ok`. */
  state: FindingState;
  /** When it was answered. */
  answered?: string | undefined;
  /** Who has answered it. */
  'answered-by'?: string | undefined;
};

export type AnswerFindingRequest = {
};

export type Approle = {
  /** Name of the approle. */
  name: string;
  /** Policies of the tokens; only such as the caller has. */
  'token-policies'?: string[] | undefined;
  /** Life of a token, and what a refresh gives it. */
  'token-ttl'?: string | undefined;
  /** Longest life of a token over all refreshes. */
  'token-max-ttl'?: string | undefined;
  /** Ranges of addresses the tokens work from; empty: from anywhere. */
  'token-bound-cidrs'?: string[] | undefined;
  /** How long a secret-id can be used; unless given, for ever. */
  'secret-id-ttl'?: string | undefined;
  /** How often a secret-id can be used; 0: as often as one likes. */
  'secret-id-num-uses'?: number | undefined;
  /** Ranges of addresses one may log in from; empty: from anywhere. */
  'secret-id-bound-cidrs'?: string[] | undefined;
  /** A role-id of your own choice; unless given, one is made. */
  'fixed-role-id'?: string | undefined;
  /**
   * Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name and value at
   * most 63 letters, digits, ".", "_" and "-". They are no secrets.
   */
  labels?: Record<string, string> | undefined;
};

export type ApproleCreation = {
  /** Name of the approle. */
  name: string;
  /** Policies of the tokens; only such as the caller has. */
  'token-policies'?: string[] | undefined;
  /** Life of a token, and what a refresh gives it. */
  'token-ttl'?: string | undefined;
  /** Longest life of a token over all refreshes. */
  'token-max-ttl'?: string | undefined;
  /** Ranges of addresses the tokens work from; empty: from anywhere. */
  'token-bound-cidrs'?: string[] | undefined;
  /** How long a secret-id can be used; unless given, for ever. */
  'secret-id-ttl'?: string | undefined;
  /** How often a secret-id can be used; 0: as often as one likes. */
  'secret-id-num-uses'?: number | undefined;
  /** Ranges of addresses one may log in from; empty: from anywhere. */
  'secret-id-bound-cidrs'?: string[] | undefined;
  /** A role-id of your own choice; unless given, one is made. */
  'fixed-role-id'?: string | undefined;
  /**
   * Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name and value at
   * most 63 letters, digits, ".", "_" and "-". They are no secrets.
   */
  labels?: Record<string, string> | undefined;
};

export type ApproleLoginAnswer = {
  /** The token; shown this once. */
  token: string;
  /** Stands for the token where the token itself must not be seen. */
  accessor: string;
  /** Seconds until it ends. */
  'expires-in': number;
  /** When it ends, unless it is refreshed. */
  expires: string;
  /** When it was made. */
  'creation-time': string;
  /** When to refresh it or to log in again: after two thirds of its life. */
  'renewal-time': string;
};

export type ApproleLoginRequest = {
  /** The role-id of the approle. */
  'role-id': string;
  /** One of its secret-ids. */
  'secret-id': string;
};

export type ApproleMerge = {
  /** Policies of the tokens; only such as the caller has. */
  'token-policies'?: string[] | null | undefined;
  /** Life of a token, and what a refresh gives it. */
  'token-ttl'?: string | undefined;
  /** Longest life of a token over all refreshes. */
  'token-max-ttl'?: string | undefined;
  /** Ranges of addresses the tokens work from; empty: from anywhere. */
  'token-bound-cidrs'?: string[] | null | undefined;
  /** How long a secret-id can be used; unless given, for ever. */
  'secret-id-ttl'?: string | null | undefined;
  /** How often a secret-id can be used; 0: as often as one likes. */
  'secret-id-num-uses'?: number | undefined;
  /** Ranges of addresses one may log in from; empty: from anywhere. */
  'secret-id-bound-cidrs'?: string[] | null | undefined;
  /** A role-id of your own choice; unless given, one is made. */
  'fixed-role-id'?: string | null | undefined;
  /**
   * Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name and value at
   * most 63 letters, digits, ".", "_" and "-". They are no secrets.
   */
  labels?: Record<string, string> | null | undefined;
};

export type ApproleReplacement = {
  /** Policies of the tokens; only such as the caller has. */
  'token-policies'?: string[] | undefined;
  /** Life of a token, and what a refresh gives it. */
  'token-ttl'?: string | undefined;
  /** Longest life of a token over all refreshes. */
  'token-max-ttl'?: string | undefined;
  /** Ranges of addresses the tokens work from; empty: from anywhere. */
  'token-bound-cidrs'?: string[] | undefined;
  /** How long a secret-id can be used; unless given, for ever. */
  'secret-id-ttl'?: string | undefined;
  /** How often a secret-id can be used; 0: as often as one likes. */
  'secret-id-num-uses'?: number | undefined;
  /** Ranges of addresses one may log in from; empty: from anywhere. */
  'secret-id-bound-cidrs'?: string[] | undefined;
  /** A role-id of your own choice; unless given, one is made. */
  'fixed-role-id'?: string | undefined;
  /**
   * Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name and value at
   * most 63 letters, digits, ".", "_" and "-". They are no secrets.
   */
  labels?: Record<string, string> | undefined;
};

export type ApproleState = {
  /** Name of the approle. */
  name: string;
  /** Policies of the tokens; only such as the caller has. */
  'token-policies'?: string[] | undefined;
  /** Life of a token, and what a refresh gives it. */
  'token-ttl'?: string | undefined;
  /** Longest life of a token over all refreshes. */
  'token-max-ttl'?: string | undefined;
  /** Ranges of addresses the tokens work from; empty: from anywhere. */
  'token-bound-cidrs'?: string[] | undefined;
  /** How long a secret-id can be used; unless given, for ever. */
  'secret-id-ttl'?: string | undefined;
  /** How often a secret-id can be used; 0: as often as one likes. */
  'secret-id-num-uses'?: number | undefined;
  /** Ranges of addresses one may log in from; empty: from anywhere. */
  'secret-id-bound-cidrs'?: string[] | undefined;
  /** A role-id of your own choice; unless given, one is made. */
  'fixed-role-id'?: string | undefined;
  /**
   * Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name and value at
   * most 63 letters, digits, ".", "_" and "-". They are no secrets.
   */
  labels?: Record<string, string> | undefined;
  /** What a login names. */
  'role-id'?: string | undefined;
  /** When it was made. */
  'creation-time'?: string | undefined;
  /** Number of secret-ids on record. */
  'secret-ids'?: number | undefined;
};

export type AttestationKey = {
  /** Thumbprint of the key (RFC 7638), which `kid` of statements names. */
  kid: string;
  /** Key type. */
  kty: string;
  /** Curve. */
  crv: string;
  /** Coordinate x, base64url. */
  x: string;
  /** Coordinate y, base64url. */
  y: string;
  /** Signature algorithm. */
  alg: string;
  /** For signatures alone. */
  use: string;
  /** When it was made. */
  since: string;
};

export type AttestationKeysAnswer = {
  /** The newest last, which signs. The former ones verify what they signed; their private keys are destroyed. */
  keys: AttestationKey[];
};

export type AuditAnswer = {
  /** Keys that have signed the trail, the newest last. */
  keys: AuditKey[];
  /** The last signed position of every chain. */
  heads: AuditHead[];
};

export type AuditHead = {
  /** Chain of one process. */
  chain: string;
  /** Number of its last signed record. */
  sequence: number;
  /** SHA-256 of that record. */
  hash: string;
};

export type AuditKey = {
  /** Id of the key in head records. */
  'key-id': string;
  /** The public key, PEM. */
  'public-key': string;
};

export type BackupAnswer = {
  /** Definition and key material in clear, for restore. */
  key: string;
  /** Latest version in the backup. */
  'key-version': number;
};

export type BackupsAnswer = {
  /** The backup that runs. */
  running?: BackupsRunning | undefined;
  /** Whether the configuration has a schedule. */
  scheduled: boolean;
  /** When the next one begins. */
  'next-at'?: string | undefined;
  /** When the last one was complete. */
  'last-success-at'?: string | undefined;
  /** Its octets. */
  'last-bytes'?: number | undefined;
  /** How long it took. */
  'last-seconds'?: number | undefined;
  /** Its SHA-256. */
  'last-digest'?: string | undefined;
  /** How many failed. */
  failures: number;
  /** How many failed since the last complete one. */
  'failures-in-a-row': number;
  /** When the last failure was. */
  'last-failure-at'?: string | undefined;
  /** What it was. */
  'last-failure'?: string | undefined;
};

/** The backup that runs. */
export type BackupsRunning = {
  /** What it was begun for. */
  purpose: BackupsRunningPurpose;
  /** Whether the store is still copied. */
  stage: BackupsRunningStage;
  /** Where it goes. */
  target: string;
  /** When it began. */
  'started-at': string;
  /** Octets so far. */
  'done-bytes': number;
  /** Octets when it is done. */
  'total-bytes': number;
};

/** What it was begun for. */
export type BackupsRunningPurpose = 'request' | 'pull' | 'schedule' | 'now';

/** Whether the store is still copied. */
export type BackupsRunningStage = 'copying' | 'sending';

export type CaCertificatesListStatus = 'valid' | 'expired' | 'revoked';

export type CaCsrAnswer = {
  /** PKCS#10 certification request, PEM. */
  csr: string;
};

export type CaCustodyAnswer = {
  /** Compact JWS (RFC 7515), ES256; GET /v1/state/system/attestation-keys has the key that `kid` of its header names. */
  statement: string;
  /** Generation of the key that it is about. */
  generation: number;
};

export type CaImportCertRequest = {
  /** PEM: the certificate of the CA first, then those above it. */
  certificate: string;
};

export type CaImportRevocationsAnswer = {
  /** Certificates that are revoked now and were not before. */
  revoked: number;
  /** Serial numbers that the CA does not know, listed and refused from now on. */
  'never-issued': number;
  /** Those that were revoked already. */
  'known-before': number;
};

export type CaImportRevocationsRequest = {
  /** The list: base64 of its DER, or PEM. */
  crl?: string | undefined;
  /** Serial numbers. */
  serials?: string[] | undefined;
};

export type CaRenewAnswer = {
  /** The new certificate of the CA. */
  'ca-cert': string;
  /** How often it got a key. */
  'key-version': number;
  /** When the certificate ends. */
  'not-after': string;
};

export type CaRevokeAnswer = {
  /** Certificates that are revoked now and were not before. */
  revoked: number;
  /** Other certificates of its line that are valid still. */
  'still-valid': number;
};

export type CaRevokeRequest = {
  /** Serial number of the certificate, hexadecimal. */
  serial: string;
  /** Why (RFC 5280 section 5.3.1). */
  reason?: CaRevokeRequestReason | undefined;
  /** The whole line: what it renewed, and all renewals of that. */
  line?: boolean | undefined;
};

/** Why (RFC 5280 section 5.3.1). */
export type CaRevokeRequestReason = 'unspecified' | 'key-compromise' | 'affiliation-changed' | 'superseded' | 'cessation-of-operation' | 'privilege-withdrawn';

export type CaSignCsrAnswer = {
  /** The certificate. */
  certificate: string;
  /** Those of the CA and of what is above it. */
  chain: string;
  /** Its serial number. */
  serial: string;
  /** When it ends. */
  'not-after': string;
};

export type CaSignCsrRequest = {
  /** PKCS#10 certification request, PEM. */
  csr: string;
  /** Life of the certificate; default est/ttl of the CA. */
  ttl?: string | undefined;
  /** What the certificate is for. */
  usages?: CaSignCsrRequestUsagesItem[] | undefined;
};

export type CaSignCsrRequestUsagesItem = 'client-auth' | 'server-auth';

/** Size of an rsa key; default 3072. */
export type CertKeyBits = 2048 | 3072 | 4096;

/** Curve of an ecdsa key; default secp256r1. */
export type CertKeyCurve = 'secp256r1' | 'secp384r1' | 'secp521r1';

/** Key of the CA; default ecdsa. */
export type CertKeyType = 'ecdsa' | 'rsa' | 'ed25519' | 'ml-dsa-44' | 'ml-dsa-65' | 'ml-dsa-87';

/** What it is worth now. */
export type CertificateStatus = 'valid' | 'expired' | 'revoked';

export type ChangePinRequest = {
  /** Name of the token in the configuration; needed where there are several. */
  token?: string | undefined;
};

/** What the key is made of. */
export type Cipher = 'aes128-gcm96' | 'aes192-gcm96' | 'aes256-gcm96' | 'rsa-2048' | 'rsa-3072' | 'rsa-4096' | 'ed25519' | 'ecdsa-p256' | 'ecdsa-p384' | 'ecdsa-p521' | 'ml-dsa-44' | 'ml-dsa-65' | 'ml-dsa-87';

export type ClaimTarget = 'username' | 'fullname';

export type ClusterAdmitAnswer = {
  /** Name of the etcd of the cluster. */
  cluster: string;
  /** Client URLs of the members of etcd. */
  endpoints: string[];
  /** Among the members of etcd. */
  peer: ClusterAdmitPeer;
  /** For the shared store. */
  client: ClusterAdmitClient;
};

/** For the shared store. */
export type ClusterAdmitClient = {
  /** PEM. */
  certificate: string;
  /** The CA that issued it and the others of its kind, PEM. */
  authority: string;
  /** Its revocation list, DER in base64. */
  revocations: string;
};

/** Among the members of etcd. */
export type ClusterAdmitPeer = {
  /** PEM. */
  certificate: string;
  /** The CA that issued it and the others of its kind, PEM. */
  authority: string;
  /** Its revocation list, DER in base64. */
  revocations: string;
};

export type ClusterAdmitRequest = {
  /** The secret of the invitation. */
  secret: string;
  /** Identity of the new appliance. */
  appliance: string;
  /** Its name, which no other appliance of the cluster has. */
  name: string;
  /** IP address of its member of etcd. */
  address: string;
  /** DER PKCS#10 request for the certificate among the members of etcd. */
  'peer-request': string;
  /** DER PKCS#10 request for the certificate for the shared store. */
  'client-request': string;
};

export type ClusterAdmitTokenAnswer = {
  /**
   * `waiting`: another rotation comes first. `rewrapping`: the keys are wrapped again. `ready`: the appliance may be
   * admitted.
   */
  state: TokenAdmissionState;
  /** Keys that are wrapped again. */
  done: number;
  /** Keys to wrap again, as counted so far. */
  total: number;
  /** When ready; absent for a token that has the keys already. */
  keys?: ClusterAdmitTokenKeys | undefined;
};

/** When ready; absent for a token that has the keys already. */
export type ClusterAdmitTokenKeys = {
  /** Number of the wrapping key. */
  number: number;
  /** The carrying by which it came into the tokens. */
  carrying: string;
  /** What the token has to make with the keys that it has taken. */
  marks: ClusterAdmitTokenKeysMarks;
  /** The keys, for that token alone. */
  parcel: ClusterAdmitTokenKeysParcel;
};

/** What the token has to make with the keys that it has taken. */
export type ClusterAdmitTokenKeysMarks = {
  /** What the wrapping key makes of a constant, in hexadecimal. */
  wrapping: string;
  /** What the binding key makes of a constant, in hexadecimal. */
  binding: string;
};

/** The keys, for that token alone. */
export type ClusterAdmitTokenKeysParcel = {
  /** The hash of RSA-OAEP. */
  hash: OaepHash;
  /** The wrapping key under the transport key, in base64. */
  wrapping: string;
  /** The binding key under the transport key, in base64. */
  binding: string;
};

export type ClusterAdmitTokenRequest = {
  /** The secret of the invitation. */
  secret: string;
  /** Identity of the new appliance. */
  appliance: string;
  /** Its name, which no other appliance of the cluster has. */
  name: string;
  /**
   * DER PKCS#10 request with the key of the one of `admit`. Its challengePassword is the SHA-256, hexadecimal, of the JSON
   * list of `keystored-admit-token-1`, the secret, the identity and the public key of the transport key: nobody else puts
   * another one in its place.
   */
  'peer-request': string;
  /** What the token of the new appliance says of itself. */
  transport: TransportKeyInput;
};

export type ClusterAnswer = {
  /** `alone`: the configuration has no section `cluster`, and there are no members. */
  shape: ClusterShape;
  /**
   * Whether the appliance that answers is cut off: this is then what it knew last, and which members of etcd it reaches
   * now.
   */
  'cut-off'?: boolean | undefined;
  /** Name of the shared store. */
  epoch?: string | undefined;
  /** The state of the shared store that the appliance has. */
  revision: number;
  /** The level in whose formats records are written: the highest that the programs of all members work with. */
  level: number;
  /** Every appliance that came in once and was not removed, by name. */
  members: ClusterMember[];
  /** The members of etcd, where the appliances run them; empty for an etcd that somebody else runs. */
  etcd: ClusterEtcd[];
  /** Those that were removed for ever, by name. */
  removed: ClusterRemoved[];
  /** What the administrator should know, or change, in sentences. */
  warnings?: string[] | undefined;
};

export type ClusterEtcd = {
  /** Name of the appliance that runs it; empty before it has started once. */
  appliance: string;
  /** Where the appliances reach it. */
  url: string;
  /** Whether it leads etcd. */
  leader: boolean;
  /** Whether it is being filled, and does not count for the majority yet. */
  learner: boolean;
  /** Version of etcd; absent when it does not answer. */
  version?: string | undefined;
  /** Size of its file; 8 GiB are the most. */
  bytes?: number | undefined;
  /** What is wrong with it. */
  problem?: string | undefined;
};

export type ClusterInitAnswer = {
  /** Name of the appliance in the cluster. */
  name: string;
};

export type ClusterInitRequest = {
  /**
   * With a token in each appliance: former keys of CAs that are objects in the token of this one, with certificates that
   * did not end, stay there. Only this appliance makes their revocation lists and OCSP answers then.
   */
  'former-keys-stay'?: boolean | undefined;
};

export type ClusterInvitation = {
  /** Names the invitation in lists and audit records; nobody comes in by it. */
  id: string;
  /**
   * `open`: nobody has used it. `used`: its appliance was admitted and has not come in yet; within the hour it may ask
   * again. `over`: its appliance has come in, or was removed.
   */
  state: InvitationState;
  /** The `cluster/name` of the one appliance that may come by it; absent: any that is free. */
  member?: string | undefined;
  /** User of the token that invited. */
  by: string;
  /** Until when it is good. */
  expires: string;
  /** The appliance that has used it. */
  'used-by'?: ClusterInvitationUsedBy | undefined;
};

/** The appliance that has used it. */
export type ClusterInvitationUsedBy = {
  /** Its name. */
  name: string;
  /** Its identity. */
  id: string;
  /** When it asked first. */
  at: string;
};

export type ClusterInvitationsAnswer = {
  /** The newest last. */
  invitations: ClusterInvitation[];
};

export type ClusterInviteAnswer = {
  /** Names the invitation in lists and audit records; nobody comes in by it. */
  id: string;
  /** One line, for the file that the new appliance is started with. */
  invitation: string;
  /** Until when it is good. */
  expires: string;
};

export type ClusterInviteRequest = {
  /** The `cluster/name` of the one appliance that may come by it; absent: any that is free. */
  member?: string | undefined;
};

export type ClusterJoinAnswer = {
  /** Name of this appliance in the cluster. */
  name: string;
  /** Where the member is that has invited. */
  'invited-by': string;
};

export type ClusterJoinRequest = {
  /** The line that a member has made. */
  invitation: string;
};

export type ClusterMember = {
  /** Name of the appliance in its configuration. */
  name: string;
  /** Its identity, drawn when it came in first. */
  id: string;
  /** Version of its program. */
  version: string;
  /** The highest level of the records that its program works with. */
  'newest-level': number;
  /** `in`: it may answer, and changes wait for it. `expelled`: it did not apply what it should. `out`: it answers no more. */
  state: ClusterMemberState;
  /** The `public-url` that its certificates and links name; absent before it has started with a program that says it. */
  'public-url'?: string | undefined;
  /** Whether it is the one that answers. */
  self: boolean;
  /** Whether it runs the background jobs of all. */
  'leads-jobs': boolean;
  /** Revisions that it lacked at its last sign of life; a few are ordinary. */
  behind: number;
  /**
   * Whether those were revoked by which it reaches the shared store, so that it comes in no more; only where the
   * appliances run etcd.
   */
  'certificates-revoked': boolean;
  /** Time since its last sign of life was seen. */
  'silent-milliseconds': number;
};

/** `in`: it may answer, and changes wait for it. `expelled`: it did not apply what it should. `out`: it answers no more. */
export type ClusterMemberState = 'in' | 'expelled' | 'out';

export type ClusterRemoveMemberAnswer = {
  /** Name of the appliance in its configuration. */
  name: string;
  /** Its identity, drawn when it came in first. */
  id: string;
  /** When it was removed. */
  'removed-at': string;
  /** User of the token that removed it. */
  'removed-by': string;
  /** Chains of the audit trail that are lost with it: no verification expects them any more. */
  'lost-chains': string[];
  /**
   * Appliances that have not confirmed within 20 seconds that it has no way to the shared store any more, where the
   * appliances run etcd: the same request asks again.
   */
  unconfirmed: string[];
  /**
   * Where each appliance has a token: whether the wrapping key, which the token of the removed one has, is being rotated,
   * or was `rotated` by an earlier request; `unchanged`: it could not be, as system:logs says, and is to be rotated by
   * hand. Absent where all reach one HSM.
   */
  'wrapping-key'?: WrappingKeyAfterRemoval | undefined;
};

export type ClusterRemoveMemberRequest = {
  /** Name or id of the appliance, as the state of the cluster has it. */
  member: string;
  /** Remove it although it gives signs of life. It refuses everything within two seconds, and for ever. */
  'even-if-alive'?: boolean | undefined;
};

export type ClusterRemoved = {
  /** Name of the appliance in its configuration. */
  name: string;
  /** Its identity, drawn when it came in first. */
  id: string;
  /** When it was removed. */
  'removed-at': string;
  /** User of the token that removed it. */
  'removed-by': string;
};

/** `alone`: the configuration has no section `cluster`, and there are no members. */
export type ClusterShape = 'alone' | 'cluster';

export type ClusterWithdrawInvitationAnswer = {
  /** Names the invitation in lists and audit records; nobody comes in by it. */
  id: string;
  /**
   * Appliances that have not confirmed within 20 seconds that the one that was admitted by it has no way to the shared
   * store any more.
   */
  unconfirmed: string[];
  /** Where each appliance has a token, and one was admitted by it: as of `remove-member`. */
  'wrapping-key'?: WrappingKeyAfterRemoval | undefined;
};

export type ClusterWithdrawInvitationRequest = {
  /** Names the invitation in lists and audit records; nobody comes in by it. */
  id: string;
};

/** Where the key lives: as a wrapped blob, or as an object in the token. */
export type Custody = 'wrapped' | 'token';

export type CustodyAnswer = {
  /** Compact JWS (RFC 7515), ES256; GET /v1/state/system/attestation-keys has the key that `kid` of its header names. */
  statement: string;
  /** Version of the key that it is about. */
  'key-version': number;
};

/** Size of the data key. */
export type DataKeyBits = 128 | 256 | 512;

export type DecryptAnswer = {
  /** The plaintext: base64, or raw UTF-8 with base64-encoded false. */
  plaintext: string;
  /** Version of the key that was used. */
  'key-version': number;
};

export type DecryptBatchAnswer = {
  /** One result for each request, in order. */
  'batch-results': DecryptBatchResult[];
  /** How many failed. */
  failed: number;
};

export type DecryptBatchItem = {
  /** What encrypt answered. */
  ciphertext: string;
  /** false: the text is raw UTF-8. */
  'base64-encoded'?: boolean | undefined;
  /** Required for derived keys: the same text again to decrypt. */
  context?: string | undefined;
  /** Authenticated with the ciphertext, not part of it: the same again to decrypt. */
  'associated-data'?: string | undefined;
  /** Echoed from the request. */
  reference?: string | undefined;
};

export type DecryptBatchRequest = {
  /** The requests. */
  'batch-input': DecryptBatchItem[];
};

export type DecryptBatchResult = {
  /** The plaintext: base64, or raw UTF-8 with base64-encoded false. */
  plaintext?: string | undefined;
  /** Version of the key that was used. */
  'key-version'?: number | undefined;
  /** Echoed from the request. */
  reference?: string | undefined;
  /** Of a request that failed: the HTTP status it would have had. */
  status?: number | undefined;
  /** Of a request that failed: the error code. */
  code?: string | undefined;
  /** Of a request that failed: why. */
  'error-message'?: string | undefined;
};

export type DecryptRequest = {
  /** What encrypt answered. */
  ciphertext: string;
  /** false: the text is raw UTF-8. */
  'base64-encoded'?: boolean | undefined;
  /** Required for derived keys: the same text again to decrypt. */
  context?: string | undefined;
  /** Authenticated with the ciphertext, not part of it: the same again to decrypt. */
  'associated-data'?: string | undefined;
};

export type DisableSecretIdRequest = {
  /** The secret-id meant. */
  'secret-id'?: string | undefined;
  /** Or its accessor. */
  accessor?: string | undefined;
};

/** Where the key goes; inherit means all. In a cluster every appliance has every key. */
export type Distribution = 'all' | 'none' | 'inherit';

/**
 * `holds`: its store has the version, and its token has opened it just now. `lacks`: `reason` says why. `silent`: it did
 * not say in time. `away`: it is out of the cluster, and was not asked.
 */
export type DistributionState = 'holds' | 'lacks' | 'silent' | 'away';

export type EncryptAnswer = {
  /** The ciphertext. */
  ciphertext: string;
  /** Version of the key that was used. */
  'key-version': number;
};

export type EncryptBatchAnswer = {
  /** One result for each request, in order. */
  'batch-results': EncryptBatchResult[];
  /** How many failed. */
  failed: number;
};

export type EncryptBatchItem = {
  /** What to encrypt: base64, or raw UTF-8 with base64-encoded false. */
  plaintext: string;
  /** false: the text is raw UTF-8. */
  'base64-encoded'?: boolean | undefined;
  /** Required for derived keys: the same text again to decrypt. */
  context?: string | undefined;
  /** Authenticated with the ciphertext, not part of it: the same again to decrypt. */
  'associated-data'?: string | undefined;
  /** Version to use; default: the version in use. */
  'key-version'?: number | undefined;
  /** Echoed from the request. */
  reference?: string | undefined;
};

export type EncryptBatchRequest = {
  /** The requests. */
  'batch-input': EncryptBatchItem[];
};

export type EncryptBatchResult = {
  /** The ciphertext. */
  ciphertext?: string | undefined;
  /** Version of the key that was used. */
  'key-version'?: number | undefined;
  /** Echoed from the request. */
  reference?: string | undefined;
  /** Of a request that failed: the HTTP status it would have had. */
  status?: number | undefined;
  /** Of a request that failed: the error code. */
  code?: string | undefined;
  /** Of a request that failed: why. */
  'error-message'?: string | undefined;
};

export type EncryptRequest = {
  /** What to encrypt: base64, or raw UTF-8 with base64-encoded false. */
  plaintext: string;
  /** false: the text is raw UTF-8. */
  'base64-encoded'?: boolean | undefined;
  /** Required for derived keys: the same text again to decrypt. */
  context?: string | undefined;
  /** Authenticated with the ciphertext, not part of it: the same again to decrypt. */
  'associated-data'?: string | undefined;
  /** Version to use; default: the version in use. */
  'key-version'?: number | undefined;
};

export type ExportAnswer = {
  /** Version to key material. */
  keys: Record<string, string>;
  /** Newest version in the answer. */
  'key-version': number;
};

export type ExportOpenpgpAnswer = {
  /** One for each version. */
  keys: ExportedOpenpgpKey[];
  /** Newest version in the answer. */
  'key-version': number;
};

export type ExportOpenpgpPublicAnswer = {
  /** One item with the block asked for. */
  keys: ExportOpenpgpPublicKey[];
  /** Version in the answer; of several the newest. */
  'key-version': number;
};

export type ExportOpenpgpPublicKey = {
  /** Version of the key; of several the newest. */
  version: number;
  /** Public key block; of a subkey with its primary key. */
  keyblock: string;
};

export type ExportOpenpgpPublicRequest = {
  /** Version to export; default: the newest. */
  version?: number | undefined;
  /** Every version, in one block; without `version`. */
  'all-versions'?: boolean | undefined;
  /** Of a primary key: also the subkeys that these versions bound, in all their versions. */
  subkeys?: boolean | undefined;
};

export type ExportOpenpgpRequest = {
  /** Default: every version that may decrypt. */
  version?: number | undefined;
  /** User ID of the block; default: that of the key. */
  'openpgp-user-id'?: string | undefined;
};

export type ExportOpenpgpRevocationAnswer = {
  /** Revocation certificate. */
  revocation: string;
  /** Version that it revokes. */
  'key-version': number;
};

export type ExportOpenpgpRevocationRequest = {
  /** Version to revoke. */
  version?: number | undefined;
  /** Why. */
  reason?: ExportOpenpgpRevocationRequestReason | undefined;
  /** A remark that everybody will read. */
  comment?: string | undefined;
};

/** Why. */
export type ExportOpenpgpRevocationRequestReason = 'no-reason' | 'superseded' | 'compromised' | 'retired';

export type ExportRequest = {
  /** Default: every version that may decrypt. */
  version?: number | undefined;
  /** clear: PKCS#8 PEM, or base64 for symmetric keys. wrapped: under wrapping-key. */
  format?: ExportRequestFormat | undefined;
  /** RSA public key PEM, for format wrapped. */
  'wrapping-key'?: string | undefined;
};

/** clear: PKCS#8 PEM, or base64 for symmetric keys. wrapped: under wrapping-key. */
export type ExportRequestFormat = 'clear' | 'wrapped';

export type ExportedOpenpgpKey = {
  /** Version of the key. */
  version: number;
  /** OpenPGP private key block. */
  value: string;
};

export type Finding = {
  /** Name of the finding, and of its part of health. */
  name: string;
  /** What was found. */
  message?: string | undefined;
  /** What to do, before the answer. */
  remedy?: string | undefined;
  /** When. */
  found?: string | undefined;
  /** `unanswered`: a part of health, which is not `ok`. */
  state?: FindingState | undefined;
  /** When it was answered. */
  answered?: string | undefined;
  /** Who has answered it. */
  'answered-by'?: string | undefined;
};

export type FindingAnswer = {
  /** Name of the finding, and of its part of health. */
  name: string;
  /** What was found. */
  message?: string | undefined;
  /** What to do, before the answer. */
  remedy?: string | undefined;
  /** When. */
  found?: string | undefined;
  /** `unanswered`: a part of health, which is not `ok`. */
  state?: FindingState | undefined;
  /** When it was answered. */
  answered?: string | undefined;
  /** Who has answered it. */
  'answered-by'?: string | undefined;
};

/** `unanswered`: a part of health, which is not `ok`. */
export type FindingState = 'unanswered' | 'answered';

export type GenerateDataKeyAnswer = {
  /** The data key, encrypted. */
  ciphertext: string;
  /** The data key in clear, with type plaintext. */
  plaintext?: string | undefined;
  /** Version of the key that was used. */
  'key-version': number;
};

export type GenerateDataKeyRequest = {
  /** plaintext: the answer also has the data key in clear. */
  type?: GenerateDataKeyRequestType | undefined;
  /** Size of the data key. */
  bits?: DataKeyBits | undefined;
  /** Required for derived keys: the same text again to decrypt. */
  context?: string | undefined;
  /** Authenticated with the ciphertext, not part of it: the same again to decrypt. */
  'associated-data'?: string | undefined;
  /** Version to use; default: the version in use. */
  'key-version'?: number | undefined;
};

/** plaintext: the answer also has the data key in clear. */
export type GenerateDataKeyRequestType = 'plaintext' | 'wrapped';

export type GenerateSecretIdAnswer = {
  /** The secret-id; shown this once. */
  'secret-id': string;
  /** Stands for the secret-id where the secret itself must not be seen. */
  accessor: string;
  /** When it was made. */
  'creation-time': string;
  /** When it ends; absent: never. */
  expires?: string | undefined;
  /** How often it can still be used; absent: as often as one likes. */
  'uses-left'?: number | undefined;
  /** Ranges of addresses it can be used from; empty: from anywhere. */
  'bound-cidrs': string[];
};

export type GenerateSecretIdRequest = {
  /** How long it can be used; at most, and unless given, as the approle says. */
  ttl?: string | undefined;
  /** How often it can be used; at most, and unless given, as the approle says. */
  'num-uses'?: number | undefined;
  /** Ranges of addresses it can be used from, besides those of the approle. */
  'bound-cidrs'?: string[] | undefined;
};

/** Hash of the text, for RSA and ECDSA. */
export type HashAlgorithm = 'sha256' | 'sha384' | 'sha512';

export type HealthAnswer = {
  /** degraded: requests are served, and a person should act; down: some requests cannot be served. */
  status: HealthAnswerStatus;
};

/** degraded: requests are served, and a person should act; down: some requests cannot be served. */
export type HealthAnswerStatus = 'ok' | 'degraded' | 'down';

export type HmacAnswer = {
  /** The HMAC. */
  hmac: string;
  /** Version of the key that was used. */
  'key-version': number;
};

export type HmacBatchAnswer = {
  /** One result for each request, in order. */
  'batch-results': HmacBatchResult[];
  /** How many failed. */
  failed: number;
};

export type HmacBatchItem = {
  /** What to authenticate: base64, or raw UTF-8 with base64-encoded false. */
  plaintext: string;
  /** false: the text is raw UTF-8. */
  'base64-encoded'?: boolean | undefined;
  /** Hash of the text, for RSA and ECDSA. */
  'hash-algorithm'?: HashAlgorithm | undefined;
  /** Version to use; default: the version in use. */
  'key-version'?: number | undefined;
  /** Echoed from the request. */
  reference?: string | undefined;
};

export type HmacBatchRequest = {
  /** The requests. */
  'batch-input': HmacBatchItem[];
};

export type HmacBatchResult = {
  /** The HMAC. */
  hmac?: string | undefined;
  /** Version of the key that was used. */
  'key-version'?: number | undefined;
  /** Echoed from the request. */
  reference?: string | undefined;
  /** Of a request that failed: the HTTP status it would have had. */
  status?: number | undefined;
  /** Of a request that failed: the error code. */
  code?: string | undefined;
  /** Of a request that failed: why. */
  'error-message'?: string | undefined;
};

export type HmacRequest = {
  /** What to authenticate: base64, or raw UTF-8 with base64-encoded false. */
  plaintext: string;
  /** false: the text is raw UTF-8. */
  'base64-encoded'?: boolean | undefined;
  /** Hash of the text, for RSA and ECDSA. */
  'hash-algorithm'?: HashAlgorithm | undefined;
  /** Version to use; default: the version in use. */
  'key-version'?: number | undefined;
};

export type HsmAnswer = {
  /** The configured tokens. */
  tokens: HsmToken[];
};

export type HsmObject = {
  /** Label of the object. */
  label: string;
  /** Its class in PKCS#11. */
  kind: HsmObjectKind;
  /** Whether its value is never shown in clear. */
  sensitive: boolean;
  /** Whether it can leave the token wrapped. */
  extractable: boolean;
  /** Whether its attributes can be changed. */
  modifiable: boolean;
  /** What the token allows it. */
  uses: string[];
  /** Those of them that its job does not need: of an earlier version, or changed since. */
  needless: string[];
};

/** Its class in PKCS#11. */
export type HsmObjectKind = 'secret' | 'private';

export type HsmToken = {
  /** Name of the token in the configuration. */
  name: string;
  /** The tokens with which it shares its keys; absent for a token by itself. */
  group?: HsmTokenGroup | undefined;
  /** Path of the PKCS#11 module. */
  module: string;
  /** Label of the token. */
  label: string;
  /** Serial number of the token. */
  serial: string;
  /** Manufacturer of the token. */
  manufacturer: string;
  /** Model of the token. */
  model: string;
  /** Whether it works. `damaged`: its own keys are missing. A refused PIN is not tried again. */
  state: HsmTokenState;
  /** Why it is not up, and how to correct it. */
  reason?: string | undefined;
  /** Key types that the token supports. */
  'key-types': string[];
  /** Mechanisms of the token. */
  mechanisms: string[];
  /** The key that wraps all others, and its last rotation. */
  'wrapping-key': HsmTokenWrappingKey;
  /** Whether the appliance chose its user PIN and keeps it; then `change-pin` replaces it. */
  'own-pin': boolean;
  /** Keys loaded now. */
  'loaded-keys': number;
  /** Sessions of the answering worker, counted recently. */
  sessions: HsmTokenSessions;
  /** Time of recent calls by operation. */
  latencies: Record<string, HsmTokenLatency>;
};

/** The tokens with which it shares its keys; absent for a token by itself. */
export type HsmTokenGroup = {
  /** Name of the group, which stored keys have. */
  name: string;
  /** Whether the token is up and has the wrapping key in use. */
  'opens-keys': boolean;
};

export type HsmTokenLatency = {
  /** Calls that were measured. */
  count: number;
  /** Median in microseconds. */
  'p50': number;
  /** 99th percentile in microseconds. */
  'p99': number;
  /** Of both. */
  unit: HsmTokenLatencyUnit;
};

/** Of both. */
export type HsmTokenLatencyUnit = 'microseconds';

/** Sessions of the answering worker, counted recently. */
export type HsmTokenSessions = {
  /** Sessions that may be open. */
  size: number;
  /** Sessions in use. */
  busy: number;
  /** Calls that wait for a session. */
  waiting: number;
};

/** Whether it works. `damaged`: its own keys are missing. A refused PIN is not tried again. */
export type HsmTokenState = 'up' | 'damaged' | 'down' | 'pin-refused';

/** The key that wraps all others, and its last rotation. */
export type HsmTokenWrappingKey = {
  /** Number of the wrapping key in use; each rotation makes the next. */
  number: number;
  /**
   * `rewrapping`: keys are being rewrapped. `incomplete`: some could not be, so the old wrapping key is kept; every start
   * tries again.
   */
  state: WrappingKeyState;
  /** Keys rewrapped by the last rotation. */
  done: number;
  /** Keys to rewrap, as counted so far. */
  total: number;
  /** Keys that could not be rewrapped; system:logs names them. */
  failed: number;
  /** When the last rotation began. */
  started?: string | undefined;
  /** When it ended. */
  finished?: string | undefined;
};

export type HsmTrial = {
  /** Name of the token in the configuration. */
  name: string;
  /** Whether it drew random octets, and encrypted and decrypted with a key of its own. */
  works: boolean;
  /** How long that took. */
  milliseconds: number;
  /** What went wrong. */
  problem?: string | undefined;
  /** The first 200 persistent objects of this service, as they are in the token now. */
  objects: HsmObject[];
};

export type ImageAnswer = {
  /**
   * Whether the machine runs the bootable image. Elsewhere there is nothing but this field: packages and containers are
   * updated as such.
   */
  'is-image': boolean;
  /** A version of the image. */
  version?: string | undefined;
  /** What the two slots have. A slot that was never written is left out. */
  slots?: ImageSlot[] | undefined;
  /**
   * Whether the version is on trial: `pending` until the daemon serves with it, `confirmed` in the start that accepted it,
   * `none` in later ones.
   */
  trial?: ImageAnswerTrial | undefined;
  /** What became of the update that was last offered since the machine started; in the words of its screen. */
  'last-update'?: string | undefined;
};

/**
 * Whether the version is on trial: `pending` until the daemon serves with it, `confirmed` in the start that accepted it,
 * `none` in later ones.
 */
export type ImageAnswerTrial = 'pending' | 'confirmed' | 'none';

export type ImageSlot = {
  /** A version of the image. */
  version: string;
  /** Whether it is the one that runs. */
  running: boolean;
};

export type ImportOpenpgpAnswer = {
  /** Name of the new transit key. */
  name: string;
  /** What the key in the block is. */
  cipher: string;
  /** Of the primary key first, then of its subkeys. */
  fingerprints: string[];
  /** Its one version. */
  'key-version': number;
  /** What other programs refuse of the certificate; absent where there is nothing. */
  warnings?: string[] | undefined;
};

export type ImportOpenpgpRequest = {
  /** Name of the new transit key. */
  name: string;
  /** Public key block with one certificate: ASCII armor, or base64 of the packets; of these at most 256 KiB. */
  openpgp: string;
};

export type ImportRequest = {
  /** PKCS#8, PKCS#1 or SEC1 as PEM, or base64 of DER; base64 for symmetric keys. */
  data?: string | undefined;
  /** In place of data: wrapped under GET /v1/state/keystore/wrapping-key, or under the key of import-wrapping-key. */
  ciphertext?: string | undefined;
  /** Of ciphertext: which key of import-wrapping-key it is wrapped under; unless given, that of the tenant. */
  'import-id'?: string | undefined;
};

export type ImportWrappingKeyAnswer = {
  /** SubjectPublicKeyInfo PEM, RSA-4096. */
  'wrapping-key': string;
};

export type ImportWrappingKeyOfOneAnswer = {
  /** SubjectPublicKeyInfo PEM, RSA-4096. */
  'wrapping-key': string;
  /** Given with the import. */
  'import-id': string;
  /** When it ends, used or not. */
  expires: string;
};

export type ImportWrappingKeyOfOneRequest = {
  /** How long it can be used, at most 1d. */
  ttl?: string | undefined;
};

/**
 * `open`: nobody has used it. `used`: its appliance was admitted and has not come in yet; within the hour it may ask
 * again. `over`: its appliance has come in, or was removed.
 */
export type InvitationState = 'open' | 'used' | 'over';

export type IssuedCertificate = {
  /** Serial number. */
  serial: string;
  /** Subject. */
  subject?: string | undefined;
  /** Subject alternative names. */
  names?: string[] | undefined;
  /** When it begins. */
  'not-before'?: string | undefined;
  /** When it ends. */
  'not-after'?: string | undefined;
  /** How it came about. */
  via?: string | undefined;
  /** Key of the CA that signed it. */
  'key-version'?: number | undefined;
  /** What it is worth now. */
  status?: CertificateStatus | undefined;
  /** Serial number of the first certificate of its line, when it renewed one. */
  line?: string | undefined;
  /** When it was revoked. */
  'revoked-at'?: string | undefined;
  /** Why it was revoked. */
  'revocation-reason'?: string | undefined;
  /** The certificate; only where one is asked for. */
  certificate?: string | undefined;
};

export type KeyDistributionAnswer = {
  /** Version of the key that it is about. */
  'key-version': number;
  /** Whether every appliance that was not removed holds it. */
  complete: boolean;
  /** Every appliance that was not removed, by name. */
  appliances: KeyDistributionAppliance[];
};

export type KeyDistributionAppliance = {
  /** Name of the appliance in its cluster; absent for one that stands alone. */
  name?: string | undefined;
  /** Its identity there. */
  id?: string | undefined;
  /** Whether it is the one that answers. */
  self: boolean;
  /**
   * `holds`: its store has the version, and its token has opened it just now. `lacks`: `reason` says why. `silent`: it did
   * not say in time. `away`: it is out of the cluster, and was not asked.
   */
  state: DistributionState;
  /** Token that opened it, by its name in the configuration. */
  token?: string | undefined;
  /** Serial number that this token says it has. */
  'token-serial'?: string | undefined;
  /** Why it lacks the version. */
  reason?: string | undefined;
};

/**
 * What it may do: `active` everything, `pending` (it waits for activate-after) and `deprecated` only decrypt and verify,
 * `invalidated` nothing.
 */
export type KeyVersionStatus = 'pending' | 'active' | 'deprecated' | 'invalidated';

export type NeededRight = {
  /** The field. */
  field: string;
  /** What must be allowed. */
  operation: PolicyCheckRequestOperation;
  /** And where: `{}` stands for the name in the field. */
  path: string;
};

export type OaepHash = 'sha256' | 'sha384' | 'sha512' | 'sha1';

export type OidcExplainAnswer = {
  /** signed-in, or the code of the refusal. */
  outcome: string;
  /** The same in a sentence. */
  explanation: string;
  /** Claim that roles are matched with. */
  'role-claim': string;
  /** How many values it has; absent when it is missing. */
  'role-claim-values'?: number | undefined;
  /** Every role of the service. */
  roles: OidcExplainRole[];
  /** What the sign-in gets. */
  policies: string[];
  /** Named by a granted role, and not there: they grant nothing. */
  'unknown-policies': string[];
  /** As mapped from the claims. */
  username?: string | undefined;
  /** As mapped from the claims. */
  fullname?: string | undefined;
  /** What else to know, in sentences. */
  notes: string[];
  /** The failed sign-in that was asked for. */
  login?: OidcExplainLogin | undefined;
};

/** The failed sign-in that was asked for. */
export type OidcExplainLogin = {
  /** Where it failed. */
  stage: string;
  /** The error code. */
  code: string;
  /** Why, in one word. */
  reason: string;
  /** What to do about it. */
  hint?: string | undefined;
  /** When. */
  'occurred-at': string;
};

export type OidcExplainRequest = {
  /** Claims as the provider sends them. */
  claims?: Record<string, unknown> | undefined;
  /** Reference of a failed sign-in, as shown on its page. */
  login?: string | undefined;
};

export type OidcExplainRole = {
  /** Name of the role. */
  name: string;
  /** Whether the role claim has its name. */
  matches: boolean;
  /** Whether it gives its policies. */
  grants: boolean;
  /** Required claims that are not there. */
  'missing-claims': string[];
  /** Why. */
  reason: string;
};

export type OidcLoginAnswer = {
  /** Where the person signs in. */
  'login-url': string;
  /** What the person compares there. */
  'user-code': string;
  /** Fetches the token. */
  'poll-token': string;
  /** Seconds between two attempts to fetch it. */
  interval: number;
  /** Seconds until it is too late. */
  'expires-in': number;
};

export type OidcLoginPollAnswer = {
  /** The token; it is shown this once. */
  token: string;
  /** Stands for the token where the token itself must not be seen. */
  accessor: string;
  /** What it may do. */
  policies: string[];
  /** Seconds until it ends. */
  'expires-in': number;
  /** When it ends. */
  expires: string;
  /** When it was made. */
  'creation-time': string;
};

export type OidcLoginPollRequest = {
  /** As the request for a sign-in was answered. */
  'poll-token': string;
};

export type OidcLoginRequest = {
  /** Name of the tenant. */
  tenant: string;
  /** Name of the OIDC service. */
  service: string;
};

export type OidcRole = {
  /** Name of the OIDC role. */
  name: string;
  /** Claims without which the role is not given; nested ones as JSON pointers, such as /address/country. */
  'required-claims'?: string[] | undefined;
  /** Claim to what it tells of the user; a nested claim as a JSON pointer. */
  'claim-mappings'?: Record<string, ClaimTarget> | undefined;
  /** Scopes asked for, besides openid. */
  'oidc-scopes'?: string[] | undefined;
  /** Policies the sign-in gets. */
  'token-policies'?: string[] | undefined;
  /**
   * Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name and value at
   * most 63 letters, digits, ".", "_" and "-". They are no secrets.
   */
  labels?: Record<string, string> | undefined;
};

export type OidcRoleCreation = {
  /** Name of the OIDC role. */
  name: string;
  /** Claims without which the role is not given; nested ones as JSON pointers, such as /address/country. */
  'required-claims'?: string[] | undefined;
  /** Claim to what it tells of the user; a nested claim as a JSON pointer. */
  'claim-mappings'?: Record<string, ClaimTarget> | undefined;
  /** Scopes asked for, besides openid. */
  'oidc-scopes'?: string[] | undefined;
  /** Policies the sign-in gets. */
  'token-policies'?: string[] | undefined;
  /**
   * Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name and value at
   * most 63 letters, digits, ".", "_" and "-". They are no secrets.
   */
  labels?: Record<string, string> | undefined;
};

export type OidcRoleMerge = {
  /** Claims without which the role is not given; nested ones as JSON pointers, such as /address/country. */
  'required-claims'?: string[] | null | undefined;
  /** Claim to what it tells of the user; a nested claim as a JSON pointer. */
  'claim-mappings'?: Record<string, ClaimTarget> | null | undefined;
  /** Scopes asked for, besides openid. */
  'oidc-scopes'?: string[] | null | undefined;
  /** Policies the sign-in gets. */
  'token-policies'?: string[] | null | undefined;
  /**
   * Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name and value at
   * most 63 letters, digits, ".", "_" and "-". They are no secrets.
   */
  labels?: Record<string, string> | null | undefined;
};

export type OidcRoleReplacement = {
  /** Claims without which the role is not given; nested ones as JSON pointers, such as /address/country. */
  'required-claims'?: string[] | undefined;
  /** Claim to what it tells of the user; a nested claim as a JSON pointer. */
  'claim-mappings'?: Record<string, ClaimTarget> | undefined;
  /** Scopes asked for, besides openid. */
  'oidc-scopes'?: string[] | undefined;
  /** Policies the sign-in gets. */
  'token-policies'?: string[] | undefined;
  /**
   * Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name and value at
   * most 63 letters, digits, ".", "_" and "-". They are no secrets.
   */
  labels?: Record<string, string> | undefined;
};

export type OidcRoleState = {
  /** Name of the OIDC role. */
  name: string;
  /** Claims without which the role is not given; nested ones as JSON pointers, such as /address/country. */
  'required-claims'?: string[] | undefined;
  /** Claim to what it tells of the user; a nested claim as a JSON pointer. */
  'claim-mappings'?: Record<string, ClaimTarget> | undefined;
  /** Scopes asked for, besides openid. */
  'oidc-scopes'?: string[] | undefined;
  /** Policies the sign-in gets. */
  'token-policies'?: string[] | undefined;
  /**
   * Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name and value at
   * most 63 letters, digits, ".", "_" and "-". They are no secrets.
   */
  labels?: Record<string, string> | undefined;
};

export type OidcService = {
  /** Name of the OIDC service. */
  name: string;
  /** What the login page calls it. */
  'display-name'?: string | undefined;
  /** Where the provider's OpenID Connect metadata is. */
  'discovery-url'?: string | undefined;
  /**
   * Hosts beside that of discovery-url at which the provider may have its token endpoint and its keys, as some do. Those
   * of Google are known. A service of version 0.1.0 without this field takes any host.
   */
  'provider-hosts'?: string[] | undefined;
  /** Whether the public CAs are trusted for the provider. */
  'use-root-ca-certs'?: boolean | undefined;
  /** CAs trusted for the provider besides, PEM. */
  'ca-certs'?: string | undefined;
  /** The id the provider gave this appliance. */
  'client-id'?: string | undefined;
  /** Write claims of sign-ins into system:logs: while setting up, not in production. */
  'verbose-logging'?: boolean | undefined;
  /** How roles are chosen. */
  'role-select'?: OidcServiceRoleSelect | undefined;
  /** Redirect URIs as registered at the provider; the path is /oidc-callback. */
  'allowed-redirect-uris'?: string[] | undefined;
  /** How the secret is sent; default: as the provider says. */
  'token-endpoint-auth-method'?: TokenEndpointAuthMethod | undefined;
  /** How far the clocks may differ. */
  'clock-tolerance'?: string | undefined;
  /** How long a sign-in lasts. */
  'session-ttl'?: string | undefined;
  /**
   * Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name and value at
   * most 63 letters, digits, ".", "_" and "-". They are no secrets.
   */
  labels?: Record<string, string> | undefined;
};

export type OidcServiceCreation = {
  /** Name of the OIDC service. */
  name: string;
  /** What the login page calls it. */
  'display-name'?: string | undefined;
  /** Where the provider's OpenID Connect metadata is. */
  'discovery-url': string;
  /**
   * Hosts beside that of discovery-url at which the provider may have its token endpoint and its keys, as some do. Those
   * of Google are known. A service of version 0.1.0 without this field takes any host.
   */
  'provider-hosts'?: string[] | undefined;
  /** Whether the public CAs are trusted for the provider. */
  'use-root-ca-certs'?: boolean | undefined;
  /** CAs trusted for the provider besides, PEM. */
  'ca-certs'?: string | undefined;
  /** The id the provider gave this appliance. */
  'client-id': string;
  /** The secret the provider gave this appliance. */
  'client-secret'?: string | undefined;
  /** Write claims of sign-ins into system:logs: while setting up, not in production. */
  'verbose-logging'?: boolean | undefined;
  /** How roles are chosen. */
  'role-select': OidcServiceRoleSelectInput;
  /** Redirect URIs as registered at the provider; the path is /oidc-callback. */
  'allowed-redirect-uris': string[];
  /** How the secret is sent; default: as the provider says. */
  'token-endpoint-auth-method'?: TokenEndpointAuthMethod | undefined;
  /** How far the clocks may differ. */
  'clock-tolerance'?: string | undefined;
  /** How long a sign-in lasts. */
  'session-ttl'?: string | undefined;
  /**
   * Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name and value at
   * most 63 letters, digits, ".", "_" and "-". They are no secrets.
   */
  labels?: Record<string, string> | undefined;
};

export type OidcServiceMerge = {
  /** What the login page calls it. */
  'display-name'?: string | null | undefined;
  /** Where the provider's OpenID Connect metadata is. */
  'discovery-url'?: string | undefined;
  /**
   * Hosts beside that of discovery-url at which the provider may have its token endpoint and its keys, as some do. Those
   * of Google are known. A service of version 0.1.0 without this field takes any host.
   */
  'provider-hosts'?: string[] | null | undefined;
  /** Whether the public CAs are trusted for the provider. */
  'use-root-ca-certs'?: boolean | undefined;
  /** CAs trusted for the provider besides, PEM. */
  'ca-certs'?: string | null | undefined;
  /** The id the provider gave this appliance. */
  'client-id'?: string | undefined;
  /** The secret the provider gave this appliance. */
  'client-secret'?: string | undefined;
  /** Write claims of sign-ins into system:logs: while setting up, not in production. */
  'verbose-logging'?: boolean | undefined;
  /** How roles are chosen. */
  'role-select'?: OidcServiceRoleSelectMerge | undefined;
  /** Redirect URIs as registered at the provider; the path is /oidc-callback. */
  'allowed-redirect-uris'?: string[] | undefined;
  /** How the secret is sent; default: as the provider says. */
  'token-endpoint-auth-method'?: TokenEndpointAuthMethod | null | undefined;
  /** How far the clocks may differ. */
  'clock-tolerance'?: string | undefined;
  /** How long a sign-in lasts. */
  'session-ttl'?: string | undefined;
  /**
   * Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name and value at
   * most 63 letters, digits, ".", "_" and "-". They are no secrets.
   */
  labels?: Record<string, string> | null | undefined;
};

export type OidcServiceReplacement = {
  /** What the login page calls it. */
  'display-name'?: string | undefined;
  /** Where the provider's OpenID Connect metadata is. */
  'discovery-url': string;
  /**
   * Hosts beside that of discovery-url at which the provider may have its token endpoint and its keys, as some do. Those
   * of Google are known. A service of version 0.1.0 without this field takes any host.
   */
  'provider-hosts'?: string[] | undefined;
  /** Whether the public CAs are trusted for the provider. */
  'use-root-ca-certs'?: boolean | undefined;
  /** CAs trusted for the provider besides, PEM. */
  'ca-certs'?: string | undefined;
  /** The id the provider gave this appliance. */
  'client-id': string;
  /** The secret the provider gave this appliance. */
  'client-secret'?: string | undefined;
  /** Write claims of sign-ins into system:logs: while setting up, not in production. */
  'verbose-logging'?: boolean | undefined;
  /** How roles are chosen. */
  'role-select': OidcServiceRoleSelectInput;
  /** Redirect URIs as registered at the provider; the path is /oidc-callback. */
  'allowed-redirect-uris': string[];
  /** How the secret is sent; default: as the provider says. */
  'token-endpoint-auth-method'?: TokenEndpointAuthMethod | undefined;
  /** How far the clocks may differ. */
  'clock-tolerance'?: string | undefined;
  /** How long a sign-in lasts. */
  'session-ttl'?: string | undefined;
  /**
   * Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name and value at
   * most 63 letters, digits, ".", "_" and "-". They are no secrets.
   */
  labels?: Record<string, string> | undefined;
};

/** How roles are chosen. */
export type OidcServiceRoleSelect = {
  /**
   * Claim whose values are matched against the names of roles; a nested one is written as a JSON pointer, such as
   * /realm_access/roles.
   */
  'role-claim'?: string | undefined;
};

/** How roles are chosen. */
export type OidcServiceRoleSelectInput = {
  /**
   * Claim whose values are matched against the names of roles; a nested one is written as a JSON pointer, such as
   * /realm_access/roles.
   */
  'role-claim': string;
};

/** How roles are chosen. */
export type OidcServiceRoleSelectMerge = {
  /**
   * Claim whose values are matched against the names of roles; a nested one is written as a JSON pointer, such as
   * /realm_access/roles.
   */
  'role-claim'?: string | undefined;
};

export type OidcServiceState = {
  /** Name of the OIDC service. */
  name: string;
  /** What the login page calls it. */
  'display-name'?: string | undefined;
  /** Where the provider's OpenID Connect metadata is. */
  'discovery-url'?: string | undefined;
  /**
   * Hosts beside that of discovery-url at which the provider may have its token endpoint and its keys, as some do. Those
   * of Google are known. A service of version 0.1.0 without this field takes any host.
   */
  'provider-hosts'?: string[] | undefined;
  /** Whether the public CAs are trusted for the provider. */
  'use-root-ca-certs'?: boolean | undefined;
  /** CAs trusted for the provider besides, PEM. */
  'ca-certs'?: string | undefined;
  /** The id the provider gave this appliance. */
  'client-id'?: string | undefined;
  /** Write claims of sign-ins into system:logs: while setting up, not in production. */
  'verbose-logging'?: boolean | undefined;
  /** How roles are chosen. */
  'role-select'?: OidcServiceRoleSelect | undefined;
  /** Redirect URIs as registered at the provider; the path is /oidc-callback. */
  'allowed-redirect-uris'?: string[] | undefined;
  /** How the secret is sent; default: as the provider says. */
  'token-endpoint-auth-method'?: TokenEndpointAuthMethod | undefined;
  /** How far the clocks may differ. */
  'clock-tolerance'?: string | undefined;
  /** How long a sign-in lasts. */
  'session-ttl'?: string | undefined;
  /**
   * Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name and value at
   * most 63 letters, digits, ".", "_" and "-". They are no secrets.
   */
  labels?: Record<string, string> | undefined;
  /** What an administrator should know, in sentences. */
  notices?: string[] | undefined;
  /** Whether the secret is set; its value is never answered. */
  'client-secret-set'?: boolean | undefined;
};

export type OidcTestAnswer = {
  /** Whether sign-ins can work. */
  usable: boolean;
  /** What is wrong, errors first. */
  findings: OidcTestFinding[];
  /** Issuer in the metadata. */
  issuer?: string | undefined;
  /** Where users sign in. */
  'authorization-endpoint'?: string | undefined;
  /** Where codes are exchanged. */
  'token-endpoint'?: string | undefined;
  /** Signature algorithms both sides know. */
  algorithms?: string[] | undefined;
  /** Proof key for code exchange (RFC 7636). */
  pkce?: OidcTestPkce | undefined;
  /** Whether the provider names itself in its redirects (RFC 9207). */
  'iss-parameter'?: boolean | undefined;
  /** How the secret is sent. */
  'token-endpoint-auth-method'?: string | undefined;
  /** What the token endpoint says to client-id and client-secret, tried with a code that does not exist. */
  'client-credentials'?: OidcTestAnswerClientCredentials | undefined;
  /** The redirect URIs. */
  'redirect-uris'?: OidcTestRedirectUri[] | undefined;
  /** Keys of the provider. */
  keys?: OidcTestKey[] | undefined;
  /** Host of the directory API that answers memberships. */
  'directory-host'?: string | undefined;
  /** TLS certificates of the provider. */
  'certificate-chain'?: OidcTestCertificateChain[] | undefined;
  /** Seconds the provider's clock is ahead of the appliance's, by its Date header. */
  'clock-difference-seconds'?: number | undefined;
  /** Scopes a sign-in asks for. */
  scopes?: string[] | undefined;
};

/** What the token endpoint says to client-id and client-secret, tried with a code that does not exist. */
export type OidcTestAnswerClientCredentials = 'accepted' | 'refused' | 'unknown';

export type OidcTestCertificateChain = {
  /** Subject. */
  subject: string;
  /** Issuer. */
  issuer: string;
  /** When it ends. */
  'not-after': string;
};

export type OidcTestFinding = {
  /** Whether sign-ins fail because of it. */
  level: OidcTestFindingLevel;
  /** What is wrong. */
  message: string;
  /** What to do about it. */
  fix?: string | undefined;
};

/** Whether sign-ins fail because of it. */
export type OidcTestFindingLevel = 'error' | 'warning';

export type OidcTestKey = {
  /** Key id. */
  kid?: string | undefined;
  /** Key type. */
  kty: string;
  /** Algorithm. */
  alg?: string | undefined;
  /** What for. */
  use?: string | undefined;
};

/** Proof key for code exchange (RFC 7636). */
export type OidcTestPkce = {
  /** Always sent. */
  method: OidcTestPkceMethod;
  /** Whether the provider promises to check it. */
  listed: boolean;
};

/** Always sent. */
export type OidcTestPkceMethod = 'S256';

export type OidcTestRedirectUri = {
  /** One of allowed-redirect-uris. */
  uri: string;
  /** Whether the provider knows it. */
  registered: OidcTestRedirectUriRegistered;
};

/** Whether the provider knows it. */
export type OidcTestRedirectUriRegistered = 'yes' | 'unknown';

export type OidcTestRequest = {
};

export type OpenpgpSignAnswer = {
  /** The detached signature. */
  signature: string;
  /** Version of the key that was used. */
  'key-version': number;
};

export type OpenpgpSignRequest = {
  /** What to sign: base64, or raw UTF-8 with base64-encoded false. */
  text: string;
  /** false: the text is raw UTF-8. */
  'base64-encoded'?: boolean | undefined;
  /** Version to use; default: the version in use. */
  'key-version'?: number | undefined;
  /** binary answers the packet in base64. */
  format?: OpenpgpSignRequestFormat | undefined;
  /** How long the signature holds; for ever when absent. */
  'expires-after'?: string | undefined;
};

/** binary answers the packet in base64. */
export type OpenpgpSignRequestFormat = 'armored' | 'binary';

export type OpenpgpVerifyAnswer = {
  /** Whether a key of the certificate made the signature over this text. */
  valid: boolean;
  /** Fingerprint of the key that signed. */
  fingerprint?: string | undefined;
  /** Its key id. */
  'key-id'?: string | undefined;
  /** Version of the transit key that signed. */
  version?: number | undefined;
  /** The same, as every key action says it. */
  'key-version'?: number | undefined;
  /** When, as the signature says. */
  'signed-at'?: string | undefined;
};

export type OpenpgpVerifyRequest = {
  /** What was signed: base64, or raw UTF-8 with base64-encoded false. */
  text: string;
  /** false: the text is raw UTF-8. */
  'base64-encoded'?: boolean | undefined;
  /** Detached signature: ASCII armor, or base64 of the packets. */
  signature: string;
};

export type OwnKeyInput = {
  /** Number of the key. */
  number: number;
  /** The carrying by which it came into the tokens. */
  carrying?: string | undefined;
};

export type Policy = {
  /** Name of the policy. */
  name: string;
  /** What the policy is for. */
  description?: string | undefined;
  /** What may be done over this API. */
  'rest-api'?: PolicyRestApi | undefined;
  /**
   * Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name and value at
   * most 63 letters, digits, ".", "_" and "-". They are no secrets.
   */
  labels?: Record<string, string> | undefined;
};

export type PolicyCheckAnswer = {
  /** Whether the request would not be refused with 403. */
  allowed: boolean;
  /** Whether the tenant has such a path; where it has not, a request is answered 404 whatever the policies say. */
  exists: boolean;
  /** Path of the rule that decided. */
  rule?: string | undefined;
  /** Policy that has the rule; absent: no rule decided. */
  policy?: string | undefined;
  /** Whose policies decided, since both must allow; `service`: what it asks of every caller there. */
  'decided-by': PolicyCheckAnswerDecidedBy;
  /** Whether rules limit values of fields or hide fields there. */
  restricted: boolean;
  /** The decision in words. */
  why: string;
  /**
   * What the request needs besides, where a field of it, or of the entry in its path, names another entry or has a value
   * that needs more.
   */
  'also-needs'?: NeededRight[] | undefined;
};

/** Whose policies decided, since both must allow; `service`: what it asks of every caller there. */
export type PolicyCheckAnswerDecidedBy = 'tenant' | 'token' | 'service';

export type PolicyCheckManyAnswer = {
  /** What is said of each, in the same order. */
  decisions: PolicyCheckManyDecision[];
};

export type PolicyCheckManyDecision = {
  /** Whether the request would not be refused with 403. */
  allowed: boolean;
  /** Whether the tenant has such a path; where it has not, a request is answered 404 whatever the policies say. */
  exists: boolean;
  /** Path of the rule that decided. */
  rule?: string | undefined;
  /** The decision in words. */
  why: string;
};

export type PolicyCheckManyRequest = {
  /** The requests in question. */
  questions: PolicyQuestionInput[];
};

export type PolicyCheckRequest = {
  /** The path of a request. */
  path: string;
  /** What would be done there. */
  operation: PolicyCheckRequestOperation;
  /** Accessor of the token meant; default: the own one. */
  accessor?: string | undefined;
  /** Or the policies of a token that need not exist. */
  policies?: string[] | undefined;
  /** What fields of the request name, so that this is judged too: field to name. */
  names?: Record<string, string> | undefined;
};

/** What would be done there. */
export type PolicyCheckRequestOperation = 'create' | 'read' | 'update' | 'delete' | 'execute';

export type PolicyCreation = {
  /** Name of the policy. */
  name: string;
  /** What the policy is for. */
  description?: string | undefined;
  /** What may be done over this API. */
  'rest-api'?: PolicyRestApiInput | undefined;
  /**
   * Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name and value at
   * most 63 letters, digits, ".", "_" and "-". They are no secrets.
   */
  labels?: Record<string, string> | undefined;
};

/** Whether anything may be done that no other field here says. */
export type PolicyEffect = 'allow' | 'reject';

export type PolicyMerge = {
  /** What the policy is for. */
  description?: string | undefined;
  /** What may be done over this API. */
  'rest-api'?: PolicyRestApiMerge | null | undefined;
  /**
   * Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name and value at
   * most 63 letters, digits, ".", "_" and "-". They are no secrets.
   */
  labels?: Record<string, string> | null | undefined;
};

/** What the rule says of each operation. */
export type PolicyOperations = {
  /** Whether anything may be done that no other field here says. */
  all?: PolicyEffect | undefined;
  /** Whether entries may be made. */
  create?: PolicyEffect | undefined;
  /** Whether it may be read. */
  read?: PolicyEffect | undefined;
  /** Whether entries may be changed. */
  update?: PolicyEffect | undefined;
  /** Whether entries may be deleted. */
  delete?: PolicyEffect | undefined;
  /** Whether actions may be run. */
  execute?: PolicyEffect | undefined;
};

/** What the rule says of each operation. */
export type PolicyOperationsInput = {
  /** Whether anything may be done that no other field here says. */
  all?: PolicyEffect | undefined;
  /** Whether entries may be made. */
  create?: PolicyEffect | undefined;
  /** Whether it may be read. */
  read?: PolicyEffect | undefined;
  /** Whether entries may be changed. */
  update?: PolicyEffect | undefined;
  /** Whether entries may be deleted. */
  delete?: PolicyEffect | undefined;
  /** Whether actions may be run. */
  execute?: PolicyEffect | undefined;
};

/** What the rule says of each operation. */
export type PolicyOperationsMerge = {
  /** Whether anything may be done that no other field here says. */
  all?: PolicyEffect | undefined;
  /** Whether entries may be made. */
  create?: PolicyEffect | undefined;
  /** Whether it may be read. */
  read?: PolicyEffect | undefined;
  /** Whether entries may be changed. */
  update?: PolicyEffect | undefined;
  /** Whether entries may be deleted. */
  delete?: PolicyEffect | undefined;
  /** Whether actions may be run. */
  execute?: PolicyEffect | undefined;
};

export type PolicyQuestionInput = {
  /** The path of a request. */
  path: string;
  /** What would be done there. */
  operation: PolicyCheckRequestOperation;
};

export type PolicyReplacement = {
  /** What the policy is for. */
  description?: string | undefined;
  /** What may be done over this API. */
  'rest-api'?: PolicyRestApiInput | undefined;
  /**
   * Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name and value at
   * most 63 letters, digits, ".", "_" and "-". They are no secrets.
   */
  labels?: Record<string, string> | undefined;
};

/** What may be done over this API. */
export type PolicyRestApi = {
  /** The most exact rule for a path decides; without one it is refused. */
  rules?: PolicyRule[] | undefined;
};

/** What may be done over this API. */
export type PolicyRestApiInput = {
  /** The most exact rule for a path decides; without one it is refused. */
  rules?: PolicyRuleInput[] | undefined;
};

export type PolicyRestApiMerge = {
  /** The most exact rule for a path decides; without one it is refused. */
  rules?: PolicyRuleMerge[] | null | undefined;
};

export type PolicyRule = {
  /** The paths the rule is about: `*` stands for one segment, `**` at the end for any rest. */
  path?: string | undefined;
  /** What the rule says of each operation. */
  operations?: PolicyOperations | undefined;
  /**
   * Name of a field, inside containers `a/b`, to the values a request may give it. One that is left out counts with its
   * default or, where that is no value of its own, as null; so does an empty list that means more than nothing.
   */
  'allowed-values'?: Record<string, unknown[]> | undefined;
  /** Names of fields left out of answers. */
  'hide-fields'?: string[] | undefined;
};

export type PolicyRuleInput = {
  /** The paths the rule is about: `*` stands for one segment, `**` at the end for any rest. */
  path: string;
  /** What the rule says of each operation. */
  operations: PolicyOperationsInput;
  /**
   * Name of a field, inside containers `a/b`, to the values a request may give it. One that is left out counts with its
   * default or, where that is no value of its own, as null; so does an empty list that means more than nothing.
   */
  'allowed-values'?: Record<string, unknown[]> | undefined;
  /** Names of fields left out of answers. */
  'hide-fields'?: string[] | undefined;
};

export type PolicyRuleMerge = {
  /** The paths the rule is about: `*` stands for one segment, `**` at the end for any rest. */
  path: string;
  /** What the rule says of each operation. */
  operations: PolicyOperationsMerge;
  /**
   * Name of a field, inside containers `a/b`, to the values a request may give it. One that is left out counts with its
   * default or, where that is no value of its own, as null; so does an empty list that means more than nothing.
   */
  'allowed-values'?: Record<string, unknown[]> | undefined;
  /** Names of fields left out of answers. */
  'hide-fields'?: string[] | undefined;
};

export type PolicyState = {
  /** Name of the policy. */
  name: string;
  /** What the policy is for. */
  description?: string | undefined;
  /** What may be done over this API. */
  'rest-api'?: PolicyRestApi | undefined;
  /**
   * Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name and value at
   * most 63 letters, digits, ".", "_" and "-". They are no secrets.
   */
  labels?: Record<string, string> | undefined;
  /** Whether every tenant has it; built-in policies cannot be changed. */
  'built-in'?: boolean | undefined;
  /** Rules that no request can meet, and names that cannot be hidden. */
  warnings?: string[] | undefined;
};

export type PolicyWithWarnings = {
  /** Name of the policy. */
  name: string;
  /** What the policy is for. */
  description?: string | undefined;
  /** What may be done over this API. */
  'rest-api'?: PolicyRestApi | undefined;
  /**
   * Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name and value at
   * most 63 letters, digits, ".", "_" and "-". They are no secrets.
   */
  labels?: Record<string, string> | undefined;
  /** What was accepted and is hardly meant so. */
  warnings?: string[] | undefined;
};

/** Why a request was refused (RFC 9457). */
export type Problem = {
  /** `urn:keystore:error:` and the code. */
  type: string;
  /** The code in words. */
  title: string;
  /** The HTTP status. */
  status: number;
  /** For people: field, rule and fix. Absent from 500 up. */
  detail?: string | undefined;
  /** The contract: kebab-case, never reused; see `x-errors`. */
  code: string;
  /** Finds the request in logs. */
  'request-id': string;
  /** One item for each thing that is wrong. */
  errors: ProblemItem[];
};

/** One thing that is wrong with a request. */
export type ProblemItem = {
  /** What is wrong. */
  'error-message': string;
  /** Where: the path of the field. */
  'error-info'?: string | undefined;
};

export type RandomBytesAnswer = {
  /** The octets in the format asked for. */
  bytes: string;
};

export type RandomBytesRequest = {
  /** How many octets. */
  bytes?: number | undefined;
  /** How they are written. */
  format?: RandomBytesRequestFormat | undefined;
};

/** How they are written. */
export type RandomBytesRequestFormat = 'base64' | 'hex';

export type RestoreRequest = {
  /** What backup answered, here or on another appliance. */
  key: string;
};

export type RewrapAnswer = {
  /** The ciphertext under the other version. */
  ciphertext: string;
  /** Version of the key that was used. */
  'key-version': number;
};

export type RewrapBatchAnswer = {
  /** One result for each request, in order. */
  'batch-results': RewrapBatchResult[];
  /** How many failed. */
  failed: number;
};

export type RewrapBatchItem = {
  /** What encrypt answered. */
  ciphertext: string;
  /** Required for derived keys: the same text again to decrypt. */
  context?: string | undefined;
  /** Authenticated with the ciphertext, not part of it: the same again to decrypt. */
  'associated-data'?: string | undefined;
  /** Version to use; default: the version in use. */
  'key-version'?: number | undefined;
  /** Echoed from the request. */
  reference?: string | undefined;
};

export type RewrapBatchRequest = {
  /** The requests. */
  'batch-input': RewrapBatchItem[];
};

export type RewrapBatchResult = {
  /** The ciphertext under the other version. */
  ciphertext?: string | undefined;
  /** Version of the key that was used. */
  'key-version'?: number | undefined;
  /** Echoed from the request. */
  reference?: string | undefined;
  /** Of a request that failed: the HTTP status it would have had. */
  status?: number | undefined;
  /** Of a request that failed: the error code. */
  code?: string | undefined;
  /** Of a request that failed: why. */
  'error-message'?: string | undefined;
};

export type RewrapRequest = {
  /** What encrypt answered. */
  ciphertext: string;
  /** Required for derived keys: the same text again to decrypt. */
  context?: string | undefined;
  /** Authenticated with the ciphertext, not part of it: the same again to decrypt. */
  'associated-data'?: string | undefined;
  /** Version to use; default: the version in use. */
  'key-version'?: number | undefined;
};

export type RotateAttestationKeyAnswer = {
  /** Thumbprint of the key (RFC 7638), which `kid` of statements names. */
  kid: string;
};

export type RotateWrappingKeyAnswer = {
  /** Number of the wrapping key in use; each rotation makes the next. */
  number: number;
  /**
   * `rewrapping`: keys are being rewrapped. `incomplete`: some could not be, so the old wrapping key is kept; every start
   * tries again.
   */
  state: WrappingKeyState;
  /** Keys rewrapped by the last rotation. */
  done: number;
  /** Keys to rewrap, as counted so far. */
  total: number;
  /** Keys that could not be rewrapped; system:logs names them. */
  failed: number;
  /** When the last rotation began. */
  started?: string | undefined;
  /** When it ended. */
  finished?: string | undefined;
};

export type RotateWrappingKeyRequest = {
  /** Name of the token in the configuration; needed where there are several. */
  token?: string | undefined;
};

export type SecretId = {
  /** Stands for the secret-id where the secret itself must not be seen. */
  accessor: string;
  /** When it was made. */
  'creation-time'?: string | undefined;
  /** When it ends; absent: never. */
  expires?: string | undefined;
  /** How often it can still be used; absent: as often as one likes. */
  'uses-left'?: number | undefined;
  /** Ranges of addresses it can be used from; empty: from anywhere. */
  'bound-cidrs'?: string[] | undefined;
};

export type ShippedSource = 'audit' | 'logs';

export type Shipping = {
  /** Name of the destination in the configuration. */
  name: string;
  /** What the receiver speaks. */
  protocol?: ShippingProtocol | undefined;
  /** Host and port of the receiver. */
  address?: string | undefined;
  /** What is shipped there. */
  sources?: ShippedSource[] | undefined;
  /** What happens when `max-lag-bytes` is reached. */
  'on-lag'?: ShippingLagPolicy | undefined;
  /** Octets of the audit trail that the receiver may lack. */
  'max-lag-bytes'?: number | undefined;
  /** Whether the receiver takes records. */
  connected?: boolean | undefined;
  /** When it took something for the first time since the last failure. */
  'connected-since'?: string | undefined;
  /** The last failure, also when the receiver takes records again. */
  'last-error'?: ShippingLastError | undefined;
  /** Whether changes and uses of keys are refused because of this destination. */
  blocking?: boolean | undefined;
  /** Records of the audit trail that the receiver has not confirmed. */
  'lag-records'?: number | undefined;
  /** Octets of the audit trail that it has not confirmed. */
  'lag-bytes'?: number | undefined;
  /** Octets of the logs that it has not confirmed. */
  'log-lag-bytes'?: number | undefined;
  /** Age of the oldest record that it has not confirmed. */
  'lag-seconds'?: number | undefined;
  /** Records that the receiver has confirmed. */
  sent?: number | undefined;
  /** Records that were sent again, because nothing said that they had arrived. */
  resent?: number | undefined;
  /** Records of the audit trail that were removed before they were sent. */
  dropped?: number | undefined;
  /** Files of logs that were removed before they were read. */
  'dropped-log-files'?: number | undefined;
  /** Records that the receiver refuses for what they are. */
  rejected?: number | undefined;
  /** Failures of the connection or the receiver. */
  errors?: number | undefined;
  /** The last confirmed record of every chain. */
  positions?: ShippingPosition[] | undefined;
};

export type ShippingAnswer = {
  /** Name of the destination in the configuration. */
  name: string;
  /** What the receiver speaks. */
  protocol?: ShippingProtocol | undefined;
  /** Host and port of the receiver. */
  address?: string | undefined;
  /** What is shipped there. */
  sources?: ShippedSource[] | undefined;
  /** What happens when `max-lag-bytes` is reached. */
  'on-lag'?: ShippingLagPolicy | undefined;
  /** Octets of the audit trail that the receiver may lack. */
  'max-lag-bytes'?: number | undefined;
  /** Whether the receiver takes records. */
  connected?: boolean | undefined;
  /** When it took something for the first time since the last failure. */
  'connected-since'?: string | undefined;
  /** The last failure, also when the receiver takes records again. */
  'last-error'?: ShippingLastError | undefined;
  /** Whether changes and uses of keys are refused because of this destination. */
  blocking?: boolean | undefined;
  /** Records of the audit trail that the receiver has not confirmed. */
  'lag-records'?: number | undefined;
  /** Octets of the audit trail that it has not confirmed. */
  'lag-bytes'?: number | undefined;
  /** Octets of the logs that it has not confirmed. */
  'log-lag-bytes'?: number | undefined;
  /** Age of the oldest record that it has not confirmed. */
  'lag-seconds'?: number | undefined;
  /** Records that the receiver has confirmed. */
  sent?: number | undefined;
  /** Records that were sent again, because nothing said that they had arrived. */
  resent?: number | undefined;
  /** Records of the audit trail that were removed before they were sent. */
  dropped?: number | undefined;
  /** Files of logs that were removed before they were read. */
  'dropped-log-files'?: number | undefined;
  /** Records that the receiver refuses for what they are. */
  rejected?: number | undefined;
  /** Failures of the connection or the receiver. */
  errors?: number | undefined;
  /** The last confirmed record of every chain. */
  positions?: ShippingPosition[] | undefined;
};

/** What happens when `max-lag-bytes` is reached. */
export type ShippingLagPolicy = 'continue' | 'block';

/** The last failure, also when the receiver takes records again. */
export type ShippingLastError = {
  /** When it failed. */
  'occurred-at'?: string | undefined;
  /** What failed, and the fix. */
  message?: string | undefined;
};

export type ShippingPosition = {
  /** Chain of the audit trail. */
  chain?: string | undefined;
  /** File of the last confirmed record. */
  file?: string | undefined;
  /** Octet of the file behind it. */
  offset?: number | undefined;
  /** Its number in the chain. */
  sequence?: number | undefined;
  /** Records of the chain after it. */
  'lag-records'?: number | undefined;
};

/** What the receiver speaks. */
export type ShippingProtocol = 'syslog' | 'json-lines' | 'splunk' | 'elastic' | 'loki' | 'otlp';

export type ShippingTestAnswer = {
  /** Id of the record, to find it at the receiver. */
  id: string;
  /** Whether the receiver took it. */
  accepted: boolean;
  /** What the receiver said, or what to mend. */
  answer: string;
  /** How long it took. */
  milliseconds: number;
};

export type ShippingTestRequest = {
};

export type SignAnswer = {
  /** The signature. */
  signature: string;
  /** Version of the key that was used. */
  'key-version': number;
};

export type SignBatchAnswer = {
  /** One result for each request, in order. */
  'batch-results': SignBatchResult[];
  /** How many failed. */
  failed: number;
};

export type SignBatchItem = {
  /** What to sign: base64, or raw UTF-8 with base64-encoded false. */
  text: string;
  /** false: the text is raw UTF-8. */
  'base64-encoded'?: boolean | undefined;
  /** Hash of the text, for RSA and ECDSA. */
  'hash-algorithm'?: HashAlgorithm | undefined;
  /** The input is the finished hash, not the data. */
  prehashed?: boolean | undefined;
  /** Padding of RSA signatures. A version that is a key for RSASSA-PSS has pss only. */
  'signature-algorithm'?: SignatureAlgorithm | undefined;
  /** asn1: base64, ECDSA as DER. jws: base64url without padding, ECDSA as r‖s. */
  marshaling?: SignatureMarshaling | undefined;
  /** Version to use; default: the version in use. */
  'key-version'?: number | undefined;
  /** Echoed from the request. */
  reference?: string | undefined;
};

export type SignBatchRequest = {
  /** The requests. */
  'batch-input': SignBatchItem[];
};

export type SignBatchResult = {
  /** The signature. */
  signature?: string | undefined;
  /** Version of the key that was used. */
  'key-version'?: number | undefined;
  /** Echoed from the request. */
  reference?: string | undefined;
  /** Of a request that failed: the HTTP status it would have had. */
  status?: number | undefined;
  /** Of a request that failed: the error code. */
  code?: string | undefined;
  /** Of a request that failed: why. */
  'error-message'?: string | undefined;
};

export type SignRequest = {
  /** What to sign: base64, or raw UTF-8 with base64-encoded false. */
  text: string;
  /** false: the text is raw UTF-8. */
  'base64-encoded'?: boolean | undefined;
  /** Hash of the text, for RSA and ECDSA. */
  'hash-algorithm'?: HashAlgorithm | undefined;
  /** The input is the finished hash, not the data. */
  prehashed?: boolean | undefined;
  /** Padding of RSA signatures. A version that is a key for RSASSA-PSS has pss only. */
  'signature-algorithm'?: SignatureAlgorithm | undefined;
  /** asn1: base64, ECDSA as DER. jws: base64url without padding, ECDSA as r‖s. */
  marshaling?: SignatureMarshaling | undefined;
  /** Version to use; default: the version in use. */
  'key-version'?: number | undefined;
};

/** Padding of RSA signatures. A version that is a key for RSASSA-PSS has pss only. */
export type SignatureAlgorithm = 'pkcs1v15' | 'pss';

/** asn1: base64, ECDSA as DER. jws: base64url without padding, ECDSA as r‖s. */
export type SignatureMarshaling = 'asn1' | 'jws';

export type SystemBackupRequest = {
  /** Opens the backup again; 12 characters or more. */
  passphrase?: string | undefined;
  /** age recipients, in place of a passphrase: all age1… or all age1pq1…. */
  recipients?: string[] | undefined;
};

export type SystemEndCredentialsAnswer = {
  /** Tokens that were ended. */
  tokens: number;
  /** Secret-ids that were ended. */
  'secret-ids': number;
};

export type SystemOperateRequest = {
  /** What to do. */
  operation: SystemOperateRequestOperation;
};

/** What to do. */
export type SystemOperateRequestOperation = 'reboot' | 'power-off' | 'factory-reset';

export type SystemUnsealRequest = {
  /** The user PIN of every configured token. */
  pin?: string | undefined;
  /** PINs by name of the token, where they differ. */
  pins?: Record<string, string> | undefined;
  /**
   * What the appliance has shown on its console and in its log when it was sealed; needed from elsewhere than the machine
   * itself.
   */
  'unseal-code'?: string | undefined;
};

export type Tenant = {
  /** Name of the tenant. */
  name: string;
  /** A name for people. */
  'descriptive-name'?: string | undefined;
  /** What the tenant is; there is one system tenant. */
  kind?: TenantKind | undefined;
  /** What the whole tenant may do at most; default by kind. */
  policies?: string[] | undefined;
  /** Requests that the tenant may send in a minute to one appliance; 0: as many as it likes. */
  'requests-per-minute'?: number | undefined;
  /** Seconds of the HSM that the tenant may use in a minute at one appliance; 0: as many as it likes. */
  'token-seconds-per-minute'?: number | undefined;
  /**
   * Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name and value at
   * most 63 letters, digits, ".", "_" and "-". They are no secrets.
   */
  labels?: Record<string, string> | undefined;
};

export type TenantCreation = {
  /** Name of the tenant. */
  name: string;
  /** A name for people. */
  'descriptive-name'?: string | undefined;
  /** What the tenant is; there is one system tenant. */
  kind?: TenantKind | undefined;
  /** What the whole tenant may do at most; default by kind. */
  policies?: string[] | undefined;
  /** Requests that the tenant may send in a minute to one appliance; 0: as many as it likes. */
  'requests-per-minute'?: number | undefined;
  /** Seconds of the HSM that the tenant may use in a minute at one appliance; 0: as many as it likes. */
  'token-seconds-per-minute'?: number | undefined;
  /**
   * Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name and value at
   * most 63 letters, digits, ".", "_" and "-". They are no secrets.
   */
  labels?: Record<string, string> | undefined;
};

/** What the tenant is; there is one system tenant. */
export type TenantKind = 'system' | 'site-provider' | 'application-owner';

export type TenantMerge = {
  /** A name for people. */
  'descriptive-name'?: string | undefined;
  /** What the tenant is; there is one system tenant. */
  kind?: TenantKind | undefined;
  /** What the whole tenant may do at most; default by kind. */
  policies?: string[] | null | undefined;
  /** Requests that the tenant may send in a minute to one appliance; 0: as many as it likes. */
  'requests-per-minute'?: number | undefined;
  /** Seconds of the HSM that the tenant may use in a minute at one appliance; 0: as many as it likes. */
  'token-seconds-per-minute'?: number | undefined;
  /**
   * Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name and value at
   * most 63 letters, digits, ".", "_" and "-". They are no secrets.
   */
  labels?: Record<string, string> | null | undefined;
};

export type TenantReplacement = {
  /** A name for people. */
  'descriptive-name'?: string | undefined;
  /** What the tenant is; there is one system tenant. */
  kind?: TenantKind | undefined;
  /** What the whole tenant may do at most; default by kind. */
  policies?: string[] | undefined;
  /** Requests that the tenant may send in a minute to one appliance; 0: as many as it likes. */
  'requests-per-minute'?: number | undefined;
  /** Seconds of the HSM that the tenant may use in a minute at one appliance; 0: as many as it likes. */
  'token-seconds-per-minute'?: number | undefined;
  /**
   * Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name and value at
   * most 63 letters, digits, ".", "_" and "-". They are no secrets.
   */
  labels?: Record<string, string> | undefined;
};

export type TenantState = {
  /** Name of the tenant. */
  name: string;
  /** A name for people. */
  'descriptive-name'?: string | undefined;
  /** What the tenant is; there is one system tenant. */
  kind?: TenantKind | undefined;
  /** What the whole tenant may do at most; default by kind. */
  policies?: string[] | undefined;
  /** Requests that the tenant may send in a minute to one appliance; 0: as many as it likes. */
  'requests-per-minute'?: number | undefined;
  /** Seconds of the HSM that the tenant may use in a minute at one appliance; 0: as many as it likes. */
  'token-seconds-per-minute'?: number | undefined;
  /**
   * Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name and value at
   * most 63 letters, digits, ".", "_" and "-". They are no secrets.
   */
  labels?: Record<string, string> | undefined;
  /** Stands for the tenant in EST paths. */
  uuid?: string | undefined;
  /** When the tenant was made. */
  'creation-time'?: string | undefined;
  /** Whether the one root token of the tenant was made. */
  'root-token-issued'?: boolean | undefined;
};

export type TenantsMergeLists = 'unite' | 'replace';

export type TestHsmAnswer = {
  /** What came of it, for each token. */
  tokens: HsmTrial[];
};

export type TlsCa = {
  /** Name of the TLS CA. */
  name: string;
  /** Key of the CA; default ecdsa. */
  'cert-key-type'?: CertKeyType | undefined;
  /** Curve of an ecdsa key; default secp256r1. */
  'cert-key-curve'?: CertKeyCurve | undefined;
  /** Size of an rsa key; default 3072. */
  'cert-key-bits'?: CertKeyBits | undefined;
  /** Subject of the CA certificate; default CN=<name>. */
  subject?: string | undefined;
  /** Life of the CA certificate. */
  ttl?: string | undefined;
  /** CA here that signs this one; without it the CA is a root. */
  'issuing-ca'?: string | undefined;
  /** Certificate of a CA elsewhere: this one is then only trusted, and issues nothing. */
  'ca-cert'?: string | undefined;
  /** Must be true before the CA can be deleted while certificates of it are valid. */
  'deletion-allowed'?: boolean | undefined;
  /** Enrolment of devices. */
  est?: TlsCaEst | undefined;
  /**
   * Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name and value at
   * most 63 letters, digits, ".", "_" and "-". They are no secrets.
   */
  labels?: Record<string, string> | undefined;
};

export type TlsCaCreation = {
  /** Name of the TLS CA. */
  name: string;
  /** Key of the CA; default ecdsa. */
  'cert-key-type'?: CertKeyType | undefined;
  /** Curve of an ecdsa key; default secp256r1. */
  'cert-key-curve'?: CertKeyCurve | undefined;
  /** Size of an rsa key; default 3072. */
  'cert-key-bits'?: CertKeyBits | undefined;
  /** Subject of the CA certificate; default CN=<name>. */
  subject?: string | undefined;
  /** Life of the CA certificate. */
  ttl?: string | undefined;
  /** CA here that signs this one; without it the CA is a root. */
  'issuing-ca'?: string | undefined;
  /** Certificate of a CA elsewhere: this one is then only trusted, and issues nothing. */
  'ca-cert'?: string | undefined;
  /** Must be true before the CA can be deleted while certificates of it are valid. */
  'deletion-allowed'?: boolean | undefined;
  /** Enrolment of devices. */
  est?: TlsCaEstInput | undefined;
  /**
   * Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name and value at
   * most 63 letters, digits, ".", "_" and "-". They are no secrets.
   */
  labels?: Record<string, string> | undefined;
};

/** Enrolment of devices. */
export type TlsCaEst = {
  /** Whether devices may enrol here; otherwise EST answers 404. */
  enabled?: boolean | undefined;
  /** CA whose certificates devices may show for first enrolment. */
  'initial-enroll-trust-ca'?: string | undefined;
  /** Domains that certificates may name; none: nothing is allowed. */
  'allowed-domains'?: string[] | undefined;
  /** Whether names below the domains are allowed. */
  'allow-subdomains'?: boolean | undefined;
  /** Whether the domains themselves are allowed. */
  'allow-bare-domains'?: boolean | undefined;
  /** Whether certificates may name IP addresses. */
  'allow-ip-sans'?: boolean | undefined;
  /** Life of issued certificates, never past the CA's own. */
  ttl?: string | undefined;
  /** Whether a device may renew with the certificate it has. */
  'allow-reenroll-with-issued-cert'?: boolean | undefined;
};

/** Enrolment of devices. */
export type TlsCaEstInput = {
  /** Whether devices may enrol here; otherwise EST answers 404. */
  enabled?: boolean | undefined;
  /** Shared secret of first enrolment, the password of HTTP Basic: 6 octets or more in UTF-8, no control characters. */
  'initial-enroll-secret'?: string | undefined;
  /** CA whose certificates devices may show for first enrolment. */
  'initial-enroll-trust-ca'?: string | undefined;
  /** Domains that certificates may name; none: nothing is allowed. */
  'allowed-domains'?: string[] | undefined;
  /** Whether names below the domains are allowed. */
  'allow-subdomains'?: boolean | undefined;
  /** Whether the domains themselves are allowed. */
  'allow-bare-domains'?: boolean | undefined;
  /** Whether certificates may name IP addresses. */
  'allow-ip-sans'?: boolean | undefined;
  /** Life of issued certificates, never past the CA's own. */
  ttl?: string | undefined;
  /** Whether a device may renew with the certificate it has. */
  'allow-reenroll-with-issued-cert'?: boolean | undefined;
};

export type TlsCaEstMerge = {
  /** Whether devices may enrol here; otherwise EST answers 404. */
  enabled?: boolean | undefined;
  /** Shared secret of first enrolment, the password of HTTP Basic: 6 octets or more in UTF-8, no control characters. */
  'initial-enroll-secret'?: string | null | undefined;
  /** CA whose certificates devices may show for first enrolment. */
  'initial-enroll-trust-ca'?: string | null | undefined;
  /** Domains that certificates may name; none: nothing is allowed. */
  'allowed-domains'?: string[] | null | undefined;
  /** Whether names below the domains are allowed. */
  'allow-subdomains'?: boolean | undefined;
  /** Whether the domains themselves are allowed. */
  'allow-bare-domains'?: boolean | undefined;
  /** Whether certificates may name IP addresses. */
  'allow-ip-sans'?: boolean | undefined;
  /** Life of issued certificates, never past the CA's own. */
  ttl?: string | undefined;
  /** Whether a device may renew with the certificate it has. */
  'allow-reenroll-with-issued-cert'?: boolean | undefined;
};

/** What devices need to know. */
export type TlsCaEstState = {
  /** Whether devices may enrol here; otherwise EST answers 404. */
  enabled?: boolean | undefined;
  /** CA whose certificates devices may show for first enrolment. */
  'initial-enroll-trust-ca'?: string | undefined;
  /** Domains that certificates may name; none: nothing is allowed. */
  'allowed-domains'?: string[] | undefined;
  /** Whether names below the domains are allowed. */
  'allow-subdomains'?: boolean | undefined;
  /** Whether the domains themselves are allowed. */
  'allow-bare-domains'?: boolean | undefined;
  /** Whether certificates may name IP addresses. */
  'allow-ip-sans'?: boolean | undefined;
  /** Life of issued certificates, never past the CA's own. */
  ttl?: string | undefined;
  /** Whether a device may renew with the certificate it has. */
  'allow-reenroll-with-issued-cert'?: boolean | undefined;
  /** Base URLs for devices, by host name and by address. */
  'https-url'?: string[] | undefined;
  /** Whether the secret is set; its value is never answered. */
  'initial-enroll-secret-set'?: boolean | undefined;
};

export type TlsCaMerge = {
  /** Key of the CA; default ecdsa. */
  'cert-key-type'?: CertKeyType | undefined;
  /** Curve of an ecdsa key; default secp256r1. */
  'cert-key-curve'?: CertKeyCurve | undefined;
  /** Size of an rsa key; default 3072. */
  'cert-key-bits'?: CertKeyBits | undefined;
  /** Subject of the CA certificate; default CN=<name>. */
  subject?: string | undefined;
  /** Life of the CA certificate. */
  ttl?: string | undefined;
  /** CA here that signs this one; without it the CA is a root. */
  'issuing-ca'?: string | undefined;
  /** Certificate of a CA elsewhere: this one is then only trusted, and issues nothing. */
  'ca-cert'?: string | null | undefined;
  /** Must be true before the CA can be deleted while certificates of it are valid. */
  'deletion-allowed'?: boolean | undefined;
  /** Enrolment of devices. */
  est?: TlsCaEstMerge | null | undefined;
  /**
   * Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name and value at
   * most 63 letters, digits, ".", "_" and "-". They are no secrets.
   */
  labels?: Record<string, string> | null | undefined;
};

export type TlsCaReplacement = {
  /** Key of the CA; default ecdsa. */
  'cert-key-type'?: CertKeyType | undefined;
  /** Curve of an ecdsa key; default secp256r1. */
  'cert-key-curve'?: CertKeyCurve | undefined;
  /** Size of an rsa key; default 3072. */
  'cert-key-bits'?: CertKeyBits | undefined;
  /** Subject of the CA certificate; default CN=<name>. */
  subject?: string | undefined;
  /** Life of the CA certificate. */
  ttl?: string | undefined;
  /** CA here that signs this one; without it the CA is a root. */
  'issuing-ca'?: string | undefined;
  /** Certificate of a CA elsewhere: this one is then only trusted, and issues nothing. */
  'ca-cert'?: string | undefined;
  /** Must be true before the CA can be deleted while certificates of it are valid. */
  'deletion-allowed'?: boolean | undefined;
  /** Enrolment of devices. */
  est?: TlsCaEstInput | undefined;
  /**
   * Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name and value at
   * most 63 letters, digits, ".", "_" and "-". They are no secrets.
   */
  labels?: Record<string, string> | undefined;
};

export type TlsCaState = {
  /** Name of the TLS CA. */
  name: string;
  /** Key of the CA; default ecdsa. */
  'cert-key-type'?: CertKeyType | undefined;
  /** Curve of an ecdsa key; default secp256r1. */
  'cert-key-curve'?: CertKeyCurve | undefined;
  /** Size of an rsa key; default 3072. */
  'cert-key-bits'?: CertKeyBits | undefined;
  /** Subject of the CA certificate; default CN=<name>. */
  subject?: string | undefined;
  /** Life of the CA certificate. */
  ttl?: string | undefined;
  /** CA here that signs this one; without it the CA is a root. */
  'issuing-ca'?: string | undefined;
  /** Certificate of the CA. */
  'ca-cert'?: string | undefined;
  /** Must be true before the CA can be deleted while certificates of it are valid. */
  'deletion-allowed'?: boolean | undefined;
  /** What devices need to know. */
  est?: TlsCaEstState | undefined;
  /**
   * Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name and value at
   * most 63 letters, digits, ".", "_" and "-". They are no secrets.
   */
  labels?: Record<string, string> | undefined;
  /** Identifies the CA permanently, whatever its name. */
  uuid?: string | undefined;
  /** When it was made. */
  'creation-time'?: string | undefined;
  /** Whether it is only trusted. */
  'trust-only'?: boolean | undefined;
  /** Certificates above it, up to the root. */
  chain?: string | undefined;
  /** Serial number of its certificate. */
  serial?: string | undefined;
  /** When its certificate begins. */
  'not-before'?: string | undefined;
  /** When its certificate ends. */
  'not-after'?: string | undefined;
  /** How often it got a key; counted on from a deleted CA of the same name whose last revocation list is kept. */
  'key-version'?: number | undefined;
  /** Where its revocation list is. */
  'crl-url'?: string | undefined;
  /** Where its OCSP responder is. */
  'ocsp-url'?: string | undefined;
};

export type Token = {
  /** Stands for the token where the token itself must not be seen. */
  accessor: string;
  /** Tenant of the token. */
  tenant?: string | undefined;
  /** Who holds it: a user, an approle, or root. */
  user?: string | undefined;
  /** Where the name of the user comes from: names of different sources may be alike. */
  'user-kind'?: UserKind | undefined;
  /** The approle, or the service at which the person signed in. */
  'user-source'?: string | undefined;
  /** What it may do, within what its tenant may do. */
  policies?: string[] | undefined;
  /** When it was made. */
  'creation-time'?: string | undefined;
  /** When it ends; root tokens have no end. */
  expires?: string | undefined;
  /** Seconds until then. */
  'expires-in'?: number | undefined;
  /** The end that no refresh passes. */
  'latest-expires'?: string | undefined;
  /** Ranges of addresses it works from. */
  'bound-cidrs'?: string[] | undefined;
  /** Accessor of the token that made it and that it ends with. */
  parent?: string | undefined;
  /** Approle it was issued for. */
  approle?: string | undefined;
};

/**
 * `waiting`: another rotation comes first. `rewrapping`: the keys are wrapped again. `ready`: the appliance may be
 * admitted.
 */
export type TokenAdmissionState = 'waiting' | 'rewrapping' | 'ready';

export type TokenCreateAnswer = {
  /** The token; shown this once. */
  token: string;
  /** Stands for the token where the token itself must not be seen. */
  accessor: string;
  /** Seconds until it ends. */
  'expires-in': number;
  /** When it ends, unless it is refreshed. */
  expires: string;
  /** When it was made. */
  'creation-time': string;
  /** When to refresh it or to log in again: after two thirds of its life. */
  'renewal-time': string;
};

export type TokenCreateRequest = {
  /** Policies of the caller; unless given, all of them. */
  policies?: string[] | undefined;
  /** Its life, and what a refresh gives; default 1d. */
  ttl?: string | undefined;
  /** Its longest life over all refreshes; default 32d. */
  'max-ttl'?: string | undefined;
  /** Ranges of addresses it works from; default: from anywhere. */
  'bound-cidrs'?: string[] | undefined;
};

export type TokenCreateRootAnswer = {
  /** Stands for the token where the token itself must not be seen. */
  accessor: string;
  /** The token; it is shown this once. */
  token: string;
  /** When it was made. */
  'creation-time': string;
};

export type TokenCreateRootRequest = {
  /** Name of the tenant. */
  name: string;
};

export type TokenDisableRequest = {
  /** The token meant. */
  token?: string | undefined;
  /** Or its accessor. */
  accessor?: string | undefined;
};

/** How the secret is sent; default: as the provider says. */
export type TokenEndpointAuthMethod = 'client_secret_basic' | 'client_secret_post';

export type TokenInfoAnswer = {
  /** Stands for the token where the token itself must not be seen. */
  accessor: string;
  /** Tenant of the token. */
  tenant: string;
  /** Who holds it: a user, an approle, or root. */
  user: string;
  /** Where the name of the user comes from: names of different sources may be alike. */
  'user-kind': UserKind;
  /** The approle, or the service at which the person signed in. */
  'user-source'?: string | undefined;
  /** What it may do, within what its tenant may do. */
  policies: string[];
  /** When it was made. */
  'creation-time': string;
  /** When it ends; root tokens have no end. */
  expires?: string | undefined;
  /** Seconds until then. */
  'expires-in'?: number | undefined;
  /** The end that no refresh passes. */
  'latest-expires'?: string | undefined;
  /** Ranges of addresses it works from. */
  'bound-cidrs'?: string[] | undefined;
  /** Accessor of the token that made it and that it ends with. */
  parent?: string | undefined;
  /** Approle it was issued for. */
  approle?: string | undefined;
};

export type TokenInfoRequest = {
  /** The token meant. */
  token?: string | undefined;
  /** Or its accessor. */
  accessor?: string | undefined;
};

export type TokenRefreshAnswer = {
  /** Stands for the token where the token itself must not be seen. */
  accessor: string;
  /** Tenant of the token. */
  tenant: string;
  /** Who holds it: a user, an approle, or root. */
  user: string;
  /** Where the name of the user comes from: names of different sources may be alike. */
  'user-kind': UserKind;
  /** The approle, or the service at which the person signed in. */
  'user-source'?: string | undefined;
  /** What it may do, within what its tenant may do. */
  policies: string[];
  /** When it was made. */
  'creation-time': string;
  /** When it ends; root tokens have no end. */
  expires?: string | undefined;
  /** Seconds until then. */
  'expires-in'?: number | undefined;
  /** The end that no refresh passes. */
  'latest-expires'?: string | undefined;
  /** Ranges of addresses it works from. */
  'bound-cidrs'?: string[] | undefined;
  /** Accessor of the token that made it and that it ends with. */
  parent?: string | undefined;
  /** Approle it was issued for. */
  approle?: string | undefined;
};

export type TokenRefreshRequest = {
  /** How long it shall live from now; unless given, its ttl. */
  increment?: string | undefined;
};

export type Topic = {
  /** Name of the topic. */
  name: string;
};

export type TopicsShowResult = 'done' | 'refused' | 'failed';

export type TransitKey = {
  /** Name of the transit key. */
  name: string;
  /** What the key is made of. */
  cipher?: Cipher | undefined;
  /** Distribution of the key. */
  distribute?: TransitKeyDistribute | undefined;
  /** Whether export may answer key material. */
  exportable?: boolean | undefined;
  /** Whether backup may answer the key in clear. */
  'allow-plaintext-backup'?: boolean | undefined;
  /** Must be true before the key can be deleted. */
  'deletion-allowed'?: boolean | undefined;
  /** A key of its own for each context; symmetric ciphers only. */
  derived?: boolean | undefined;
  /** The same plaintext in the same context gives the same ciphertext; derived keys only. */
  'convergent-encryption'?: boolean | undefined;
  /** Where the key lives: as a wrapped blob, or as an object in the token. */
  custody?: Custody | undefined;
  /** PEM public key: makes a key that only verifies. */
  'public-key'?: string | undefined;
  /** Older versions do not encrypt or sign; 0: no restriction. */
  'min-encryption-version'?: number | undefined;
  /** Older versions do not decrypt or verify; 0: no restriction. */
  'min-decryption-version'?: number | undefined;
  /** Rotates the key by itself; a merge cannot remove it, a replacement can. */
  'auto-rotate'?: TransitKeyAutoRotate | undefined;
  /** Makes the key an OpenPGP primary key with this User ID. */
  'openpgp-user-id'?: string | undefined;
  /** Makes the key an OpenPGP subkey, bound to the primary key of this name. */
  'openpgp-primary'?: string | undefined;
  /** What an OpenPGP subkey is for. */
  'openpgp-key-usage'?: TransitKeyOpenpgpKeyUsageItem[] | undefined;
  /**
   * Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name and value at
   * most 63 letters, digits, ".", "_" and "-". They are no secrets.
   */
  labels?: Record<string, string> | undefined;
};

/** Rotates the key by itself; a merge cannot remove it, a replacement can. */
export type TransitKeyAutoRotate = {
  /** Interval after which the key is rotated, again and again. */
  'rotate-after'?: string | undefined;
  /** Delay after a rotation before the new version encrypts. */
  'activate-after'?: string | undefined;
  /** Time after the creation of a newer version when the old one stops encrypting. */
  'deprecate-after'?: string | undefined;
  /** Time after the creation of a newer version when the old one stops decrypting. */
  'invalidate-after'?: string | undefined;
};

/** Rotates the key by itself; a merge cannot remove it, a replacement can. */
export type TransitKeyAutoRotateInput = {
  /** Interval after which the key is rotated, again and again. */
  'rotate-after': string;
  /** Delay after a rotation before the new version encrypts. */
  'activate-after'?: string | undefined;
  /** Time after the creation of a newer version when the old one stops encrypting. */
  'deprecate-after'?: string | undefined;
  /** Time after the creation of a newer version when the old one stops decrypting. */
  'invalidate-after'?: string | undefined;
};

/** Rotates the key by itself; a merge cannot remove it, a replacement can. */
export type TransitKeyAutoRotateMerge = {
  /** Interval after which the key is rotated, again and again. */
  'rotate-after'?: string | undefined;
  /** Delay after a rotation before the new version encrypts. */
  'activate-after'?: string | null | undefined;
  /** Time after the creation of a newer version when the old one stops encrypting. */
  'deprecate-after'?: string | null | undefined;
  /** Time after the creation of a newer version when the old one stops decrypting. */
  'invalidate-after'?: string | null | undefined;
};

export type TransitKeyBatchItem = {
  /** Name of the transit key. */
  name: string;
  /** What the key is made of. */
  cipher?: Cipher | undefined;
  /** Distribution of the key. */
  distribute?: TransitKeyBatchItemDistribute | undefined;
  /** Whether export may answer key material. */
  exportable?: boolean | undefined;
  /** Whether backup may answer the key in clear. */
  'allow-plaintext-backup'?: boolean | undefined;
  /** Must be true before the key can be deleted. */
  'deletion-allowed'?: boolean | undefined;
  /** A key of its own for each context; symmetric ciphers only. */
  derived?: boolean | undefined;
  /** The same plaintext in the same context gives the same ciphertext; derived keys only. */
  'convergent-encryption'?: boolean | undefined;
  /** Where the key lives: as a wrapped blob, or as an object in the token. */
  custody?: Custody | undefined;
  /** PEM public key: makes a key that only verifies. */
  'public-key'?: string | undefined;
  /** Older versions do not encrypt or sign; 0: no restriction. */
  'min-encryption-version'?: number | undefined;
  /** Older versions do not decrypt or verify; 0: no restriction. */
  'min-decryption-version'?: number | undefined;
  /** Rotates the key by itself; a merge cannot remove it, a replacement can. */
  'auto-rotate'?: TransitKeyBatchItemAutoRotate | undefined;
  /** Makes the key an OpenPGP primary key with this User ID. */
  'openpgp-user-id'?: string | undefined;
  /** Makes the key an OpenPGP subkey, bound to the primary key of this name. */
  'openpgp-primary'?: string | undefined;
  /** What an OpenPGP subkey is for. */
  'openpgp-key-usage'?: TransitKeyOpenpgpKeyUsageItem[] | undefined;
  /**
   * Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name and value at
   * most 63 letters, digits, ".", "_" and "-". They are no secrets.
   */
  labels?: Record<string, string> | undefined;
  /** Echoed from the request. */
  reference?: string | undefined;
};

/** Rotates the key by itself; a merge cannot remove it, a replacement can. */
export type TransitKeyBatchItemAutoRotate = {
  /** Interval after which the key is rotated, again and again. */
  'rotate-after': string;
  /** Delay after a rotation before the new version encrypts. */
  'activate-after'?: string | undefined;
  /** Time after the creation of a newer version when the old one stops encrypting. */
  'deprecate-after'?: string | undefined;
  /** Time after the creation of a newer version when the old one stops decrypting. */
  'invalidate-after'?: string | undefined;
};

/** Distribution of the key. */
export type TransitKeyBatchItemDistribute = {
  /** Where the key goes; inherit means all. In a cluster every appliance has every key. */
  to?: Distribution | undefined;
};

export type TransitKeyBatchResult = {
  /** Name of the transit key. */
  name?: string | undefined;
  /** What the key is made of. */
  cipher?: Cipher | undefined;
  /** Distribution of the key. */
  distribute?: TransitKeyBatchResultDistribute | undefined;
  /** Whether export may answer key material. */
  exportable?: boolean | undefined;
  /** Whether backup may answer the key in clear. */
  'allow-plaintext-backup'?: boolean | undefined;
  /** Must be true before the key can be deleted. */
  'deletion-allowed'?: boolean | undefined;
  /** A key of its own for each context; symmetric ciphers only. */
  derived?: boolean | undefined;
  /** The same plaintext in the same context gives the same ciphertext; derived keys only. */
  'convergent-encryption'?: boolean | undefined;
  /** Where the key lives: as a wrapped blob, or as an object in the token. */
  custody?: Custody | undefined;
  /** PEM public key: makes a key that only verifies. */
  'public-key'?: string | undefined;
  /** Older versions do not encrypt or sign; 0: no restriction. */
  'min-encryption-version'?: number | undefined;
  /** Older versions do not decrypt or verify; 0: no restriction. */
  'min-decryption-version'?: number | undefined;
  /** Rotates the key by itself; a merge cannot remove it, a replacement can. */
  'auto-rotate'?: TransitKeyBatchResultAutoRotate | undefined;
  /** Makes the key an OpenPGP primary key with this User ID. */
  'openpgp-user-id'?: string | undefined;
  /** Makes the key an OpenPGP subkey, bound to the primary key of this name. */
  'openpgp-primary'?: string | undefined;
  /** What an OpenPGP subkey is for. */
  'openpgp-key-usage'?: TransitKeyOpenpgpKeyUsageItem[] | undefined;
  /**
   * Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name and value at
   * most 63 letters, digits, ".", "_" and "-". They are no secrets.
   */
  labels?: Record<string, string> | undefined;
  /** Echoed from the request. */
  reference?: string | undefined;
  /** Of an entry that failed: the HTTP status it would have had. */
  status?: number | undefined;
  /** Of an entry that failed: the error code. */
  code?: string | undefined;
  /** Of an entry that failed: why. */
  'error-message'?: string | undefined;
};

/** Rotates the key by itself; a merge cannot remove it, a replacement can. */
export type TransitKeyBatchResultAutoRotate = {
  /** Interval after which the key is rotated, again and again. */
  'rotate-after': string;
  /** Delay after a rotation before the new version encrypts. */
  'activate-after'?: string | undefined;
  /** Time after the creation of a newer version when the old one stops encrypting. */
  'deprecate-after'?: string | undefined;
  /** Time after the creation of a newer version when the old one stops decrypting. */
  'invalidate-after'?: string | undefined;
};

/** Distribution of the key. */
export type TransitKeyBatchResultDistribute = {
  /** Where the key goes; inherit means all. In a cluster every appliance has every key. */
  to: Distribution;
};

export type TransitKeyCreation = {
  /** Name of the transit key. */
  name: string;
  /** What the key is made of. */
  cipher?: Cipher | undefined;
  /** Distribution of the key. */
  distribute?: TransitKeyDistributeInput | undefined;
  /** Whether export may answer key material. */
  exportable?: boolean | undefined;
  /** Whether backup may answer the key in clear. */
  'allow-plaintext-backup'?: boolean | undefined;
  /** Must be true before the key can be deleted. */
  'deletion-allowed'?: boolean | undefined;
  /** A key of its own for each context; symmetric ciphers only. */
  derived?: boolean | undefined;
  /** The same plaintext in the same context gives the same ciphertext; derived keys only. */
  'convergent-encryption'?: boolean | undefined;
  /** Where the key lives: as a wrapped blob, or as an object in the token. */
  custody?: Custody | undefined;
  /** PEM public key: makes a key that only verifies. */
  'public-key'?: string | undefined;
  /** Older versions do not encrypt or sign; 0: no restriction. */
  'min-encryption-version'?: number | undefined;
  /** Older versions do not decrypt or verify; 0: no restriction. */
  'min-decryption-version'?: number | undefined;
  /** Rotates the key by itself; a merge cannot remove it, a replacement can. */
  'auto-rotate'?: TransitKeyAutoRotateInput | undefined;
  /** Makes the key an OpenPGP primary key with this User ID. */
  'openpgp-user-id'?: string | undefined;
  /** Makes the key an OpenPGP subkey, bound to the primary key of this name. */
  'openpgp-primary'?: string | undefined;
  /** What an OpenPGP subkey is for. */
  'openpgp-key-usage'?: TransitKeyOpenpgpKeyUsageItem[] | undefined;
  /**
   * Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name and value at
   * most 63 letters, digits, ".", "_" and "-". They are no secrets.
   */
  labels?: Record<string, string> | undefined;
};

/** Distribution of the key. */
export type TransitKeyDistribute = {
  /** Where the key goes; inherit means all. In a cluster every appliance has every key. */
  to?: Distribution | undefined;
};

/** Distribution of the key. */
export type TransitKeyDistributeInput = {
  /** Where the key goes; inherit means all. In a cluster every appliance has every key. */
  to?: Distribution | undefined;
};

export type TransitKeyDistributeMerge = {
  /** Where the key goes; inherit means all. In a cluster every appliance has every key. */
  to?: Distribution | undefined;
};

/** Distribution as it is. */
export type TransitKeyDistributionStatus = {
  /** Where the key is. */
  to?: TransitKeyDistributionStatusTo | undefined;
};

/** Where the key is. */
export type TransitKeyDistributionStatusTo = 'all' | 'none';

export type TransitKeyMerge = {
  /** What the key is made of. */
  cipher?: Cipher | undefined;
  /** Distribution of the key. */
  distribute?: TransitKeyDistributeMerge | null | undefined;
  /** Whether export may answer key material. */
  exportable?: boolean | undefined;
  /** Whether backup may answer the key in clear. */
  'allow-plaintext-backup'?: boolean | undefined;
  /** Must be true before the key can be deleted. */
  'deletion-allowed'?: boolean | undefined;
  /** A key of its own for each context; symmetric ciphers only. */
  derived?: boolean | undefined;
  /** The same plaintext in the same context gives the same ciphertext; derived keys only. */
  'convergent-encryption'?: boolean | undefined;
  /** Where the key lives: as a wrapped blob, or as an object in the token. */
  custody?: Custody | undefined;
  /** PEM public key: makes a key that only verifies. */
  'public-key'?: string | undefined;
  /** Older versions do not encrypt or sign; 0: no restriction. */
  'min-encryption-version'?: number | undefined;
  /** Older versions do not decrypt or verify; 0: no restriction. */
  'min-decryption-version'?: number | undefined;
  /** Rotates the key by itself; a merge cannot remove it, a replacement can. */
  'auto-rotate'?: TransitKeyAutoRotateMerge | undefined;
  /** Makes the key an OpenPGP primary key with this User ID. */
  'openpgp-user-id'?: string | null | undefined;
  /** Makes the key an OpenPGP subkey, bound to the primary key of this name. */
  'openpgp-primary'?: string | undefined;
  /** What an OpenPGP subkey is for. */
  'openpgp-key-usage'?: TransitKeyOpenpgpKeyUsageItem[] | null | undefined;
  /**
   * Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name and value at
   * most 63 letters, digits, ".", "_" and "-". They are no secrets.
   */
  labels?: Record<string, string> | null | undefined;
};

export type TransitKeyOpenpgpKeyUsageItem = 'sign';

export type TransitKeyReplacement = {
  /** What the key is made of. */
  cipher?: Cipher | undefined;
  /** Distribution of the key. */
  distribute?: TransitKeyDistributeInput | undefined;
  /** Whether export may answer key material. */
  exportable?: boolean | undefined;
  /** Whether backup may answer the key in clear. */
  'allow-plaintext-backup'?: boolean | undefined;
  /** Must be true before the key can be deleted. */
  'deletion-allowed'?: boolean | undefined;
  /** A key of its own for each context; symmetric ciphers only. */
  derived?: boolean | undefined;
  /** The same plaintext in the same context gives the same ciphertext; derived keys only. */
  'convergent-encryption'?: boolean | undefined;
  /** Where the key lives: as a wrapped blob, or as an object in the token. */
  custody?: Custody | undefined;
  /** PEM public key: makes a key that only verifies. */
  'public-key'?: string | undefined;
  /** Older versions do not encrypt or sign; 0: no restriction. */
  'min-encryption-version'?: number | undefined;
  /** Older versions do not decrypt or verify; 0: no restriction. */
  'min-decryption-version'?: number | undefined;
  /** Rotates the key by itself; a merge cannot remove it, a replacement can. */
  'auto-rotate'?: TransitKeyAutoRotateInput | undefined;
  /** Makes the key an OpenPGP primary key with this User ID. */
  'openpgp-user-id'?: string | undefined;
  /** Makes the key an OpenPGP subkey, bound to the primary key of this name. */
  'openpgp-primary'?: string | undefined;
  /** What an OpenPGP subkey is for. */
  'openpgp-key-usage'?: TransitKeyOpenpgpKeyUsageItem[] | undefined;
  /**
   * Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name and value at
   * most 63 letters, digits, ".", "_" and "-". They are no secrets.
   */
  labels?: Record<string, string> | undefined;
};

export type TransitKeyState = {
  /** Name of the transit key. */
  name: string;
  /** What the key is made of. */
  cipher?: Cipher | undefined;
  /** Distribution of the key. */
  distribute?: TransitKeyDistribute | undefined;
  /** Whether export may answer key material. */
  exportable?: boolean | undefined;
  /** Whether backup may answer the key in clear. */
  'allow-plaintext-backup'?: boolean | undefined;
  /** Must be true before the key can be deleted. */
  'deletion-allowed'?: boolean | undefined;
  /** A key of its own for each context; symmetric ciphers only. */
  derived?: boolean | undefined;
  /** The same plaintext in the same context gives the same ciphertext; derived keys only. */
  'convergent-encryption'?: boolean | undefined;
  /** Where the key lives: as a wrapped blob, or as an object in the token. */
  custody?: Custody | undefined;
  /** PEM public key: makes a key that only verifies. */
  'public-key'?: string | undefined;
  /** Older versions do not encrypt or sign; 0: no restriction. */
  'min-encryption-version'?: number | undefined;
  /** Older versions do not decrypt or verify; 0: no restriction. */
  'min-decryption-version'?: number | undefined;
  /** Rotates the key by itself; a merge cannot remove it, a replacement can. */
  'auto-rotate'?: TransitKeyAutoRotate | undefined;
  /** Makes the key an OpenPGP primary key with this User ID. */
  'openpgp-user-id'?: string | undefined;
  /** Makes the key an OpenPGP subkey, bound to the primary key of this name. */
  'openpgp-primary'?: string | undefined;
  /** What an OpenPGP subkey is for. */
  'openpgp-key-usage'?: TransitKeyOpenpgpKeyUsageItem[] | undefined;
  /**
   * Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name and value at
   * most 63 letters, digits, ".", "_" and "-". They are no secrets.
   */
  labels?: Record<string, string> | undefined;
  /** Distribution as it is. */
  'distribution-status'?: TransitKeyDistributionStatus | undefined;
  /** 0: the newest version; else the one in use while the newest waits for activate-after. */
  'default-encryption-version'?: number | undefined;
  /** Newest version. */
  'latest-version'?: number | undefined;
  /** Oldest version that was not trimmed. */
  'oldest-version'?: number | undefined;
  /** When the key was made. */
  'creation-time'?: string | undefined;
  /** Whether keys of this cipher encrypt. */
  'supports-encryption'?: boolean | undefined;
  /** Whether keys of this cipher decrypt. */
  'supports-decryption'?: boolean | undefined;
  /** Whether keys of this cipher can be derived per context. */
  'supports-derivation'?: boolean | undefined;
  /** Whether keys of this cipher sign. */
  'supports-signing'?: boolean | undefined;
  /** Actions that the key can do as it is. Policies, and the life of its versions, decide besides. */
  actions?: string[] | undefined;
  /**
   * Per version: the public key; of a symmetric key a marker, the microseconds since 1970 at which it was made. It is no
   * key material. `versions` is where to look for what is known of a version.
   */
  keys?: Record<string, string> | undefined;
  /** Per version: how often it was used. */
  usage?: Record<string, TransitKeyUsage> | undefined;
  /** Per version: what it may do, since when and until when. */
  versions?: Record<string, TransitKeyVersion> | undefined;
  /** When auto-rotate makes the next version. */
  rotates?: string | undefined;
};

export type TransitKeyUsage = {
  /** Encryptions, signatures and data keys made with this version. */
  uses?: number | undefined;
  /** Of encryptions never below the true count, also after a crash; the limit of 2^32 is held against it. */
  'uses-at-most'?: number | undefined;
  /**
   * At most so many values made with this version have not been moved away by rewrap: what a worker has reserved counts
   * until it gives it back, two minutes after the last encryption. A value that is rewrapped again counts again.
   */
  'not-rewrapped'?: number | undefined;
  /** When this version was last used. */
  'last-used'?: string | undefined;
};

export type TransitKeyVersion = {
  /**
   * What it may do: `active` everything, `pending` (it waits for activate-after) and `deprecated` only decrypt and verify,
   * `invalidated` nothing.
   */
  status?: KeyVersionStatus | undefined;
  /** Of a version that is a key for RSASSA-PSS (RFC 4055): `pss`, and it makes no other signatures. */
  'signature-algorithm'?: SignatureAlgorithm | undefined;
  /** Where such a key names a hash: the only one it signs with. */
  'hash-algorithm'?: HashAlgorithm | undefined;
  /** When it was made. */
  created?: string | undefined;
  /** When it begins to encrypt and sign; absent: when it was made. */
  activates?: string | undefined;
  /** When the next version was made. */
  superseded?: string | undefined;
  /** When deprecate-after ends its encryption. */
  deprecates?: string | undefined;
  /** When invalidate-after ends its decryption. */
  invalidates?: string | undefined;
};

export type TransitKeysCreateBatchAnswer = {
  /** One result for each entry, in order. */
  'batch-results': TransitKeyBatchResult[];
  /** How many failed. */
  failed: number;
};

export type TransitKeysCreateBatchRequest = {
  /** The entries. */
  'batch-input': TransitKeyBatchItem[];
};

export type TransitKeysListConfigCipher = 'aes128-gcm96' | 'aes192-gcm96' | 'aes256-gcm96' | 'rsa-2048' | 'rsa-3072' | 'rsa-4096' | 'ed25519' | 'ecdsa-p256' | 'ecdsa-p384' | 'ecdsa-p521' | 'ml-dsa-44' | 'ml-dsa-65' | 'ml-dsa-87';

export type TransitKeysListConfigCustody = 'wrapped' | 'token';

export type TransitKeysListConfigUse = 'encrypt' | 'sign' | 'verify';

/** What the token of the new appliance says of itself. */
export type TransportKeyInput = {
  /** CKA_ID of the transport key. */
  id: string;
  /** RSA public key of 3072 bits, DER SubjectPublicKeyInfo in base64. */
  'public-key': string;
  /** Hashes that the token takes for RSA-OAEP, the best first. */
  hashes: OaepHash[];
  /** Key types that the token has. */
  types: string[];
  /** The wrapping keys that the token has. */
  present: OwnKeyInput[];
};

export type TrimRequest = {
  /** Oldest version to keep. */
  version: number;
};

export type UnbindSubkeyAnswer = {
  /** One for each version that a version of the primary key here has bound. */
  revocations: UnbindSubkeyRevocation[];
};

export type UnbindSubkeyRequest = {
  /** Name of the subkey. */
  subkey: string;
  /** Why. */
  reason?: ExportOpenpgpRevocationRequestReason | undefined;
  /** A remark that everybody will read. */
  comment?: string | undefined;
};

export type UnbindSubkeyRevocation = {
  /** Version of the subkey. */
  version: number;
  /** Its block with the revocation in it. */
  revocation: string;
};

/** Where the name of the user comes from: names of different sources may be alike. */
export type UserKind = 'root-token' | 'approle' | 'sign-in';

export type VerifyAnswer = {
  /** Whether signature or HMAC fit the text. */
  valid: boolean;
  /** Version of the key that was used. */
  'key-version': number;
};

export type VerifyBatchAnswer = {
  /** One result for each request, in order. */
  'batch-results': VerifyBatchResult[];
  /** How many failed. */
  failed: number;
};

export type VerifyBatchItem = {
  /** What was signed: base64, or raw UTF-8 with base64-encoded false. */
  text: string;
  /** false: the text is raw UTF-8. */
  'base64-encoded'?: boolean | undefined;
  /** The signature, made here or elsewhere. */
  signature?: string | undefined;
  /** In place of signature. */
  hmac?: string | undefined;
  /** Hash of the text, for RSA and ECDSA. */
  'hash-algorithm'?: HashAlgorithm | undefined;
  /** The input is the finished hash, not the data. */
  prehashed?: boolean | undefined;
  /** Padding of RSA signatures. A version that is a key for RSASSA-PSS has pss only. */
  'signature-algorithm'?: SignatureAlgorithm | undefined;
  /** asn1: base64, ECDSA as DER. jws: base64url without padding, ECDSA as r‖s. */
  marshaling?: SignatureMarshaling | undefined;
  /** Echoed from the request. */
  reference?: string | undefined;
};

export type VerifyBatchRequest = {
  /** The requests. */
  'batch-input': VerifyBatchItem[];
};

export type VerifyBatchResult = {
  /** Whether signature or HMAC fit the text. */
  valid?: boolean | undefined;
  /** Version of the key that was used. */
  'key-version'?: number | undefined;
  /** Echoed from the request. */
  reference?: string | undefined;
  /** Of a request that failed: the HTTP status it would have had. */
  status?: number | undefined;
  /** Of a request that failed: the error code. */
  code?: string | undefined;
  /** Of a request that failed: why. */
  'error-message'?: string | undefined;
};

export type VerifyRequest = {
  /** What was signed: base64, or raw UTF-8 with base64-encoded false. */
  text: string;
  /** false: the text is raw UTF-8. */
  'base64-encoded'?: boolean | undefined;
  /** The signature, made here or elsewhere. */
  signature?: string | undefined;
  /** In place of signature. */
  hmac?: string | undefined;
  /** Hash of the text, for RSA and ECDSA. */
  'hash-algorithm'?: HashAlgorithm | undefined;
  /** The input is the finished hash, not the data. */
  prehashed?: boolean | undefined;
  /** Padding of RSA signatures. A version that is a key for RSASSA-PSS has pss only. */
  'signature-algorithm'?: SignatureAlgorithm | undefined;
  /** asn1: base64, ECDSA as DER. jws: base64url without padding, ECDSA as r‖s. */
  marshaling?: SignatureMarshaling | undefined;
};

/**
 * Where each appliance has a token: whether the wrapping key, which the token of the removed one has, is being rotated, or
 * was `rotated` by an earlier request; `unchanged`: it could not be, as system:logs says, and is to be rotated by hand.
 * Absent where all reach one HSM.
 */
export type WrappingKeyAfterRemoval = 'rotating' | 'rotated' | 'unchanged';

/**
 * `rewrapping`: keys are being rewrapped. `incomplete`: some could not be, so the old wrapping key is kept; every start
 * tries again.
 */
export type WrappingKeyState = 'in-use' | 'rewrapping' | 'incomplete';
