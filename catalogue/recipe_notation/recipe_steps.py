"""The kinds of steps of a recipe: which class a step is read into.

Which kind a step is, its first key says. A step has no other keys than the fields of its class.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from elrcheck.base.errors import did_you_mean
from elrcheck.base.strict import Node
from elrcheck.base.typed.records import read_record
from elrcheck.catalogue.recipe_notation.recipe_actions import (
    STOP,
    Action,
    Answered,
    Configure,
    Create,
    Delete,
    DeleteCleanStopFiles,
    Directory,
    Elect,
    Exited,
    Feature,
    Leaderless,
    LogEnd,
    LoseLog,
    MoveDirectory,
    Produce,
    Reassign,
    Said,
    Send,
    Signal,
    Sleep,
    Start,
    Stream,
    Throttle,
    Unregister,
    Wait,
)


@dataclass(frozen=True)
class StepKind:
    """The class of a kind of step, and fields to which the kind gives a value, so that no key does."""

    record: type[Action]
    fixed: Mapping[str, Any] = field(default_factory=dict)


STEPS: Mapping[str, StepKind] = {
    "create": StepKind(Create),
    "delete": StepKind(Delete),
    "produce": StepKind(Produce),
    "send": StepKind(Send),
    "answered": StepKind(Answered),
    "stream": StepKind(Stream),
    "stream-end": StepKind(Stream, {"rate": None}),
    "reassign": StepKind(Reassign, {"absent_if": None}),
    "cancel": StepKind(Reassign, {"to": None}),
    "elect": StepKind(Elect),
    "configure": StepKind(Configure),
    "throttle": StepKind(Throttle),
    "feature": StepKind(Feature),
    "unregister": StepKind(Unregister),
    "stop": StepKind(Signal, {"kind": "stop"}),
    "kill": StepKind(Signal, {"kind": "kill"}),
    "exited": StepKind(Exited),
    "pause": StepKind(Signal, {"kind": "pause", "wait": False, "seconds": STOP}),
    "resume": StepKind(Signal, {"kind": "resume", "wait": False, "seconds": STOP}),
    "start": StepKind(Start),
    "move": StepKind(MoveDirectory),
    "lose-directory": StepKind(Directory, {"kind": "lose"}),
    "replace-directory": StepKind(Directory, {"kind": "replace"}),
    "drop-directory": StepKind(Directory, {"kind": "drop"}),
    "delete-clean-stop-files": StepKind(DeleteCleanStopFiles),
    "lose-log": StepKind(LoseLog),
    "sleep": StepKind(Sleep),
    "wait": StepKind(Wait),
    "leaderless": StepKind(Leaderless),
    "said": StepKind(Said),
    "log": StepKind(LogEnd),
}
"""Every kind of step, by the key that it starts with."""


def kind_of(node: Node) -> str:
    """The first key of a step."""
    first = next(iter(node.fields()), ("", node))[0]
    if first not in STEPS:
        node.fail(f"`{first}` is no kind of step", did_you_mean(first, STEPS))
    return first


def read_action(node: Node, others: Collection[str]) -> Action:
    """Read a step; UsageFault names the line of a mistake. others: keys that do not say what it does."""
    kind = kind_of(node)
    form = STEPS[kind]
    return read_record(node, form.record, form.fixed, tag=kind, others=others)
