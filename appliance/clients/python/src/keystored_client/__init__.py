"""Client of the keystored key-management appliance."""

from ._batches import BatchResult
from ._client import Client
from ._key import DataKey, DecryptItem, EncryptItem, HmacItem, Key, RewrapItem, SignItem, VerifyItem
from ._problem import ConnectionFailed, KeystoredError, Problem, TimeLimitExceeded
from ._sender import Answer
from ._session import Approle, Token
from ._version import VERSION as __version__
from .generated import models

__all__ = [
    "Answer",
    "Approle",
    "BatchResult",
    "Client",
    "ConnectionFailed",
    "DataKey",
    "DecryptItem",
    "EncryptItem",
    "HmacItem",
    "Key",
    "KeystoredError",
    "Problem",
    "RewrapItem",
    "SignItem",
    "TimeLimitExceeded",
    "Token",
    "VerifyItem",
    "__version__",
    "models",
]
