"""The values of leaves that are too many for a bit mask, as a search gathers them level by level."""

from __future__ import annotations

import numpy as np

from elrcheck.explorer.store.judgement import Judgement, ordered_values


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
