"""`elrcheck replay`: decide whether a recorded trace is a behaviour of the model, and if not, why."""

from __future__ import annotations

from pathlib import Path

from elrcheck.results.trace_reports import ReplayReport
from elrcheck.stored_traces.recorded import Format, read_recorded
from elrcheck.traces.loaded import NamedSelection
from elrcheck.traces.replay import replay
from elrcheck.traces.truth import violations


def run_replay(path: Path, named: NamedSelection, form: Format | None = None) -> ReplayReport:
    """Return the replay of a recorded trace.

    Raises UsageFault if the file is not a trace, NothingChecked if it has no state.
    """
    loaded = read_recorded(path, named, form)
    replayed = replay(loaded.model, loaded.config, loaded.behaviour)
    rejected, recorded = replayed.rejection is not None, len(loaded.behaviour.states)
    return ReplayReport(
        verdict="rejected" if rejected else "accepted",
        origin=replayed.origin,
        states=recorded,
        accepted=min(recorded, len(replayed.states)),
        trace=replayed.view,
        rejection=replayed.rejection,
        violated=violations(replayed.plain, replayed.states),
        beyond=replayed.beyond,
    )
