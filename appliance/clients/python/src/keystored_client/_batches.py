"""Many items of one action: split into requests that the appliance takes, a few under way at a time, results in order."""

from __future__ import annotations

import collections
import json
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Callable, Deque, Generic, Iterable, Iterator, List, Mapping, Optional, Sequence, Type, TypeVar, Union

from ._problem import Problem
from ._sender import Request, Sender

Item = TypeVar("Item")
Result = TypeVar("Result")

Octets = Union[bytes, bytearray, memoryview, str]
"""A text stands for its UTF-8."""

# Limits of one request. The appliance takes 4 MiB: the rest is for the envelope and for encodings on the way.
MOST_ITEMS = 1_000
MOST_BYTES = 3 << 20


@dataclass(frozen=True)
class BatchResult(Generic[Result]):
    """What became of one item: a value or a problem. One that failed does not stop the others."""

    value: Optional[Result]
    problem: Optional[Problem] = None
    reference: Optional[str] = None
    """The one of the item."""

    @property
    def ok(self) -> bool:
        return self.problem is None

    def get(self) -> Result:
        """The value. Raises the problem of an item that failed."""
        if self.problem is not None:
            raise self.problem
        return self.value  # type: ignore[return-value]


@dataclass(frozen=True)
class Action(Generic[Item, Result]):
    """`to_wire` gives the item in the names of the wire; `read` raises TypeError for an answer without the result."""

    path: str
    item: Type[Item]
    """Also made of a bare text or octets."""
    to_wire: Callable[[Item], Mapping[str, Any]]
    read: Callable[[Mapping[str, Any]], Result]
    takes_bare: bool = True
    """Verification needs two things."""


@dataclass(frozen=True)
class _Part:
    items: Sequence[bytes]
    references: Sequence[Optional[str]]


class Batches(Generic[Item, Result]):
    """Sends the items of one action on one key. `path` is the one of the single action."""

    def __init__(self, sender: Sender, path: str, action: Action[Item, Result]) -> None:
        self._sender = sender
        self._path = path
        self._action = action

    def each(self, items: Iterable[Union[Item, Octets]], *, concurrency: int, timeout: Optional[float]) -> Iterator[BatchResult[Result]]:
        """Results as they are there, in the order of the items.

        No more than `concurrency` requests and their answers are in memory; the next items are taken when their results are wanted.
        `timeout` is for each request.
        """
        # The characters of a text would be items.
        if isinstance(items, (str, bytes, bytearray, memoryview)):
            raise TypeError("items: a list or an iterator of items, not one of them")
        if concurrency < 1:
            raise ValueError("concurrency: a whole number from 1")
        return self._each(items, concurrency, timeout)

    def _each(self, items: Iterable[Union[Item, Octets]], concurrency: int, timeout: Optional[float]) -> Iterator[BatchResult[Result]]:
        under_way: Deque[Future[List[BatchResult[Result]]]] = collections.deque()
        executor = ThreadPoolExecutor(concurrency, thread_name_prefix="keystored-batch")
        try:
            for part in self._parts(items):
                under_way.append(executor.submit(self._send, part, timeout))
                if len(under_way) >= concurrency:
                    yield from under_way.popleft().result()
            while under_way:
                yield from under_way.popleft().result()
        finally:
            executor.shutdown(wait=False, cancel_futures=True)

    def _parts(self, items: Iterable[Union[Item, Octets]]) -> Iterator[_Part]:
        texts: list[bytes] = []
        references: list[Optional[str]] = []
        size = 0
        for index, item in enumerate(items):
            try:
                wire = self._action.to_wire(self._item(item))
            except TypeError as error:
                raise TypeError(f"item {index}: {error}") from error
            text = json.dumps(wire, separators=(",", ":")).encode()
            if texts and (len(texts) >= MOST_ITEMS or size + len(text) + 1 > MOST_BYTES):
                yield _Part(texts, references)
                texts, references, size = [], [], 0
            texts.append(text)
            references.append(wire.get("reference"))
            size += len(text) + 1
        if texts:
            yield _Part(texts, references)

    def _item(self, given: Any) -> Item:
        if isinstance(given, self._action.item):
            return given
        bare = isinstance(given, (str, bytes, bytearray, memoryview))
        if bare and self._action.takes_bare:
            return self._action.item(given)  # type: ignore[call-arg]
        bares = "a text, octets or " if self._action.takes_bare else ""
        raise TypeError(f"{self._action.path}: an item is {bares}{self._action.item.__name__}, not {type(given).__name__}")

    def _send(self, part: _Part, timeout: Optional[float]) -> list[BatchResult[Result]]:
        octets = b'{"batch-input":[' + b",".join(part.items) + b"]}"
        request = Request("POST", f"{self._path}-batch", octets=octets, is_idempotent=True)
        try:
            answer = self._sender.answer(request, timeout).body
        except Problem as problem:
            # One item that alone is too large is a fault of that item.
            if len(part.items) > 1 or problem.status != 413:
                raise
            return [BatchResult(None, problem, part.references[0])]
        results = answer.get("batch-results") if isinstance(answer, dict) else None
        if not isinstance(results, list) or len(results) != len(part.items):
            raise Problem(status=200, code="unexpected-answer", detail="Not a result for each item.", document=answer)
        return [self._read(result, reference) for result, reference in zip(results, part.references)]

    def _read(self, result: Mapping[str, Any], reference: Optional[str]) -> BatchResult[Result]:
        code = result.get("code")
        if not isinstance(code, str):
            return BatchResult(self._action.read(result), None, reference)
        detail = str(result.get("error-message") or "Refused.")
        problem = Problem(status=int(result.get("status") or 0), code=code, detail=detail, document=result)
        return BatchResult(None, problem, reference)
