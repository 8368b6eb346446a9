"""The token of a client: obtained at the first use, renewed when half of its life is over, and a new one when it has ended."""

from __future__ import annotations

import math
import os
import threading
import time
from dataclasses import dataclass, field, replace
from typing import Any, Callable, Mapping, Optional, Tuple, Union

from ._problem import Problem
from ._transport import Deadline

# After a renewal that failed, the next attempt waits this part of the life that is left, and at least a second.
_PATIENCE = 0.1
# A renewal that gains less is the last one. Lives are whole seconds.
_LEAST_GAIN_SECONDS = 1.0


@dataclass(frozen=True)
class Token:
    """A token that the program has, for example from OIDC or a file."""

    token: str = field(repr=False)


@dataclass(frozen=True)
class Approle:
    """The role-id and a secret-id of an approle, with which the client obtains tokens itself."""

    role_id: str = field(repr=False)
    secret_id: str = field(repr=False)


@dataclass(frozen=True)
class Workload:
    """The identity that a platform signs for a workload, with which the client obtains tokens itself."""

    tenant: str
    role: str
    jwt: Callable[[], str] = field(repr=False)
    """Returns a token of the platform, for one login: `jwt_from_file`, `jwt_from_environment`, or a function that asks the platform."""
    issuer: Optional[str] = None
    """Name of the JWT issuer, where several with the same `iss` have a role of this name."""


def jwt_from_file(path: Union[str, "os.PathLike[str]"]) -> Callable[[], str]:
    """Reads the token from a file that the platform keeps fresh: a projected volume of Kubernetes, an SVID of a SPIFFE helper."""

    def read() -> str:
        with open(path, encoding="utf-8") as file:
            return _found(file.read(), f"the file {os.fspath(path)}")

    return read


def jwt_from_environment(variable: str = "KEYSTORED_JWT") -> Callable[[], str]:
    """Reads the token from a variable of the environment, as GitLab gives it to a job."""
    return lambda: _found(os.environ.get(variable, ""), f"the variable {variable} of the environment")


def _found(text: str, where: str) -> str:
    token = text.strip()
    if not token:
        raise ValueError(f"{where} holds no token of the platform")
    return token


Credentials = Union[Token, Approle, Workload]

Ask = Callable[[str, Mapping[str, Any], Optional[str]], Any]
"""Sends a POST: path, body, and the token if there is one. Answers the document."""


@dataclass(frozen=True)
class _Held:
    token: str = field(repr=False)
    ends_at: float
    renew_at: float


class Session:
    """Threads that need a token at the same time share one login or renewal. Nothing runs in the background."""

    def __init__(self, credentials: Credentials, ask: Ask) -> None:
        self._credentials = credentials
        self._ask = ask
        self._lock = threading.Lock()
        self._held: Optional[_Held] = None

    def token(self, deadline: Deadline) -> str:
        """A token that works as far as is known. Raises when there is none and none can be obtained."""
        held = self._held
        if held is not None and time.monotonic() < held.renew_at:
            return held.token
        if not self._lock.acquire(timeout=deadline.remaining()):
            raise deadline.exceeded()
        try:
            # Another thread may have done it while this one waited.
            held = self._held
            if held is None:
                held = self._obtain()
            elif time.monotonic() >= held.renew_at:
                held = self._renew(held)
            self._held = held
            return held.token
        finally:
            self._lock.release()

    def refused(self, token: str) -> bool:
        """The appliance did not know `token`. Returns whether there may be another: then ask for it."""
        if isinstance(self._credentials, Token):
            return False
        with self._lock:
            # Another thread may have obtained a new one already.
            if self._held is not None and self._held.token == token:
                self._held = None
        return True

    def end(self) -> None:
        """Forgets the token."""
        self._held = None

    def _obtain(self) -> _Held:
        if not isinstance(self._credentials, Token):
            issued = self._ask(*_login_of(self._credentials), None)
            return _hold(str(issued["token"]), issued.get("expires-in"))
        token = self._credentials.token
        try:
            info = self._ask("/v1/state/keystore/token/info", {}, token)
        except Problem as problem:
            # A token may be forbidden to ask about itself. It then serves until it ends.
            if problem.status != 403:
                raise
            return _hold(token, None)
        return _hold(token, info.get("expires-in"))

    def _renew(self, held: _Held) -> _Held:
        try:
            refreshed = self._refresh(held)
            if refreshed is not None:
                return refreshed
            return replace(held, renew_at=math.inf) if isinstance(self._credentials, Token) else self._obtain()
        except Exception:  # also what the function raises that gives the token of the platform
            now = time.monotonic()
            if now >= held.ends_at:
                raise
            # The token still works; the appliance may be back before it ends.
            return replace(held, renew_at=now + max(1.0, (held.ends_at - now) * _PATIENCE))

    def _refresh(self, held: _Held) -> Optional[_Held]:
        """None when the token is refused or has reached its longest life. Raises when the appliance cannot tell now."""
        try:
            refreshed = _hold(held.token, self._ask("/v1/state/keystore/token/refresh", {}, held.token).get("expires-in"))
        except Problem as problem:
            if problem.status < 500 and problem.status != 429:
                return None
            raise
        return refreshed if refreshed.ends_at - held.ends_at >= _LEAST_GAIN_SECONDS else None


def _login_of(credentials: Union[Approle, Workload]) -> Tuple[str, Mapping[str, str]]:
    """Path and body of a login."""
    if isinstance(credentials, Approle):
        return "/v1/approle-login", {"role-id": credentials.role_id, "secret-id": credentials.secret_id}
    named = {} if credentials.issuer is None else {"issuer": credentials.issuer}
    return "/v1/jwt-login", {"tenant": credentials.tenant, "role": credentials.role, **named, "jwt": credentials.jwt()}


def _hold(token: str, seconds: Optional[float]) -> _Held:
    """`seconds`: how long the token lives; None for one without an end."""
    now = time.monotonic()
    life = math.inf if seconds is None else float(seconds)
    return _Held(token, ends_at=now + life, renew_at=now + life / 2)
