"""Sends a request until an answer comes that another attempt would not better: over several addresses, and again after a pause."""

from __future__ import annotations

import http.client
import random
import socket
import time
from dataclasses import dataclass
from typing import Callable, Mapping, Optional, Sequence, TypeVar, Union

from ._answers import read_json, read_problem
from ._problem import AskedForApproval, ConnectionFailed, Problem
from ._transport import Deadline, NotSent, RawAnswer, Transport

T = TypeVar("T")

_FIRST_PAUSE_SECONDS = 0.2
_LONGEST_PAUSE_SECONDS = 5.0
# The status of a request that now waits for other people; nothing was done.
_ASKS_FOR_APPROVAL = 202


@dataclass(frozen=True)
class Attempt:
    method: str
    path: str
    """with its query"""
    headers: Mapping[str, str]
    body: Optional[bytes]
    is_idempotent: bool


@dataclass(frozen=True)
class _Failure:
    error: Union[Problem, ConnectionFailed]
    may_repeat: bool


class _Success:
    """A result, told from failures even when it is None."""

    def __init__(self, value: object) -> None:
        self.value = value


class Attempts:
    def __init__(self, addresses: Sequence[str], transport: Transport, *, retries: int, most_retry_after_seconds: float) -> None:
        """`addresses`: base URLs without a slash at the end. `retries`: rounds over all of them after the first."""
        self._addresses = list(addresses)
        self._transport = transport
        self._retries = retries
        self._most_retry_after_seconds = most_retry_after_seconds
        # the address that answered last
        self._preferred = 0

    def send(self, attempt: Attempt, deadline: Deadline, read: Callable[[RawAnswer], T]) -> T:
        """What `read` makes of the first answer with a status below 300.

        A request is sent again when the server did nothing (429, 503 with Retry-After, no connection), and, if it is idempotent, also
        when nothing is known of it. Raises Problem, ConnectionFailed or TimeLimitExceeded.
        """
        done = 0
        while True:
            outcome = self._try_addresses(attempt, deadline, read)
            if isinstance(outcome, _Success):
                return outcome.value  # type: ignore[return-value]
            deadline.last_failure = outcome.error
            pause = self._pause_after(outcome.error, done)
            # Waiting longer than there is time would only hide the reason.
            if not outcome.may_repeat or done >= self._retries or pause is None or pause >= deadline.remaining():
                raise outcome.error
            time.sleep(pause)
            done += 1

    def _try_addresses(self, attempt: Attempt, deadline: Deadline, read: Callable[[RawAnswer], T]) -> Union[_Success, _Failure]:
        """One attempt at each address that may be tried."""
        failures: list[tuple[str, BaseException]] = []
        problem: Optional[Problem] = None
        may_have_run = False
        first = self._preferred
        for step in range(len(self._addresses)):
            index = (first + step) % len(self._addresses)
            address = self._addresses[index]
            try:
                value = self._try_address(address, attempt, deadline, read)
                self._preferred = index
                return _Success(value)
            except Problem as error:
                problem = error
                if not _may_repeat_after(error, attempt):
                    self._preferred = index
                    return _Failure(error, may_repeat=False)
                # Every address would count the same caller.
                if error.status == 429:
                    break
            except NotSent as error:
                failures.append((address, error))
                # Who is taken for somebody else is a matter for a person: another address would hide it.
                if error.is_distrusted:
                    return _Failure(ConnectionFailed(failures, may_have_run=may_have_run), may_repeat=False)
            except (OSError, http.client.HTTPException) as error:
                if isinstance(error, socket.timeout):
                    deadline.remaining()
                failures.append((address, error))
                may_have_run = True
                if not attempt.is_idempotent:
                    return _Failure(ConnectionFailed(failures, may_have_run=True), may_repeat=False)
        if problem is not None:
            return _Failure(problem, may_repeat=True)
        return _Failure(ConnectionFailed(failures, may_have_run=may_have_run), may_repeat=True)

    def _try_address(self, address: str, attempt: Attempt, deadline: Deadline, read: Callable[[RawAnswer], T]) -> T:
        answer = self._transport.send(address, attempt.method, attempt.path, attempt.headers, attempt.body, deadline)
        if answer.status == _ASKS_FOR_APPROVAL:
            raise AskedForApproval(read_json(answer))
        if answer.status >= 300:
            raise read_problem(answer)
        return read(answer)

    def _pause_after(self, error: Union[Problem, ConnectionFailed], done: int) -> Optional[float]:
        """With jitter, so that callers that failed together do not come together again. None when the server asks for too long a pause."""
        asked = (error.retry_after_seconds or 0.0) if isinstance(error, Problem) else 0.0
        if asked > self._most_retry_after_seconds:
            return None
        own = min(_LONGEST_PAUSE_SECONDS, _FIRST_PAUSE_SECONDS * float(2**done))
        return max(asked * random.uniform(1, 1.1), own * random.uniform(0.5, 1))  # noqa: S311 -- jitter is no secret


def _may_repeat_after(problem: Problem, attempt: Attempt) -> bool:
    """Whether the appliance says that it did nothing, or doing it twice does no harm. What a proxy says tells nothing of that."""
    is_ours = problem.code != "unexpected-answer"
    if is_ours and (problem.status == 429 or (problem.status == 503 and problem.retry_after_seconds is not None)):
        return True
    return attempt.is_idempotent and problem.status in (429, 502, 503, 504)
