"""The expression graph simplifies without changing a value, and its intervals are right."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings

from elrcheck.lang.lowering.dag import MAX_BIT, Dag, cone, evaluate, evaluate_all
from support.small_programs import LEAVES, Recipe, State, leaf_values, recipes, to_node, to_value


@settings(max_examples=400, deadline=None)
@given(recipes("number", 5), leaf_values)
@example(("bit", ("ite", ("var", 0), ("var", 3), ("const", 6)), ("const", 2)), (1, 0, 0, 4, 0))
def test_simplified_values_are_the_values(recipe: Recipe, leaves: State) -> None:
    dag = Dag()
    node = to_node(dag, recipe)
    value = evaluate(node, leaves)
    assert value == to_value(recipe, leaves)
    for part in cone([node]):
        assert part.lo <= evaluate(part, leaves) <= part.hi


@settings(max_examples=300, deadline=None)
@given(recipes("mask", 5), recipes("flag", 5), leaf_values)
def test_masks_and_flags(mask: Recipe, flag: Recipe, leaves: State) -> None:
    dag = Dag()
    nodes = [to_node(dag, mask), to_node(dag, flag)]
    assert evaluate_all(nodes, leaves) == (to_value(mask, leaves), to_value(flag, leaves))
    assert dag.land([nodes[1], dag.lnot(nodes[1])]) is dag.zero
    assert dag.lor([nodes[1], dag.lnot(nodes[1])]) is dag.one


@pytest.fixture
def dag() -> Dag:
    return Dag()


def test_equal_expressions_are_one_node(dag: Dag) -> None:
    x, y = dag.var(0, 0, 9), dag.var(1, 0, 9)
    assert dag.add(x, y) is dag.add(y, x)
    assert dag.le(x, y) is dag.lnot(dag.lt(y, x))
    assert dag.gt(x, 3) is dag.lnot(dag.lt(x, 4))
    assert dag.sub(dag.add(x, 5), 2) is dag.add(x, 3)
    assert dag.lor([dag.eq(x, 1), dag.eq(y, 2)]) is dag.lor([dag.eq(y, 2), dag.eq(x, 1)])


def test_intervals_decide_comparisons(dag: Dag) -> None:
    x = dag.var(0, 2, 5)
    assert dag.lt(x, 6) is dag.one
    assert dag.lt(x, 2) is dag.zero
    assert dag.eq(x, 7) is dag.zero
    assert dag.var(1, 4, 4).lo == dag.var(1, 4, 4).hi == 4
    assert dag.var(1, 4, 4).is_const
    assert dag.lt(x, 3) is dag.eq(x, 2), "the edge of the interval is an equality"


def test_flags_are_their_own_comparisons(dag: Dag) -> None:
    flag = dag.var(0, 0, 1)
    assert dag.eq(flag, 1) is flag
    assert dag.eq(flag, 0) is dag.lnot(flag)
    assert dag.ite(flag, 1, 0) is flag
    assert dag.ite(dag.lnot(flag), 3, 4) is dag.ite(flag, 4, 3)


def test_conjunctions_absorb(dag: Dag) -> None:
    a, b = dag.var(0, 0, 1), dag.var(1, 0, 1)
    assert dag.land([a, dag.lor([a, b])]) is a
    assert dag.land([a, dag.lor([dag.lnot(a), b])]) is dag.land([a, b])
    assert dag.land([a, dag.land([b, a])]) is dag.land([a, b])
    assert dag.land([]) is dag.one


def test_choices_collapse(dag: Dag) -> None:
    c, d, x, y = dag.var(0, 0, 1), dag.var(1, 0, 1), dag.var(2, 0, 9), dag.var(3, 0, 9)
    assert dag.ite(c, x, x) is x
    assert dag.ite(c, dag.ite(c, x, y), y) is dag.ite(c, x, y)
    assert dag.ite(c, dag.ite(d, x, y), y) is dag.ite(dag.land([c, d]), x, y)
    assert dag.eq(dag.ite(c, 2, 7), 7) is dag.lnot(c)
    assert dag.ite(dag.eq(x, y), x, y) is y


def test_bits_of_known_masks(dag: Dag) -> None:
    m, i = dag.var(0, 0, 7), dag.var(1, -1, 9)
    assert dag.bit(dag.bor(m, 4), 2) is dag.one
    assert dag.bit(dag.bor(m, 4), 0) is dag.bit(m, 0)
    assert dag.bit(m, 5) is dag.zero
    assert dag.bit(dag.andnot(m, 2), 1) is dag.zero
    assert dag.ne(dag.band(m, 2), 0) is dag.bit(m, 1)
    pieces = [dag.ite(dag.bit(m, k), 1 << k, 0) for k in range(3)]
    assert dag.bor(dag.bor(pieces[0], pieces[1]), pieces[2]) is m
    assert [evaluate(dag.bit(m, i), (7, value)) for value in (-1, 0, 2, 3, 9)] == [0, 1, 1, 0, 0]
    assert evaluate(dag.single(i), (0, -1)) == 0
    assert dag.single(MAX_BIT + 1) is dag.zero


def test_misuse_is_refused(dag: Dag) -> None:
    x = dag.var(0, -1, 5)
    with pytest.raises(ValueError, match="not a boolean"):
        dag.land([x])
    with pytest.raises(ValueError, match="not a bit mask"):
        dag.card(x)
    with pytest.raises(ValueError, match="bounds"):
        dag.var(0, 0, 5)
    with pytest.raises(ValueError, match="too wide"):
        dag.const(1 << 62)


def test_leaves_of_the_sample_cover_the_kinds() -> None:
    assert {leaf.lo for leaf in LEAVES} == {0, -1}


def test_clauses_inside_clauses_are_resolved(dag: Dag) -> None:
    a, b, c = (dag.var(k, 0, 1) for k in range(3))
    either = dag.lor([dag.land([a, b]), c])
    assert dag.land([dag.lnot(a), either]) is dag.land([dag.lnot(a), c])
    assert dag.land([dag.lnot(a), dag.lnot(c), either]) is dag.zero
    assert dag.land([a, b, either]) is dag.land([a, b])


def test_minima_and_maxima_know_their_operands(dag: Dag) -> None:
    x, y = dag.var(0, 0, 9), dag.var(1, 0, 9)
    least, most = dag.ite(dag.le(x, y), x, y), dag.ite(dag.lt(x, y), y, x)
    assert (least, most) == (dag.min(x, y), dag.max(x, y))
    assert dag.lt(x, least) is dag.lt(most, y) is dag.zero
    assert dag.lt(least, x) is dag.lt(y, x)
    assert dag.lt(x, most) is dag.lt(x, y)


def test_a_choice_is_compared_with_its_own_branch(dag: Dag) -> None:
    x = dag.var(0, 0, 3)
    at_most_two = dag.ite(dag.le(x, 2), x, 2)
    assert dag.lt(x, at_most_two) is dag.zero, "3 is the only value that changes, and it gets smaller"
    assert dag.lt(at_most_two, x) is dag.eq(x, 3)


def test_leaves_get_other_numbers(dag: Dag) -> None:
    x, y = dag.var(3, 0, 9), dag.var(8, 0, 9)
    dag.renumber({3: 0, 8: 1})
    assert (x.leaf, y.leaf) == (0, 1)
    assert dag.var(1, 0, 9) is y
    assert evaluate(dag.sub(x, y), (7, 5)) == 2


def test_a_wide_conjunction_is_restored(dag: Dag) -> None:
    """A stored program with a conjunction of many parts is read again; one operand is none."""
    flags = [dag.eq(dag.var(100 + k, 0, 3), 2) for k in range(30)]
    wide = dag.land(flags)
    assert len(wide.args) == 30
    assert dag.restore("and", wide.args, 0, 1, -1) is wide
    with pytest.raises(ValueError, match="'and' with 1 operands"):
        dag.restore("and", wide.args[:1], 0, 1, -1)
