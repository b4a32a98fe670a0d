"""Typed structs as JSON that elrcheck writes and reads itself: manifests, jobs, answers.

A `Record` is checked when it is read: a field that is missing, unknown or of another type raises a ValueError that
names it, so a damaged file, or one of another version, is refused as a whole.
"""

from __future__ import annotations

import json
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")


class ProcessOnly:
    """A value of a record that stays in this process: written as null, and equal to any other."""

    def __eq__(self, other: object) -> bool:
        return other is None or isinstance(other, ProcessOnly)

    def __hash__(self) -> int:
        return 0

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        """Pickle as None."""
        return type(None), ()


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A struct that refuses unknown fields and values of another type."""


def to_data(record: object) -> Any:
    """Return the record as dictionaries, lists and scalars."""
    return msgspec.to_builtins(record, str_keys=True, enc_hook=_null)


def _null(value: object) -> None:
    if not isinstance(value, ProcessOnly):
        raise TypeError(f"{type(value).__name__} cannot be written")


def to_text(record: object, indent: int | None = None) -> str:
    """Return the record as JSON, by default on one line; raise ValueError for NaN and infinities."""
    return json.dumps(to_data(record), allow_nan=False, indent=indent)


def from_data(data: object, kind: type[T]) -> T:
    """Return the record of parsed JSON; raise ValueError with the path of a value that does not fit."""
    return msgspec.convert(data, kind, str_keys=True)


def from_text(text: str | bytes, kind: type[T]) -> T:
    """Return the record of a JSON text; raise ValueError with the path of a value that does not fit."""
    return msgspec.json.decode(text, type=kind)
