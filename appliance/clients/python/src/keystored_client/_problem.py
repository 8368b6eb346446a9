"""What a call raises: a refusal of the appliance, no answer from any address, or no time left."""

from __future__ import annotations

from typing import Any, Mapping, Optional, Sequence


class KeystoredError(Exception):
    """The base of all errors of this library."""


class Problem(KeystoredError):
    """The appliance refused, or failed (RFC 9457).

    `code` is the contract: it never changes its meaning. `unexpected-answer` is the one code of this library: what answered was no
    appliance, for example a proxy. `detail` is for people. `request_id` finds the request in the logs and the audit trail. `items` has
    one entry for each thing that is wrong, `document` the answer as it was.
    """

    def __init__(
        self,
        *,
        status: int,
        code: str,
        detail: str,
        request_id: Optional[str] = None,
        items: Sequence[Mapping[str, Any]] = (),
        retry_after_seconds: Optional[float] = None,
        document: Any = None,
    ) -> None:
        super().__init__(f"{status} {code}: {detail}" + (f" (request-id {request_id})" if request_id else ""))
        self.status = status
        self.code = code
        self.detail = detail
        self.request_id = request_id
        self.items = tuple(items)
        self.retry_after_seconds = retry_after_seconds
        self.document = document


class AskedForApproval(Problem):
    """Other people were asked to approve the request, which was not done.

    When they have, send it once more by `client.with_approval(id)`. `needed` people must approve before `expires`; `words` are the six
    words for the whole request, which they compare.
    """

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.id = str(document.get("id"))
        self.needed = document.get("needed")
        self.expires = str(document.get("expires"))
        self.words = str(document.get("digest-words"))
        detail = f"waits for {self.needed} approvals until {self.expires}: {self.id} ({self.words})"
        super().__init__(status=202, code="approval-asked", detail=detail, document=document)


class ConnectionFailed(KeystoredError, ConnectionError):
    """No address gave an answer. `failures` has the reason for each attempt.

    With `may_have_run` the request may have reached the appliance: look at what is there before sending it again.
    """

    def __init__(self, failures: Sequence[tuple[str, BaseException]], *, may_have_run: bool) -> None:
        reasons = dict.fromkeys(f"{address}: {error or type(error).__name__}" for address, error in failures)
        super().__init__("; ".join(reasons))
        self.failures = tuple(failures)
        self.may_have_run = may_have_run


class TimeLimitExceeded(KeystoredError, TimeoutError):
    """The time for the call is over. `__cause__` is the last refusal or failure, if there was one."""
