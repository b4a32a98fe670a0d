"""An engine's trace replayed in plain Python: what is shown to a person or stored has passed here.

The engine only says where a property is hit. The trace is followed step by step through the plain
model, and the property is evaluated in plain Python at its end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elrcheck.catalogue.configuration import config_values
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.plain import PlainModel
from elrcheck.lang.runtime import ModelConfig
from elrcheck.results.trace_view import TraceView
from elrcheck.traces.describe import ReplayError, label_steps, trace_view
from elrcheck.traces.tracefile import Step, Trace, write_trace
from elrcheck.traces.violation import Broken, explain


@dataclass(frozen=True)
class Finding:
    """A replayed trace of one property. loop: of a lasso, how many steps lead to its cycle."""

    states: tuple[Any, ...]
    steps: tuple[Step, ...]
    view: TraceView
    broken: Broken
    loop: int | None = None

    @property
    def visited(self) -> tuple[Any, ...]:
        """The states, and of a lasso the one to which its last step returns once more."""
        closes = self.loop is not None and len(self.steps) == len(self.states)
        return (*self.states, self.states[self.loop or 0]) if closes else self.states


def replay(model: Model, config: ModelConfig, fn: Fn, states: Sequence[Any]) -> Finding:
    """The trace in words, and which part of the property broke; ReplayError if plain Python disagrees."""
    plain = PlainModel(model, config)
    labels, repro = label_steps(plain, states)
    last = tuple(states[-2:]) if fn.is_step else (states[-1],)
    if plain.holds(fn, *last) != (fn.kind == "sometimes"):
        raise ReplayError(f"{fn.ident} is not hit at the end of its trace in the plain model")
    before = states[-2] if len(states) > 1 else None
    broken = explain(model, config, fn, last, before) if fn.kind == "always" else Broken(None, None)
    steps = tuple(Step(label.action, label.args) for label in labels)
    return Finding(tuple(states), steps, trace_view(model, states, labels, repro), broken)


def of_lasso(found: Replayed) -> Finding:
    """A lasso, which was replayed when it was found."""
    return Finding(found.states, found.steps, found.view, Broken(None, found.witness), found.loop)


@dataclass(frozen=True)
class Origin:
    """What a stored trace says it belongs to. changed: fields that neither variant nor scope sets."""

    variant: str
    scope: str
    config: ModelConfig
    changed: tuple[str, ...]


def store(path: Path, model: Model, origin: Origin, property: str, finding: Finding) -> None:
    """Write a trace file that `export trace` and `tlc` can read without knowing where it came from."""
    values: Mapping[str, Any] = config_values(origin.config)
    overrides = {key: values[key] for key in origin.changed}
    parts = (finding.states, finding.steps, overrides, finding.loop)
    trace = Trace(origin.variant, origin.scope, property, *parts)
    write_trace(path, trace, model.state_ty)


@dataclass(frozen=True)
class Replayed:
    """A replayed lasso. witness: the choice of the property's parameters, such as `b=1`.

    waits, loop: indices of the first state of the wait and of the cycle. There is one step for each
    state, the last one back to `loop`; or none after the last state, and the behaviour stops there.
    """

    states: tuple[Any, ...]
    steps: tuple[Step, ...]
    view: TraceView
    witness: str | None
    waits: int
    loop: int
