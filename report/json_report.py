"""Reports as JSON documents, by the types of their fields, and as JSON Lines; `schema` comes first."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from elrcheck.base.roundtrip import to_data
from elrcheck.results.any_report import Report
from elrcheck.results.trace_view import UNWRITTEN


def as_data(value: object) -> Any:
    """Return a report, or any part of one, as dictionaries, lists and scalars."""
    return _written(to_data(value))


def _written(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _written(part) for key, part in data.items() if key != UNWRITTEN}
    return [_written(part) for part in data] if isinstance(data, list | tuple) else data


def to_json(report: Report) -> str:
    """Return the JSON document of a report, with a final newline. Raise ValueError for NaN and infinity."""
    return json.dumps(as_data(report), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def to_jsonl(report: Report) -> str:
    """Return a report as JSON Lines: a head, one line per element of its lists, and the verdict last.

    Every line is an object with a key `record`. The head contains all fields that are not lists of objects;
    every other record is named after its field (`properties`, `actions`, ..) and contains one element of it. A
    list inside an element stays on its line, so lines can be read one by one.
    """
    return "".join(json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n" for line in _lines(report))


def _lines(report: Report) -> Iterator[dict[str, Any]]:
    data = as_data(report)
    lists = [key for key, part in data.items() if _is_list(part)]
    yield {"record": "head", **{key: part for key, part in data.items() if key not in lists}}
    for key in lists:
        for part in data[key]:
            yield {"record": key, **part}
    yield {"record": "verdict", "verdict": report.verdict, "exit_code": int(report.exit_code)}


def _is_list(part: Any) -> bool:
    return isinstance(part, list) and bool(part) and all(isinstance(one, dict) for one in part)
