"""Traces in any notation, read into states of the model; the notation is told from the contents.

| format   | what it is                                          | told by                        |
| -------- | --------------------------------------------------- | ------------------------------ |
| elrcheck | our stored traces                                   | a key `schema`                 |
| itf      | ITF, as Apalache and Quint write it, and we         | keys `vars` and `states`       |
| tlc-json | TLC's `-dumpTrace json`                             | a key `counterexample`         |
| tlc-text | what TLC prints, with or without -tool, -difftrace  | lines `State 1: <..>`, a banner |

Nothing is evaluated. A file that is none of these, or has a value that does not fit, is a UsageFault
with the place; one without a single state is NothingChecked, since it would be accepted otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from elrcheck.base.documents import JSON_LIMIT, parse_json, read_text
from elrcheck.base.errors import NothingChecked, UsageFault
from elrcheck.base.requests import Selection
from elrcheck.base.strict import JsonSource, Node, shown
from elrcheck.catalogue.select import Selected, resolve
from elrcheck.invariants.modules import load_checked_model
from elrcheck.lang.load import Model
from elrcheck.tla_export.reading.itf import itf_trace
from elrcheck.tla_export.reading.parse import ValueSyntaxError
from elrcheck.tla_export.reading.tlc_output import STATE, TlcState, read_loop, read_states
from elrcheck.tla_export.reading.values import ValueMismatch, read_state
from elrcheck.traces.labels import Named, named
from elrcheck.traces.loaded import check_size, load_document, plain, stated, stored_traces
from elrcheck.traces.tlc_json import read_tlc_json
from elrcheck.traces.tracefile import CODES, trace_document

Format: TypeAlias = Literal["elrcheck", "itf", "tlc-json", "tlc-text"]
FORMATS: tuple[Format, ...] = get_args(Format)
FOREIGN = ("mbt::actionTaken", "mbt::nondetPicks", "cexPos", "cexBad")
"""Variables that Quint and our witness modules add."""
BANNER = re.compile(r"^(?:TLC2 Version|@!@!@STARTMSG)", re.MULTILINE)


@dataclass(frozen=True)
class Given:
    """What the command line says about the model; `named` are the options that were really given."""

    selection: Selection = field(default_factory=Selection)
    named: frozenset[str] = frozenset()

    def over(self, said: Selection) -> Selection:
        """What a file says, except where an option says otherwise; --set is added to the file's."""
        return Selection(
            self.selection.variant if "variant" in self.named or not said.variant else said.variant,
            self.selection.scope if "scope" in self.named or not said.scope else said.scope,
            (*said.overrides, *self.selection.overrides),
        )


@dataclass(frozen=True)
class Recorded:
    """A trace as it was recorded; nothing has been replayed.

    ident: the property that the file says it is about, if any.
    names[i]: what the file calls the step to states[i + 1]; a lasso has one more, back to states[loop].
    """

    path: str
    form: Format
    model: Model
    selected: Selected
    states: tuple[Any, ...]
    names: tuple[Named | None, ...]
    loop: int | None = None
    ident: str = ""

    @property
    def passed(self) -> tuple[Any, ...]:
        """One state more than there are steps."""
        closes = self.loop is not None and len(self.names) == len(self.states)
        return (*self.states, self.states[self.loop or 0]) if closes else self.states


def read_recorded(path: Path, given: Given, form: Format | None = None) -> Recorded:
    """The trace in a file, or the first one of a run folder."""
    path = stored_traces(path)[0]
    text = read_text(path, CODES, JSON_LIMIT)
    if not text.strip():
        raise _nothing(path, "the file is empty")
    as_json = form != "tlc-text" and (form is not None or text.lstrip().startswith(("{", "[")))
    if not as_json:
        _reject_other_text(text, path, form)
        return _tlc_text(text, str(path), given)
    root = parse_json(text, str(path), CODES)
    match form or _told(root):
        case "itf":
            return _itf(root, given)
        case "tlc-json":
            return _tlc_json(root, given)
        case _:
            return _ours(root, given)


def _told(root: Node) -> Format:
    what = shown(root.value)
    if isinstance(root.value, dict):
        if "schema" in root:
            return "elrcheck"
        if "counterexample" in root:
            return "tlc-json"
        if "states" in root and "vars" in root:
            return "itf"
        what = "an object without `schema`, `counterexample` or `states`"
    root.fail(f"not a trace: {what}", f"formats: {', '.join(FORMATS)}")


def _reject_other_text(text: str, path: Path, form: Format | None) -> None:
    """UsageFault unless the text is what TLC prints, or is said to be."""
    lines = text.splitlines()
    if form is not None or BANNER.search(text) or any(STATE.match(line) for line in lines):
        return
    first = next(number for number, line in enumerate(lines, start=1) if line.strip())
    begins = lines[first - 1].strip()
    begins = begins if len(begins) <= 60 else begins[:57] + "..."
    raise UsageFault(
        CODES.bad_value, f"not a trace: neither JSON nor the output of TLC: {begins!r}",
        where=f"{path}:{first}",
        help=f"formats: {', '.join(FORMATS)}",
    )  # fmt: skip


def _nothing(path: Path | str, why: str) -> NothingChecked:
    return NothingChecked(
        "empty-trace", f"there is no state to replay: {why}", where=str(path),
        help="a trace without states would be accepted whatever was recorded",
    )  # fmt: skip


def _refuse_empty(root: Node, *keys: str) -> None:
    """NothingChecked when the list of states is there and has none."""
    raw = root.value
    for key in keys:
        raw = raw.get(key) if isinstance(raw, dict) else None
    if raw == []:
        raise _nothing(root.source.name, f"`{'.'.join(keys)}` is an empty list")


def _actions(model: Model) -> dict[str, Any]:
    return {fn.name: fn for fn in model.actions}


# ---------------------------------------------------------------------------- formats


def _ours(root: Node, given: Given) -> Recorded:
    if isinstance(root.value, dict) and isinstance(root.value.get("schema"), str):
        _refuse_empty(root, "states")
    document = trace_document(root)
    selected = resolve(given.over(stated(document)))
    loaded = load_document(document, selected)
    trace = loaded.trace
    names = tuple(Named(step.action, step.args) for step in trace.steps)
    return Recorded(
        root.source.name, "elrcheck", loaded.model, selected, trace.states, names, trace.loop, trace.property
    )


def _itf(root: Node, given: Given) -> Recorded:
    _refuse_empty(root, "states")
    model = load_checked_model()
    found = itf_trace(root, model.state_ty, ignore=FOREIGN)
    said = found.meta
    selected = resolve(given.over(_said(said)))
    for i, state in enumerate(found.states):
        check_size(model.state_ty, state, root["states"].inside(i), selected.config.broker_count)
    names = [named(text, _actions(model), selected.config.broker_count) for text in found.actions]
    # ITF has no place for the name of the step that closes a cycle.
    closing = [None] if found.loop is not None and found.loop < len(found.states) - 1 else []
    ident = said.get("property", "")
    return Recorded(
        root.source.name, "itf", model, selected, found.states, (*names, *closing), found.loop,
        ident if isinstance(ident, str) else "",
    )  # fmt: skip


def _said(meta: Mapping[str, Any]) -> Selection:
    """What our own ITF export notes about the model; files of others say nothing."""
    texts = [meta.get(key, "") if isinstance(meta.get(key, ""), str) else "" for key in ("variant", "scope")]
    overrides = meta.get("overrides")
    values = overrides if isinstance(overrides, dict) else {}
    pairs = tuple(f"{key}={plain(value)}" for key, value in values.items())
    return Selection(texts[0], texts[1], pairs)


def _tlc_json(root: Node, given: Given) -> Recorded:
    _refuse_empty(root, "counterexample", "state")
    model, selected = load_checked_model(), resolve(given.selection)
    found = read_tlc_json(root, model.state_ty, _actions(model), FOREIGN)
    here = root["counterexample"]["state"]
    for i, state in enumerate(found.states):
        check_size(model.state_ty, state, here.inside(i).inside(1), selected.config.broker_count)
    return Recorded(root.source.name, "tlc-json", model, selected, found.states, found.names, found.loop)


def _tlc_text(text: str, name: str, given: Given) -> Recorded:
    model, selected = load_checked_model(), resolve(given.selection)
    lines = text.splitlines()
    try:
        shown, loop = _first_trace(list(read_states(lines))), read_loop(lines)
    except ValueSyntaxError as fault:
        raise UsageFault(CODES.bad_value, f"not a TLA+ value: {fault}", where=name) from fault
    except ValueError as fault:  # a number of thousands of digits
        raise UsageFault(CODES.bad_value, f"not a number of a state: {fault}", where=name) from fault
    if not shown:
        raise _nothing(name, "TLC printed no trace")
    states = []
    for state in shown:
        place = Node(None, JsonSource(name, CODES, root=f"state {state.number}"))
        try:
            made = read_state(model.state_ty, state.variables, ignore=FOREIGN)
        except ValueMismatch as fault:
            path = f".{fault.path}" if fault.path else ""
            raise UsageFault(CODES.bad_value, fault.why, where=f"{place.where}{path}") from fault
        check_size(model.state_ty, made, place, selected.config.broker_count)
        states.append(made)
    names = [named(s.action, _actions(model), selected.config.broker_count) for s in shown[1:]]
    back = loop - 1 if loop is not None and 1 <= loop <= len(states) else None
    closing = [None] if back is not None and back < len(states) - 1 else []
    return Recorded(name, "tlc-text", model, selected, tuple(states), (*names, *closing), back)


def _first_trace(states: list[TlcState]) -> list[TlcState]:
    """The first of several traces (-continue), with what -difftrace leaves out put back."""
    made: list[TlcState] = []
    for state in states:
        if state.number != len(made) + 1:
            break
        known = made[-1].variables if made else {}
        made.append(replace(state, variables={**known, **state.variables}))
    return made
