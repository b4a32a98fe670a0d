"""Reads traces in any notation into a `Behaviour`; the contents determine the notation.

| format   | contents                                            | recognised by                  |
| -------- | --------------------------------------------------- | ------------------------------ |
| elrcheck | our stored traces                                   | a key `schema`                 |
| itf      | ITF, as written by Apalache, Quint and elrcheck     | keys `vars` and `states`       |
| tlc-json | TLC's `-dumpTrace json`                             | a key `counterexample`         |
| tlc-text | what TLC prints, with or without -tool, -difftrace  | lines `State 1: <..>`, a banner |

In TLC, ITF and Quint the label of a step is plain text: `Fetch(1, 0, FALSE)`, `Fetch(f=1, leader=0)` or only `Fetch`.
One that names no action of the model (`Next`, `Initial predicate`, `CexStep`) allows any action; one without arguments
allows any arguments.

Nothing is evaluated. An unrecognised file, or a value of the wrong type, is a UsageFault that names the
place; a trace without states is NothingChecked, since a replay would accept it. Commands other than `replay` accept
only traces that the plain model follows to the end (`subject_of`).
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from elrcheck.base.documents import JSON_LIMIT, parse_json, read_text
from elrcheck.base.errors import NothingChecked, UsageFault, did_you_mean
from elrcheck.base.printable import shortened
from elrcheck.base.requests import Selection
from elrcheck.base.strict import JsonSource, Node, format_value
from elrcheck.declared.select import Selected, resolve
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.stored_traces.tracefile import CODES, loaded_trace
from elrcheck.stored_traces.written_values import Unreadable, read_call, words_of
from elrcheck.tla_export.reading.itf import itf_states
from elrcheck.tla_export.reading.parse import ValueSyntaxError, parse
from elrcheck.tla_export.reading.tlc_output import STATE, TlcState, read_loop, read_states
from elrcheck.tla_export.reading.values import ValueMismatch, read, read_state
from elrcheck.traces.behaviour import Behaviour, RecordedStep, TraceOrigin
from elrcheck.traces.loaded import Loaded, NamedSelection, check_size, stored_traces
from elrcheck.traces.replay import Replayed, replay
from elrcheck.traces.tlc_json import read_tlc_json
from elrcheck.traces.truth import first_violated

LABEL = re.compile(r"\s*(\w+)\s*(?:\((.*)\))?\s*", re.DOTALL)


def action_of(text: str | None, actions: Mapping[str, Fn], config: Any) -> RecordedStep:
    """Return the action that a label names, with its arguments if given; None if the model has no such action."""
    match = LABEL.fullmatch(text) if text else None
    if match is None or match[1] not in actions:
        return None
    if match[2] is None:
        return match[1] if actions[match[1]].params else Label(match[1], ())
    try:
        return Label(match[1], arguments(match[0], actions, config))
    except (Unreadable, ValueMismatch, ValueSyntaxError):
        return match[1]


def arguments(call: str, actions: Mapping[str, Fn], config: Any) -> tuple[Any, ...]:
    """Parse the arguments of a call, given by name or by position.

    Raise Unreadable, ValueMismatch or ValueSyntaxError if they do not match the action's parameters.
    """
    name, _, inside = call.strip().removesuffix(")").partition("(")
    if "=" in inside:
        return read_call(call, actions, config).args
    params = actions[name.strip()].params
    words = words_of(inside)
    if len(words) == len(params):
        named = ", ".join(f"{param}={word.strip()}" for (param, _), word in zip(params, words, strict=True))
        with contextlib.suppress(Unreadable):  # then it may be TLA+
            return read_call(f"{name}({named})", actions, config).args
    types = [ty for _, ty in params]
    values = parse(f"<<{inside}>>")
    assert isinstance(values, tuple)
    if len(values) != len(types):
        raise Unreadable(f"{name} takes {len(types)} arguments, found {len(values)}")
    return tuple(read(ty, value) for ty, value in zip(types, values, strict=True))


def parse_action(text: str, model: Model, config: Any) -> Label | str:
    """Parse an action written by a user; raise UsageFault if it is malformed or does not exist."""
    actions = model.actions_by_name
    match = LABEL.fullmatch(text)
    if match is None:
        help = "write Fetch or Fetch(f=1, leader=0)"
        raise UsageFault("bad-action", f"`{text}` is not an action", help=help)
    name = next((each for each in actions if each.lower() == match[1].lower()), None)
    if name is None:
        raise UsageFault("unknown-action", f"unknown action `{match[1]}`", help=did_you_mean(match[1], actions))
    if match[2] is None:
        return name
    fn = actions[name]
    try:
        return Label(name, arguments(f"{name}({match[2]})", actions, config))
    except (Unreadable, ValueMismatch, ValueSyntaxError) as fault:
        words = ", ".join(param for param, _ in fn.params)
        raise UsageFault("bad-action", str(fault), where=text, help=f"{name} takes ({words})") from fault


Format: TypeAlias = Literal["elrcheck", "itf", "tlc-json", "tlc-text"]
FORMATS: tuple[Format, ...] = get_args(Format)
FOREIGN = ("mbt::actionTaken", "mbt::nondetPicks", "cexPos", "cexBad")
"""Variables added by Quint and by exported witness modules."""
BANNER = re.compile(r"^(?:TLC2 Version|@!@!@STARTMSG)", re.MULTILINE)


def read_recorded(path: Path, named: NamedSelection, form: Format | None = None) -> Loaded[RecordedStep]:
    """Read the trace in a file, or the first one of a run folder."""
    path = stored_traces(path)[0]
    return recorded_text(read_text(path, CODES, JSON_LIMIT), str(path), named, form)


def recorded_text(text: str, name: str, named: NamedSelection, form: Format | None = None) -> Loaded[RecordedStep]:
    """Read the trace in a text. name: of the text, for errors."""
    if not text.strip():
        raise _empty_trace(name, "the file is empty")
    as_json = form != "tlc-text" and (form is not None or text.lstrip().startswith(("{", "[")))
    if not as_json:
        _reject_other_text(text, name, form)
        return _tlc_text(text, name, named)
    root = parse_json(text, name, CODES)
    match form or _detect_format(root):
        case "itf":
            return _itf(root, named)
        case "tlc-json":
            return _tlc_json(root, named)
        case _:
            return _stored(root, named)


def _detect_format(root: Node) -> Format:
    what = format_value(root.value)
    if isinstance(root.value, dict):
        if "schema" in root:
            return "elrcheck"
        if "counterexample" in root:
            return "tlc-json"
        if "states" in root and "vars" in root:
            return "itf"
        what = "an object without `schema`, `counterexample` or `states`"
    root.fail(f"not a trace: {what}", f"formats: {', '.join(FORMATS)}")


def _reject_other_text(text: str, name: str, form: Format | None) -> None:
    """Raise UsageFault unless the text looks like TLC's output or the user names a format."""
    lines = text.splitlines()
    if form is not None or BANNER.search(text) or any(STATE.match(line) for line in lines):
        return
    first = next(number for number, line in enumerate(lines, start=1) if line.strip())
    begins = shortened(lines[first - 1].strip())
    raise UsageFault(
        CODES.bad_value,
        f"not a trace: neither JSON nor the output of TLC: {begins!r}",
        where=f"{name}:{first}",
        help=f"formats: {', '.join(FORMATS)}",
    )


def _empty_trace(name: str, why: str) -> NothingChecked:
    return NothingChecked(
        "empty-trace",
        f"there is no state to replay: {why}",
        where=name,
        help="a trace without states would be accepted whatever was recorded",
    )


def _refuse_empty(root: Node, *keys: str) -> None:
    """Raise NothingChecked when the list of states exists but is empty."""
    raw = root.value
    for key in keys:
        raw = raw.get(key) if isinstance(raw, dict) else None
    if raw == []:
        raise _empty_trace(root.source.name, f"`{'.'.join(keys)}` is an empty list")


# ---------------------------------------------------------------------------- formats


def _stored(root: Node, named: NamedSelection) -> Loaded[RecordedStep]:
    if isinstance(root.value, dict) and isinstance(root.value.get("schema"), str):
        _refuse_empty(root, "states")
    return loaded_trace(root, named)


def _itf(root: Node, named: NamedSelection) -> Loaded[RecordedStep]:
    _refuse_empty(root, "states")
    about = root.get("#meta").value
    meta = about if isinstance(about, dict) else {}
    selected = resolve(named.over(_exported_selection(meta)))
    model = selected.declared.checked()
    states, actions, loop = itf_states(root, model.state_ty, ignore=FOREIGN)
    for i, state in enumerate(states):
        check_size(model.state_ty, state, root["states"].inside(i), selected.config)
    ident = meta.get("property", "")
    origin = TraceOrigin.of(selected, ident if isinstance(ident, str) else "", root.source.name, "itf")
    labels = [action_of(text, model.actions_by_name, selected.config) for text in actions]
    return _loaded(selected, _behaviour(origin, states, labels, loop))


def _exported_selection(meta: Mapping[str, Any]) -> Selection:
    """Read the model selection that elrcheck's ITF export records; files of other tools have none."""
    texts = [meta.get(key, "") if isinstance(meta.get(key, ""), str) else "" for key in ("variant", "scope")]
    overrides = meta.get("overrides")
    return TraceOrigin(texts[0], texts[1], overrides if isinstance(overrides, dict) else {}).selection()


def _tlc_json(root: Node, named: NamedSelection) -> Loaded[RecordedStep]:
    _refuse_empty(root, "counterexample", "state")
    selected = resolve(named.selection)
    model = selected.declared.checked()
    origin = TraceOrigin.of(selected, source=root.source.name, form="tlc-json")
    behaviour = read_tlc_json(root, model.state_ty, model.actions_by_name, FOREIGN, origin)
    here = root["counterexample"]["state"]
    for i, state in enumerate(behaviour.states):
        check_size(model.state_ty, state, here.inside(i).inside(1), selected.config)
    return _loaded(selected, behaviour)


def _tlc_text(text: str, name: str, named: NamedSelection) -> Loaded[RecordedStep]:
    selected = resolve(named.selection)
    model = selected.declared.checked()
    lines = text.splitlines()
    try:
        printed, loop = _first_trace(list(read_states(lines))), read_loop(lines)
    except ValueSyntaxError as fault:
        raise UsageFault(CODES.bad_value, f"not a TLA+ value: {fault}", where=name) from fault
    except ValueError as fault:  # a number of thousands of digits
        raise UsageFault(CODES.bad_value, f"not a number of a state: {fault}", where=name) from fault
    if not printed:
        raise _empty_trace(name, "TLC printed no trace")
    states = []
    for state in printed:
        place = Node(None, JsonSource(name, CODES, root=f"state {state.number}"))
        try:
            value = read_state(model.state_ty, state.variables, ignore=FOREIGN)
        except ValueMismatch as fault:
            path = f".{fault.path}" if fault.path else ""
            raise UsageFault(CODES.bad_value, fault.why, where=f"{place.where}{path}") from fault
        check_size(model.state_ty, value, place, selected.config)
        states.append(value)
    labels = [action_of(s.action, model.actions_by_name, selected.config) for s in printed[1:]]
    back = loop - 1 if loop is not None and 1 <= loop <= len(states) else None
    origin = TraceOrigin.of(selected, source=name, form="tlc-text")
    return _loaded(selected, _behaviour(origin, states, labels, back))


def _loaded(selected: Selected, behaviour: Behaviour[RecordedStep]) -> Loaded[RecordedStep]:
    """Return a trace with its model, which has liveness properties if the trace is a lasso."""
    model = selected.declared.checked() if behaviour.loop is None else selected.declared.whole()
    return Loaded(model, selected.config, behaviour)


def _behaviour(
    origin: TraceOrigin, states: Sequence[Any], labels: Sequence[RecordedStep], loop: int | None
) -> Behaviour[RecordedStep]:
    """Build a behaviour from a notation that cannot name the step that closes a cycle."""
    closing = [None] if loop is not None and loop < len(states) - 1 else []
    return Behaviour(origin, tuple(states), (*labels, *closing), loop)


def _first_trace(states: list[TlcState]) -> list[TlcState]:
    """Return the first of several traces (-continue), with the values omitted by -difftrace restored."""
    trace: list[TlcState] = []
    for state in states:
        if state.number != len(trace) + 1:
            break
        before = trace[-1].variables if trace else {}
        trace.append(replace(state, variables={**before, **state.variables}))
    return trace


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
