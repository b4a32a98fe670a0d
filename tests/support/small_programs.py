"""Hand-made programs, random ones, and a breadth-first search that evaluates them naively."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from elrcheck.lang.lowering.dag import Dag, DagNode, evaluate_all
from elrcheck.lang.lowering.program import Check, Instance, Leaf, Program

State = tuple[int, ...]

# ---------------------------------------------------------------------------- random expressions

LEAVES = (Leaf("flag", 0, 1), Leaf("small", 0, 5), Leaf("maybe", -1, 3), Leaf("mask", 0, 31), Leaf("other", 0, 31))
Recipe = tuple[Any, ...]
DIVISORS = tuple(("const", k) for k in range(1, 6))


def _grow(inner: Callable[[str], st.SearchStrategy[Recipe]], kind: str) -> st.SearchStrategy[Recipe]:
    number, mask, flag = inner("number"), inner("mask"), inner("flag")
    choices: dict[str, list[st.SearchStrategy[Recipe]]] = {
        "number": [
            st.tuples(st.sampled_from(["add", "sub", "min", "max"]), number, number),
            st.tuples(st.sampled_from(["div", "mod"]), number, st.sampled_from([*DIVISORS, ("var", 1)])),
            st.tuples(st.just("ite"), flag, number, number),
            st.tuples(st.just("card"), mask),
            flag,
        ],
        "mask": [
            st.tuples(st.sampled_from(["band", "bor", "andnot"]), mask, mask),
            st.tuples(st.just("ite"), flag, mask, mask),
            st.tuples(st.just("single"), st.sampled_from([("var", 1), ("var", 2), ("const", 2), ("const", 70)])),
        ],
        "flag": [
            st.tuples(st.sampled_from(["eq", "ne", "lt", "le", "gt", "ge"]), number, number),
            st.tuples(st.sampled_from(["eq", "ne", "subset"]), mask, mask),
            st.tuples(st.just("bit"), mask, number),
            st.tuples(st.sampled_from(["land", "lor"]), flag, flag, flag),
            st.tuples(st.just("lnot"), flag),
            st.tuples(st.just("ite"), flag, flag, flag),
        ],
    }
    return st.one_of(choices[kind])


@functools.cache
def recipes(kind: str, depth: int = 4) -> st.SearchStrategy[Recipe]:
    """Random expressions: nested tuples of an operation and its operands."""
    atoms = {
        "number": [("var", 1), ("var", 2), ("const", -1), ("const", 0), ("const", 1), ("const", 3)],
        "mask": [("var", 3), ("var", 4), ("const", 0), ("const", 6), ("const", 31)],
        "flag": [("var", 0), ("const", 0), ("const", 1)],
    }
    base = st.sampled_from(atoms[kind])
    if depth == 0:
        return base
    return st.one_of(base, _grow(lambda k: recipes(k, depth - 1), kind))


def to_node(dag: Dag, recipe: Recipe) -> DagNode:
    """A recipe through the simplifying constructors."""
    op, *args = recipe
    if op == "var":
        return dag.var(args[0], LEAVES[args[0]].lo, LEAVES[args[0]].hi)
    if op == "const":
        return dag.const(args[0])
    nodes = [to_node(dag, arg) for arg in args]
    if op in ("land", "lor"):
        combined: DagNode = getattr(dag, op)(nodes)
        return combined
    combined = getattr(dag, op)(*nodes)
    return combined


MEANING: dict[str, Callable[..., int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "div": lambda a, b: a // max(1, b),
    "mod": lambda a, b: a % max(1, b),
    "min": min,
    "max": max,
    "ite": lambda c, a, b: a if c else b,
    "card": lambda a: bin(a).count("1"),
    "band": lambda a, b: a & b,
    "bor": lambda a, b: a | b,
    "andnot": lambda a, b: a & ~b,
    "single": lambda i: 1 << i if 0 <= i <= 61 else 0,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "subset": lambda a, b: a & b == a,
    "bit": lambda m, i: m >> i & 1 if 0 <= i <= 61 else 0,
    "land": lambda *xs: all(xs),
    "lor": lambda *xs: any(xs),
    "lnot": lambda a: not a,
}


def to_value(recipe: Recipe, leaves: State) -> int:
    """A recipe by the book, without a graph."""
    op, *args = recipe
    if op == "var":
        return leaves[args[0]]
    if op == "const":
        return int(args[0])
    return int(MEANING[op](*(to_value(arg, leaves) for arg in args)))


leaf_values = st.tuples(*(st.integers(leaf.lo, leaf.hi) for leaf in LEAVES))


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """Random programs over LEAVES, with guards, cuts, overflows, step checks and state checks."""
    dag = Dag()

    def node(kind: str, depth: int = 2) -> DagNode:
        return to_node(dag, draw(recipes(kind, depth)))

    kinds = ("flag", "number", "number", "mask", "mask")
    checks = (
        Check("always-state", "always", "state", node("flag")),
        Check("always-step", "always", "step"),
        Check("sometimes-state", "sometimes", "state", node("flag")),
        Check("sometimes-step", "sometimes", "step"),
    )
    instances = []
    for number in range(draw(st.integers(1, 6))):
        changed = draw(st.sets(st.integers(0, len(LEAVES) - 1), max_size=3))
        instances.append(
            Instance(
                action="Act",
                args=(number,),
                guards=tuple(node("flag") for _ in range(draw(st.integers(0, 3)))),
                updates={leaf: node(kinds[leaf]) for leaf in sorted(changed)},
                within=tuple(node("flag") for _ in range(draw(st.integers(0, 1)))),
                step_checks={check: node("flag") for check in draw(st.sets(st.sampled_from([1, 3])))},
            )
        )
    init = draw(st.lists(leaf_values, min_size=1, max_size=3, unique=True))
    return Program(dag, LEAVES, tuple(instances), checks, tuple(init))


# ---------------------------------------------------------------------------- hand-made programs


def counter(top: int = 5, room: int = 7, bound: int | None = None) -> Program:
    """Counts up from 0 while below `top`; the leaf holds up to `room`; a bound cuts what is above it."""
    dag = Dag()
    x = dag.var(0, 0, room)
    after = dag.add(x, 1)
    up = Instance(
        "Up", (), (dag.lt(x, top),), {0: after}, () if bound is None else (dag.le(after, bound),), {1: dag.ne(after, 3)}
    )
    checks = (
        Check("below-four", "always", "state", dag.lt(x, 4)),
        Check("never-to-three", "always", "step"),
        Check("reaches-two", "sometimes", "state", dag.eq(x, 2)),
        Check("reaches-nine", "sometimes", "state", dag.eq(x, 9)),
    )
    return Program(dag, (Leaf("x", 0, room),), (up,), checks, ((0,),))


def sliding_puzzle() -> Program:
    """Two rows of three tiles, one of them the hole (0); 360 of 720 arrangements are reachable."""
    dag = Dag()
    cells = [dag.var(i, 0, 5) for i in range(6)]
    instances = []
    for a in range(6):
        for b in ([a + 1] if a % 3 < 2 else []) + ([a + 3] if a < 3 else []):
            for hole, tile in ((a, b), (b, a)):
                guard = dag.eq(cells[hole], 0)
                updates = {hole: cells[tile], tile: dag.const(0)}
                steps = {1: dag.ne(cells[tile], 5)}
                instances.append(Instance("Slide", (tile, hole), (guard,), updates, (), steps))
    solved = dag.land([dag.eq(cells[i], i) for i in range(6)])
    checks = (
        Check("solved", "sometimes", "state", solved),
        Check("five-stays", "always", "step"),
        Check("hole-never-last", "always", "state", dag.ne(cells[5], 0)),
    )
    leaves = tuple(Leaf(f"cell[{i}]", 0, 5) for i in range(6))
    return Program(dag, leaves, tuple(instances), checks, ((1, 2, 5, 3, 4, 0),))


def wide(leaves: int = 9, bits: int = 20) -> Program:
    """Several words: a ring of wide registers that rotate; some can be doubled once, one can be filled."""
    dag = Dag()
    top = (1 << bits) - 1
    xs = [dag.var(i, 0, top) for i in range(leaves)]
    rotate = {i: xs[(i + 1) % leaves] for i in range(leaves)}
    double = {0: dag.add(xs[0], xs[0])}
    checks = (
        Check("first-small", "always", "state", dag.lt(xs[0], 14)),
        Check("middle-set", "sometimes", "state", dag.bit(xs[leaves // 2], bits - 1)),
    )
    instances = (
        Instance("Rotate", (), (), rotate),
        Instance("Double", (), (dag.lt(xs[0], 8), dag.gt(xs[0], 3)), double),
        Instance("Fill", (), (dag.eq(xs[0], 0), dag.eq(xs[1], 1)), {0: dag.const(top)}),
    )
    init = tuple(range(leaves))
    return Program(dag, tuple(Leaf(f"r{i}", 0, top) for i in range(leaves)), instances, checks, (init,))


def tokens(places: int = 7, count: int = 3) -> Program:
    """Tokens that hop to the next place of a ring if it is free: C(places, count) states, no deadlock."""
    dag = Dag()
    at = dag.var(0, 0, (1 << places) - 1)
    instances = []
    for i in range(places):
        j = (i + 1) % places
        guards = (dag.bit(at, i), dag.lnot(dag.bit(at, j)))
        moved = dag.bor(dag.andnot(at, dag.single(i)), dag.single(j))
        instances.append(Instance("Hop", (i,), guards, {0: moved}))
    checks = (Check("count", "always", "state", dag.eq(dag.card(at), count)),)
    return Program(dag, (Leaf("at", 0, (1 << places) - 1),), tuple(instances), checks, (((1 << count) - 1,),))


def grid(side: int = 64, axes: int = 3) -> Program:
    """A corner of a grid, one step at a time along any axis: side ** axes states."""
    dag = Dag()
    xs = [dag.var(i, 0, side - 1) for i in range(axes)]
    instances = tuple(Instance("Step", (i,), (dag.lt(x, side - 1),), {i: dag.add(x, 1)}) for i, x in enumerate(xs))
    checks = (Check("corner", "sometimes", "state", dag.land([dag.eq(x, side - 1) for x in xs])),)
    return Program(dag, tuple(Leaf(f"x{i}", 0, side - 1) for i in range(axes)), instances, checks, ((0,) * axes,))


# ---------------------------------------------------------------------------- the oracle


@dataclass
class Naive:
    """What a search must report."""

    generated: int = 0
    levels: list[int] = field(default_factory=list)
    enabled: list[int] = field(default_factory=list)
    cut: list[int] = field(default_factory=list)
    new_states: list[int] = field(default_factory=list)
    deadlocks: int = 0
    overflow: dict[int, int] = field(default_factory=dict)
    first: dict[int, int] = field(default_factory=dict)
    leaf_values: list[int] = field(default_factory=list)
    states: set[State] = field(default_factory=set)
    steps: dict[State, set[State]] = field(default_factory=dict)


def naive_search(program: Program) -> Naive:
    """Breadth-first search by evaluation of one state at a time."""
    n = len(program.instances)
    naive = Naive(generated=len(program.init), enabled=[0] * n, cut=[0] * n, new_states=[0] * n)
    level = sorted(set(program.init))
    naive.states = set(level)
    depth = 0
    while level:
        naive.levels.append(len(level))
        credit: dict[State, int] = {}
        for state in level:
            for index, check in enumerate(program.checks):
                if check.node is not None and evaluate_all((check.node,), state)[0] == check.hit_value:
                    naive.first.setdefault(index, depth)
            if not _expand(program, state, depth, naive, credit):
                naive.deadlocks += 1
        for index in credit.values():
            naive.new_states[index] += 1
        level = sorted(credit)
        naive.states |= set(level)
        depth += 1
    naive.leaf_values = [len(set(values)) for values in zip(*naive.states, strict=True)]
    return naive


def _expand(program: Program, state: State, depth: int, naive: Naive, credit: dict[State, int]) -> bool:
    enabled = False
    for index, instance in enumerate(program.instances):
        if not all(evaluate_all(instance.guards, state)):
            continue
        enabled = True
        naive.generated += 1
        naive.enabled[index] += 1
        if not all(evaluate_all(instance.within, state)):
            naive.cut[index] += 1
            continue
        after = list(state)
        for leaf, node in instance.updates.items():
            after[leaf] = evaluate_all((node,), state)[0]
        wrong = [i for i, leaf in enumerate(program.leaves) if not leaf.lo <= after[i] <= leaf.hi]
        for leaf in wrong:
            naive.overflow[leaf] = naive.overflow.get(leaf, 0) + 1
        if wrong:
            continue
        for number, check in enumerate(program.checks):
            if check.scope == "step":
                node = instance.step_checks.get(number)
                value = 1 if node is None else evaluate_all((node,), state)[0]
                if value == check.hit_value:
                    naive.first.setdefault(number, depth + 1)
        successor = tuple(after)
        naive.steps.setdefault(state, set()).add(successor)
        if successor not in naive.states:
            credit[successor] = min(index, credit.get(successor, index))
    return enabled
