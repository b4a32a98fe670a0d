"""The trace a command is about: of a file or an action-index path, followed to its end.

Whatever a trace is taken for, it has been followed by the plain model first: a file that the model does
not follow is shown by `replay` only.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elrcheck.base.errors import UsageFault
from elrcheck.catalogue.configuration import config_values
from elrcheck.catalogue.select import Selected
from elrcheck.lang.load import Model
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.results.trace_reports import Origin
from elrcheck.results.trace_view import TraceView
from elrcheck.traces.describe import trace_view
from elrcheck.traces.follow import follow
from elrcheck.traces.loaded import Loaded, trace_of_repro
from elrcheck.traces.recorded import Format, Given, read_recorded
from elrcheck.traces.tracefile import Step, Trace


@dataclass(frozen=True)
class Subject:
    """A trace that the model follows. states: one more than steps, also of a lasso."""

    origin: Origin
    model: Model
    selected: Selected
    states: tuple[Any, ...]
    labels: tuple[Label, ...]
    repro: str
    loop: int | None = None

    @property
    def plain(self) -> PlainModel:
        return PlainModel(self.model, self.selected.config)

    @property
    def view(self) -> TraceView:
        return trace_view(self.model, self.states, self.labels, self.repro, self.loop)

    @property
    def loaded(self) -> Loaded:
        """As a trace that can be stored and exported."""
        chosen, closes = self.selected, self.loop is not None and self.loop < len(self.labels)
        steps = tuple(Step(label.action, label.args) for label in self.labels)
        states = self.states[:-1] if closes else self.states
        about = (chosen.variant, chosen.scope, self.origin.property or "")
        trace = Trace(*about, states, steps, dict(chosen.overrides), self.loop)
        return Loaded(self.model, chosen.config, trace)


def origin(source: str, selected: Selected, form: str | None = None, ident: str = "") -> Origin:
    """Where a trace comes from, for a report."""
    values = config_values(selected.config)
    return Origin(source, selected.variant, selected.scope, values, form, ident or None)


def subject_of(
    path: Path | None, repro: str | None, given: Given, form: Format | None = None
) -> Subject:
    """The trace of a file or of a path of action indices; UsageFault if there is neither or both."""
    if (path is None) == (repro is None):
        raise UsageFault("usage-missing", "give either FILE or --repro", help="see --help")
    if path is None:
        return of_repro(repro or "", given)
    found = read_recorded(path, given, form)
    plain = PlainModel(found.model, found.selected.config)
    followed = follow(plain, found.passed, found.names)
    if followed.rejection is not None:
        raise UsageFault(
            "trace-rejected",
            f"the model does not follow this trace: step {followed.rejection.step}: "
            f"{followed.rejection.reason}",
            where=found.path, help=f"see `elrcheck replay {path}`",
        )  # fmt: skip
    about = origin(found.path, found.selected, found.form, found.ident)
    parts = (found.selected, followed.states, followed.labels, followed.repro, found.loop)
    return Subject(about, found.model, *parts)


def of_repro(repro: str, given: Given) -> Subject:
    """The trace that an action-index path stands for."""
    from elrcheck.catalogue.select import resolve

    selected = resolve(given.selection)
    loaded = trace_of_repro(repro, given.selection)
    trace = loaded.trace
    labels = tuple(Label(step.action, step.args) for step in trace.steps)
    about = origin(f"--repro {repro}", selected, None, trace.property)
    return Subject(about, loaded.model, selected, trace.states, labels, repro)
