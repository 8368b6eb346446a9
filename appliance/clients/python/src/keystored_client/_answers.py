"""Reads answers: documents, problems, and what a proxy sends in their place."""

from __future__ import annotations

import email.utils
import json
import re
import time
from typing import Any, Optional
from urllib.parse import urlsplit

from ._problem import Problem
from ._transport import RawAnswer

_SHOWN_CHARACTERS = 200


def read_octets(answer: RawAnswer) -> bytes:
    return b"".join(answer.body)


def read_text(answer: RawAnswer) -> str:
    return read_octets(answer).decode("utf-8", "replace")


def read_json(answer: RawAnswer) -> Any:
    """The document of an answer; None for one without a body. Raises Problem `unexpected-answer` for what is no JSON."""
    text = read_text(answer)
    if text == "":
        return None
    if _is_json(answer):
        try:
            return json.loads(text)
        except ValueError:
            pass
    raise unexpected(answer, text)


def read_problem(answer: RawAnswer) -> Problem:
    """Of an answer with a status from 300 up."""
    text = read_text(answer)
    document = _parsed(answer, text)
    retry_after = _seconds_of(answer.header("retry-after"))
    if not isinstance(document, dict) or not isinstance(document.get("code"), str):
        return unexpected(answer, text, document, retry_after)
    items = document.get("errors")
    items = [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
    said = document.get("detail") or (items[0].get("error-message") if items else None) or document.get("title")
    request_id = document.get("request-id")
    return Problem(
        status=answer.status,
        code=document["code"],
        detail=str(said or "Refused."),
        request_id=request_id if isinstance(request_id, str) else None,
        items=items,
        retry_after_seconds=retry_after,
        document=document,
    )


def next_page(answer: RawAnswer) -> Optional[str]:
    """`next` of RFC 8288, as a path with a query."""
    match = re.search(r'<([^>]*)>[^,]*;\s*rel="?next"?', answer.header("link") or "", re.IGNORECASE)
    if match is None:
        return None
    url = urlsplit(match.group(1))
    return url.path + (f"?{url.query}" if url.query else "")


def unexpected(answer: RawAnswer, text: str, document: Any = None, retry_after_seconds: Optional[float] = None) -> Problem:
    shown = " ".join(text[:_SHOWN_CHARACTERS].split())
    media_type = answer.header("content-type") or "no content-type"
    return Problem(
        status=answer.status,
        code="unexpected-answer",
        detail=f"No document of the appliance, but {media_type}" + (f": {shown}" if shown else ""),
        retry_after_seconds=retry_after_seconds,
        document=text if document is None else document,
    )


def _parsed(answer: RawAnswer, text: str) -> Any:
    if not _is_json(answer):
        return None
    try:
        return json.loads(text)
    except ValueError:
        return None


def _is_json(answer: RawAnswer) -> bool:
    return re.match(r"application/([\w.-]+\+)?json\b", answer.header("content-type") or "", re.IGNORECASE) is not None


def _seconds_of(text: Optional[str]) -> Optional[float]:
    """Seconds; a date, which gateways may send, counts from now."""
    if text is None:
        return None
    if re.fullmatch(r"\d{1,9}", text):
        return float(text)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - time.time())
    except (TypeError, ValueError):
        return None
