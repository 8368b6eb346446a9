"""The client of an appliance: every operation of its API, and one object for each key that is worked with."""

from __future__ import annotations

import base64
import ipaddress
import ssl
from types import TracebackType
from typing import Any, Mapping, Optional, Sequence, Type, Union
from urllib.parse import quote, urlsplit

from ._attempts import Attempts
from ._key import Key
from ._sender import Answer, Request, Sender
from ._session import Credentials
from ._transport import Transport
from ._version import VERSION
from .generated.operations import Operations


class Client(Operations):
    """Use one for the life of the program, from as many threads as you like: they share connections and the token.

    A call raises Problem (the appliance refused), ConnectionFailed (no address answered) or TimeLimitExceeded.
    """

    def __init__(
        self,
        address: Union[str, Sequence[str]],
        *,
        credentials: Optional[Credentials] = None,
        ca: Optional[str] = None,
        timeout: float = 60.0,
        retries: int = 3,
        most_retry_after: float = 30.0,
        connect_timeout: float = 5.0,
        user_agent: Optional[str] = None,
    ) -> None:
        """
        address: base URL of the appliance, `https://keystore.example:4646`; or several of one cluster. Another one is tried when an
            address refuses the connection, or is sealed, or its HSM is away.
        credentials: `Token`, `Approle` or `Workload`; without them only public operations work.
        ca: PEM of the CA that signed the certificate of the appliance; no other CA is trusted then. Default: those of the system.
        timeout: the longest time in seconds for a call with all its attempts.
        retries: rounds over all addresses after the first.
        most_retry_after: the longest Retry-After in seconds that is waited for.
        user_agent: put before the name of this library: `billing/2.1`.

        Raises ValueError for options that cannot work.
        """
        if ca is not None and "-----BEGIN CERTIFICATE-----" not in ca:
            raise ValueError("ca: the PEM text of a certificate, not the name of a file")
        addresses = [_base_url(one) for one in ([address] if isinstance(address, str) else address)]
        if not addresses:
            raise ValueError("address: at least one is needed")
        try:
            self._transport = Transport(ca, connect_timeout)
        except ssl.SSLError as error:
            raise ValueError(f"ca: {error}") from error
        attempts = Attempts(addresses, self._transport, retries=retries, most_retry_after_seconds=most_retry_after)
        agent = f"{user_agent} " if user_agent else ""
        self._sender = Sender(attempts, credentials, timeout=timeout, user_agent=f"{agent}keystored-client-python/{VERSION}")
        super().__init__(self._sender)

    def key(self, name: str) -> Key:
        """The transit key of this name: encryption and signatures with octets in and out. Sends nothing."""
        return Key(name, self._sender)

    def with_approval(self, approval_id: str) -> Operations:
        """The operations, each as approved by other people under this id: the same request as the one that asked. It is for one use."""
        return Operations(self._sender.with_headers({"Approval": approval_id}))

    def asking_approval(self, reason: str) -> Operations:
        """The operations, each of which asks other people for approval where a rule needs it: it raises AskedForApproval then.

        What no rule is about is done at once. reason: 8 to 512 characters, shown to them.
        """
        return Operations(self._sender.with_headers({"Approval-Reason": quote(reason, safe="")}))

    def random(self, length: int, *, timeout: Optional[float] = None) -> bytes:
        """1 to 131,072 random octets from the token of the appliance."""
        path = "/v1/state/keystore/crypto-functions/random-bytes"
        answer = self.send("POST", path, body={"bytes": length, "format": "base64"}, is_idempotent=True, timeout=timeout)
        return base64.b64decode(answer.body["bytes"], validate=True)

    def send(
        self,
        method: str,
        path: str,
        *,
        query: Optional[Mapping[str, object]] = None,
        headers: Optional[Mapping[str, Optional[str]]] = None,
        body: Any = None,
        is_idempotent: bool = False,
        timeout: Optional[float] = None,
    ) -> Answer:
        """Any request, for what the operations leave out: the ETag of an entry, the query `fields`. Answers the document as it is."""
        request = Request(method, path, query=query, headers=headers, body=body, is_idempotent=is_idempotent)
        return self._sender.answer(request, timeout)

    def log_out(self, *, timeout: Optional[float] = None) -> None:
        """Ends the token, and closes the connections."""
        self._sender.nothing(Request("POST", "/v1/logout"), timeout)
        self._sender.forget()
        self.close()

    def close(self) -> None:
        """Closes the connections that are kept. The client can still be used."""
        self._transport.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        self.close()


def _base_url(text: str) -> str:
    url = urlsplit(text)
    if url.scheme not in ("https", "http") or not url.hostname or url.username or url.query or url.fragment:
        raise ValueError(f"address: {text!r} is not a base URL like https://keystore.example:4646")
    if url.scheme == "http" and not _is_local(url.hostname):
        raise ValueError(f"address: {text} is not https, and would send the token in clear")
    return text.rstrip("/")


def _is_local(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
