"""Traces for the explorer: a file in any notation becomes a path."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path as FilePath

from elrcheck.base.documents import JSON_LIMIT, read_text
from elrcheck.base.errors import UsageFault
from elrcheck.commands.web.state_space import FollowedSpace
from elrcheck.results.web.web_answers import ChosenModel, WebTrace
from elrcheck.stored_traces.recorded import recorded_text
from elrcheck.stored_traces.tracefile import CODES
from elrcheck.traces.loaded import NamedSelection, stored_traces
from elrcheck.traces.replay import replay


def path_of_file(path: FilePath, named: NamedSelection) -> WebTrace:
    """Return the trace in a file that the command line names."""
    path = stored_traces(path)[0]
    return path_of_text(read_text(path, CODES, JSON_LIMIT), str(path), named)


def path_of_text(text: str, name: str, named: NamedSelection) -> WebTrace:
    """Return the part of a trace that the plain model follows, as a path of the explorer."""
    loaded = recorded_text(text, name, named)
    origin, followed = loaded.behaviour.origin, replay(loaded.model, loaded.config, loaded.behaviour)
    source = named.selection
    selection = replace(origin.selection(), model=source.model, patch=source.patch)
    starts = tuple(dict.fromkeys(followed.plain.starts))
    start = starts.index(followed.states[0]) if followed.states else 0
    space = FollowedSpace(selection, start)
    steps, refused = list(followed.labels), None
    if followed.rejection is not None:
        number = followed.rejection.step
        refused = f"the model does not follow step {number} of this trace: {followed.rejection.reason}"
        if number == 0:
            raise UsageFault("trace-rejected", refused, where=name, help="it may be of another scope")
    return WebTrace(
        ChosenModel(selection.variant, selection.scope, selection.overrides, start),
        tuple(map(space.word, steps)),
        origin.property,
        refused,
        followed.loop,
    )


def demand_packaged(text: str, name: str, allowed: Collection[str]) -> None:
    """Raise UsageFault if a trace names its scope by a file: a page must not read files of this machine."""
    try:
        scope = json.loads(text).get("scope", "")
    except (ValueError, AttributeError, RecursionError):
        return  # not a stored trace of elrcheck; its reader reports mistakes
    if isinstance(scope, str) and scope and scope not in allowed:
        raise UsageFault(
            "web-scope",
            "the page cannot read the scope file that this trace names",
            where=name,
            help=f"start `elrcheck web --trace {name}`, which can read it",
        )
