"""What is escaped, and that a report without such text is the same object."""

from __future__ import annotations

import sys
import unicodedata

import pytest

from elrcheck.base.errors import UsageFault
from elrcheck.base.printable import printable, printable_line, printable_report
from elrcheck.base.roundtrip import Record

INVISIBLE = ("Cc", "Cf", "Cs", "Zl", "Zp")


def test_exactly_the_control_and_format_characters_are_escaped() -> None:
    for code in range(sys.maxunicode + 1):
        sign = chr(code)
        if unicodedata.category(sign) in INVISIBLE:
            escaped = printable(sign)
            assert escaped != sign and escaped.isascii() and escaped.isprintable()
        elif unicodedata.category(sign) != "Cn":  # a later Unicode may make it a format character
            assert printable(sign) == sign


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\x1b[31mb\x07", r"a\x1b[31mb\x07"),
        ("a\r\n\tb", r"a\r\n\tb"),
        ("\x9b\u202e\u2028\U000e0041", r"\x9b\u202e\u2028\U000e0041"),
        ("\ud800", r"\ud800"),
        ("##[group]x ##vso[task.x]", r"\x23#[group]x \x23#vso[task.x]"),
        ("## a heading [of a list] #1", "## a heading [of a list] #1"),
        ("Kafka für Łódź, ⚠️ 10\u202f000", "Kafka für Łódź, ⚠️ 10\u202f000"),
    ],
)
def test_what_it_becomes(text: str, expected: str) -> None:
    assert printable(text) == expected


@pytest.mark.parametrize("command", ["::error::x", "  ::add-mask::x", "::set-output name=a::b", "::stop-commands::e"])
def test_a_line_is_no_workflow_command(command: str) -> None:
    assert not printable_line(command).lstrip().startswith("::")
    assert printable_line(f"a{command}") == f"a{command}" and printable_line("::1 is an address") == "::1 is an address"


class Part(Record, frozen=True):
    name: str
    numbers: tuple[int, ...] = ()


class Whole(Record, frozen=True):
    parts: tuple[Part, ...]
    by_name: dict[str, Part | None]


def test_a_report_is_changed_only_where_it_has_to_be() -> None:
    plain = Whole((Part("a", (1,)),), {"b": None})
    assert printable_report(plain) is plain
    evil = Whole((plain.parts[0], Part("\x1b")), {"\n": Part("\x07"), "b": None})
    printed = printable_report(evil)
    assert printed.parts[0] is plain.parts[0] and evil.parts[1].name == "\x1b"
    assert printed == Whole((plain.parts[0], Part(r"\x1b")), {r"\n": Part(r"\x07"), "b": None})


def test_an_error_keeps_its_lines() -> None:
    fault = UsageFault("a-code", "no\nsuch", where="a\x1b.toml:1", help="b\rc", excerpt="one\n\ttwo\x07")
    assert fault.render().split("\n") == [
        r"error[a-code]: no\nsuch",
        r"  --> a\x1b.toml:1",
        "   | one",
        r"   |         two\x07",
        r"   = help: b\rc",
    ]
