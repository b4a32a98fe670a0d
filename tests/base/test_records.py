"""A dataclass read from a table: what its fields say, and where a fault is."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest

from elrcheck.base.documents import read_toml
from elrcheck.base.errors import UsageFault
from elrcheck.base.strict import Codes, Node
from elrcheck.base.typed.records import (
    From,
    KeyName,
    MaybeEmpty,
    Natural,
    OneOrMore,
    Positive,
    Prose,
    SameTable,
    read_record,
    read_value,
    table_text,
)

CODES = Codes("value", unknown_key="unknown", missing_key="missing")


class Colour(enum.Enum):
    RED = 1
    GREEN = 2


@dataclass(frozen=True)
class Size:
    wide: Positive
    high_up: Natural = 0


@dataclass(frozen=True)
class Part:
    name: Prose
    number: Natural | None = None
    where: Annotated[str, From.PLACE] = ""

    def checked(self, node: Node) -> Part:
        if self.number == 7:
            node["number"].fail("not seven")
        return replace(self, number=1) if self.number is None else self


@dataclass(frozen=True)
class Whole:
    kind: Literal["plain", "fancy"]
    size: Annotated[Size, SameTable(Size)]
    broker: Annotated[int, From.TAG] = 0
    colour: Colour = Colour.RED
    on: bool = False
    words: OneOrMore = ()
    about: MaybeEmpty = ""
    depths: Mapping[str, Positive] = field(default_factory=dict)
    parts: Annotated[tuple[Part, ...], KeyName("part")] = ()
    file: Annotated[str, From.FILE] = ""


TEXT = """\
kind = "plain"
wide = 3
high-up = 4
stop = 5
colour = "GREEN"
on = true
words = "one"
about = "  "
depths = { P-1 = 2 }
[[part]]
name = " a "
[[part]]
name = "b"
number = 2
"""
PARTS = TEXT[TEXT.index("[[part]]") :]


def read(text: str, folder: Path, values: Mapping[str, Any] | None = None) -> Whole:
    file = folder / "a.toml"
    file.write_text(text)
    return read_record(read_toml(file, CODES, joint="-"), Whole, values, tag="stop", others=("more",))


def test_every_form_of_field(tmp_path: Path) -> None:
    file = str(tmp_path / "a.toml")
    parts = (Part("a", 1, f"{file}:10"), Part("b", 2, f"{file}:12"))
    whole = Whole("plain", Size(3, 4), 5, Colour.GREEN, True, ("one",), "", {"P-1": 2}, parts, file)
    assert read(TEXT, tmp_path) == whole
    assert read('kind = "fancy"\nwide = 1\n', tmp_path) == Whole("fancy", Size(1), file=file)


def test_a_field_that_is_given_is_no_key(tmp_path: Path) -> None:
    without = TEXT.replace('kind = "plain"\n', "more = 1\n")
    assert read(without, tmp_path, {"kind": "fancy"}).kind == "fancy"
    with pytest.raises(UsageFault, match="unknown key `kind`"):
        read(TEXT, tmp_path, {"kind": "fancy"})


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ('"plain"', '"plan"', 1, "`kind`: expected plain or fancy, not 'plan'"),
        ("wide = 3", "wide = 0", 2, "`wide`: expected a whole number, 1 or more, not 0"),
        ("wide = 3", "wyde = 3", 2, "unknown key `wyde`"),
        ("high-up = 4", "high_up = 4", 3, "unknown key `high_up`"),
        ("wide = 3", "", None, "`wide` is missing"),
        ("stop = 5", "stop = true", 4, "`stop`: expected a whole number, not true"),
        ('"GREEN"', '"green"', 5, "`colour`: expected RED or GREEN, not 'green'"),
        ('"one"', "1", 7, "`words`: expected a text or a list of texts, not 1"),
        ("P-1 = 2", "P-1 = 0", 9, "`P-1`: expected a whole number, 1 or more, not 0"),
        ('" a "', '" "', 11, "`name`: expected a text, not an empty one"),
        ("number = 2", "number = 7", 14, "not seven"),
        ("number = 2", "nummer = 2", 14, "unknown key `nummer` in [part]"),
        (PARTS, "[part]\n", 10, "`part`: expected an array of tables, written [[part]]"),
    ],
)
def test_what_is_wrong_and_where(old: str, new: str, line: int | None, says: str, tmp_path: Path) -> None:
    assert old in TEXT
    with pytest.raises(UsageFault) as caught:
        read(TEXT.replace(old, new), tmp_path)
    assert caught.value.message == says
    place = str(tmp_path / "a.toml")
    assert caught.value.where == (place if line is None else f"{place}:{line}")


def test_a_type_that_nothing_reads_is_a_fault_of_the_program() -> None:
    node = Node([], None)  # type: ignore[arg-type]
    for hint in (complex, tuple[int, str], list[int]):
        with pytest.raises(TypeError, match="no reader"):
            read_value(node, hint)


@dataclass(frozen=True)
class StoredWord:
    word: str
    most_steps: Positive | None = None
    names: tuple[str, ...] = ()
    size: Annotated[Size, SameTable(Size)] = Size(1)
    depths: Mapping[str, Natural] = field(default_factory=dict)
    sizes: Mapping[str, Size] = field(default_factory=dict)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    names = tuple(f"name {number}" for number in range(20))
    record = StoredWord('a "b"', 3, names, Size(2), {"P-10": 1, "P-2": 0}, {"x y": Size(3, 1)})
    lines = list(table_text("kept", record, "-"))
    assert lines[:3] == ["[kept]", 'word = "a \\"b\\""', "most-steps = 3"]
    assert lines[-6:-3] == ["[kept.depths]", "P-2 = 0", "P-10 = 1"]
    assert lines[-3:] == ["", "[kept.sizes]", '"x y" = { wide = 3, high-up = 1 }']
    file = tmp_path / "kept.toml"
    file.write_text("\n".join(lines))
    assert read_record(read_toml(file, CODES, joint="-")["kept"], StoredWord) == record
    assert list(table_text("kept", StoredWord("a"))) == [
        "[kept]",
        'word = "a"',
        "wide = 1",
        "",
        "[kept.depths]",
        "",
        "[kept.sizes]",
    ]
