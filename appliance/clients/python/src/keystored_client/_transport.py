"""Carries requests over http.client: keeps connections, trusts one CA, and ends every wait at the deadline."""

from __future__ import annotations

import http.client
import select
import socket
import ssl
import threading
import time
from dataclasses import dataclass
from email.message import Message
from typing import Iterator, Mapping, Optional, Union
from urllib.parse import urlsplit

from ._problem import TimeLimitExceeded

# The appliance keeps connections for 65 seconds. One that is closed while a request is on its way looks like a failure.
MOST_IDLE_SECONDS = 30.0
CHUNK_BYTES = 1 << 16

Connection = Union[http.client.HTTPConnection, http.client.HTTPSConnection]


class NotSent(Exception):
    """No connection came about, so the request did not arrive. `is_distrusted`: because of the certificate of the other end."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(str(error) or type(error).__name__)
        self.is_distrusted = isinstance(error, ssl.SSLCertVerificationError)


class Deadline:
    """The time limit of one call over all its attempts."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._ends_at = time.monotonic() + seconds
        self._is_lifted = False
        self.last_failure: Optional[BaseException] = None

    def remaining(self) -> float:
        """Seconds. Raises TimeLimitExceeded when there are none."""
        left = self._ends_at - time.monotonic()
        if left <= 0:
            raise self.exceeded()
        return left

    def wait(self) -> Optional[float]:
        """For the timeout of a socket: the seconds that remain, or None after `lift`."""
        return None if self._is_lifted else self.remaining()

    def lift(self) -> None:
        """Ends the limit, for an answer that lasts as long as someone reads it."""
        self._is_lifted = True

    def exceeded(self) -> TimeLimitExceeded:
        error = TimeLimitExceeded(f"no answer within {self._seconds:g} s")
        error.__cause__ = self.last_failure
        return error


@dataclass
class RawAnswer:
    """The head of an answer. The body must be read to its end, or closed."""

    status: int
    headers: Mapping[str, str]
    body: Iterator[bytes]

    def header(self, name: str) -> Optional[str]:
        """`name` in lower case."""
        return self.headers.get(name)


class Transport:
    """Used by many threads at once; each request has a connection for itself."""

    def __init__(self, ca: Optional[str], connect_timeout: float) -> None:
        """`ca`: PEM; no other CA is trusted. Without it, those of the system are. Raises ssl.SSLError for what is no PEM."""
        self._tls = ssl.create_default_context(cadata=ca)
        self._connect_timeout = connect_timeout
        self._lock = threading.Lock()
        self._idle: dict[str, list[tuple[Connection, float]]] = {}

    def send(
        self,
        address: str,
        method: str,
        path: str,
        headers: Mapping[str, str],
        body: Optional[bytes],
        deadline: Deadline,
    ) -> RawAnswer:
        """Raises NotSent before the request is sent, and OSError or http.client.HTTPException after that."""
        connection, sock = self._connect(address, deadline)
        try:
            sock.settimeout(deadline.remaining())
            connection.request(method, urlsplit(address).path + path, body=body, headers=dict(headers))
            sock.settimeout(deadline.remaining())
            response = connection.getresponse()
        except BaseException:
            connection.close()
            raise
        return RawAnswer(response.status, _lower_case(response.headers), self._read(address, connection, sock, response, deadline))

    def close(self) -> None:
        """Closes the connections that are kept."""
        with self._lock:
            kept = [connection for idle in self._idle.values() for connection, _ in idle]
            self._idle.clear()
        for connection in kept:
            connection.close()

    def _connect(self, address: str, deadline: Deadline) -> tuple[Connection, socket.socket]:
        kept = self._take(address)
        if kept is not None:
            return kept
        url = urlsplit(address)
        seconds = min(self._connect_timeout, deadline.remaining())
        host = url.hostname or ""
        connection: Connection
        if url.scheme == "https":
            connection = http.client.HTTPSConnection(host, url.port, timeout=seconds, context=self._tls)
        else:
            connection = http.client.HTTPConnection(host, url.port, timeout=seconds)
        try:
            connection.connect()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            deadline.remaining()
            raise NotSent(error) from error
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection, connection.sock

    def _take(self, address: str) -> Optional[tuple[Connection, socket.socket]]:
        while True:
            with self._lock:
                idle = self._idle.get(address)
                if not idle:
                    return None
                connection, since = idle.pop()
            sock: Optional[socket.socket] = connection.sock
            if sock is not None and time.monotonic() - since < MOST_IDLE_SECONDS and not _is_readable(sock):
                return connection, sock
            connection.close()

    def _read(
        self,
        address: str,
        connection: Connection,
        sock: socket.socket,
        response: http.client.HTTPResponse,
        deadline: Deadline,
    ) -> Iterator[bytes]:
        try:
            while True:
                sock.settimeout(deadline.wait())
                chunk = response.read1(CHUNK_BYTES)
                if not chunk:
                    break
                yield chunk
            # read1 answers nothing as well when the connection was cut before the end that was announced.
            if response.length:
                raise http.client.IncompleteRead(b"", response.length)
        except BaseException:
            connection.close()
            raise
        # The next request on this connection is refused until then.
        response.close()
        if response.will_close or connection.sock is None:
            connection.close()
            return
        with self._lock:
            self._idle.setdefault(address, []).append((connection, time.monotonic()))


def _lower_case(headers: Message) -> Mapping[str, str]:
    """Repeated headers are one, as RFC 9110 section 5.3 says."""
    joined: dict[str, str] = {}
    for name, value in headers.items():
        known = joined.get(name.lower())
        joined[name.lower()] = value if known is None else f"{known}, {value}"
    return joined


def _is_readable(sock: socket.socket) -> bool:
    """An idle connection on which something arrives was closed by the other end."""
    if hasattr(select, "poll"):
        poll = select.poll()
        poll.register(sock, select.POLLIN)
        return bool(poll.poll(0))
    return bool(select.select([sock], [], [], 0)[0])
