"""Words that several renderers need: numbers with a noun, and the letters of a guard."""

from __future__ import annotations

import re
from collections.abc import Mapping

LETTERS: Mapping[str, str] = {"b": "the broker", "f": "the follower"}
"""Parameters of actions whose name is a letter -> who that is, where no step says which one."""


def several(number: int, one: str, more: str = "", shown: str = "") -> str:
    """1 guard, 2 guards; more: the plural, if an s is not enough; shown: the number as a page writes it."""
    return f"{shown or number} {one if number == 1 else more or f'{one}s'}"


def unbound(guard: str) -> str:
    """A guard as it is about any broker: `b is running` tells only those who know the source."""
    return re.sub(rf"\b[{''.join(LETTERS)}]\b", lambda found: LETTERS[found[0]], guard)
