"""Describes a state for the page: picture, enabled actions, and which properties hold; and a trace as a path."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Any

from elrcheck.base.documents import JSON_LIMIT, read_text
from elrcheck.base.errors import UsageFault
from elrcheck.commands.web.state_space import FollowedSpace, Path
from elrcheck.lang.ir import Fn
from elrcheck.lang.plain import Label
from elrcheck.report.html.html_sequence import diagram, sequence_html
from elrcheck.report.html.html_trace import picture_of, refusal_in_words
from elrcheck.results.web_answers import ChosenModel, EnabledAction, Judged, WebState, WebTrace
from elrcheck.stored_traces.recorded import recorded_text
from elrcheck.stored_traces.tracefile import CODES, encode_value
from elrcheck.traces.describe import arguments, because, changes, first_sentence, leaves, spelled, trace_view
from elrcheck.traces.loaded import NamedSelection, stored_traces
from elrcheck.traces.replay import replay
from elrcheck.traces.scenes import refused, rule, sentence
from elrcheck.traces.violation import explain
from elrcheck.traces.watched import watched


def web_state(space: FollowedSpace, path: Path, at: int, expressions: Sequence[str] = ()) -> WebState:
    """Return the state after `at` steps of a path, and the whole path around it.

    expressions: modelling language, evaluated in every state of the path.
    """
    ty, here = space.model.state_ty, path.upto(at)
    state, before = here.states[-1], here.states[-2] if at else None
    every = trace_view(space.model, path.states, path.labels, space.repro(path))
    sentences = (
        "",
        *(_sentence(space, *step) for step in zip(path.labels, path.states, path.states[1:], strict=False)),
    )
    lanes = diagram(every, getattr(space.config, "broker_count", 0), sentences)
    return WebState(
        model=chosen(space),
        path=space.words(path),
        repro=space.repro(here),
        at=at,
        steps=every.steps,
        sequence=sequence_html(lanes, "path", at),
        sentence=sentences[at],
        rule=rule(space.actions[path.labels[at - 1].action]) if at else "",
        violated=tuple(_ids(space, path, number) for number in range(len(path.states))),
        state=encode_value(ty, state),
        leaves=dict(leaves(state, ty)),
        picture=picture_of(space.drawing.drawn(state, state if before is None else before)),
        refused=tuple(map(refusal_in_words, refused(space.plain, state))),
        choices=tuple(_choices(space, state)),
        properties=tuple(_judged(space, fn, before, state) for fn in space.model.checks),
        beyond=not space.plain.within(state),
        watched=watched(space.model, space.config, path.states, expressions, "watch"),
        starts=len(space.starts),
    )


def chosen(space: FollowedSpace) -> ChosenModel:
    return ChosenModel(space.selected.variant, space.selected.scope, space.selection.overrides, space.start)


def _ids(space: FollowedSpace, path: Path, number: int) -> tuple[str, ...]:
    before = path.states[number - 1] if number else None
    return tuple(fn.ident for fn in space.false_after(before, path.states[number]))


def _choices(space: FollowedSpace, state: Any) -> Iterator[EnabledAction]:
    for index, (label, after) in enumerate(space.choices(state)):
        fn = space.actions[label.action]
        yield EnabledAction(
            index=index,
            action=label.action,
            arguments=arguments(fn, label.args),
            label=spelled(fn, label.args),
            step=space.word(label),
            because=because(fn, arguments(fn, label.args)),
            about=_sentence(space, label, state, after),
            source=fn.place,
            changes=changes(state, after, space.model.state_ty),
            violates=tuple(fn.ident for fn in space.false_after(state, after)),
            beyond=not space.plain.within(after),
        )


def _judged(space: FollowedSpace, fn: Fn, before: Any, state: Any) -> Judged:
    about, states = first_sentence(fn.doc), (before, state) if fn.is_step else (state,)
    if fn.is_step and before is None:
        return Judged(fn.ident, fn.name, "sometimes" if fn.kind == "sometimes" else "always", "not judged", about)
    if fn.kind == "sometimes":
        reached = space.plain.holds(fn, *states)
        return Judged(fn.ident, fn.name, "sometimes", "reached" if reached else "not reached", about)
    if all(fn.ident != other.ident for other in space.false_after(before, state)):
        return Judged(fn.ident, fn.name, "always", "holds", about)
    broken = explain(space.model, space.config, fn, states, before)
    return Judged(fn.ident, fn.name, "always", "violated", about, broken.conjunct, broken.witness)


def _sentence(space: FollowedSpace, label: Label, before: Any, after: Any) -> str:
    return sentence(space.drawing, space.actions[label.action], before, after, label)


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
    steps, refusal = list(followed.labels), None
    if followed.rejection is not None:
        number = followed.rejection.step
        refusal = f"the model does not follow step {number} of this trace: {followed.rejection.reason}"
        if number == 0:
            raise UsageFault("trace-rejected", refusal, where=name, help="it may have been recorded in another scope")
    return WebTrace(
        ChosenModel(selection.variant, selection.scope, selection.overrides, start),
        tuple(map(space.word, steps)),
        origin.property,
        refusal,
        followed.loop,
    )


def demand_packaged(text: str, name: str, allowed: Collection[str]) -> None:
    """Raise UsageFault if a trace names its scope by a file: a page must not read files of this machine."""
    try:
        trace = json.loads(text)
        meta = trace.get("#meta")  # of ITF
        scopes = [part.get("scope") for part in (trace, meta) if isinstance(part, dict)]
    except (ValueError, AttributeError, RecursionError):
        return  # not a trace that names a scope; its reader reports mistakes
    if any(isinstance(scope, str) and scope and scope not in allowed for scope in scopes):
        raise UsageFault(
            "web-scope",
            "the page cannot read the scope file that this trace names",
            where=name,
            help=f"start `elrcheck web --trace {name}`, which can read it",
        )
