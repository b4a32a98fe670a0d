"""Kept answers of searches: found for the same program only, and only if their numbers fit together."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from elrcheck.base.kept import named_digests as digests
from elrcheck.explorer.search.kept_searches import CheckAnswer, KeptSearch, Mode, SearchLookup
from elrcheck.lang.lowering.program import Program
from support.small_programs import counter

pytestmark = pytest.mark.usefixtures("own_store")

WHOLE: dict[str, Any] = {
    "reason": None,
    "generated": 6,
    "distinct": 6,
    "levels": (1,) * 6,
    "seconds": 0.5,
    "bytes_per_state": 40,
    "peak_bytes": 1,
    "workers": 1,
    "cut": 0,
    "deadlocks": 1,
    "enabled": {"Up": 5},
    "new_states": {"Up": 5},
    "beyond": {"Up": 0},
    "variables": {"x": 6},
}
TRACE = ((0,), (1,), (2,), (3,))
CHECK_ANSWERS = (CheckAnswer(4, (*TRACE, (4,))), CheckAnswer(3, TRACE), CheckAnswer(2), CheckAnswer())
"""What a search of `counter` finds of its four checks."""


def keep(program: Program, mode: Mode = "complete", **more: Any) -> None:
    SearchLookup(program, mode).keep(KeptSearch(**{**WHOLE, **more}), CHECK_ANSWERS[: len(program.checks)])


def looked_up(program: Program, mode: Mode = "complete", fresh: bool = False) -> KeptSearch | None:
    entry = SearchLookup(program, mode, fresh).find()
    return None if entry is None else entry.value


def test_an_answer_is_that_of_the_same_program_only() -> None:
    keep(counter())
    answer = looked_up(counter())
    assert answer is not None and (answer.distinct, answer.levels) == (6, (1,) * 6)
    assert [answer.checks[each] for each in SearchLookup(counter(), "complete").digest.checks] == list(CHECK_ANSWERS)
    for other in (counter(top=4), counter(room=6), counter(bound=4)):
        assert looked_up(other) is None
    assert looked_up(counter(), fresh=True) is None


def test_an_answer_about_more_properties_is_one_about_fewer_only() -> None:
    plain = counter()
    fewer = replace(plain, checks=plain.checks[:2])
    keep(fewer)
    assert looked_up(fewer) is not None and looked_up(plain) is None
    keep(plain)
    assert looked_up(fewer) is not None and looked_up(plain) is not None


def test_what_is_kept_of_other_properties_stays_if_the_states_are_the_same() -> None:
    plain = counter()
    keep(plain)
    keep(replace(plain, checks=plain.checks[:2]))
    assert looked_up(plain) is not None
    keep(replace(plain, checks=plain.checks[:2]), generated=7)
    assert looked_up(plain) is None


def test_a_trace_that_was_rebuilt_is_not_lost() -> None:
    keep(counter())
    lookup = SearchLookup(counter(), "complete")
    lookup.keep(KeptSearch(**WHOLE), [CheckAnswer(one.depth) for one in CHECK_ANSWERS])
    entry = lookup.find()
    assert entry is not None and [entry.value.checks[each] for each in lookup.digest.checks] == list(CHECK_ANSWERS)


def test_a_search_that_stopped_at_a_violation_answers_no_other_question() -> None:
    stopped = {"reason": "--stop-at-first", "levels": (1,) * 4, "distinct": 4, "new_states": {"Up": 3}}
    keep(counter(), "first", **stopped)
    assert looked_up(counter(), "first") is not None
    assert looked_up(counter(), "complete") is None
    plain = counter()
    fewer = replace(plain, checks=plain.checks[:2])
    assert looked_up(fewer, "first") is None, "other properties may end a search elsewhere"


def test_a_complete_answer_is_that_of_a_stopping_search_only_if_nothing_breaks() -> None:
    keep(counter())
    assert looked_up(counter(), "first") is None
    lookup = SearchLookup(counter(), "complete")
    lookup.keep(KeptSearch(**WHOLE), [CheckAnswer(), CheckAnswer(), *CHECK_ANSWERS[2:]])
    assert looked_up(counter(), "first") is not None


@pytest.mark.parametrize("odd", [{"distinct": 5}, {"generated": 5}, {"new_states": {"Up": 7}}])
def test_numbers_that_do_not_fit_together_are_no_answer(odd: dict[str, Any]) -> None:
    keep(counter(), **odd)
    assert looked_up(counter()) is None


def test_another_engine_has_other_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    keep(counter())
    monkeypatch.setattr(digests, "engine", lambda: "other")
    assert looked_up(counter()) is None


def test_an_answer_of_which_a_part_is_older_is_as_old_as_that(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, now = counter(), [1_000]
    monkeypatch.setattr("elrcheck.base.kept.store.time.time", lambda: now[0])
    keep(plain)
    now[0] = 5_000
    keep(replace(plain, checks=plain.checks[:2]))
    older = SearchLookup(plain, "complete").find()
    assert older is not None and older.origin.moment == 1_000
    now[0] = 9_000
    keep(plain)
    newer = SearchLookup(plain, "complete").find()
    assert newer is not None and newer.origin.moment == 9_000
