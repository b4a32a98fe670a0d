"""JSON from anywhere, read strictly: every refusal names the file and the place inside it.

`load` checks what the json module lets pass (a key twice, NaN, endless nesting, numbers of thousands
of digits), and an `At` walks along with the reader, so that a message can say

    error[trace-file]: unknown key `stats`
      --> cex.json: $.states[3]
       = help: did you mean `states`?
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from elrcheck.base.errors import UsageFault, did_you_mean

SIZE_LIMIT = 512 * 1024 * 1024
DIGITS_LIMIT = 30


@dataclass(frozen=True)
class At:
    """A place in a JSON file; the text is only built for an error."""

    file: str
    code: str
    step: str = "$"
    up: At | None = None

    def field(self, name: str) -> At:
        return At(self.file, self.code, f".{name}" if name.isidentifier() else f"[{name!r}]", self)

    def item(self, index: int) -> At:
        return At(self.file, self.code, f"[{index}]", self)

    def __str__(self) -> str:
        steps: list[str] = []
        at: At | None = self
        while at is not None:
            steps.append(at.step)
            at = at.up
        return f"{self.file}: {''.join(reversed(steps))}"

    def fail(self, why: str, *, help: str | None = None) -> NoReturn:
        raise UsageFault(self.code, why, where=str(self), help=help)

    def mapping(self, value: Any, required: Iterable[str], optional: Iterable[str] = ()) -> Mapping[str, Any]:
        """The object, if it has all the required keys and no unknown one."""
        if not isinstance(value, dict):
            self.fail(f"expected an object, found {kind_of(value)}")
        wanted = list(required)
        known = [*wanted, *optional]
        for key in value:
            if key not in known:
                self.fail(f"unknown key `{key}`", help=did_you_mean(key, known))
        for key in wanted:
            if key not in value:
                self.fail(f"key `{key}` is missing")
        return value

    def text(self, value: Any) -> str:
        if not isinstance(value, str):
            self.fail(f"expected a string, found {kind_of(value)}")
        return value

    def integer(self, value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool):
            self.fail(f"expected an integer, found {kind_of(value)}")
        return value

    def items(self, value: Any) -> list[Any]:
        if not isinstance(value, list):
            self.fail(f"expected an array, found {kind_of(value)}")
        return value


def kind_of(value: Any) -> str:
    """A short description of a JSON value for an error message."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return f"the number {value}"
        case str():
            return f"the string {value if len(value) <= 30 else value[:27] + '...'!r}"
        case list():
            return "an array"
        case _:
            return "an object"


def load(path: Path, code: str) -> tuple[Any, At]:
    """The JSON value in a file, and the place that stands for all of it; UsageFault if it is none."""
    at = At(str(path), code)
    return parse(read_text(path, code), at), at


def read_text(path: Path, code: str) -> str:
    """The UTF-8 text of a file of at most SIZE_LIMIT bytes; UsageFault if it is none."""
    try:
        if path.stat().st_size > SIZE_LIMIT:
            At(str(path), code).fail(f"the file is larger than {SIZE_LIMIT // 2**20} MiB")
        with path.open("rb") as file:  # a pipe has no size before it is read
            data = file.read(SIZE_LIMIT + 1)
        if len(data) > SIZE_LIMIT:
            At(str(path), code).fail(f"the file is larger than {SIZE_LIMIT // 2**20} MiB")
        return data.decode("utf-8-sig")
    except OSError as fault:
        raise UsageFault(code, f"cannot read the file: {fault.strerror or fault}", where=str(path)) from fault
    except UnicodeDecodeError as fault:
        raise UsageFault(code, "the file is not UTF-8 text", where=str(path)) from fault


def parse(text: str, at: At) -> Any:
    """The JSON value of a text."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            keys = [key for key, _ in pairs]
            at.fail(f"key `{next(k for k in keys if keys.count(k) > 1)}` twice in one object")
        return made

    def number(digits: str) -> int:
        if len(digits) > DIGITS_LIMIT:
            at.fail(f"a number of more than {DIGITS_LIMIT} digits")
        return int(digits)

    def constant(name: str) -> NoReturn:
        at.fail(f"{name} is not JSON")

    try:
        return json.loads(text, object_pairs_hook=unique, parse_int=number, parse_constant=constant)
    except json.JSONDecodeError as fault:
        where = f"{at.file}:{fault.lineno}"
        raise UsageFault(at.code, f"not JSON: {fault.msg} (column {fault.colno})", where=where) from fault
    except RecursionError as fault:
        raise UsageFault(at.code, "nested too deeply", where=at.file) from fault


def lay_out(document: Mapping[str, Any]) -> str:
    """JSON text with one line for each top-level key and for each element of a top-level array."""
    parts = []
    for key, value in document.items():
        if isinstance(value, list) and value:
            body = "[\n" + ",\n".join(f"  {_compact(item)}" for item in value) + "\n ]"
        else:
            body = _compact(value)
        parts.append(f" {_compact(key)}: {body}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
