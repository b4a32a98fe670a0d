"""Uses the answer of an earlier search of the same program instead of searching again.

A stored answer (`explorer/search/kept_searches.py`) has packed leaves and digests. It becomes the outcome that a
search of the present model would have, once the plain model has followed every trace in it; otherwise it is refused.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from elrcheck.base.kept.age import KeptOrigin
from elrcheck.base.requests import CheckRequest
from elrcheck.explorer.search.kept_searches import STOPPED, CheckAnswer, KeptSearch, SearchLookup
from elrcheck.explorer.search.outcome import SearchOutcome
from elrcheck.lang.ir import Fn
from elrcheck.lang.lowering.lowered import Lowered
from elrcheck.lang.lowering.program import Program

Rows: TypeAlias = Sequence[tuple[int, ...]]
COMMON = tuple(name for name in KeptSearch.__struct_fields__ if name != "checks")
"""The fields that a stored answer and an outcome share."""


def question_of(request: CheckRequest, program: Program) -> SearchLookup | None:
    """Return the lookup for a request that a stored answer may answer, else None.

    Such a request is of the local engine, with whole states, from the start, and without a depth limit.
    """
    if (
        not request.kept
        or request.engine != "local"
        or request.fingerprint
        or request.resume is not None
        or request.limits.max_depth is not None
    ):
        return None
    return SearchLookup(program, "first" if request.stop_at_first else "complete", request.fresh)


def find_outcome(
    question: SearchLookup, lowered: Lowered, chosen: Sequence[Fn], request: CheckRequest
) -> SearchOutcome | None:
    """Return the outcome of an earlier search, with all traces that this request needs; None without one."""
    entry = question.find()
    limit = request.limits.max_states
    if entry is None or (limit is not None and entry.value.distinct >= limit):
        return None
    checks = [entry.value.checks[digest] for digest in question.digest.checks]
    outcome = _outcome(entry.value, entry.origin, checks, lowered.program)
    functions = {fn.ident: fn for fn in chosen}
    for check, answer in zip(lowered.program.checks, checks, strict=True):
        needed = check.kind == "always" or request.run_dir is not None
        if answer.depth is None:
            if answer.trace is not None:
                question.refuse(entry)
                return None
        elif answer.trace is None:
            if needed:
                return None  # the earlier search did not need it
        else:
            states = _replayed(answer, lowered, functions[check.name])
            if states is None:
                question.refuse(entry)
                return None
            if needed:
                outcome.traces[check.name] = states
    return outcome


def _replayed(answer: CheckAnswer, lowered: Lowered, fn: Fn) -> tuple[Any, ...] | None:
    """Return the states of a stored trace; None if the plain model does not follow it to a hit at that depth."""
    from elrcheck.traces.replay import ReplayError, replay_finding

    trace = answer.trace or ()
    steps = len(trace) - 1
    if not _in_range(trace, lowered.program) or steps != answer.depth:
        return None
    states = tuple(lowered.decode(row) for row in trace)
    try:
        replay_finding(lowered.model, lowered.config, fn, states)
    except ReplayError:
        return None
    return states


def keep_outcome(question: SearchLookup, outcome: SearchOutcome, traces: Mapping[int, Rows]) -> None:
    """Store an outcome that does not depend on limits. traces: by the number of the check."""
    if not outcome.complete and outcome.reason != STOPPED:
        return
    checks = [
        CheckAnswer(outcome.first.get(check.name), tuple(traces[number]) if number in traces else None)
        for number, check in enumerate(question.program.checks)
    ]
    answer = KeptSearch(**{name: getattr(outcome, name) for name in COMMON})
    question.keep(answer, checks)


def _outcome(answer: KeptSearch, origin: KeptOrigin, checks: Sequence[CheckAnswer], program: Program) -> SearchOutcome:
    depths = zip(program.checks, checks, strict=True)
    return SearchOutcome(
        complete=answer.reason is None,
        detail=f"{len(program.instances)} action instances, kept from an earlier search of the same program",
        first={check.name: one.depth for check, one in depths if one.depth is not None},
        kept=origin,
        **{name: copy.copy(getattr(answer, name)) for name in COMMON},
    )


def _in_range(trace: Rows, program: Program) -> bool:
    """Return whether every row of a trace has a value in range for each leaf."""
    ranges = [range(leaf.lo, leaf.hi + 1) for leaf in program.leaves]
    return len(trace) > 0 and all(
        len(row) == len(ranges) and all(value in room for value, room in zip(row, ranges, strict=True)) for row in trace
    )
