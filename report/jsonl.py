"""Renders any report as JSON Lines: a head, one line per element of its lists, and the verdict last.

Every line is an object with a key `record`. The head contains all fields that are not lists of objects; every
other record is named after its field (`properties`, `actions`, ..) and contains one element of it. A list
inside an element stays on its line, so lines can be read one by one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from elrcheck.report.json_report import as_data
from elrcheck.results.any_report import Report


def to_jsonl(report: Report) -> str:
    return "".join(json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n" for line in _lines(report))


def _lines(report: Report) -> Iterator[dict[str, Any]]:
    data = as_data(report)
    lists = [key for key, part in data.items() if _is_list(part)]
    yield {"record": "head", **{key: part for key, part in data.items() if key not in lists}}
    for key in lists:
        for part in data[key]:
            yield {"record": key, **part}
    yield {"record": "verdict", "verdict": data["verdict"], "exit_code": int(report.exit_code)}


def _is_list(part: Any) -> bool:
    return isinstance(part, list) and bool(part) and all(isinstance(one, dict) for one in part)
