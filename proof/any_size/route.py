"""How goals were proved for any size, so that a later proof asks first what was answered then.

A route is a hint: a question on it is asked of the goal as it is today, and where one is not answered, the goal is
proved as if there were no route.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from elrcheck.base.roundtrip import Record, from_text


class Question(Record, frozen=True):
    """A question that was answered. way: its number in `WAYS`; seed: of the solver."""

    way: int
    seed: int = 0


Cases: TypeAlias = Literal["", "goal", "before", "cut"]
"""How a part of a goal is split: not, by its own cases, by those of its lemma before the step, or by a cut."""


class PartRoute(Record, frozen=True):
    """The questions about a part of a goal: one about the part itself, or one about each of its cases.

    cut: its number among the cuts of the part.
    """

    questions: tuple[Question, ...]
    cases: Cases = ""
    cut: int = 0


class Route(Record, frozen=True):
    """How a goal was proved. hints: the lemmas that were assumed where only some were.

    named: with names for the results of all operators. whole: the question about the whole goal; None: part by part.
    """

    hints: tuple[str, ...]
    named: bool = False
    whole: Question | None = None
    parts: tuple[PartRoute, ...] = ()


Routes = Mapping[str, Mapping[str, Route]]
"""Step, such as `ControllerAlters(keep=True)` -> goal -> how it was proved."""


class RouteFile(Record, frozen=True):
    """The routes of a proof. rules: a digest of the model's rules that it was about; day: of its end."""

    rules: str
    day: str
    steps: dict[str, dict[str, Route]]


def routes_of(text: str) -> Routes:
    """Return the routes of a file; raise ValueError for a damaged one."""
    return from_text(text, RouteFile).steps
