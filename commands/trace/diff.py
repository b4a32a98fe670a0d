"""`elrcheck trace diff`: show where two traces diverge, and how they differ from there on.

Steps and states are compared by number: the n-th of one trace with the n-th of the other.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from elrcheck.results.trace_reports import DiffRow, TraceDiffReport
from elrcheck.results.trace_view import Change
from elrcheck.traces.describe import leaves, spelled
from elrcheck.traces.replay import Replayed

ABSENT = "-"


def diff(a: Replayed, b: Replayed) -> TraceDiffReport:
    """Return where two traces differ, in configurations that may differ too."""
    calls_a, calls_b = _calls(a), _calls(b)
    config = _config(a, b)
    rows = tuple(_rows(a, b, calls_a, calls_b))
    common = rows[0].step - 1 if rows else max(len(calls_a), len(calls_b))
    same = not rows and not config and len(calls_a) == len(calls_b)
    return TraceDiffReport(
        verdict="same" if same else "different",
        a=a.origin,
        b=b.origin,
        steps_a=len(calls_a),
        steps_b=len(calls_b),
        common=max(0, common),
        config=config,
        rows=rows,
    )


def _rows(a: Replayed, b: Replayed, calls_a: list[str], calls_b: list[str]) -> Iterator[DiffRow]:
    pairs = itertools.zip_longest(["", *calls_a], ["", *calls_b])
    for number, (call_a, call_b) in enumerate(pairs):
        changed: tuple[Change, ...] = ()
        if call_a is not None and call_b is not None:
            changed = _leaves(a, b, number)
        if call_a != call_b or changed:
            yield DiffRow(number, call_a or None, call_b or None, changed)


def _leaves(a: Replayed, b: Replayed, number: int) -> tuple[Change, ...]:
    one, other = (dict(leaves(s.states[number], s.model.state_ty)) for s in (a, b))
    paths = [*one, *(path for path in other if path not in one)]
    pairs = ((path, one.get(path, ABSENT), other.get(path, ABSENT)) for path in paths)
    return tuple(Change(path, old, new) for path, old, new in pairs if old != new)


def _config(a: Replayed, b: Replayed) -> tuple[Change, ...]:
    names = (("variant", a.origin.variant, b.origin.variant), ("forever", _forever(a), _forever(b)))
    values = ((key, value, b.origin.config.get(key)) for key, value in a.origin.config.items())
    return tuple(Change(k, str(x), str(y)) for k, x, y in (*names, *values) if x != y)


def _forever(subject: Replayed) -> str:
    """Return the state to which a lasso returns; a trace that ends there has the same steps, and may break less."""
    return ABSENT if subject.loop is None else f"from state {subject.loop}"


def _calls(subject: Replayed) -> list[str]:
    actions = subject.model.actions_by_name
    return [spelled(actions[label.action], label.args) for label in subject.labels]
