"""What is said while something runs: lines in a file, one line in a terminal, each level in CI."""

from __future__ import annotations

import dataclasses
import io

import pytest

from elrcheck.base.progress import ExecutorsLost, LevelDone, ObligationDone, ProgressLines, Silent, open_progress


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def level(depth: int) -> LevelDone:
    return LevelDone(depth, 10, 2000, 1000, 0.5)


def test_lines_are_rare_and_the_last_is_never_lost() -> None:
    stream, clock = io.StringIO(), Clock()
    lines = ProgressLines(stream, 1.0, clock)
    for depth in range(5):
        lines.tell(level(depth))
        clock.now += 0.3
    lines.close()
    lines.close()
    heads = [line.split(":")[0] for line in stream.getvalue().splitlines()]
    assert heads == ["depth 0", "depth 4"]


def test_in_ci_every_level_has_its_line_but_not_those_of_many_searches() -> None:
    """A level is told of when it begins, while it lasts and when it is finished."""
    stream = io.StringIO()
    with open_progress(stream, {"CI": "true"}) as lines:
        for depth in (0, 1, 2):
            for states in (10 * depth, 10 * depth + 5, 10 * depth + 10):
                lines.tell(LevelDone(depth, 1, 1, states, 1.0))
        lines.stage("the next search")
        lines.tell(LevelDone(0, 1, 1, 1, 1.0))
    assert [line.split(" states")[0] for line in stream.getvalue().splitlines()] == [
        "depth 0: 10",
        "depth 1: 20",
        "depth 2: 30",
        "the next search",
        "depth 0: 1",
    ]


def test_many_searches_in_ci_have_few_lines_and_a_long_level_has_some() -> None:
    stream, clock = io.StringIO(), Clock()
    lines = ProgressLines(stream, 1.0, clock, every_level=True)
    for depth in range(4):
        lines.tell(dataclasses.replace(level(depth), passing=True))
    lines.close()
    assert [line.split(":")[0] for line in stream.getvalue().splitlines()] == ["depth 0", "depth 3"]
    for _ in range(100):
        lines.tell(level(7))
        clock.now += 1.5
    lines.close()
    assert [line.split(":")[0] for line in stream.getvalue().splitlines()][2:] == ["depth 7"] * 3


def test_what_is_refuted_is_printed_as_it_comes() -> None:
    """A proof may be interrupted before its report."""
    stream, clock = io.StringIO(), Clock()
    lines = ProgressLines(stream, 1.0, clock)
    for number, verdict in enumerate(("proved", "proved", "proved", "refuted", "proved", "never"), start=1):
        lines.tell(ObligationDone("consecution", number, 9, f"Fence x Lemma{number}", verdict, 0.1))
    heads = [line.split(":")[0] for line in stream.getvalue().splitlines()]
    assert heads == [f"consecution {number}/9" for number in (1, 3, 4, 5, 6)]
    assert "Fence x Lemma4 ... refuted" in stream.getvalue()
    lines.tell(
        ObligationDone("consecution", 7, 9, "Kill x Lemma", "refuted", 0.1, ("  before a = 1", "  step   Kill()"))
    )
    assert stream.getvalue().splitlines()[-2:] == ["  before a = 1", "  step   Kill()"]


def test_a_lost_executor_is_printed_when_it_is_lost() -> None:
    stream = io.StringIO()
    lines = ProgressLines(stream, 1.0, Clock())
    for depth in range(2):
        lines.tell(level(depth))
    lines.tell(ExecutorsLost(("2 at 10.0.0.7:4711",), 3))
    lines.tell(ExecutorsLost(("0 at 10.0.0.5:4711", "1 at 10.0.0.6:4711"), 0))
    assert stream.getvalue().splitlines()[2:] == [
        "Spark lost executor 2 at 10.0.0.7:4711, 3 left; the others take over its part",
        "Spark lost executors 0 at 10.0.0.5:4711, 1 at 10.0.0.6:4711, 0 left; Spark waits for a new one",
    ]


def test_a_new_stage_is_always_shown() -> None:
    stream = io.StringIO()
    lines = ProgressLines(stream, 1.0, Clock())
    lines.tell(ObligationDone("consecution", 1, 9, "Fence x TypeOk", "proved", 0.1))
    lines.tell(ObligationDone("consecution", 2, 9, "Fence x Elr", "proved", 0.1))
    lines.stage("[3/3] implication")
    assert [line.split(":")[0] for line in stream.getvalue().splitlines()] == [
        "consecution 1/9",
        "consecution 2/9",
        "[3/3] implication",
    ]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_fits_the_stream() -> None:
    with open_progress(io.StringIO(), {}, visible=False) as silent:
        assert isinstance(silent, Silent)
    stream = io.StringIO()
    with open_progress(stream, {}) as lines:
        lines.tell(level(1))
    assert stream.getvalue() == "depth 1: 1,000 states, 10 new, 2,000 generated, 0.5 s, 2,000 states/s\n"
    ci = Terminal()
    with open_progress(ci, {"CI": "true"}) as lines:
        lines.tell(level(1))
    assert "\x1b" not in ci.getvalue()


def test_a_terminal_gets_one_live_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    terminal = Terminal()
    with open_progress(terminal, {"TERM": "xterm"}) as live:
        live.stage("[2/3] consecution")
        live.tell(level(7))
    assert "\x1b" in terminal.getvalue()
