"""The documents of the API. Made by `npm run clients`; do not edit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, Optional, Union

from .._wire import Document

__all__ = [
    "Approle",
    "ApproleCreation",
    "ApproleLoginRequest",
    "ApproleMerge",
    "ApproleReplacement",
    "ApproleState",
    "ApprolesDisableSecretIdRequest",
    "ApprolesGenerateSecretIdAnswer",
    "ApprolesGenerateSecretIdRequest",
    "ApprolesSecretIdsListAnswerItem",
    "AuditShowAnswer",
    "AuditShowAnswerHeadsItem",
    "AuditShowAnswerKeysItem",
    "BackupStatusShowAnswer",
    "BackupStatusShowAnswerRunning",
    "BackupStatusShowAnswerRunningPurpose",
    "BackupStatusShowAnswerRunningStage",
    "CaCertificatesListAnswerItem",
    "CaCertificatesListAnswerItemStatus",
    "CaCsrAnswer",
    "CaImportCertRequest",
    "CaRenewAnswer",
    "CaRevokeRequest",
    "CaRevokeRequestReason",
    "CaSignCsrAnswer",
    "CaSignCsrRequest",
    "CaSignCsrRequestUsagesItem",
    "CryptoFunctionsRandomBytesAnswer",
    "CryptoFunctionsRandomBytesRequest",
    "CryptoFunctionsRandomBytesRequestFormat",
    "HealthShowAnswer",
    "HealthShowAnswerStatus",
    "HsmShowAnswer",
    "HsmShowAnswerTokensItem",
    "HsmShowAnswerTokensItemLatenciesValue",
    "HsmShowAnswerTokensItemLatenciesValueUnit",
    "HsmShowAnswerTokensItemSessions",
    "HsmShowAnswerTokensItemState",
    "HsmShowAnswerTokensItemWrappingKey",
    "HsmShowAnswerTokensItemWrappingKeyState",
    "KeystoreImportOpenpgpAnswer",
    "KeystoreImportOpenpgpRequest",
    "OidcExplainAnswer",
    "OidcExplainAnswerLogin",
    "OidcExplainAnswerRolesItem",
    "OidcExplainRequest",
    "OidcLoginAnswer",
    "OidcLoginRequest",
    "OidcRole",
    "OidcRoleClaimMappingsValue",
    "OidcRoleCreation",
    "OidcRoleMerge",
    "OidcRoleReplacement",
    "OidcRoleState",
    "OidcService",
    "OidcServiceCreation",
    "OidcServiceMerge",
    "OidcServiceReplacement",
    "OidcServiceRoleSelect",
    "OidcServiceState",
    "OidcServiceTokenEndpointAuthMethod",
    "OidcTestAnswer",
    "OidcTestAnswerCertificateChainItem",
    "OidcTestAnswerClientCredentials",
    "OidcTestAnswerFindingsItem",
    "OidcTestAnswerFindingsItemLevel",
    "OidcTestAnswerKeysItem",
    "OidcTestAnswerPkce",
    "OidcTestAnswerPkceMethod",
    "OidcTestAnswerRedirectUrisItem",
    "OidcTestAnswerRedirectUrisItemRegistered",
    "OidcTestRequest",
    "Policy",
    "PolicyCheckAnswer",
    "PolicyCheckAnswerDecidedBy",
    "PolicyCheckRequest",
    "PolicyCheckRequestOperation",
    "PolicyCreation",
    "PolicyCreationRestApi",
    "PolicyCreationRestApiRulesItem",
    "PolicyMerge",
    "PolicyReplacement",
    "PolicyRestApi",
    "PolicyRestApiRulesItem",
    "PolicyRestApiRulesItemAllowedValuesValueItem",
    "PolicyRestApiRulesItemOperations",
    "PolicyRestApiRulesItemOperationsAll",
    "PolicyState",
    "PolicyWithWarnings",
    "PostV1OidcLoginPollAnswer",
    "PostV1OidcLoginPollRequest",
    "Problem",
    "ProblemErrorsItem",
    "SystemBackupRequest",
    "SystemOperateRequest",
    "SystemOperateRequestOperation",
    "SystemRotateWrappingKeyAnswer",
    "SystemRotateWrappingKeyRequest",
    "SystemUnsealRequest",
    "Tenant",
    "TenantCreation",
    "TenantKind",
    "TenantMerge",
    "TenantReplacement",
    "TenantState",
    "TenantsMergeLists",
    "Tlsca",
    "TlscaCertKeyBits",
    "TlscaCertKeyCurve",
    "TlscaCertKeyType",
    "TlscaCreation",
    "TlscaCreationEst",
    "TlscaEst",
    "TlscaMerge",
    "TlscaReplacement",
    "TlscaState",
    "TlscaStateEst",
    "TokenCreateAnswer",
    "TokenCreateRequest",
    "TokenCreateRootAnswer",
    "TokenCreateRootRequest",
    "TokenInfoAnswer",
    "TokenInfoRequest",
    "TokenRefreshRequest",
    "TopicsListAnswerItem",
    "TransitKey",
    "TransitKeyAutoRotate",
    "TransitKeyCreation",
    "TransitKeyCreationDistribute",
    "TransitKeyCustody",
    "TransitKeyDistribute",
    "TransitKeyDistributeTo",
    "TransitKeyMerge",
    "TransitKeyOpenpgpKeyUsageItem",
    "TransitKeyReplacement",
    "TransitKeyState",
    "TransitKeyStateDistributionStatus",
    "TransitKeyStateDistributionStatusTo",
    "TransitKeyStateUsageValue",
    "TransitKeysBackupAnswer",
    "TransitKeysDecryptAnswer",
    "TransitKeysDecryptAnswerBatchResultsItem",
    "TransitKeysDecryptRequest",
    "TransitKeysEncryptAnswer",
    "TransitKeysEncryptAnswerBatchResultsItem",
    "TransitKeysEncryptRequest",
    "TransitKeysExportAnswer",
    "TransitKeysExportAnswerKeys",
    "TransitKeysExportAnswerKeysOption2Item",
    "TransitKeysExportOpenpgpPublicAnswer",
    "TransitKeysExportOpenpgpPublicAnswerKeysItem",
    "TransitKeysExportOpenpgpPublicRequest",
    "TransitKeysExportOpenpgpPublicRequestVersion",
    "TransitKeysExportOpenpgpPublicRequestVersionOption2",
    "TransitKeysExportOpenpgpRevocationAnswer",
    "TransitKeysExportOpenpgpRevocationRequest",
    "TransitKeysExportOpenpgpRevocationRequestReason",
    "TransitKeysExportRequest",
    "TransitKeysExportRequestFormat",
    "TransitKeysExportRequestVersion",
    "TransitKeysExportRequestVersionOption1",
    "TransitKeysGenerateDataKeyAnswer",
    "TransitKeysGenerateDataKeyRequest",
    "TransitKeysGenerateDataKeyRequestBits",
    "TransitKeysGenerateDataKeyRequestType",
    "TransitKeysHmacAnswer",
    "TransitKeysHmacAnswerBatchResultsItem",
    "TransitKeysHmacRequest",
    "TransitKeysImportRequest",
    "TransitKeysOpenpgpSignAnswer",
    "TransitKeysOpenpgpSignRequest",
    "TransitKeysOpenpgpSignRequestFormat",
    "TransitKeysOpenpgpVerifyAnswer",
    "TransitKeysOpenpgpVerifyRequest",
    "TransitKeysRestoreRequest",
    "TransitKeysRewrapAnswer",
    "TransitKeysRewrapAnswerBatchResultsItem",
    "TransitKeysRewrapRequest",
    "TransitKeysSignAnswer",
    "TransitKeysSignAnswerBatchResultsItem",
    "TransitKeysSignRequest",
    "TransitKeysSignRequestHashAlgorithm",
    "TransitKeysSignRequestMarshaling",
    "TransitKeysSignRequestSignatureAlgorithm",
    "TransitKeysTrimRequest",
    "TransitKeysVerifyAnswer",
    "TransitKeysVerifyAnswerBatchResultsItem",
    "TransitKeysVerifyRequest",
    "WrappingKeyShowAnswer",
]


BackupStatusShowAnswerRunningPurpose = Literal["request", "pull", "schedule", "now"]


BackupStatusShowAnswerRunningStage = Literal["copying", "sending"]


# What it is worth now.
CaCertificatesListAnswerItemStatus = Literal["valid", "expired", "revoked"]


# Why (RFC 5280 section 5.3.1).
CaRevokeRequestReason = Literal["unspecified", "key-compromise", "affiliation-changed", "superseded", "cessation-of-operation", "privilege-withdrawn"]


CaSignCsrRequestUsagesItem = Literal["client-auth", "server-auth"]


# How they are written.
CryptoFunctionsRandomBytesRequestFormat = Literal["base64", "hex"]


# degraded: requests are served, and a person should act; down: some requests cannot be served.
HealthShowAnswerStatus = Literal["ok", "degraded", "down"]


# Of both.
HsmShowAnswerTokensItemLatenciesValueUnit = Literal["microseconds"]


# Whether it works. `damaged`: its own keys are missing. A refused PIN is not tried again.
HsmShowAnswerTokensItemState = Literal["up", "damaged", "down", "pin-refused"]


# `rewrapping`: keys are being rewrapped. `incomplete`: some could not be, so the old wrapping key is kept;
# every start tries again.
HsmShowAnswerTokensItemWrappingKeyState = Literal["in-use", "rewrapping", "incomplete"]


OidcRoleClaimMappingsValue = Literal["username", "fullname"]


# How the secret is sent; default: as the provider says.
OidcServiceTokenEndpointAuthMethod = Literal["client_secret_basic", "client_secret_post"]


# What the token endpoint says to client-id and client-secret, tried with a code that does not exist.
OidcTestAnswerClientCredentials = Literal["accepted", "refused", "unknown"]


# Whether sign-ins fail because of it.
OidcTestAnswerFindingsItemLevel = Literal["error", "warning"]


# Always sent.
OidcTestAnswerPkceMethod = Literal["S256"]


# Whether the provider knows it.
OidcTestAnswerRedirectUrisItemRegistered = Literal["yes", "unknown"]


# Whose policies decided, since both must allow; `service`: what it asks of every caller there.
PolicyCheckAnswerDecidedBy = Literal["tenant", "token", "service"]


# What would be done there.
PolicyCheckRequestOperation = Literal["create", "read", "update", "delete", "execute"]


# Whether anything may be done that no other field here says.
PolicyRestApiRulesItemOperationsAll = Literal["allow", "reject"]


# What to do.
SystemOperateRequestOperation = Literal["reboot", "power-off", "factory-reset"]


# What the tenant is; there is one system tenant.
TenantKind = Literal["system", "site-provider", "application-owner"]


TenantsMergeLists = Literal["unite", "replace"]


# Size of an rsa key; default 3072.
TlscaCertKeyBits = Literal[2048, 3072, 4096]


# Curve of an ecdsa key; default secp256r1.
TlscaCertKeyCurve = Literal["secp256r1", "secp384r1", "secp521r1"]


# Key of the CA; default ecdsa.
TlscaCertKeyType = Literal["ecdsa", "rsa", "ed25519", "ml-dsa-44", "ml-dsa-65", "ml-dsa-87"]


# Where the key lives: as a wrapped blob, or as an object in the token.
TransitKeyCustody = Literal["wrapped", "token"]


# Where the key goes; inherit means all.
TransitKeyDistributeTo = Literal["all", "none", "inherit"]


TransitKeyOpenpgpKeyUsageItem = Literal["sign"]


# Where the key is.
TransitKeyStateDistributionStatusTo = Literal["all", "none"]


TransitKeysExportOpenpgpPublicRequestVersionOption2 = Literal["all"]


# Why.
TransitKeysExportOpenpgpRevocationRequestReason = Literal["no-reason", "superseded", "compromised", "retired"]


# Default: PKCS#8 PEM, or base64 for symmetric keys.
TransitKeysExportRequestFormat = Literal["openpgp", "wrapped"]


TransitKeysExportRequestVersionOption1 = Literal["latest"]


# Size of the data key.
TransitKeysGenerateDataKeyRequestBits = Literal[128, 256, 512]


# plaintext: the answer also has the data key in clear.
TransitKeysGenerateDataKeyRequestType = Literal["plaintext", "wrapped"]


# binary answers the packet in base64.
TransitKeysOpenpgpSignRequestFormat = Literal["armored", "binary"]


# Default sha256.
TransitKeysSignRequestHashAlgorithm = Literal["sha256", "sha384", "sha512"]


# asn1 (default): base64, ECDSA as DER. jws: base64url without padding, ECDSA as r‖s.
TransitKeysSignRequestMarshaling = Literal["asn1", "jws"]


# Padding of RSA signatures; default pkcs1v15.
TransitKeysSignRequestSignatureAlgorithm = Literal["pkcs1v15", "pss"]


@dataclass(frozen=True)
class Approle(Document):
    """Approle."""

    name: str
    """Name of the approle."""
    token_policies: list[str]
    """Policies of the tokens; only such as the caller has."""
    token_ttl: str
    """Life of a token, and what a refresh gives it."""
    token_max_ttl: str
    """Longest life of a token over all refreshes."""
    token_bound_cidrs: list[str]
    """Ranges of addresses the tokens work from; empty: from anywhere."""
    secret_id_num_uses: int
    """How often a secret-id can be used; 0: as often as one likes."""
    secret_id_bound_cidrs: list[str]
    """Ranges of addresses one may log in from; empty: from anywhere."""
    secret_id_ttl: Optional[str] = None
    """How long a secret-id can be used; unless given, for ever."""
    fixed_role_id: Optional[str] = None
    """A role-id of your own choice; unless given, one is made."""


@dataclass(frozen=True)
class ApproleCreation(Document):
    """ApproleCreation."""

    name: str
    """Name of the approle."""
    token_policies: Optional[list[str]] = None
    """Policies of the tokens; only such as the caller has."""
    token_ttl: Optional[str] = None
    """Life of a token, and what a refresh gives it."""
    token_max_ttl: Optional[str] = None
    """Longest life of a token over all refreshes."""
    token_bound_cidrs: Optional[list[str]] = None
    """Ranges of addresses the tokens work from; empty: from anywhere."""
    secret_id_ttl: Optional[str] = None
    """How long a secret-id can be used; unless given, for ever."""
    secret_id_num_uses: Optional[int] = None
    """How often a secret-id can be used; 0: as often as one likes."""
    secret_id_bound_cidrs: Optional[list[str]] = None
    """Ranges of addresses one may log in from; empty: from anywhere."""
    fixed_role_id: Optional[str] = None
    """A role-id of your own choice; unless given, one is made."""


@dataclass(frozen=True)
class ApproleLoginRequest(Document):
    """ApproleLoginRequest."""

    role_id: str = field(repr=False)
    """The role-id of the approle."""
    secret_id: str = field(repr=False)
    """One of its secret-ids."""


@dataclass(frozen=True)
class ApproleMerge(Document):
    """ApproleMerge."""

    token_policies: Optional[list[str]] = None
    """Policies of the tokens; only such as the caller has."""
    token_ttl: Optional[str] = None
    """Life of a token, and what a refresh gives it."""
    token_max_ttl: Optional[str] = None
    """Longest life of a token over all refreshes."""
    token_bound_cidrs: Optional[list[str]] = None
    """Ranges of addresses the tokens work from; empty: from anywhere."""
    secret_id_ttl: Optional[str] = None
    """How long a secret-id can be used; unless given, for ever."""
    secret_id_num_uses: Optional[int] = None
    """How often a secret-id can be used; 0: as often as one likes."""
    secret_id_bound_cidrs: Optional[list[str]] = None
    """Ranges of addresses one may log in from; empty: from anywhere."""
    fixed_role_id: Optional[str] = None
    """A role-id of your own choice; unless given, one is made."""


@dataclass(frozen=True)
class ApproleReplacement(Document):
    """ApproleReplacement."""

    token_policies: Optional[list[str]] = None
    """Policies of the tokens; only such as the caller has."""
    token_ttl: Optional[str] = None
    """Life of a token, and what a refresh gives it."""
    token_max_ttl: Optional[str] = None
    """Longest life of a token over all refreshes."""
    token_bound_cidrs: Optional[list[str]] = None
    """Ranges of addresses the tokens work from; empty: from anywhere."""
    secret_id_ttl: Optional[str] = None
    """How long a secret-id can be used; unless given, for ever."""
    secret_id_num_uses: Optional[int] = None
    """How often a secret-id can be used; 0: as often as one likes."""
    secret_id_bound_cidrs: Optional[list[str]] = None
    """Ranges of addresses one may log in from; empty: from anywhere."""
    fixed_role_id: Optional[str] = None
    """A role-id of your own choice; unless given, one is made."""


@dataclass(frozen=True)
class ApproleState(Document):
    """ApproleState."""

    name: str
    """Name of the approle."""
    token_policies: list[str]
    """Policies of the tokens; only such as the caller has."""
    token_ttl: str
    """Life of a token, and what a refresh gives it."""
    token_max_ttl: str
    """Longest life of a token over all refreshes."""
    token_bound_cidrs: list[str]
    """Ranges of addresses the tokens work from; empty: from anywhere."""
    secret_id_num_uses: int
    """How often a secret-id can be used; 0: as often as one likes."""
    secret_id_bound_cidrs: list[str]
    """Ranges of addresses one may log in from; empty: from anywhere."""
    role_id: str
    """What a login names."""
    creation_time: str
    """When it was made."""
    secret_ids: int
    """Number of secret-ids on record."""
    secret_id_ttl: Optional[str] = None
    """How long a secret-id can be used; unless given, for ever."""
    fixed_role_id: Optional[str] = None
    """A role-id of your own choice; unless given, one is made."""


@dataclass(frozen=True)
class ApprolesDisableSecretIdRequest(Document):
    """ApprolesDisableSecretIdRequest."""

    secret_id: Optional[str] = field(default=None, repr=False)
    """The secret-id meant."""
    accessor: Optional[str] = None
    """Or its accessor."""


@dataclass(frozen=True)
class ApprolesGenerateSecretIdAnswer(Document):
    """ApprolesGenerateSecretIdAnswer."""

    secret_id: str = field(repr=False)
    """The secret-id; shown this once."""
    accessor: str
    """Stands for the secret-id where the secret itself must not be seen."""
    creation_time: str
    """When it was made."""
    bound_cidrs: list[str]
    """Ranges of addresses it can be used from; empty: from anywhere."""
    expires: Optional[str] = None
    """When it ends; absent: never."""
    uses_left: Optional[int] = None
    """How often it can still be used; absent: as often as one likes."""


@dataclass(frozen=True)
class ApprolesGenerateSecretIdRequest(Document):
    """ApprolesGenerateSecretIdRequest."""

    ttl: Optional[str] = None
    """How long it can be used; at most, and unless given, as the approle says."""
    num_uses: Optional[int] = None
    """How often it can be used; at most, and unless given, as the approle says."""
    bound_cidrs: Optional[list[str]] = None
    """Ranges of addresses it can be used from, besides those of the approle."""


@dataclass(frozen=True)
class ApprolesSecretIdsListAnswerItem(Document):
    """ApprolesSecretIdsListAnswerItem."""

    accessor: str
    """Stands for the secret-id where the secret itself must not be seen."""
    creation_time: str
    """When it was made."""
    bound_cidrs: list[str]
    """Ranges of addresses it can be used from; empty: from anywhere."""
    expires: Optional[str] = None
    """When it ends; absent: never."""
    uses_left: Optional[int] = None
    """How often it can still be used; absent: as often as one likes."""


@dataclass(frozen=True)
class AuditShowAnswer(Document):
    """AuditShowAnswer."""

    keys: list[AuditShowAnswerKeysItem]
    """Keys that have signed the trail, the newest last."""
    heads: list[AuditShowAnswerHeadsItem]
    """The last signed position of every chain."""


@dataclass(frozen=True)
class AuditShowAnswerHeadsItem(Document):
    """AuditShowAnswerHeadsItem."""

    chain: str
    """Chain of one process."""
    sequence: int
    """Number of its last signed record."""
    hash: str
    """SHA-256 of that record."""


@dataclass(frozen=True)
class AuditShowAnswerKeysItem(Document):
    """AuditShowAnswerKeysItem."""

    key_id: str
    """Id of the key in head records."""
    public_key: str
    """The public key, PEM."""


@dataclass(frozen=True)
class BackupStatusShowAnswer(Document):
    """BackupStatusShowAnswer."""

    scheduled: bool
    failures: int
    failures_in_a_row: int
    running: Optional[BackupStatusShowAnswerRunning] = None
    next_at: Optional[str] = None
    last_success_at: Optional[str] = None
    last_bytes: Optional[int] = None
    last_seconds: Optional[float] = None
    last_digest: Optional[str] = None
    last_failure_at: Optional[str] = None
    last_failure: Optional[str] = None


@dataclass(frozen=True)
class BackupStatusShowAnswerRunning(Document):
    """BackupStatusShowAnswerRunning."""

    purpose: BackupStatusShowAnswerRunningPurpose
    stage: BackupStatusShowAnswerRunningStage
    target: str
    started_at: str
    done_bytes: int
    total_bytes: int


@dataclass(frozen=True)
class CaCertificatesListAnswerItem(Document):
    """CaCertificatesListAnswerItem."""

    serial: str
    """Serial number."""
    subject: str
    """Subject."""
    names: list[str]
    """Subject alternative names."""
    not_before: str
    """When it begins."""
    not_after: str
    """When it ends."""
    via: str
    """How it came about."""
    key_version: int
    """Key of the CA that signed it."""
    status: CaCertificatesListAnswerItemStatus
    """What it is worth now."""
    revoked_at: Optional[str] = None
    """When it was revoked."""
    revocation_reason: Optional[str] = None
    """Why it was revoked."""
    certificate: Optional[str] = None
    """The certificate; only where one is asked for."""


@dataclass(frozen=True)
class CaCsrAnswer(Document):
    """CaCsrAnswer."""

    csr: str
    """PKCS#10 certification request, PEM."""


@dataclass(frozen=True)
class CaImportCertRequest(Document):
    """CaImportCertRequest."""

    certificate: str
    """PEM: the certificate of the CA first, then those above it."""


@dataclass(frozen=True)
class CaRenewAnswer(Document):
    """CaRenewAnswer."""

    ca_cert: str
    """The new certificate of the CA."""
    key_version: int
    """How often it got a key."""
    not_after: str
    """When the certificate ends."""


@dataclass(frozen=True)
class CaRevokeRequest(Document):
    """CaRevokeRequest."""

    serial: str
    """Serial number of the certificate, hexadecimal."""
    reason: Optional[CaRevokeRequestReason] = None
    """Why (RFC 5280 section 5.3.1)."""


@dataclass(frozen=True)
class CaSignCsrAnswer(Document):
    """CaSignCsrAnswer."""

    certificate: str
    """The certificate."""
    chain: str
    """Those of the CA and of what is above it."""
    serial: str
    """Its serial number."""
    not_after: str
    """When it ends."""


@dataclass(frozen=True)
class CaSignCsrRequest(Document):
    """CaSignCsrRequest."""

    csr: str
    """PKCS#10 certification request, PEM."""
    ttl: Optional[str] = None
    """Life of the certificate; default est/ttl of the CA."""
    usages: Optional[list[CaSignCsrRequestUsagesItem]] = None
    """What the certificate is for."""


@dataclass(frozen=True)
class CryptoFunctionsRandomBytesAnswer(Document):
    """CryptoFunctionsRandomBytesAnswer."""

    bytes: str = field(repr=False)
    """The octets in the format asked for."""


@dataclass(frozen=True)
class CryptoFunctionsRandomBytesRequest(Document):
    """CryptoFunctionsRandomBytesRequest."""

    bytes: Optional[int] = None
    """How many octets."""
    format: Optional[CryptoFunctionsRandomBytesRequestFormat] = None
    """How they are written."""


@dataclass(frozen=True)
class HealthShowAnswer(Document):
    """HealthShowAnswer."""

    status: HealthShowAnswerStatus
    """degraded: requests are served, and a person should act; down: some requests cannot be served."""


@dataclass(frozen=True)
class HsmShowAnswer(Document):
    """HsmShowAnswer."""

    tokens: list[HsmShowAnswerTokensItem]
    """The configured tokens."""


@dataclass(frozen=True)
class HsmShowAnswerTokensItem(Document):
    """HsmShowAnswerTokensItem."""

    name: str
    """Name of the token in the configuration."""
    module: str
    """Path of the PKCS#11 module."""
    label: str
    """Label of the token."""
    serial: str
    """Serial number of the token."""
    manufacturer: str
    """Manufacturer of the token."""
    model: str
    """Model of the token."""
    state: HsmShowAnswerTokensItemState
    """Whether it works. `damaged`: its own keys are missing. A refused PIN is not tried again."""
    key_types: list[str]
    """Key types that the token supports."""
    mechanisms: list[str]
    """Mechanisms of the token."""
    wrapping_key: HsmShowAnswerTokensItemWrappingKey
    """The key that wraps all others, and its last rotation."""
    loaded_keys: int
    """Keys loaded now."""
    sessions: HsmShowAnswerTokensItemSessions
    """Sessions of the answering worker, counted recently."""
    latencies: dict[str, HsmShowAnswerTokensItemLatenciesValue]
    """Time of recent calls by operation."""
    reason: Optional[str] = None
    """Why it is not up, and how to correct it."""


@dataclass(frozen=True)
class HsmShowAnswerTokensItemLatenciesValue(Document):
    """HsmShowAnswerTokensItemLatenciesValue."""

    count: int
    """Calls that were measured."""
    p50: float
    """Median in microseconds."""
    p99: float
    """99th percentile in microseconds."""
    unit: HsmShowAnswerTokensItemLatenciesValueUnit
    """Of both."""


@dataclass(frozen=True)
class HsmShowAnswerTokensItemSessions(Document):
    """Sessions of the answering worker, counted recently."""

    size: int
    """Sessions that may be open."""
    busy: int
    """Sessions in use."""
    waiting: int
    """Calls that wait for a session."""


@dataclass(frozen=True)
class HsmShowAnswerTokensItemWrappingKey(Document):
    """The key that wraps all others, and its last rotation."""

    number: int
    """Number of the wrapping key in use; each rotation makes the next."""
    state: HsmShowAnswerTokensItemWrappingKeyState
    """`rewrapping`: keys are being rewrapped. `incomplete`: some could not be, so the old wrapping key is kept;

    every start tries again.
    """
    done: int
    """Keys rewrapped by the last rotation."""
    total: int
    """Keys to rewrap, as counted so far."""
    failed: int
    """Keys that could not be rewrapped; system:logs names them."""
    started: Optional[str] = None
    """When the last rotation began."""
    finished: Optional[str] = None
    """When it ended."""


@dataclass(frozen=True)
class KeystoreImportOpenpgpAnswer(Document):
    """KeystoreImportOpenpgpAnswer."""

    name: str
    """Name of the new transit key."""
    cipher: str
    """What the key in the block is."""
    fingerprints: list[str]
    """Of the primary key first, then of its subkeys."""
    key_version: int
    """Its one version."""


@dataclass(frozen=True)
class KeystoreImportOpenpgpRequest(Document):
    """KeystoreImportOpenpgpRequest."""

    name: str
    """Name of the new transit key."""
    openpgp: str
    """Public key block with one certificate: ASCII armor, or base64 of the packets."""


@dataclass(frozen=True)
class OidcExplainAnswer(Document):
    """OidcExplainAnswer."""

    outcome: str
    """signed-in, or the code of the refusal."""
    explanation: str
    """The same in a sentence."""
    role_claim: str
    """Claim that roles are matched with."""
    roles: list[OidcExplainAnswerRolesItem]
    """Every role of the service."""
    policies: list[str]
    """What the sign-in gets."""
    unknown_policies: list[str]
    """Named by a granted role, and not there: they grant nothing."""
    notes: list[str]
    """What else to know, in sentences."""
    role_claim_values: Optional[int] = None
    """How many values it has; absent when it is missing."""
    username: Optional[str] = None
    """As mapped from the claims."""
    fullname: Optional[str] = None
    """As mapped from the claims."""
    login: Optional[OidcExplainAnswerLogin] = None
    """The failed sign-in that was asked for."""


@dataclass(frozen=True)
class OidcExplainAnswerLogin(Document):
    """The failed sign-in that was asked for."""

    stage: str
    """Where it failed."""
    code: str
    """The error code."""
    reason: str
    """Why, in one word."""
    occurred_at: str
    """When."""
    hint: Optional[str] = None
    """What to do about it."""


@dataclass(frozen=True)
class OidcExplainAnswerRolesItem(Document):
    """OidcExplainAnswerRolesItem."""

    name: str
    """Name of the role."""
    matches: bool
    """Whether the role claim has its name."""
    grants: bool
    """Whether it gives its policies."""
    missing_claims: list[str]
    """Required claims that are not there."""
    reason: str
    """Why."""


@dataclass(frozen=True)
class OidcExplainRequest(Document):
    """OidcExplainRequest."""

    claims: Optional[dict[str, Any]] = field(default=None, repr=False)
    """Claims as the provider sends them."""
    login: Optional[str] = None
    """Reference of a failed sign-in, as shown on its page."""


@dataclass(frozen=True)
class OidcLoginAnswer(Document):
    """OidcLoginAnswer."""

    login_url: str
    """Where the person signs in."""
    user_code: str
    """What the person compares there."""
    poll_token: str = field(repr=False)
    """Fetches the token."""
    interval: int
    """Seconds between two attempts to fetch it."""
    expires_in: int
    """Seconds until it is too late."""


@dataclass(frozen=True)
class OidcLoginRequest(Document):
    """OidcLoginRequest."""

    tenant: str
    """Name of the tenant."""
    service: str
    """Name of the OIDC service."""


@dataclass(frozen=True)
class OidcRole(Document):
    """OidcRole."""

    name: str
    """Name of the OIDC role."""
    required_claims: list[str]
    """Claims without which the role is not given."""
    claim_mappings: dict[str, OidcRoleClaimMappingsValue]
    """Claim to what it tells of the user."""
    oidc_scopes: list[str]
    """Scopes asked for, besides openid."""
    token_policies: list[str]
    """Policies the sign-in gets."""


@dataclass(frozen=True)
class OidcRoleCreation(Document):
    """OidcRoleCreation."""

    name: str
    """Name of the OIDC role."""
    required_claims: Optional[list[str]] = None
    """Claims without which the role is not given."""
    claim_mappings: Optional[dict[str, OidcRoleClaimMappingsValue]] = None
    """Claim to what it tells of the user."""
    oidc_scopes: Optional[list[str]] = None
    """Scopes asked for, besides openid."""
    token_policies: Optional[list[str]] = None
    """Policies the sign-in gets."""


@dataclass(frozen=True)
class OidcRoleMerge(Document):
    """OidcRoleMerge."""

    required_claims: Optional[list[str]] = None
    """Claims without which the role is not given."""
    claim_mappings: Optional[dict[str, OidcRoleClaimMappingsValue]] = None
    """Claim to what it tells of the user."""
    oidc_scopes: Optional[list[str]] = None
    """Scopes asked for, besides openid."""
    token_policies: Optional[list[str]] = None
    """Policies the sign-in gets."""


@dataclass(frozen=True)
class OidcRoleReplacement(Document):
    """OidcRoleReplacement."""

    required_claims: Optional[list[str]] = None
    """Claims without which the role is not given."""
    claim_mappings: Optional[dict[str, OidcRoleClaimMappingsValue]] = None
    """Claim to what it tells of the user."""
    oidc_scopes: Optional[list[str]] = None
    """Scopes asked for, besides openid."""
    token_policies: Optional[list[str]] = None
    """Policies the sign-in gets."""


@dataclass(frozen=True)
class OidcRoleState(Document):
    """OidcRoleState."""

    name: str
    """Name of the OIDC role."""
    required_claims: list[str]
    """Claims without which the role is not given."""
    claim_mappings: dict[str, OidcRoleClaimMappingsValue]
    """Claim to what it tells of the user."""
    oidc_scopes: list[str]
    """Scopes asked for, besides openid."""
    token_policies: list[str]
    """Policies the sign-in gets."""


@dataclass(frozen=True)
class OidcService(Document):
    """OidcService."""

    name: str
    """Name of the OIDC service."""
    discovery_url: str
    """Where the provider's OpenID Connect metadata is."""
    use_root_ca_certs: bool
    """Whether the public CAs are trusted for the provider."""
    client_id: str
    """The id the provider gave this appliance."""
    verbose_logging: bool
    """Write claims of sign-ins into system:logs: while setting up, not in production."""
    role_select: OidcServiceRoleSelect
    """How roles are chosen."""
    allowed_redirect_uris: list[str]
    """Redirect URIs as registered at the provider; the path is /oidc-callback."""
    clock_tolerance: str
    """How far the clocks may differ."""
    session_ttl: str
    """How long a sign-in lasts."""
    display_name: Optional[str] = None
    """What the login page calls it."""
    ca_certs: Optional[str] = None
    """CAs trusted for the provider besides, PEM."""
    token_endpoint_auth_method: Optional[OidcServiceTokenEndpointAuthMethod] = None
    """How the secret is sent; default: as the provider says."""


@dataclass(frozen=True)
class OidcServiceCreation(Document):
    """OidcServiceCreation."""

    name: str
    """Name of the OIDC service."""
    discovery_url: str
    """Where the provider's OpenID Connect metadata is."""
    client_id: str
    """The id the provider gave this appliance."""
    role_select: OidcServiceRoleSelect
    """How roles are chosen."""
    allowed_redirect_uris: list[str]
    """Redirect URIs as registered at the provider; the path is /oidc-callback."""
    display_name: Optional[str] = None
    """What the login page calls it."""
    use_root_ca_certs: Optional[bool] = None
    """Whether the public CAs are trusted for the provider."""
    ca_certs: Optional[str] = None
    """CAs trusted for the provider besides, PEM."""
    client_secret: Optional[str] = field(default=None, repr=False)
    """The secret the provider gave this appliance."""
    verbose_logging: Optional[bool] = None
    """Write claims of sign-ins into system:logs: while setting up, not in production."""
    token_endpoint_auth_method: Optional[OidcServiceTokenEndpointAuthMethod] = None
    """How the secret is sent; default: as the provider says."""
    clock_tolerance: Optional[str] = None
    """How far the clocks may differ."""
    session_ttl: Optional[str] = None
    """How long a sign-in lasts."""


@dataclass(frozen=True)
class OidcServiceMerge(Document):
    """OidcServiceMerge."""

    display_name: Optional[str] = None
    """What the login page calls it."""
    discovery_url: Optional[str] = None
    """Where the provider's OpenID Connect metadata is."""
    use_root_ca_certs: Optional[bool] = None
    """Whether the public CAs are trusted for the provider."""
    ca_certs: Optional[str] = None
    """CAs trusted for the provider besides, PEM."""
    client_id: Optional[str] = None
    """The id the provider gave this appliance."""
    client_secret: Optional[str] = field(default=None, repr=False)
    """The secret the provider gave this appliance."""
    verbose_logging: Optional[bool] = None
    """Write claims of sign-ins into system:logs: while setting up, not in production."""
    role_select: Optional[OidcServiceRoleSelect] = None
    """How roles are chosen."""
    allowed_redirect_uris: Optional[list[str]] = None
    """Redirect URIs as registered at the provider; the path is /oidc-callback."""
    token_endpoint_auth_method: Optional[OidcServiceTokenEndpointAuthMethod] = None
    """How the secret is sent; default: as the provider says."""
    clock_tolerance: Optional[str] = None
    """How far the clocks may differ."""
    session_ttl: Optional[str] = None
    """How long a sign-in lasts."""


@dataclass(frozen=True)
class OidcServiceReplacement(Document):
    """OidcServiceReplacement."""

    discovery_url: str
    """Where the provider's OpenID Connect metadata is."""
    client_id: str
    """The id the provider gave this appliance."""
    role_select: OidcServiceRoleSelect
    """How roles are chosen."""
    allowed_redirect_uris: list[str]
    """Redirect URIs as registered at the provider; the path is /oidc-callback."""
    display_name: Optional[str] = None
    """What the login page calls it."""
    use_root_ca_certs: Optional[bool] = None
    """Whether the public CAs are trusted for the provider."""
    ca_certs: Optional[str] = None
    """CAs trusted for the provider besides, PEM."""
    client_secret: Optional[str] = field(default=None, repr=False)
    """The secret the provider gave this appliance."""
    verbose_logging: Optional[bool] = None
    """Write claims of sign-ins into system:logs: while setting up, not in production."""
    token_endpoint_auth_method: Optional[OidcServiceTokenEndpointAuthMethod] = None
    """How the secret is sent; default: as the provider says."""
    clock_tolerance: Optional[str] = None
    """How far the clocks may differ."""
    session_ttl: Optional[str] = None
    """How long a sign-in lasts."""


@dataclass(frozen=True)
class OidcServiceRoleSelect(Document):
    """How roles are chosen."""

    role_claim: str
    """Claim whose values are matched against the names of roles; a JSON pointer reaches inside."""


@dataclass(frozen=True)
class OidcServiceState(Document):
    """OidcServiceState."""

    name: str
    """Name of the OIDC service."""
    discovery_url: str
    """Where the provider's OpenID Connect metadata is."""
    use_root_ca_certs: bool
    """Whether the public CAs are trusted for the provider."""
    client_id: str
    """The id the provider gave this appliance."""
    verbose_logging: bool
    """Write claims of sign-ins into system:logs: while setting up, not in production."""
    role_select: OidcServiceRoleSelect
    """How roles are chosen."""
    allowed_redirect_uris: list[str]
    """Redirect URIs as registered at the provider; the path is /oidc-callback."""
    clock_tolerance: str
    """How far the clocks may differ."""
    session_ttl: str
    """How long a sign-in lasts."""
    notices: list[str]
    """What an administrator should know, in sentences."""
    client_secret_set: bool
    """Whether the secret is set; its value is never answered."""
    display_name: Optional[str] = None
    """What the login page calls it."""
    ca_certs: Optional[str] = None
    """CAs trusted for the provider besides, PEM."""
    token_endpoint_auth_method: Optional[OidcServiceTokenEndpointAuthMethod] = None
    """How the secret is sent; default: as the provider says."""


@dataclass(frozen=True)
class OidcTestAnswer(Document):
    """OidcTestAnswer."""

    usable: bool
    """Whether sign-ins can work."""
    findings: list[OidcTestAnswerFindingsItem]
    """What is wrong, errors first."""
    issuer: Optional[str] = None
    """Issuer in the metadata."""
    authorization_endpoint: Optional[str] = None
    """Where users sign in."""
    token_endpoint: Optional[str] = None
    """Where codes are exchanged."""
    algorithms: Optional[list[str]] = None
    """Signature algorithms both sides know."""
    pkce: Optional[OidcTestAnswerPkce] = None
    """Proof key for code exchange (RFC 7636)."""
    iss_parameter: Optional[bool] = None
    """Whether the provider names itself in its redirects (RFC 9207)."""
    token_endpoint_auth_method: Optional[str] = None
    """How the secret is sent."""
    client_credentials: Optional[OidcTestAnswerClientCredentials] = None
    """What the token endpoint says to client-id and client-secret, tried with a code that does not exist."""
    redirect_uris: Optional[list[OidcTestAnswerRedirectUrisItem]] = None
    """The redirect URIs."""
    keys: Optional[list[OidcTestAnswerKeysItem]] = None
    """Keys of the provider."""
    directory_host: Optional[str] = None
    """Host of the directory API that answers memberships."""
    certificate_chain: Optional[list[OidcTestAnswerCertificateChainItem]] = None
    """TLS certificates of the provider."""
    clock_difference_seconds: Optional[float] = None
    """Seconds the provider's clock is ahead of the appliance's, by its Date header."""
    scopes: Optional[list[str]] = None
    """Scopes a sign-in asks for."""


@dataclass(frozen=True)
class OidcTestAnswerCertificateChainItem(Document):
    """OidcTestAnswerCertificateChainItem."""

    subject: str
    """Subject."""
    issuer: str
    """Issuer."""
    not_after: str
    """When it ends."""


@dataclass(frozen=True)
class OidcTestAnswerFindingsItem(Document):
    """OidcTestAnswerFindingsItem."""

    level: OidcTestAnswerFindingsItemLevel
    """Whether sign-ins fail because of it."""
    message: str
    """What is wrong."""
    fix: Optional[str] = None
    """What to do about it."""


@dataclass(frozen=True)
class OidcTestAnswerKeysItem(Document):
    """OidcTestAnswerKeysItem."""

    kty: str
    """Key type."""
    kid: Optional[str] = None
    """Key id."""
    alg: Optional[str] = None
    """Algorithm."""
    use: Optional[str] = None
    """What for."""


@dataclass(frozen=True)
class OidcTestAnswerPkce(Document):
    """Proof key for code exchange (RFC 7636)."""

    method: OidcTestAnswerPkceMethod
    """Always sent."""
    listed: bool
    """Whether the provider promises to check it."""


@dataclass(frozen=True)
class OidcTestAnswerRedirectUrisItem(Document):
    """OidcTestAnswerRedirectUrisItem."""

    uri: str
    """One of allowed-redirect-uris."""
    registered: OidcTestAnswerRedirectUrisItemRegistered
    """Whether the provider knows it."""


@dataclass(frozen=True)
class OidcTestRequest(Document):
    """OidcTestRequest."""


@dataclass(frozen=True)
class Policy(Document):
    """Policy."""

    name: str
    """Name of the policy."""
    description: str
    """What the policy is for."""
    rest_api: PolicyRestApi
    """What may be done over this API."""


@dataclass(frozen=True)
class PolicyCheckAnswer(Document):
    """PolicyCheckAnswer."""

    allowed: bool
    """Whether the request would not be refused with 403."""
    decided_by: PolicyCheckAnswerDecidedBy
    """Whose policies decided, since both must allow; `service`: what it asks of every caller there."""
    restricted: bool
    """Whether rules limit values of fields or hide fields there."""
    why: str
    """The decision in words."""
    rule: Optional[str] = None
    """Path of the rule that decided."""
    policy: Optional[str] = None
    """Policy that has the rule; absent: no rule decided."""


@dataclass(frozen=True)
class PolicyCheckRequest(Document):
    """PolicyCheckRequest."""

    path: str
    """The path of a request."""
    operation: PolicyCheckRequestOperation
    """What would be done there."""
    accessor: Optional[str] = None
    """Accessor of the token meant; default: the own one."""
    policies: Optional[list[str]] = None
    """Or the policies of a token that need not exist."""


@dataclass(frozen=True)
class PolicyCreation(Document):
    """PolicyCreation."""

    name: str
    """Name of the policy."""
    description: Optional[str] = None
    """What the policy is for."""
    rest_api: Optional[PolicyCreationRestApi] = None
    """What may be done over this API."""


@dataclass(frozen=True)
class PolicyCreationRestApi(Document):
    """What may be done over this API."""

    rules: Optional[list[PolicyCreationRestApiRulesItem]] = None
    """The most exact rule for a path decides; without one it is refused."""


@dataclass(frozen=True)
class PolicyCreationRestApiRulesItem(Document):
    """PolicyCreationRestApiRulesItem."""

    path: str
    """The paths the rule is about: `*` stands for one segment, `**` at the end for any rest."""
    operations: PolicyRestApiRulesItemOperations
    """What the rule says of each operation."""
    allowed_values: Optional[dict[str, list[PolicyRestApiRulesItemAllowedValuesValueItem]]] = None
    """Name of a field, inside containers `a/b`, to the values a request may give it; one that is left out counts

    with its default, if it has one of its own.
    """
    hide_fields: Optional[list[str]] = None
    """Names of fields left out of answers."""


@dataclass(frozen=True)
class PolicyMerge(Document):
    """PolicyMerge."""

    description: Optional[str] = None
    """What the policy is for."""
    rest_api: Optional[PolicyCreationRestApi] = None
    """What may be done over this API."""


@dataclass(frozen=True)
class PolicyReplacement(Document):
    """PolicyReplacement."""

    description: Optional[str] = None
    """What the policy is for."""
    rest_api: Optional[PolicyCreationRestApi] = None
    """What may be done over this API."""


@dataclass(frozen=True)
class PolicyRestApi(Document):
    """What may be done over this API."""

    rules: list[PolicyRestApiRulesItem]
    """The most exact rule for a path decides; without one it is refused."""


@dataclass(frozen=True)
class PolicyRestApiRulesItem(Document):
    """PolicyRestApiRulesItem."""

    path: str
    """The paths the rule is about: `*` stands for one segment, `**` at the end for any rest."""
    operations: PolicyRestApiRulesItemOperations
    """What the rule says of each operation."""
    allowed_values: dict[str, list[PolicyRestApiRulesItemAllowedValuesValueItem]]
    """Name of a field, inside containers `a/b`, to the values a request may give it; one that is left out counts

    with its default, if it has one of its own.
    """
    hide_fields: list[str]
    """Names of fields left out of answers."""


@dataclass(frozen=True)
class PolicyRestApiRulesItemOperations(Document):
    """What the rule says of each operation."""

    all: Optional[PolicyRestApiRulesItemOperationsAll] = None
    """Whether anything may be done that no other field here says."""
    create: Optional[PolicyRestApiRulesItemOperationsAll] = None
    """Whether entries may be made."""
    read: Optional[PolicyRestApiRulesItemOperationsAll] = None
    """Whether it may be read."""
    update: Optional[PolicyRestApiRulesItemOperationsAll] = None
    """Whether entries may be changed."""
    delete: Optional[PolicyRestApiRulesItemOperationsAll] = None
    """Whether entries may be deleted."""
    execute: Optional[PolicyRestApiRulesItemOperationsAll] = None
    """Whether actions may be run."""


@dataclass(frozen=True)
class PolicyState(Document):
    """PolicyState."""

    name: str
    """Name of the policy."""
    description: str
    """What the policy is for."""
    rest_api: PolicyRestApi
    """What may be done over this API."""
    built_in: bool
    """Whether every tenant has it; built-in policies cannot be changed."""
    warnings: Optional[list[str]] = None
    """Rules that no request can meet."""


@dataclass(frozen=True)
class PolicyWithWarnings(Document):
    """PolicyWithWarnings."""

    name: str
    """Name of the policy."""
    description: str
    """What the policy is for."""
    rest_api: PolicyRestApi
    """What may be done over this API."""
    warnings: Optional[list[str]] = None
    """What was accepted and is hardly meant so."""


@dataclass(frozen=True)
class PostV1OidcLoginPollAnswer(Document):
    """PostV1OidcLoginPollAnswer."""

    token: str = field(repr=False)
    """The token; it is shown this once."""
    accessor: str
    """Stands for the token where the token itself must not be seen."""
    policies: list[str]
    """What it may do."""
    expires_in: int
    """Seconds until it ends."""
    expires: str
    """When it ends."""
    creation_time: str
    """When it was made."""


@dataclass(frozen=True)
class PostV1OidcLoginPollRequest(Document):
    """PostV1OidcLoginPollRequest."""

    poll_token: str = field(repr=False)
    """As the request for a sign-in was answered."""


@dataclass(frozen=True)
class Problem(Document):
    """Why a request was refused (RFC 9457)."""

    type: str
    """`urn:keystore:error:` and the code."""
    title: str
    """The code in words."""
    status: int
    """The HTTP status."""
    code: str
    """The contract: kebab-case, never reused; see `x-errors`."""
    request_id: str
    """Finds the request in logs."""
    errors: list[ProblemErrorsItem]
    """One item for each thing that is wrong."""
    detail: Optional[str] = None
    """For people: field, rule and fix. Absent from 500 up."""


@dataclass(frozen=True)
class ProblemErrorsItem(Document):
    """ProblemErrorsItem."""

    error_message: str
    """What is wrong."""
    error_info: Optional[str] = None
    """Where: the path of the field."""


@dataclass(frozen=True)
class SystemBackupRequest(Document):
    """SystemBackupRequest."""

    passphrase: Optional[str] = field(default=None, repr=False)
    """Opens the backup again; 12 characters or more."""
    recipients: Optional[list[str]] = None
    """age recipients, in place of a passphrase: all age1… or all age1pq1…."""


@dataclass(frozen=True)
class SystemOperateRequest(Document):
    """SystemOperateRequest."""

    operation: SystemOperateRequestOperation
    """What to do."""


@dataclass(frozen=True)
class SystemRotateWrappingKeyAnswer(Document):
    """SystemRotateWrappingKeyAnswer."""

    number: int
    """Number of the wrapping key in use; each rotation makes the next."""
    state: HsmShowAnswerTokensItemWrappingKeyState
    """`rewrapping`: keys are being rewrapped. `incomplete`: some could not be, so the old wrapping key is kept;

    every start tries again.
    """
    done: int
    """Keys rewrapped by the last rotation."""
    total: int
    """Keys to rewrap, as counted so far."""
    failed: int
    """Keys that could not be rewrapped; system:logs names them."""
    started: Optional[str] = None
    """When the last rotation began."""
    finished: Optional[str] = None
    """When it ended."""


@dataclass(frozen=True)
class SystemRotateWrappingKeyRequest(Document):
    """SystemRotateWrappingKeyRequest."""

    token: Optional[str] = None
    """Name of the token in the configuration; needed where there are several."""


@dataclass(frozen=True)
class SystemUnsealRequest(Document):
    """SystemUnsealRequest."""

    pin: Optional[str] = field(default=None, repr=False)
    """The user PIN of every configured token."""
    pins: Optional[dict[str, str]] = field(default=None, repr=False)
    """PINs by name of the token, where they differ."""


@dataclass(frozen=True)
class Tenant(Document):
    """Tenant."""

    name: str
    """Name of the tenant."""
    descriptive_name: str
    """A name for people."""
    kind: TenantKind
    """What the tenant is; there is one system tenant."""
    policies: Optional[list[str]] = None
    """What the whole tenant may do at most; default by kind."""


@dataclass(frozen=True)
class TenantCreation(Document):
    """TenantCreation."""

    name: str
    """Name of the tenant."""
    descriptive_name: Optional[str] = None
    """A name for people."""
    kind: Optional[TenantKind] = None
    """What the tenant is; there is one system tenant."""
    policies: Optional[list[str]] = None
    """What the whole tenant may do at most; default by kind."""


@dataclass(frozen=True)
class TenantMerge(Document):
    """TenantMerge."""

    descriptive_name: Optional[str] = None
    """A name for people."""
    kind: Optional[TenantKind] = None
    """What the tenant is; there is one system tenant."""
    policies: Optional[list[str]] = None
    """What the whole tenant may do at most; default by kind."""


@dataclass(frozen=True)
class TenantReplacement(Document):
    """TenantReplacement."""

    descriptive_name: Optional[str] = None
    """A name for people."""
    kind: Optional[TenantKind] = None
    """What the tenant is; there is one system tenant."""
    policies: Optional[list[str]] = None
    """What the whole tenant may do at most; default by kind."""


@dataclass(frozen=True)
class TenantState(Document):
    """TenantState."""

    name: str
    """Name of the tenant."""
    descriptive_name: str
    """A name for people."""
    kind: TenantKind
    """What the tenant is; there is one system tenant."""
    uuid: str
    """Stands for the tenant in EST paths."""
    creation_time: str
    """When the tenant was made."""
    root_token_issued: bool
    """Whether the one root token of the tenant was made."""
    policies: Optional[list[str]] = None
    """What the whole tenant may do at most; default by kind."""


@dataclass(frozen=True)
class Tlsca(Document):
    """Tlsca."""

    name: str
    """Name of the TLS CA."""
    ttl: str
    """Life of the CA certificate."""
    deletion_allowed: bool
    """Must be true before the CA can be deleted while certificates of it are valid."""
    est: TlscaEst
    """Enrolment of devices."""
    cert_key_type: Optional[TlscaCertKeyType] = None
    """Key of the CA; default ecdsa."""
    cert_key_curve: Optional[TlscaCertKeyCurve] = None
    """Curve of an ecdsa key; default secp256r1."""
    cert_key_bits: Optional[TlscaCertKeyBits] = None
    """Size of an rsa key; default 3072."""
    subject: Optional[str] = None
    """Subject of the CA certificate; default CN=<name>."""
    issuing_ca: Optional[str] = None
    """CA here that signs this one; without it the CA is a root."""
    ca_cert: Optional[str] = None
    """Certificate of a CA elsewhere: this one is then only trusted, and issues nothing."""


@dataclass(frozen=True)
class TlscaCreation(Document):
    """TlscaCreation."""

    name: str
    """Name of the TLS CA."""
    cert_key_type: Optional[TlscaCertKeyType] = None
    """Key of the CA; default ecdsa."""
    cert_key_curve: Optional[TlscaCertKeyCurve] = None
    """Curve of an ecdsa key; default secp256r1."""
    cert_key_bits: Optional[TlscaCertKeyBits] = None
    """Size of an rsa key; default 3072."""
    subject: Optional[str] = None
    """Subject of the CA certificate; default CN=<name>."""
    ttl: Optional[str] = None
    """Life of the CA certificate."""
    issuing_ca: Optional[str] = None
    """CA here that signs this one; without it the CA is a root."""
    ca_cert: Optional[str] = None
    """Certificate of a CA elsewhere: this one is then only trusted, and issues nothing."""
    deletion_allowed: Optional[bool] = None
    """Must be true before the CA can be deleted while certificates of it are valid."""
    est: Optional[TlscaCreationEst] = None
    """Enrolment of devices."""


@dataclass(frozen=True)
class TlscaCreationEst(Document):
    """Enrolment of devices."""

    enabled: Optional[bool] = None
    """Whether devices may enrol here; otherwise EST answers 404."""
    initial_enroll_secret: Optional[str] = field(default=None, repr=False)
    """Shared secret of first enrolment, the password of HTTP Basic: 6 octets or more in UTF-8, no control

    characters.
    """
    initial_enroll_trust_ca: Optional[str] = None
    """CA whose certificates devices may show for first enrolment."""
    allowed_domains: Optional[list[str]] = None
    """Domains that certificates may name; none: nothing is allowed."""
    allow_subdomains: Optional[bool] = None
    """Whether names below the domains are allowed."""
    allow_bare_domains: Optional[bool] = None
    """Whether the domains themselves are allowed."""
    allow_ip_sans: Optional[bool] = None
    """Whether certificates may name IP addresses."""
    ttl: Optional[str] = None
    """Life of issued certificates, never past the CA's own."""
    allow_reenroll_with_issued_cert: Optional[bool] = None
    """Whether a device may renew with the certificate it has."""


@dataclass(frozen=True)
class TlscaEst(Document):
    """Enrolment of devices."""

    enabled: bool
    """Whether devices may enrol here; otherwise EST answers 404."""
    allowed_domains: list[str]
    """Domains that certificates may name; none: nothing is allowed."""
    allow_subdomains: bool
    """Whether names below the domains are allowed."""
    allow_bare_domains: bool
    """Whether the domains themselves are allowed."""
    allow_ip_sans: bool
    """Whether certificates may name IP addresses."""
    ttl: str
    """Life of issued certificates, never past the CA's own."""
    allow_reenroll_with_issued_cert: bool
    """Whether a device may renew with the certificate it has."""
    initial_enroll_trust_ca: Optional[str] = None
    """CA whose certificates devices may show for first enrolment."""


@dataclass(frozen=True)
class TlscaMerge(Document):
    """TlscaMerge."""

    cert_key_type: Optional[TlscaCertKeyType] = None
    """Key of the CA; default ecdsa."""
    cert_key_curve: Optional[TlscaCertKeyCurve] = None
    """Curve of an ecdsa key; default secp256r1."""
    cert_key_bits: Optional[TlscaCertKeyBits] = None
    """Size of an rsa key; default 3072."""
    subject: Optional[str] = None
    """Subject of the CA certificate; default CN=<name>."""
    ttl: Optional[str] = None
    """Life of the CA certificate."""
    issuing_ca: Optional[str] = None
    """CA here that signs this one; without it the CA is a root."""
    ca_cert: Optional[str] = None
    """Certificate of a CA elsewhere: this one is then only trusted, and issues nothing."""
    deletion_allowed: Optional[bool] = None
    """Must be true before the CA can be deleted while certificates of it are valid."""
    est: Optional[TlscaCreationEst] = None
    """Enrolment of devices."""


@dataclass(frozen=True)
class TlscaReplacement(Document):
    """TlscaReplacement."""

    cert_key_type: Optional[TlscaCertKeyType] = None
    """Key of the CA; default ecdsa."""
    cert_key_curve: Optional[TlscaCertKeyCurve] = None
    """Curve of an ecdsa key; default secp256r1."""
    cert_key_bits: Optional[TlscaCertKeyBits] = None
    """Size of an rsa key; default 3072."""
    subject: Optional[str] = None
    """Subject of the CA certificate; default CN=<name>."""
    ttl: Optional[str] = None
    """Life of the CA certificate."""
    issuing_ca: Optional[str] = None
    """CA here that signs this one; without it the CA is a root."""
    ca_cert: Optional[str] = None
    """Certificate of a CA elsewhere: this one is then only trusted, and issues nothing."""
    deletion_allowed: Optional[bool] = None
    """Must be true before the CA can be deleted while certificates of it are valid."""
    est: Optional[TlscaCreationEst] = None
    """Enrolment of devices."""


@dataclass(frozen=True)
class TlscaState(Document):
    """TlscaState."""

    name: str
    """Name of the TLS CA."""
    ttl: str
    """Life of the CA certificate."""
    ca_cert: str
    """Certificate of the CA."""
    deletion_allowed: bool
    """Must be true before the CA can be deleted while certificates of it are valid."""
    est: TlscaStateEst
    """What devices need to know."""
    uuid: str
    """Identifies the CA permanently, whatever its name."""
    creation_time: str
    """When it was made."""
    trust_only: bool
    """Whether it is only trusted."""
    chain: str
    """Certificates above it, up to the root."""
    serial: str
    """Serial number of its certificate."""
    not_before: str
    """When its certificate begins."""
    not_after: str
    """When its certificate ends."""
    cert_key_type: Optional[TlscaCertKeyType] = None
    """Key of the CA; default ecdsa."""
    cert_key_curve: Optional[TlscaCertKeyCurve] = None
    """Curve of an ecdsa key; default secp256r1."""
    cert_key_bits: Optional[TlscaCertKeyBits] = None
    """Size of an rsa key; default 3072."""
    subject: Optional[str] = None
    """Subject of the CA certificate; default CN=<name>."""
    issuing_ca: Optional[str] = None
    """CA here that signs this one; without it the CA is a root."""
    key_version: Optional[int] = None
    """How often it got a key; counted on from a deleted CA of the same name whose last revocation list is kept."""
    crl_url: Optional[str] = None
    """Where its revocation list is."""
    ocsp_url: Optional[str] = None
    """Where its OCSP responder is."""


@dataclass(frozen=True)
class TlscaStateEst(Document):
    """What devices need to know."""

    enabled: bool
    """Whether devices may enrol here; otherwise EST answers 404."""
    allowed_domains: list[str]
    """Domains that certificates may name; none: nothing is allowed."""
    allow_subdomains: bool
    """Whether names below the domains are allowed."""
    allow_bare_domains: bool
    """Whether the domains themselves are allowed."""
    allow_ip_sans: bool
    """Whether certificates may name IP addresses."""
    ttl: str
    """Life of issued certificates, never past the CA's own."""
    allow_reenroll_with_issued_cert: bool
    """Whether a device may renew with the certificate it has."""
    https_url: list[str]
    """Base URLs for devices, by host name and by address."""
    initial_enroll_secret_set: bool
    """Whether the secret is set; its value is never answered."""
    initial_enroll_trust_ca: Optional[str] = None
    """CA whose certificates devices may show for first enrolment."""


@dataclass(frozen=True)
class TokenCreateAnswer(Document):
    """TokenCreateAnswer."""

    token: str = field(repr=False)
    """The token; shown this once."""
    accessor: str
    """Stands for the token where the token itself must not be seen."""
    expires_in: int
    """Seconds until it ends."""
    expires: str
    """When it ends, unless it is refreshed."""
    creation_time: str
    """When it was made."""
    renewal_time: str
    """When to refresh it or to log in again: after two thirds of its life."""


@dataclass(frozen=True)
class TokenCreateRequest(Document):
    """TokenCreateRequest."""

    policies: Optional[list[str]] = None
    """Policies of the caller; unless given, all of them."""
    ttl: Optional[str] = None
    """Its life, and what a refresh gives; default 1d."""
    max_ttl: Optional[str] = None
    """Its longest life over all refreshes; default 32d."""
    bound_cidrs: Optional[list[str]] = None
    """Ranges of addresses it works from; default: from anywhere."""


@dataclass(frozen=True)
class TokenCreateRootAnswer(Document):
    """TokenCreateRootAnswer."""

    accessor: str
    """Stands for the token where the token itself must not be seen."""
    token: str = field(repr=False)
    """The token; it is shown this once."""
    creation_time: str
    """When it was made."""


@dataclass(frozen=True)
class TokenCreateRootRequest(Document):
    """TokenCreateRootRequest."""

    name: str
    """Name of the tenant."""


@dataclass(frozen=True)
class TokenInfoAnswer(Document):
    """TokenInfoAnswer."""

    accessor: str
    """Stands for the token where the token itself must not be seen."""
    tenant: str
    """Tenant of the token."""
    user: str
    """Who holds it: a user, an approle, or root."""
    policies: list[str]
    """What it may do, within what its tenant may do."""
    creation_time: str
    """When it was made."""
    expires: Optional[str] = None
    """When it ends; root tokens have no end."""
    expires_in: Optional[int] = None
    """Seconds until then."""
    latest_expires: Optional[str] = None
    """The end that no refresh passes."""
    bound_cidrs: Optional[list[str]] = None
    """Ranges of addresses it works from."""
    parent: Optional[str] = None
    """Accessor of the token that made it and that it ends with."""
    approle: Optional[str] = None
    """Approle it was issued for."""


@dataclass(frozen=True)
class TokenInfoRequest(Document):
    """TokenInfoRequest."""

    token: Optional[str] = field(default=None, repr=False)
    """The token meant."""
    accessor: Optional[str] = None
    """Or its accessor."""


@dataclass(frozen=True)
class TokenRefreshRequest(Document):
    """TokenRefreshRequest."""

    increment: Optional[str] = None
    """How long it shall live from now; unless given, its ttl."""


@dataclass(frozen=True)
class TopicsListAnswerItem(Document):
    """TopicsListAnswerItem."""

    name: str
    """Name of the topic."""


@dataclass(frozen=True)
class TransitKey(Document):
    """TransitKey."""

    name: str
    """Name of the transit key."""
    cipher: str
    """What the key is made of: aes128-gcm96, aes192-gcm96, aes256-gcm96, rsa-2048, rsa-3072, rsa-4096, ed25519,

    ecdsa-p256, ecdsa-p384, ecdsa-p521, ml-dsa-44, ml-dsa-65, ml-dsa-87.
    """
    distribute: TransitKeyDistribute
    """Distribution of the key."""
    exportable: bool
    """Whether export may answer key material."""
    allow_plaintext_backup: bool
    """Whether backup may answer the key in clear."""
    deletion_allowed: bool
    """Must be true before the key can be deleted."""
    derived: bool
    """A key of its own for each context; symmetric ciphers only."""
    convergent_encryption: bool
    """The same plaintext in the same context gives the same ciphertext; derived keys only."""
    min_encryption_version: int
    """Older versions do not encrypt or sign; 0: no restriction."""
    min_decryption_version: int
    """Older versions do not decrypt or verify; 0: no restriction."""
    openpgp_key_usage: list[TransitKeyOpenpgpKeyUsageItem]
    """What an OpenPGP subkey is for."""
    custody: Optional[TransitKeyCustody] = None
    """Where the key lives: as a wrapped blob, or as an object in the token."""
    public_key: Optional[str] = None
    """PEM public key: makes a key that only verifies."""
    auto_rotate: Optional[TransitKeyAutoRotate] = None
    """Rotates the key by itself; a merge cannot remove it, a replacement can."""
    openpgp_user_id: Optional[str] = None
    """Makes the key an OpenPGP primary key with this User ID."""
    openpgp_primary: Optional[str] = None
    """Makes the key an OpenPGP subkey, bound to the primary key of this name."""


@dataclass(frozen=True)
class TransitKeyAutoRotate(Document):
    """Rotates the key by itself; a merge cannot remove it, a replacement can."""

    rotate_after: str
    """Interval after which the key is rotated, again and again."""
    activate_after: Optional[str] = None
    """Delay after a rotation before the new version encrypts."""
    deprecate_after: Optional[str] = None
    """Time after the creation of a newer version when the old one stops encrypting."""
    invalidate_after: Optional[str] = None
    """Time after the creation of a newer version when the old one stops decrypting."""


@dataclass(frozen=True)
class TransitKeyCreation(Document):
    """TransitKeyCreation."""

    name: str
    """Name of the transit key."""
    cipher: Optional[str] = None
    """What the key is made of: aes128-gcm96, aes192-gcm96, aes256-gcm96, rsa-2048, rsa-3072, rsa-4096, ed25519,

    ecdsa-p256, ecdsa-p384, ecdsa-p521, ml-dsa-44, ml-dsa-65, ml-dsa-87.
    """
    distribute: Optional[TransitKeyCreationDistribute] = None
    """Distribution of the key."""
    exportable: Optional[bool] = None
    """Whether export may answer key material."""
    allow_plaintext_backup: Optional[bool] = None
    """Whether backup may answer the key in clear."""
    deletion_allowed: Optional[bool] = None
    """Must be true before the key can be deleted."""
    derived: Optional[bool] = None
    """A key of its own for each context; symmetric ciphers only."""
    convergent_encryption: Optional[bool] = None
    """The same plaintext in the same context gives the same ciphertext; derived keys only."""
    custody: Optional[TransitKeyCustody] = None
    """Where the key lives: as a wrapped blob, or as an object in the token."""
    public_key: Optional[str] = None
    """PEM public key: makes a key that only verifies."""
    min_encryption_version: Optional[int] = None
    """Older versions do not encrypt or sign; 0: no restriction."""
    min_decryption_version: Optional[int] = None
    """Older versions do not decrypt or verify; 0: no restriction."""
    auto_rotate: Optional[TransitKeyAutoRotate] = None
    """Rotates the key by itself; a merge cannot remove it, a replacement can."""
    openpgp_user_id: Optional[str] = None
    """Makes the key an OpenPGP primary key with this User ID."""
    openpgp_primary: Optional[str] = None
    """Makes the key an OpenPGP subkey, bound to the primary key of this name."""
    openpgp_key_usage: Optional[list[TransitKeyOpenpgpKeyUsageItem]] = None
    """What an OpenPGP subkey is for."""


@dataclass(frozen=True)
class TransitKeyCreationDistribute(Document):
    """Distribution of the key."""

    to: Optional[TransitKeyDistributeTo] = None
    """Where the key goes; inherit means all."""


@dataclass(frozen=True)
class TransitKeyDistribute(Document):
    """Distribution of the key."""

    to: TransitKeyDistributeTo
    """Where the key goes; inherit means all."""


@dataclass(frozen=True)
class TransitKeyMerge(Document):
    """TransitKeyMerge."""

    cipher: Optional[str] = None
    """What the key is made of: aes128-gcm96, aes192-gcm96, aes256-gcm96, rsa-2048, rsa-3072, rsa-4096, ed25519,

    ecdsa-p256, ecdsa-p384, ecdsa-p521, ml-dsa-44, ml-dsa-65, ml-dsa-87.
    """
    distribute: Optional[TransitKeyCreationDistribute] = None
    """Distribution of the key."""
    exportable: Optional[bool] = None
    """Whether export may answer key material."""
    allow_plaintext_backup: Optional[bool] = None
    """Whether backup may answer the key in clear."""
    deletion_allowed: Optional[bool] = None
    """Must be true before the key can be deleted."""
    derived: Optional[bool] = None
    """A key of its own for each context; symmetric ciphers only."""
    convergent_encryption: Optional[bool] = None
    """The same plaintext in the same context gives the same ciphertext; derived keys only."""
    custody: Optional[TransitKeyCustody] = None
    """Where the key lives: as a wrapped blob, or as an object in the token."""
    public_key: Optional[str] = None
    """PEM public key: makes a key that only verifies."""
    min_encryption_version: Optional[int] = None
    """Older versions do not encrypt or sign; 0: no restriction."""
    min_decryption_version: Optional[int] = None
    """Older versions do not decrypt or verify; 0: no restriction."""
    auto_rotate: Optional[TransitKeyAutoRotate] = None
    """Rotates the key by itself; a merge cannot remove it, a replacement can."""
    openpgp_user_id: Optional[str] = None
    """Makes the key an OpenPGP primary key with this User ID."""
    openpgp_primary: Optional[str] = None
    """Makes the key an OpenPGP subkey, bound to the primary key of this name."""
    openpgp_key_usage: Optional[list[TransitKeyOpenpgpKeyUsageItem]] = None
    """What an OpenPGP subkey is for."""


@dataclass(frozen=True)
class TransitKeyReplacement(Document):
    """TransitKeyReplacement."""

    cipher: Optional[str] = None
    """What the key is made of: aes128-gcm96, aes192-gcm96, aes256-gcm96, rsa-2048, rsa-3072, rsa-4096, ed25519,

    ecdsa-p256, ecdsa-p384, ecdsa-p521, ml-dsa-44, ml-dsa-65, ml-dsa-87.
    """
    distribute: Optional[TransitKeyCreationDistribute] = None
    """Distribution of the key."""
    exportable: Optional[bool] = None
    """Whether export may answer key material."""
    allow_plaintext_backup: Optional[bool] = None
    """Whether backup may answer the key in clear."""
    deletion_allowed: Optional[bool] = None
    """Must be true before the key can be deleted."""
    derived: Optional[bool] = None
    """A key of its own for each context; symmetric ciphers only."""
    convergent_encryption: Optional[bool] = None
    """The same plaintext in the same context gives the same ciphertext; derived keys only."""
    custody: Optional[TransitKeyCustody] = None
    """Where the key lives: as a wrapped blob, or as an object in the token."""
    public_key: Optional[str] = None
    """PEM public key: makes a key that only verifies."""
    min_encryption_version: Optional[int] = None
    """Older versions do not encrypt or sign; 0: no restriction."""
    min_decryption_version: Optional[int] = None
    """Older versions do not decrypt or verify; 0: no restriction."""
    auto_rotate: Optional[TransitKeyAutoRotate] = None
    """Rotates the key by itself; a merge cannot remove it, a replacement can."""
    openpgp_user_id: Optional[str] = None
    """Makes the key an OpenPGP primary key with this User ID."""
    openpgp_primary: Optional[str] = None
    """Makes the key an OpenPGP subkey, bound to the primary key of this name."""
    openpgp_key_usage: Optional[list[TransitKeyOpenpgpKeyUsageItem]] = None
    """What an OpenPGP subkey is for."""


@dataclass(frozen=True)
class TransitKeyState(Document):
    """TransitKeyState."""

    name: str
    """Name of the transit key."""
    cipher: str
    """What the key is made of: aes128-gcm96, aes192-gcm96, aes256-gcm96, rsa-2048, rsa-3072, rsa-4096, ed25519,

    ecdsa-p256, ecdsa-p384, ecdsa-p521, ml-dsa-44, ml-dsa-65, ml-dsa-87.
    """
    distribute: TransitKeyDistribute
    """Distribution of the key."""
    exportable: bool
    """Whether export may answer key material."""
    allow_plaintext_backup: bool
    """Whether backup may answer the key in clear."""
    deletion_allowed: bool
    """Must be true before the key can be deleted."""
    derived: bool
    """A key of its own for each context; symmetric ciphers only."""
    convergent_encryption: bool
    """The same plaintext in the same context gives the same ciphertext; derived keys only."""
    min_encryption_version: int
    """Older versions do not encrypt or sign; 0: no restriction."""
    min_decryption_version: int
    """Older versions do not decrypt or verify; 0: no restriction."""
    openpgp_key_usage: list[TransitKeyOpenpgpKeyUsageItem]
    """What an OpenPGP subkey is for."""
    distribution_status: TransitKeyStateDistributionStatus
    """Distribution as it is."""
    default_encryption_version: int
    """0: the newest version; else the one in use while the newest waits for activate-after."""
    latest_version: int
    """Newest version."""
    oldest_version: int
    """Oldest version that was not trimmed."""
    creation_time: str
    """When the key was made."""
    supports_encryption: bool
    """Whether keys of this cipher encrypt."""
    supports_decryption: bool
    """Whether keys of this cipher decrypt."""
    supports_derivation: bool
    """Whether keys of this cipher can be derived per context."""
    supports_signing: bool
    """Whether keys of this cipher sign."""
    keys: dict[str, str]
    """Per version: creation in microseconds since 1970, or the public key."""
    usage: dict[str, TransitKeyStateUsageValue]
    """Per version: how often it was used."""
    custody: Optional[TransitKeyCustody] = None
    """Where the key lives: as a wrapped blob, or as an object in the token."""
    public_key: Optional[str] = None
    """PEM public key: makes a key that only verifies."""
    auto_rotate: Optional[TransitKeyAutoRotate] = None
    """Rotates the key by itself; a merge cannot remove it, a replacement can."""
    openpgp_user_id: Optional[str] = None
    """Makes the key an OpenPGP primary key with this User ID."""
    openpgp_primary: Optional[str] = None
    """Makes the key an OpenPGP subkey, bound to the primary key of this name."""


@dataclass(frozen=True)
class TransitKeyStateDistributionStatus(Document):
    """Distribution as it is."""

    to: TransitKeyStateDistributionStatusTo
    """Where the key is."""


@dataclass(frozen=True)
class TransitKeyStateUsageValue(Document):
    """TransitKeyStateUsageValue."""

    uses: int
    """Encryptions, signatures and data keys made with this version."""
    uses_at_most: int
    """Never below the true count, also after a crash; the limit of 2^32 is held against it."""
    not_rewrapped: Optional[int] = None
    """Values made with this version that rewrap has not moved away, as far as counted."""
    last_used: Optional[str] = None
    """When this version was last used."""


@dataclass(frozen=True)
class TransitKeysBackupAnswer(Document):
    """TransitKeysBackupAnswer."""

    key: str = field(repr=False)
    """Definition and key material in clear, for restore."""
    key_version: int
    """Latest version in the backup."""


@dataclass(frozen=True)
class TransitKeysDecryptAnswer(Document):
    """TransitKeysDecryptAnswer."""

    plaintext: Optional[str] = field(default=None, repr=False)
    """The plaintext: base64, or raw UTF-8 with base64-encoded false."""
    key_version: Optional[int] = None
    """Version of the key that was used."""
    batch_results: Optional[list[TransitKeysDecryptAnswerBatchResultsItem]] = field(default=None, repr=False)
    """Of a batch: one result for each request, in order."""
    failed: Optional[int] = None
    """Of a batch: how many failed."""


@dataclass(frozen=True)
class TransitKeysDecryptAnswerBatchResultsItem(Document):
    """TransitKeysDecryptAnswerBatchResultsItem."""

    plaintext: Optional[str] = None
    """The plaintext: base64, or raw UTF-8 with base64-encoded false."""
    key_version: Optional[int] = None
    """Version of the key that was used."""
    reference: Optional[str] = None
    """Echoed from the request."""
    status: Optional[int] = None
    """Of an item that failed: the HTTP status it would have had."""
    code: Optional[str] = None
    """Of an item that failed: the error code."""
    error_message: Optional[str] = None
    """Of an item that failed: why."""


@dataclass(frozen=True)
class TransitKeysDecryptRequest(Document):
    """TransitKeysDecryptRequest."""

    ciphertext: Optional[str] = field(default=None, repr=False)
    """What encrypt answered."""
    base64_encoded: Optional[bool] = None
    """Default true; false: the text is raw UTF-8."""
    context: Optional[str] = field(default=None, repr=False)
    """Required for derived keys: the same text again to decrypt."""
    associated_data: Optional[str] = field(default=None, repr=False)
    """Authenticated with the ciphertext, not part of it: the same again to decrypt."""
    batch_input: Optional[list[dict[str, Any]]] = field(default=None, repr=False)
    """1 to 1,000 requests, each with the fields of a single one and optionally `reference`."""


@dataclass(frozen=True)
class TransitKeysEncryptAnswer(Document):
    """TransitKeysEncryptAnswer."""

    ciphertext: Optional[str] = None
    """The ciphertext."""
    key_version: Optional[int] = None
    """Version of the key that was used."""
    batch_results: Optional[list[TransitKeysEncryptAnswerBatchResultsItem]] = field(default=None, repr=False)
    """Of a batch: one result for each request, in order."""
    failed: Optional[int] = None
    """Of a batch: how many failed."""


@dataclass(frozen=True)
class TransitKeysEncryptAnswerBatchResultsItem(Document):
    """TransitKeysEncryptAnswerBatchResultsItem."""

    ciphertext: Optional[str] = None
    """The ciphertext."""
    key_version: Optional[int] = None
    """Version of the key that was used."""
    reference: Optional[str] = None
    """Echoed from the request."""
    status: Optional[int] = None
    """Of an item that failed: the HTTP status it would have had."""
    code: Optional[str] = None
    """Of an item that failed: the error code."""
    error_message: Optional[str] = None
    """Of an item that failed: why."""


@dataclass(frozen=True)
class TransitKeysEncryptRequest(Document):
    """TransitKeysEncryptRequest."""

    plaintext: Optional[str] = field(default=None, repr=False)
    """What to encrypt: base64, or raw UTF-8 with base64-encoded false."""
    base64_encoded: Optional[bool] = None
    """Default true; false: the text is raw UTF-8."""
    context: Optional[str] = field(default=None, repr=False)
    """Required for derived keys: the same text again to decrypt."""
    associated_data: Optional[str] = field(default=None, repr=False)
    """Authenticated with the ciphertext, not part of it: the same again to decrypt."""
    key_version: Optional[int] = None
    """Version to use; default: the version in use."""
    batch_input: Optional[list[dict[str, Any]]] = field(default=None, repr=False)
    """1 to 1,000 requests, each with the fields of a single one and optionally `reference`."""


@dataclass(frozen=True)
class TransitKeysExportAnswer(Document):
    """TransitKeysExportAnswer."""

    keys: TransitKeysExportAnswerKeys = field(repr=False)
    """Version to key material; with format openpgp a list of blocks."""
    key_version: int
    """Newest version in the answer."""


@dataclass(frozen=True)
class TransitKeysExportAnswerKeysOption2Item(Document):
    """TransitKeysExportAnswerKeysOption2Item."""

    version: int
    """Version of the key."""
    value: str
    """OpenPGP private key block."""


@dataclass(frozen=True)
class TransitKeysExportOpenpgpPublicAnswer(Document):
    """TransitKeysExportOpenpgpPublicAnswer."""

    keys: list[TransitKeysExportOpenpgpPublicAnswerKeysItem]
    """One item with the block asked for."""
    key_version: int
    """Version in the answer; of several the newest."""


@dataclass(frozen=True)
class TransitKeysExportOpenpgpPublicAnswerKeysItem(Document):
    """TransitKeysExportOpenpgpPublicAnswerKeysItem."""

    version: int
    """Version of the key; of several the newest."""
    keyblock: str
    """Public key block; of a subkey with its primary key."""


@dataclass(frozen=True)
class TransitKeysExportOpenpgpPublicRequest(Document):
    """TransitKeysExportOpenpgpPublicRequest."""

    version: Optional[TransitKeysExportOpenpgpPublicRequestVersion] = None
    """Version to export; all: every version, in one block."""
    subkeys: Optional[bool] = None
    """Of a primary key: also the subkeys that these versions bound, in all their versions."""


@dataclass(frozen=True)
class TransitKeysExportOpenpgpRevocationAnswer(Document):
    """TransitKeysExportOpenpgpRevocationAnswer."""

    revocation: str = field(repr=False)
    """Revocation certificate."""
    key_version: int
    """Version that it revokes."""


@dataclass(frozen=True)
class TransitKeysExportOpenpgpRevocationRequest(Document):
    """TransitKeysExportOpenpgpRevocationRequest."""

    version: Optional[TransitKeysExportRequestVersion] = None
    """Version to revoke."""
    reason: Optional[TransitKeysExportOpenpgpRevocationRequestReason] = None
    """Why."""
    comment: Optional[str] = None
    """A remark that everybody will read."""


@dataclass(frozen=True)
class TransitKeysExportRequest(Document):
    """TransitKeysExportRequest."""

    version: Optional[TransitKeysExportRequestVersion] = None
    """Default: every version that may decrypt."""
    format: Optional[TransitKeysExportRequestFormat] = None
    """Default: PKCS#8 PEM, or base64 for symmetric keys."""
    wrapping_key: Optional[str] = None
    """RSA public key PEM, for format wrapped."""
    openpgp_user_id: Optional[str] = None
    """User ID of the block, for format openpgp."""


@dataclass(frozen=True)
class TransitKeysGenerateDataKeyAnswer(Document):
    """TransitKeysGenerateDataKeyAnswer."""

    ciphertext: str
    """The data key, encrypted."""
    key_version: int
    """Version of the key that was used."""
    plaintext: Optional[str] = field(default=None, repr=False)
    """The data key in clear, with type plaintext."""


@dataclass(frozen=True)
class TransitKeysGenerateDataKeyRequest(Document):
    """TransitKeysGenerateDataKeyRequest."""

    type: Optional[TransitKeysGenerateDataKeyRequestType] = None
    """plaintext: the answer also has the data key in clear."""
    bits: Optional[TransitKeysGenerateDataKeyRequestBits] = None
    """Size of the data key."""
    context: Optional[str] = field(default=None, repr=False)
    """Required for derived keys: the same text again to decrypt."""
    associated_data: Optional[str] = field(default=None, repr=False)
    """Authenticated with the ciphertext, not part of it: the same again to decrypt."""
    key_version: Optional[int] = None
    """Version to use; default: the version in use."""


@dataclass(frozen=True)
class TransitKeysHmacAnswer(Document):
    """TransitKeysHmacAnswer."""

    hmac: Optional[str] = None
    """The HMAC."""
    key_version: Optional[int] = None
    """Version of the key that was used."""
    batch_results: Optional[list[TransitKeysHmacAnswerBatchResultsItem]] = field(default=None, repr=False)
    """Of a batch: one result for each request, in order."""
    failed: Optional[int] = None
    """Of a batch: how many failed."""


@dataclass(frozen=True)
class TransitKeysHmacAnswerBatchResultsItem(Document):
    """TransitKeysHmacAnswerBatchResultsItem."""

    hmac: Optional[str] = None
    """The HMAC."""
    key_version: Optional[int] = None
    """Version of the key that was used."""
    reference: Optional[str] = None
    """Echoed from the request."""
    status: Optional[int] = None
    """Of an item that failed: the HTTP status it would have had."""
    code: Optional[str] = None
    """Of an item that failed: the error code."""
    error_message: Optional[str] = None
    """Of an item that failed: why."""


@dataclass(frozen=True)
class TransitKeysHmacRequest(Document):
    """TransitKeysHmacRequest."""

    plaintext: Optional[str] = field(default=None, repr=False)
    """What to authenticate: base64, or raw UTF-8 with base64-encoded false."""
    base64_encoded: Optional[bool] = None
    """Default true; false: the text is raw UTF-8."""
    hash_algorithm: Optional[TransitKeysSignRequestHashAlgorithm] = None
    """Default sha256."""
    key_version: Optional[int] = None
    """Version to use; default: the version in use."""
    batch_input: Optional[list[dict[str, Any]]] = field(default=None, repr=False)
    """1 to 1,000 requests, each with the fields of a single one and optionally `reference`."""


@dataclass(frozen=True)
class TransitKeysImportRequest(Document):
    """TransitKeysImportRequest."""

    data: Optional[str] = field(default=None, repr=False)
    """PKCS#8, PKCS#1 or SEC1 PEM; base64 for symmetric keys."""
    ciphertext: Optional[str] = field(default=None, repr=False)
    """In place of data: wrapped under GET /v1/state/keystore/wrapping-key."""


@dataclass(frozen=True)
class TransitKeysOpenpgpSignAnswer(Document):
    """TransitKeysOpenpgpSignAnswer."""

    signature: str
    """The detached signature."""
    key_version: int
    """Version of the key that was used."""


@dataclass(frozen=True)
class TransitKeysOpenpgpSignRequest(Document):
    """TransitKeysOpenpgpSignRequest."""

    text: str = field(repr=False)
    """What to sign: base64, or raw UTF-8 with base64-encoded false."""
    base64_encoded: Optional[bool] = None
    """false: the text is raw UTF-8."""
    key_version: Optional[int] = None
    """Version to use; default: the version in use."""
    format: Optional[TransitKeysOpenpgpSignRequestFormat] = None
    """binary answers the packet in base64."""
    expires_after: Optional[str] = None
    """How long the signature holds; for ever when absent."""


@dataclass(frozen=True)
class TransitKeysOpenpgpVerifyAnswer(Document):
    """TransitKeysOpenpgpVerifyAnswer."""

    valid: bool
    """Whether a key of the certificate made the signature over this text."""
    fingerprint: Optional[str] = None
    """Fingerprint of the key that signed."""
    key_id: Optional[str] = None
    """Its key id."""
    version: Optional[int] = None
    """Version of the transit key that signed."""
    key_version: Optional[int] = None
    """The same, as every key action says it."""
    signed_at: Optional[str] = None
    """When, as the signature says."""


@dataclass(frozen=True)
class TransitKeysOpenpgpVerifyRequest(Document):
    """TransitKeysOpenpgpVerifyRequest."""

    text: str = field(repr=False)
    """What was signed: base64, or raw UTF-8 with base64-encoded false."""
    signature: str = field(repr=False)
    """Detached signature: ASCII armor, or base64 of the packets."""
    base64_encoded: Optional[bool] = None
    """false: the text is raw UTF-8."""


@dataclass(frozen=True)
class TransitKeysRestoreRequest(Document):
    """TransitKeysRestoreRequest."""

    key: str = field(repr=False)
    """What backup answered, here or on another appliance."""


@dataclass(frozen=True)
class TransitKeysRewrapAnswer(Document):
    """TransitKeysRewrapAnswer."""

    ciphertext: Optional[str] = None
    """The ciphertext under the other version."""
    key_version: Optional[int] = None
    """Version of the key that was used."""
    batch_results: Optional[list[TransitKeysRewrapAnswerBatchResultsItem]] = field(default=None, repr=False)
    """Of a batch: one result for each request, in order."""
    failed: Optional[int] = None
    """Of a batch: how many failed."""


@dataclass(frozen=True)
class TransitKeysRewrapAnswerBatchResultsItem(Document):
    """TransitKeysRewrapAnswerBatchResultsItem."""

    ciphertext: Optional[str] = None
    """The ciphertext under the other version."""
    key_version: Optional[int] = None
    """Version of the key that was used."""
    reference: Optional[str] = None
    """Echoed from the request."""
    status: Optional[int] = None
    """Of an item that failed: the HTTP status it would have had."""
    code: Optional[str] = None
    """Of an item that failed: the error code."""
    error_message: Optional[str] = None
    """Of an item that failed: why."""


@dataclass(frozen=True)
class TransitKeysRewrapRequest(Document):
    """TransitKeysRewrapRequest."""

    ciphertext: Optional[str] = field(default=None, repr=False)
    """What encrypt answered."""
    context: Optional[str] = field(default=None, repr=False)
    """Required for derived keys: the same text again to decrypt."""
    associated_data: Optional[str] = field(default=None, repr=False)
    """Authenticated with the ciphertext, not part of it: the same again to decrypt."""
    key_version: Optional[int] = None
    """Version to use; default: the version in use."""
    batch_input: Optional[list[dict[str, Any]]] = field(default=None, repr=False)
    """1 to 1,000 requests, each with the fields of a single one and optionally `reference`."""


@dataclass(frozen=True)
class TransitKeysSignAnswer(Document):
    """TransitKeysSignAnswer."""

    signature: Optional[str] = None
    """The signature."""
    key_version: Optional[int] = None
    """Version of the key that was used."""
    batch_results: Optional[list[TransitKeysSignAnswerBatchResultsItem]] = field(default=None, repr=False)
    """Of a batch: one result for each request, in order."""
    failed: Optional[int] = None
    """Of a batch: how many failed."""


@dataclass(frozen=True)
class TransitKeysSignAnswerBatchResultsItem(Document):
    """TransitKeysSignAnswerBatchResultsItem."""

    signature: Optional[str] = None
    """The signature."""
    key_version: Optional[int] = None
    """Version of the key that was used."""
    reference: Optional[str] = None
    """Echoed from the request."""
    status: Optional[int] = None
    """Of an item that failed: the HTTP status it would have had."""
    code: Optional[str] = None
    """Of an item that failed: the error code."""
    error_message: Optional[str] = None
    """Of an item that failed: why."""


@dataclass(frozen=True)
class TransitKeysSignRequest(Document):
    """TransitKeysSignRequest."""

    text: Optional[str] = field(default=None, repr=False)
    """What to sign: base64, or raw UTF-8 with base64-encoded false."""
    base64_encoded: Optional[bool] = None
    """Default true; false: the text is raw UTF-8."""
    hash_algorithm: Optional[TransitKeysSignRequestHashAlgorithm] = None
    """Default sha256."""
    prehashed: Optional[bool] = None
    """The input is the finished hash, not the data. Default false."""
    signature_algorithm: Optional[TransitKeysSignRequestSignatureAlgorithm] = None
    """Padding of RSA signatures; default pkcs1v15."""
    marshaling: Optional[TransitKeysSignRequestMarshaling] = None
    """asn1 (default): base64, ECDSA as DER. jws: base64url without padding, ECDSA as r‖s."""
    key_version: Optional[int] = None
    """Version to use; default: the version in use."""
    batch_input: Optional[list[dict[str, Any]]] = field(default=None, repr=False)
    """1 to 1,000 requests, each with the fields of a single one and optionally `reference`."""


@dataclass(frozen=True)
class TransitKeysTrimRequest(Document):
    """TransitKeysTrimRequest."""

    version: int
    """Oldest version to keep."""


@dataclass(frozen=True)
class TransitKeysVerifyAnswer(Document):
    """TransitKeysVerifyAnswer."""

    valid: Optional[bool] = None
    """Whether signature or HMAC fit the text."""
    key_version: Optional[int] = None
    """Version of the key that was used."""
    batch_results: Optional[list[TransitKeysVerifyAnswerBatchResultsItem]] = field(default=None, repr=False)
    """Of a batch: one result for each request, in order."""
    failed: Optional[int] = None
    """Of a batch: how many failed."""


@dataclass(frozen=True)
class TransitKeysVerifyAnswerBatchResultsItem(Document):
    """TransitKeysVerifyAnswerBatchResultsItem."""

    valid: Optional[bool] = None
    """Whether signature or HMAC fit the text."""
    key_version: Optional[int] = None
    """Version of the key that was used."""
    reference: Optional[str] = None
    """Echoed from the request."""
    status: Optional[int] = None
    """Of an item that failed: the HTTP status it would have had."""
    code: Optional[str] = None
    """Of an item that failed: the error code."""
    error_message: Optional[str] = None
    """Of an item that failed: why."""


@dataclass(frozen=True)
class TransitKeysVerifyRequest(Document):
    """TransitKeysVerifyRequest."""

    text: Optional[str] = field(default=None, repr=False)
    """What was signed: base64, or raw UTF-8 with base64-encoded false."""
    base64_encoded: Optional[bool] = None
    """Default true; false: the text is raw UTF-8."""
    signature: Optional[str] = field(default=None, repr=False)
    """The signature, made here or elsewhere."""
    hmac: Optional[str] = field(default=None, repr=False)
    """In place of signature."""
    hash_algorithm: Optional[TransitKeysSignRequestHashAlgorithm] = None
    """Default sha256."""
    prehashed: Optional[bool] = None
    """The input is the finished hash, not the data. Default false."""
    signature_algorithm: Optional[TransitKeysSignRequestSignatureAlgorithm] = None
    """Padding of RSA signatures; default pkcs1v15."""
    marshaling: Optional[TransitKeysSignRequestMarshaling] = None
    """asn1 (default): base64, ECDSA as DER. jws: base64url without padding, ECDSA as r‖s."""
    batch_input: Optional[list[dict[str, Any]]] = field(default=None, repr=False)
    """1 to 1,000 requests, each with the fields of a single one and optionally `reference`."""


@dataclass(frozen=True)
class WrappingKeyShowAnswer(Document):
    """WrappingKeyShowAnswer."""

    wrapping_key: str
    """SubjectPublicKeyInfo PEM, RSA-4096."""


PolicyRestApiRulesItemAllowedValuesValueItem = Union[str, float, bool]


# Version to key material; with format openpgp a list of blocks.
TransitKeysExportAnswerKeys = Union[dict[str, str], list[TransitKeysExportAnswerKeysOption2Item]]


# Version to export; all: every version, in one block.
TransitKeysExportOpenpgpPublicRequestVersion = Union[TransitKeysExportRequestVersionOption1, TransitKeysExportOpenpgpPublicRequestVersionOption2, int]


# Default: every version that may decrypt.
TransitKeysExportRequestVersion = Union[TransitKeysExportRequestVersionOption1, int]
