"""The Python client against daemons: one dead, one sealed, one well; 100,000 items; a token that is ended on the way."""

import os
import tracemalloc
import unittest

from closing import Client, tearDownModule  # noqa: F401 -- unittest calls it
from keystored_client import Approle, EncryptItem, Problem, Token, models

URL, DEAD, SEALED = (os.environ[f"KEYSTORED_{name}"] for name in ("URL", "DEAD", "SEALED"))
CA = os.environ["KEYSTORED_CA"]
ROOT = Token(os.environ["KEYSTORED_TOKEN"])


def end_token_of(client, admin):
    """Ends the token that the client uses. A token that ends by itself in between is not found: then the next one."""
    while True:
        accessor = client.token.info().accessor
        try:
            admin.token.disable(models.TokenDisableRequest(accessor=accessor))
            return accessor
        except Problem as problem:
            if problem.status != 404:
                raise


class Service(unittest.TestCase):
    def test_an_address_that_is_dead_and_one_that_is_sealed_are_passed_over(self):
        key = Client([DEAD, SEALED, URL], ca=CA, credentials=ROOT).key("orders")
        self.assertEqual(key.decrypt(key.encrypt("4711")), b"4711")

    def test_where_all_are_sealed_or_dead_the_refusal_says_so(self):
        with self.assertRaises(Problem) as raised:
            Client([DEAD, SEALED], ca=CA, credentials=ROOT, retries=0).key("orders").encrypt("x")
        self.assertEqual((raised.exception.status, raised.exception.code), (503, "sealed"))

    def test_100000_items_in_bounded_memory_while_tokens_end_on_the_way(self):
        admin = Client(URL, ca=CA, credentials=ROOT)
        role_id = admin.approles.show("billing").role_id
        secret_id = admin.approles.generate_secret_id("billing").secret_id
        client = Client(URL, ca=CA, credentials=Approle(role_id, secret_id))
        total, payload = 100_000, "x" * 1_000
        items = (EncryptItem(payload, reference=str(n)) for n in range(total))
        tracemalloc.start()
        given = 0
        for result in client.key("orders").encrypt_stream(items, concurrency=3):
            result.get()
            self.assertEqual(result.reference, str(given))
            given += 1
            if given == total // 2:
                # Half-way somebody ends the token.
                ended = end_token_of(client, admin)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        self.assertEqual(given, total)
        self.assertNotEqual(client.token.info().accessor, ended)
        # All plaintexts and ciphertexts together are 250 MB.
        self.assertLess(peak, 60 << 20)
        client.log_out()
