"""The modelling language: what it refuses, where it points, and that its readings agree."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest
import z3

from elrcheck.explorer.search.compiled import Search
from elrcheck.explorer.search.reference import search
from elrcheck.lang.algebra import ConcreteAlgebra
from elrcheck.lang.comprehensions import MEMO
from elrcheck.lang.evaluate import Evaluator
from elrcheck.lang.expr import Constant, WholeConfig
from elrcheck.lang.load import instances, load
from elrcheck.lang.lowering.lower import lower
from elrcheck.lang.node import Expr
from elrcheck.lang.source import ModelError
from elrcheck.lang.tree import UnsupportedNode
from elrcheck.lang.types import BOOL, Ty
from elrcheck.proof.transition import Transitions
from elrcheck.tla_export.spec import spec_text
from support.edits import replaced
from support.small_models import loaded, module

REFUSED = {
    "set where a bool is wanted": ("return s.group", "expected bool"),
    "condition": ("return True if s.group else False", "explicit comparison"),
    "loop": ("for x in s.group:\n        pass\n    return True", "a for loop is not in the modelling"),
    "unknown field": ("return s.nothing == 1", "the state has no field 'nothing'"),
    "unknown record field": ("return s.item.m == 1", "has no field 'm'"),
    "never equal": ("return s.mode == s.item.n", "can never be equal"),
    "never None": ("return s.group is None", "never None"),
    "method": ("return s.group.issubset(s.group)", "only plain function calls"),
    "foreign function": ("return abs(s.item.n) == 1", "'abs' is not in the modelling language"),
    "unnamed conjunct": ("return conj(True)", "name every conjunct"),
    "enum member": ("return s.mode == Mode.MAYBE", "has no member 'MAYBE'"),
    "slice": ("return len(s.order[1:2]) == 1", "a slice is a prefix of a sequence"),
    "mutable set": ("return len({0} | s.group) == 1", "mutable set"),
    "no return": ("x = s.item.n", "without return"),
    "arity": ("return helper(c)", "takes 2 positional arguments"),
    "wrong sum": ("return sum(b for b in s.group) == 1", "a number is expected, this is Replica"),
    "half a record": ("return Item(n=1) == s.item", "missing: who"),
    "while": ("while True:\n        pass", "a step that is enabled again"),
    "augmented": ("n = 1\n    n += 1\n    return True", "more = n + 1"),
    "list": ("x = [b for b in s.group]\n    return True", "tuple(x for n in range(c.nodes)) is a vector"),
    "side effect": ("print(s)\n    return True", "'print' is not in the modelling language"),
    "changed in place": ("s.group.add(1)\n    return True", "a set is made with | & -"),
    "unused value": ("len(s.group)\n    return True", "a value without a use"),
    "misspelt field": ("return s.itm == s.item", "did you mean 'item'?"),
    "misspelt function": ("return lenn(s.group) == 1", "did you mean 'len'?"),
    "no knob": ("return c.broker_cnt == 1", "did you mean 'broker_count'? Or declare it in class C"),
    "no field": ("return c.twice == 6", "is not a field, and no set of all members of a sort"),
    "guard": ("require(True, 'x')\n    return True", "require() is for actions and @init, and this is @op"),
    "whole state": ("return s == s", "name a part of it, such as s.partition"),
    "range by steps": ("return all(s.order[k] == 1 for k in range(1, 2, 1))", "range(m, n), from m to n - 1"),
    "a second argument": ("return sum((1 for b in s.group), 2) == 5", "a comprehension here and no 2"),
    "two loops": ("return tuple(1 for a in s.group for b in s.group) == 1", "tuple() takes one 'for'"),
    "two names": ("return all(a == 1 for a, b in s.group)", "a, b) cannot name Replica"),
    "one of several kinds": ("return s.mode in (Mode.ON, 1)", "can never be equal"),
    "key": ("return min((b for b in s.order), default=0, key=len) == 0", "no key="),
    "too few": ("return put(s.items, 1) == s.items", "write put(vector, index, value)"),
    "two for implies": ("return implies(True)", "write implies(premise, conclusion)"),
    "times": ("return s.item.n * 2 == 2", "numbers have +, -, // and %"),
    "raise": ("raise ValueError", "refused by require(condition, name)"),
    "bare return": ("return", "return without a value"),
}


# What is wrong with a whole function, or a class -> part of the message, or of the help.
REFUSED_WHOLE = {
    "type": ("@op\ndef f(c: C, x: list[int]) -> bool:\n    return True", "one value for each member of a sort is"),
    "text": ("@op\ndef f(c: C, x: str) -> bool:\n    return True", "make an enum.Enum"),
    "unknown type": ("@op\ndef f(c: C, x: Itm) -> bool:\n    return True", "'Itm' is not defined"),
    "plain class": ("class X:\n    pass\n@op\ndef f(c: C, x: X) -> bool:\n    return True", "X with @record"),
    "default": ("@op\ndef f(c: C, n: Count = 1) -> bool:\n    return True", "no defaults"),
    "keyword only": ("@op\ndef f(c: C, *, n: Count) -> bool:\n    return True", "plain parameters"),
    "sender": (
        "@action(message=Message('x', 'Server'))\ndef F(c: C, s: S, b: Replica) -> S:\n    return s",
        "'x' is not a parameter of a sort that could send or receive",
    ),
    "receiver": (
        "@action(message=Message('b', 'on'))\ndef F(c: C, s: S, b: Replica, on: bool) -> S:\n    return s",
        "'on' is not a parameter of a sort",
    ),
    "lost": (
        "@action(message=Message('b', 'X', lost='b'))\ndef F(c: C, s: S, b: Replica) -> S:\n    return s",
        "'b' is not a bool parameter",
    ),
    "fair choice": (
        "@action(fairness=Fair('a timer', only={'on': True}))\ndef F(c: C, s: S) -> S:\n    return s",
        "fair for some values of 'on' only, and has no such parameter",
    ),
    "steps that stop": (
        "@action(fairness=Fair('a timer', stops=True))\ndef F(c: C, s: S) -> S:\n    return s",
        "its steps stop outside of a condition, and it has no `when`",
    ),
    "endless choice": ("@action\ndef F(c: C, s: S, n: Count) -> S:\n    return s", "is infinite"),
    "no state": ("@action\ndef F(c: C) -> S:\n    return Init(c)", "@action takes one state"),
    "property of a number": ("@always('P-1')\ndef F(c: C, s: S) -> int:\n    return 1", "@always returns bool"),
    "property of a choice": ("@always('P-1')\ndef F(c: C, s: S, b: Replica) -> bool:\n    return True", "and no 'b'"),
    "id": ("@always('P1')\ndef F(c: C, s: S) -> bool:\n    return True", "such as P-32"),
    "name of a guard": ("@action\ndef F(c: C, s: S) -> S:\n    require(True, 1)\n    return s", "write require"),
    "field of a record": ("@record\nclass R:\n    x: dict\n@op\ndef f(c: C, r: R) -> bool:\n    return r.x", "R.x"),
    "limit": (
        "N = Annotated[int, nat('N', hi='nothing')]\n@op\ndef f(c: C, n: N) -> bool:\n    return True",
        "the limit 'nothing' of N is not a field of C",
    ),
    "mutual recursion": (
        "@op\ndef f(c: C, n: Count) -> bool:\n    return g(c, n)\n"
        "@op\ndef g(c: C, n: Count) -> bool:\n    return f(c, n)",
        "f -> g -> f",
    ),
}


@pytest.mark.parametrize("case", REFUSED_WHOLE)
def test_a_function_or_class_is_refused(tmp_path: Path, case: str) -> None:
    text, message = REFUSED_WHOLE[case]
    with pytest.raises(ModelError) as caught:
        loaded(tmp_path, f"from elrcheck.lang.runtime import always\n{text}\n")
    assert message in str(caught.value)
    file, _, line = caught.value.where.rpartition(":")
    assert Path(file).parent == tmp_path and line.isdigit()
    assert Path(file).read_text().splitlines()[int(line) - 1].strip() == caught.value.excerpt.split("\n")[0]


def test_a_decorator_without_its_id_or_with_parentheses_is_refused(tmp_path: Path) -> None:
    """It would replace the function by something else, and the property would silently be none."""
    with pytest.raises(TypeError, match=r'write @always\("P-32"\)'):
        text = "from elrcheck.lang.runtime import always\n@always\ndef F(c: C, s: S) -> bool: ...\n"
        module(tmp_path, text)
    with pytest.raises(TypeError, match="write @action alone"):
        module(tmp_path, "@action()\ndef F(c: C, s: S) -> S: ...\n")


@pytest.mark.parametrize("case", REFUSED)
def test_refused_with_place_and_advice(tmp_path: Path, case: str) -> None:
    body, message = REFUSED[case]
    helper = "@op\ndef helper(c: C, s: S) -> bool:\n    return True\n"
    text = f"{helper}@op\ndef f(c: C, s: S) -> bool:\n    {body}\n"
    with pytest.raises(ModelError) as caught:
        loaded(tmp_path, text)
    refusal = str(caught.value)
    assert message in refusal
    assert ".py:" in refusal and "^" in refusal, "file, line and an underline"


def test_recursion_and_missing_parts_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="recursive"):
        loaded(tmp_path, "@op\ndef f(c: C, s: S) -> bool:\n    return f(c, s)\n")
    source = module(tmp_path, "")
    del source.Init
    with pytest.raises(ModelError, match="exactly one @init"):
        load(source.S, source.C, [source])


def test_untyped_parameter_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="type annotation"):
        loaded(tmp_path, "@op\ndef f(c: C, x) -> bool:\n    return True\n")


WAITS = """
@leads_to("V-1")
def Waits(c: C, s: S, b: Replica) -> LeadsTo:
    return LeadsTo(premise=b in s.group, conclusion=s.items[b].n > 0)
"""


def test_leads_to_is_one_property_for_each_choice(tmp_path: Path) -> None:
    model, source = loaded(tmp_path, WAITS)
    (fn,) = model.leads_to
    assert (fn.ident, list(instances(fn, source.C()))) == ("V-1", [(0,), (1,), (2,)])
    evaluator = Evaluator(model.fns, source.C(), ConcreteAlgebra())
    lifted = evaluator.structure.lift(source.Init(source.C()), model.state_ty)
    assert evaluator.call(fn, (lifted,), {"b": 1}) == {"premise": True, "conclusion": False}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def f(c: C, s: S) -> bool:\n    return True", "returns LeadsTo"),
        ("def f(c: C, s: S, t: S) -> LeadsTo:\n    return LeadsTo(premise=1 > 0, conclusion=1 > 0)", "one"),
    ],
)
def test_leads_to_speaks_of_one_state(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        loaded(tmp_path, f'@leads_to("V-1")\n{text}\n')


def test_ids_are_unique_across_kinds(tmp_path: Path) -> None:
    other = "@op\ndef g(c: C, s: S) -> bool:\n    return True\n"
    with pytest.raises(ModelError, match="must be unique: V-1"):
        loaded(tmp_path, WAITS + other + replaced(WAITS, "Waits", "WaitsToo"))


EXPRESSIONS = [
    "within(Spent(), c) and not within(Spent(broker_count=4), c)",
    "Spent(broker_count=1).broker_count == 1",
    "len(s.group - {0}) == 2",
    "all(s.items[b].who == b for b in s.group)",
    "any(b in s.group and s.items[b].who == b for b in c.brokers)",
    "next((r for r in s.order if r in s.group - {0}), None) == 1",
    "next((r for r in s.order if r not in c.brokers), None) is None",
    "min((s.items[b].n for b in s.group), default=9) == 0",
    "max((s.items[b].n + 1 for b in s.group if b != 2), default=9) == 1",
    "sum(1 for r in s.order if r != 1) == 2",
    "len(s.order[:2]) == 2 and s.order[len(s.order) - 1] == 2",
    "tuple(r for r in s.order if r != 1) == s.order[:1] + (2,)",
    "frozenset(s.order) == s.group",
    "frozenset(b for b in s.group if b != 1) <= s.group",
    "implies(s.item.who is None, s.mode == Mode.ON)",
    "put(s.items, 1, s.item)[1] == s.item",
    "replace(s.item, n=s.item.n + 1).n == 2",
    "(s.item.who if s.item.who is not None else 0) == 0",
    "min(s.item.n, 5) == 1 and max(s.item.n, 5) - 1 == 4",
    "conj(a=s.item.n == 1, b=0 in s.group)",
    "not s.mode != Mode.ON",
    "len(s.order) == 3 and 1 in s.order",
]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_evaluator_agrees_with_python(tmp_path: Path, expression: str) -> None:
    """One shared suite of small expressions: all of them are true of the initial state."""
    model, source = loaded(tmp_path, f"@op\ndef f(c: C, s: S) -> bool:\n    return {expression}\n")
    config = source.C()
    state = source.Init(config)
    assert bool(source.f(config, state)) is True
    evaluator = Evaluator(model.fns, config, ConcreteAlgebra())
    lifted = evaluator.structure.lift(state, model.state_ty)
    assert evaluator.call(model.fns["f"], (lifted,), {}) is True


MOVES = """
@op
def quiet(s: S) -> S:
    return replace(s, mode=Mode.OFF)
@op
def joined(c: C, s: S, who: Replica, out: RSet) -> S:
    rest = s.group - out
    if rest == EMPTY:
        return replace(s, item=replace(s.item, who=None))
    item = replace(s.item, who=who)
    return replace(s, group=rest, item=item)
@op
def is_quiet(s: S) -> bool:
    return s.mode == Mode.OFF
@op
def settled(s: S, who: Replica) -> bool:
    rest = s.group - frozenset({who})
    if not is_quiet(s):
        return False
    return rest == EMPTY or any(b in s.group and b != who for b in rest)
@action
def Move(c: C, s: S, b: Replica, out: RSet) -> S:
    require(b in s.group, "b is there")
    rest = s.order[:2]
    moved = joined(c, quiet(replace(s, order=rest)), b, out)
    require(settled(moved, b) and not is_quiet(replace(moved, mode=Mode.ON)), "it is settled in the next state")
    return replace(moved, items=put(moved.items, b, moved.item))
"""


def test_operators_on_changed_states_mean_the_same_in_every_reading(tmp_path: Path) -> None:
    """Plain Python, the evaluator, the kernel, Z3 and what TLC reads; TLC counts one in `test_tla_spec`."""
    model, source = loaded(tmp_path, MOVES)
    config = source.C()
    (move,) = model.actions
    evaluator = Evaluator(model.fns, config, ConcreteAlgebra())
    transitions = Transitions(model, config)
    states = [source.Init(config)]
    states += [source.Move(config, states[0], b, frozenset({0, 2})) for b in (0, 1)]
    assert [sorted(state.group) for state in states] == [[0, 1, 2], [1], [1]]
    for state in states:
        lifted = evaluator.structure.lift(state, model.state_ty)
        solver = z3.Solver()
        solver.add(transitions.exactly(state))
        assert solver.check() == z3.sat
        for instance in transitions.instances:
            b, out = instance.args
            outcome = evaluator.action(move, lifted, {"b": b, "out": evaluator.structure.lift(out, move.params[1][1])})
            enabled = z3.is_true(solver.model().eval(instance.guard, model_completion=True))
            assert enabled == (b in state.group) == all(holds is True for _, holds in outcome.guards)
            if enabled:
                after = source.Move(config, state, b, out)
                assert evaluator.structure.lower(outcome.fields, model.state_ty) == after
                assert transitions.read(solver.model(), instance.after) == after
    expected = search(model, config)
    result = Search(lower(model, config).program).run(None, "complete")
    assert (result.generated, result.distinct) == (expected.generated, expected.distinct)
    text = spec_text(model, config, "Moves").tla
    assert "\nMove(b, out) ==" in text and "Joined" not in text
    assert (text.count("Settled("), text.count("IsQuiet")) == (1, 2), "defined, and called with unchanged states only"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return Move(c, s, b, out)", "Move is @action"),
        ("return replace(s, group=joined(c, s, b, out))", "this is a whole state"),
        ("return joined(c, s.group, b, out)", "is given a whole state here"),
        ("return joined(c, s, b)", "takes 4 positional arguments"),
    ],
)
def test_a_call_that_returns_a_state_is_refused(tmp_path: Path, body: str, message: str) -> None:
    again = f"@action\ndef Again(c: C, s: S, b: Replica, out: RSet) -> S:\n    {body}\n"
    with pytest.raises(ModelError, match=message):
        loaded(tmp_path, MOVES + again)


def test_lift_and_lower_are_inverse(tmp_path: Path) -> None:
    model, source = loaded(tmp_path, "")
    structure = Evaluator(model.fns, source.C(), ConcreteAlgebra()).structure
    state = source.Init(source.C())
    assert structure.lower(structure.lift(state, model.state_ty), model.state_ty) == state


class Teleport(Expr):
    """A node that no back end knows."""


@pytest.mark.parametrize("node", [Teleport(BOOL), WholeConfig(Ty("config", "Config"))], ids=["unknown", "no value"])
def test_a_node_without_a_reading_is_a_typed_error(tmp_path: Path, node: Expr) -> None:
    model, source = loaded(tmp_path, "")
    evaluator = Evaluator(model.fns, source.C(), ConcreteAlgebra())
    with pytest.raises(UnsupportedNode, match=f"evaluator cannot print the node '{type(node).__name__}'"):
        evaluator.ev(node, {MEMO: {}})  # type: ignore[arg-type]


def test_nodes_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        Constant(BOOL, True).value = False  # type: ignore[misc]
