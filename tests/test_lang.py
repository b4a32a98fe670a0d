"""The modelling language: what it refuses, where it points, and that its readings agree."""

from __future__ import annotations

import importlib.util
import sys
import textwrap
from pathlib import Path
from types import ModuleType

import pytest

from elrcheck.lang.algebra import ConcreteAlgebra
from elrcheck.lang.evaluate import Evaluator
from elrcheck.lang.ir import E, UnsupportedNode, Walker
from elrcheck.lang.load import Model, instances, load
from elrcheck.lang.source import ModelError
from elrcheck.lang.types import BOOL

HEADER = """
from __future__ import annotations
import enum
from dataclasses import replace
from typing import Annotated
from elrcheck.lang.runtime import EMPTY, Universe, action, bound, config, conj, implies
from elrcheck.lang.runtime import LeadsTo, init, leads_to, op, put, record, require, state
from elrcheck.lang.types import Replica, RSet, SeqMark, Vec, nat

Count = Annotated[int, nat("Count", cap=7)]
List = Annotated[tuple[Replica, ...], SeqMark(3)]
class Mode(enum.Enum):
    ON = 1
    OFF = 2
@config
class C:
    broker_count: int = 3
    @property
    def brokers(self) -> Universe:
        return Universe(range(self.broker_count))
@record
class Item:
    n: Count
    who: Replica | None
@state
class S:
    group: RSet
    item: Item
    items: Vec[Item]
    order: List
    mode: Mode
@init
def Init(c: C) -> S:
    items = tuple(Item(n=0, who=b) for b in c.brokers)
    return S(group=c.brokers, item=Item(n=1, who=None), items=items,
             order=tuple(c.brokers), mode=Mode.ON)
@bound
def Bound(c: C, s: S) -> bool:
    return conj(small=s.item.n <= 3)
"""


def module(tmp_path: Path, body: str) -> ModuleType:
    name = f"model_under_test_{len(sys.modules)}"
    path = tmp_path / f"{name}.py"
    path.write_text(HEADER + textwrap.dedent(body))
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules[name] = made
    spec.loader.exec_module(made)
    return made


def loaded(tmp_path: Path, body: str) -> tuple[Model, ModuleType]:
    made = module(tmp_path, body)
    return load(made.S, made.C, [made]), made


REFUSED = {
    "set where a bool is wanted": ("return s.group", "expected bool"),
    "condition": ("return True if s.group else False", "explicit comparison"),
    "loop": ("for x in s.group:\n        pass\n    return True", "For is not in the modelling language"),
    "unknown field": ("return s.nothing == 1", "the state has no field 'nothing'"),
    "unknown record field": ("return s.item.m == 1", "has no field 'm'"),
    "never equal": ("return s.mode == s.item.n", "can never be equal"),
    "never None": ("return s.group is None", "never None"),
    "method": ("return s.group.issubset(s.group)", "only plain function calls"),
    "foreign function": ("return abs(s.item.n) == 1", "not a function of this model"),
    "unnamed conjunct": ("return conj(True)", "name every conjunct"),
    "enum member": ("return s.mode == Mode.MAYBE", "has no member 'MAYBE'"),
    "slice": ("return len(s.order[1:]) == 1", "prefix of a sequence"),
    "mutable set": ("return len({0} | s.group) == 1", "mutable set"),
    "no return": ("x = s.item.n", "without return"),
    "arity": ("return helper(c)", "takes 2 positional arguments"),
    "wrong sum": ("return sum(b for b in s.group) == 1", "only counts"),
    "half a record": ("return Item(n=1) == s.item", "missing: who"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_with_place_and_advice(tmp_path: Path, case: str) -> None:
    body, message = REFUSED[case]
    helper = "@op\ndef helper(c: C, s: S) -> bool:\n    return True\n"
    text = f"{helper}@op\ndef f(c: C, s: S) -> bool:\n    {body}\n"
    with pytest.raises(ModelError) as caught:
        loaded(tmp_path, text)
    shown = str(caught.value)
    assert message in shown
    assert ".py:" in shown and "^" in shown, "file, line and an underline"


def test_recursion_and_missing_parts_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="recursive"):
        loaded(tmp_path, "@op\ndef f(c: C, s: S) -> bool:\n    return f(c, s)\n")
    made = module(tmp_path, "")
    del made.Init
    with pytest.raises(ModelError, match="exactly one @init"):
        load(made.S, made.C, [made])


def test_untyped_parameter_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="type annotation"):
        loaded(tmp_path, "@op\ndef f(c: C, x) -> bool:\n    return True\n")


WAITS = '''
@leads_to("V-1")
def Waits(c: C, s: S, b: Replica) -> LeadsTo:
    return LeadsTo(premise=b in s.group, conclusion=s.items[b].n > 0)
'''


def test_leads_to_is_one_property_for_each_choice(tmp_path: Path) -> None:
    model, made = loaded(tmp_path, WAITS)
    (fn,) = model.leads_to
    assert (fn.ident, list(instances(fn, made.C()))) == ("V-1", [(0,), (1,), (2,)])
    evaluator = Evaluator(model.fns, made.C(), ConcreteAlgebra(3))
    lifted = evaluator.structure.lift(made.Init(made.C()), model.state_ty)
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
        loaded(tmp_path, WAITS + other + WAITS.replace("Waits", "WaitsToo"))


EXPRESSIONS = [
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
    model, made = loaded(tmp_path, f"@op\ndef f(c: C, s: S) -> bool:\n    return {expression}\n")
    config = made.C()
    state = made.Init(config)
    assert bool(made.f(config, state)) is True
    evaluator = Evaluator(model.fns, config, ConcreteAlgebra(3))
    lifted = evaluator.structure.lift(state, model.state_ty)
    assert evaluator.call(model.fns["f"], (lifted,), {}) is True


def test_lift_and_lower_are_inverse(tmp_path: Path) -> None:
    model, made = loaded(tmp_path, "")
    structure = Evaluator(model.fns, made.C(), ConcreteAlgebra(3)).structure
    state = made.Init(made.C())
    assert structure.lower(structure.lift(state, model.state_ty), model.state_ty) == state


def test_unknown_node_is_a_typed_error() -> None:
    with pytest.raises(UnsupportedNode, match="walker cannot print the node 'teleport'"):
        Walker().dispatch(E("teleport", BOOL))
