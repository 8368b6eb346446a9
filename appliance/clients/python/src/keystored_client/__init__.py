"""Client of the keystored key-management appliance."""

from ._batches import BatchResult
from ._client import Client
from ._data_keys import DataKeyCache
from ._key import DataKey, DecryptItem, EncryptItem, HmacItem, Key, RewrapItem, SignItem, VerifyItem
from ._problem import AskedForApproval, ConnectionFailed, KeystoredError, Problem, TimeLimitExceeded
from ._sealed import SEALED_HEADER_BYTES, SealedDataError
from ._sender import Answer
from ._session import Approle, Token, Workload, jwt_from_environment, jwt_from_file
from ._version import VERSION as __version__
from .generated import models

__all__ = [
    "SEALED_HEADER_BYTES",
    "Answer",
    "Approle",
    "AskedForApproval",
    "BatchResult",
    "Client",
    "ConnectionFailed",
    "DataKey",
    "DataKeyCache",
    "DecryptItem",
    "EncryptItem",
    "HmacItem",
    "Key",
    "KeystoredError",
    "Problem",
    "RewrapItem",
    "SealedDataError",
    "SignItem",
    "TimeLimitExceeded",
    "Token",
    "VerifyItem",
    "Workload",
    "__version__",
    "jwt_from_environment",
    "jwt_from_file",
    "models",
]
