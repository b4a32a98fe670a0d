"""Strict reading of JSON values that were decoded already: every fault names the path of its field.

`{"partition": {"isr": [1, 9]}}` with no broker 9 is refused at `partition.isr[1]`. A key that is not
known is refused before one that is missing, because a misspelt key is both.
"""

from __future__ import annotations

import enum
from collections.abc import Collection, Iterable, Mapping
from typing import Any, TypeVar

from elrcheck.base.errors import UsageFault, did_you_mean

M = TypeVar("M", bound=enum.Enum)


def mistyped(path: str, expected: str, value: object) -> UsageFault:
    """What to raise when a value has the wrong type."""
    return UsageFault("what-if-bad-value", f"expected {expected}, not {_shown(value)}", where=path)


class Fields:
    """One JSON object; takes its fields by name, with their types checked.

    `required` keys must be there, `optional` ones may; there are no others.
    """

    def __init__(
        self, value: object, path: str, required: Collection[str], optional: Collection[str] = ()
    ) -> None:
        if not isinstance(value, dict):
            raise mistyped(path, "an object", value)
        self.path = path
        self._value: Mapping[str, Any] = value
        known = (*required, *optional)
        for key in value:
            if key not in known:
                raise UsageFault(
                    "what-if-unknown-key",
                    f"unknown key `{key}`",
                    where=self.at(key),
                    help=did_you_mean(key, known),
                )
        for key in required:
            if key not in value:
                raise UsageFault("what-if-missing-key", f"`{key}` is missing", where=self.at(key))

    def at(self, key: str) -> str:
        """The path of a field."""
        return f"{self.path}.{key}" if self.path else key

    def has(self, key: str) -> bool:
        return key in self._value

    def get(self, key: str) -> Any:
        """The value as it was given."""
        return self._value[key]

    def boolean(self, key: str) -> bool:
        value = self._value[key]
        if not isinstance(value, bool):
            raise mistyped(self.at(key), "true or false", value)
        return value

    def integer(self, key: str, *, least: int | None = None) -> int:
        return integer(self._value[key], self.at(key), least=least)

    def items(self, key: str) -> list[Any]:
        return array(self._value[key], self.at(key))

    def member(self, key: str, kind: type[M], also: Iterable[str] = ()) -> M:
        """An enum member by its exact name; `also`: more names to offer when there is no such one."""
        value = self._value[key]
        names = [*kind.__members__, *also]
        if not isinstance(value, str):
            raise mistyped(self.at(key), " or ".join(names), value)
        if value not in kind.__members__:
            raise UsageFault(
                "what-if-bad-value",
                f"`{value}` is not {' or '.join(names)}",
                where=self.at(key),
                help=did_you_mean(value, names),
            )
        return kind[value]


def integer(value: object, path: str, *, least: int | None = None) -> int:
    """A JSON number without a fraction, at least `least`."""
    expected = "a whole number" if least is None else f"a whole number, {least} or more"
    if not isinstance(value, int) or isinstance(value, bool) or (least is not None and value < least):
        raise mistyped(path, expected, value)
    return value


def array(value: object, path: str) -> list[Any]:
    if not isinstance(value, list):
        raise mistyped(path, "a list", value)
    return value


def _shown(value: object) -> str:
    """A value in an error message: short, and in JSON's words."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case dict():
            return "an object"
        case list():
            return "a list"
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
