"""What a failure says, and how unknown words find their neighbours."""

from __future__ import annotations

import pickle

import pytest

from elrcheck.base.errors import (
    MOST_NAMES,
    ElrError,
    EnvironmentFault,
    ExitCode,
    NothingChecked,
    UsageFault,
    did_you_mean,
    suggest,
)


def test_a_fault_says_what_where_and_what_to_do() -> None:
    fault = UsageFault("config-unknown-key", "unknown key `x`", where="a.toml:4", help="did you mean `y`?")
    assert fault.render().splitlines() == [
        "error[config-unknown-key]: unknown key `x`",
        "  --> a.toml:4",
        "   = help: did you mean `y`?",
    ]


def test_parts_that_are_absent_are_not_printed() -> None:
    assert UsageFault("word", "message").render() == "error[word]: message"


def test_an_excerpt_keeps_its_underline_in_place() -> None:
    fault = UsageFault("lang", "no loops", where="m.py:2", excerpt="    while x:\n    ^^^^^")
    assert fault.render().splitlines()[2:] == ["   |     while x:", "   |     ^^^^^"]


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (UsageFault, ExitCode.DID_NOT_RUN),
        (EnvironmentFault, ExitCode.ENVIRONMENT),
        (NothingChecked, ExitCode.NOTHING_CHECKED),
    ],
)
def test_exit_codes(kind: type[ElrError], code: ExitCode) -> None:
    assert kind("word", "message").exit_code == code


def test_one_is_the_code_of_a_finding_and_of_no_failure() -> None:
    assert int(ExitCode.FINDING) == 1
    assert all(kind.exit_code != 1 for kind in [ElrError, *ElrError.__subclasses__()])


def test_a_fault_survives_the_way_between_processes() -> None:
    fault = EnvironmentFault("no-java", "no Java", where="PATH", help="install one")
    again = pickle.loads(pickle.dumps(fault))
    assert type(again) is EnvironmentFault
    assert again.render() == fault.render()


@pytest.mark.parametrize(
    ("word", "expected"),
    [("min-isr", "min_isr"), ("BROKERS", "brokers"), ("brokerz", "brokers"), ("quorum", None), ("", None)],
)
def test_suggest(word: str, expected: str | None) -> None:
    assert suggest(word, ["brokers", "min_isr", "records"]) == expected


def test_help_names_the_neighbour_or_else_everything() -> None:
    assert did_you_mean("recrods", ["records", "crashes"]) == "did you mean `records`?"
    assert did_you_mean("zzz", ["records", "crashes"]) == "known: crashes, records"
    many = [f"name_{number:02}" for number in range(MOST_NAMES + 2)]
    assert did_you_mean("zzz", many) == f"known: {', '.join(many[:-2])} and 2 more"
    assert "nothing" in did_you_mean("zzz", [])
