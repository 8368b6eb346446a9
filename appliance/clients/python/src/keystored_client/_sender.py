"""Sends the requests of all operations: with the token, within the time limit, and once more after a token has ended."""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass
from typing import Any, Callable, Iterator, Mapping, Optional, Type, TypeVar
from urllib.parse import parse_qs, quote, urlencode, urlsplit

from ._answers import next_page, read_json, read_octets, read_text
from ._attempts import Attempt, Attempts
from ._problem import ConnectionFailed, Problem
from ._session import Credentials, Session
from ._transport import Deadline, RawAnswer
from ._wire import from_wire

T = TypeVar("T")


@dataclass(frozen=True)
class Request:
    """A request as data. `path` is from `/v1`, its variable parts encoded; `body` is sent as JSON, `octets` as they are."""

    method: str
    path: str
    query: Optional[Mapping[str, object]] = None
    headers: Optional[Mapping[str, Optional[str]]] = None
    body: Any = None
    octets: Optional[bytes] = None
    media_type: str = "application/json"
    is_idempotent: bool = False
    """Whether it may be sent again when nothing is known of the first attempt."""
    is_public: bool = False
    """Sent without a token."""


@dataclass(frozen=True)
class Answer:
    """An answer with what is around its document."""

    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    body: Any
    """Parsed JSON; None when there is none."""


class Sender:
    """Every method raises Problem for a refusal, and ConnectionFailed when no address answered."""

    def __init__(self, attempts: Attempts, credentials: Optional[Credentials], *, timeout: float, user_agent: str) -> None:
        self._headers: Mapping[str, str] = {}
        self._attempts = attempts
        self._timeout = timeout
        self._user_agent = user_agent
        self._session = None if credentials is None else Session(credentials, self._ask_without_session)

    def with_headers(self, headers: Mapping[str, str]) -> Sender:
        """One that shares everything, and sends these headers with every request but those of its session."""
        other = Sender(self._attempts, None, timeout=self._timeout, user_agent=self._user_agent)
        other._session = self._session
        other._headers = headers
        return other

    def forget(self) -> None:
        """Forgets the token: the next request obtains one."""
        if self._session is not None:
            self._session.end()

    def nothing(self, request: Request, timeout: Optional[float]) -> None:
        self._within(request, timeout, read_octets)

    def json(self, request: Request, wanted: Type[T], timeout: Optional[float]) -> T:
        return self._document(self._within(request, timeout, read_json), wanted)

    def json_or_none(self, request: Request, wanted: Type[T], timeout: Optional[float]) -> Optional[T]:
        document = self._within(request, timeout, read_json)
        return None if document is None else self._document(document, wanted)

    def text(self, request: Request, timeout: Optional[float]) -> str:
        return self._within(request, timeout, read_text)

    def octets(self, request: Request, timeout: Optional[float]) -> bytes:
        return self._within(request, timeout, read_octets)

    def answer(self, request: Request, timeout: Optional[float]) -> Answer:
        return self._within(request, timeout, lambda raw: Answer(raw.status, raw.headers, read_json(raw)))

    def pages(self, request: Request, wanted: Type[T], timeout: Optional[float]) -> Iterator[T]:
        """The entries of a list over all its pages, each read when its entries are asked for."""
        page: Optional[Request] = request
        while page is not None:
            entries, following = self._within(page, timeout, lambda raw: (read_json(raw), next_page(raw)))
            for entry in entries:
                yield self._document(entry, wanted)
            # The link has the query of the first request as well.
            page = None if following is None else Request(request.method, following, is_idempotent=request.is_idempotent)

    def stream(self, request: Request, timeout: Optional[float]) -> Iterator[bytes]:
        """The octets as they arrive; the time limit is for the beginning. Closing the iterator ends the connection."""
        return self._read(self._open(request, timeout))

    def _open(self, request: Request, timeout: Optional[float]) -> RawAnswer:
        deadline = Deadline(self._timeout if timeout is None else timeout)
        answer = self._authorised(request, deadline, lambda raw: raw)
        deadline.lift()
        return answer

    def _read(self, answer: RawAnswer) -> Iterator[bytes]:
        try:
            yield from answer.body
        except (OSError, http.client.HTTPException) as error:
            raise ConnectionFailed([("the answer ended early", error)], may_have_run=True) from error

    def lines(self, request: Request, timeout: Optional[float]) -> Iterator[Any]:
        """The JSON documents of an answer with a line each, as they arrive, and of those that its links lead to."""
        # In the order of time: further answers to a search for the newest are older.
        newer: list[list[Any]] = []
        page: Optional[Request] = request
        while page is not None:
            answer = self._open(page, timeout)
            following = next_page(answer)
            if following is not None and "before" in parse_qs(urlsplit(following).query):
                newer.append(list(self._documents(answer)))
            else:
                yield from self._documents(answer)
            page = None if following is None else Request(request.method, following, is_idempotent=request.is_idempotent)
        for documents in reversed(newer):
            yield from documents

    def _documents(self, answer: RawAnswer) -> Iterator[Any]:
        rest = b""
        for chunk in self._read(answer):
            *lines, rest = (rest + chunk).split(b"\n")
            yield from (json.loads(line) for line in lines if line)
        if rest:
            yield json.loads(rest)

    def _document(self, document: Any, wanted: Type[T]) -> T:
        try:
            return from_wire(document, wanted)
        except TypeError as error:
            raise Problem(status=200, code="unexpected-answer", detail=f"{error}.", document=document) from error

    def _within(self, request: Request, timeout: Optional[float], read: Callable[[RawAnswer], T]) -> T:
        return self._authorised(request, Deadline(self._timeout if timeout is None else timeout), read)

    def _authorised(self, request: Request, deadline: Deadline, read: Callable[[RawAnswer], T]) -> T:
        """With the token; after 401 once more with another, if there is one. A refusal with 401 has changed nothing."""
        session = None if request.is_public else self._session
        if session is None:
            return self._attempts.send(self._attempt_of(request, None), deadline, read)
        token = session.token(deadline)
        try:
            return self._attempts.send(self._attempt_of(request, token), deadline, read)
        except Problem as problem:
            if problem.status != 401 or problem.code != "invalid-token" or not session.refused(token):
                raise
        return self._attempts.send(self._attempt_of(request, session.token(deadline)), deadline, read)

    def _ask_without_session(self, path: str, body: Mapping[str, Any], token: Optional[str]) -> Any:
        """A request of the session itself. It has a time limit of its own: several threads may wait for it."""
        # Each may be repeated: a second login gives a second token, and the first one ends by itself.
        request = Request("POST", path, body=body, is_idempotent=True)
        return self._attempts.send(self._attempt_of(request, token), Deadline(self._timeout), read_json)

    def _attempt_of(self, request: Request, token: Optional[str]) -> Attempt:
        query = {name: _shown(value) for name, value in (request.query or {}).items() if value is not None}
        body = request.octets
        if body is None and request.body is not None:
            body = json.dumps(request.body, separators=(",", ":")).encode()
        headers: dict[str, Optional[str]] = {
            "Accept": "application/json, */*;q=0.5",
            "User-Agent": self._user_agent,
            "Content-Type": None if body is None else request.media_type,
            "Authorization": None if token is None else f"Bearer {token}",
            **self._headers,
            **(request.headers or {}),
        }
        return Attempt(
            method=request.method,
            path=request.path + (f"?{urlencode(query)}" if query else ""),
            headers={name: value for name, value in headers.items() if value is not None},
            body=body,
            is_idempotent=request.is_idempotent,
        )


def segment(text: str) -> str:
    """A variable part of a path."""
    return quote(text, safe="")


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
