"""The slow tests rotate: each has a share, every share has its turn, and what is new is in one of them."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from support.places import ROOT
from support.rotation import (
    ALL,
    NEVER,
    OLDEST,
    SHARES,
    SPREAD,
    TURN,
    Slow,
    balanced,
    by_age,
    current_share,
    loads,
    read_table,
    share_of,
    turn,
    write_table,
)

TABLE = ROOT / "tests" / "slow_tests.csv"
LONG = Slow("tests/a/test_a.py::test_long", ALL, 3 * SPREAD, 30, "2026-11-20")
SHORT = Slow("tests/a/test_a.py::test_short", 4, 5.0, 2, "2026-11-21")
BUDGET = 380.0
"""Seconds of a processor that a share may take: three minutes of a run, which has two of them."""


def test_every_case_has_one_turn_within_thirty_landings() -> None:
    """So many turns one after the other reach every case, whether it is in the table, spread or new."""
    table = {row.test: row for row in (LONG, SHORT)}
    assert SHARES <= 30
    for test in (*table, "tests/b/test_b.py::test_new"):
        for case in range(40):
            share = share_of(test, case, table)
            turns = [n for n in range(SHARES) if current_share(table, {TURN: str(n)}) == share]
            assert len(turns) == 1
    assert {share_of(LONG.test, case, table) for case in range(LONG.cases)} == set(range(SHARES))
    assert {share_of(SHORT.test, case, table) for case in range(SHORT.cases)} == {4}


@pytest.mark.parametrize("commits", range(1, SHARES))
def test_landings_of_several_commits_reach_every_share(commits: int) -> None:
    table = {SHORT.test: SHORT}
    turns = (commits * landing for landing in range(SHARES))
    assert {current_share(table, {TURN: str(n)}) for n in turns} == set(range(SHARES))


def test_what_has_not_run_for_longest_is_first() -> None:
    rows = [replace(SHORT, test=f"t::{share}", share=share, ran="2026-11-22") for share in range(SHARES)]
    rows[7] = replace(rows[7], ran="2026-10-01")
    rows[5] = replace(rows[5], ran=NEVER)
    table = {row.test: row for row in rows}
    assert by_age(table)[:2] == [5, 7]
    assert current_share(table, {TURN: OLDEST}) == 5


def test_the_turn_is_what_ci_says_or_the_history_or_the_day(tmp_path: Path) -> None:
    assert turn({TURN: "17"}, ROOT) == "17"
    assert int(turn({}, tmp_path)) > 700_000

    def git(*words: str) -> None:
        author = ("-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *author, *words], cwd=tmp_path, check=True, capture_output=True, timeout=60)

    git("init", "-q")
    for landing in ("1", "2"):
        git("commit", "-q", "--allow-empty", "-m", "a landing")
        assert turn({}, tmp_path) == landing


def test_a_table_is_written_and_read(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    write_table(file, (SHORT, LONG))
    assert read_table(file) == {LONG.test: LONG, SHORT.test: SHORT}
    file.write_text(file.read_text().replace(",4,", ",44,"))
    assert ",44," in file.read_text()
    with pytest.raises(ValueError, match="a share is a number"):
        read_table(file)


def test_shares_are_balanced() -> None:
    rows = [replace(SHORT, test=f"t{n}::test", share=0, seconds=float(n), cases=1) for n in range(1, 50)]
    seconds = loads(balanced(rows))
    assert sum(seconds) == sum(range(50)) and max(seconds) - min(seconds) < 12


def test_a_long_function_is_dealt_to_all_shares_with_those_of_its_fixture() -> None:
    same = replace(SHORT, test="tests/a/test_a.py::test_same", cases=LONG.cases)
    other = replace(same, test="tests/b/test_b.py::test_same")
    table = balanced([LONG, SHORT, same, other])
    assert [table[row.test].is_spread for row in (LONG, SHORT, same, other)] == [True, False, True, False]
    assert share_of(LONG.test, 1, table) == share_of(same.test, 1, table)


def test_the_other_functions_of_a_file_have_one_share() -> None:
    rows = [replace(SHORT, test=f"{file}::test_{n}", seconds=1.0 + n) for file in "abcdefgh" for n in range(5)]
    table = balanced(rows)
    for file in "abcdefgh":
        assert len({row.share for row in table.values() if row.test.startswith(f"{file}::")}) == 1
    assert len({row.share for row in table.values()}) == 8


def test_the_recorded_shares_fit_their_time() -> None:
    """It fails when slow tests are added or get slower: thin them out, or `.ci/slow-tests --balance`."""
    table = read_table(TABLE)
    assert len(table) > 100
    recorded = {row.test: row for row in table.values() if row.ran != NEVER}
    assert max(loads(recorded)) < BUDGET
    for row in table.values():
        assert (ROOT / row.test.partition("::")[0]).is_file(), row.test


@pytest.mark.slow
def test_a_run_takes_its_share_and_says_so() -> None:
    """Pytest itself is asked what it would run: all, none of a chosen file, and a share of the whole."""

    def collected(*words: str, **added: str) -> set[str]:
        options = ("-n0", "-q", "--collect-only", "-p", "no:cacheprovider")
        command = [sys.executable, "-m", "pytest", *options, *words]
        done = subprocess.run(
            command, cwd=ROOT, env={**os.environ, **added}, capture_output=True, text=True, timeout=300
        )
        return {line for line in done.stdout.splitlines() if "::" in line}

    file = "tests/kafka/test_records_of_kafka.py"
    every, none = collected("--slow", "all", file), collected(file)
    assert none < every and len(every - none) > 10
    one = min(every - none)
    assert collected(one) == {one}
    table = read_table(TABLE)
    shares = {share_of(row.test, 0, table) for row in table.values() if row.test.startswith(f"{file}::")}
    own, other = min(shares), next(n for n in range(SHARES) if n not in shares)
    assert none < collected("--slow", "share", file, **{TURN: str(own)}) <= every
    assert collected("--slow", "share", file, **{TURN: str(other)}) == none
