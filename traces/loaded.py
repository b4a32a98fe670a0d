"""Traces as files and action-index paths, with the model and configuration they belong to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elrcheck.base.errors import UsageFault, did_you_mean
from elrcheck.base.requests import Selection
from elrcheck.base.strict import Node
from elrcheck.catalogue.configuration import config_values
from elrcheck.catalogue.select import Selected, resolve
from elrcheck.invariants.modules import load_checked_model, load_whole_model
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.lang.runtime import ModelConfig
from elrcheck.lang.types import Ty
from elrcheck.traces.tracefile import (
    Step,
    Trace,
    TraceDocument,
    passed_states,
    read_trace,
)


@dataclass(frozen=True)
class Loaded:
    """A trace with the model and configuration it belongs to."""

    model: Model
    config: ModelConfig
    trace: Trace

    @property
    def property(self) -> Fn | None:
        """The property the trace is about, if the model has it."""
        every = (*self.model.always, *self.model.sometimes, *self.model.leads_to)
        return next((fn for fn in every if fn.ident == self.trace.property), None)


def stored_traces(path: Path) -> list[Path]:
    """A stored trace itself, or those of a run folder, violations first; UsageFault if there is none."""
    if not path.is_dir():
        return [path]
    found = sorted(path.glob("*.trace.json"), key=_by_number)
    if not found:
        raise UsageFault("no-trace", f"no stored trace in {path}", help="run `elrcheck check --run-dir`")
    return found


def load_trace(path: Path) -> Loaded:
    """A stored trace, or the first one of a run folder; UsageFault says what is wrong with it."""
    document = read_trace(stored_traces(path)[0])
    return load_document(document, resolve(stated(document)))


def stated(document: TraceDocument) -> Selection:
    """What a stored trace says it belongs to."""
    overrides = tuple(f"{key}={plain(value)}" for key, value in document.overrides.items())
    return Selection(document.variant, document.scope, overrides)


def load_document(document: TraceDocument, selected: Selected) -> Loaded:
    """A stored trace read under a configuration; UsageFault where a value does not fit it."""
    model = load_checked_model()
    if document.loop is not None:
        model = load_whole_model()
    signatures = {fn.name: [ty for _, ty in fn.params] for fn in model.actions}
    loaded = Loaded(model, selected.config, document.decode(model.state_ty, signatures))
    _check_sizes(loaded, document.root, signatures)
    if document.property and loaded.property is None:
        known = [fn.ident for fn in (*model.always, *model.sometimes, *model.leads_to)]
        document.root["property"].fail(
            f"unknown property `{document.property}`", help=did_you_mean(document.property, known)
        )
    return loaded


def _check_sizes(loaded: Loaded, root: Node, signatures: Mapping[str, Sequence[Ty]]) -> None:
    """UsageFault for a broker the configuration does not have, or one value too few: types cannot tell."""
    brokers, state = loaded.config.broker_count, loaded.model.state_ty
    for i, value in enumerate(loaded.trace.states):
        check_size(state, value, root["states"].inside(i), brokers)
    for i, step in enumerate(loaded.trace.steps):
        here = root["steps"].inside(i).inside("args")
        for k, (ty, value) in enumerate(zip(signatures[step.action], step.args, strict=True)):
            check_size(ty, value, here.inside(k), brokers)


def check_size(ty: Ty, value: Any, at: Node, brokers: int) -> None:
    """UsageFault for a value of this type that belongs to another number of brokers."""
    match ty.kind:
        case "replica" if value >= brokers:
            at.fail(f"there is no broker {value}, only 0 to {brokers - 1}")
        case "vec" if len(value) != brokers:
            at.fail(f"expected one value for each of {brokers} brokers, not {len(value)}")
        case "opt" if value is not None:
            check_size(ty.elem, value, at, brokers)
        case "set" | "vec" | "seq":
            for i, element in enumerate(sorted(value) if ty.kind == "set" else value):
                check_size(ty.elem, element, at.inside(i), brokers)
        case "record" | "state":
            for name, inner in ty.fields.items():
                check_size(inner, getattr(value, name), at.inside(name), brokers)


def _by_number(path: Path) -> tuple[str, int, str]:
    kind, _, rest = path.name.partition("-")
    digits = "".join(ch for ch in rest.split(".")[0] if ch.isdigit())
    return kind, int(digits or 0), path.name


def plain(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def trace_of_repro(repro: str, selection: Selection) -> Loaded:
    """The trace an action-index path stands for, and the first property its end violates."""
    selected = resolve(selection)
    model = load_checked_model()
    plain = PlainModel(model, selected.config)
    states, steps = [plain.initial()], []
    for number, word in enumerate(repro.split("/") if repro else [], start=1):
        choices = list(plain.successors(states[-1]))
        if not word.isdecimal() or len(word) > 6 or int(word) >= len(choices):
            raise UsageFault(
                "repro-index",
                f"step {number}: `{word}` is not one of the {len(choices)} possible actions",
                where=f"--repro {repro}",
                help="give what `repro` in a report says, such as 0/3/1, with its variant and scope",
            )
        label, after = choices[int(word)]
        steps.append(Step(label.action, label.args))
        states.append(after)
    ident = next((fn.ident for fn in model.always if _violated(plain, fn, states)), "")
    values = config_values(selected.config)
    overrides = {key: values[key] for key in selected.overrides}
    trace = Trace(selected.variant, selected.scope, ident, tuple(states), tuple(steps), overrides)
    return Loaded(model, selected.config, trace)


def _violated(plain: PlainModel, fn: Fn, states: list[Any]) -> bool:
    if fn.is_step:
        return len(states) > 1 and not plain.holds(fn, states[-2], states[-1])
    return not plain.holds(fn, states[-1])


def replayed(loaded: Loaded) -> int | None:
    """The number of the first step the plain model does not follow; None if it follows all."""
    plain, states = PlainModel(loaded.model, loaded.config), passed_states(loaded.trace)
    if states[0] != plain.initial():
        return 0
    for number, step in enumerate(loaded.trace.steps, start=1):
        label = Label(step.action, step.args)
        made = [after for known, after in plain.successors(states[number - 1]) if known == label]
        if made != [states[number]]:
            return number
    return None
