"""Documents of the API as dataclasses, and back: hyphens of the wire are underscores here."""

from __future__ import annotations

import enum
import functools
import sys
import typing
from dataclasses import MISSING, dataclass, fields, is_dataclass
from typing import Any, Mapping, Type, TypeVar, Union, get_args, get_origin

T = TypeVar("T")


class Unset(enum.Enum):
    """The type of `UNSET`."""

    UNSET = "unset"

    def __repr__(self) -> str:
        return "UNSET"

    def __bool__(self) -> bool:
        return False


UNSET = Unset.UNSET
"""A field that is not sent, where None is sent as null."""


@dataclass(frozen=True)
class Document:
    """The base of all documents."""


def to_wire(value: Any) -> Any:
    """What `json.dumps` takes. Fields without a value are left out."""
    if isinstance(value, Document):
        return {_wire_name(name): to_wire(one) for name, one in _present(value)}
    if isinstance(value, Mapping):
        return {key: to_wire(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_wire(one) for one in value]
    return value


def from_wire(value: Any, wanted: Type[T]) -> T:
    """The parsed JSON as `wanted`, a document or a list or map of such. Unknown fields are passed over: later versions answer more.

    Raises TypeError when the value is something else.
    """
    return typing.cast(T, _read(value, wanted))


def _present(document: Document) -> list[tuple[str, Any]]:
    present = []
    for field in fields(document):
        value = getattr(document, field.name)
        if value is not UNSET and not (value is None and field.default is None):
            present.append((field.name, value))
    return present


def _read(value: Any, wanted: Any) -> Any:
    origin = get_origin(wanted)
    if origin is Union:
        return _read_union(value, get_args(wanted))
    if origin is list:
        (entry,) = get_args(wanted)
        return [_read(one, entry) for one in _require(value, list)]
    if origin is dict:
        _, entry = get_args(wanted)
        return {key: _read(one, entry) for key, one in _require(value, dict).items()}
    if is_dataclass(wanted):
        return _read_document(_require(value, dict), wanted)
    return value


def _read_union(value: Any, options: tuple[Any, ...]) -> Any:
    for option in options:
        try:
            if value is None or _fits(value, option):
                return None if value is None else _read(value, option)
        except TypeError:
            continue
    return value


def _fits(value: Any, option: Any) -> bool:
    if isinstance(value, dict):
        return is_dataclass(option) or get_origin(option) is dict
    return isinstance(value, list) == (get_origin(option) is list)


def _read_document(value: dict[str, Any], wanted: Any) -> Any:
    known = {}
    for name, hint, is_required in _fields_of(wanted):
        wire = _wire_name(name)
        if wire in value:
            known[name] = _read(value[wire], hint)
        elif is_required:
            raise TypeError(f"the answer has no {wire}")
    return wanted(**known)


@functools.cache
def _fields_of(wanted: Any) -> tuple[tuple[str, Any, bool], ...]:
    hints = typing.get_type_hints(wanted, vars(sys.modules[wanted.__module__]))
    return tuple((field.name, hints[field.name], field.default is MISSING) for field in fields(wanted))


def _require(value: Any, kind: Type[T]) -> T:
    if not isinstance(value, kind):
        raise TypeError(f"the answer has {type(value).__name__} in place of {kind.__name__}")
    return value


def _wire_name(name: str) -> str:
    return name.rstrip("_").replace("_", "-")
