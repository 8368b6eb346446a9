"""Where data keys come from: the appliance, or a cache with bounds that the caller chose."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import Callable, Dict, Optional, Tuple


@dataclass(frozen=True)
class DataKeySource:
    """One transit key as a source of data keys. `id` tells keys, contexts and versions apart; a cache serves one `owner`."""

    id: Tuple[object, ...]
    owner: object
    make: Callable[[], Tuple[bytearray, str]]
    open: Callable[[str], bytearray]


@dataclass
class _Entry:
    plaintext: bytearray = field(repr=False)
    ciphertext: str
    until: float
    uses_left: int


class DataKeyCache:
    """Data keys for reuse, so that many small streams need few requests. It serves one client, in any number of threads.

    While a key is kept, a policy that was withdrawn has no effect on what it opens. A key is overwritten when its uses or its time are
    over, which is looked at whenever the cache is used, and by `clear()`; copies that Python makes on the way of the answer are not.
    """

    def __init__(self, *, max_uses: int, max_age: float, max_keys: int = 100) -> None:
        """
        max_uses: streams that one data key seals, and opens, from 1.
        max_age: how many seconds a data key is used after it came from the appliance.
        max_keys: data keys kept at a time; the one unused for longest goes first.
        """
        if max_uses < 1 or max_keys < 1:
            raise ValueError("max_uses, max_keys: whole numbers from 1")
        if not 0 < max_age < float("inf"):
            raise ValueError("max_age: seconds, more than 0")
        self._max_uses = max_uses
        self._max_age = max_age
        self._max_keys = max_keys
        self._entries: Dict[object, _Entry] = {}
        self._owner: Optional[object] = None
        self._lock = threading.Lock()

    def __len__(self) -> int:
        with self._lock:
            self._sweep()
            return len(self._entries)

    def clear(self) -> None:
        """Overwrites and forgets all data keys."""
        with self._lock:
            for name in list(self._entries):
                self._drop(name)

    def to_seal(self, source: DataKeySource) -> Tuple[bytearray, str]:
        """The key to seal with; the caller overwrites its copy."""
        name = ("seal", source.id)
        kept = self._take(name, source)
        if kept is not None:
            return kept
        made = source.make()
        self._keep(name, *made)
        return made

    def to_open(self, source: DataKeySource, ciphertext: str) -> bytearray:
        """The key that was wrapped; the caller overwrites its copy."""
        name = ("open", source.id, ciphertext)
        kept = self._take(name, source)
        if kept is not None:
            return kept[0]
        plaintext = source.open(ciphertext)
        self._keep(name, plaintext, ciphertext)
        return plaintext

    def _take(self, name: object, source: DataKeySource) -> Optional[Tuple[bytearray, str]]:
        with self._lock:
            if self._owner is None:
                self._owner = source.owner
            if self._owner is not source.owner:
                raise ValueError("a cache of data keys serves one client: make another for this one")
            self._sweep()
            entry = self._entries.pop(name, None)
            if entry is None:
                return None
            copy = bytearray(entry.plaintext)
            entry.uses_left -= 1
            if entry.uses_left > 0:
                self._entries[name] = entry
            else:
                _overwrite(entry.plaintext)
            return copy, entry.ciphertext

    def _keep(self, name: object, plaintext: bytearray, ciphertext: str) -> None:
        if self._max_uses == 1:
            return
        with self._lock:
            self._drop(name)
            while len(self._entries) >= self._max_keys:
                self._drop(next(iter(self._entries)))
            self._entries[name] = _Entry(bytearray(plaintext), ciphertext, time.monotonic() + self._max_age, self._max_uses - 1)

    def _sweep(self) -> None:
        now = time.monotonic()
        for name in [name for name, entry in self._entries.items() if entry.until <= now]:
            self._drop(name)

    def _drop(self, name: object) -> None:
        entry = self._entries.pop(name, None)
        if entry is not None:
            _overwrite(entry.plaintext)


def _overwrite(octets: bytearray) -> None:
    octets[:] = bytes(len(octets))
