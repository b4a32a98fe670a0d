"""The reference search: plain Python on the model's own functions.

Every other engine must produce the same counts. The search is breadth-first, level by level, so the first
trace it finds to anything is a shortest one.
"""

from __future__ import annotations

import time

from elrcheck.explorer.search.outcome import SearchOutcome
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.plain import PlainModel
from elrcheck.lang.runtime import ModelConfig
from elrcheck.lang.symmetry.renamed_values import all_renamings, renamed


def search(
    model: Model,
    config: ModelConfig,
    *,
    max_states: int | None = None,
    deadline: float | None = None,
    symmetry: bool = False,
) -> SearchOutcome:
    """Explore everything within the bound. The outcome is incomplete, without a reason, if a limit was reached.

    symmetry: the first state that is reached stands for its images under renaming of the members of symmetric sorts.
    """
    plain = PlainModel(model, config)
    result = SearchOutcome(complete=True, reason=None, generated=0, distinct=0, levels=(), seconds=0.0)
    started = time.monotonic()
    renamings = tuple(all_renamings(model.symmetric_sorts, config)) if symmetry else ()
    images: set[object] = set()

    def met_before(state: object) -> bool:
        """Return whether a state, or an image of it, has been reached; from now on it has."""
        if state in parents or state in images:
            return True
        images.update(renamed(state, model.state_ty, to) for to in renamings)
        return False

    parents: dict[object, object] = {}
    for start in plain.starts:
        if not met_before(start):
            parents[start] = None
    result.generated, result.distinct = len(plain.starts), len(parents)
    state_checks = [fn for fn in model.checks if not fn.is_step]
    step_checks = [fn for fn in model.checks if fn.is_step]

    def note(fn: Fn, depth: int, value: bool, *states: object) -> None:
        if value == (fn.kind == "sometimes") and fn.ident not in result.first:
            trace = _trace(parents, states[0])
            result.first[fn.ident] = depth
            result.traces[fn.ident] = (*trace, *states[1:])

    level, depth = list(parents), 0
    for fn in state_checks:
        for first in level:
            note(fn, 0, plain.holds(fn, first), first)
    while level:
        result.levels += (len(level),)
        depth += 1
        fresh: list[object] = []
        for state in level:
            enabled = False
            for label, after in plain.successors(state):
                enabled = True
                result.generated += 1
                result.enabled[label.action] = result.enabled.get(label.action, 0) + 1
                if not plain.within(after):
                    result.cut += 1
                    result.beyond[label.action] = result.beyond.get(label.action, 0) + 1
                    continue
                for fn in step_checks:
                    if fn.ident not in result.first:
                        note(fn, depth, plain.holds(fn, state, after), state, after)
                if met_before(after):
                    continue
                parents[after] = state
                fresh.append(after)
                result.distinct += 1
                result.new_states[label.action] = result.new_states.get(label.action, 0) + 1
                for fn in state_checks:
                    if fn.ident not in result.first:
                        note(fn, depth, plain.holds(fn, after), after)
            result.deadlocks += not enabled
            over = max_states is not None and result.distinct >= max_states
            if over or (deadline is not None and time.monotonic() > deadline):
                result.complete = False
                result.seconds = time.monotonic() - started
                return result
        level = fresh
    result.seconds = time.monotonic() - started
    return result


def _trace(parents: dict[object, object], state: object) -> tuple[object, ...]:
    path = []
    while state is not None:
        path.append(state)
        state = parents[state]
    return tuple(reversed(path))
