"""The drawing of a state of any model: facts, and a table with a row for each member of a sort."""

from __future__ import annotations

from elrcheck.base.roundtrip import Record


class Fact(Record, frozen=True):
    """A value, and whether the last step changed it."""

    name: str
    value: str
    changed: bool = False


class DrawnMember(Record, frozen=True):
    """A member of a sort, such as `node 0`, and its values in the order of the columns."""

    name: str
    values: tuple[Fact, ...]


class DrawnSort(Record, frozen=True):
    """The table of a sort."""

    word: str
    columns: tuple[str, ...]
    members: tuple[DrawnMember, ...]


class DrawnFields(Record, frozen=True):
    """The whole picture."""

    facts: tuple[Fact, ...]
    sorts: tuple[DrawnSort, ...]
