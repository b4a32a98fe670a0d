"""A trace in another notation: TLA+ witness, ITF, JSON, Mermaid or DOT.

A trace is written as it is stored, even a damaged one, so that TLC can reject it; `traces.replay` checks traces here.
"""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from elrcheck.base.atomic import write_file
from elrcheck.base.errors import UsageFault
from elrcheck.base.typed.configuration import config_values
from elrcheck.lang.plain import Label
from elrcheck.report.plain_words import broker_count
from elrcheck.report.trace_diagrams import dot, mermaid
from elrcheck.stored_traces.tracefile import encode_argument, write_trace
from elrcheck.tla_export.reading.itf import write_itf
from elrcheck.tla_export.reading.values import show_call
from elrcheck.tla_export.spec import checked_name, module_name, write_spec
from elrcheck.tla_export.witness import Witness, WitnessProperty, write_witness
from elrcheck.traces.describe import trace_view
from elrcheck.traces.loaded import Loaded
from elrcheck.traces.truth import truths


def export_loaded(loaded: Loaded[Label], form: str, out: Path) -> tuple[Path, ...]:
    """Write a trace; return the paths of the files, first the one to run TLC on."""
    trace, origin, model = loaded.behaviour, loaded.behaviour.origin, loaded.model
    stem = f"{module_name(origin.variant, origin.scope)}_{origin.property or 'Trace'}".replace("-", "")
    if form == "tla":
        witness = write_trace_module(loaded, out)
        spec = out / f"{module_name(origin.variant, origin.scope)}.tla"
        return (witness.tla, witness.cfg, spec, spec.with_suffix(".cfg"))
    types = model.signatures
    calls = [show_call(label.action, label.args, types[label.action]) for label in trace.labels]
    if form == "itf":
        target = out / f"{stem}.itf.json"
        out.mkdir(parents=True, exist_ok=True)
        overrides = {key: encode_argument(value) for key, value in origin.overrides.items()}
        meta = {"variant": origin.variant, "scope": origin.scope, "overrides": overrides}
        meta |= {"property": origin.property}
        inner = calls[: len(trace.states) - 1]  # ITF has no place for the step that closes a cycle
        write_itf(target, model.state_ty, trace.states, inner, loop=trace.loop, meta=meta)
        return (target,)
    if form == "json":
        target = out / f"{stem}.trace.json"
        write_trace(target, trace, model.state_ty)
        return (target,)
    view = trace_view(model, trace.visited, trace.labels, "", trace.loop)
    if form == "mermaid":
        view = replace(view, truths=truths(model, loaded.config, trace.visited))
    text = mermaid(view, broker_count(config_values(loaded.config))) if form == "mermaid" else dot(view)
    target = out / f"{stem}.{'mmd' if form == 'mermaid' else 'dot'}"
    write_file(target, text)
    return (target,)


def write_trace_module(loaded: Loaded[Label], folder: Path, name: str | None = None) -> Witness:
    """Write the specification, and return the witness that extends it; raise UsageFault for a lasso."""
    trace, origin, model = loaded.behaviour, loaded.behaviour.origin, loaded.model
    if trace.loop is not None:
        raise UsageFault("trace-lasso", "an infinite trace has no TLA+ witness")
    spec_name = module_name(origin.variant, origin.scope)
    spec = write_spec(model, loaded.config, folder, spec_name)
    fn = loaded.property
    properties = []
    if fn is not None:
        operator = fn.name if fn.kind == "always" else checked_name(fn)
        properties.append(WitnessProperty(operator, "step" if fn.is_step else "state"))
    types = model.signatures
    return write_witness(
        folder,
        name or f"{spec_name}_{origin.property or 'Trace'}".replace("-", ""),
        spec_module=spec_name,
        variables=model.state_fields,
        states=trace.states,
        actions=[show_call(label.action, label.args, types[label.action]) for label in trace.labels],
        properties=properties,
        constants=spec.constants,
        init=model.init.name,
        taken=spec.taken,
        comment=f"{origin.property} in {origin.variant}, {origin.scope}",
    )
