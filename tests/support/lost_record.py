"""A trace to read, replay and explain: without ELR, a record that only the leader has is committed and lost.

Fence(1)            the ISR becomes {0}
Produce(0, ALL)     r1 is appended, min ISR is 1
ApplyMetadata(0)    0 learns that the ISR is {0}: r1 is committed
Crash(0, keep=0)    the only copy is lost: P-8 breaks, and nothing else does
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from elrcheck.base.requests import Selection
from elrcheck.declared.select import resolve
from elrcheck.invariants.modules import load_checked_model
from elrcheck.lang.load import Model
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.lang.types import Ty
from elrcheck.model.state import Acks
from elrcheck.stored_traces.tracefile import write_trace
from elrcheck.traces.behaviour import Behaviour, TraceOrigin
from elrcheck.traces.loaded import Loaded

LEGACY = Selection("legacy", "two-brokers")
STORY = (Label("Fence", (1,)), Label("Produce", (0, Acks.ALL)), Label("ApplyMetadata", (0,)), Label("Crash", (0, 0)))
CALLS = ("Fence(b=1)", "Produce(leader=0, acks=ALL)", "ApplyMetadata(b=0)", "Crash(b=0, keep=0)")


def lost_record(model: Model | None = None) -> Loaded[Label]:
    """The story, told by the plain model."""
    model, selected = model or load_checked_model(), resolve(LEGACY)
    plain = PlainModel(model, selected.config)
    states = [plain.initial()]
    for label in STORY:
        states.append(plain.step(states[-1], label))
    behaviour = Behaviour(TraceOrigin.of(selected, "P-8"), tuple(states), STORY)
    return Loaded(model, selected.config, behaviour)


def stored(folder: Path, loaded: Loaded[Label]) -> Path:
    """The trace as `check` stores it."""
    path = folder / "P-8.trace.json"
    write_trace(path, loaded.behaviour, loaded.model.state_ty)
    return path


def tlc_value(ty: Ty, value: Any) -> Any:
    """A value as TLC's `-dumpTrace json` has it: no types, model values are strings, functions objects."""
    match ty.kind:
        case "enum":
            return value.name
        case "set":
            return sorted(value)
        case "opt":
            return "None" if value is None else tlc_value(ty.elem, value)
        case "seq":
            return [tlc_value(ty.elem, one) for one in value]
        case "vec":
            return {str(i): tlc_value(ty.elem, one) for i, one in enumerate(value)}
        case "record" | "state":
            return {name: tlc_value(t, getattr(value, name)) for name, t in ty.fields.items()}
    return value


def tlc_json(loaded: Loaded[Label]) -> dict[str, Any]:
    """The whole document; arguments are named by the module's binders, as TLC does."""
    ty = loaded.model.state_ty
    params = {fn.name: [name for name, _ in fn.params] for fn in loaded.model.actions}
    rows = [[i, tlc_value(ty, state)] for i, state in enumerate(loaded.behaviour.states, start=1)]
    steps = []
    for i, step in enumerate(loaded.behaviour.labels):
        names = params[step.action]
        context = {n: a.name if isinstance(a, Acks) else a for n, a in zip(names, step.args, strict=True)}
        about = {"name": step.action, "location": {"module": "M"}, "context": context, "parameters": names}
        steps.append([rows[i], about, rows[i + 1]])
    return {"counterexample": {"action": steps, "state": rows}, "vars": list(ty.fields)}
