"""The trace that a command works on: read from a file or an action-index path, and replayed.

Commands accept only traces that the plain model follows to the end; `replay` examines any other file.
"""

from __future__ import annotations

from pathlib import Path

from elrcheck.base.errors import UsageFault
from elrcheck.base.requests import Selection
from elrcheck.declared.select import resolve
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.stored_traces.recorded import Format, read_recorded
from elrcheck.traces.behaviour import Behaviour, TraceOrigin
from elrcheck.traces.loaded import NamedSelection
from elrcheck.traces.replay import Replayed, replay
from elrcheck.traces.truth import first_violated


def subject_of(path: Path | None, repro: str | None, named: NamedSelection, form: Format | None = None) -> Replayed:
    """Load the trace of a file or of an action-index path; raise UsageFault unless exactly one is given."""
    if (path is None) == (repro is None):
        raise UsageFault("usage-missing", "give either FILE or --repro", help="see --help")
    if path is None:
        return of_repro(repro or "", named.selection)
    loaded = read_recorded(path, named, form)
    followed = replay(loaded.model, loaded.config, loaded.behaviour)
    missing = loaded.behaviour.origin.missing
    if followed.rejection is not None:
        raise UsageFault(
            "trace-rejected",
            f"the model does not follow this trace: step {followed.rejection.step}: {followed.rejection.reason}",
            where=loaded.behaviour.origin.source,
            help=f"see `elrcheck replay {path}`" if missing is None else f"it was stored with {missing}: repeat that",
        )
    return followed


def of_repro(repro: str, selection: Selection) -> Replayed:
    """Build the trace of an action-index path, and find the first property violated at its end."""
    selected = resolve(selection)
    model = selected.declared.checked()
    plain = PlainModel(model, selected.config)
    states, labels = [plain.initial()], list[Label]()
    for number, word in enumerate(repro.split("/") if repro else [], start=1):
        choices = list(plain.successors(states[-1]))
        if not word.isdecimal() or len(word) > 6 or int(word) >= len(choices):
            raise UsageFault(
                "repro-index",
                f"step {number}: `{word}` is not one of the {len(choices)} possible actions",
                where=f"--repro {repro}",
                help="give the `repro` of a report, such as 0/3/1, with its variant and scope",
            )
        label, after = choices[int(word)]
        labels.append(label)
        states.append(after)
    origin = TraceOrigin.of(selected, first_violated(plain, states), f"--repro {repro}")
    behaviour = Behaviour(origin, tuple(states), tuple(labels))
    return Replayed(model, selected.config, behaviour, behaviour.labels)
