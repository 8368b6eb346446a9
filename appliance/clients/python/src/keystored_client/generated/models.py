"""The documents of the API. Made by `npm run clients`; do not edit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, Optional, Union

from .._wire import UNSET, Document, Unset

__all__ = [
    "ActivityAnswer",
    "ActivityPoint",
    "AnswerFindingAnswer",
    "AnswerFindingRequest",
    "Approle",
    "ApproleCreation",
    "ApproleLoginAnswer",
    "ApproleLoginRequest",
    "ApproleMerge",
    "ApproleReplacement",
    "ApproleState",
    "AttestationKey",
    "AttestationKeysAnswer",
    "AuditAnswer",
    "AuditHead",
    "AuditKey",
    "BackupAnswer",
    "BackupsAnswer",
    "BackupsRunning",
    "BackupsRunningPurpose",
    "BackupsRunningStage",
    "CaCertificatesListStatus",
    "CaCsrAnswer",
    "CaCustodyAnswer",
    "CaImportCertRequest",
    "CaImportRevocationsAnswer",
    "CaImportRevocationsRequest",
    "CaRenewAnswer",
    "CaRevokeAnswer",
    "CaRevokeRequest",
    "CaRevokeRequestReason",
    "CaSignCsrAnswer",
    "CaSignCsrRequest",
    "CaSignCsrRequestUsagesItem",
    "CertKeyBits",
    "CertKeyCurve",
    "CertKeyType",
    "CertificateStatus",
    "ChangePinRequest",
    "Cipher",
    "ClaimTarget",
    "ClusterAdmitAnswer",
    "ClusterAdmitClient",
    "ClusterAdmitPeer",
    "ClusterAdmitRequest",
    "ClusterAdmitTokenAnswer",
    "ClusterAdmitTokenKeys",
    "ClusterAdmitTokenKeysMarks",
    "ClusterAdmitTokenKeysParcel",
    "ClusterAdmitTokenRequest",
    "ClusterAnswer",
    "ClusterEtcd",
    "ClusterInitAnswer",
    "ClusterInitRequest",
    "ClusterInvitation",
    "ClusterInvitationUsedBy",
    "ClusterInvitationsAnswer",
    "ClusterInviteAnswer",
    "ClusterInviteRequest",
    "ClusterJoinAnswer",
    "ClusterJoinRequest",
    "ClusterMember",
    "ClusterMemberState",
    "ClusterRemoveMemberAnswer",
    "ClusterRemoveMemberRequest",
    "ClusterRemoved",
    "ClusterShape",
    "ClusterWithdrawInvitationAnswer",
    "ClusterWithdrawInvitationRequest",
    "Custody",
    "CustodyAnswer",
    "DataKeyBits",
    "DecryptAnswer",
    "DecryptBatchAnswer",
    "DecryptBatchItem",
    "DecryptBatchRequest",
    "DecryptBatchResult",
    "DecryptRequest",
    "DisableSecretIdRequest",
    "Distribution",
    "DistributionState",
    "EncryptAnswer",
    "EncryptBatchAnswer",
    "EncryptBatchItem",
    "EncryptBatchRequest",
    "EncryptBatchResult",
    "EncryptRequest",
    "ExportAnswer",
    "ExportOpenpgpAnswer",
    "ExportOpenpgpPublicAnswer",
    "ExportOpenpgpPublicKey",
    "ExportOpenpgpPublicRequest",
    "ExportOpenpgpRequest",
    "ExportOpenpgpRevocationAnswer",
    "ExportOpenpgpRevocationRequest",
    "ExportOpenpgpRevocationRequestReason",
    "ExportRequest",
    "ExportRequestFormat",
    "ExportedOpenpgpKey",
    "Finding",
    "FindingAnswer",
    "FindingState",
    "GenerateDataKeyAnswer",
    "GenerateDataKeyRequest",
    "GenerateDataKeyRequestType",
    "GenerateSecretIdAnswer",
    "GenerateSecretIdRequest",
    "HashAlgorithm",
    "HealthAnswer",
    "HealthAnswerStatus",
    "HmacAnswer",
    "HmacBatchAnswer",
    "HmacBatchItem",
    "HmacBatchRequest",
    "HmacBatchResult",
    "HmacRequest",
    "HsmAnswer",
    "HsmObject",
    "HsmObjectKind",
    "HsmToken",
    "HsmTokenGroup",
    "HsmTokenLatency",
    "HsmTokenLatencyUnit",
    "HsmTokenSessions",
    "HsmTokenState",
    "HsmTokenWrappingKey",
    "HsmTrial",
    "ImageAnswer",
    "ImageAnswerTrial",
    "ImageSlot",
    "ImportOpenpgpAnswer",
    "ImportOpenpgpRequest",
    "ImportRequest",
    "ImportWrappingKeyAnswer",
    "ImportWrappingKeyOfOneAnswer",
    "ImportWrappingKeyOfOneRequest",
    "InvitationState",
    "IssuedCertificate",
    "KeyDistributionAnswer",
    "KeyDistributionAppliance",
    "KeyVersionStatus",
    "NeededRight",
    "OaepHash",
    "OidcExplainAnswer",
    "OidcExplainLogin",
    "OidcExplainRequest",
    "OidcExplainRole",
    "OidcLoginAnswer",
    "OidcLoginPollAnswer",
    "OidcLoginPollRequest",
    "OidcLoginRequest",
    "OidcRole",
    "OidcRoleCreation",
    "OidcRoleMerge",
    "OidcRoleReplacement",
    "OidcRoleState",
    "OidcService",
    "OidcServiceCreation",
    "OidcServiceMerge",
    "OidcServiceReplacement",
    "OidcServiceRoleSelect",
    "OidcServiceRoleSelectInput",
    "OidcServiceRoleSelectMerge",
    "OidcServiceState",
    "OidcTestAnswer",
    "OidcTestAnswerClientCredentials",
    "OidcTestCertificateChain",
    "OidcTestFinding",
    "OidcTestFindingLevel",
    "OidcTestKey",
    "OidcTestPkce",
    "OidcTestPkceMethod",
    "OidcTestRedirectUri",
    "OidcTestRedirectUriRegistered",
    "OidcTestRequest",
    "OpenpgpSignAnswer",
    "OpenpgpSignRequest",
    "OpenpgpSignRequestFormat",
    "OpenpgpVerifyAnswer",
    "OpenpgpVerifyRequest",
    "OwnKeyInput",
    "Policy",
    "PolicyCheckAnswer",
    "PolicyCheckAnswerDecidedBy",
    "PolicyCheckManyAnswer",
    "PolicyCheckManyDecision",
    "PolicyCheckManyRequest",
    "PolicyCheckRequest",
    "PolicyCheckRequestOperation",
    "PolicyCreation",
    "PolicyEffect",
    "PolicyMerge",
    "PolicyOperations",
    "PolicyOperationsInput",
    "PolicyOperationsMerge",
    "PolicyQuestionInput",
    "PolicyReplacement",
    "PolicyRestApi",
    "PolicyRestApiInput",
    "PolicyRestApiMerge",
    "PolicyRule",
    "PolicyRuleInput",
    "PolicyRuleMerge",
    "PolicyState",
    "PolicyWithWarnings",
    "Problem",
    "ProblemItem",
    "RandomBytesAnswer",
    "RandomBytesRequest",
    "RandomBytesRequestFormat",
    "RestoreRequest",
    "RewrapAnswer",
    "RewrapBatchAnswer",
    "RewrapBatchItem",
    "RewrapBatchRequest",
    "RewrapBatchResult",
    "RewrapRequest",
    "RotateAttestationKeyAnswer",
    "RotateWrappingKeyAnswer",
    "RotateWrappingKeyRequest",
    "SecretId",
    "ShippedSource",
    "Shipping",
    "ShippingAnswer",
    "ShippingLagPolicy",
    "ShippingLastError",
    "ShippingPosition",
    "ShippingProtocol",
    "ShippingTestAnswer",
    "ShippingTestRequest",
    "SignAnswer",
    "SignBatchAnswer",
    "SignBatchItem",
    "SignBatchRequest",
    "SignBatchResult",
    "SignRequest",
    "SignatureAlgorithm",
    "SignatureMarshaling",
    "SystemBackupRequest",
    "SystemEndCredentialsAnswer",
    "SystemOperateRequest",
    "SystemOperateRequestOperation",
    "SystemUnsealRequest",
    "Tenant",
    "TenantCreation",
    "TenantKind",
    "TenantMerge",
    "TenantReplacement",
    "TenantState",
    "TenantsMergeLists",
    "TestHsmAnswer",
    "TlsCa",
    "TlsCaCreation",
    "TlsCaEst",
    "TlsCaEstInput",
    "TlsCaEstMerge",
    "TlsCaEstState",
    "TlsCaMerge",
    "TlsCaReplacement",
    "TlsCaState",
    "Token",
    "TokenAdmissionState",
    "TokenCreateAnswer",
    "TokenCreateRequest",
    "TokenCreateRootAnswer",
    "TokenCreateRootRequest",
    "TokenDisableRequest",
    "TokenEndpointAuthMethod",
    "TokenInfoAnswer",
    "TokenInfoRequest",
    "TokenRefreshAnswer",
    "TokenRefreshRequest",
    "Topic",
    "TopicsShowResult",
    "TransitKey",
    "TransitKeyAutoRotate",
    "TransitKeyAutoRotateInput",
    "TransitKeyAutoRotateMerge",
    "TransitKeyBatchItem",
    "TransitKeyBatchItemAutoRotate",
    "TransitKeyBatchItemDistribute",
    "TransitKeyBatchResult",
    "TransitKeyBatchResultAutoRotate",
    "TransitKeyBatchResultDistribute",
    "TransitKeyCreation",
    "TransitKeyDistribute",
    "TransitKeyDistributeInput",
    "TransitKeyDistributeMerge",
    "TransitKeyDistributionStatus",
    "TransitKeyDistributionStatusTo",
    "TransitKeyMerge",
    "TransitKeyOpenpgpKeyUsageItem",
    "TransitKeyReplacement",
    "TransitKeyState",
    "TransitKeyUsage",
    "TransitKeyVersion",
    "TransitKeysCreateBatchAnswer",
    "TransitKeysCreateBatchRequest",
    "TransitKeysListConfigCipher",
    "TransitKeysListConfigCustody",
    "TransitKeysListConfigUse",
    "TransportKeyInput",
    "TrimRequest",
    "UnbindSubkeyAnswer",
    "UnbindSubkeyRequest",
    "UnbindSubkeyRevocation",
    "UserKind",
    "VerifyAnswer",
    "VerifyBatchAnswer",
    "VerifyBatchItem",
    "VerifyBatchRequest",
    "VerifyBatchResult",
    "VerifyRequest",
    "WrappingKeyAfterRemoval",
    "WrappingKeyState",
]


# What it was begun for.
BackupsRunningPurpose = Literal["request", "pull", "schedule", "now"]


# Whether the store is still copied.
BackupsRunningStage = Literal["copying", "sending"]


CaCertificatesListStatus = Literal["valid", "expired", "revoked"]


# Why (RFC 5280 section 5.3.1).
CaRevokeRequestReason = Literal["unspecified", "key-compromise", "affiliation-changed", "superseded", "cessation-of-operation", "privilege-withdrawn"]


CaSignCsrRequestUsagesItem = Literal["client-auth", "server-auth"]


# Size of an rsa key; default 3072.
CertKeyBits = Literal[2048, 3072, 4096]


# Curve of an ecdsa key; default secp256r1.
CertKeyCurve = Literal["secp256r1", "secp384r1", "secp521r1"]


# Key of the CA; default ecdsa.
CertKeyType = Literal["ecdsa", "rsa", "ed25519", "ml-dsa-44", "ml-dsa-65", "ml-dsa-87"]


# What it is worth now.
CertificateStatus = Literal["valid", "expired", "revoked"]


# What the key is made of.
Cipher = Literal["aes128-gcm96", "aes192-gcm96", "aes256-gcm96", "rsa-2048", "rsa-3072", "rsa-4096", "ed25519", "ecdsa-p256", "ecdsa-p384", "ecdsa-p521", "ml-dsa-44", "ml-dsa-65", "ml-dsa-87"]


ClaimTarget = Literal["username", "fullname"]


# `in`: it may answer, and changes wait for it. `expelled`: it did not apply what it should. `out`: it answers
# no more.
ClusterMemberState = Literal["in", "expelled", "out"]


# `alone`: the configuration has no section `cluster`, and there are no members.
ClusterShape = Literal["alone", "cluster"]


# Where the key lives: as a wrapped blob, or as an object in the token.
Custody = Literal["wrapped", "token"]


# Size of the data key.
DataKeyBits = Literal[128, 256, 512]


# Where the key goes; inherit means all. In a cluster every appliance has every key.
Distribution = Literal["all", "none", "inherit"]


# `holds`: its store has the version, and its token has opened it just now. `lacks`: `reason` says why.
# `silent`: it did not say in time. `away`: it is out of the cluster, and was not asked.
DistributionState = Literal["holds", "lacks", "silent", "away"]


# Why.
ExportOpenpgpRevocationRequestReason = Literal["no-reason", "superseded", "compromised", "retired"]


# clear: PKCS#8 PEM, or base64 for symmetric keys. wrapped: under wrapping-key.
ExportRequestFormat = Literal["clear", "wrapped"]


# `unanswered`: a part of health, which is not `ok`.
FindingState = Literal["unanswered", "answered"]


# plaintext: the answer also has the data key in clear.
GenerateDataKeyRequestType = Literal["plaintext", "wrapped"]


# Hash of the text, for RSA and ECDSA.
HashAlgorithm = Literal["sha256", "sha384", "sha512"]


# degraded: requests are served, and a person should act; down: some requests cannot be served.
HealthAnswerStatus = Literal["ok", "degraded", "down"]


# Its class in PKCS#11.
HsmObjectKind = Literal["secret", "private"]


# Of both.
HsmTokenLatencyUnit = Literal["microseconds"]


# Whether it works. `damaged`: its own keys are missing. A refused PIN is not tried again.
HsmTokenState = Literal["up", "damaged", "down", "pin-refused"]


# Whether the version is on trial: `pending` until the daemon serves with it, `confirmed` in the start that
# accepted it, `none` in later ones.
ImageAnswerTrial = Literal["pending", "confirmed", "none"]


# `open`: nobody has used it. `used`: its appliance was admitted and has not come in yet; within the hour it may
# ask again. `over`: its appliance has come in, or was removed.
InvitationState = Literal["open", "used", "over"]


# What it may do: `active` everything, `pending` (it waits for activate-after) and `deprecated` only decrypt and
# verify, `invalidated` nothing.
KeyVersionStatus = Literal["pending", "active", "deprecated", "invalidated"]


OaepHash = Literal["sha256", "sha384", "sha512", "sha1"]


# What the token endpoint says to client-id and client-secret, tried with a code that does not exist.
OidcTestAnswerClientCredentials = Literal["accepted", "refused", "unknown"]


# Whether sign-ins fail because of it.
OidcTestFindingLevel = Literal["error", "warning"]


# Always sent.
OidcTestPkceMethod = Literal["S256"]


# Whether the provider knows it.
OidcTestRedirectUriRegistered = Literal["yes", "unknown"]


# binary answers the packet in base64.
OpenpgpSignRequestFormat = Literal["armored", "binary"]


# Whose policies decided, since both must allow; `service`: what it asks of every caller there.
PolicyCheckAnswerDecidedBy = Literal["tenant", "token", "service"]


# What would be done there.
PolicyCheckRequestOperation = Literal["create", "read", "update", "delete", "execute"]


# Whether anything may be done that no other field here says.
PolicyEffect = Literal["allow", "reject"]


# How they are written.
RandomBytesRequestFormat = Literal["base64", "hex"]


ShippedSource = Literal["audit", "logs"]


# What happens when `max-lag-bytes` is reached.
ShippingLagPolicy = Literal["continue", "block"]


# What the receiver speaks.
ShippingProtocol = Literal["syslog", "json-lines", "splunk", "elastic", "loki", "otlp"]


# Padding of RSA signatures. A version that is a key for RSASSA-PSS has pss only.
SignatureAlgorithm = Literal["pkcs1v15", "pss"]


# asn1: base64, ECDSA as DER. jws: base64url without padding, ECDSA as r‖s.
SignatureMarshaling = Literal["asn1", "jws"]


# What to do.
SystemOperateRequestOperation = Literal["reboot", "power-off", "factory-reset"]


# What the tenant is; there is one system tenant.
TenantKind = Literal["system", "site-provider", "application-owner"]


TenantsMergeLists = Literal["unite", "replace"]


# `waiting`: another rotation comes first. `rewrapping`: the keys are wrapped again. `ready`: the appliance may
# be admitted.
TokenAdmissionState = Literal["waiting", "rewrapping", "ready"]


# How the secret is sent; default: as the provider says.
TokenEndpointAuthMethod = Literal["client_secret_basic", "client_secret_post"]


TopicsShowResult = Literal["done", "refused", "failed"]


# Where the key is.
TransitKeyDistributionStatusTo = Literal["all", "none"]


TransitKeyOpenpgpKeyUsageItem = Literal["sign"]


TransitKeysListConfigCipher = Literal["aes128-gcm96", "aes192-gcm96", "aes256-gcm96", "rsa-2048", "rsa-3072", "rsa-4096", "ed25519", "ecdsa-p256", "ecdsa-p384", "ecdsa-p521", "ml-dsa-44", "ml-dsa-65", "ml-dsa-87"]


TransitKeysListConfigCustody = Literal["wrapped", "token"]


TransitKeysListConfigUse = Literal["encrypt", "sign", "verify"]


# Where the name of the user comes from: names of different sources may be alike.
UserKind = Literal["root-token", "approle", "sign-in"]


# Where each appliance has a token: whether the wrapping key, which the token of the removed one has, is being
# rotated, or was `rotated` by an earlier request; `unchanged`: it could not be, as system:logs says, and is to
# be rotated by hand. Absent where all reach one HSM.
WrappingKeyAfterRemoval = Literal["rotating", "rotated", "unchanged"]


# `rewrapping`: keys are being rewrapped. `incomplete`: some could not be, so the old wrapping key is kept;
# every start tries again.
WrappingKeyState = Literal["in-use", "rewrapping", "incomplete"]


@dataclass(frozen=True)
class ActivityAnswer(Document):
    """ActivityAnswer."""

    points: list[ActivityPoint]
    """The oldest first. The last one ends now and may be shorter."""
    median_milliseconds: Optional[float] = None
    """Median of the time of a request; absent: there was none."""
    p99_milliseconds: Optional[float] = None
    """99th percentile of the time of a request."""


@dataclass(frozen=True)
class ActivityPoint(Document):
    """ActivityPoint."""

    from_: str
    """When it begins."""
    until: str
    """When it ends."""
    requests: float
    """Requests of the API and of EST a second; a batch is one."""
    signatures: float
    """Requests that signed something a second; a batch is one."""
    encryptions: float
    """Requests that encrypted, decrypted or rewrapped a second; a batch is one."""
    refusals: float
    """Requests that were answered with 4xx or 5xx a second; a batch is one."""
    median_milliseconds: Optional[float] = None
    """Median of the time of a request; absent: there was none."""
    p99_milliseconds: Optional[float] = None
    """99th percentile of the time of a request."""


@dataclass(frozen=True)
class AnswerFindingAnswer(Document):
    """AnswerFindingAnswer."""

    name: str
    """Name of the finding, and of its part of health."""
    message: str
    """What was found."""
    remedy: str
    """What to do, before the answer."""
    found: str
    """When."""
    state: FindingState
    """`unanswered`: a part of health, which is not `ok`."""
    answered: Optional[str] = None
    """When it was answered."""
    answered_by: Optional[str] = None
    """Who has answered it."""


@dataclass(frozen=True)
class AnswerFindingRequest(Document):
    """AnswerFindingRequest."""


@dataclass(frozen=True)
class Approle(Document):
    """Approle."""

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
    labels: Optional[dict[str, str]] = None
    """Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name

    and value at most 63 letters, digits, ".", "_" and "-". They are no secrets.
    """


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
    labels: Optional[dict[str, str]] = None
    """Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name

    and value at most 63 letters, digits, ".", "_" and "-". They are no secrets.
    """


@dataclass(frozen=True)
class ApproleLoginAnswer(Document):
    """ApproleLoginAnswer."""

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
class ApproleLoginRequest(Document):
    """ApproleLoginRequest."""

    role_id: str = field(repr=False)
    """The role-id of the approle."""
    secret_id: str = field(repr=False)
    """One of its secret-ids."""


@dataclass(frozen=True)
class ApproleMerge(Document):
    """ApproleMerge."""

    token_policies: Union[list[str], Unset, None] = UNSET
    """Policies of the tokens; only such as the caller has."""
    token_ttl: Optional[str] = None
    """Life of a token, and what a refresh gives it."""
    token_max_ttl: Optional[str] = None
    """Longest life of a token over all refreshes."""
    token_bound_cidrs: Union[list[str], Unset, None] = UNSET
    """Ranges of addresses the tokens work from; empty: from anywhere."""
    secret_id_ttl: Union[str, Unset, None] = UNSET
    """How long a secret-id can be used; unless given, for ever."""
    secret_id_num_uses: Optional[int] = None
    """How often a secret-id can be used; 0: as often as one likes."""
    secret_id_bound_cidrs: Union[list[str], Unset, None] = UNSET
    """Ranges of addresses one may log in from; empty: from anywhere."""
    fixed_role_id: Union[str, Unset, None] = UNSET
    """A role-id of your own choice; unless given, one is made."""
    labels: Union[dict[str, str], Unset, None] = UNSET
    """Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name

    and value at most 63 letters, digits, ".", "_" and "-". They are no secrets.
    """


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
    labels: Optional[dict[str, str]] = None
    """Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name

    and value at most 63 letters, digits, ".", "_" and "-". They are no secrets.
    """


@dataclass(frozen=True)
class ApproleState(Document):
    """ApproleState."""

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
    labels: Optional[dict[str, str]] = None
    """Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name

    and value at most 63 letters, digits, ".", "_" and "-". They are no secrets.
    """
    role_id: Optional[str] = None
    """What a login names."""
    creation_time: Optional[str] = None
    """When it was made."""
    secret_ids: Optional[int] = None
    """Number of secret-ids on record."""


@dataclass(frozen=True)
class AttestationKey(Document):
    """AttestationKey."""

    kid: str
    """Thumbprint of the key (RFC 7638), which `kid` of statements names."""
    kty: str
    """Key type."""
    crv: str
    """Curve."""
    x: str
    """Coordinate x, base64url."""
    y: str
    """Coordinate y, base64url."""
    alg: str
    """Signature algorithm."""
    use: str
    """For signatures alone."""
    since: str
    """When it was made."""


@dataclass(frozen=True)
class AttestationKeysAnswer(Document):
    """AttestationKeysAnswer."""

    keys: list[AttestationKey]
    """The newest last, which signs. The former ones verify what they signed; their private keys are destroyed."""


@dataclass(frozen=True)
class AuditAnswer(Document):
    """AuditAnswer."""

    keys: list[AuditKey]
    """Keys that have signed the trail, the newest last."""
    heads: list[AuditHead]
    """The last signed position of every chain."""


@dataclass(frozen=True)
class AuditHead(Document):
    """AuditHead."""

    chain: str
    """Chain of one process."""
    sequence: int
    """Number of its last signed record."""
    hash: str
    """SHA-256 of that record."""


@dataclass(frozen=True)
class AuditKey(Document):
    """AuditKey."""

    key_id: str
    """Id of the key in head records."""
    public_key: str
    """The public key, PEM."""


@dataclass(frozen=True)
class BackupAnswer(Document):
    """BackupAnswer."""

    key: str = field(repr=False)
    """Definition and key material in clear, for restore."""
    key_version: int
    """Latest version in the backup."""


@dataclass(frozen=True)
class BackupsAnswer(Document):
    """BackupsAnswer."""

    scheduled: bool
    """Whether the configuration has a schedule."""
    failures: int
    """How many failed."""
    failures_in_a_row: int
    """How many failed since the last complete one."""
    running: Optional[BackupsRunning] = None
    """The backup that runs."""
    next_at: Optional[str] = None
    """When the next one begins."""
    last_success_at: Optional[str] = None
    """When the last one was complete."""
    last_bytes: Optional[int] = None
    """Its octets."""
    last_seconds: Optional[float] = None
    """How long it took."""
    last_digest: Optional[str] = None
    """Its SHA-256."""
    last_failure_at: Optional[str] = None
    """When the last failure was."""
    last_failure: Optional[str] = None
    """What it was."""


@dataclass(frozen=True)
class BackupsRunning(Document):
    """The backup that runs."""

    purpose: BackupsRunningPurpose
    """What it was begun for."""
    stage: BackupsRunningStage
    """Whether the store is still copied."""
    target: str
    """Where it goes."""
    started_at: str
    """When it began."""
    done_bytes: int
    """Octets so far."""
    total_bytes: int
    """Octets when it is done."""


@dataclass(frozen=True)
class CaCsrAnswer(Document):
    """CaCsrAnswer."""

    csr: str
    """PKCS#10 certification request, PEM."""


@dataclass(frozen=True)
class CaCustodyAnswer(Document):
    """CaCustodyAnswer."""

    statement: str
    """Compact JWS (RFC 7515), ES256; GET /v1/state/system/attestation-keys has the key that `kid` of its header

    names.
    """
    generation: int
    """Generation of the key that it is about."""


@dataclass(frozen=True)
class CaImportCertRequest(Document):
    """CaImportCertRequest."""

    certificate: str
    """PEM: the certificate of the CA first, then those above it."""


@dataclass(frozen=True)
class CaImportRevocationsAnswer(Document):
    """CaImportRevocationsAnswer."""

    revoked: int
    """Certificates that are revoked now and were not before."""
    never_issued: int
    """Serial numbers that the CA does not know, listed and refused from now on."""
    known_before: int
    """Those that were revoked already."""


@dataclass(frozen=True)
class CaImportRevocationsRequest(Document):
    """CaImportRevocationsRequest."""

    crl: Optional[str] = None
    """The list: base64 of its DER, or PEM."""
    serials: Optional[list[str]] = None
    """Serial numbers."""


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
class CaRevokeAnswer(Document):
    """CaRevokeAnswer."""

    revoked: int
    """Certificates that are revoked now and were not before."""
    still_valid: int
    """Other certificates of its line that are valid still."""


@dataclass(frozen=True)
class CaRevokeRequest(Document):
    """CaRevokeRequest."""

    serial: str
    """Serial number of the certificate, hexadecimal."""
    reason: Optional[CaRevokeRequestReason] = None
    """Why (RFC 5280 section 5.3.1)."""
    line: Optional[bool] = None
    """The whole line: what it renewed, and all renewals of that."""


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
class ChangePinRequest(Document):
    """ChangePinRequest."""

    token: Optional[str] = None
    """Name of the token in the configuration; needed where there are several."""


@dataclass(frozen=True)
class ClusterAdmitAnswer(Document):
    """ClusterAdmitAnswer."""

    cluster: str
    """Name of the etcd of the cluster."""
    endpoints: list[str]
    """Client URLs of the members of etcd."""
    peer: ClusterAdmitPeer
    """Among the members of etcd."""
    client: ClusterAdmitClient
    """For the shared store."""


@dataclass(frozen=True)
class ClusterAdmitClient(Document):
    """For the shared store."""

    certificate: str
    """PEM."""
    authority: str
    """The CA that issued it and the others of its kind, PEM."""
    revocations: str
    """Its revocation list, DER in base64."""


@dataclass(frozen=True)
class ClusterAdmitPeer(Document):
    """Among the members of etcd."""

    certificate: str
    """PEM."""
    authority: str
    """The CA that issued it and the others of its kind, PEM."""
    revocations: str
    """Its revocation list, DER in base64."""


@dataclass(frozen=True)
class ClusterAdmitRequest(Document):
    """ClusterAdmitRequest."""

    secret: str = field(repr=False)
    """The secret of the invitation."""
    appliance: str
    """Identity of the new appliance."""
    name: str
    """Its name, which no other appliance of the cluster has."""
    address: str
    """IP address of its member of etcd."""
    peer_request: str
    """DER PKCS#10 request for the certificate among the members of etcd."""
    client_request: str
    """DER PKCS#10 request for the certificate for the shared store."""


@dataclass(frozen=True)
class ClusterAdmitTokenAnswer(Document):
    """ClusterAdmitTokenAnswer."""

    state: TokenAdmissionState
    """`waiting`: another rotation comes first. `rewrapping`: the keys are wrapped again. `ready`: the appliance

    may be admitted.
    """
    done: int
    """Keys that are wrapped again."""
    total: int
    """Keys to wrap again, as counted so far."""
    keys: Optional[ClusterAdmitTokenKeys] = None
    """When ready; absent for a token that has the keys already."""


@dataclass(frozen=True)
class ClusterAdmitTokenKeys(Document):
    """When ready; absent for a token that has the keys already."""

    number: int
    """Number of the wrapping key."""
    carrying: str
    """The carrying by which it came into the tokens."""
    marks: ClusterAdmitTokenKeysMarks
    """What the token has to make with the keys that it has taken."""
    parcel: ClusterAdmitTokenKeysParcel
    """The keys, for that token alone."""


@dataclass(frozen=True)
class ClusterAdmitTokenKeysMarks(Document):
    """What the token has to make with the keys that it has taken."""

    wrapping: str
    """What the wrapping key makes of a constant, in hexadecimal."""
    binding: str
    """What the binding key makes of a constant, in hexadecimal."""


@dataclass(frozen=True)
class ClusterAdmitTokenKeysParcel(Document):
    """The keys, for that token alone."""

    hash: OaepHash
    """The hash of RSA-OAEP."""
    wrapping: str
    """The wrapping key under the transport key, in base64."""
    binding: str
    """The binding key under the transport key, in base64."""


@dataclass(frozen=True)
class ClusterAdmitTokenRequest(Document):
    """ClusterAdmitTokenRequest."""

    secret: str = field(repr=False)
    """The secret of the invitation."""
    appliance: str
    """Identity of the new appliance."""
    name: str
    """Its name, which no other appliance of the cluster has."""
    peer_request: str
    """DER PKCS#10 request with the key of the one of `admit`. Its challengePassword is the SHA-256, hexadecimal,

    of the JSON list of `keystored-admit-token-1`, the secret, the identity and the public key of the
    transport key: nobody else puts another one in its place.
    """
    transport: TransportKeyInput
    """What the token of the new appliance says of itself."""


@dataclass(frozen=True)
class ClusterAnswer(Document):
    """ClusterAnswer."""

    shape: ClusterShape
    """`alone`: the configuration has no section `cluster`, and there are no members."""
    revision: int
    """The state of the shared store that the appliance has."""
    level: int
    """The level in whose formats records are written: the highest that the programs of all members work with."""
    members: list[ClusterMember]
    """Every appliance that came in once and was not removed, by name."""
    etcd: list[ClusterEtcd]
    """The members of etcd, where the appliances run them; empty for an etcd that somebody else runs."""
    removed: list[ClusterRemoved]
    """Those that were removed for ever, by name."""
    cut_off: Optional[bool] = None
    """Whether the appliance that answers is cut off: this is then what it knew last, and which members of etcd

    it reaches now.
    """
    epoch: Optional[str] = None
    """Name of the shared store."""
    warnings: Optional[list[str]] = None
    """What the administrator should know, or change, in sentences."""


@dataclass(frozen=True)
class ClusterEtcd(Document):
    """ClusterEtcd."""

    appliance: str
    """Name of the appliance that runs it; empty before it has started once."""
    url: str
    """Where the appliances reach it."""
    leader: bool
    """Whether it leads etcd."""
    learner: bool
    """Whether it is being filled, and does not count for the majority yet."""
    version: Optional[str] = None
    """Version of etcd; absent when it does not answer."""
    bytes: Optional[int] = None
    """Size of its file; 8 GiB are the most."""
    problem: Optional[str] = None
    """What is wrong with it."""


@dataclass(frozen=True)
class ClusterInitAnswer(Document):
    """ClusterInitAnswer."""

    name: str
    """Name of the appliance in the cluster."""


@dataclass(frozen=True)
class ClusterInitRequest(Document):
    """ClusterInitRequest."""

    former_keys_stay: Optional[bool] = None
    """With a token in each appliance: former keys of CAs that are objects in the token of this one, with

    certificates that did not end, stay there. Only this appliance makes their revocation lists and OCSP
    answers then.
    """


@dataclass(frozen=True)
class ClusterInvitation(Document):
    """ClusterInvitation."""

    id: str
    """Names the invitation in lists and audit records; nobody comes in by it."""
    state: InvitationState
    """`open`: nobody has used it. `used`: its appliance was admitted and has not come in yet; within the hour it

    may ask again. `over`: its appliance has come in, or was removed.
    """
    by: str
    """User of the token that invited."""
    expires: str
    """Until when it is good."""
    member: Optional[str] = None
    """The `cluster/name` of the one appliance that may come by it; absent: any that is free."""
    used_by: Optional[ClusterInvitationUsedBy] = None
    """The appliance that has used it."""


@dataclass(frozen=True)
class ClusterInvitationUsedBy(Document):
    """The appliance that has used it."""

    name: str
    """Its name."""
    id: str
    """Its identity."""
    at: str
    """When it asked first."""


@dataclass(frozen=True)
class ClusterInvitationsAnswer(Document):
    """ClusterInvitationsAnswer."""

    invitations: list[ClusterInvitation]
    """The newest last."""


@dataclass(frozen=True)
class ClusterInviteAnswer(Document):
    """ClusterInviteAnswer."""

    id: str
    """Names the invitation in lists and audit records; nobody comes in by it."""
    invitation: str = field(repr=False)
    """One line, for the file that the new appliance is started with."""
    expires: str
    """Until when it is good."""


@dataclass(frozen=True)
class ClusterInviteRequest(Document):
    """ClusterInviteRequest."""

    member: Optional[str] = None
    """The `cluster/name` of the one appliance that may come by it; absent: any that is free."""


@dataclass(frozen=True)
class ClusterJoinAnswer(Document):
    """ClusterJoinAnswer."""

    name: str
    """Name of this appliance in the cluster."""
    invited_by: str
    """Where the member is that has invited."""


@dataclass(frozen=True)
class ClusterJoinRequest(Document):
    """ClusterJoinRequest."""

    invitation: str = field(repr=False)
    """The line that a member has made."""


@dataclass(frozen=True)
class ClusterMember(Document):
    """ClusterMember."""

    name: str
    """Name of the appliance in its configuration."""
    id: str
    """Its identity, drawn when it came in first."""
    version: str
    """Version of its program."""
    newest_level: int
    """The highest level of the records that its program works with."""
    state: ClusterMemberState
    """`in`: it may answer, and changes wait for it. `expelled`: it did not apply what it should. `out`: it

    answers no more.
    """
    self: bool
    """Whether it is the one that answers."""
    leads_jobs: bool
    """Whether it runs the background jobs of all."""
    behind: int
    """Revisions that it lacked at its last sign of life; a few are ordinary."""
    certificates_revoked: bool
    """Whether those were revoked by which it reaches the shared store, so that it comes in no more; only where

    the appliances run etcd.
    """
    silent_milliseconds: int
    """Time since its last sign of life was seen."""
    public_url: Optional[str] = None
    """The `public-url` that its certificates and links name; absent before it has started with a program that

    says it.
    """


@dataclass(frozen=True)
class ClusterRemoveMemberAnswer(Document):
    """ClusterRemoveMemberAnswer."""

    name: str
    """Name of the appliance in its configuration."""
    id: str
    """Its identity, drawn when it came in first."""
    removed_at: str
    """When it was removed."""
    removed_by: str
    """User of the token that removed it."""
    lost_chains: list[str]
    """Chains of the audit trail that are lost with it: no verification expects them any more."""
    unconfirmed: list[str]
    """Appliances that have not confirmed within 20 seconds that it has no way to the shared store any more,

    where the appliances run etcd: the same request asks again.
    """
    wrapping_key: Optional[WrappingKeyAfterRemoval] = None
    """Where each appliance has a token: whether the wrapping key, which the token of the removed one has, is

    being rotated, or was `rotated` by an earlier request; `unchanged`: it could not be, as system:logs says,
    and is to be rotated by hand. Absent where all reach one HSM.
    """


@dataclass(frozen=True)
class ClusterRemoveMemberRequest(Document):
    """ClusterRemoveMemberRequest."""

    member: str
    """Name or id of the appliance, as the state of the cluster has it."""
    even_if_alive: Optional[bool] = None
    """Remove it although it gives signs of life. It refuses everything within two seconds, and for ever."""


@dataclass(frozen=True)
class ClusterRemoved(Document):
    """ClusterRemoved."""

    name: str
    """Name of the appliance in its configuration."""
    id: str
    """Its identity, drawn when it came in first."""
    removed_at: str
    """When it was removed."""
    removed_by: str
    """User of the token that removed it."""


@dataclass(frozen=True)
class ClusterWithdrawInvitationAnswer(Document):
    """ClusterWithdrawInvitationAnswer."""

    id: str
    """Names the invitation in lists and audit records; nobody comes in by it."""
    unconfirmed: list[str]
    """Appliances that have not confirmed within 20 seconds that the one that was admitted by it has no way to

    the shared store any more.
    """
    wrapping_key: Optional[WrappingKeyAfterRemoval] = None
    """Where each appliance has a token, and one was admitted by it: as of `remove-member`."""


@dataclass(frozen=True)
class ClusterWithdrawInvitationRequest(Document):
    """ClusterWithdrawInvitationRequest."""

    id: str
    """Names the invitation in lists and audit records; nobody comes in by it."""


@dataclass(frozen=True)
class CustodyAnswer(Document):
    """CustodyAnswer."""

    statement: str
    """Compact JWS (RFC 7515), ES256; GET /v1/state/system/attestation-keys has the key that `kid` of its header

    names.
    """
    key_version: int
    """Version of the key that it is about."""


@dataclass(frozen=True)
class DecryptAnswer(Document):
    """DecryptAnswer."""

    plaintext: str = field(repr=False)
    """The plaintext: base64, or raw UTF-8 with base64-encoded false."""
    key_version: int
    """Version of the key that was used."""


@dataclass(frozen=True)
class DecryptBatchAnswer(Document):
    """DecryptBatchAnswer."""

    batch_results: list[DecryptBatchResult] = field(repr=False)
    """One result for each request, in order."""
    failed: int
    """How many failed."""


@dataclass(frozen=True)
class DecryptBatchItem(Document):
    """DecryptBatchItem."""

    ciphertext: str
    """What encrypt answered."""
    base64_encoded: Optional[bool] = None
    """false: the text is raw UTF-8."""
    context: Optional[str] = None
    """Required for derived keys: the same text again to decrypt."""
    associated_data: Optional[str] = None
    """Authenticated with the ciphertext, not part of it: the same again to decrypt."""
    reference: Optional[str] = None
    """Echoed from the request."""


@dataclass(frozen=True)
class DecryptBatchRequest(Document):
    """DecryptBatchRequest."""

    batch_input: list[DecryptBatchItem] = field(repr=False)
    """The requests."""


@dataclass(frozen=True)
class DecryptBatchResult(Document):
    """DecryptBatchResult."""

    plaintext: Optional[str] = None
    """The plaintext: base64, or raw UTF-8 with base64-encoded false."""
    key_version: Optional[int] = None
    """Version of the key that was used."""
    reference: Optional[str] = None
    """Echoed from the request."""
    status: Optional[int] = None
    """Of a request that failed: the HTTP status it would have had."""
    code: Optional[str] = None
    """Of a request that failed: the error code."""
    error_message: Optional[str] = None
    """Of a request that failed: why."""


@dataclass(frozen=True)
class DecryptRequest(Document):
    """DecryptRequest."""

    ciphertext: str = field(repr=False)
    """What encrypt answered."""
    base64_encoded: Optional[bool] = None
    """false: the text is raw UTF-8."""
    context: Optional[str] = field(default=None, repr=False)
    """Required for derived keys: the same text again to decrypt."""
    associated_data: Optional[str] = field(default=None, repr=False)
    """Authenticated with the ciphertext, not part of it: the same again to decrypt."""


@dataclass(frozen=True)
class DisableSecretIdRequest(Document):
    """DisableSecretIdRequest."""

    secret_id: Optional[str] = field(default=None, repr=False)
    """The secret-id meant."""
    accessor: Optional[str] = None
    """Or its accessor."""


@dataclass(frozen=True)
class EncryptAnswer(Document):
    """EncryptAnswer."""

    ciphertext: str
    """The ciphertext."""
    key_version: int
    """Version of the key that was used."""


@dataclass(frozen=True)
class EncryptBatchAnswer(Document):
    """EncryptBatchAnswer."""

    batch_results: list[EncryptBatchResult] = field(repr=False)
    """One result for each request, in order."""
    failed: int
    """How many failed."""


@dataclass(frozen=True)
class EncryptBatchItem(Document):
    """EncryptBatchItem."""

    plaintext: str
    """What to encrypt: base64, or raw UTF-8 with base64-encoded false."""
    base64_encoded: Optional[bool] = None
    """false: the text is raw UTF-8."""
    context: Optional[str] = None
    """Required for derived keys: the same text again to decrypt."""
    associated_data: Optional[str] = None
    """Authenticated with the ciphertext, not part of it: the same again to decrypt."""
    key_version: Optional[int] = None
    """Version to use; default: the version in use."""
    reference: Optional[str] = None
    """Echoed from the request."""


@dataclass(frozen=True)
class EncryptBatchRequest(Document):
    """EncryptBatchRequest."""

    batch_input: list[EncryptBatchItem] = field(repr=False)
    """The requests."""


@dataclass(frozen=True)
class EncryptBatchResult(Document):
    """EncryptBatchResult."""

    ciphertext: Optional[str] = None
    """The ciphertext."""
    key_version: Optional[int] = None
    """Version of the key that was used."""
    reference: Optional[str] = None
    """Echoed from the request."""
    status: Optional[int] = None
    """Of a request that failed: the HTTP status it would have had."""
    code: Optional[str] = None
    """Of a request that failed: the error code."""
    error_message: Optional[str] = None
    """Of a request that failed: why."""


@dataclass(frozen=True)
class EncryptRequest(Document):
    """EncryptRequest."""

    plaintext: str = field(repr=False)
    """What to encrypt: base64, or raw UTF-8 with base64-encoded false."""
    base64_encoded: Optional[bool] = None
    """false: the text is raw UTF-8."""
    context: Optional[str] = field(default=None, repr=False)
    """Required for derived keys: the same text again to decrypt."""
    associated_data: Optional[str] = field(default=None, repr=False)
    """Authenticated with the ciphertext, not part of it: the same again to decrypt."""
    key_version: Optional[int] = None
    """Version to use; default: the version in use."""


@dataclass(frozen=True)
class ExportAnswer(Document):
    """ExportAnswer."""

    keys: dict[str, str] = field(repr=False)
    """Version to key material."""
    key_version: int
    """Newest version in the answer."""


@dataclass(frozen=True)
class ExportOpenpgpAnswer(Document):
    """ExportOpenpgpAnswer."""

    keys: list[ExportedOpenpgpKey] = field(repr=False)
    """One for each version."""
    key_version: int
    """Newest version in the answer."""


@dataclass(frozen=True)
class ExportOpenpgpPublicAnswer(Document):
    """ExportOpenpgpPublicAnswer."""

    keys: list[ExportOpenpgpPublicKey]
    """One item with the block asked for."""
    key_version: int
    """Version in the answer; of several the newest."""


@dataclass(frozen=True)
class ExportOpenpgpPublicKey(Document):
    """ExportOpenpgpPublicKey."""

    version: int
    """Version of the key; of several the newest."""
    keyblock: str
    """Public key block; of a subkey with its primary key."""


@dataclass(frozen=True)
class ExportOpenpgpPublicRequest(Document):
    """ExportOpenpgpPublicRequest."""

    version: Optional[int] = None
    """Version to export; default: the newest."""
    all_versions: Optional[bool] = None
    """Every version, in one block; without `version`."""
    subkeys: Optional[bool] = None
    """Of a primary key: also the subkeys that these versions bound, in all their versions."""


@dataclass(frozen=True)
class ExportOpenpgpRequest(Document):
    """ExportOpenpgpRequest."""

    version: Optional[int] = None
    """Default: every version that may decrypt."""
    openpgp_user_id: Optional[str] = None
    """User ID of the block; default: that of the key."""


@dataclass(frozen=True)
class ExportOpenpgpRevocationAnswer(Document):
    """ExportOpenpgpRevocationAnswer."""

    revocation: str = field(repr=False)
    """Revocation certificate."""
    key_version: int
    """Version that it revokes."""


@dataclass(frozen=True)
class ExportOpenpgpRevocationRequest(Document):
    """ExportOpenpgpRevocationRequest."""

    version: Optional[int] = None
    """Version to revoke."""
    reason: Optional[ExportOpenpgpRevocationRequestReason] = None
    """Why."""
    comment: Optional[str] = None
    """A remark that everybody will read."""


@dataclass(frozen=True)
class ExportRequest(Document):
    """ExportRequest."""

    version: Optional[int] = None
    """Default: every version that may decrypt."""
    format: Optional[ExportRequestFormat] = None
    """clear: PKCS#8 PEM, or base64 for symmetric keys. wrapped: under wrapping-key."""
    wrapping_key: Optional[str] = None
    """RSA public key PEM, for format wrapped."""


@dataclass(frozen=True)
class ExportedOpenpgpKey(Document):
    """ExportedOpenpgpKey."""

    version: int
    """Version of the key."""
    value: str
    """OpenPGP private key block."""


@dataclass(frozen=True)
class Finding(Document):
    """Finding."""

    name: str
    """Name of the finding, and of its part of health."""
    message: Optional[str] = None
    """What was found."""
    remedy: Optional[str] = None
    """What to do, before the answer."""
    found: Optional[str] = None
    """When."""
    state: Optional[FindingState] = None
    """`unanswered`: a part of health, which is not `ok`."""
    answered: Optional[str] = None
    """When it was answered."""
    answered_by: Optional[str] = None
    """Who has answered it."""


@dataclass(frozen=True)
class FindingAnswer(Document):
    """FindingAnswer."""

    name: str
    """Name of the finding, and of its part of health."""
    message: Optional[str] = None
    """What was found."""
    remedy: Optional[str] = None
    """What to do, before the answer."""
    found: Optional[str] = None
    """When."""
    state: Optional[FindingState] = None
    """`unanswered`: a part of health, which is not `ok`."""
    answered: Optional[str] = None
    """When it was answered."""
    answered_by: Optional[str] = None
    """Who has answered it."""


@dataclass(frozen=True)
class GenerateDataKeyAnswer(Document):
    """GenerateDataKeyAnswer."""

    ciphertext: str
    """The data key, encrypted."""
    key_version: int
    """Version of the key that was used."""
    plaintext: Optional[str] = field(default=None, repr=False)
    """The data key in clear, with type plaintext."""


@dataclass(frozen=True)
class GenerateDataKeyRequest(Document):
    """GenerateDataKeyRequest."""

    type: Optional[GenerateDataKeyRequestType] = None
    """plaintext: the answer also has the data key in clear."""
    bits: Optional[DataKeyBits] = None
    """Size of the data key."""
    context: Optional[str] = field(default=None, repr=False)
    """Required for derived keys: the same text again to decrypt."""
    associated_data: Optional[str] = field(default=None, repr=False)
    """Authenticated with the ciphertext, not part of it: the same again to decrypt."""
    key_version: Optional[int] = None
    """Version to use; default: the version in use."""


@dataclass(frozen=True)
class GenerateSecretIdAnswer(Document):
    """GenerateSecretIdAnswer."""

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
class GenerateSecretIdRequest(Document):
    """GenerateSecretIdRequest."""

    ttl: Optional[str] = None
    """How long it can be used; at most, and unless given, as the approle says."""
    num_uses: Optional[int] = None
    """How often it can be used; at most, and unless given, as the approle says."""
    bound_cidrs: Optional[list[str]] = None
    """Ranges of addresses it can be used from, besides those of the approle."""


@dataclass(frozen=True)
class HealthAnswer(Document):
    """HealthAnswer."""

    status: HealthAnswerStatus
    """degraded: requests are served, and a person should act; down: some requests cannot be served."""


@dataclass(frozen=True)
class HmacAnswer(Document):
    """HmacAnswer."""

    hmac: str
    """The HMAC."""
    key_version: int
    """Version of the key that was used."""


@dataclass(frozen=True)
class HmacBatchAnswer(Document):
    """HmacBatchAnswer."""

    batch_results: list[HmacBatchResult] = field(repr=False)
    """One result for each request, in order."""
    failed: int
    """How many failed."""


@dataclass(frozen=True)
class HmacBatchItem(Document):
    """HmacBatchItem."""

    plaintext: str
    """What to authenticate: base64, or raw UTF-8 with base64-encoded false."""
    base64_encoded: Optional[bool] = None
    """false: the text is raw UTF-8."""
    hash_algorithm: Optional[HashAlgorithm] = None
    """Hash of the text, for RSA and ECDSA."""
    key_version: Optional[int] = None
    """Version to use; default: the version in use."""
    reference: Optional[str] = None
    """Echoed from the request."""


@dataclass(frozen=True)
class HmacBatchRequest(Document):
    """HmacBatchRequest."""

    batch_input: list[HmacBatchItem] = field(repr=False)
    """The requests."""


@dataclass(frozen=True)
class HmacBatchResult(Document):
    """HmacBatchResult."""

    hmac: Optional[str] = None
    """The HMAC."""
    key_version: Optional[int] = None
    """Version of the key that was used."""
    reference: Optional[str] = None
    """Echoed from the request."""
    status: Optional[int] = None
    """Of a request that failed: the HTTP status it would have had."""
    code: Optional[str] = None
    """Of a request that failed: the error code."""
    error_message: Optional[str] = None
    """Of a request that failed: why."""


@dataclass(frozen=True)
class HmacRequest(Document):
    """HmacRequest."""

    plaintext: str = field(repr=False)
    """What to authenticate: base64, or raw UTF-8 with base64-encoded false."""
    base64_encoded: Optional[bool] = None
    """false: the text is raw UTF-8."""
    hash_algorithm: Optional[HashAlgorithm] = None
    """Hash of the text, for RSA and ECDSA."""
    key_version: Optional[int] = None
    """Version to use; default: the version in use."""


@dataclass(frozen=True)
class HsmAnswer(Document):
    """HsmAnswer."""

    tokens: list[HsmToken]
    """The configured tokens."""


@dataclass(frozen=True)
class HsmObject(Document):
    """HsmObject."""

    label: str
    """Label of the object."""
    kind: HsmObjectKind
    """Its class in PKCS#11."""
    sensitive: bool
    """Whether its value is never shown in clear."""
    extractable: bool
    """Whether it can leave the token wrapped."""
    modifiable: bool
    """Whether its attributes can be changed."""
    uses: list[str]
    """What the token allows it."""
    needless: list[str]
    """Those of them that its job does not need: of an earlier version, or changed since."""


@dataclass(frozen=True)
class HsmToken(Document):
    """HsmToken."""

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
    state: HsmTokenState
    """Whether it works. `damaged`: its own keys are missing. A refused PIN is not tried again."""
    key_types: list[str]
    """Key types that the token supports."""
    mechanisms: list[str]
    """Mechanisms of the token."""
    wrapping_key: HsmTokenWrappingKey
    """The key that wraps all others, and its last rotation."""
    own_pin: bool
    """Whether the appliance chose its user PIN and keeps it; then `change-pin` replaces it."""
    loaded_keys: int
    """Keys loaded now."""
    sessions: HsmTokenSessions
    """Sessions of the answering worker, counted recently."""
    latencies: dict[str, HsmTokenLatency]
    """Time of recent calls by operation."""
    group: Optional[HsmTokenGroup] = None
    """The tokens with which it shares its keys; absent for a token by itself."""
    reason: Optional[str] = None
    """Why it is not up, and how to correct it."""


@dataclass(frozen=True)
class HsmTokenGroup(Document):
    """The tokens with which it shares its keys; absent for a token by itself."""

    name: str
    """Name of the group, which stored keys have."""
    opens_keys: bool
    """Whether the token is up and has the wrapping key in use."""


@dataclass(frozen=True)
class HsmTokenLatency(Document):
    """HsmTokenLatency."""

    count: int
    """Calls that were measured."""
    p50: float
    """Median in microseconds."""
    p99: float
    """99th percentile in microseconds."""
    unit: HsmTokenLatencyUnit
    """Of both."""


@dataclass(frozen=True)
class HsmTokenSessions(Document):
    """Sessions of the answering worker, counted recently."""

    size: int
    """Sessions that may be open."""
    busy: int
    """Sessions in use."""
    waiting: int
    """Calls that wait for a session."""


@dataclass(frozen=True)
class HsmTokenWrappingKey(Document):
    """The key that wraps all others, and its last rotation."""

    number: int
    """Number of the wrapping key in use; each rotation makes the next."""
    state: WrappingKeyState
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
class HsmTrial(Document):
    """HsmTrial."""

    name: str
    """Name of the token in the configuration."""
    works: bool
    """Whether it drew random octets, and encrypted and decrypted with a key of its own."""
    milliseconds: float
    """How long that took."""
    objects: list[HsmObject]
    """The first 200 persistent objects of this service, as they are in the token now."""
    problem: Optional[str] = None
    """What went wrong."""


@dataclass(frozen=True)
class ImageAnswer(Document):
    """ImageAnswer."""

    is_image: bool
    """Whether the machine runs the bootable image. Elsewhere there is nothing but this field: packages and

    containers are updated as such.
    """
    version: Optional[str] = None
    """A version of the image."""
    slots: Optional[list[ImageSlot]] = None
    """What the two slots have. A slot that was never written is left out."""
    trial: Optional[ImageAnswerTrial] = None
    """Whether the version is on trial: `pending` until the daemon serves with it, `confirmed` in the start that

    accepted it, `none` in later ones.
    """
    last_update: Optional[str] = None
    """What became of the update that was last offered since the machine started; in the words of its screen."""


@dataclass(frozen=True)
class ImageSlot(Document):
    """ImageSlot."""

    version: str
    """A version of the image."""
    running: bool
    """Whether it is the one that runs."""


@dataclass(frozen=True)
class ImportOpenpgpAnswer(Document):
    """ImportOpenpgpAnswer."""

    name: str
    """Name of the new transit key."""
    cipher: str
    """What the key in the block is."""
    fingerprints: list[str]
    """Of the primary key first, then of its subkeys."""
    key_version: int
    """Its one version."""
    warnings: Optional[list[str]] = None
    """What other programs refuse of the certificate; absent where there is nothing."""


@dataclass(frozen=True)
class ImportOpenpgpRequest(Document):
    """ImportOpenpgpRequest."""

    name: str
    """Name of the new transit key."""
    openpgp: str
    """Public key block with one certificate: ASCII armor, or base64 of the packets; of these at most 256 KiB."""


@dataclass(frozen=True)
class ImportRequest(Document):
    """ImportRequest."""

    data: Optional[str] = field(default=None, repr=False)
    """PKCS#8, PKCS#1 or SEC1 as PEM, or base64 of DER; base64 for symmetric keys."""
    ciphertext: Optional[str] = field(default=None, repr=False)
    """In place of data: wrapped under GET /v1/state/keystore/wrapping-key, or under the key of

    import-wrapping-key.
    """
    import_id: Optional[str] = None
    """Of ciphertext: which key of import-wrapping-key it is wrapped under; unless given, that of the tenant."""


@dataclass(frozen=True)
class ImportWrappingKeyAnswer(Document):
    """ImportWrappingKeyAnswer."""

    wrapping_key: str
    """SubjectPublicKeyInfo PEM, RSA-4096."""


@dataclass(frozen=True)
class ImportWrappingKeyOfOneAnswer(Document):
    """ImportWrappingKeyOfOneAnswer."""

    wrapping_key: str
    """SubjectPublicKeyInfo PEM, RSA-4096."""
    import_id: str
    """Given with the import."""
    expires: str
    """When it ends, used or not."""


@dataclass(frozen=True)
class ImportWrappingKeyOfOneRequest(Document):
    """ImportWrappingKeyOfOneRequest."""

    ttl: Optional[str] = None
    """How long it can be used, at most 1d."""


@dataclass(frozen=True)
class IssuedCertificate(Document):
    """IssuedCertificate."""

    serial: str
    """Serial number."""
    subject: Optional[str] = None
    """Subject."""
    names: Optional[list[str]] = None
    """Subject alternative names."""
    not_before: Optional[str] = None
    """When it begins."""
    not_after: Optional[str] = None
    """When it ends."""
    via: Optional[str] = None
    """How it came about."""
    key_version: Optional[int] = None
    """Key of the CA that signed it."""
    status: Optional[CertificateStatus] = None
    """What it is worth now."""
    line: Optional[str] = None
    """Serial number of the first certificate of its line, when it renewed one."""
    revoked_at: Optional[str] = None
    """When it was revoked."""
    revocation_reason: Optional[str] = None
    """Why it was revoked."""
    certificate: Optional[str] = None
    """The certificate; only where one is asked for."""


@dataclass(frozen=True)
class KeyDistributionAnswer(Document):
    """KeyDistributionAnswer."""

    key_version: int
    """Version of the key that it is about."""
    complete: bool
    """Whether every appliance that was not removed holds it."""
    appliances: list[KeyDistributionAppliance]
    """Every appliance that was not removed, by name."""


@dataclass(frozen=True)
class KeyDistributionAppliance(Document):
    """KeyDistributionAppliance."""

    self: bool
    """Whether it is the one that answers."""
    state: DistributionState
    """`holds`: its store has the version, and its token has opened it just now. `lacks`: `reason` says why.

    `silent`: it did not say in time. `away`: it is out of the cluster, and was not asked.
    """
    name: Optional[str] = None
    """Name of the appliance in its cluster; absent for one that stands alone."""
    id: Optional[str] = None
    """Its identity there."""
    token: Optional[str] = None
    """Token that opened it, by its name in the configuration."""
    token_serial: Optional[str] = None
    """Serial number that this token says it has."""
    reason: Optional[str] = None
    """Why it lacks the version."""


@dataclass(frozen=True)
class NeededRight(Document):
    """NeededRight."""

    field: str
    """The field."""
    operation: PolicyCheckRequestOperation
    """What must be allowed."""
    path: str
    """And where: `{}` stands for the name in the field."""


@dataclass(frozen=True)
class OidcExplainAnswer(Document):
    """OidcExplainAnswer."""

    outcome: str
    """signed-in, or the code of the refusal."""
    explanation: str
    """The same in a sentence."""
    role_claim: str
    """Claim that roles are matched with."""
    roles: list[OidcExplainRole]
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
    login: Optional[OidcExplainLogin] = None
    """The failed sign-in that was asked for."""


@dataclass(frozen=True)
class OidcExplainLogin(Document):
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
class OidcExplainRequest(Document):
    """OidcExplainRequest."""

    claims: Optional[dict[str, Any]] = field(default=None, repr=False)
    """Claims as the provider sends them."""
    login: Optional[str] = None
    """Reference of a failed sign-in, as shown on its page."""


@dataclass(frozen=True)
class OidcExplainRole(Document):
    """OidcExplainRole."""

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
class OidcLoginPollAnswer(Document):
    """OidcLoginPollAnswer."""

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
class OidcLoginPollRequest(Document):
    """OidcLoginPollRequest."""

    poll_token: str = field(repr=False)
    """As the request for a sign-in was answered."""


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
    required_claims: Optional[list[str]] = None
    """Claims without which the role is not given; nested ones as JSON pointers, such as /address/country."""
    claim_mappings: Optional[dict[str, ClaimTarget]] = None
    """Claim to what it tells of the user; a nested claim as a JSON pointer."""
    oidc_scopes: Optional[list[str]] = None
    """Scopes asked for, besides openid."""
    token_policies: Optional[list[str]] = None
    """Policies the sign-in gets."""
    labels: Optional[dict[str, str]] = None
    """Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name

    and value at most 63 letters, digits, ".", "_" and "-". They are no secrets.
    """


@dataclass(frozen=True)
class OidcRoleCreation(Document):
    """OidcRoleCreation."""

    name: str
    """Name of the OIDC role."""
    required_claims: Optional[list[str]] = None
    """Claims without which the role is not given; nested ones as JSON pointers, such as /address/country."""
    claim_mappings: Optional[dict[str, ClaimTarget]] = None
    """Claim to what it tells of the user; a nested claim as a JSON pointer."""
    oidc_scopes: Optional[list[str]] = None
    """Scopes asked for, besides openid."""
    token_policies: Optional[list[str]] = None
    """Policies the sign-in gets."""
    labels: Optional[dict[str, str]] = None
    """Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name

    and value at most 63 letters, digits, ".", "_" and "-". They are no secrets.
    """


@dataclass(frozen=True)
class OidcRoleMerge(Document):
    """OidcRoleMerge."""

    required_claims: Union[list[str], Unset, None] = UNSET
    """Claims without which the role is not given; nested ones as JSON pointers, such as /address/country."""
    claim_mappings: Union[dict[str, ClaimTarget], Unset, None] = UNSET
    """Claim to what it tells of the user; a nested claim as a JSON pointer."""
    oidc_scopes: Union[list[str], Unset, None] = UNSET
    """Scopes asked for, besides openid."""
    token_policies: Union[list[str], Unset, None] = UNSET
    """Policies the sign-in gets."""
    labels: Union[dict[str, str], Unset, None] = UNSET
    """Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name

    and value at most 63 letters, digits, ".", "_" and "-". They are no secrets.
    """


@dataclass(frozen=True)
class OidcRoleReplacement(Document):
    """OidcRoleReplacement."""

    required_claims: Optional[list[str]] = None
    """Claims without which the role is not given; nested ones as JSON pointers, such as /address/country."""
    claim_mappings: Optional[dict[str, ClaimTarget]] = None
    """Claim to what it tells of the user; a nested claim as a JSON pointer."""
    oidc_scopes: Optional[list[str]] = None
    """Scopes asked for, besides openid."""
    token_policies: Optional[list[str]] = None
    """Policies the sign-in gets."""
    labels: Optional[dict[str, str]] = None
    """Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name

    and value at most 63 letters, digits, ".", "_" and "-". They are no secrets.
    """


@dataclass(frozen=True)
class OidcRoleState(Document):
    """OidcRoleState."""

    name: str
    """Name of the OIDC role."""
    required_claims: Optional[list[str]] = None
    """Claims without which the role is not given; nested ones as JSON pointers, such as /address/country."""
    claim_mappings: Optional[dict[str, ClaimTarget]] = None
    """Claim to what it tells of the user; a nested claim as a JSON pointer."""
    oidc_scopes: Optional[list[str]] = None
    """Scopes asked for, besides openid."""
    token_policies: Optional[list[str]] = None
    """Policies the sign-in gets."""
    labels: Optional[dict[str, str]] = None
    """Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name

    and value at most 63 letters, digits, ".", "_" and "-". They are no secrets.
    """


@dataclass(frozen=True)
class OidcService(Document):
    """OidcService."""

    name: str
    """Name of the OIDC service."""
    display_name: Optional[str] = None
    """What the login page calls it."""
    discovery_url: Optional[str] = None
    """Where the provider's OpenID Connect metadata is."""
    provider_hosts: Optional[list[str]] = None
    """Hosts beside that of discovery-url at which the provider may have its token endpoint and its keys, as some

    do. Those of Google are known. A service of version 0.1.0 without this field takes any host.
    """
    use_root_ca_certs: Optional[bool] = None
    """Whether the public CAs are trusted for the provider."""
    ca_certs: Optional[str] = None
    """CAs trusted for the provider besides, PEM."""
    client_id: Optional[str] = None
    """The id the provider gave this appliance."""
    verbose_logging: Optional[bool] = None
    """Write claims of sign-ins into system:logs: while setting up, not in production."""
    role_select: Optional[OidcServiceRoleSelect] = None
    """How roles are chosen."""
    allowed_redirect_uris: Optional[list[str]] = None
    """Redirect URIs as registered at the provider; the path is /oidc-callback."""
    token_endpoint_auth_method: Optional[TokenEndpointAuthMethod] = None
    """How the secret is sent; default: as the provider says."""
    clock_tolerance: Optional[str] = None
    """How far the clocks may differ."""
    session_ttl: Optional[str] = None
    """How long a sign-in lasts."""
    labels: Optional[dict[str, str]] = None
    """Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name

    and value at most 63 letters, digits, ".", "_" and "-". They are no secrets.
    """


@dataclass(frozen=True)
class OidcServiceCreation(Document):
    """OidcServiceCreation."""

    name: str
    """Name of the OIDC service."""
    discovery_url: str
    """Where the provider's OpenID Connect metadata is."""
    client_id: str
    """The id the provider gave this appliance."""
    role_select: OidcServiceRoleSelectInput
    """How roles are chosen."""
    allowed_redirect_uris: list[str]
    """Redirect URIs as registered at the provider; the path is /oidc-callback."""
    display_name: Optional[str] = None
    """What the login page calls it."""
    provider_hosts: Optional[list[str]] = None
    """Hosts beside that of discovery-url at which the provider may have its token endpoint and its keys, as some

    do. Those of Google are known. A service of version 0.1.0 without this field takes any host.
    """
    use_root_ca_certs: Optional[bool] = None
    """Whether the public CAs are trusted for the provider."""
    ca_certs: Optional[str] = None
    """CAs trusted for the provider besides, PEM."""
    client_secret: Optional[str] = field(default=None, repr=False)
    """The secret the provider gave this appliance."""
    verbose_logging: Optional[bool] = None
    """Write claims of sign-ins into system:logs: while setting up, not in production."""
    token_endpoint_auth_method: Optional[TokenEndpointAuthMethod] = None
    """How the secret is sent; default: as the provider says."""
    clock_tolerance: Optional[str] = None
    """How far the clocks may differ."""
    session_ttl: Optional[str] = None
    """How long a sign-in lasts."""
    labels: Optional[dict[str, str]] = None
    """Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name

    and value at most 63 letters, digits, ".", "_" and "-". They are no secrets.
    """


@dataclass(frozen=True)
class OidcServiceMerge(Document):
    """OidcServiceMerge."""

    display_name: Union[str, Unset, None] = UNSET
    """What the login page calls it."""
    discovery_url: Optional[str] = None
    """Where the provider's OpenID Connect metadata is."""
    provider_hosts: Union[list[str], Unset, None] = UNSET
    """Hosts beside that of discovery-url at which the provider may have its token endpoint and its keys, as some

    do. Those of Google are known. A service of version 0.1.0 without this field takes any host.
    """
    use_root_ca_certs: Optional[bool] = None
    """Whether the public CAs are trusted for the provider."""
    ca_certs: Union[str, Unset, None] = UNSET
    """CAs trusted for the provider besides, PEM."""
    client_id: Optional[str] = None
    """The id the provider gave this appliance."""
    client_secret: Optional[str] = field(default=None, repr=False)
    """The secret the provider gave this appliance."""
    verbose_logging: Optional[bool] = None
    """Write claims of sign-ins into system:logs: while setting up, not in production."""
    role_select: Optional[OidcServiceRoleSelectMerge] = None
    """How roles are chosen."""
    allowed_redirect_uris: Optional[list[str]] = None
    """Redirect URIs as registered at the provider; the path is /oidc-callback."""
    token_endpoint_auth_method: Union[TokenEndpointAuthMethod, Unset, None] = UNSET
    """How the secret is sent; default: as the provider says."""
    clock_tolerance: Optional[str] = None
    """How far the clocks may differ."""
    session_ttl: Optional[str] = None
    """How long a sign-in lasts."""
    labels: Union[dict[str, str], Unset, None] = UNSET
    """Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name

    and value at most 63 letters, digits, ".", "_" and "-". They are no secrets.
    """


@dataclass(frozen=True)
class OidcServiceReplacement(Document):
    """OidcServiceReplacement."""

    discovery_url: str
    """Where the provider's OpenID Connect metadata is."""
    client_id: str
    """The id the provider gave this appliance."""
    role_select: OidcServiceRoleSelectInput
    """How roles are chosen."""
    allowed_redirect_uris: list[str]
    """Redirect URIs as registered at the provider; the path is /oidc-callback."""
    display_name: Optional[str] = None
    """What the login page calls it."""
    provider_hosts: Optional[list[str]] = None
    """Hosts beside that of discovery-url at which the provider may have its token endpoint and its keys, as some

    do. Those of Google are known. A service of version 0.1.0 without this field takes any host.
    """
    use_root_ca_certs: Optional[bool] = None
    """Whether the public CAs are trusted for the provider."""
    ca_certs: Optional[str] = None
    """CAs trusted for the provider besides, PEM."""
    client_secret: Optional[str] = field(default=None, repr=False)
    """The secret the provider gave this appliance."""
    verbose_logging: Optional[bool] = None
    """Write claims of sign-ins into system:logs: while setting up, not in production."""
    token_endpoint_auth_method: Optional[TokenEndpointAuthMethod] = None
    """How the secret is sent; default: as the provider says."""
    clock_tolerance: Optional[str] = None
    """How far the clocks may differ."""
    session_ttl: Optional[str] = None
    """How long a sign-in lasts."""
    labels: Optional[dict[str, str]] = None
    """Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name

    and value at most 63 letters, digits, ".", "_" and "-". They are no secrets.
    """


@dataclass(frozen=True)
class OidcServiceRoleSelect(Document):
    """How roles are chosen."""

    role_claim: Optional[str] = None
    """Claim whose values are matched against the names of roles; a nested one is written as a JSON pointer, such

    as /realm_access/roles.
    """


@dataclass(frozen=True)
class OidcServiceRoleSelectInput(Document):
    """How roles are chosen."""

    role_claim: str
    """Claim whose values are matched against the names of roles; a nested one is written as a JSON pointer, such

    as /realm_access/roles.
    """


@dataclass(frozen=True)
class OidcServiceRoleSelectMerge(Document):
    """How roles are chosen."""

    role_claim: Optional[str] = None
    """Claim whose values are matched against the names of roles; a nested one is written as a JSON pointer, such

    as /realm_access/roles.
    """


@dataclass(frozen=True)
class OidcServiceState(Document):
    """OidcServiceState."""

    name: str
    """Name of the OIDC service."""
    display_name: Optional[str] = None
    """What the login page calls it."""
    discovery_url: Optional[str] = None
    """Where the provider's OpenID Connect metadata is."""
    provider_hosts: Optional[list[str]] = None
    """Hosts beside that of discovery-url at which the provider may have its token endpoint and its keys, as some

    do. Those of Google are known. A service of version 0.1.0 without this field takes any host.
    """
    use_root_ca_certs: Optional[bool] = None
    """Whether the public CAs are trusted for the provider."""
    ca_certs: Optional[str] = None
    """CAs trusted for the provider besides, PEM."""
    client_id: Optional[str] = None
    """The id the provider gave this appliance."""
    verbose_logging: Optional[bool] = None
    """Write claims of sign-ins into system:logs: while setting up, not in production."""
    role_select: Optional[OidcServiceRoleSelect] = None
    """How roles are chosen."""
    allowed_redirect_uris: Optional[list[str]] = None
    """Redirect URIs as registered at the provider; the path is /oidc-callback."""
    token_endpoint_auth_method: Optional[TokenEndpointAuthMethod] = None
    """How the secret is sent; default: as the provider says."""
    clock_tolerance: Optional[str] = None
    """How far the clocks may differ."""
    session_ttl: Optional[str] = None
    """How long a sign-in lasts."""
    labels: Optional[dict[str, str]] = None
    """Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name

    and value at most 63 letters, digits, ".", "_" and "-". They are no secrets.
    """
    notices: Optional[list[str]] = None
    """What an administrator should know, in sentences."""
    client_secret_set: Optional[bool] = None
    """Whether the secret is set; its value is never answered."""


@dataclass(frozen=True)
class OidcTestAnswer(Document):
    """OidcTestAnswer."""

    usable: bool
    """Whether sign-ins can work."""
    findings: list[OidcTestFinding]
    """What is wrong, errors first."""
    issuer: Optional[str] = None
    """Issuer in the metadata."""
    authorization_endpoint: Optional[str] = None
    """Where users sign in."""
    token_endpoint: Optional[str] = None
    """Where codes are exchanged."""
    algorithms: Optional[list[str]] = None
    """Signature algorithms both sides know."""
    pkce: Optional[OidcTestPkce] = None
    """Proof key for code exchange (RFC 7636)."""
    iss_parameter: Optional[bool] = None
    """Whether the provider names itself in its redirects (RFC 9207)."""
    token_endpoint_auth_method: Optional[str] = None
    """How the secret is sent."""
    client_credentials: Optional[OidcTestAnswerClientCredentials] = None
    """What the token endpoint says to client-id and client-secret, tried with a code that does not exist."""
    redirect_uris: Optional[list[OidcTestRedirectUri]] = None
    """The redirect URIs."""
    keys: Optional[list[OidcTestKey]] = None
    """Keys of the provider."""
    directory_host: Optional[str] = None
    """Host of the directory API that answers memberships."""
    certificate_chain: Optional[list[OidcTestCertificateChain]] = None
    """TLS certificates of the provider."""
    clock_difference_seconds: Optional[float] = None
    """Seconds the provider's clock is ahead of the appliance's, by its Date header."""
    scopes: Optional[list[str]] = None
    """Scopes a sign-in asks for."""


@dataclass(frozen=True)
class OidcTestCertificateChain(Document):
    """OidcTestCertificateChain."""

    subject: str
    """Subject."""
    issuer: str
    """Issuer."""
    not_after: str
    """When it ends."""


@dataclass(frozen=True)
class OidcTestFinding(Document):
    """OidcTestFinding."""

    level: OidcTestFindingLevel
    """Whether sign-ins fail because of it."""
    message: str
    """What is wrong."""
    fix: Optional[str] = None
    """What to do about it."""


@dataclass(frozen=True)
class OidcTestKey(Document):
    """OidcTestKey."""

    kty: str
    """Key type."""
    kid: Optional[str] = None
    """Key id."""
    alg: Optional[str] = None
    """Algorithm."""
    use: Optional[str] = None
    """What for."""


@dataclass(frozen=True)
class OidcTestPkce(Document):
    """Proof key for code exchange (RFC 7636)."""

    method: OidcTestPkceMethod
    """Always sent."""
    listed: bool
    """Whether the provider promises to check it."""


@dataclass(frozen=True)
class OidcTestRedirectUri(Document):
    """OidcTestRedirectUri."""

    uri: str
    """One of allowed-redirect-uris."""
    registered: OidcTestRedirectUriRegistered
    """Whether the provider knows it."""


@dataclass(frozen=True)
class OidcTestRequest(Document):
    """OidcTestRequest."""


@dataclass(frozen=True)
class OpenpgpSignAnswer(Document):
    """OpenpgpSignAnswer."""

    signature: str
    """The detached signature."""
    key_version: int
    """Version of the key that was used."""


@dataclass(frozen=True)
class OpenpgpSignRequest(Document):
    """OpenpgpSignRequest."""

    text: str = field(repr=False)
    """What to sign: base64, or raw UTF-8 with base64-encoded false."""
    base64_encoded: Optional[bool] = None
    """false: the text is raw UTF-8."""
    key_version: Optional[int] = None
    """Version to use; default: the version in use."""
    format: Optional[OpenpgpSignRequestFormat] = None
    """binary answers the packet in base64."""
    expires_after: Optional[str] = None
    """How long the signature holds; for ever when absent."""


@dataclass(frozen=True)
class OpenpgpVerifyAnswer(Document):
    """OpenpgpVerifyAnswer."""

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
class OpenpgpVerifyRequest(Document):
    """OpenpgpVerifyRequest."""

    text: str = field(repr=False)
    """What was signed: base64, or raw UTF-8 with base64-encoded false."""
    signature: str = field(repr=False)
    """Detached signature: ASCII armor, or base64 of the packets."""
    base64_encoded: Optional[bool] = None
    """false: the text is raw UTF-8."""


@dataclass(frozen=True)
class OwnKeyInput(Document):
    """OwnKeyInput."""

    number: int
    """Number of the key."""
    carrying: Optional[str] = None
    """The carrying by which it came into the tokens."""


@dataclass(frozen=True)
class Policy(Document):
    """Policy."""

    name: str
    """Name of the policy."""
    description: Optional[str] = None
    """What the policy is for."""
    rest_api: Optional[PolicyRestApi] = None
    """What may be done over this API."""
    labels: Optional[dict[str, str]] = None
    """Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name

    and value at most 63 letters, digits, ".", "_" and "-". They are no secrets.
    """


@dataclass(frozen=True)
class PolicyCheckAnswer(Document):
    """PolicyCheckAnswer."""

    allowed: bool
    """Whether the request would not be refused with 403."""
    exists: bool
    """Whether the tenant has such a path; where it has not, a request is answered 404 whatever the policies say."""
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
    also_needs: Optional[list[NeededRight]] = None
    """What the request needs besides, where a field of it, or of the entry in its path, names another entry or

    has a value that needs more.
    """


@dataclass(frozen=True)
class PolicyCheckManyAnswer(Document):
    """PolicyCheckManyAnswer."""

    decisions: list[PolicyCheckManyDecision]
    """What is said of each, in the same order."""


@dataclass(frozen=True)
class PolicyCheckManyDecision(Document):
    """PolicyCheckManyDecision."""

    allowed: bool
    """Whether the request would not be refused with 403."""
    exists: bool
    """Whether the tenant has such a path; where it has not, a request is answered 404 whatever the policies say."""
    why: str
    """The decision in words."""
    rule: Optional[str] = None
    """Path of the rule that decided."""


@dataclass(frozen=True)
class PolicyCheckManyRequest(Document):
    """PolicyCheckManyRequest."""

    questions: list[PolicyQuestionInput]
    """The requests in question."""


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
    names: Optional[dict[str, str]] = None
    """What fields of the request name, so that this is judged too: field to name."""


@dataclass(frozen=True)
class PolicyCreation(Document):
    """PolicyCreation."""

    name: str
    """Name of the policy."""
    description: Optional[str] = None
    """What the policy is for."""
    rest_api: Optional[PolicyRestApiInput] = None
    """What may be done over this API."""
    labels: Optional[dict[str, str]] = None
    """Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name

    and value at most 63 letters, digits, ".", "_" and "-". They are no secrets.
    """


@dataclass(frozen=True)
class PolicyMerge(Document):
    """PolicyMerge."""

    description: Optional[str] = None
    """What the policy is for."""
    rest_api: Union[PolicyRestApiMerge, Unset, None] = UNSET
    """What may be done over this API."""
    labels: Union[dict[str, str], Unset, None] = UNSET
    """Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name

    and value at most 63 letters, digits, ".", "_" and "-". They are no secrets.
    """


@dataclass(frozen=True)
class PolicyOperations(Document):
    """What the rule says of each operation."""

    all: Optional[PolicyEffect] = None
    """Whether anything may be done that no other field here says."""
    create: Optional[PolicyEffect] = None
    """Whether entries may be made."""
    read: Optional[PolicyEffect] = None
    """Whether it may be read."""
    update: Optional[PolicyEffect] = None
    """Whether entries may be changed."""
    delete: Optional[PolicyEffect] = None
    """Whether entries may be deleted."""
    execute: Optional[PolicyEffect] = None
    """Whether actions may be run."""


@dataclass(frozen=True)
class PolicyOperationsInput(Document):
    """What the rule says of each operation."""

    all: Optional[PolicyEffect] = None
    """Whether anything may be done that no other field here says."""
    create: Optional[PolicyEffect] = None
    """Whether entries may be made."""
    read: Optional[PolicyEffect] = None
    """Whether it may be read."""
    update: Optional[PolicyEffect] = None
    """Whether entries may be changed."""
    delete: Optional[PolicyEffect] = None
    """Whether entries may be deleted."""
    execute: Optional[PolicyEffect] = None
    """Whether actions may be run."""


@dataclass(frozen=True)
class PolicyOperationsMerge(Document):
    """What the rule says of each operation."""

    all: Optional[PolicyEffect] = None
    """Whether anything may be done that no other field here says."""
    create: Optional[PolicyEffect] = None
    """Whether entries may be made."""
    read: Optional[PolicyEffect] = None
    """Whether it may be read."""
    update: Optional[PolicyEffect] = None
    """Whether entries may be changed."""
    delete: Optional[PolicyEffect] = None
    """Whether entries may be deleted."""
    execute: Optional[PolicyEffect] = None
    """Whether actions may be run."""


@dataclass(frozen=True)
class PolicyQuestionInput(Document):
    """PolicyQuestionInput."""

    path: str
    """The path of a request."""
    operation: PolicyCheckRequestOperation
    """What would be done there."""


@dataclass(frozen=True)
class PolicyReplacement(Document):
    """PolicyReplacement."""

    description: Optional[str] = None
    """What the policy is for."""
    rest_api: Optional[PolicyRestApiInput] = None
    """What may be done over this API."""
    labels: Optional[dict[str, str]] = None
    """Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name

    and value at most 63 letters, digits, ".", "_" and "-". They are no secrets.
    """


@dataclass(frozen=True)
class PolicyRestApi(Document):
    """What may be done over this API."""

    rules: Optional[list[PolicyRule]] = None
    """The most exact rule for a path decides; without one it is refused."""


@dataclass(frozen=True)
class PolicyRestApiInput(Document):
    """What may be done over this API."""

    rules: Optional[list[PolicyRuleInput]] = None
    """The most exact rule for a path decides; without one it is refused."""


@dataclass(frozen=True)
class PolicyRestApiMerge(Document):
    """PolicyRestApiMerge."""

    rules: Union[list[PolicyRuleMerge], Unset, None] = UNSET
    """The most exact rule for a path decides; without one it is refused."""


@dataclass(frozen=True)
class PolicyRule(Document):
    """PolicyRule."""

    path: Optional[str] = None
    """The paths the rule is about: `*` stands for one segment, `**` at the end for any rest."""
    operations: Optional[PolicyOperations] = None
    """What the rule says of each operation."""
    allowed_values: Optional[dict[str, list[Any]]] = None
    """Name of a field, inside containers `a/b`, to the values a request may give it. One that is left out counts

    with its default or, where that is no value of its own, as null; so does an empty list that means more
    than nothing.
    """
    hide_fields: Optional[list[str]] = None
    """Names of fields left out of answers."""


@dataclass(frozen=True)
class PolicyRuleInput(Document):
    """PolicyRuleInput."""

    path: str
    """The paths the rule is about: `*` stands for one segment, `**` at the end for any rest."""
    operations: PolicyOperationsInput
    """What the rule says of each operation."""
    allowed_values: Optional[dict[str, list[Any]]] = None
    """Name of a field, inside containers `a/b`, to the values a request may give it. One that is left out counts

    with its default or, where that is no value of its own, as null; so does an empty list that means more
    than nothing.
    """
    hide_fields: Optional[list[str]] = None
    """Names of fields left out of answers."""


@dataclass(frozen=True)
class PolicyRuleMerge(Document):
    """PolicyRuleMerge."""

    path: str
    """The paths the rule is about: `*` stands for one segment, `**` at the end for any rest."""
    operations: PolicyOperationsMerge
    """What the rule says of each operation."""
    allowed_values: Optional[dict[str, list[Any]]] = None
    """Name of a field, inside containers `a/b`, to the values a request may give it. One that is left out counts

    with its default or, where that is no value of its own, as null; so does an empty list that means more
    than nothing.
    """
    hide_fields: Optional[list[str]] = None
    """Names of fields left out of answers."""


@dataclass(frozen=True)
class PolicyState(Document):
    """PolicyState."""

    name: str
    """Name of the policy."""
    description: Optional[str] = None
    """What the policy is for."""
    rest_api: Optional[PolicyRestApi] = None
    """What may be done over this API."""
    labels: Optional[dict[str, str]] = None
    """Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name

    and value at most 63 letters, digits, ".", "_" and "-". They are no secrets.
    """
    built_in: Optional[bool] = None
    """Whether every tenant has it; built-in policies cannot be changed."""
    warnings: Optional[list[str]] = None
    """Rules that no request can meet, and names that cannot be hidden."""


@dataclass(frozen=True)
class PolicyWithWarnings(Document):
    """PolicyWithWarnings."""

    name: str
    """Name of the policy."""
    description: Optional[str] = None
    """What the policy is for."""
    rest_api: Optional[PolicyRestApi] = None
    """What may be done over this API."""
    labels: Optional[dict[str, str]] = None
    """Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name

    and value at most 63 letters, digits, ".", "_" and "-". They are no secrets.
    """
    warnings: Optional[list[str]] = None
    """What was accepted and is hardly meant so."""


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
    errors: list[ProblemItem]
    """One item for each thing that is wrong."""
    detail: Optional[str] = None
    """For people: field, rule and fix. Absent from 500 up."""


@dataclass(frozen=True)
class ProblemItem(Document):
    """One thing that is wrong with a request."""

    error_message: str
    """What is wrong."""
    error_info: Optional[str] = None
    """Where: the path of the field."""


@dataclass(frozen=True)
class RandomBytesAnswer(Document):
    """RandomBytesAnswer."""

    bytes: str = field(repr=False)
    """The octets in the format asked for."""


@dataclass(frozen=True)
class RandomBytesRequest(Document):
    """RandomBytesRequest."""

    bytes: Optional[int] = None
    """How many octets."""
    format: Optional[RandomBytesRequestFormat] = None
    """How they are written."""


@dataclass(frozen=True)
class RestoreRequest(Document):
    """RestoreRequest."""

    key: str = field(repr=False)
    """What backup answered, here or on another appliance."""


@dataclass(frozen=True)
class RewrapAnswer(Document):
    """RewrapAnswer."""

    ciphertext: str
    """The ciphertext under the other version."""
    key_version: int
    """Version of the key that was used."""


@dataclass(frozen=True)
class RewrapBatchAnswer(Document):
    """RewrapBatchAnswer."""

    batch_results: list[RewrapBatchResult] = field(repr=False)
    """One result for each request, in order."""
    failed: int
    """How many failed."""


@dataclass(frozen=True)
class RewrapBatchItem(Document):
    """RewrapBatchItem."""

    ciphertext: str
    """What encrypt answered."""
    context: Optional[str] = None
    """Required for derived keys: the same text again to decrypt."""
    associated_data: Optional[str] = None
    """Authenticated with the ciphertext, not part of it: the same again to decrypt."""
    key_version: Optional[int] = None
    """Version to use; default: the version in use."""
    reference: Optional[str] = None
    """Echoed from the request."""


@dataclass(frozen=True)
class RewrapBatchRequest(Document):
    """RewrapBatchRequest."""

    batch_input: list[RewrapBatchItem] = field(repr=False)
    """The requests."""


@dataclass(frozen=True)
class RewrapBatchResult(Document):
    """RewrapBatchResult."""

    ciphertext: Optional[str] = None
    """The ciphertext under the other version."""
    key_version: Optional[int] = None
    """Version of the key that was used."""
    reference: Optional[str] = None
    """Echoed from the request."""
    status: Optional[int] = None
    """Of a request that failed: the HTTP status it would have had."""
    code: Optional[str] = None
    """Of a request that failed: the error code."""
    error_message: Optional[str] = None
    """Of a request that failed: why."""


@dataclass(frozen=True)
class RewrapRequest(Document):
    """RewrapRequest."""

    ciphertext: str = field(repr=False)
    """What encrypt answered."""
    context: Optional[str] = field(default=None, repr=False)
    """Required for derived keys: the same text again to decrypt."""
    associated_data: Optional[str] = field(default=None, repr=False)
    """Authenticated with the ciphertext, not part of it: the same again to decrypt."""
    key_version: Optional[int] = None
    """Version to use; default: the version in use."""


@dataclass(frozen=True)
class RotateAttestationKeyAnswer(Document):
    """RotateAttestationKeyAnswer."""

    kid: str
    """Thumbprint of the key (RFC 7638), which `kid` of statements names."""


@dataclass(frozen=True)
class RotateWrappingKeyAnswer(Document):
    """RotateWrappingKeyAnswer."""

    number: int
    """Number of the wrapping key in use; each rotation makes the next."""
    state: WrappingKeyState
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
class RotateWrappingKeyRequest(Document):
    """RotateWrappingKeyRequest."""

    token: Optional[str] = None
    """Name of the token in the configuration; needed where there are several."""


@dataclass(frozen=True)
class SecretId(Document):
    """SecretId."""

    accessor: str
    """Stands for the secret-id where the secret itself must not be seen."""
    creation_time: Optional[str] = None
    """When it was made."""
    expires: Optional[str] = None
    """When it ends; absent: never."""
    uses_left: Optional[int] = None
    """How often it can still be used; absent: as often as one likes."""
    bound_cidrs: Optional[list[str]] = None
    """Ranges of addresses it can be used from; empty: from anywhere."""


@dataclass(frozen=True)
class Shipping(Document):
    """Shipping."""

    name: str
    """Name of the destination in the configuration."""
    protocol: Optional[ShippingProtocol] = None
    """What the receiver speaks."""
    address: Optional[str] = None
    """Host and port of the receiver."""
    sources: Optional[list[ShippedSource]] = None
    """What is shipped there."""
    on_lag: Optional[ShippingLagPolicy] = None
    """What happens when `max-lag-bytes` is reached."""
    max_lag_bytes: Optional[int] = None
    """Octets of the audit trail that the receiver may lack."""
    connected: Optional[bool] = None
    """Whether the receiver takes records."""
    connected_since: Optional[str] = None
    """When it took something for the first time since the last failure."""
    last_error: Optional[ShippingLastError] = None
    """The last failure, also when the receiver takes records again."""
    blocking: Optional[bool] = None
    """Whether changes and uses of keys are refused because of this destination."""
    lag_records: Optional[int] = None
    """Records of the audit trail that the receiver has not confirmed."""
    lag_bytes: Optional[int] = None
    """Octets of the audit trail that it has not confirmed."""
    log_lag_bytes: Optional[int] = None
    """Octets of the logs that it has not confirmed."""
    lag_seconds: Optional[float] = None
    """Age of the oldest record that it has not confirmed."""
    sent: Optional[int] = None
    """Records that the receiver has confirmed."""
    resent: Optional[int] = None
    """Records that were sent again, because nothing said that they had arrived."""
    dropped: Optional[int] = None
    """Records of the audit trail that were removed before they were sent."""
    dropped_log_files: Optional[int] = None
    """Files of logs that were removed before they were read."""
    rejected: Optional[int] = None
    """Records that the receiver refuses for what they are."""
    errors: Optional[int] = None
    """Failures of the connection or the receiver."""
    positions: Optional[list[ShippingPosition]] = None
    """The last confirmed record of every chain."""


@dataclass(frozen=True)
class ShippingAnswer(Document):
    """ShippingAnswer."""

    name: str
    """Name of the destination in the configuration."""
    protocol: Optional[ShippingProtocol] = None
    """What the receiver speaks."""
    address: Optional[str] = None
    """Host and port of the receiver."""
    sources: Optional[list[ShippedSource]] = None
    """What is shipped there."""
    on_lag: Optional[ShippingLagPolicy] = None
    """What happens when `max-lag-bytes` is reached."""
    max_lag_bytes: Optional[int] = None
    """Octets of the audit trail that the receiver may lack."""
    connected: Optional[bool] = None
    """Whether the receiver takes records."""
    connected_since: Optional[str] = None
    """When it took something for the first time since the last failure."""
    last_error: Optional[ShippingLastError] = None
    """The last failure, also when the receiver takes records again."""
    blocking: Optional[bool] = None
    """Whether changes and uses of keys are refused because of this destination."""
    lag_records: Optional[int] = None
    """Records of the audit trail that the receiver has not confirmed."""
    lag_bytes: Optional[int] = None
    """Octets of the audit trail that it has not confirmed."""
    log_lag_bytes: Optional[int] = None
    """Octets of the logs that it has not confirmed."""
    lag_seconds: Optional[float] = None
    """Age of the oldest record that it has not confirmed."""
    sent: Optional[int] = None
    """Records that the receiver has confirmed."""
    resent: Optional[int] = None
    """Records that were sent again, because nothing said that they had arrived."""
    dropped: Optional[int] = None
    """Records of the audit trail that were removed before they were sent."""
    dropped_log_files: Optional[int] = None
    """Files of logs that were removed before they were read."""
    rejected: Optional[int] = None
    """Records that the receiver refuses for what they are."""
    errors: Optional[int] = None
    """Failures of the connection or the receiver."""
    positions: Optional[list[ShippingPosition]] = None
    """The last confirmed record of every chain."""


@dataclass(frozen=True)
class ShippingLastError(Document):
    """The last failure, also when the receiver takes records again."""

    occurred_at: Optional[str] = None
    """When it failed."""
    message: Optional[str] = None
    """What failed, and the fix."""


@dataclass(frozen=True)
class ShippingPosition(Document):
    """ShippingPosition."""

    chain: Optional[str] = None
    """Chain of the audit trail."""
    file: Optional[str] = None
    """File of the last confirmed record."""
    offset: Optional[int] = None
    """Octet of the file behind it."""
    sequence: Optional[int] = None
    """Its number in the chain."""
    lag_records: Optional[int] = None
    """Records of the chain after it."""


@dataclass(frozen=True)
class ShippingTestAnswer(Document):
    """ShippingTestAnswer."""

    id: str
    """Id of the record, to find it at the receiver."""
    accepted: bool
    """Whether the receiver took it."""
    answer: str
    """What the receiver said, or what to mend."""
    milliseconds: int
    """How long it took."""


@dataclass(frozen=True)
class ShippingTestRequest(Document):
    """ShippingTestRequest."""


@dataclass(frozen=True)
class SignAnswer(Document):
    """SignAnswer."""

    signature: str
    """The signature."""
    key_version: int
    """Version of the key that was used."""


@dataclass(frozen=True)
class SignBatchAnswer(Document):
    """SignBatchAnswer."""

    batch_results: list[SignBatchResult] = field(repr=False)
    """One result for each request, in order."""
    failed: int
    """How many failed."""


@dataclass(frozen=True)
class SignBatchItem(Document):
    """SignBatchItem."""

    text: str
    """What to sign: base64, or raw UTF-8 with base64-encoded false."""
    base64_encoded: Optional[bool] = None
    """false: the text is raw UTF-8."""
    hash_algorithm: Optional[HashAlgorithm] = None
    """Hash of the text, for RSA and ECDSA."""
    prehashed: Optional[bool] = None
    """The input is the finished hash, not the data."""
    signature_algorithm: Optional[SignatureAlgorithm] = None
    """Padding of RSA signatures. A version that is a key for RSASSA-PSS has pss only."""
    marshaling: Optional[SignatureMarshaling] = None
    """asn1: base64, ECDSA as DER. jws: base64url without padding, ECDSA as r‖s."""
    key_version: Optional[int] = None
    """Version to use; default: the version in use."""
    reference: Optional[str] = None
    """Echoed from the request."""


@dataclass(frozen=True)
class SignBatchRequest(Document):
    """SignBatchRequest."""

    batch_input: list[SignBatchItem] = field(repr=False)
    """The requests."""


@dataclass(frozen=True)
class SignBatchResult(Document):
    """SignBatchResult."""

    signature: Optional[str] = None
    """The signature."""
    key_version: Optional[int] = None
    """Version of the key that was used."""
    reference: Optional[str] = None
    """Echoed from the request."""
    status: Optional[int] = None
    """Of a request that failed: the HTTP status it would have had."""
    code: Optional[str] = None
    """Of a request that failed: the error code."""
    error_message: Optional[str] = None
    """Of a request that failed: why."""


@dataclass(frozen=True)
class SignRequest(Document):
    """SignRequest."""

    text: str = field(repr=False)
    """What to sign: base64, or raw UTF-8 with base64-encoded false."""
    base64_encoded: Optional[bool] = None
    """false: the text is raw UTF-8."""
    hash_algorithm: Optional[HashAlgorithm] = None
    """Hash of the text, for RSA and ECDSA."""
    prehashed: Optional[bool] = None
    """The input is the finished hash, not the data."""
    signature_algorithm: Optional[SignatureAlgorithm] = None
    """Padding of RSA signatures. A version that is a key for RSASSA-PSS has pss only."""
    marshaling: Optional[SignatureMarshaling] = None
    """asn1: base64, ECDSA as DER. jws: base64url without padding, ECDSA as r‖s."""
    key_version: Optional[int] = None
    """Version to use; default: the version in use."""


@dataclass(frozen=True)
class SystemBackupRequest(Document):
    """SystemBackupRequest."""

    passphrase: Optional[str] = field(default=None, repr=False)
    """Opens the backup again; 12 characters or more."""
    recipients: Optional[list[str]] = None
    """age recipients, in place of a passphrase: all age1… or all age1pq1…."""


@dataclass(frozen=True)
class SystemEndCredentialsAnswer(Document):
    """SystemEndCredentialsAnswer."""

    tokens: int
    """Tokens that were ended."""
    secret_ids: int
    """Secret-ids that were ended."""


@dataclass(frozen=True)
class SystemOperateRequest(Document):
    """SystemOperateRequest."""

    operation: SystemOperateRequestOperation
    """What to do."""


@dataclass(frozen=True)
class SystemUnsealRequest(Document):
    """SystemUnsealRequest."""

    pin: Optional[str] = field(default=None, repr=False)
    """The user PIN of every configured token."""
    pins: Optional[dict[str, str]] = field(default=None, repr=False)
    """PINs by name of the token, where they differ."""
    unseal_code: Optional[str] = field(default=None, repr=False)
    """What the appliance has shown on its console and in its log when it was sealed; needed from elsewhere than

    the machine itself.
    """


@dataclass(frozen=True)
class Tenant(Document):
    """Tenant."""

    name: str
    """Name of the tenant."""
    descriptive_name: Optional[str] = None
    """A name for people."""
    kind: Optional[TenantKind] = None
    """What the tenant is; there is one system tenant."""
    policies: Optional[list[str]] = None
    """What the whole tenant may do at most; default by kind."""
    requests_per_minute: Optional[int] = None
    """Requests that the tenant may send in a minute to one appliance; 0: as many as it likes."""
    token_seconds_per_minute: Optional[int] = None
    """Seconds of the HSM that the tenant may use in a minute at one appliance; 0: as many as it likes."""
    labels: Optional[dict[str, str]] = None
    """Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name

    and value at most 63 letters, digits, ".", "_" and "-". They are no secrets.
    """


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
    requests_per_minute: Optional[int] = None
    """Requests that the tenant may send in a minute to one appliance; 0: as many as it likes."""
    token_seconds_per_minute: Optional[int] = None
    """Seconds of the HSM that the tenant may use in a minute at one appliance; 0: as many as it likes."""
    labels: Optional[dict[str, str]] = None
    """Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name

    and value at most 63 letters, digits, ".", "_" and "-". They are no secrets.
    """


@dataclass(frozen=True)
class TenantMerge(Document):
    """TenantMerge."""

    descriptive_name: Optional[str] = None
    """A name for people."""
    kind: Optional[TenantKind] = None
    """What the tenant is; there is one system tenant."""
    policies: Union[list[str], Unset, None] = UNSET
    """What the whole tenant may do at most; default by kind."""
    requests_per_minute: Optional[int] = None
    """Requests that the tenant may send in a minute to one appliance; 0: as many as it likes."""
    token_seconds_per_minute: Optional[int] = None
    """Seconds of the HSM that the tenant may use in a minute at one appliance; 0: as many as it likes."""
    labels: Union[dict[str, str], Unset, None] = UNSET
    """Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name

    and value at most 63 letters, digits, ".", "_" and "-". They are no secrets.
    """


@dataclass(frozen=True)
class TenantReplacement(Document):
    """TenantReplacement."""

    descriptive_name: Optional[str] = None
    """A name for people."""
    kind: Optional[TenantKind] = None
    """What the tenant is; there is one system tenant."""
    policies: Optional[list[str]] = None
    """What the whole tenant may do at most; default by kind."""
    requests_per_minute: Optional[int] = None
    """Requests that the tenant may send in a minute to one appliance; 0: as many as it likes."""
    token_seconds_per_minute: Optional[int] = None
    """Seconds of the HSM that the tenant may use in a minute at one appliance; 0: as many as it likes."""
    labels: Optional[dict[str, str]] = None
    """Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name

    and value at most 63 letters, digits, ".", "_" and "-". They are no secrets.
    """


@dataclass(frozen=True)
class TenantState(Document):
    """TenantState."""

    name: str
    """Name of the tenant."""
    descriptive_name: Optional[str] = None
    """A name for people."""
    kind: Optional[TenantKind] = None
    """What the tenant is; there is one system tenant."""
    policies: Optional[list[str]] = None
    """What the whole tenant may do at most; default by kind."""
    requests_per_minute: Optional[int] = None
    """Requests that the tenant may send in a minute to one appliance; 0: as many as it likes."""
    token_seconds_per_minute: Optional[int] = None
    """Seconds of the HSM that the tenant may use in a minute at one appliance; 0: as many as it likes."""
    labels: Optional[dict[str, str]] = None
    """Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name

    and value at most 63 letters, digits, ".", "_" and "-". They are no secrets.
    """
    uuid: Optional[str] = None
    """Stands for the tenant in EST paths."""
    creation_time: Optional[str] = None
    """When the tenant was made."""
    root_token_issued: Optional[bool] = None
    """Whether the one root token of the tenant was made."""


@dataclass(frozen=True)
class TestHsmAnswer(Document):
    """TestHsmAnswer."""

    tokens: list[HsmTrial]
    """What came of it, for each token."""


@dataclass(frozen=True)
class TlsCa(Document):
    """TlsCa."""

    name: str
    """Name of the TLS CA."""
    cert_key_type: Optional[CertKeyType] = None
    """Key of the CA; default ecdsa."""
    cert_key_curve: Optional[CertKeyCurve] = None
    """Curve of an ecdsa key; default secp256r1."""
    cert_key_bits: Optional[CertKeyBits] = None
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
    est: Optional[TlsCaEst] = None
    """Enrolment of devices."""
    labels: Optional[dict[str, str]] = None
    """Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name

    and value at most 63 letters, digits, ".", "_" and "-". They are no secrets.
    """


@dataclass(frozen=True)
class TlsCaCreation(Document):
    """TlsCaCreation."""

    name: str
    """Name of the TLS CA."""
    cert_key_type: Optional[CertKeyType] = None
    """Key of the CA; default ecdsa."""
    cert_key_curve: Optional[CertKeyCurve] = None
    """Curve of an ecdsa key; default secp256r1."""
    cert_key_bits: Optional[CertKeyBits] = None
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
    est: Optional[TlsCaEstInput] = None
    """Enrolment of devices."""
    labels: Optional[dict[str, str]] = None
    """Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name

    and value at most 63 letters, digits, ".", "_" and "-". They are no secrets.
    """


@dataclass(frozen=True)
class TlsCaEst(Document):
    """Enrolment of devices."""

    enabled: Optional[bool] = None
    """Whether devices may enrol here; otherwise EST answers 404."""
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
class TlsCaEstInput(Document):
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
class TlsCaEstMerge(Document):
    """TlsCaEstMerge."""

    enabled: Optional[bool] = None
    """Whether devices may enrol here; otherwise EST answers 404."""
    initial_enroll_secret: Union[str, Unset, None] = field(default=UNSET, repr=False)
    """Shared secret of first enrolment, the password of HTTP Basic: 6 octets or more in UTF-8, no control

    characters.
    """
    initial_enroll_trust_ca: Union[str, Unset, None] = UNSET
    """CA whose certificates devices may show for first enrolment."""
    allowed_domains: Union[list[str], Unset, None] = UNSET
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
class TlsCaEstState(Document):
    """What devices need to know."""

    enabled: Optional[bool] = None
    """Whether devices may enrol here; otherwise EST answers 404."""
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
    https_url: Optional[list[str]] = None
    """Base URLs for devices, by host name and by address."""
    initial_enroll_secret_set: Optional[bool] = None
    """Whether the secret is set; its value is never answered."""


@dataclass(frozen=True)
class TlsCaMerge(Document):
    """TlsCaMerge."""

    cert_key_type: Optional[CertKeyType] = None
    """Key of the CA; default ecdsa."""
    cert_key_curve: Optional[CertKeyCurve] = None
    """Curve of an ecdsa key; default secp256r1."""
    cert_key_bits: Optional[CertKeyBits] = None
    """Size of an rsa key; default 3072."""
    subject: Optional[str] = None
    """Subject of the CA certificate; default CN=<name>."""
    ttl: Optional[str] = None
    """Life of the CA certificate."""
    issuing_ca: Optional[str] = None
    """CA here that signs this one; without it the CA is a root."""
    ca_cert: Union[str, Unset, None] = UNSET
    """Certificate of a CA elsewhere: this one is then only trusted, and issues nothing."""
    deletion_allowed: Optional[bool] = None
    """Must be true before the CA can be deleted while certificates of it are valid."""
    est: Union[TlsCaEstMerge, Unset, None] = UNSET
    """Enrolment of devices."""
    labels: Union[dict[str, str], Unset, None] = UNSET
    """Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name

    and value at most 63 letters, digits, ".", "_" and "-". They are no secrets.
    """


@dataclass(frozen=True)
class TlsCaReplacement(Document):
    """TlsCaReplacement."""

    cert_key_type: Optional[CertKeyType] = None
    """Key of the CA; default ecdsa."""
    cert_key_curve: Optional[CertKeyCurve] = None
    """Curve of an ecdsa key; default secp256r1."""
    cert_key_bits: Optional[CertKeyBits] = None
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
    est: Optional[TlsCaEstInput] = None
    """Enrolment of devices."""
    labels: Optional[dict[str, str]] = None
    """Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name

    and value at most 63 letters, digits, ".", "_" and "-". They are no secrets.
    """


@dataclass(frozen=True)
class TlsCaState(Document):
    """TlsCaState."""

    name: str
    """Name of the TLS CA."""
    cert_key_type: Optional[CertKeyType] = None
    """Key of the CA; default ecdsa."""
    cert_key_curve: Optional[CertKeyCurve] = None
    """Curve of an ecdsa key; default secp256r1."""
    cert_key_bits: Optional[CertKeyBits] = None
    """Size of an rsa key; default 3072."""
    subject: Optional[str] = None
    """Subject of the CA certificate; default CN=<name>."""
    ttl: Optional[str] = None
    """Life of the CA certificate."""
    issuing_ca: Optional[str] = None
    """CA here that signs this one; without it the CA is a root."""
    ca_cert: Optional[str] = None
    """Certificate of the CA."""
    deletion_allowed: Optional[bool] = None
    """Must be true before the CA can be deleted while certificates of it are valid."""
    est: Optional[TlsCaEstState] = None
    """What devices need to know."""
    labels: Optional[dict[str, str]] = None
    """Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name

    and value at most 63 letters, digits, ".", "_" and "-". They are no secrets.
    """
    uuid: Optional[str] = None
    """Identifies the CA permanently, whatever its name."""
    creation_time: Optional[str] = None
    """When it was made."""
    trust_only: Optional[bool] = None
    """Whether it is only trusted."""
    chain: Optional[str] = None
    """Certificates above it, up to the root."""
    serial: Optional[str] = None
    """Serial number of its certificate."""
    not_before: Optional[str] = None
    """When its certificate begins."""
    not_after: Optional[str] = None
    """When its certificate ends."""
    key_version: Optional[int] = None
    """How often it got a key; counted on from a deleted CA of the same name whose last revocation list is kept."""
    crl_url: Optional[str] = None
    """Where its revocation list is."""
    ocsp_url: Optional[str] = None
    """Where its OCSP responder is."""


@dataclass(frozen=True)
class Token(Document):
    """Token."""

    accessor: str
    """Stands for the token where the token itself must not be seen."""
    tenant: Optional[str] = None
    """Tenant of the token."""
    user: Optional[str] = None
    """Who holds it: a user, an approle, or root."""
    user_kind: Optional[UserKind] = None
    """Where the name of the user comes from: names of different sources may be alike."""
    user_source: Optional[str] = None
    """The approle, or the service at which the person signed in."""
    policies: Optional[list[str]] = None
    """What it may do, within what its tenant may do."""
    creation_time: Optional[str] = None
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
class TokenDisableRequest(Document):
    """TokenDisableRequest."""

    token: Optional[str] = field(default=None, repr=False)
    """The token meant."""
    accessor: Optional[str] = None
    """Or its accessor."""


@dataclass(frozen=True)
class TokenInfoAnswer(Document):
    """TokenInfoAnswer."""

    accessor: str
    """Stands for the token where the token itself must not be seen."""
    tenant: str
    """Tenant of the token."""
    user: str
    """Who holds it: a user, an approle, or root."""
    user_kind: UserKind
    """Where the name of the user comes from: names of different sources may be alike."""
    policies: list[str]
    """What it may do, within what its tenant may do."""
    creation_time: str
    """When it was made."""
    user_source: Optional[str] = None
    """The approle, or the service at which the person signed in."""
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
class TokenRefreshAnswer(Document):
    """TokenRefreshAnswer."""

    accessor: str
    """Stands for the token where the token itself must not be seen."""
    tenant: str
    """Tenant of the token."""
    user: str
    """Who holds it: a user, an approle, or root."""
    user_kind: UserKind
    """Where the name of the user comes from: names of different sources may be alike."""
    policies: list[str]
    """What it may do, within what its tenant may do."""
    creation_time: str
    """When it was made."""
    user_source: Optional[str] = None
    """The approle, or the service at which the person signed in."""
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
class TokenRefreshRequest(Document):
    """TokenRefreshRequest."""

    increment: Optional[str] = None
    """How long it shall live from now; unless given, its ttl."""


@dataclass(frozen=True)
class Topic(Document):
    """Topic."""

    name: str
    """Name of the topic."""


@dataclass(frozen=True)
class TransitKey(Document):
    """TransitKey."""

    name: str
    """Name of the transit key."""
    cipher: Optional[Cipher] = None
    """What the key is made of."""
    distribute: Optional[TransitKeyDistribute] = None
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
    custody: Optional[Custody] = None
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
    labels: Optional[dict[str, str]] = None
    """Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name

    and value at most 63 letters, digits, ".", "_" and "-". They are no secrets.
    """


@dataclass(frozen=True)
class TransitKeyAutoRotate(Document):
    """Rotates the key by itself; a merge cannot remove it, a replacement can."""

    rotate_after: Optional[str] = None
    """Interval after which the key is rotated, again and again."""
    activate_after: Optional[str] = None
    """Delay after a rotation before the new version encrypts."""
    deprecate_after: Optional[str] = None
    """Time after the creation of a newer version when the old one stops encrypting."""
    invalidate_after: Optional[str] = None
    """Time after the creation of a newer version when the old one stops decrypting."""


@dataclass(frozen=True)
class TransitKeyAutoRotateInput(Document):
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
class TransitKeyAutoRotateMerge(Document):
    """Rotates the key by itself; a merge cannot remove it, a replacement can."""

    rotate_after: Optional[str] = None
    """Interval after which the key is rotated, again and again."""
    activate_after: Union[str, Unset, None] = UNSET
    """Delay after a rotation before the new version encrypts."""
    deprecate_after: Union[str, Unset, None] = UNSET
    """Time after the creation of a newer version when the old one stops encrypting."""
    invalidate_after: Union[str, Unset, None] = UNSET
    """Time after the creation of a newer version when the old one stops decrypting."""


@dataclass(frozen=True)
class TransitKeyBatchItem(Document):
    """TransitKeyBatchItem."""

    name: str
    """Name of the transit key."""
    cipher: Optional[Cipher] = None
    """What the key is made of."""
    distribute: Optional[TransitKeyBatchItemDistribute] = None
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
    custody: Optional[Custody] = None
    """Where the key lives: as a wrapped blob, or as an object in the token."""
    public_key: Optional[str] = None
    """PEM public key: makes a key that only verifies."""
    min_encryption_version: Optional[int] = None
    """Older versions do not encrypt or sign; 0: no restriction."""
    min_decryption_version: Optional[int] = None
    """Older versions do not decrypt or verify; 0: no restriction."""
    auto_rotate: Optional[TransitKeyBatchItemAutoRotate] = None
    """Rotates the key by itself; a merge cannot remove it, a replacement can."""
    openpgp_user_id: Optional[str] = None
    """Makes the key an OpenPGP primary key with this User ID."""
    openpgp_primary: Optional[str] = None
    """Makes the key an OpenPGP subkey, bound to the primary key of this name."""
    openpgp_key_usage: Optional[list[TransitKeyOpenpgpKeyUsageItem]] = None
    """What an OpenPGP subkey is for."""
    labels: Optional[dict[str, str]] = None
    """Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name

    and value at most 63 letters, digits, ".", "_" and "-". They are no secrets.
    """
    reference: Optional[str] = None
    """Echoed from the request."""


@dataclass(frozen=True)
class TransitKeyBatchItemAutoRotate(Document):
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
class TransitKeyBatchItemDistribute(Document):
    """Distribution of the key."""

    to: Optional[Distribution] = None
    """Where the key goes; inherit means all. In a cluster every appliance has every key."""


@dataclass(frozen=True)
class TransitKeyBatchResult(Document):
    """TransitKeyBatchResult."""

    name: Optional[str] = None
    """Name of the transit key."""
    cipher: Optional[Cipher] = None
    """What the key is made of."""
    distribute: Optional[TransitKeyBatchResultDistribute] = None
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
    custody: Optional[Custody] = None
    """Where the key lives: as a wrapped blob, or as an object in the token."""
    public_key: Optional[str] = None
    """PEM public key: makes a key that only verifies."""
    min_encryption_version: Optional[int] = None
    """Older versions do not encrypt or sign; 0: no restriction."""
    min_decryption_version: Optional[int] = None
    """Older versions do not decrypt or verify; 0: no restriction."""
    auto_rotate: Optional[TransitKeyBatchResultAutoRotate] = None
    """Rotates the key by itself; a merge cannot remove it, a replacement can."""
    openpgp_user_id: Optional[str] = None
    """Makes the key an OpenPGP primary key with this User ID."""
    openpgp_primary: Optional[str] = None
    """Makes the key an OpenPGP subkey, bound to the primary key of this name."""
    openpgp_key_usage: Optional[list[TransitKeyOpenpgpKeyUsageItem]] = None
    """What an OpenPGP subkey is for."""
    labels: Optional[dict[str, str]] = None
    """Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name

    and value at most 63 letters, digits, ".", "_" and "-". They are no secrets.
    """
    reference: Optional[str] = None
    """Echoed from the request."""
    status: Optional[int] = None
    """Of an entry that failed: the HTTP status it would have had."""
    code: Optional[str] = None
    """Of an entry that failed: the error code."""
    error_message: Optional[str] = None
    """Of an entry that failed: why."""


@dataclass(frozen=True)
class TransitKeyBatchResultAutoRotate(Document):
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
class TransitKeyBatchResultDistribute(Document):
    """Distribution of the key."""

    to: Distribution
    """Where the key goes; inherit means all. In a cluster every appliance has every key."""


@dataclass(frozen=True)
class TransitKeyCreation(Document):
    """TransitKeyCreation."""

    name: str
    """Name of the transit key."""
    cipher: Optional[Cipher] = None
    """What the key is made of."""
    distribute: Optional[TransitKeyDistributeInput] = None
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
    custody: Optional[Custody] = None
    """Where the key lives: as a wrapped blob, or as an object in the token."""
    public_key: Optional[str] = None
    """PEM public key: makes a key that only verifies."""
    min_encryption_version: Optional[int] = None
    """Older versions do not encrypt or sign; 0: no restriction."""
    min_decryption_version: Optional[int] = None
    """Older versions do not decrypt or verify; 0: no restriction."""
    auto_rotate: Optional[TransitKeyAutoRotateInput] = None
    """Rotates the key by itself; a merge cannot remove it, a replacement can."""
    openpgp_user_id: Optional[str] = None
    """Makes the key an OpenPGP primary key with this User ID."""
    openpgp_primary: Optional[str] = None
    """Makes the key an OpenPGP subkey, bound to the primary key of this name."""
    openpgp_key_usage: Optional[list[TransitKeyOpenpgpKeyUsageItem]] = None
    """What an OpenPGP subkey is for."""
    labels: Optional[dict[str, str]] = None
    """Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name

    and value at most 63 letters, digits, ".", "_" and "-". They are no secrets.
    """


@dataclass(frozen=True)
class TransitKeyDistribute(Document):
    """Distribution of the key."""

    to: Optional[Distribution] = None
    """Where the key goes; inherit means all. In a cluster every appliance has every key."""


@dataclass(frozen=True)
class TransitKeyDistributeInput(Document):
    """Distribution of the key."""

    to: Optional[Distribution] = None
    """Where the key goes; inherit means all. In a cluster every appliance has every key."""


@dataclass(frozen=True)
class TransitKeyDistributeMerge(Document):
    """TransitKeyDistributeMerge."""

    to: Optional[Distribution] = None
    """Where the key goes; inherit means all. In a cluster every appliance has every key."""


@dataclass(frozen=True)
class TransitKeyDistributionStatus(Document):
    """Distribution as it is."""

    to: Optional[TransitKeyDistributionStatusTo] = None
    """Where the key is."""


@dataclass(frozen=True)
class TransitKeyMerge(Document):
    """TransitKeyMerge."""

    cipher: Optional[Cipher] = None
    """What the key is made of."""
    distribute: Union[TransitKeyDistributeMerge, Unset, None] = UNSET
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
    custody: Optional[Custody] = None
    """Where the key lives: as a wrapped blob, or as an object in the token."""
    public_key: Optional[str] = None
    """PEM public key: makes a key that only verifies."""
    min_encryption_version: Optional[int] = None
    """Older versions do not encrypt or sign; 0: no restriction."""
    min_decryption_version: Optional[int] = None
    """Older versions do not decrypt or verify; 0: no restriction."""
    auto_rotate: Optional[TransitKeyAutoRotateMerge] = None
    """Rotates the key by itself; a merge cannot remove it, a replacement can."""
    openpgp_user_id: Union[str, Unset, None] = UNSET
    """Makes the key an OpenPGP primary key with this User ID."""
    openpgp_primary: Optional[str] = None
    """Makes the key an OpenPGP subkey, bound to the primary key of this name."""
    openpgp_key_usage: Union[list[TransitKeyOpenpgpKeyUsageItem], Unset, None] = UNSET
    """What an OpenPGP subkey is for."""
    labels: Union[dict[str, str], Unset, None] = UNSET
    """Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name

    and value at most 63 letters, digits, ".", "_" and "-". They are no secrets.
    """


@dataclass(frozen=True)
class TransitKeyReplacement(Document):
    """TransitKeyReplacement."""

    cipher: Optional[Cipher] = None
    """What the key is made of."""
    distribute: Optional[TransitKeyDistributeInput] = None
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
    custody: Optional[Custody] = None
    """Where the key lives: as a wrapped blob, or as an object in the token."""
    public_key: Optional[str] = None
    """PEM public key: makes a key that only verifies."""
    min_encryption_version: Optional[int] = None
    """Older versions do not encrypt or sign; 0: no restriction."""
    min_decryption_version: Optional[int] = None
    """Older versions do not decrypt or verify; 0: no restriction."""
    auto_rotate: Optional[TransitKeyAutoRotateInput] = None
    """Rotates the key by itself; a merge cannot remove it, a replacement can."""
    openpgp_user_id: Optional[str] = None
    """Makes the key an OpenPGP primary key with this User ID."""
    openpgp_primary: Optional[str] = None
    """Makes the key an OpenPGP subkey, bound to the primary key of this name."""
    openpgp_key_usage: Optional[list[TransitKeyOpenpgpKeyUsageItem]] = None
    """What an OpenPGP subkey is for."""
    labels: Optional[dict[str, str]] = None
    """Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name

    and value at most 63 letters, digits, ".", "_" and "-". They are no secrets.
    """


@dataclass(frozen=True)
class TransitKeyState(Document):
    """TransitKeyState."""

    name: str
    """Name of the transit key."""
    cipher: Optional[Cipher] = None
    """What the key is made of."""
    distribute: Optional[TransitKeyDistribute] = None
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
    custody: Optional[Custody] = None
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
    labels: Optional[dict[str, str]] = None
    """Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name

    and value at most 63 letters, digits, ".", "_" and "-". They are no secrets.
    """
    distribution_status: Optional[TransitKeyDistributionStatus] = None
    """Distribution as it is."""
    default_encryption_version: Optional[int] = None
    """0: the newest version; else the one in use while the newest waits for activate-after."""
    latest_version: Optional[int] = None
    """Newest version."""
    oldest_version: Optional[int] = None
    """Oldest version that was not trimmed."""
    creation_time: Optional[str] = None
    """When the key was made."""
    supports_encryption: Optional[bool] = None
    """Whether keys of this cipher encrypt."""
    supports_decryption: Optional[bool] = None
    """Whether keys of this cipher decrypt."""
    supports_derivation: Optional[bool] = None
    """Whether keys of this cipher can be derived per context."""
    supports_signing: Optional[bool] = None
    """Whether keys of this cipher sign."""
    actions: Optional[list[str]] = None
    """Actions that the key can do as it is. Policies, and the life of its versions, decide besides."""
    keys: Optional[dict[str, str]] = None
    """Per version: the public key; of a symmetric key a marker, the microseconds since 1970 at which it was

    made. It is no key material. `versions` is where to look for what is known of a version.
    """
    usage: Optional[dict[str, TransitKeyUsage]] = None
    """Per version: how often it was used."""
    versions: Optional[dict[str, TransitKeyVersion]] = None
    """Per version: what it may do, since when and until when."""
    rotates: Optional[str] = None
    """When auto-rotate makes the next version."""


@dataclass(frozen=True)
class TransitKeyUsage(Document):
    """TransitKeyUsage."""

    uses: Optional[int] = None
    """Encryptions, signatures and data keys made with this version."""
    uses_at_most: Optional[int] = None
    """Of encryptions never below the true count, also after a crash; the limit of 2^32 is held against it."""
    not_rewrapped: Optional[int] = None
    """At most so many values made with this version have not been moved away by rewrap: what a worker has

    reserved counts until it gives it back, two minutes after the last encryption. A value that is rewrapped
    again counts again.
    """
    last_used: Optional[str] = None
    """When this version was last used."""


@dataclass(frozen=True)
class TransitKeyVersion(Document):
    """TransitKeyVersion."""

    status: Optional[KeyVersionStatus] = None
    """What it may do: `active` everything, `pending` (it waits for activate-after) and `deprecated` only decrypt

    and verify, `invalidated` nothing.
    """
    signature_algorithm: Optional[SignatureAlgorithm] = None
    """Of a version that is a key for RSASSA-PSS (RFC 4055): `pss`, and it makes no other signatures."""
    hash_algorithm: Optional[HashAlgorithm] = None
    """Where such a key names a hash: the only one it signs with."""
    created: Optional[str] = None
    """When it was made."""
    activates: Optional[str] = None
    """When it begins to encrypt and sign; absent: when it was made."""
    superseded: Optional[str] = None
    """When the next version was made."""
    deprecates: Optional[str] = None
    """When deprecate-after ends its encryption."""
    invalidates: Optional[str] = None
    """When invalidate-after ends its decryption."""


@dataclass(frozen=True)
class TransitKeysCreateBatchAnswer(Document):
    """TransitKeysCreateBatchAnswer."""

    batch_results: list[TransitKeyBatchResult]
    """One result for each entry, in order."""
    failed: int
    """How many failed."""


@dataclass(frozen=True)
class TransitKeysCreateBatchRequest(Document):
    """TransitKeysCreateBatchRequest."""

    batch_input: list[TransitKeyBatchItem]
    """The entries."""


@dataclass(frozen=True)
class TransportKeyInput(Document):
    """What the token of the new appliance says of itself."""

    id: str
    """CKA_ID of the transport key."""
    public_key: str
    """RSA public key of 3072 bits, DER SubjectPublicKeyInfo in base64."""
    hashes: list[OaepHash]
    """Hashes that the token takes for RSA-OAEP, the best first."""
    types: list[str]
    """Key types that the token has."""
    present: list[OwnKeyInput]
    """The wrapping keys that the token has."""


@dataclass(frozen=True)
class TrimRequest(Document):
    """TrimRequest."""

    version: int
    """Oldest version to keep."""


@dataclass(frozen=True)
class UnbindSubkeyAnswer(Document):
    """UnbindSubkeyAnswer."""

    revocations: list[UnbindSubkeyRevocation] = field(repr=False)
    """One for each version that a version of the primary key here has bound."""


@dataclass(frozen=True)
class UnbindSubkeyRequest(Document):
    """UnbindSubkeyRequest."""

    subkey: str
    """Name of the subkey."""
    reason: Optional[ExportOpenpgpRevocationRequestReason] = None
    """Why."""
    comment: Optional[str] = None
    """A remark that everybody will read."""


@dataclass(frozen=True)
class UnbindSubkeyRevocation(Document):
    """UnbindSubkeyRevocation."""

    version: int
    """Version of the subkey."""
    revocation: str
    """Its block with the revocation in it."""


@dataclass(frozen=True)
class VerifyAnswer(Document):
    """VerifyAnswer."""

    valid: bool
    """Whether signature or HMAC fit the text."""
    key_version: int
    """Version of the key that was used."""


@dataclass(frozen=True)
class VerifyBatchAnswer(Document):
    """VerifyBatchAnswer."""

    batch_results: list[VerifyBatchResult] = field(repr=False)
    """One result for each request, in order."""
    failed: int
    """How many failed."""


@dataclass(frozen=True)
class VerifyBatchItem(Document):
    """VerifyBatchItem."""

    text: str
    """What was signed: base64, or raw UTF-8 with base64-encoded false."""
    base64_encoded: Optional[bool] = None
    """false: the text is raw UTF-8."""
    signature: Optional[str] = None
    """The signature, made here or elsewhere."""
    hmac: Optional[str] = None
    """In place of signature."""
    hash_algorithm: Optional[HashAlgorithm] = None
    """Hash of the text, for RSA and ECDSA."""
    prehashed: Optional[bool] = None
    """The input is the finished hash, not the data."""
    signature_algorithm: Optional[SignatureAlgorithm] = None
    """Padding of RSA signatures. A version that is a key for RSASSA-PSS has pss only."""
    marshaling: Optional[SignatureMarshaling] = None
    """asn1: base64, ECDSA as DER. jws: base64url without padding, ECDSA as r‖s."""
    reference: Optional[str] = None
    """Echoed from the request."""


@dataclass(frozen=True)
class VerifyBatchRequest(Document):
    """VerifyBatchRequest."""

    batch_input: list[VerifyBatchItem] = field(repr=False)
    """The requests."""


@dataclass(frozen=True)
class VerifyBatchResult(Document):
    """VerifyBatchResult."""

    valid: Optional[bool] = None
    """Whether signature or HMAC fit the text."""
    key_version: Optional[int] = None
    """Version of the key that was used."""
    reference: Optional[str] = None
    """Echoed from the request."""
    status: Optional[int] = None
    """Of a request that failed: the HTTP status it would have had."""
    code: Optional[str] = None
    """Of a request that failed: the error code."""
    error_message: Optional[str] = None
    """Of a request that failed: why."""


@dataclass(frozen=True)
class VerifyRequest(Document):
    """VerifyRequest."""

    text: str = field(repr=False)
    """What was signed: base64, or raw UTF-8 with base64-encoded false."""
    base64_encoded: Optional[bool] = None
    """false: the text is raw UTF-8."""
    signature: Optional[str] = field(default=None, repr=False)
    """The signature, made here or elsewhere."""
    hmac: Optional[str] = field(default=None, repr=False)
    """In place of signature."""
    hash_algorithm: Optional[HashAlgorithm] = None
    """Hash of the text, for RSA and ECDSA."""
    prehashed: Optional[bool] = None
    """The input is the finished hash, not the data."""
    signature_algorithm: Optional[SignatureAlgorithm] = None
    """Padding of RSA signatures. A version that is a key for RSASSA-PSS has pss only."""
    marshaling: Optional[SignatureMarshaling] = None
    """asn1: base64, ECDSA as DER. jws: base64url without padding, ECDSA as r‖s."""
