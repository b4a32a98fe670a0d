"""What a model declares for proofs by induction beside its lemmas. Every function is an operator of the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from elrcheck.lang.source import error_in_field
from elrcheck.lang.types import record_fields

Operator: TypeAlias = Callable[..., Any]


@dataclass(frozen=True, eq=False)
class RunHistory:
    """A history of a run, which a proof adds to the state.

    record: its type, whose fields are sets or numbers. at_first: returns its value in an initial state; after: its
    value after a step, from both states and the history before. lemmas: about a state and the history.
    """

    record: type
    at_first: Operator
    after: Operator
    lemmas: tuple[Operator, ...] = ()

    def __post_init__(self) -> None:
        for name, ty in record_fields(self.record).items():
            if ty.kind not in ("set", "nat"):
                message = f"a history has fields that are sets or numbers, and this is a {ty}"
                raise error_in_field(self.record, name, message)


@dataclass(frozen=True, eq=False)
class WaitStage:
    """A part of a wait, which a step of a fair action ends (`proof/ended_waits.py`).

    during: an operator `(c, s, ..)` with the parameters of the property, and maybe more: a stage for each choice of
    those. arguments: of the action's step, a value or the name of a parameter of `during`; a parameter of the action
    that is not named here has the same name there. measure: an operator `(c, s, ..)` with parameters of the property
    that returns a number from 0 on: the step may also lead back into this stage, with a smaller one. enables: for a
    strongly fair action, the stages that end when its step is possible; a step of a weakly fair one is possible
    throughout its stage.
    """

    during: Operator
    action: Operator
    arguments: Mapping[str, object] = field(default_factory=dict)
    measure: Operator | None = None
    enables: tuple[WaitStage, ...] = ()


def _nowhere(config: Any) -> str:
    return ""


@dataclass(frozen=True, eq=False)
class Reduction:
    """States with the same representative are one to a reduced search.

    same: an operator `(c, s)` that returns the representative of a state; it sees the settings. settings: fields of the
    configuration with which the rules themselves merge states. left_out: returns why the operator does not describe
    what the rules merge in a configuration, or "" if it does.
    """

    name: str
    same: Callable[..., Any]
    settings: Mapping[str, Any] = field(default_factory=dict)
    left_out: Callable[[Any], str] = _nowhere


def _none(config: Any) -> Mapping[str, Any]:
    return {}


@dataclass(frozen=True, eq=False)
class Induction:
    """What proofs of a model use beside its lemmas.

    assumptions: on steps, made by every proof; named: those of `prove --assume`, by name. allowed: steps that an
    assumption must not exclude; possible: steps and states that nothing may exclude. actions: the actions that may take
    each of these steps, by default all. conditions: for a configuration, the condition under which the lemmas imply a
    property, by its id. settings: for a configuration of a search, what a proof sets instead, unless the user sets it.
    arbitrary: field of the configuration -> least value, in proofs for all sizes. waits: liveness property -> the
    stages of its wait, the last one first; wait_measures: liveness property -> operators `(c, s, ..)` that return
    numbers from 0 on: a step that lowers one, and none before it, may lead back into any stage, and no other step than
    a disturbance raises one unless it lowers one before it; wait_lemmas: predicates on states that only these need.
    reductions: of searches, which `prove --reductions` justifies.
    any_length: limits of sequences, fields of the configuration, that a search reserves and a proof does not have.
    """

    history: RunHistory | None = None
    assumptions: tuple[Operator, ...] = ()
    named: Mapping[str, Operator] = field(default_factory=dict)
    allowed: Mapping[Operator, tuple[Operator, ...]] = field(default_factory=dict)
    possible: tuple[Operator, ...] = ()
    actions: Mapping[Operator, tuple[str, ...]] = field(default_factory=dict)
    conditions: Callable[[Any], Mapping[str, Operator]] = _none
    settings: Callable[[Any], Mapping[str, object]] = _none
    arbitrary: Mapping[str, int] = field(default_factory=dict)
    waits: Mapping[Operator, tuple[WaitStage, ...]] = field(default_factory=dict)
    wait_measures: Mapping[Operator, tuple[Operator, ...]] = field(default_factory=dict)
    wait_lemmas: tuple[Operator, ...] = ()
    reductions: tuple[Reduction, ...] = ()
    any_length: tuple[str, ...] = ()
