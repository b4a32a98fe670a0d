"""Reports as JSON documents: the keys are the field names of `results.check_report`, `schema` comes first."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from elrcheck.results.any_report import Report


def as_data(value: object) -> Any:
    """Converts a report, or any part of one, to plain dictionaries, lists and scalars."""
    if is_dataclass(value) and not isinstance(value, type):
        written = [f for f in fields(value) if f.metadata.get("written", True)]
        written.sort(key=lambda f: f.name != "schema")
        return {f.metadata.get("key", f.name): as_data(getattr(value, f.name)) for f in written}
    if isinstance(value, Mapping):
        return {str(key): as_data(part) for key, part in value.items()}
    if isinstance(value, (tuple, list)):
        return [as_data(part) for part in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"a report cannot hold a {type(value).__name__}: {value!r}")


def to_json(report: Report) -> str:
    """The JSON document of a report, with a final newline.  Raises ValueError for NaN and infinity."""
    return json.dumps(as_data(report), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
