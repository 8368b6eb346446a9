"""Sealed data, format 1 (appliance/docs/use/sealed-data.md): a header, then pieces of AES-256-GCM in the STREAM construction.

AES comes from the package `cryptography`, which is needed for this alone: `pip install 'keystored-client[sealing]'`.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from typing import Any, BinaryIO, Callable, Iterable, Iterator, Optional, Tuple, Union

from ._batches import Octets
from ._data_keys import DataKeyCache, DataKeySource
from ._problem import KeystoredError

SEALED_HEADER_BYTES = 1_024
"""The header has one length whatever the wrapped key, so that a rewrap writes over it in place."""

PIECE_BYTES = 65_536
_TAG_BYTES = 16
_MAGIC = b"KSEALED\x01"
_SALT_AT, _PREFIX_AT, _COMMITMENT_AT, _LENGTH_AT, _WRAPPED_AT = 8, 40, 47, 79, 81
_INFO = b"keystored sealed data 1"
# The counter of the nonce has 32 bits.
_MOST_PIECES = 2**32

Source = Union[BinaryIO, Iterable[Octets], Octets]
"""A file that is open for reading octets, or octets, or an iterator of octets of any sizes; a text stands for its UTF-8."""


class SealedDataError(KeystoredError):
    """The data cannot be opened: changed, reordered, cut off, extended, of another header, or sealed under another data key."""


@dataclass(frozen=True)
class Header:
    salt: bytes
    nonce_prefix: bytes
    commitment: bytes
    wrapped_key: str

    def write(self) -> bytes:
        """Raises SealedDataError for a wrapped key that does not fit."""
        room = SEALED_HEADER_BYTES - _WRAPPED_AT
        if not _is_printable(self.wrapped_key) or len(self.wrapped_key) > room:
            raise SealedDataError(f"the wrapped data key must be 1 to {room} ASCII characters")
        bound = _MAGIC + self.salt + self.nonce_prefix + self.commitment
        whole = bound + len(self.wrapped_key).to_bytes(2, "big") + self.wrapped_key.encode("ascii")
        return whole.ljust(SEALED_HEADER_BYTES, b"\0")

    @staticmethod
    def read(octets: bytes) -> Header:
        """Raises SealedDataError for what is no header of this format."""
        if len(octets) != SEALED_HEADER_BYTES:
            raise SealedDataError(f"the header has {len(octets)} octets of {SEALED_HEADER_BYTES}: it is cut off")
        if octets[:_SALT_AT] != _MAGIC:
            raise SealedDataError("this is not sealed data of format 1")
        end = _WRAPPED_AT + int.from_bytes(octets[_LENGTH_AT:_WRAPPED_AT], "big")
        wrapped_key = octets[_WRAPPED_AT:end].decode("latin-1")
        if end > SEALED_HEADER_BYTES or not _is_printable(wrapped_key) or any(octets[end:]):
            raise SealedDataError("the header is damaged")
        return Header(octets[_SALT_AT:_PREFIX_AT], octets[_PREFIX_AT:_COMMITMENT_AT], octets[_COMMITMENT_AT:_LENGTH_AT], wrapped_key)


def seal(source: Source, keys: DataKeySource, cache: Optional[DataKeyCache]) -> Iterator[bytes]:
    """The header, then a piece for each 64 KiB of `source`."""
    aead = _aead()
    data_key, wrapped_key = keys.make() if cache is None else cache.to_seal(keys)
    salt, nonce_prefix = secrets.token_bytes(32), secrets.token_bytes(7)
    piece_key, commitment = _derive(data_key, salt)
    header = Header(salt, nonce_prefix, commitment, wrapped_key).write()
    cipher = aead(piece_key)
    yield header
    for octets, index, is_last in _pieces(source, PIECE_BYTES):
        yield cipher.encrypt(_nonce(header, index, is_last), octets, header[:_LENGTH_AT])


def open_sealed(source: Source, keys: DataKeySource, cache: Optional[DataKeyCache]) -> Iterator[bytes]:
    """What was sealed, piece by piece, each authentic and in its place."""
    aead = _aead()
    reader = _Reader(source)
    header = reader.read(SEALED_HEADER_BYTES)
    parts = Header.read(header)
    data_key = keys.open(parts.wrapped_key) if cache is None else cache.to_open(keys, parts.wrapped_key)
    piece_key, commitment = _derive(data_key, parts.salt)
    if not hmac.compare_digest(commitment, parts.commitment):
        raise SealedDataError(
            "the wrapped key of the header is not the one that sealed this: the header is of other data, or changed"
        )
    cipher = aead(piece_key)
    for octets, index, is_last in _pieces(reader, PIECE_BYTES + _TAG_BYTES):
        opened = _opened(cipher, _nonce(header, index, is_last), octets, header[:_LENGTH_AT])
        if opened is None:
            raise SealedDataError(f"piece {index + 1} is not as it was sealed: changed, moved, cut off or extended")
        if not opened and index > 0:
            raise SealedDataError(f"piece {index + 1} is empty")
        if opened:
            yield opened


def rewrap_header(octets: bytes, rewrap: Callable[[str], str]) -> bytes:
    """The header with another wrapped key of the same data key."""
    read = Header.read(octets)
    return Header(read.salt, read.nonce_prefix, read.commitment, rewrap(read.wrapped_key)).write()


def _opened(cipher: Any, nonce: bytes, octets: bytes, bound: bytes) -> Optional[bytes]:
    from cryptography.exceptions import InvalidTag

    try:
        # One that is shorter than a tag is an InvalidTag as well.
        opened: bytes = cipher.decrypt(nonce, octets, bound)
    except InvalidTag:
        return None
    return opened


def _aead() -> Callable[[bytes], Any]:
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ImportError as error:
        raise ImportError("sealed data needs the package cryptography: pip install 'keystored-client[sealing]'") from error
    return AESGCM


def _derive(data_key: bytearray, salt: bytes) -> Tuple[bytes, bytes]:
    """HKDF-SHA-256 (RFC 5869) to the key of the pieces and what commits to the data key, which is overwritten."""
    try:
        if len(data_key) != 32:
            raise SealedDataError(f"the wrapped key of the header is not a data key of 256 bits, but of {len(data_key) * 8}")
        extracted = hmac.digest(salt, data_key, hashlib.sha256)
    finally:
        data_key[:] = bytes(len(data_key))
    piece_key = hmac.digest(extracted, _INFO + b"\x01", hashlib.sha256)
    return piece_key, hmac.digest(extracted, piece_key + _INFO + b"\x02", hashlib.sha256)


def _nonce(header: bytes, index: int, is_last: bool) -> bytes:
    return header[_PREFIX_AT:_COMMITMENT_AT] + index.to_bytes(4, "big") + (b"\x01" if is_last else b"\x00")


class _Reader:
    """Reads a source in parts of given sizes."""

    def __init__(self, source: Source) -> None:
        read = getattr(source, "read", None)
        # The lines of a file would be parts as well, of any length.
        parts: Any = source if read is None else _read_from(read)
        self._parts: Iterator[Octets] = iter([parts] if isinstance(parts, (str, bytes, bytearray, memoryview)) else parts)
        self._pending = bytearray()

    def read(self, size: int) -> bytes:
        """Fewer octets than `size` at the end alone."""
        while len(self._pending) < size:
            part = next(self._parts, None)
            if part is None:
                break
            if not isinstance(part, (str, bytes, bytearray, memoryview)):
                raise TypeError(f"a source gives octets, not {type(part).__name__}")
            self._pending += part.encode() if isinstance(part, str) else part
        taken = bytes(memoryview(self._pending)[:size])
        del self._pending[:size]
        return taken


def _read_from(read: Callable[[int], Any]) -> Iterator[Any]:
    """None, which a file gives that does not wait, is no end."""
    while True:
        part = read(PIECE_BYTES)
        if part is not None and len(part) == 0:
            return
        yield part


def pieces_of(source: Source) -> Iterator[bytes]:
    """Octets of a source, 64 KiB at a time."""
    reader = _Reader(source)
    while piece := reader.read(PIECE_BYTES):
        yield piece


def _pieces(source: Union[Source, _Reader], size: int) -> Iterator[Tuple[bytes, int, bool]]:
    """Pieces of `size`, the last one with what is left; of no octets one empty piece. One is held back until it is known what follows."""
    reader = source if isinstance(source, _Reader) else _Reader(source)
    piece = reader.read(size)
    for index in range(_MOST_PIECES):
        following = reader.read(size)
        yield piece, index, not following
        if not following:
            return
        piece = following
    raise SealedDataError(f"a stream has at most {_MOST_PIECES} pieces of {PIECE_BYTES} octets: seal the rest as another")


def _is_printable(text: str) -> bool:
    return text != "" and all("!" <= character <= "~" for character in text)
