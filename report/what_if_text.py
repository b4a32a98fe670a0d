"""An answer of `what-if` as text: the decision, and what it changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from elrcheck.base.printable import printable_line
from elrcheck.base.typed.configuration import setting_text

GRANTED = "NONE"
"""Kafka's name for no error."""
USUAL: Mapping[str, Any] = {"registered": True, "directory": "ONLINE"}
"""Values of a broker that an answer leaves out."""


def what_if_text(op: Mapping[str, Any], before: Mapping[str, Any], answer: Mapping[str, Any]) -> str:
    """Return the lines of one answer. before: partition and brokers of the question, with its defaults."""
    fields = [f"{key}={_value_text(value)}" for key, value in op.items() if key != "type"]
    decided = "done" if answer["error"] == GRANTED else f"refused, {answer['error']}"
    lines = [f"{' '.join([str(op['type']), *fields])}: {decided}"]
    lines += [f"  {line}" for line in _changes(before, answer)] or ["  nothing changes"]
    return "\n".join(map(printable_line, lines)) + "\n"


def _changes(before: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each changed value: its name, the value before and after."""
    old, new = before["partition"] or {}, answer["partition"] or {}
    for key, now in new.items():
        if key not in old:
            yield f"{key}: {_value_text(now)}"
        elif old[key] != now:
            yield f"{key}: {_value_text(old[key])} -> {_value_text(now)}"
    for broker, fields in answer["brokers"].items():
        earlier = before["brokers"][broker]
        for key in {**earlier, **fields}:
            was, now = (each.get(key, USUAL.get(key)) for each in (earlier, fields))
            if was != now:
                yield f"broker {broker} {key}: {_value_text(was)} -> {_value_text(now)}"


def _value_text(value: object) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_value_text, value)) + "]"
    return "none" if value == -1 else setting_text(value)
