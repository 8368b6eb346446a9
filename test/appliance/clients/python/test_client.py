"""The Python client against the appliance that KEYSTORED_URL, KEYSTORED_CA and KEYSTORED_TOKEN name: calls, problems, tokens, batches."""

import base64
import io
import os
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

from closing import Client, tearDownModule  # noqa: F401 -- unittest calls it
from keystored_client import (
    Approle,
    ConnectionFailed,
    DecryptItem,
    EncryptItem,
    HmacItem,
    Problem,
    RewrapItem,
    SignItem,
    Token,
    VerifyItem,
    models,
)

URL = os.environ["KEYSTORED_URL"]
CA = os.environ["KEYSTORED_CA"]
ROOT = os.environ["KEYSTORED_TOKEN"]
OTHER_CA = os.environ["KEYSTORED_OTHER_CA"]

root = Client(URL, ca=CA, credentials=Token(ROOT))


def setUpModule():
    root.transit_keys.create(models.TransitKeyCreation(name="py-orders"))
    root.transit_keys.create(models.TransitKeyCreation(name="py-signing", cipher="ed25519"))
    root.approles.create(models.ApproleCreation(name="py-billing", token_policies=["user"], token_ttl="1h"))


def approle(name="py-billing"):
    role_id = root.approles.show(name).role_id
    return Approle(role_id, root.approles.generate_secret_id(name).secret_id)


def counting(client):
    """The paths of the requests that a client sends from now on."""
    paths = []
    send = client._transport.send

    def counted(address, method, path, *others):
        paths.append(path)
        return send(address, method, path, *others)

    client._transport.send = counted
    return paths


def at_once(count, work):
    gate = threading.Barrier(count)

    def one(_):
        gate.wait()
        return work()

    with ThreadPoolExecutor(count) as executor:
        return list(executor.map(one, range(count)))


class Operations(unittest.TestCase):
    def test_documents_have_the_names_of_the_wire_with_underscores(self):
        sent = models.EncryptRequest(plaintext="aGVsbG8=")
        answer = root.transit_keys.encrypt("py-orders", sent)
        self.assertEqual(answer.key_version, 1)
        opened = root.transit_keys.decrypt(
            "py-orders", models.DecryptRequest(ciphertext=answer.ciphertext, base64_encoded=False)
        )
        self.assertEqual(opened.plaintext, "hello")

    def test_a_merge_changes_what_it_names_and_nothing_else(self):
        root.approles.create(models.ApproleCreation(name="py-merged", secret_id_num_uses=3, token_ttl="2h"))
        root.approles.merge("py-merged", models.ApproleMerge(token_ttl="3h"))
        merged = root.approles.show_config("py-merged")
        self.assertEqual((merged.secret_id_num_uses, merged.token_ttl), (3, "3h"))

    def test_a_change_with_an_entity_tag_that_is_out_of_date_is_refused(self):
        etag = root.send("GET", "/v1/config/keystore/transit-keys/py-orders").headers["etag"]
        root.transit_keys.merge("py-orders", models.TransitKeyMerge(deletion_allowed=True), if_match=etag)
        with self.assertRaises(Problem) as raised:
            root.transit_keys.merge("py-orders", models.TransitKeyMerge(exportable=True), if_match=etag)
        self.assertEqual(raised.exception.status, 412)

    def test_lists_maps_and_nested_documents_are_read(self):
        key = next(one for one in root.transit_keys.list() if one.name == "py-orders")
        self.assertIsInstance(key.distribute, models.TransitKeyDistribute)
        self.assertEqual(list(key.keys), ["1"])
        self.assertIn("py-orders", [one.name for one in root.transit_keys.list_each()])

    def test_lines_come_as_documents(self):
        self.assertEqual(len(list(root.topics.show("system:audit-trail-log", limit=2))), 2)

    def test_secrets_are_not_shown(self):
        self.assertNotIn("aGVsbG8=", repr(models.EncryptRequest(plaintext="aGVsbG8=")))
        self.assertNotIn("secret", repr(Approle("role", "secret")) + repr(Token("secret")))


class OneKey(unittest.TestCase):
    def test_octets_in_and_out(self):
        key, octets = root.key("py-orders"), bytes([0, 255, 10])
        ciphertext = key.encrypt(octets, associated_data="row 17")
        self.assertEqual(key.decrypt(ciphertext, associated_data="row 17"), octets)
        self.assertEqual(key.decrypt(key.rewrap(ciphertext, associated_data=b"row 17"), associated_data="row 17"), octets)
        with self.assertRaises(Problem) as raised:
            key.decrypt(ciphertext)
        self.assertEqual(raised.exception.code, "decryption-failed")

    def test_signatures_and_hmac(self):
        key = root.key("py-signing")
        signature = key.sign("a contract")
        self.assertTrue(key.verify("a contract", signature))
        self.assertFalse(key.verify("another contract", signature))
        self.assertEqual(root.key("py-orders").hmac("text"), root.key("py-orders").hmac(b"text"))

    def test_openpgp_signatures_over_data_that_is_hashed_here(self):
        root.transit_keys.create(models.TransitKeyCreation(name="py-pgp", cipher="ed25519", openpgp_user_id="Py"))
        data = bytes(range(256)) * 1_000
        for source in (data, iter([data[:1_000], data[1_000:]]), io.BytesIO(data)):
            signature = root.key("py-pgp").sign_openpgp(source)
            asked = models.OpenpgpVerifyRequest(text=base64.b64encode(data).decode(), signature=signature)
            self.assertTrue(root.transit_keys.openpgp_verify("py-pgp", asked).valid)

    def test_data_keys_and_random_octets(self):
        for bits in (128, 256, 512):
            data_key = root.key("py-orders").generate_data_key(bits)
            self.assertEqual(len(data_key.plaintext) * 8, bits)
            self.assertEqual(root.key("py-orders").decrypt(data_key.ciphertext), data_key.plaintext)
            self.assertNotIn(base64.b64encode(data_key.plaintext).decode(), repr(data_key))
        self.assertEqual(len(root.random(17)), 17)

    def test_a_name_stays_one_part_of_the_path(self):
        with self.assertRaises(Problem):
            root.key("../../tokens").encrypt("x")


class Batches(unittest.TestCase):
    def test_a_bare_text_or_octets_are_items(self):
        key = root.key("py-orders")
        sealed = [one.get() for one in key.encrypt_batch(["one", b"two", EncryptItem("three")])]
        again = [one.get() for one in key.rewrap_stream(sealed)]
        self.assertEqual([one.get() for one in key.decrypt_batch(again)], [b"one", b"two", b"three"])
        self.assertEqual([one.get() for one in key.hmac_batch(["text"])], [key.hmac("text")])
        signing = root.key("py-signing")
        self.assertEqual([one.get() for one in signing.sign_batch(["text"])], [signing.sign("text")])

    def test_what_is_no_item_is_refused_before_anything_is_sent(self):
        client = Client(URL, ca=CA, credentials=Token(ROOT))
        paths = counting(client)
        key = client.key("py-orders")
        cases = [
            (lambda: key.encrypt_batch(["x", 5]), "item 1: encrypt: an item is a text, octets or EncryptItem, not int"),
            (lambda: key.rewrap_batch([EncryptItem("x")]), "item 0: rewrap: an item is a text, octets or RewrapItem, not EncryptItem"),
            (lambda: key.decrypt_batch([b"x"]), "item 0: ciphertext: a text, not bytes"),
            (lambda: key.verify_batch(["x"]), "item 0: verify: an item is VerifyItem, not str"),
            (lambda: key.verify_batch([VerifyItem("x", None)]), "item 0: signature: a text, not NoneType"),
            (lambda: key.encrypt_batch("4711"), "items: a list or an iterator of items, not one of them"),
            (lambda: key.encrypt(5), "plaintext: a text or octets, not int"),
            (lambda: key.decrypt(None), "ciphertext: a text, not NoneType"),
        ]
        for call, message in cases:
            with self.assertRaises(TypeError) as caught:
                call()
            self.assertEqual(str(caught.exception), message)
        self.assertEqual(paths, [])

    def test_2500_items_are_three_requests_with_a_problem_for_each_item_that_fails(self):
        client = Client(URL, ca=CA, credentials=Token(ROOT))
        paths = counting(client)
        key = client.key("py-orders")
        sealed = key.encrypt_batch(EncryptItem(f"row {n}", reference=str(n)) for n in range(2_500))
        self.assertEqual(sum("encrypt" in path for path in paths), 3)
        items = [DecryptItem("store:v1:broken" if n % 500 == 7 else one.get(), reference=str(n)) for n, one in enumerate(sealed)]
        opened = key.decrypt_batch(items)
        self.assertEqual([one.reference for one in opened], [str(n) for n in range(2_500)])
        failed = [(n, one.problem.status) for n, one in enumerate(opened) if not one.ok]
        self.assertEqual(failed, [(n, 400) for n in (7, 507, 1_007, 1_507, 2_007)])
        self.assertEqual(opened[6].get(), b"row 6")
        with self.assertRaises(Problem):
            opened[7].get()

    def test_a_request_in_which_every_item_fails_ends_as_problems_of_the_items(self):
        failed = root.key("py-orders").decrypt_batch([DecryptItem("store:v1:broken", reference="a"), DecryptItem("none")])
        self.assertEqual([(one.ok, one.problem.code, one.reference) for one in failed], [(False, "invalid-base64", "a"), (False, "invalid-format", None)])
        with self.assertRaises(Problem):
            root.key("py-none").decrypt_batch([DecryptItem("store:v1:broken")])

    def test_large_items(self):
        client = Client(URL, ca=CA, credentials=Token(ROOT))
        paths = counting(client)
        results = client.key("py-orders").encrypt_batch(EncryptItem(letter * 1_000_000) for letter in "abcd")
        self.assertEqual([one.ok for one in results], [True] * 4)
        self.assertEqual(sum("encrypt" in path for path in paths), 2)
        mixed = root.key("py-orders").encrypt_batch([EncryptItem("x"), EncryptItem("y" * 9_000_000), EncryptItem("z")])
        self.assertEqual([one.ok for one in mixed], [True, False, True])

    def test_each_action_has_one(self):
        orders, signing = root.key("py-orders"), root.key("py-signing")
        signature = signing.sign_batch([SignItem("text")])[0].get()
        verified = signing.verify_batch([VerifyItem("text", signature), VerifyItem("other", signature)])
        self.assertEqual([one.get() for one in verified], [True, False])
        self.assertEqual(orders.hmac_batch([HmacItem("text")])[0].get(), orders.hmac("text"))
        self.assertTrue(orders.rewrap_batch([RewrapItem(orders.encrypt("x"))])[0].ok)

    def test_a_request_refused_as_a_whole_raises(self):
        with self.assertRaises(Problem) as raised:
            root.key("nowhere").encrypt_batch([EncryptItem("x")])
        self.assertEqual(raised.exception.code, "not-found")
        self.assertEqual(root.key("nowhere").encrypt_batch([]), [])

    def test_a_stream_takes_no_more_items_than_its_requests_have_room_for(self):
        taken = 0

        def items():
            nonlocal taken
            for n in range(20_000):
                taken = n
                yield EncryptItem(str(n))

        stream = root.key("py-orders").encrypt_stream(items(), concurrency=2)
        self.assertTrue(next(stream).ok)
        self.assertEqual(taken, 2_000)
        stream.close()


class Problems(unittest.TestCase):
    def test_each_kind(self):
        anyone = Client(URL, ca=CA)
        cases = [
            (401, "invalid-token", anyone.transit_keys.list),
            (401, "invalid-token", Client(URL, ca=CA, credentials=Token("wrong")).transit_keys.list),
            (401, "login-failed", Client(URL, ca=CA, credentials=Approle("no", "no")).transit_keys.list),
            (404, "not-found", lambda: root.transit_keys.show("nowhere")),
            (409, "already-exists", lambda: root.transit_keys.create(models.TransitKeyCreation(name="py-orders"))),
            (400, "invalid-value", lambda: root.transit_keys.create(models.TransitKeyCreation(name="UPPER"))),
        ]
        for status, code, call in cases:
            with self.subTest(code=code), self.assertRaises(Problem) as raised:
                call()
            self.assertEqual((raised.exception.status, raised.exception.code), (status, code))
            self.assertRegex(raised.exception.request_id or "", "^[0-9a-f-]{36}$")
            self.assertIn(code, str(raised.exception))

    def test_another_ca_is_refused_before_anything_is_sent(self):
        client = Client(URL, ca=OTHER_CA, credentials=Token(ROOT))
        with self.assertRaises(ConnectionFailed) as raised:
            client.transit_keys.list()
        self.assertFalse(raised.exception.may_have_run)
        self.assertIn("certificate", str(raised.exception))

    def test_without_a_ca_those_of_the_system_are_trusted(self):
        with self.assertRaises(ConnectionFailed):
            Client(URL, credentials=Token(ROOT)).transit_keys.list()

    def test_options_that_cannot_work(self):
        for options in ({"address": "http://keystore.example"}, {"address": "keystore"}, {"address": []}):
            with self.subTest(options), self.assertRaises(ValueError):
                Client(**options)
        with self.assertRaises(ValueError):
            Client(URL, ca="/etc/ca.pem")


class Tokens(unittest.TestCase):
    def setUp(self):
        root.approles.merge("py-billing", models.ApproleMerge(token_ttl="1h", token_max_ttl="32d"))

    def test_one_login_for_all_threads(self):
        client = Client(URL, ca=CA, credentials=approle())
        paths = counting(client)
        at_once(5, lambda: client.key("py-orders").encrypt("x"))
        self.assertEqual(paths.count("/v1/approle-login"), 1)

    def test_one_renewal_for_all_threads_when_half_of_the_life_is_over(self):
        root.approles.merge("py-billing", models.ApproleMerge(token_ttl="4s"))
        client = Client(URL, ca=CA, credentials=approle())
        paths = counting(client)
        accessor = client.token.info().accessor
        time.sleep(2.1)
        infos = at_once(5, client.token.info)
        self.assertEqual({one.accessor for one in infos}, {accessor})
        self.assertEqual(paths.count("/v1/state/keystore/token/refresh"), 1)
        self.assertEqual(paths.count("/v1/approle-login"), 1)

    def test_a_token_whose_longest_life_is_reached_is_replaced(self):
        root.approles.merge("py-billing", models.ApproleMerge(token_ttl="2s", token_max_ttl="2s"))
        client = Client(URL, ca=CA, credentials=approle())
        paths = counting(client)
        client.key("py-orders").encrypt("x")
        time.sleep(1.1)
        client.key("py-orders").encrypt("x")
        self.assertEqual(paths.count("/v1/approle-login"), 2)

    def test_a_token_that_was_ended_is_replaced_once_for_all_threads(self):
        client = Client(URL, ca=CA, credentials=approle())
        paths = counting(client)
        root.token.disable(models.TokenDisableRequest(accessor=client.token.info().accessor))
        at_once(5, lambda: client.key("py-orders").encrypt("x"))
        self.assertEqual(paths.count("/v1/approle-login"), 2)

    def test_without_an_approle_a_token_that_was_ended_is_refused(self):
        token = root.token.create(models.TokenCreateRequest(policies=["user"], ttl="1h")).token
        client = Client(URL, ca=CA, credentials=Token(token))
        client.key("py-orders").encrypt("x")
        root.token.disable(models.TokenDisableRequest(token=token))
        with self.assertRaises(Problem) as raised:
            client.key("py-orders").encrypt("x")
        self.assertEqual(raised.exception.code, "invalid-token")

    def test_logging_out_ends_the_token(self):
        client = Client(URL, ca=CA, credentials=approle())
        accessor = client.token.info().accessor
        client.log_out()
        with self.assertRaises(Problem) as raised:
            root.token.info(models.TokenInfoRequest(accessor=accessor))
        self.assertEqual(raised.exception.status, 404)
