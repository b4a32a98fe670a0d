"""What `elrcheck web` answers its page. States and traces are in the form of a stored trace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from msgspec import field

from elrcheck.base.roundtrip import Record
from elrcheck.results.any_report import Report
from elrcheck.results.trace_view import Argument, Change, Scalar, Step

PropertyVerdict: TypeAlias = Literal["holds", "violated", "reached", "not reached", "not judged"]
SearchVerdict: TypeAlias = Literal["searching", "violated", "holds", "inconclusive", "cancelled", "failed"]


class ChosenModel(Record, frozen=True):
    """A variant, a scope and what is set besides, as the options of a command."""

    variant: str
    scope: str
    overrides: tuple[str, ...] = ()


class Choice(Record, frozen=True):
    """An enabled action. index: as in `--repro`; violates: properties that are false after it."""

    index: int
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
    beyond: bool = False
    """It leaves the budgets of the scope, where no search follows."""


class Judged(Record, frozen=True):
    """One property in the state, or in the step into it. conjunct, witness: what is false, and for which."""

    id: str
    name: str
    kind: Literal["always", "sometimes"]
    verdict: PropertyVerdict
    about: str
    conjunct: str | None = None
    witness: str | None = None


class WebState(Report, frozen=True, tag="elrcheck.web-state/1"):
    """A state and the path to it.

    path: the steps, by which the page names the state; repro: the same as action indices; at: after so many
    of them; violated: for each state of the path the properties that are false there; beyond: the state
    exceeds the budgets. state: in the form of a stored trace; leaves: as text; picture: as HTML.
    """

    model: ChosenModel
    path: tuple[str, ...]
    repro: str
    at: int
    steps: tuple[Step, ...]
    violated: tuple[tuple[str, ...], ...]
    state: Mapping[str, Any]
    leaves: Mapping[str, str]
    picture: str
    choices: tuple[Choice, ...]
    properties: tuple[Judged, ...]
    beyond: bool


class WebTrace(Report, frozen=True, tag="elrcheck.web-trace/1"):
    """A trace that was read, as a path. refused: why the model follows it no further, with the step.

    loop: for a lasso, the state to which its last step leads back.
    """

    model: ChosenModel
    path: tuple[str, ...]
    property: str
    refused: str | None = None
    loop: int | None = None


class WebSearch(Report, frozen=True, tag="elrcheck.web-search/1"):
    """A search for a violation from a state. path: the whole path to it, once it is found."""

    id: int
    model: ChosenModel
    verdict: SearchVerdict
    said: str
    distinct: int = 0
    depth: int = 0
    seconds: float = 0.0
    property: str = ""
    path: tuple[str, ...] = ()


class Named(Record, frozen=True):
    """A variant, a scope or a property that the page offers."""

    name: str
    about: str


class WebStart(Report, frozen=True, tag="elrcheck.web-start/1"):
    """What the page begins with. trace: the one given as --trace."""

    version: str
    model: ChosenModel
    variants: tuple[Named, ...]
    scopes: tuple[Named, ...]
    properties: tuple[Named, ...]
    path: tuple[str, ...] = ()
    trace: WebTrace | None = None
    settings: Mapping[str, Scalar] = field(default_factory=dict)
