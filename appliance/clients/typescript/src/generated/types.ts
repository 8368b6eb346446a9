// The documents of the API, with the field names of the wire. Made by `npm run clients`; do not edit.

export type Approle = {
  /** Name of the approle. */
  name: string;
  /** Policies of the tokens; only such as the caller has. */
  'token-policies': string[];
  /** Life of a token, and what a refresh gives it. */
  'token-ttl': string;
  /** Longest life of a token over all refreshes. */
  'token-max-ttl': string;
  /** Ranges of addresses the tokens work from; empty: from anywhere. */
  'token-bound-cidrs': string[];
  /** How long a secret-id can be used; unless given, for ever. */
  'secret-id-ttl'?: string | undefined;
  /** How often a secret-id can be used; 0: as often as one likes. */
  'secret-id-num-uses': number;
  /** Ranges of addresses one may log in from; empty: from anywhere. */
  'secret-id-bound-cidrs': string[];
  /** A role-id of your own choice; unless given, one is made. */
  'fixed-role-id'?: string | undefined;
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
};

export type ApproleLoginRequest = {
  /** The role-id of the approle. */
  'role-id': string;
  /** One of its secret-ids. */
  'secret-id': string;
};

export type ApproleMerge = {
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
};

export type ApproleState = {
  /** Name of the approle. */
  name: string;
  /** Policies of the tokens; only such as the caller has. */
  'token-policies': string[];
  /** Life of a token, and what a refresh gives it. */
  'token-ttl': string;
  /** Longest life of a token over all refreshes. */
  'token-max-ttl': string;
  /** Ranges of addresses the tokens work from; empty: from anywhere. */
  'token-bound-cidrs': string[];
  /** How long a secret-id can be used; unless given, for ever. */
  'secret-id-ttl'?: string | undefined;
  /** How often a secret-id can be used; 0: as often as one likes. */
  'secret-id-num-uses': number;
  /** Ranges of addresses one may log in from; empty: from anywhere. */
  'secret-id-bound-cidrs': string[];
  /** A role-id of your own choice; unless given, one is made. */
  'fixed-role-id'?: string | undefined;
  /** What a login names. */
  'role-id': string;
  /** When it was made. */
  'creation-time': string;
  /** Number of secret-ids on record. */
  'secret-ids': number;
};

export type ApprolesDisableSecretIdRequest = {
  /** The secret-id meant. */
  'secret-id'?: string | undefined;
  /** Or its accessor. */
  accessor?: string | undefined;
};

export type ApprolesGenerateSecretIdAnswer = {
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

export type ApprolesGenerateSecretIdRequest = {
  /** How long it can be used; at most, and unless given, as the approle says. */
  ttl?: string | undefined;
  /** How often it can be used; at most, and unless given, as the approle says. */
  'num-uses'?: number | undefined;
  /** Ranges of addresses it can be used from, besides those of the approle. */
  'bound-cidrs'?: string[] | undefined;
};

export type ApprolesSecretIdsListAnswerItem = {
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

export type AuditShowAnswer = {
  /** Keys that have signed the trail, the newest last. */
  keys: AuditShowAnswerKeysItem[];
  /** The last signed position of every chain. */
  heads: AuditShowAnswerHeadsItem[];
};

export type AuditShowAnswerHeadsItem = {
  /** Chain of one process. */
  chain: string;
  /** Number of its last signed record. */
  sequence: number;
  /** SHA-256 of that record. */
  hash: string;
};

export type AuditShowAnswerKeysItem = {
  /** Id of the key in head records. */
  'key-id': string;
  /** The public key, PEM. */
  'public-key': string;
};

export type BackupStatusShowAnswer = {
  running?: BackupStatusShowAnswerRunning | undefined;
  scheduled: boolean;
  'next-at'?: string | undefined;
  'last-success-at'?: string | undefined;
  'last-bytes'?: number | undefined;
  'last-seconds'?: number | undefined;
  'last-digest'?: string | undefined;
  failures: number;
  'failures-in-a-row': number;
  'last-failure-at'?: string | undefined;
  'last-failure'?: string | undefined;
};

export type BackupStatusShowAnswerRunning = {
  purpose: BackupStatusShowAnswerRunningPurpose;
  stage: BackupStatusShowAnswerRunningStage;
  target: string;
  'started-at': string;
  'done-bytes': number;
  'total-bytes': number;
};

export type BackupStatusShowAnswerRunningPurpose = 'request' | 'pull' | 'schedule' | 'now';

export type BackupStatusShowAnswerRunningStage = 'copying' | 'sending';

export type CaCertificatesListAnswerItem = {
  /** Serial number. */
  serial: string;
  /** Subject. */
  subject: string;
  /** Subject alternative names. */
  names: string[];
  /** When it begins. */
  'not-before': string;
  /** When it ends. */
  'not-after': string;
  /** How it came about. */
  via: string;
  /** Key of the CA that signed it. */
  'key-version': number;
  /** What it is worth now. */
  status: CaCertificatesListAnswerItemStatus;
  /** When it was revoked. */
  'revoked-at'?: string | undefined;
  /** Why it was revoked. */
  'revocation-reason'?: string | undefined;
  /** The certificate; only where one is asked for. */
  certificate?: string | undefined;
};

/** What it is worth now. */
export type CaCertificatesListAnswerItemStatus = 'valid' | 'expired' | 'revoked';

export type CaCsrAnswer = {
  /** PKCS#10 certification request, PEM. */
  csr: string;
};

export type CaImportCertRequest = {
  /** PEM: the certificate of the CA first, then those above it. */
  certificate: string;
};

export type CaRenewAnswer = {
  /** The new certificate of the CA. */
  'ca-cert': string;
  /** How often it got a key. */
  'key-version': number;
  /** When the certificate ends. */
  'not-after': string;
};

export type CaRevokeRequest = {
  /** Serial number of the certificate, hexadecimal. */
  serial: string;
  /** Why (RFC 5280 section 5.3.1). */
  reason?: CaRevokeRequestReason | undefined;
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

export type CryptoFunctionsRandomBytesAnswer = {
  /** The octets in the format asked for. */
  bytes: string;
};

export type CryptoFunctionsRandomBytesRequest = {
  /** How many octets. */
  bytes?: number | undefined;
  /** How they are written. */
  format?: CryptoFunctionsRandomBytesRequestFormat | undefined;
};

/** How they are written. */
export type CryptoFunctionsRandomBytesRequestFormat = 'base64' | 'hex';

export type HealthShowAnswer = {
  /** degraded: requests are served, and a person should act; down: some requests cannot be served. */
  status: HealthShowAnswerStatus;
};

/** degraded: requests are served, and a person should act; down: some requests cannot be served. */
export type HealthShowAnswerStatus = 'ok' | 'degraded' | 'down';

export type HsmShowAnswer = {
  /** The configured tokens. */
  tokens: HsmShowAnswerTokensItem[];
};

export type HsmShowAnswerTokensItem = {
  /** Name of the token in the configuration. */
  name: string;
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
  state: HsmShowAnswerTokensItemState;
  /** Why it is not up, and how to correct it. */
  reason?: string | undefined;
  /** Key types that the token supports. */
  'key-types': string[];
  /** Mechanisms of the token. */
  mechanisms: string[];
  /** The key that wraps all others, and its last rotation. */
  'wrapping-key': HsmShowAnswerTokensItemWrappingKey;
  /** Keys loaded now. */
  'loaded-keys': number;
  /** Sessions of the answering worker, counted recently. */
  sessions: HsmShowAnswerTokensItemSessions;
  /** Time of recent calls by operation. */
  latencies: Record<string, HsmShowAnswerTokensItemLatenciesValue>;
};

export type HsmShowAnswerTokensItemLatenciesValue = {
  /** Calls that were measured. */
  count: number;
  /** Median in microseconds. */
  'p50': number;
  /** 99th percentile in microseconds. */
  'p99': number;
  /** Of both. */
  unit: HsmShowAnswerTokensItemLatenciesValueUnit;
};

/** Of both. */
export type HsmShowAnswerTokensItemLatenciesValueUnit = 'microseconds';

/** Sessions of the answering worker, counted recently. */
export type HsmShowAnswerTokensItemSessions = {
  /** Sessions that may be open. */
  size: number;
  /** Sessions in use. */
  busy: number;
  /** Calls that wait for a session. */
  waiting: number;
};

/** Whether it works. `damaged`: its own keys are missing. A refused PIN is not tried again. */
export type HsmShowAnswerTokensItemState = 'up' | 'damaged' | 'down' | 'pin-refused';

/** The key that wraps all others, and its last rotation. */
export type HsmShowAnswerTokensItemWrappingKey = {
  /** Number of the wrapping key in use; each rotation makes the next. */
  number: number;
  /**
   * `rewrapping`: keys are being rewrapped. `incomplete`: some could not be, so the old wrapping key is kept; every start
   * tries again.
   */
  state: HsmShowAnswerTokensItemWrappingKeyState;
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

/**
 * `rewrapping`: keys are being rewrapped. `incomplete`: some could not be, so the old wrapping key is kept; every start
 * tries again.
 */
export type HsmShowAnswerTokensItemWrappingKeyState = 'in-use' | 'rewrapping' | 'incomplete';

export type KeystoreImportOpenpgpAnswer = {
  /** Name of the new transit key. */
  name: string;
  /** What the key in the block is. */
  cipher: string;
  /** Of the primary key first, then of its subkeys. */
  fingerprints: string[];
  /** Its one version. */
  'key-version': number;
};

export type KeystoreImportOpenpgpRequest = {
  /** Name of the new transit key. */
  name: string;
  /** Public key block with one certificate: ASCII armor, or base64 of the packets. */
  openpgp: string;
};

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
  roles: OidcExplainAnswerRolesItem[];
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
  login?: OidcExplainAnswerLogin | undefined;
};

/** The failed sign-in that was asked for. */
export type OidcExplainAnswerLogin = {
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

export type OidcExplainAnswerRolesItem = {
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

export type OidcExplainRequest = {
  /** Claims as the provider sends them. */
  claims?: Record<string, unknown> | undefined;
  /** Reference of a failed sign-in, as shown on its page. */
  login?: string | undefined;
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

export type OidcLoginRequest = {
  /** Name of the tenant. */
  tenant: string;
  /** Name of the OIDC service. */
  service: string;
};

export type OidcRole = {
  /** Name of the OIDC role. */
  name: string;
  /** Claims without which the role is not given. */
  'required-claims': string[];
  /** Claim to what it tells of the user. */
  'claim-mappings': Record<string, OidcRoleClaimMappingsValue>;
  /** Scopes asked for, besides openid. */
  'oidc-scopes': string[];
  /** Policies the sign-in gets. */
  'token-policies': string[];
};

export type OidcRoleClaimMappingsValue = 'username' | 'fullname';

export type OidcRoleCreation = {
  /** Name of the OIDC role. */
  name: string;
  /** Claims without which the role is not given. */
  'required-claims'?: string[] | undefined;
  /** Claim to what it tells of the user. */
  'claim-mappings'?: Record<string, OidcRoleClaimMappingsValue> | undefined;
  /** Scopes asked for, besides openid. */
  'oidc-scopes'?: string[] | undefined;
  /** Policies the sign-in gets. */
  'token-policies'?: string[] | undefined;
};

export type OidcRoleMerge = {
  /** Claims without which the role is not given. */
  'required-claims'?: string[] | undefined;
  /** Claim to what it tells of the user. */
  'claim-mappings'?: Record<string, OidcRoleClaimMappingsValue> | undefined;
  /** Scopes asked for, besides openid. */
  'oidc-scopes'?: string[] | undefined;
  /** Policies the sign-in gets. */
  'token-policies'?: string[] | undefined;
};

export type OidcRoleReplacement = {
  /** Claims without which the role is not given. */
  'required-claims'?: string[] | undefined;
  /** Claim to what it tells of the user. */
  'claim-mappings'?: Record<string, OidcRoleClaimMappingsValue> | undefined;
  /** Scopes asked for, besides openid. */
  'oidc-scopes'?: string[] | undefined;
  /** Policies the sign-in gets. */
  'token-policies'?: string[] | undefined;
};

export type OidcRoleState = {
  /** Name of the OIDC role. */
  name: string;
  /** Claims without which the role is not given. */
  'required-claims': string[];
  /** Claim to what it tells of the user. */
  'claim-mappings': Record<string, OidcRoleClaimMappingsValue>;
  /** Scopes asked for, besides openid. */
  'oidc-scopes': string[];
  /** Policies the sign-in gets. */
  'token-policies': string[];
};

export type OidcService = {
  /** Name of the OIDC service. */
  name: string;
  /** What the login page calls it. */
  'display-name'?: string | undefined;
  /** Where the provider's OpenID Connect metadata is. */
  'discovery-url': string;
  /** Whether the public CAs are trusted for the provider. */
  'use-root-ca-certs': boolean;
  /** CAs trusted for the provider besides, PEM. */
  'ca-certs'?: string | undefined;
  /** The id the provider gave this appliance. */
  'client-id': string;
  /** Write claims of sign-ins into system:logs: while setting up, not in production. */
  'verbose-logging': boolean;
  /** How roles are chosen. */
  'role-select': OidcServiceRoleSelect;
  /** Redirect URIs as registered at the provider; the path is /oidc-callback. */
  'allowed-redirect-uris': string[];
  /** How the secret is sent; default: as the provider says. */
  'token-endpoint-auth-method'?: OidcServiceTokenEndpointAuthMethod | undefined;
  /** How far the clocks may differ. */
  'clock-tolerance': string;
  /** How long a sign-in lasts. */
  'session-ttl': string;
};

export type OidcServiceCreation = {
  /** Name of the OIDC service. */
  name: string;
  /** What the login page calls it. */
  'display-name'?: string | undefined;
  /** Where the provider's OpenID Connect metadata is. */
  'discovery-url': string;
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
  'role-select': OidcServiceRoleSelect;
  /** Redirect URIs as registered at the provider; the path is /oidc-callback. */
  'allowed-redirect-uris': string[];
  /** How the secret is sent; default: as the provider says. */
  'token-endpoint-auth-method'?: OidcServiceTokenEndpointAuthMethod | undefined;
  /** How far the clocks may differ. */
  'clock-tolerance'?: string | undefined;
  /** How long a sign-in lasts. */
  'session-ttl'?: string | undefined;
};

export type OidcServiceMerge = {
  /** What the login page calls it. */
  'display-name'?: string | undefined;
  /** Where the provider's OpenID Connect metadata is. */
  'discovery-url'?: string | undefined;
  /** Whether the public CAs are trusted for the provider. */
  'use-root-ca-certs'?: boolean | undefined;
  /** CAs trusted for the provider besides, PEM. */
  'ca-certs'?: string | undefined;
  /** The id the provider gave this appliance. */
  'client-id'?: string | undefined;
  /** The secret the provider gave this appliance. */
  'client-secret'?: string | undefined;
  /** Write claims of sign-ins into system:logs: while setting up, not in production. */
  'verbose-logging'?: boolean | undefined;
  /** How roles are chosen. */
  'role-select'?: OidcServiceRoleSelect | undefined;
  /** Redirect URIs as registered at the provider; the path is /oidc-callback. */
  'allowed-redirect-uris'?: string[] | undefined;
  /** How the secret is sent; default: as the provider says. */
  'token-endpoint-auth-method'?: OidcServiceTokenEndpointAuthMethod | undefined;
  /** How far the clocks may differ. */
  'clock-tolerance'?: string | undefined;
  /** How long a sign-in lasts. */
  'session-ttl'?: string | undefined;
};

export type OidcServiceReplacement = {
  /** What the login page calls it. */
  'display-name'?: string | undefined;
  /** Where the provider's OpenID Connect metadata is. */
  'discovery-url': string;
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
  'role-select': OidcServiceRoleSelect;
  /** Redirect URIs as registered at the provider; the path is /oidc-callback. */
  'allowed-redirect-uris': string[];
  /** How the secret is sent; default: as the provider says. */
  'token-endpoint-auth-method'?: OidcServiceTokenEndpointAuthMethod | undefined;
  /** How far the clocks may differ. */
  'clock-tolerance'?: string | undefined;
  /** How long a sign-in lasts. */
  'session-ttl'?: string | undefined;
};

/** How roles are chosen. */
export type OidcServiceRoleSelect = {
  /** Claim whose values are matched against the names of roles; a JSON pointer reaches inside. */
  'role-claim': string;
};

export type OidcServiceState = {
  /** Name of the OIDC service. */
  name: string;
  /** What the login page calls it. */
  'display-name'?: string | undefined;
  /** Where the provider's OpenID Connect metadata is. */
  'discovery-url': string;
  /** Whether the public CAs are trusted for the provider. */
  'use-root-ca-certs': boolean;
  /** CAs trusted for the provider besides, PEM. */
  'ca-certs'?: string | undefined;
  /** The id the provider gave this appliance. */
  'client-id': string;
  /** Write claims of sign-ins into system:logs: while setting up, not in production. */
  'verbose-logging': boolean;
  /** How roles are chosen. */
  'role-select': OidcServiceRoleSelect;
  /** Redirect URIs as registered at the provider; the path is /oidc-callback. */
  'allowed-redirect-uris': string[];
  /** How the secret is sent; default: as the provider says. */
  'token-endpoint-auth-method'?: OidcServiceTokenEndpointAuthMethod | undefined;
  /** How far the clocks may differ. */
  'clock-tolerance': string;
  /** How long a sign-in lasts. */
  'session-ttl': string;
  /** What an administrator should know, in sentences. */
  notices: string[];
  /** Whether the secret is set; its value is never answered. */
  'client-secret-set': boolean;
};

/** How the secret is sent; default: as the provider says. */
export type OidcServiceTokenEndpointAuthMethod = 'client_secret_basic' | 'client_secret_post';

export type OidcTestAnswer = {
  /** Whether sign-ins can work. */
  usable: boolean;
  /** What is wrong, errors first. */
  findings: OidcTestAnswerFindingsItem[];
  /** Issuer in the metadata. */
  issuer?: string | undefined;
  /** Where users sign in. */
  'authorization-endpoint'?: string | undefined;
  /** Where codes are exchanged. */
  'token-endpoint'?: string | undefined;
  /** Signature algorithms both sides know. */
  algorithms?: string[] | undefined;
  /** Proof key for code exchange (RFC 7636). */
  pkce?: OidcTestAnswerPkce | undefined;
  /** Whether the provider names itself in its redirects (RFC 9207). */
  'iss-parameter'?: boolean | undefined;
  /** How the secret is sent. */
  'token-endpoint-auth-method'?: string | undefined;
  /** What the token endpoint says to client-id and client-secret, tried with a code that does not exist. */
  'client-credentials'?: OidcTestAnswerClientCredentials | undefined;
  /** The redirect URIs. */
  'redirect-uris'?: OidcTestAnswerRedirectUrisItem[] | undefined;
  /** Keys of the provider. */
  keys?: OidcTestAnswerKeysItem[] | undefined;
  /** Host of the directory API that answers memberships. */
  'directory-host'?: string | undefined;
  /** TLS certificates of the provider. */
  'certificate-chain'?: OidcTestAnswerCertificateChainItem[] | undefined;
  /** Seconds the provider's clock is ahead of the appliance's, by its Date header. */
  'clock-difference-seconds'?: number | undefined;
  /** Scopes a sign-in asks for. */
  scopes?: string[] | undefined;
};

export type OidcTestAnswerCertificateChainItem = {
  /** Subject. */
  subject: string;
  /** Issuer. */
  issuer: string;
  /** When it ends. */
  'not-after': string;
};

/** What the token endpoint says to client-id and client-secret, tried with a code that does not exist. */
export type OidcTestAnswerClientCredentials = 'accepted' | 'refused' | 'unknown';

export type OidcTestAnswerFindingsItem = {
  /** Whether sign-ins fail because of it. */
  level: OidcTestAnswerFindingsItemLevel;
  /** What is wrong. */
  message: string;
  /** What to do about it. */
  fix?: string | undefined;
};

/** Whether sign-ins fail because of it. */
export type OidcTestAnswerFindingsItemLevel = 'error' | 'warning';

export type OidcTestAnswerKeysItem = {
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
export type OidcTestAnswerPkce = {
  /** Always sent. */
  method: OidcTestAnswerPkceMethod;
  /** Whether the provider promises to check it. */
  listed: boolean;
};

/** Always sent. */
export type OidcTestAnswerPkceMethod = 'S256';

export type OidcTestAnswerRedirectUrisItem = {
  /** One of allowed-redirect-uris. */
  uri: string;
  /** Whether the provider knows it. */
  registered: OidcTestAnswerRedirectUrisItemRegistered;
};

/** Whether the provider knows it. */
export type OidcTestAnswerRedirectUrisItemRegistered = 'yes' | 'unknown';

export type OidcTestRequest = {
};

export type Policy = {
  /** Name of the policy. */
  name: string;
  /** What the policy is for. */
  description: string;
  /** What may be done over this API. */
  'rest-api': PolicyRestApi;
};

export type PolicyCheckAnswer = {
  /** Whether the request would not be refused with 403. */
  allowed: boolean;
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
};

/** Whose policies decided, since both must allow; `service`: what it asks of every caller there. */
export type PolicyCheckAnswerDecidedBy = 'tenant' | 'token' | 'service';

export type PolicyCheckRequest = {
  /** The path of a request. */
  path: string;
  /** What would be done there. */
  operation: PolicyCheckRequestOperation;
  /** Accessor of the token meant; default: the own one. */
  accessor?: string | undefined;
  /** Or the policies of a token that need not exist. */
  policies?: string[] | undefined;
};

/** What would be done there. */
export type PolicyCheckRequestOperation = 'create' | 'read' | 'update' | 'delete' | 'execute';

export type PolicyCreation = {
  /** Name of the policy. */
  name: string;
  /** What the policy is for. */
  description?: string | undefined;
  /** What may be done over this API. */
  'rest-api'?: PolicyCreationRestApi | undefined;
};

/** What may be done over this API. */
export type PolicyCreationRestApi = {
  /** The most exact rule for a path decides; without one it is refused. */
  rules?: PolicyCreationRestApiRulesItem[] | undefined;
};

export type PolicyCreationRestApiRulesItem = {
  /** The paths the rule is about: `*` stands for one segment, `**` at the end for any rest. */
  path: string;
  /** What the rule says of each operation. */
  operations: PolicyRestApiRulesItemOperations;
  /**
   * Name of a field, inside containers `a/b`, to the values a request may give it; one that is left out counts with its
   * default, if it has one of its own.
   */
  'allowed-values'?: Record<string, PolicyRestApiRulesItemAllowedValuesValueItem[]> | undefined;
  /** Names of fields left out of answers. */
  'hide-fields'?: string[] | undefined;
};

export type PolicyMerge = {
  /** What the policy is for. */
  description?: string | undefined;
  /** What may be done over this API. */
  'rest-api'?: PolicyCreationRestApi | undefined;
};

export type PolicyReplacement = {
  /** What the policy is for. */
  description?: string | undefined;
  /** What may be done over this API. */
  'rest-api'?: PolicyCreationRestApi | undefined;
};

/** What may be done over this API. */
export type PolicyRestApi = {
  /** The most exact rule for a path decides; without one it is refused. */
  rules: PolicyRestApiRulesItem[];
};

export type PolicyRestApiRulesItem = {
  /** The paths the rule is about: `*` stands for one segment, `**` at the end for any rest. */
  path: string;
  /** What the rule says of each operation. */
  operations: PolicyRestApiRulesItemOperations;
  /**
   * Name of a field, inside containers `a/b`, to the values a request may give it; one that is left out counts with its
   * default, if it has one of its own.
   */
  'allowed-values': Record<string, PolicyRestApiRulesItemAllowedValuesValueItem[]>;
  /** Names of fields left out of answers. */
  'hide-fields': string[];
};

export type PolicyRestApiRulesItemAllowedValuesValueItem = string | number | boolean;

/** What the rule says of each operation. */
export type PolicyRestApiRulesItemOperations = {
  /** Whether anything may be done that no other field here says. */
  all?: PolicyRestApiRulesItemOperationsAll | undefined;
  /** Whether entries may be made. */
  create?: PolicyRestApiRulesItemOperationsAll | undefined;
  /** Whether it may be read. */
  read?: PolicyRestApiRulesItemOperationsAll | undefined;
  /** Whether entries may be changed. */
  update?: PolicyRestApiRulesItemOperationsAll | undefined;
  /** Whether entries may be deleted. */
  delete?: PolicyRestApiRulesItemOperationsAll | undefined;
  /** Whether actions may be run. */
  execute?: PolicyRestApiRulesItemOperationsAll | undefined;
};

/** Whether anything may be done that no other field here says. */
export type PolicyRestApiRulesItemOperationsAll = 'allow' | 'reject';

export type PolicyState = {
  /** Name of the policy. */
  name: string;
  /** What the policy is for. */
  description: string;
  /** What may be done over this API. */
  'rest-api': PolicyRestApi;
  /** Whether every tenant has it; built-in policies cannot be changed. */
  'built-in': boolean;
  /** Rules that no request can meet. */
  warnings?: string[] | undefined;
};

export type PolicyWithWarnings = {
  /** Name of the policy. */
  name: string;
  /** What the policy is for. */
  description: string;
  /** What may be done over this API. */
  'rest-api': PolicyRestApi;
  /** What was accepted and is hardly meant so. */
  warnings?: string[] | undefined;
};

export type PostV1OidcLoginPollAnswer = {
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

export type PostV1OidcLoginPollRequest = {
  /** As the request for a sign-in was answered. */
  'poll-token': string;
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
  errors: ProblemErrorsItem[];
};

export type ProblemErrorsItem = {
  /** What is wrong. */
  'error-message': string;
  /** Where: the path of the field. */
  'error-info'?: string | undefined;
};

export type SystemBackupRequest = {
  /** Opens the backup again; 12 characters or more. */
  passphrase?: string | undefined;
  /** age recipients, in place of a passphrase: all age1… or all age1pq1…. */
  recipients?: string[] | undefined;
};

export type SystemOperateRequest = {
  /** What to do. */
  operation: SystemOperateRequestOperation;
};

/** What to do. */
export type SystemOperateRequestOperation = 'reboot' | 'power-off' | 'factory-reset';

export type SystemRotateWrappingKeyAnswer = {
  /** Number of the wrapping key in use; each rotation makes the next. */
  number: number;
  /**
   * `rewrapping`: keys are being rewrapped. `incomplete`: some could not be, so the old wrapping key is kept; every start
   * tries again.
   */
  state: HsmShowAnswerTokensItemWrappingKeyState;
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

export type SystemRotateWrappingKeyRequest = {
  /** Name of the token in the configuration; needed where there are several. */
  token?: string | undefined;
};

export type SystemUnsealRequest = {
  /** The user PIN of every configured token. */
  pin?: string | undefined;
  /** PINs by name of the token, where they differ. */
  pins?: Record<string, string> | undefined;
};

export type Tenant = {
  /** Name of the tenant. */
  name: string;
  /** A name for people. */
  'descriptive-name': string;
  /** What the tenant is; there is one system tenant. */
  kind: TenantKind;
  /** What the whole tenant may do at most; default by kind. */
  policies?: string[] | undefined;
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
};

/** What the tenant is; there is one system tenant. */
export type TenantKind = 'system' | 'site-provider' | 'application-owner';

export type TenantMerge = {
  /** A name for people. */
  'descriptive-name'?: string | undefined;
  /** What the tenant is; there is one system tenant. */
  kind?: TenantKind | undefined;
  /** What the whole tenant may do at most; default by kind. */
  policies?: string[] | undefined;
};

export type TenantReplacement = {
  /** A name for people. */
  'descriptive-name'?: string | undefined;
  /** What the tenant is; there is one system tenant. */
  kind?: TenantKind | undefined;
  /** What the whole tenant may do at most; default by kind. */
  policies?: string[] | undefined;
};

export type TenantState = {
  /** Name of the tenant. */
  name: string;
  /** A name for people. */
  'descriptive-name': string;
  /** What the tenant is; there is one system tenant. */
  kind: TenantKind;
  /** What the whole tenant may do at most; default by kind. */
  policies?: string[] | undefined;
  /** Stands for the tenant in EST paths. */
  uuid: string;
  /** When the tenant was made. */
  'creation-time': string;
  /** Whether the one root token of the tenant was made. */
  'root-token-issued': boolean;
};

export type TenantsMergeLists = 'unite' | 'replace';

export type Tlsca = {
  /** Name of the TLS CA. */
  name: string;
  /** Key of the CA; default ecdsa. */
  'cert-key-type'?: TlscaCertKeyType | undefined;
  /** Curve of an ecdsa key; default secp256r1. */
  'cert-key-curve'?: TlscaCertKeyCurve | undefined;
  /** Size of an rsa key; default 3072. */
  'cert-key-bits'?: TlscaCertKeyBits | undefined;
  /** Subject of the CA certificate; default CN=<name>. */
  subject?: string | undefined;
  /** Life of the CA certificate. */
  ttl: string;
  /** CA here that signs this one; without it the CA is a root. */
  'issuing-ca'?: string | undefined;
  /** Certificate of a CA elsewhere: this one is then only trusted, and issues nothing. */
  'ca-cert'?: string | undefined;
  /** Must be true before the CA can be deleted while certificates of it are valid. */
  'deletion-allowed': boolean;
  /** Enrolment of devices. */
  est: TlscaEst;
};

/** Size of an rsa key; default 3072. */
export type TlscaCertKeyBits = 2048 | 3072 | 4096;

/** Curve of an ecdsa key; default secp256r1. */
export type TlscaCertKeyCurve = 'secp256r1' | 'secp384r1' | 'secp521r1';

/** Key of the CA; default ecdsa. */
export type TlscaCertKeyType = 'ecdsa' | 'rsa' | 'ed25519' | 'ml-dsa-44' | 'ml-dsa-65' | 'ml-dsa-87';

export type TlscaCreation = {
  /** Name of the TLS CA. */
  name: string;
  /** Key of the CA; default ecdsa. */
  'cert-key-type'?: TlscaCertKeyType | undefined;
  /** Curve of an ecdsa key; default secp256r1. */
  'cert-key-curve'?: TlscaCertKeyCurve | undefined;
  /** Size of an rsa key; default 3072. */
  'cert-key-bits'?: TlscaCertKeyBits | undefined;
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
  est?: TlscaCreationEst | undefined;
};

/** Enrolment of devices. */
export type TlscaCreationEst = {
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

/** Enrolment of devices. */
export type TlscaEst = {
  /** Whether devices may enrol here; otherwise EST answers 404. */
  enabled: boolean;
  /** CA whose certificates devices may show for first enrolment. */
  'initial-enroll-trust-ca'?: string | undefined;
  /** Domains that certificates may name; none: nothing is allowed. */
  'allowed-domains': string[];
  /** Whether names below the domains are allowed. */
  'allow-subdomains': boolean;
  /** Whether the domains themselves are allowed. */
  'allow-bare-domains': boolean;
  /** Whether certificates may name IP addresses. */
  'allow-ip-sans': boolean;
  /** Life of issued certificates, never past the CA's own. */
  ttl: string;
  /** Whether a device may renew with the certificate it has. */
  'allow-reenroll-with-issued-cert': boolean;
};

export type TlscaMerge = {
  /** Key of the CA; default ecdsa. */
  'cert-key-type'?: TlscaCertKeyType | undefined;
  /** Curve of an ecdsa key; default secp256r1. */
  'cert-key-curve'?: TlscaCertKeyCurve | undefined;
  /** Size of an rsa key; default 3072. */
  'cert-key-bits'?: TlscaCertKeyBits | undefined;
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
  est?: TlscaCreationEst | undefined;
};

export type TlscaReplacement = {
  /** Key of the CA; default ecdsa. */
  'cert-key-type'?: TlscaCertKeyType | undefined;
  /** Curve of an ecdsa key; default secp256r1. */
  'cert-key-curve'?: TlscaCertKeyCurve | undefined;
  /** Size of an rsa key; default 3072. */
  'cert-key-bits'?: TlscaCertKeyBits | undefined;
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
  est?: TlscaCreationEst | undefined;
};

export type TlscaState = {
  /** Name of the TLS CA. */
  name: string;
  /** Key of the CA; default ecdsa. */
  'cert-key-type'?: TlscaCertKeyType | undefined;
  /** Curve of an ecdsa key; default secp256r1. */
  'cert-key-curve'?: TlscaCertKeyCurve | undefined;
  /** Size of an rsa key; default 3072. */
  'cert-key-bits'?: TlscaCertKeyBits | undefined;
  /** Subject of the CA certificate; default CN=<name>. */
  subject?: string | undefined;
  /** Life of the CA certificate. */
  ttl: string;
  /** CA here that signs this one; without it the CA is a root. */
  'issuing-ca'?: string | undefined;
  /** Certificate of the CA. */
  'ca-cert': string;
  /** Must be true before the CA can be deleted while certificates of it are valid. */
  'deletion-allowed': boolean;
  /** What devices need to know. */
  est: TlscaStateEst;
  /** Identifies the CA permanently, whatever its name. */
  uuid: string;
  /** When it was made. */
  'creation-time': string;
  /** Whether it is only trusted. */
  'trust-only': boolean;
  /** Certificates above it, up to the root. */
  chain: string;
  /** Serial number of its certificate. */
  serial: string;
  /** When its certificate begins. */
  'not-before': string;
  /** When its certificate ends. */
  'not-after': string;
  /** How often it got a key; counted on from a deleted CA of the same name whose last revocation list is kept. */
  'key-version'?: number | undefined;
  /** Where its revocation list is. */
  'crl-url'?: string | undefined;
  /** Where its OCSP responder is. */
  'ocsp-url'?: string | undefined;
};

/** What devices need to know. */
export type TlscaStateEst = {
  /** Whether devices may enrol here; otherwise EST answers 404. */
  enabled: boolean;
  /** CA whose certificates devices may show for first enrolment. */
  'initial-enroll-trust-ca'?: string | undefined;
  /** Domains that certificates may name; none: nothing is allowed. */
  'allowed-domains': string[];
  /** Whether names below the domains are allowed. */
  'allow-subdomains': boolean;
  /** Whether the domains themselves are allowed. */
  'allow-bare-domains': boolean;
  /** Whether certificates may name IP addresses. */
  'allow-ip-sans': boolean;
  /** Life of issued certificates, never past the CA's own. */
  ttl: string;
  /** Whether a device may renew with the certificate it has. */
  'allow-reenroll-with-issued-cert': boolean;
  /** Base URLs for devices, by host name and by address. */
  'https-url': string[];
  /** Whether the secret is set; its value is never answered. */
  'initial-enroll-secret-set': boolean;
};

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

export type TokenInfoAnswer = {
  /** Stands for the token where the token itself must not be seen. */
  accessor: string;
  /** Tenant of the token. */
  tenant: string;
  /** Who holds it: a user, an approle, or root. */
  user: string;
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

export type TokenRefreshRequest = {
  /** How long it shall live from now; unless given, its ttl. */
  increment?: string | undefined;
};

export type TopicsListAnswerItem = {
  /** Name of the topic. */
  name: string;
};

export type TransitKey = {
  /** Name of the transit key. */
  name: string;
  /**
   * What the key is made of: aes128-gcm96, aes192-gcm96, aes256-gcm96, rsa-2048, rsa-3072, rsa-4096, ed25519, ecdsa-p256,
   * ecdsa-p384, ecdsa-p521, ml-dsa-44, ml-dsa-65, ml-dsa-87.
   */
  cipher: string;
  /** Distribution of the key. */
  distribute: TransitKeyDistribute;
  /** Whether export may answer key material. */
  exportable: boolean;
  /** Whether backup may answer the key in clear. */
  'allow-plaintext-backup': boolean;
  /** Must be true before the key can be deleted. */
  'deletion-allowed': boolean;
  /** A key of its own for each context; symmetric ciphers only. */
  derived: boolean;
  /** The same plaintext in the same context gives the same ciphertext; derived keys only. */
  'convergent-encryption': boolean;
  /** Where the key lives: as a wrapped blob, or as an object in the token. */
  custody?: TransitKeyCustody | undefined;
  /** PEM public key: makes a key that only verifies. */
  'public-key'?: string | undefined;
  /** Older versions do not encrypt or sign; 0: no restriction. */
  'min-encryption-version': number;
  /** Older versions do not decrypt or verify; 0: no restriction. */
  'min-decryption-version': number;
  /** Rotates the key by itself; a merge cannot remove it, a replacement can. */
  'auto-rotate'?: TransitKeyAutoRotate | undefined;
  /** Makes the key an OpenPGP primary key with this User ID. */
  'openpgp-user-id'?: string | undefined;
  /** Makes the key an OpenPGP subkey, bound to the primary key of this name. */
  'openpgp-primary'?: string | undefined;
  /** What an OpenPGP subkey is for. */
  'openpgp-key-usage': TransitKeyOpenpgpKeyUsageItem[];
};

/** Rotates the key by itself; a merge cannot remove it, a replacement can. */
export type TransitKeyAutoRotate = {
  /** Interval after which the key is rotated, again and again. */
  'rotate-after': string;
  /** Delay after a rotation before the new version encrypts. */
  'activate-after'?: string | undefined;
  /** Time after the creation of a newer version when the old one stops encrypting. */
  'deprecate-after'?: string | undefined;
  /** Time after the creation of a newer version when the old one stops decrypting. */
  'invalidate-after'?: string | undefined;
};

export type TransitKeyCreation = {
  /** Name of the transit key. */
  name: string;
  /**
   * What the key is made of: aes128-gcm96, aes192-gcm96, aes256-gcm96, rsa-2048, rsa-3072, rsa-4096, ed25519, ecdsa-p256,
   * ecdsa-p384, ecdsa-p521, ml-dsa-44, ml-dsa-65, ml-dsa-87.
   */
  cipher?: string | undefined;
  /** Distribution of the key. */
  distribute?: TransitKeyCreationDistribute | undefined;
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
  custody?: TransitKeyCustody | undefined;
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
};

/** Distribution of the key. */
export type TransitKeyCreationDistribute = {
  /** Where the key goes; inherit means all. */
  to?: TransitKeyDistributeTo | undefined;
};

/** Where the key lives: as a wrapped blob, or as an object in the token. */
export type TransitKeyCustody = 'wrapped' | 'token';

/** Distribution of the key. */
export type TransitKeyDistribute = {
  /** Where the key goes; inherit means all. */
  to: TransitKeyDistributeTo;
};

/** Where the key goes; inherit means all. */
export type TransitKeyDistributeTo = 'all' | 'none' | 'inherit';

export type TransitKeyMerge = {
  /**
   * What the key is made of: aes128-gcm96, aes192-gcm96, aes256-gcm96, rsa-2048, rsa-3072, rsa-4096, ed25519, ecdsa-p256,
   * ecdsa-p384, ecdsa-p521, ml-dsa-44, ml-dsa-65, ml-dsa-87.
   */
  cipher?: string | undefined;
  /** Distribution of the key. */
  distribute?: TransitKeyCreationDistribute | undefined;
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
  custody?: TransitKeyCustody | undefined;
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
};

export type TransitKeyOpenpgpKeyUsageItem = 'sign';

export type TransitKeyReplacement = {
  /**
   * What the key is made of: aes128-gcm96, aes192-gcm96, aes256-gcm96, rsa-2048, rsa-3072, rsa-4096, ed25519, ecdsa-p256,
   * ecdsa-p384, ecdsa-p521, ml-dsa-44, ml-dsa-65, ml-dsa-87.
   */
  cipher?: string | undefined;
  /** Distribution of the key. */
  distribute?: TransitKeyCreationDistribute | undefined;
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
  custody?: TransitKeyCustody | undefined;
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
};

export type TransitKeyState = {
  /** Name of the transit key. */
  name: string;
  /**
   * What the key is made of: aes128-gcm96, aes192-gcm96, aes256-gcm96, rsa-2048, rsa-3072, rsa-4096, ed25519, ecdsa-p256,
   * ecdsa-p384, ecdsa-p521, ml-dsa-44, ml-dsa-65, ml-dsa-87.
   */
  cipher: string;
  /** Distribution of the key. */
  distribute: TransitKeyDistribute;
  /** Whether export may answer key material. */
  exportable: boolean;
  /** Whether backup may answer the key in clear. */
  'allow-plaintext-backup': boolean;
  /** Must be true before the key can be deleted. */
  'deletion-allowed': boolean;
  /** A key of its own for each context; symmetric ciphers only. */
  derived: boolean;
  /** The same plaintext in the same context gives the same ciphertext; derived keys only. */
  'convergent-encryption': boolean;
  /** Where the key lives: as a wrapped blob, or as an object in the token. */
  custody?: TransitKeyCustody | undefined;
  /** PEM public key: makes a key that only verifies. */
  'public-key'?: string | undefined;
  /** Older versions do not encrypt or sign; 0: no restriction. */
  'min-encryption-version': number;
  /** Older versions do not decrypt or verify; 0: no restriction. */
  'min-decryption-version': number;
  /** Rotates the key by itself; a merge cannot remove it, a replacement can. */
  'auto-rotate'?: TransitKeyAutoRotate | undefined;
  /** Makes the key an OpenPGP primary key with this User ID. */
  'openpgp-user-id'?: string | undefined;
  /** Makes the key an OpenPGP subkey, bound to the primary key of this name. */
  'openpgp-primary'?: string | undefined;
  /** What an OpenPGP subkey is for. */
  'openpgp-key-usage': TransitKeyOpenpgpKeyUsageItem[];
  /** Distribution as it is. */
  'distribution-status': TransitKeyStateDistributionStatus;
  /** 0: the newest version; else the one in use while the newest waits for activate-after. */
  'default-encryption-version': number;
  /** Newest version. */
  'latest-version': number;
  /** Oldest version that was not trimmed. */
  'oldest-version': number;
  /** When the key was made. */
  'creation-time': string;
  /** Whether keys of this cipher encrypt. */
  'supports-encryption': boolean;
  /** Whether keys of this cipher decrypt. */
  'supports-decryption': boolean;
  /** Whether keys of this cipher can be derived per context. */
  'supports-derivation': boolean;
  /** Whether keys of this cipher sign. */
  'supports-signing': boolean;
  /** Per version: creation in microseconds since 1970, or the public key. */
  keys: Record<string, string>;
  /** Per version: how often it was used. */
  usage: Record<string, TransitKeyStateUsageValue>;
};

/** Distribution as it is. */
export type TransitKeyStateDistributionStatus = {
  /** Where the key is. */
  to: TransitKeyStateDistributionStatusTo;
};

/** Where the key is. */
export type TransitKeyStateDistributionStatusTo = 'all' | 'none';

export type TransitKeyStateUsageValue = {
  /** Encryptions, signatures and data keys made with this version. */
  uses: number;
  /** Never below the true count, also after a crash; the limit of 2^32 is held against it. */
  'uses-at-most': number;
  /** Values made with this version that rewrap has not moved away, as far as counted. */
  'not-rewrapped'?: number | undefined;
  /** When this version was last used. */
  'last-used'?: string | undefined;
};

export type TransitKeysBackupAnswer = {
  /** Definition and key material in clear, for restore. */
  key: string;
  /** Latest version in the backup. */
  'key-version': number;
};

export type TransitKeysDecryptAnswer = {
  /** The plaintext: base64, or raw UTF-8 with base64-encoded false. */
  plaintext?: string | undefined;
  /** Version of the key that was used. */
  'key-version'?: number | undefined;
  /** Of a batch: one result for each request, in order. */
  'batch-results'?: TransitKeysDecryptAnswerBatchResultsItem[] | undefined;
  /** Of a batch: how many failed. */
  failed?: number | undefined;
};

export type TransitKeysDecryptAnswerBatchResultsItem = {
  /** The plaintext: base64, or raw UTF-8 with base64-encoded false. */
  plaintext?: string | undefined;
  /** Version of the key that was used. */
  'key-version'?: number | undefined;
  /** Echoed from the request. */
  reference?: string | undefined;
  /** Of an item that failed: the HTTP status it would have had. */
  status?: number | undefined;
  /** Of an item that failed: the error code. */
  code?: string | undefined;
  /** Of an item that failed: why. */
  'error-message'?: string | undefined;
};

export type TransitKeysDecryptRequest = {
  /** What encrypt answered. */
  ciphertext?: string | undefined;
  /** Default true; false: the text is raw UTF-8. */
  'base64-encoded'?: boolean | undefined;
  /** Required for derived keys: the same text again to decrypt. */
  context?: string | undefined;
  /** Authenticated with the ciphertext, not part of it: the same again to decrypt. */
  'associated-data'?: string | undefined;
  /** 1 to 1,000 requests, each with the fields of a single one and optionally `reference`. */
  'batch-input'?: Record<string, unknown>[] | undefined;
};

export type TransitKeysEncryptAnswer = {
  /** The ciphertext. */
  ciphertext?: string | undefined;
  /** Version of the key that was used. */
  'key-version'?: number | undefined;
  /** Of a batch: one result for each request, in order. */
  'batch-results'?: TransitKeysEncryptAnswerBatchResultsItem[] | undefined;
  /** Of a batch: how many failed. */
  failed?: number | undefined;
};

export type TransitKeysEncryptAnswerBatchResultsItem = {
  /** The ciphertext. */
  ciphertext?: string | undefined;
  /** Version of the key that was used. */
  'key-version'?: number | undefined;
  /** Echoed from the request. */
  reference?: string | undefined;
  /** Of an item that failed: the HTTP status it would have had. */
  status?: number | undefined;
  /** Of an item that failed: the error code. */
  code?: string | undefined;
  /** Of an item that failed: why. */
  'error-message'?: string | undefined;
};

export type TransitKeysEncryptRequest = {
  /** What to encrypt: base64, or raw UTF-8 with base64-encoded false. */
  plaintext?: string | undefined;
  /** Default true; false: the text is raw UTF-8. */
  'base64-encoded'?: boolean | undefined;
  /** Required for derived keys: the same text again to decrypt. */
  context?: string | undefined;
  /** Authenticated with the ciphertext, not part of it: the same again to decrypt. */
  'associated-data'?: string | undefined;
  /** Version to use; default: the version in use. */
  'key-version'?: number | undefined;
  /** 1 to 1,000 requests, each with the fields of a single one and optionally `reference`. */
  'batch-input'?: Record<string, unknown>[] | undefined;
};

export type TransitKeysExportAnswer = {
  /** Version to key material; with format openpgp a list of blocks. */
  keys: TransitKeysExportAnswerKeys;
  /** Newest version in the answer. */
  'key-version': number;
};

/** Version to key material; with format openpgp a list of blocks. */
export type TransitKeysExportAnswerKeys = Record<string, string> | TransitKeysExportAnswerKeysOption2Item[];

export type TransitKeysExportAnswerKeysOption2Item = {
  /** Version of the key. */
  version: number;
  /** OpenPGP private key block. */
  value: string;
};

export type TransitKeysExportOpenpgpPublicAnswer = {
  /** One item with the block asked for. */
  keys: TransitKeysExportOpenpgpPublicAnswerKeysItem[];
  /** Version in the answer; of several the newest. */
  'key-version': number;
};

export type TransitKeysExportOpenpgpPublicAnswerKeysItem = {
  /** Version of the key; of several the newest. */
  version: number;
  /** Public key block; of a subkey with its primary key. */
  keyblock: string;
};

export type TransitKeysExportOpenpgpPublicRequest = {
  /** Version to export; all: every version, in one block. */
  version?: TransitKeysExportOpenpgpPublicRequestVersion | undefined;
  /** Of a primary key: also the subkeys that these versions bound, in all their versions. */
  subkeys?: boolean | undefined;
};

/** Version to export; all: every version, in one block. */
export type TransitKeysExportOpenpgpPublicRequestVersion = TransitKeysExportRequestVersionOption1 | TransitKeysExportOpenpgpPublicRequestVersionOption2 | number;

export type TransitKeysExportOpenpgpPublicRequestVersionOption2 = 'all';

export type TransitKeysExportOpenpgpRevocationAnswer = {
  /** Revocation certificate. */
  revocation: string;
  /** Version that it revokes. */
  'key-version': number;
};

export type TransitKeysExportOpenpgpRevocationRequest = {
  /** Version to revoke. */
  version?: TransitKeysExportRequestVersion | undefined;
  /** Why. */
  reason?: TransitKeysExportOpenpgpRevocationRequestReason | undefined;
  /** A remark that everybody will read. */
  comment?: string | undefined;
};

/** Why. */
export type TransitKeysExportOpenpgpRevocationRequestReason = 'no-reason' | 'superseded' | 'compromised' | 'retired';

export type TransitKeysExportRequest = {
  /** Default: every version that may decrypt. */
  version?: TransitKeysExportRequestVersion | undefined;
  /** Default: PKCS#8 PEM, or base64 for symmetric keys. */
  format?: TransitKeysExportRequestFormat | undefined;
  /** RSA public key PEM, for format wrapped. */
  'wrapping-key'?: string | undefined;
  /** User ID of the block, for format openpgp. */
  'openpgp-user-id'?: string | undefined;
};

/** Default: PKCS#8 PEM, or base64 for symmetric keys. */
export type TransitKeysExportRequestFormat = 'openpgp' | 'wrapped';

/** Default: every version that may decrypt. */
export type TransitKeysExportRequestVersion = TransitKeysExportRequestVersionOption1 | number;

export type TransitKeysExportRequestVersionOption1 = 'latest';

export type TransitKeysGenerateDataKeyAnswer = {
  /** The data key, encrypted. */
  ciphertext: string;
  /** The data key in clear, with type plaintext. */
  plaintext?: string | undefined;
  /** Version of the key that was used. */
  'key-version': number;
};

export type TransitKeysGenerateDataKeyRequest = {
  /** plaintext: the answer also has the data key in clear. */
  type?: TransitKeysGenerateDataKeyRequestType | undefined;
  /** Size of the data key. */
  bits?: TransitKeysGenerateDataKeyRequestBits | undefined;
  /** Required for derived keys: the same text again to decrypt. */
  context?: string | undefined;
  /** Authenticated with the ciphertext, not part of it: the same again to decrypt. */
  'associated-data'?: string | undefined;
  /** Version to use; default: the version in use. */
  'key-version'?: number | undefined;
};

/** Size of the data key. */
export type TransitKeysGenerateDataKeyRequestBits = 128 | 256 | 512;

/** plaintext: the answer also has the data key in clear. */
export type TransitKeysGenerateDataKeyRequestType = 'plaintext' | 'wrapped';

export type TransitKeysHmacAnswer = {
  /** The HMAC. */
  hmac?: string | undefined;
  /** Version of the key that was used. */
  'key-version'?: number | undefined;
  /** Of a batch: one result for each request, in order. */
  'batch-results'?: TransitKeysHmacAnswerBatchResultsItem[] | undefined;
  /** Of a batch: how many failed. */
  failed?: number | undefined;
};

export type TransitKeysHmacAnswerBatchResultsItem = {
  /** The HMAC. */
  hmac?: string | undefined;
  /** Version of the key that was used. */
  'key-version'?: number | undefined;
  /** Echoed from the request. */
  reference?: string | undefined;
  /** Of an item that failed: the HTTP status it would have had. */
  status?: number | undefined;
  /** Of an item that failed: the error code. */
  code?: string | undefined;
  /** Of an item that failed: why. */
  'error-message'?: string | undefined;
};

export type TransitKeysHmacRequest = {
  /** What to authenticate: base64, or raw UTF-8 with base64-encoded false. */
  plaintext?: string | undefined;
  /** Default true; false: the text is raw UTF-8. */
  'base64-encoded'?: boolean | undefined;
  /** Default sha256. */
  'hash-algorithm'?: TransitKeysSignRequestHashAlgorithm | undefined;
  /** Version to use; default: the version in use. */
  'key-version'?: number | undefined;
  /** 1 to 1,000 requests, each with the fields of a single one and optionally `reference`. */
  'batch-input'?: Record<string, unknown>[] | undefined;
};

export type TransitKeysImportRequest = {
  /** PKCS#8, PKCS#1 or SEC1 PEM; base64 for symmetric keys. */
  data?: string | undefined;
  /** In place of data: wrapped under GET /v1/state/keystore/wrapping-key. */
  ciphertext?: string | undefined;
};

export type TransitKeysOpenpgpSignAnswer = {
  /** The detached signature. */
  signature: string;
  /** Version of the key that was used. */
  'key-version': number;
};

export type TransitKeysOpenpgpSignRequest = {
  /** What to sign: base64, or raw UTF-8 with base64-encoded false. */
  text: string;
  /** false: the text is raw UTF-8. */
  'base64-encoded'?: boolean | undefined;
  /** Version to use; default: the version in use. */
  'key-version'?: number | undefined;
  /** binary answers the packet in base64. */
  format?: TransitKeysOpenpgpSignRequestFormat | undefined;
  /** How long the signature holds; for ever when absent. */
  'expires-after'?: string | undefined;
};

/** binary answers the packet in base64. */
export type TransitKeysOpenpgpSignRequestFormat = 'armored' | 'binary';

export type TransitKeysOpenpgpVerifyAnswer = {
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

export type TransitKeysOpenpgpVerifyRequest = {
  /** What was signed: base64, or raw UTF-8 with base64-encoded false. */
  text: string;
  /** false: the text is raw UTF-8. */
  'base64-encoded'?: boolean | undefined;
  /** Detached signature: ASCII armor, or base64 of the packets. */
  signature: string;
};

export type TransitKeysRestoreRequest = {
  /** What backup answered, here or on another appliance. */
  key: string;
};

export type TransitKeysRewrapAnswer = {
  /** The ciphertext under the other version. */
  ciphertext?: string | undefined;
  /** Version of the key that was used. */
  'key-version'?: number | undefined;
  /** Of a batch: one result for each request, in order. */
  'batch-results'?: TransitKeysRewrapAnswerBatchResultsItem[] | undefined;
  /** Of a batch: how many failed. */
  failed?: number | undefined;
};

export type TransitKeysRewrapAnswerBatchResultsItem = {
  /** The ciphertext under the other version. */
  ciphertext?: string | undefined;
  /** Version of the key that was used. */
  'key-version'?: number | undefined;
  /** Echoed from the request. */
  reference?: string | undefined;
  /** Of an item that failed: the HTTP status it would have had. */
  status?: number | undefined;
  /** Of an item that failed: the error code. */
  code?: string | undefined;
  /** Of an item that failed: why. */
  'error-message'?: string | undefined;
};

export type TransitKeysRewrapRequest = {
  /** What encrypt answered. */
  ciphertext?: string | undefined;
  /** Required for derived keys: the same text again to decrypt. */
  context?: string | undefined;
  /** Authenticated with the ciphertext, not part of it: the same again to decrypt. */
  'associated-data'?: string | undefined;
  /** Version to use; default: the version in use. */
  'key-version'?: number | undefined;
  /** 1 to 1,000 requests, each with the fields of a single one and optionally `reference`. */
  'batch-input'?: Record<string, unknown>[] | undefined;
};

export type TransitKeysSignAnswer = {
  /** The signature. */
  signature?: string | undefined;
  /** Version of the key that was used. */
  'key-version'?: number | undefined;
  /** Of a batch: one result for each request, in order. */
  'batch-results'?: TransitKeysSignAnswerBatchResultsItem[] | undefined;
  /** Of a batch: how many failed. */
  failed?: number | undefined;
};

export type TransitKeysSignAnswerBatchResultsItem = {
  /** The signature. */
  signature?: string | undefined;
  /** Version of the key that was used. */
  'key-version'?: number | undefined;
  /** Echoed from the request. */
  reference?: string | undefined;
  /** Of an item that failed: the HTTP status it would have had. */
  status?: number | undefined;
  /** Of an item that failed: the error code. */
  code?: string | undefined;
  /** Of an item that failed: why. */
  'error-message'?: string | undefined;
};

export type TransitKeysSignRequest = {
  /** What to sign: base64, or raw UTF-8 with base64-encoded false. */
  text?: string | undefined;
  /** Default true; false: the text is raw UTF-8. */
  'base64-encoded'?: boolean | undefined;
  /** Default sha256. */
  'hash-algorithm'?: TransitKeysSignRequestHashAlgorithm | undefined;
  /** The input is the finished hash, not the data. Default false. */
  prehashed?: boolean | undefined;
  /** Padding of RSA signatures; default pkcs1v15. */
  'signature-algorithm'?: TransitKeysSignRequestSignatureAlgorithm | undefined;
  /** asn1 (default): base64, ECDSA as DER. jws: base64url without padding, ECDSA as r‖s. */
  marshaling?: TransitKeysSignRequestMarshaling | undefined;
  /** Version to use; default: the version in use. */
  'key-version'?: number | undefined;
  /** 1 to 1,000 requests, each with the fields of a single one and optionally `reference`. */
  'batch-input'?: Record<string, unknown>[] | undefined;
};

/** Default sha256. */
export type TransitKeysSignRequestHashAlgorithm = 'sha256' | 'sha384' | 'sha512';

/** asn1 (default): base64, ECDSA as DER. jws: base64url without padding, ECDSA as r‖s. */
export type TransitKeysSignRequestMarshaling = 'asn1' | 'jws';

/** Padding of RSA signatures; default pkcs1v15. */
export type TransitKeysSignRequestSignatureAlgorithm = 'pkcs1v15' | 'pss';

export type TransitKeysTrimRequest = {
  /** Oldest version to keep. */
  version: number;
};

export type TransitKeysVerifyAnswer = {
  /** Whether signature or HMAC fit the text. */
  valid?: boolean | undefined;
  /** Version of the key that was used. */
  'key-version'?: number | undefined;
  /** Of a batch: one result for each request, in order. */
  'batch-results'?: TransitKeysVerifyAnswerBatchResultsItem[] | undefined;
  /** Of a batch: how many failed. */
  failed?: number | undefined;
};

export type TransitKeysVerifyAnswerBatchResultsItem = {
  /** Whether signature or HMAC fit the text. */
  valid?: boolean | undefined;
  /** Version of the key that was used. */
  'key-version'?: number | undefined;
  /** Echoed from the request. */
  reference?: string | undefined;
  /** Of an item that failed: the HTTP status it would have had. */
  status?: number | undefined;
  /** Of an item that failed: the error code. */
  code?: string | undefined;
  /** Of an item that failed: why. */
  'error-message'?: string | undefined;
};

export type TransitKeysVerifyRequest = {
  /** What was signed: base64, or raw UTF-8 with base64-encoded false. */
  text?: string | undefined;
  /** Default true; false: the text is raw UTF-8. */
  'base64-encoded'?: boolean | undefined;
  /** The signature, made here or elsewhere. */
  signature?: string | undefined;
  /** In place of signature. */
  hmac?: string | undefined;
  /** Default sha256. */
  'hash-algorithm'?: TransitKeysSignRequestHashAlgorithm | undefined;
  /** The input is the finished hash, not the data. Default false. */
  prehashed?: boolean | undefined;
  /** Padding of RSA signatures; default pkcs1v15. */
  'signature-algorithm'?: TransitKeysSignRequestSignatureAlgorithm | undefined;
  /** asn1 (default): base64, ECDSA as DER. jws: base64url without padding, ECDSA as r‖s. */
  marshaling?: TransitKeysSignRequestMarshaling | undefined;
  /** 1 to 1,000 requests, each with the fields of a single one and optionally `reference`. */
  'batch-input'?: Record<string, unknown>[] | undefined;
};

export type WrappingKeyShowAnswer = {
  /** SubjectPublicKeyInfo PEM, RSA-4096. */
  'wrapping-key': string;
};
