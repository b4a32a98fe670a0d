"""Instructions of nodes: a disjunction is one instruction, and is dropped with the block that names it."""

from __future__ import annotations

from elrcheck.explorer.kernel.emit import Lanes, Writer
from elrcheck.lang.lowering.dag import Dag

LANES = Lanes(8, 64)


def writer() -> Writer:
    return Writer(LANES, lambda w, leaf: w.let(f"number {leaf}"), lambda w, leaf: w.let(f"flag {leaf}"))


def test_a_disjunction_is_one_instruction_and_its_negation_another() -> None:
    dag, w = Dag(), writer()
    a, b = dag.var(0, 0, 1), dag.var(1, 0, 1)
    either = dag.lor((a, b))
    neither = dag.lnot(either)
    for node in (a, b, neither):
        w.compute(node)
    assert w.lines == ["  %t1 = flag 0", "  %t2 = flag 1", "  %t3 = or <64 x i1> %t1, %t2"]
    assert w.flag(either) == w.hit(neither, 0) == "%t3"
    assert len(w.lines) == 3
    mark = w.mark()
    assert w.flag(neither) == w.flag(neither) == "%t4"
    assert w.lines[3:] == ["  %t4 = xor <64 x i1> %t3, splat (i1 true)"]
    w.forget(mark)
    assert w.flag(either) == "%t3"
    assert w.flag(neither) == "%t5", "the name of the negation belongs to the block that has ended"


def test_negations_in_a_conjunction_are_joined() -> None:
    dag, w = Dag(), writer()
    a, b, c = (dag.var(leaf, 0, 1) for leaf in range(3))
    node = dag.land((a, dag.lnot(b), dag.lnot(c)))
    for part in (a, b, c, node):
        w.compute(part)
    assert w.lines[3:] == [
        "  %t4 = or <64 x i1> %t2, %t3",
        "  %t5 = xor <64 x i1> %t4, splat (i1 true)",
        "  %t6 = and <64 x i1> %t1, %t5",
    ]
