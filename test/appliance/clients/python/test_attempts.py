"""The Python client when servers refuse, hang and answer strangely: addresses, retries, time limits."""

import json
import os
import socket
import tempfile
import threading
import time
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from closing import Client, tearDownModule  # noqa: F401 -- unittest calls it
from keystored_client import (
    ConnectionFailed,
    Problem,
    TimeLimitExceeded,
    Workload,
    __version__,
    jwt_from_environment,
    jwt_from_file,
)


class Fake:
    """A server on the loopback address. `say(index, path)` answers (status, headers, body), "hang" or "cut"."""

    def __init__(self, test, say):
        self.asked = []
        self.agents = []
        self.bodies = []
        ended = threading.Event()
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self):
                fake.bodies.append(self.rfile.read(int(self.headers.get("content-length") or 0)))
                fake.asked.append(self.path)
                fake.agents.append(self.headers["user-agent"])
                said = say(len(fake.asked) - 1, self.path)
                if said == "hang":
                    ended.wait()
                if isinstance(said, str):
                    self.close_connection = True
                    self.connection.close()
                    return
                status, headers, body = said
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                if status != 204 and "content-length" not in headers:
                    self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body.encode())

            do_GET = do_POST = do_PUT = do_DELETE = answer

            def log_message(self, *_):
                pass

            def finish(self):
                try:
                    super().finish()
                except (OSError, ValueError):
                    pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        server.block_on_close = False
        server.handle_error = lambda *_: None
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        self.url = f"http://127.0.0.1:{server.server_port}"

        def end():
            ended.set()
            server.shutdown()
            server.server_close()

        test.addCleanup(end)


def document(body):
    return 200, {"content-type": "application/json"}, json.dumps(body)


def problem(status, code, **headers):
    body = {"type": code, "title": code, "status": status, "code": code, "request-id": "r-1", "errors": [{"error-message": code}]}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return status, {"content-type": "application/problem+json", **named}, json.dumps(body)


def dead_address():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}"


class Workloads(unittest.TestCase):
    """The client logs in with what its source has then, and keeps its token while a login fails."""

    def test_a_file_is_read_for_every_login(self):
        def say(index, path):
            if path.endswith("/refresh"):
                return problem(403, "policy-denied")
            return document({"token": "t", "expires-in": 3} if path == "/v1/jwt-login" else {})

        fake = Fake(self, say)
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "token")

            def use(text):
                with open(path, "w") as file:
                    file.write(text)
                return client.send("GET", "/v1/x")

            client = Client(fake.url, credentials=Workload("acme", "deploy", jwt_from_file(path), issuer="cluster"))
            with self.assertRaisesRegex(ValueError, "holds no token of the platform"):
                use(" ")
            use("first\n")
            time.sleep(1.6)
            use("")
            time.sleep(1.1)
            use("second")
        logins = [json.loads(body) for asked, body in zip(fake.asked, fake.bodies) if asked == "/v1/jwt-login"]
        named = {"tenant": "acme", "role": "deploy", "issuer": "cluster"}
        self.assertEqual(logins, [{**named, "jwt": "first"}, {**named, "jwt": "second"}])

    def test_a_variable_of_the_environment(self):
        os.environ["KEYSTORED_JWT"] = " token "
        self.addCleanup(lambda: os.environ.pop("KEYSTORED_JWT", None))
        self.assertEqual(jwt_from_environment()(), "token")
        del os.environ["KEYSTORED_JWT"]
        with self.assertRaisesRegex(ValueError, "KEYSTORED_JWT"):
            jwt_from_environment()()
        self.assertNotIn("secret", repr(Workload("t", "r", lambda: "secret")))


class Attempts(unittest.TestCase):
    def test_an_address_that_refuses_and_one_that_is_sealed_are_passed_over(self):
        sealed = Fake(self, lambda *_: problem(503, "sealed", retry_after="5"))
        well = Fake(self, lambda *_: document([]))
        client = Client([dead_address(), sealed.url, well.url])
        client.transit_keys.list()
        client.transit_keys.list()
        self.assertEqual((len(sealed.asked), len(well.asked)), (1, 2))

    def test_a_connection_that_is_cut_is_repeated_only_where_that_does_no_harm(self):
        once = Fake(self, lambda index, _: "cut" if index == 0 else document([]))
        self.assertEqual(Client(once.url).transit_keys.list(), [])
        cutting = Fake(self, lambda *_: "cut")
        with self.assertRaises(ConnectionFailed) as raised:
            Client(cutting.url).transit_keys.rotate("orders")
        self.assertTrue(raised.exception.may_have_run)
        self.assertEqual(len(cutting.asked), 1)

    def test_the_time_limit_ends_a_call_that_hangs(self):
        client = Client(Fake(self, lambda *_: "hang").url, timeout=0.2)
        with self.assertRaises(TimeLimitExceeded):
            client.transit_keys.list()
        with self.assertRaisesRegex(TimeLimitExceeded, "0.05 s"):
            client.transit_keys.list(timeout=0.05)

    def test_retry_after_is_waited_for_also_by_what_changes_something(self):
        for status in (429, 503):
            with self.subTest(status):
                server = Fake(self, lambda index, _, status=status: problem(status, "busy", retry_after="1") if index == 0 else (204, {}, ""))
                started = time.monotonic()
                Client(server.url).transit_keys.rotate("orders")
                self.assertGreaterEqual(time.monotonic() - started, 1)
                self.assertEqual(len(server.asked), 2)

    def test_503_without_retry_after_is_repeated_only_where_that_does_no_harm(self):
        server = Fake(self, lambda *_: problem(503, "odd"))
        with self.assertRaises(Problem):
            Client(server.url).transit_keys.rotate("orders")
        self.assertEqual(len(server.asked), 1)
        with self.assertRaises(Problem):
            Client(server.url, retries=2).transit_keys.list()
        self.assertEqual(len(server.asked), 4)

    def test_a_retry_after_that_is_too_long_is_not_waited_for(self):
        server = Fake(self, lambda *_: problem(503, "sealed", retry_after="3600"))
        for client in (Client(server.url), Client(server.url, most_retry_after=1e9, timeout=0.5)):
            with self.assertRaises(Problem) as raised:
                client.transit_keys.list()
            self.assertEqual((raised.exception.code, raised.exception.retry_after_seconds), ("sealed", 3_600))
        self.assertEqual(len(server.asked), 2)

    def test_a_refusal_is_not_repeated(self):
        server = Fake(self, lambda *_: problem(500, "internal-error"))
        with self.assertRaises(Problem) as raised:
            Client(server.url).transit_keys.list()
        self.assertEqual((raised.exception.request_id, len(server.asked)), ("r-1", 1))

    def test_what_is_no_answer_of_an_appliance(self):
        cases = [
            (502, {"content-type": "text/html"}, "<h1>Bad Gateway</h1>"),
            (200, {"content-type": "text/html"}, "<p>Sign in"),
            (200, {"content-type": "application/json"}, "[{"),
            (200, {"content-type": "application/json"}, '{"name":"no list"}'),
            (302, {"location": "https://elsewhere.example/"}, ""),
        ]
        for said in cases:
            with self.subTest(said), self.assertRaises(Problem) as raised:
                Client(Fake(self, lambda *_, said=said: said).url, retries=0).transit_keys.list()
            self.assertEqual((raised.exception.status, raised.exception.code), (said[0], "unexpected-answer"))

    def test_an_answer_that_ends_early(self):
        server = Fake(self, lambda *_: (200, {"content-type": "application/json", "content-length": "100", "connection": "close"}, "[]"))
        with self.assertRaises(ConnectionFailed):
            Client(server.url, retries=0, timeout=5).transit_keys.list()

    def test_no_address_answers(self):
        first, second = dead_address(), dead_address()
        with self.assertRaises(ConnectionFailed) as raised:
            Client([first, second], retries=1).transit_keys.rotate("orders")
        self.assertIn(first, str(raised.exception))
        self.assertFalse(raised.exception.may_have_run)
        self.assertEqual(len(raised.exception.failures), 2)
        self.assertIsInstance(raised.exception, ConnectionError)

    def test_pages_are_read_by_the_link_header(self):
        following = "/v1/state/keystore/tokens?after=b&limit=2"

        def say(index, path):
            status, headers, body = document([{**token, "accessor": f"{index} {path}"}])
            return status, {**headers, **({"link": f'<?limit=2>; rel="first", <{following}>; rel="next"'} if index == 0 else {})}, body

        token = {"tenant": "system", "user": "root", "policies": [], "creation-time": "2026-01-01T00:00:00Z"}
        server = Fake(self, say)
        accessors = [one.accessor for one in Client(server.url).tokens.list_each(limit=2)]
        self.assertEqual(accessors, ["0 /v1/state/keystore/tokens?limit=2", f"1 {following}"])

    def test_the_links_of_a_topic_are_followed_in_the_order_of_time(self):
        for direction, order in (("since", [1, 1, 2, 2, 3, 3]), ("before", [3, 3, 2, 2, 1, 1])):
            asked = []

            def say(index, path, asked=asked, direction=direction):
                asked.append(path)
                link = f'</v1/state/topics/system:logs?who=ada&{direction}=t{index + 1}>; rel="next"'
                headers = {"content-type": "application/x-ndjson", **({"link": link} if index < 2 else {})}
                return 200, headers, f'{{"part":{index + 1}}}\n' * 2

            server = Fake(self, say)
            documents = list(Client(server.url).topics.show("system:logs"))
            self.assertEqual([one["part"] for one in documents], order)
            self.assertEqual(asked[1:], [f"/v1/state/topics/system:logs?who=ada&{direction}=t{part}" for part in (1, 2)])

    def test_a_connection_is_kept_and_a_closed_one_is_not_used(self):
        server = Fake(self, lambda *_: document([]))
        client = Client(server.url, retries=0)
        client.transit_keys.list()
        ((connection, _),) = client._transport._idle[server.url]
        client.transit_keys.list()
        self.assertIs(client._transport._idle[server.url][0][0], connection)
        connection.sock.shutdown(socket.SHUT_RDWR)
        client.transit_keys.list()
        client.close()

    def test_every_request_says_which_library_sends_it(self):
        server = Fake(self, lambda *_: document([]))
        Client(server.url, user_agent="billing/2.1").transit_keys.list()
        self.assertEqual(server.agents, [f"billing/2.1 keystored-client-python/{__version__}"])


if __name__ == "__main__":
    unittest.main()
