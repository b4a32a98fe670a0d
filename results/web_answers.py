"""The answers of `elrcheck web` to its page."""

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
    """A variant, a scope and further settings, as the options of a command."""

    variant: str
    scope: str
    overrides: tuple[str, ...] = ()
    start: int = 0
    """The number of the initial state."""


class EnabledAction(Record, frozen=True):
    """An enabled action."""

    index: int
    """Index of the action, as in `--repro`."""
    action: str
    arguments: tuple[Argument, ...]
    label: str
    step: str
    """The action as an element of `WebState.path`."""
    because: str
    about: str
    source: str
    changes: tuple[Change, ...]
    violates: tuple[str, ...] = ()
    """Properties that are false after it."""
    beyond: bool = False
    """The action leaves the budgets of the scope; no search follows it."""


class Judged(Record, frozen=True):
    """The verdict of one property in the state, or in the step into it."""

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
    """The steps, which the page also uses as the name of the state."""
    repro: str
    """The path as action indices."""
    at: int
    """Number of steps of the path that lead to this state."""
    steps: tuple[Step, ...]
    violated: tuple[tuple[str, ...], ...]
    """For each state of the path, the properties that are false there."""
    state: Mapping[str, Any]
    """The state in the form of a stored trace."""
    leaves: Mapping[str, str]
    """Leaf path -> value, as text."""
    picture: str
    """HTML."""
    sequence: str
    """The sequence diagram of the path, HTML."""
    sentence: str
    """What the last step did."""
    rule: str
    """The source text of the last action."""
    refused: tuple[str, ...]
    """Actions that are not enabled, each followed by a tab and the guard."""
    choices: tuple[EnabledAction, ...]
    properties: tuple[Judged, ...]
    beyond: bool
    """The state exceeds the budgets."""
    watched: tuple[Evaluation, ...] = ()
    """The values of the watched expressions in every state of the path."""
    starts: int = 1
    """Initial states of the configuration."""


class WebTrace(Report, frozen=True, tag="elrcheck.web-trace/1"):
    """A trace file as a path."""

    model: ChosenModel
    path: tuple[str, ...]
    property: str
    refused: str | None = None
    """The step that the model refuses, and why."""
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
    """The path to the violation, once there is one."""


class Named(Record, frozen=True):
    """A variant, a scope or a property that the page offers."""

    name: str
    about: str


class WebStart(Report, frozen=True, tag="elrcheck.web-start/1"):
    """The first answer, from which the page is built."""

    version: str
    model: ChosenModel
    variants: tuple[Named, ...]
    scopes: tuple[Named, ...]
    properties: tuple[Named, ...]
    path: tuple[str, ...] = ()
    trace: WebTrace | None = None
    """The trace of `--trace`."""
    settings: Mapping[str, Scalar] = field(default_factory=dict)
    legend: str = ""
    """The legend of the pictures, HTML."""
