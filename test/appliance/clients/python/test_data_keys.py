"""Cached data keys: their bounds, that they are overwritten, and that they serve one client."""

import time
import unittest

from keystored_client import DataKeyCache
from keystored_client._data_keys import DataKeySource


class Source:
    """A source of data keys that counts what it is asked for, and keeps what it gave."""

    def __init__(self, name="orders", owner=None):
        self.asked = 0
        self.given = []
        self.source = DataKeySource((name,), owner or self, self._make, lambda ciphertext: self._make()[0])

    def _make(self):
        self.asked += 1
        self.given.append(bytearray(b"\x07" * 32))
        return self.given[-1], f"store:v1:{self.asked}"


class DataKeys(unittest.TestCase):
    def test_a_key_is_used_as_often_as_it_may_be(self):
        orders, cache = Source(), DataKeyCache(max_uses=3, max_age=60)
        wrapped = [cache.to_seal(orders.source)[1] for _ in range(4)]
        self.assertEqual(wrapped, ["store:v1:1"] * 3 + ["store:v1:2"])
        for _ in range(4):
            self.assertEqual(cache.to_open(orders.source, "store:v1:1"), b"\x07" * 32)
        self.assertEqual(orders.asked, 4)

    def test_a_key_is_used_as_long_as_it_may_be_and_overwritten(self):
        orders, cache = Source(), DataKeyCache(max_uses=9, max_age=0.05)
        cache.to_seal(orders.source)
        kept = next(iter(cache._entries.values())).plaintext
        self.assertEqual((len(cache), bytes(kept)), (1, b"\x07" * 32))
        time.sleep(0.06)
        self.assertEqual((len(cache), bytes(kept)), (0, bytes(32)))
        cache.to_seal(orders.source)
        kept = next(iter(cache._entries.values())).plaintext
        cache.clear()
        self.assertEqual((len(cache), bytes(kept)), (0, bytes(32)))

    def test_no_more_keys_are_kept_than_may_be(self):
        owner, cache = object(), DataKeyCache(max_uses=9, max_age=60, max_keys=2)
        sources = [Source(name, owner) for name in "abc"]
        for one in [*sources, sources[0], sources[2]]:
            cache.to_seal(one.source)
        self.assertEqual([one.asked for one in sources], [2, 1, 1])
        self.assertEqual(len(cache), 2)

    def test_a_cache_serves_one_client_and_needs_bounds(self):
        cache = DataKeyCache(max_uses=2, max_age=60)
        cache.to_seal(Source().source)
        with self.assertRaisesRegex(ValueError, "serves one client"):
            cache.to_seal(Source().source)
        for bounds in ({"max_uses": 0, "max_age": 1}, {"max_uses": 1, "max_age": 0}, {"max_uses": 1, "max_age": float("inf")}):
            with self.assertRaises(ValueError):
                DataKeyCache(**bounds)
