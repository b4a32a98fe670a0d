"""Kept answers of searches: found for the same program only, and only where the file is what was written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from edits import replaced
from small_programs import counter

from elrcheck.explorer.runs import kept_searches
from elrcheck.explorer.runs.kept_searches import KeptCheck, KeptSearch, KeptSearches, Mode
from elrcheck.lang.lowering.program import Program

WHOLE: dict[str, Any] = {
    "key": "", "reason": None, "generated": 6, "distinct": 6, "levels": (1,) * 6, "seconds": 0.5,
    "bytes_per_state": 40, "peak_bytes": 1, "workers": 1, "cut": 0, "deadlocks": 1, "enabled": {"Up": 5},
    "new_states": {"Up": 5}, "beyond": {"Up": 0}, "variables": {"x": 6},
}  # fmt: skip
TRACE = ((0,), (1,), (2,), (3,))
SAID = (KeptCheck(4, (*TRACE, (4,))), KeptCheck(3, TRACE), KeptCheck(2), KeptCheck())
"""What a search of `counter` finds of its four checks."""


def keep(folder: Path, program: Program, mode: Mode = "complete", **more: Any) -> None:
    asked = KeptSearches(folder=folder).asked(program, mode)
    asked.keep(KeptSearch(**{**WHOLE, **more}), SAID[: len(program.checks)])


def found(folder: Path, program: Program, mode: Mode = "complete", fresh: bool = False) -> KeptSearch | None:
    return KeptSearches(fresh, folder).asked(program, mode).find()


def test_an_answer_is_that_of_the_same_program_only(tmp_path: Path) -> None:
    keep(tmp_path, counter())
    answer = found(tmp_path, counter())
    assert answer is not None and (answer.distinct, answer.levels) == (6, (1,) * 6)
    assert [answer.checks[each] for each in _digests(tmp_path, counter())] == list(SAID)
    for other in (counter(top=4), counter(room=6), counter(bound=4)):
        assert found(tmp_path, other) is None
    assert found(tmp_path, counter(), fresh=True) is None


def _digests(folder: Path, program: Program) -> tuple[str, ...]:
    return KeptSearches(folder=folder).asked(program, "complete").digest.checks


def test_an_answer_about_more_properties_is_one_about_fewer_only(tmp_path: Path) -> None:
    plain = counter()
    fewer = replace(plain, checks=plain.checks[:2])
    keep(tmp_path, fewer)
    assert found(tmp_path, fewer) is not None and found(tmp_path, plain) is None
    keep(tmp_path, plain)
    assert found(tmp_path, fewer) is not None and found(tmp_path, plain) is not None


def test_what_is_kept_of_other_properties_stays_if_the_states_are_the_same(tmp_path: Path) -> None:
    plain = counter()
    keep(tmp_path, plain)
    keep(tmp_path, replace(plain, checks=plain.checks[:2]))
    assert found(tmp_path, plain) is not None
    keep(tmp_path, replace(plain, checks=plain.checks[:2]), generated=7)
    assert found(tmp_path, plain) is None


def test_a_trace_that_was_rebuilt_is_not_lost(tmp_path: Path) -> None:
    keep(tmp_path, counter())
    asked = KeptSearches(folder=tmp_path).asked(counter(), "complete")
    asked.keep(KeptSearch(**WHOLE), [KeptCheck(one.depth) for one in SAID])
    answer = asked.find()
    assert answer is not None and [answer.checks[each] for each in asked.digest.checks] == list(SAID)


def test_a_search_that_stopped_at_a_violation_answers_no_other_question(tmp_path: Path) -> None:
    stopped = {"reason": "--stop-at-first", "levels": (1,) * 4, "distinct": 4, "new_states": {"Up": 3}}
    keep(tmp_path, counter(), "first", **stopped)
    assert found(tmp_path, counter(), "first") is not None
    assert found(tmp_path, counter(), "complete") is None
    plain = counter()
    fewer = replace(plain, checks=plain.checks[:2])
    assert found(tmp_path, fewer, "first") is None, "other properties may end a search elsewhere"


def test_a_complete_answer_is_that_of_a_search_which_would_stop_at_a_violation_only_if_there_is_none(
    tmp_path: Path,
) -> None:
    keep(tmp_path, counter())
    assert found(tmp_path, counter(), "first") is None
    asked = KeptSearches(folder=tmp_path).asked(counter(), "complete")
    asked.keep(KeptSearch(**WHOLE), [KeptCheck(), KeptCheck(), *SAID[2:]])
    assert found(tmp_path, counter(), "first") is not None


def test_a_damaged_file_is_no_answer(tmp_path: Path) -> None:
    keep(tmp_path, counter())
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    for damaged in (
        whole[:-1], replaced(whole, b'"distinct": 6', b'"distinct": 7'), b"", whole[10:],
        replaced(whole, b"search/1", b"search/2"),
    ):  # fmt: skip
        file.write_bytes(damaged)
        assert found(tmp_path, counter()) is None, damaged[:40]
    file.write_bytes(whole)
    assert found(tmp_path, counter()) is not None


def test_a_file_in_the_place_of_another_is_no_answer(tmp_path: Path) -> None:
    keep(tmp_path, counter())
    (file,) = tmp_path.iterdir()
    keep(tmp_path, counter(top=4))
    (other,) = (one for one in tmp_path.iterdir() if one != file)
    other.write_bytes(file.read_bytes())
    assert found(tmp_path, counter(top=4)) is None


@pytest.mark.parametrize("odd", [{"distinct": 5}, {"generated": 5}, {"new_states": {"Up": 7}}])
def test_numbers_that_do_not_fit_together_are_no_answer(tmp_path: Path, odd: dict[str, Any]) -> None:
    keep(tmp_path, counter(), **odd)
    assert found(tmp_path, counter()) is None


def test_another_engine_has_other_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(tmp_path, counter())
    monkeypatch.setattr(kept_searches, "engine_digest", lambda: "other")
    assert found(tmp_path, counter()) is None


def test_a_folder_that_cannot_be_written_is_no_reason_to_fail(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    keep(tmp_path / "file", counter())
    assert found(tmp_path / "file", counter()) is None
