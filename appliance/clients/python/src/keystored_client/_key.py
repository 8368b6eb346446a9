"""One transit key: its actions with octets in and out, for one item, for many, and for more than fit in memory."""

from __future__ import annotations

import base64
import hashlib
import time
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Iterable, Iterator, List, Mapping, Optional, Tuple, TypeVar, Union

from ._batches import Action, Batches, BatchResult, Octets
from ._data_keys import DataKeyCache, DataKeySource
from ._importing import wrap_key
from ._problem import Problem
from ._sealed import Source, open_sealed, pieces_of, rewrap_header, seal
from ._sender import Request, Sender, segment

_FRESH_SECONDS = 60

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class EncryptItem:
    """`context`: of derived keys. `associated_data`: authenticated, not part of the ciphertext. Both the same again to decrypt."""

    plaintext: Octets = field(repr=False)
    context: Optional[str] = field(default=None, repr=False)
    associated_data: Optional[Octets] = field(default=None, repr=False)
    key_version: Optional[int] = None
    reference: Optional[str] = None


@dataclass(frozen=True)
class DecryptItem:
    ciphertext: str
    context: Optional[str] = field(default=None, repr=False)
    associated_data: Optional[Octets] = field(default=None, repr=False)
    reference: Optional[str] = None


@dataclass(frozen=True)
class RewrapItem:
    ciphertext: str
    context: Optional[str] = field(default=None, repr=False)
    associated_data: Optional[Octets] = field(default=None, repr=False)
    key_version: Optional[int] = None
    reference: Optional[str] = None


@dataclass(frozen=True)
class SignItem:
    """`prehashed`: the data is the finished hash."""

    data: Octets = field(repr=False)
    hash_algorithm: Optional[str] = None
    prehashed: Optional[bool] = None
    signature_algorithm: Optional[str] = None
    marshaling: Optional[str] = None
    key_version: Optional[int] = None
    reference: Optional[str] = None


@dataclass(frozen=True)
class VerifyItem:
    """The options with which the signature was made."""

    data: Octets = field(repr=False)
    signature: str
    hash_algorithm: Optional[str] = None
    prehashed: Optional[bool] = None
    signature_algorithm: Optional[str] = None
    marshaling: Optional[str] = None
    reference: Optional[str] = None


@dataclass(frozen=True)
class HmacItem:
    data: Octets = field(repr=False)
    hash_algorithm: Optional[str] = None
    key_version: Optional[int] = None
    reference: Optional[str] = None


@dataclass(frozen=True)
class DataKey:
    """A key to encrypt much data with: keep `ciphertext` with the data, forget `plaintext` after use."""

    plaintext: bytes = field(repr=False)
    ciphertext: str
    key_version: int


def _wire(item: Any, **renamed: str) -> Mapping[str, Any]:
    """In the names of the wire. The attributes named are octets, which go as base64 under the names given. Raises TypeError for what no
    item may hold."""
    octets: dict[str, str] = {"associated_data": "associated-data", **renamed}
    wire: dict[str, Any] = {}
    for one in fields(item):
        value = getattr(item, one.name)
        if one.name in octets and (value is not None or one.default is MISSING):
            wire[octets[one.name]] = _encode(one.name, value)
        elif one.default is MISSING and not isinstance(value, str):
            raise TypeError(f"{one.name}: a text, not {type(value).__name__}")
        elif value is not None:
            wire[one.name.replace("_", "-")] = value
    return wire


def _encode(name: str, octets: Any) -> str:
    if not isinstance(octets, (str, bytes, bytearray, memoryview)):
        raise TypeError(f"{name}: a text or octets, not {type(octets).__name__}")
    return base64.b64encode(octets.encode() if isinstance(octets, str) else octets).decode("ascii")


def _text(result: Mapping[str, Any], name: str) -> str:
    value = result.get(name)
    if not isinstance(value, str):
        raise TypeError(f"the answer has no {name}")
    return value


def _valid(result: Mapping[str, Any]) -> bool:
    value = result.get("valid")
    if not isinstance(value, bool):
        raise TypeError("the answer says neither valid nor not valid")
    return value


_ENCRYPT: Action[EncryptItem, str] = Action(
    "encrypt", EncryptItem, lambda item: _wire(item, plaintext="plaintext"), lambda result: _text(result, "ciphertext")
)
_DECRYPT: Action[DecryptItem, bytes] = Action(
    "decrypt", DecryptItem, _wire, lambda result: base64.b64decode(_text(result, "plaintext"), validate=True)
)
_REWRAP: Action[RewrapItem, str] = Action("rewrap", RewrapItem, _wire, lambda result: _text(result, "ciphertext"))
_SIGN: Action[SignItem, str] = Action("sign", SignItem, lambda item: _wire(item, data="text"), lambda result: _text(result, "signature"))
_VERIFY: Action[VerifyItem, bool] = Action("verify", VerifyItem, lambda item: _wire(item, data="text"), _valid, takes_bare=False)
_HMAC: Action[HmacItem, str] = Action("hmac", HmacItem, lambda item: _wire(item, data="plaintext"), lambda result: _text(result, "hmac"))


class Key:
    """`..._batch` splits items into requests of at most 1,000 items and 3 MiB and joins the results; `..._stream` does the same for any
    number of items. Both answer a result for each item, in order, and raise only when a whole request is refused. An item is an object,
    such as EncryptItem, or just its text or octets; TypeError says which item is neither."""

    def __init__(self, name: str, sender: Sender) -> None:
        self.name = name
        self._sender = sender
        self._path = f"/v1/state/keystore/transit-keys/{segment(name)}"

    def encrypt(
        self,
        plaintext: Octets,
        *,
        context: Optional[str] = None,
        associated_data: Optional[Octets] = None,
        key_version: Optional[int] = None,
        timeout: Optional[float] = None,
    ) -> str:
        return self._one(_ENCRYPT, EncryptItem(plaintext, context, associated_data, key_version), timeout)

    def decrypt(
        self,
        ciphertext: str,
        *,
        context: Optional[str] = None,
        associated_data: Optional[Octets] = None,
        timeout: Optional[float] = None,
    ) -> bytes:
        """Raises Problem `decryption-failed` for every ciphertext that does not open, whatever the reason."""
        return self._one(_DECRYPT, DecryptItem(ciphertext, context, associated_data), timeout)

    def rewrap(
        self,
        ciphertext: str,
        *,
        context: Optional[str] = None,
        associated_data: Optional[Octets] = None,
        key_version: Optional[int] = None,
        timeout: Optional[float] = None,
    ) -> str:
        """The ciphertext under the newest version of the key. The plaintext stays in the appliance."""
        return self._one(_REWRAP, RewrapItem(ciphertext, context, associated_data, key_version), timeout)

    def sign(
        self,
        data: Octets,
        *,
        hash_algorithm: Optional[str] = None,
        prehashed: Optional[bool] = None,
        signature_algorithm: Optional[str] = None,
        marshaling: Optional[str] = None,
        key_version: Optional[int] = None,
        timeout: Optional[float] = None,
    ) -> str:
        item = SignItem(data, hash_algorithm, prehashed, signature_algorithm, marshaling, key_version)
        return self._one(_SIGN, item, timeout)

    def verify(
        self,
        data: Octets,
        signature: str,
        *,
        hash_algorithm: Optional[str] = None,
        prehashed: Optional[bool] = None,
        signature_algorithm: Optional[str] = None,
        marshaling: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> bool:
        """Whether the signature fits. Use the options with which it was made."""
        item = VerifyItem(data, signature, hash_algorithm, prehashed, signature_algorithm, marshaling)
        return self._one(_VERIFY, item, timeout)

    def hmac(
        self,
        data: Octets,
        *,
        hash_algorithm: Optional[str] = None,
        key_version: Optional[int] = None,
        timeout: Optional[float] = None,
    ) -> str:
        return self._one(_HMAC, HmacItem(data, hash_algorithm, key_version), timeout)

    def generate_data_key(
        self,
        bits: int = 256,
        *,
        context: Optional[str] = None,
        associated_data: Optional[Octets] = None,
        key_version: Optional[int] = None,
        timeout: Optional[float] = None,
    ) -> DataKey:
        """A new data key of 128, 256 or 512 bits, in clear and encrypted by this key."""
        options = _wire(EncryptItem(b"", context, associated_data, key_version), plaintext="type")
        body = {**options, "type": "plaintext", "bits": bits}
        request = Request("POST", f"{self._path}/generate-data-key", body=body, is_idempotent=True)
        answer = self._sender.answer(request, timeout).body
        try:
            plaintext = base64.b64decode(_text(answer, "plaintext"), validate=True)
            return DataKey(plaintext, _text(answer, "ciphertext"), int(answer["key-version"]))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise _unexpected(error) from error

    def seal(
        self,
        source: Source,
        *,
        context: Optional[str] = None,
        associated_data: Optional[Octets] = None,
        key_version: Optional[int] = None,
        data_keys: Optional[DataKeyCache] = None,
        timeout: Optional[float] = None,
    ) -> Iterator[bytes]:
        """Encrypts any amount of data in constant memory, under a data key of its own: a header of 1,024 octets, then authentic pieces of
        64 KiB. `open` of every client library reads it. `context` and `associated_data` are those of the data key; `data_keys`: takes it
        from there, and keeps it there."""
        return seal(source, self._data_keys(context, associated_data, key_version, timeout), data_keys)

    def open(
        self,
        source: Source,
        *,
        context: Optional[str] = None,
        associated_data: Optional[Octets] = None,
        data_keys: Optional[DataKeyCache] = None,
        timeout: Optional[float] = None,
    ) -> Iterator[bytes]:
        """What was sealed, piece by piece, each authentic and in its place.

        That nothing is missing is known when the iteration has ended without an error: until then, keep what came as unfinished. Raises
        SealedDataError for data that was changed, and Problem `decryption-failed` when this key did not wrap the data key.
        """
        return open_sealed(source, self._data_keys(context, associated_data, None, timeout), data_keys)

    def rewrap_sealed(
        self,
        header: bytes,
        *,
        context: Optional[str] = None,
        associated_data: Optional[Octets] = None,
        key_version: Optional[int] = None,
        timeout: Optional[float] = None,
    ) -> bytes:
        """The header of sealed data, its first 1,024 octets, with the data key under the newest version of this key: write it over the
        old one."""
        bound = {"context": context, "associated_data": associated_data, "key_version": key_version, "timeout": timeout}
        return rewrap_header(header, lambda wrapped_key: self.rewrap(wrapped_key, **bound))  # type: ignore[arg-type]

    def import_wrapped(self, material: bytes, *, timeout: Optional[float] = None) -> None:
        """Imports a key as a new version, wrapped here under a key of the appliance that opens this import alone: nobody on the way sees it.

        `material` is the PKCS#8 (DER) of a private key, or the octets of a symmetric key. Needs the package `cryptography`, as `seal` does.
        """
        made = self._sender.answer(Request("POST", f"{self._path}/import-wrapping-key", body={}), timeout).body
        try:
            wrapping_key, import_id = _text(made, "wrapping-key"), _text(made, "import-id")
        except (AttributeError, TypeError, ValueError) as error:
            raise _unexpected(error) from error
        ciphertext = base64.b64encode(wrap_key(wrapping_key, material)).decode("ascii")
        body = {"ciphertext": ciphertext, "import-id": import_id}
        self._sender.answer(Request("POST", f"{self._path}/import", body=body), timeout)

    def _data_keys(
        self, context: Optional[str], associated_data: Optional[Octets], key_version: Optional[int], timeout: Optional[float]
    ) -> DataKeySource:
        def make() -> Tuple[bytearray, str]:
            made = self.generate_data_key(
                256, context=context, associated_data=associated_data, key_version=key_version, timeout=timeout
            )
            return bytearray(made.plaintext), made.ciphertext

        def unwrap(ciphertext: str) -> bytearray:
            return bytearray(self.decrypt(ciphertext, context=context, associated_data=associated_data, timeout=timeout))

        bound = None if associated_data is None else _encode("associated_data", associated_data)
        return DataKeySource((self.name, context, bound, key_version), self._sender, make, unwrap)

    def sign_openpgp(
        self,
        source: Source,
        *,
        key_version: Optional[int] = None,
        expires_after: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> str:
        """Signs any amount of data with an OpenPGP key, hashed here in constant memory: the detached signature, in armor.

        `expires_after` is a duration such as `90d`. The token needs `execute` of openpgp-trailer and openpgp-sign-digest, and of
        certify-subkey for a primary key.
        """
        options = {"key-version": key_version, "expires-after": expires_after}
        wanted = {name: value for name, value in options.items() if value is not None}
        asked = time.monotonic()
        trailer = self._ask("openpgp-trailer", wanted, timeout)
        digest = hashlib.new(_text(trailer, "hash-algorithm"))
        for piece in pieces_of(source):
            digest.update(piece)
        # The date of the signature is in the trailer: it is asked for again when hashing took its time.
        if time.monotonic() - asked > _FRESH_SECONDS:
            trailer = self._ask("openpgp-trailer", {**wanted, "key-version": trailer["key-version"]}, timeout)
        digest.update(base64.b64decode(_text(trailer, "trailer"), validate=True))
        body = {"trailer": _text(trailer, "trailer"), "digest": base64.b64encode(digest.digest()).decode("ascii")}
        return _text(self._ask("openpgp-sign-digest", body, timeout), "signature")

    def encrypt_batch(
        self, items: Iterable[Union[EncryptItem, Octets]], *, concurrency: int = 4, timeout: Optional[float] = None
    ) -> List[BatchResult[str]]:
        return list(self.encrypt_stream(items, concurrency=concurrency, timeout=timeout))

    def decrypt_batch(
        self, items: Iterable[Union[DecryptItem, str]], *, concurrency: int = 4, timeout: Optional[float] = None
    ) -> List[BatchResult[bytes]]:
        return list(self.decrypt_stream(items, concurrency=concurrency, timeout=timeout))

    def rewrap_batch(
        self, items: Iterable[Union[RewrapItem, str]], *, concurrency: int = 4, timeout: Optional[float] = None
    ) -> List[BatchResult[str]]:
        return list(self.rewrap_stream(items, concurrency=concurrency, timeout=timeout))

    def sign_batch(
        self, items: Iterable[Union[SignItem, Octets]], *, concurrency: int = 4, timeout: Optional[float] = None
    ) -> List[BatchResult[str]]:
        return list(self.sign_stream(items, concurrency=concurrency, timeout=timeout))

    def verify_batch(
        self, items: Iterable[VerifyItem], *, concurrency: int = 4, timeout: Optional[float] = None
    ) -> List[BatchResult[bool]]:
        return list(self.verify_stream(items, concurrency=concurrency, timeout=timeout))

    def hmac_batch(
        self, items: Iterable[Union[HmacItem, Octets]], *, concurrency: int = 4, timeout: Optional[float] = None
    ) -> List[BatchResult[str]]:
        return list(self.hmac_stream(items, concurrency=concurrency, timeout=timeout))

    def encrypt_stream(
        self, items: Iterable[Union[EncryptItem, Octets]], *, concurrency: int = 4, timeout: Optional[float] = None
    ) -> Iterator[BatchResult[str]]:
        return self._many(_ENCRYPT).each(items, concurrency=concurrency, timeout=timeout)

    def decrypt_stream(
        self, items: Iterable[Union[DecryptItem, str]], *, concurrency: int = 4, timeout: Optional[float] = None
    ) -> Iterator[BatchResult[bytes]]:
        return self._many(_DECRYPT).each(items, concurrency=concurrency, timeout=timeout)

    def rewrap_stream(
        self, items: Iterable[Union[RewrapItem, str]], *, concurrency: int = 4, timeout: Optional[float] = None
    ) -> Iterator[BatchResult[str]]:
        return self._many(_REWRAP).each(items, concurrency=concurrency, timeout=timeout)

    def sign_stream(
        self, items: Iterable[Union[SignItem, Octets]], *, concurrency: int = 4, timeout: Optional[float] = None
    ) -> Iterator[BatchResult[str]]:
        return self._many(_SIGN).each(items, concurrency=concurrency, timeout=timeout)

    def verify_stream(
        self, items: Iterable[VerifyItem], *, concurrency: int = 4, timeout: Optional[float] = None
    ) -> Iterator[BatchResult[bool]]:
        return self._many(_VERIFY).each(items, concurrency=concurrency, timeout=timeout)

    def hmac_stream(
        self, items: Iterable[Union[HmacItem, Octets]], *, concurrency: int = 4, timeout: Optional[float] = None
    ) -> Iterator[BatchResult[str]]:
        return self._many(_HMAC).each(items, concurrency=concurrency, timeout=timeout)

    def _ask(self, action: str, body: Mapping[str, Any], timeout: Optional[float]) -> Mapping[str, Any]:
        request = Request("POST", f"{self._path}/{action}", body=body, is_idempotent=True)
        answer: Mapping[str, Any] = self._sender.answer(request, timeout).body
        return answer

    def _one(self, action: Action[Item, Result], item: Item, timeout: Optional[float]) -> Result:
        request = Request("POST", f"{self._path}/{action.path}", body=action.to_wire(item), is_idempotent=True)
        answer = self._sender.answer(request, timeout).body
        try:
            return action.read(answer)
        except (AttributeError, TypeError, ValueError) as error:
            raise _unexpected(error) from error

    def _many(self, action: Action[Item, Result]) -> Batches[Item, Result]:
        return Batches(self._sender, f"{self._path}/{action.path}", action)


def _unexpected(error: Exception) -> Problem:
    return Problem(status=200, code="unexpected-answer", detail=f"{error}.")
