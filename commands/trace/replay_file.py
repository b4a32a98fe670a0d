"""`elrcheck replay`: decide whether a recorded trace is a behaviour of the model, and if not, why."""

from __future__ import annotations

from pathlib import Path

from elrcheck.lang.plain import PlainModel
from elrcheck.results.trace_reports import ReplayReport
from elrcheck.results.trace_view import TraceView
from elrcheck.traces.describe import trace_view
from elrcheck.traces.follow import follow, violations
from elrcheck.traces.recorded import Format, Given, read_recorded
from elrcheck.traces.subject import origin


def run_replay(path: Path, given: Given, form: Format | None = None) -> ReplayReport:
    """Replay a recorded trace; UsageFault if the file is not a trace, NothingChecked if it has no state."""
    found = read_recorded(path, given, form)
    plain = PlainModel(found.model, found.selected.config)
    followed = follow(plain, found.passed, found.names)
    rejected = followed.rejection is not None
    loop = None if rejected else found.loop
    view = TraceView()
    if followed.states:
        view = trace_view(found.model, followed.states, followed.labels, followed.repro, loop)
    closes = not rejected and len(followed.states) > len(found.states)
    return ReplayReport(
        verdict="rejected" if rejected else "accepted",
        origin=origin(found.path, found.selected, found.form, found.ident),
        states=len(found.states),
        accepted=len(followed.states) - closes,
        trace=view,
        rejection=followed.rejection,
        violated=violations(plain, followed.states),
        beyond=followed.beyond,
    )
