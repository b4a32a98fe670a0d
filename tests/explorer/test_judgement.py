"""The values of leaves that are too many for a bit mask, as a search gathers them level by level."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from elrcheck.base.roundtrip import from_text, to_text
from elrcheck.explorer.store.judgement import Judgement, SavedJudgement


def ordered_values(values: tuple[int, ...]) -> npt.NDArray[np.int64]:
    return np.array(sorted(set(values)), np.int64)


def judgement(*values: int) -> Judgement:
    return Judgement({1}, np.array([3], np.int64), {0: ordered_values(values)})


def test_each_value_counts_once_whatever_the_level() -> None:
    total = Judgement(set(), np.zeros(1, np.int64), {0: ordered_values(())})
    for values in ((), (9, 70, 9), (-1, 70), (), (500, 8)):
        total.add(judgement(*values))
    assert total.wide[0].tolist() == [-1, 8, 9, 70, 500]
    assert total.hits == {1} and total.narrow.tolist() == [3]


def test_a_copy_stays_as_it_was() -> None:
    """A search that abandons a level goes back to the copy, and a copy of millions of values must cost nothing."""
    total = judgement(4, 2)
    before = total.copy()
    total.add(Judgement({7}, np.array([4], np.int64), {0: ordered_values((3,))}))
    assert before.wide[0].tolist() == [2, 4] and before.hits == {1} and before.narrow.tolist() == [3]
    assert total.wide[0].tolist() == [2, 3, 4] and total.hits == {1, 7} and total.narrow.tolist() == [7]
    one = judgement(5)
    assert one.copy().wide[0] is one.wide[0]


def test_a_checkpoint_has_millions_of_values_in_few_bytes() -> None:
    values = np.cumsum(np.arange(100_000) % 7 + 1) - 50_000
    total = Judgement({2}, np.array([5], np.int64), {0: values, 3: ordered_values((-9, 1 << 61))})
    text = to_text(total.saved())
    assert len(text) < len(values)
    again = Judgement.restored(from_text(text, SavedJudgement))
    assert (again.hits, again.narrow.tolist()) == (total.hits, total.narrow.tolist())
    assert {leaf: array.tolist() for leaf, array in again.wide.items()} == {0: values.tolist(), 3: [-9, 1 << 61]}
    with pytest.raises(ValueError, match="incorrect header"):
        Judgement.restored(SavedJudgement((), (), {0: b"something else"}))
