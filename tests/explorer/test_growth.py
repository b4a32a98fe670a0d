"""The guess how large a search becomes, and where it is shown."""

from __future__ import annotations

import math

from elrcheck.base.progress import LevelDone
from elrcheck.explorer.search.outcome import SearchOutcome, growth_of, project, projection_of
from elrcheck.report.document import Line
from elrcheck.report.documents.exploration_document import levels_blocks, projected
from elrcheck.report.terminal import plain_text
from elrcheck.results.check_report import Projection


def bell(depth: int) -> int:
    """Levels whose growth falls by a constant factor: exp(10 - (depth - 15)^2 / 20), at least one state."""
    return max(1, round(math.exp(10 - (depth - 15) ** 2 / 20)))


def outcome(levels: list[int], reason: str | None) -> SearchOutcome:
    return SearchOutcome(reason is None, reason, 10, sum(levels), tuple(levels), 1.0)


def test_a_bell_is_guessed_from_its_first_half() -> None:
    """Its sum is about exp(10) * sqrt(20 pi), 174 600; after 15 + sqrt(200) levels it is below one state."""
    whole = math.exp(10) * math.sqrt(20 * math.pi)
    guess = project([bell(depth) for depth in range(2, 14)], before=2)
    assert guess is not None
    assert abs(guess.states - whole) / whole < 0.05 and abs(guess.levels - 30) <= 1


def test_no_guess_while_the_growth_does_not_fall() -> None:
    assert project([2**depth for depth in range(20)]) is None
    assert project([bell(depth) for depth in range(7)]) is None, "too few levels"
    assert project([5, 4, 3, 2, 1, 0, 0, 0, 0]) is None


def test_no_guess_before_it_has_settled() -> None:
    """Levels of code_4_1 with two brokers and two reassignments: at first a tenth of the truth is guessed."""
    levels = [1, 8, 48, 228, 854, 2558, 6256, 13009, 24425, 42221, 67049, 97847, 131384, 162622]
    levels += [185650, 195910]
    assert all(project(levels[:depth]) is None for depth in range(len(levels)))
    guess = project(levels)
    assert guess is not None
    assert abs(guess.states - 1_877_354) / 1_877_354 < 0.1


def test_growth_is_of_the_last_level() -> None:
    assert (growth_of([1]), growth_of([1, 4]), growth_of([4, 6])) == (None, 4.0, 1.5)


def test_only_incomplete_searches_have_a_projection() -> None:
    """The last level may be a part of one, unless a depth ended the search."""
    levels = [bell(depth) for depth in range(2, 14)]
    assert projection_of(outcome(levels, None)) is None
    by_depth = projection_of(outcome(levels, "--max-depth 11"))
    by_time = projection_of(outcome([*levels, 3], "--time-budget 5s"))
    assert by_depth is not None and by_depth == by_time


def test_what_is_shown() -> None:
    line = str(LevelDone(3, 60, 900, 100, 0.5, "", 1.5, 2_000))
    assert line.endswith("200 states/s, growth 1.50, projected 2,000 states")
    table = plain_text(levels_blocks((1, 4, 6))).split("\n")
    assert [row.split() for row in table[1:4]] == [["0", "1"], ["1", "4", "4.00"], ["2", "6", "1.50"]]
    printed = plain_text([Line(projected(Projection(2000, 9)) or "")])
    assert "2" in printed and "in 9 levels" in printed and "an estimate, not a result" in printed
