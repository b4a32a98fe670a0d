"""What a proof by induction knows of a model beside its lemmas; every function is an operator of the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from elrcheck.lang.source import error_in_field
from elrcheck.lang.types import record_fields

Operator: TypeAlias = Callable[..., Any]


@dataclass(frozen=True, eq=False)
class RunHistory:
    """What a proof remembers of a run, which no state has.

    record: its type, each field of which is a set. at_first: its value in an initial state; after: that after a step,
    of both states and the history before it. lemmas: about a state and the history.
    """

    record: type
    at_first: Operator
    after: Operator
    lemmas: tuple[Operator, ...] = ()

    def __post_init__(self) -> None:
        for name, ty in record_fields(self.record).items():
            if ty.kind != "set":
                raise error_in_field(self.record, name, f"a history has fields that are sets, and this is a {ty}")


def _none(config: Any) -> Mapping[str, Operator]:
    return {}


@dataclass(frozen=True, eq=False)
class Induction:
    """What the proof of a model adds to its lemmas; nothing, by default.

    assumptions: about steps, made by every proof; named: those that `prove --assume` names. allowed: steps that an
    assumption must not exclude; possible: steps and states that nothing may exclude. actions: those that take each of
    these steps, by default all. conditions: in a configuration, what a property, by its id, needs to hold beside the
    lemmas. arbitrary: fields of the configuration that are any number in a proof for all sizes, with the least one.
    """

    history: RunHistory | None = None
    assumptions: tuple[Operator, ...] = ()
    named: Mapping[str, Operator] = field(default_factory=dict)
    allowed: Mapping[Operator, tuple[Operator, ...]] = field(default_factory=dict)
    possible: tuple[Operator, ...] = ()
    actions: Mapping[Operator, tuple[str, ...]] = field(default_factory=dict)
    conditions: Callable[[Any], Mapping[str, Operator]] = _none
    arbitrary: Mapping[str, int] = field(default_factory=dict)
