"""No word is broken on a terminal, whatever its width."""

from __future__ import annotations

import io
import re

import pytest

from elrcheck.base.progress import LevelDone, PointsDone, fitted
from elrcheck.report.document import Table
from elrcheck.report.formats import blocks
from elrcheck.report.terminal import Page, column_widths, lines, open_console, plain_text
from elrcheck.results.any_report import Report
from support.page_samples import DRIFT, RISK, SEVERAL, SUITE
from support.report_samples import MUTATE, PROVE

WIDTHS = range(40, 201)
REPORTS = {"check": SEVERAL, "gate": DRIFT, "prove": PROVE, "mutate": MUTATE, "suite": SUITE, "risk": RISK}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def printed(report: Report, width: int) -> str:
    stream = Terminal()
    console = open_console(stream, "never")
    console.width = width
    Page(console).show(blocks(report, 1))
    return re.sub(r"\x1b\[[0-9;]*m", "", stream.getvalue())


def heads_of(report: Report) -> list[str]:
    """The words above the columns of its tables."""
    tables = [block for block in blocks(report, 1) if isinstance(block, Table)]
    return [word for table in tables for column in table.columns for word in column.split()]


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_breaks_between_words(name: str) -> None:
    """Every word of the unwrapped report is there, no other, and a line is longer only for a single word."""
    report = REPORTS[name]
    words, heads = set(plain_text(blocks(report, 1)).split()), set(heads_of(report))
    for width in WIDTHS if name == "check" else range(40, 201, 16):
        text = printed(report, width)
        in_text = {word.replace("\u202f", ",") for word in text.split()} - {"\\"}
        whole = {word.replace("\u202f", ",") for word in words}
        assert whole - heads <= in_text, "where columns do not fit, only their heads may be left out"
        assert all(word.removesuffix(":") in " ".join(whole) for word in in_text - whole), width
        long = [line for line in text.splitlines() if len(line.rstrip()) > width]
        assert all(len(line.split()) <= 2 for line in long), (width, long)


def test_a_command_can_still_be_copied() -> None:
    broken = lines(f"{'':6}next      elrcheck explain {'runs/' * 12}P-1.trace.json", 60, 16)
    assert broken[0] == "      next      elrcheck explain \\" and broken[1].startswith(" " * 16 + "runs/")
    assert lines("  one two three four five six seven", 22) == ["  one two three four", "    five six seven"]
    assert lines("short", 40) == ["short"]


def test_columns_keep_their_longest_word() -> None:
    rows = (("id", "property"), ("P-1", "a long sentence of several words"))
    assert column_widths(rows, 80) == [3, 32]
    assert column_widths(rows, 24) == [3, 17]
    assert column_widths(rows, 12) is None


def test_a_status_line_fits() -> None:
    level = str(LevelDone(12, 120, 900_000, 300_000, 12.5, "spilled", 1.5, 13_000_000))
    points = str(PointsDone(3, 9, ("variant=legacy", "variant=kip_full"), 1_000, 2.5, 40.0))
    obligation = "[2/3] consecution  consecution 31/90: DesignateLeader x CommittedKept ... proved (0.02 s)"
    for text in (level, points, obligation):
        for width in WIDTHS:
            line = fitted(text, width)
            assert len(line) <= width and text.startswith(line)
            assert len(line) == len(text) or text[len(line)] in " ,;", "it ends where a word ends"
    assert fitted(level, 60) == "depth 12: 300,000 states, 120 new, 900,000 generated, 12.5 s"
