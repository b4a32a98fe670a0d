"""The answers of `elrcheck web` to its page. States and traces are in the form of a stored trace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from msgspec import field

from elrcheck.base.roundtrip import Record
from elrcheck.results.any_report import Report
from elrcheck.results.trace_reports import Evaluation
from elrcheck.results.trace_view import Argument, Change, Scalar, Step

PropertyVerdict: TypeAlias = Literal["holds", "violated", "reached", "not reached", "not judged"]
SearchVerdict: TypeAlias = Literal["searching", "violated", "holds", "inconclusive", "cancelled", "failed"]


class ChosenModel(Record, frozen=True):
    """A variant, a scope and what is set besides, as the options of a command.

    start: the number of the initial state, of a model with several.
    """

    variant: str
    scope: str
    overrides: tuple[str, ...] = ()
    start: int = 0


class EnabledAction(Record, frozen=True):
    """An enabled action."""

    index: int
    """Index of the action, as in `--repro`."""
    action: str
    arguments: tuple[Argument, ...]
    label: str
    step: str
    """The action as a path of this explorer names it."""
    because: str
    about: str
    source: str
    changes: tuple[Change, ...]
    violates: tuple[str, ...] = ()
    """Properties that are false after it."""
    beyond: bool = False
    """The action leaves the budgets of the scope, where no search follows."""


class Judged(Record, frozen=True):
    """One property in the state, or in the step into it."""

    id: str
    name: str
    kind: Literal["always", "sometimes"]
    verdict: PropertyVerdict
    about: str
    conjunct: str | None = None
    """The named part that is false."""
    witness: str | None = None
    """Values for which it is false."""


class WebState(Report, frozen=True, tag="elrcheck.web-state/1"):
    """A state and the path to it."""

    model: ChosenModel
    path: tuple[str, ...]
    """The steps, by which the page names the state."""
    repro: str
    """The path as action indices."""
    at: int
    """Number of steps of the path that lead to this state."""
    steps: tuple[Step, ...]
    violated: tuple[tuple[str, ...], ...]
    """For each state of the path the properties that are false there."""
    state: Mapping[str, Any]
    """The state in the form of a stored trace."""
    leaves: Mapping[str, str]
    """The leaves of the state as text."""
    picture: str
    """The picture of the state, as HTML."""
    sequence: str
    """The path as a sequence diagram, as HTML."""
    sentence: str
    """What the last step did."""
    rule: str
    """The source text of its action."""
    refused: tuple[str, ...]
    """What is not enabled, each with the guard behind a tab."""
    choices: tuple[EnabledAction, ...]
    properties: tuple[Judged, ...]
    beyond: bool
    """The state exceeds the budgets."""
    watched: tuple[Evaluation, ...] = ()
    """The values of the watched expressions in every state of the path."""
    starts: int = 1
    """Initial states of the configuration."""


class WebTrace(Report, frozen=True, tag="elrcheck.web-trace/1"):
    """A trace that was read, as a path."""

    model: ChosenModel
    path: tuple[str, ...]
    property: str
    refused: str | None = None
    """Why the model follows it no further, with the step."""
    loop: int | None = None
    """For a lasso, the state to which its last step leads back."""


class WebSearch(Report, frozen=True, tag="elrcheck.web-search/1"):
    """A search for a violation from a state."""

    id: int
    model: ChosenModel
    verdict: SearchVerdict
    said: str
    distinct: int = 0
    depth: int = 0
    seconds: float = 0.0
    property: str = ""
    path: tuple[str, ...] = ()
    """The whole path to it, once it is found."""


class Named(Record, frozen=True):
    """A variant, a scope or a property that the page offers."""

    name: str
    about: str


class WebStart(Report, frozen=True, tag="elrcheck.web-start/1"):
    """The first answer, with which the page begins."""

    version: str
    model: ChosenModel
    variants: tuple[Named, ...]
    scopes: tuple[Named, ...]
    properties: tuple[Named, ...]
    path: tuple[str, ...] = ()
    trace: WebTrace | None = None
    """The one given as --trace."""
    settings: Mapping[str, Scalar] = field(default_factory=dict)
    legend: str = ""
    """What the signs in a picture mean, as HTML."""
