"""What elrcheck writes for itself and reads again: manifests, jobs, answers; typed structs as JSON.

A `Record` is checked when it is read: a field that is missing, unknown or of another type is a ValueError
that names it, so a file of another version, or a damaged one, is refused and never half understood.
"""

from __future__ import annotations

import json
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A struct of which every field is named and typed."""


def to_data(record: object) -> Any:
    """Dictionaries, lists and scalars, as JSON has them."""
    return msgspec.to_builtins(record, str_keys=True)


def to_text(record: object) -> str:
    """JSON on one line. ValueError for NaN and infinities."""
    return json.dumps(to_data(record), allow_nan=False)


def from_data(data: object, kind: type[T]) -> T:
    """The record that parsed JSON stands for; ValueError with the path of what does not fit."""
    return msgspec.convert(data, kind, str_keys=True)


def from_text(text: str | bytes, kind: type[T]) -> T:
    """The same for JSON."""
    return msgspec.json.decode(text, type=kind)
