"""The module for reading: TLC finds in it the states of the whole one, and what the configuration decides is gone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from elrcheck.base.errors import UsageFault
from elrcheck.base.requests import Selection
from elrcheck.declared.select import resolve
from elrcheck.explorer.search.reference import search
from elrcheck.lang import expr
from elrcheck.lang.expr import Constant, Expression
from elrcheck.lang.ir import Fn, Ret, block_expressions
from elrcheck.lang.tree import free_names
from elrcheck.lang.types import BOOL, INT, pair
from elrcheck.tla_export.folded import Folding
from elrcheck.tla_export.literals import FALSE, TRUE, alike, is_literal
from elrcheck.tla_export.spec import reading_text, spec_text, write_spec
from elrcheck.tla_export.specialised import specialised
from elrcheck.tla_export.tlc_process import TlcOptions, find_tools, run_tlc
from support.readings import model_of

A, B = expr.Variable(BOOL, "a"), expr.Variable(BOOL, "b")
N = expr.Variable(INT, "n")
BOTH = pair(INT, INT)


class Small:
    on, off, size, nothing = True, False, 2, 0


def folded(e: Expression) -> Expression:
    fn = Fn("f", "op", "", "", "", lambda: None, "", 0, body=Ret(e))
    body = Folding(Small()).function(fn).body
    assert isinstance(body, Ret) and isinstance(body.value, expr.Expr)
    return body.value


ON, OFF = expr.ConfigField(BOOL, "on"), expr.ConfigField(BOOL, "off")
SIZE, NOTHING = expr.ConfigField(INT, "size"), expr.ConfigField(INT, "nothing")


@pytest.mark.parametrize(
    ("e", "becomes"),
    [
        (ON, TRUE),
        (expr.Junction("and", (A, ON)), A),
        (expr.Junction("and", (A, OFF)), FALSE),
        (expr.Junction("or", (OFF, A)), A),
        (expr.Junction("or", (A, ON)), TRUE),
        (expr.Implies(OFF, A), TRUE),
        (expr.Implies(ON, A), A),
        (expr.Not(expr.Not(A)), A),
        (expr.IfElse(BOOL, ON, A, B), A),
        (expr.IfElse(BOOL, OFF, A, B), B),
        (expr.Compare("gt", SIZE, Constant(INT, 0)), TRUE),
        (expr.Compare("gt", NOTHING, Constant(INT, 0)), FALSE),
        (expr.Equal(SIZE, Constant(INT, 3)), FALSE),
        (expr.Equal(A, ON), A),
        (expr.LetIn(BOOL, "x", ON, expr.Junction("and", (expr.Variable(BOOL, "x"), A))), A),
    ],
)
def test_what_the_configuration_decides_is_decided(e: Expression, becomes: Expression) -> None:
    assert folded(e) is becomes


def test_a_truth_written_in_a_rule_decides_too() -> None:
    """A field with one value brings its own constant, which is equal to TRUE and not the same node."""
    assert folded(expr.Junction("and", (A, Constant(BOOL, True), expr.Not(Constant(BOOL, False))))) is A
    selected = resolve(Selection("kip_full", "two-brokers"))
    text = reading_text(selected.declared.checked(), selected.config, "M").tla
    assert not re.search(r"~ ?(TRUE|FALSE)\b", text)


def test_what_it_leaves_open_stays() -> None:
    for e in (SIZE, expr.Compare("gt", N, SIZE), expr.Junction("or", (A, B)), expr.IfElse(BOOL, A, B, A)):
        assert type(folded(e)) is type(e)
    assert folded(expr.Arithmetic("add", N, NOTHING)) is N, "a number that is 0 is gone"
    assert is_literal(SIZE) and alike(SIZE, expr.ConfigField(INT, "size")) and not alike(SIZE, NOTHING)


def test_a_module_to_read_is_half_as_long_and_names_what_is_gone() -> None:
    selected = resolve(Selection("code_4_3", "three-brokers"))
    model = selected.declared.checked()
    reading, whole = (of(model, selected.config, "M") for of in (reading_text, spec_text))
    assert len(reading.tla.splitlines()) < 0.5 * len(whole.tla.splitlines())
    constants = re.findall(r"^    (\w+) = ", reading.constants, re.M)
    assert len(constants) < 12 < 100 < len(re.findall(r"^    (\w+) = ", whole.constants, re.M))
    body = reading.tla.partition("ASSUME")[2]
    assert [name for name in constants if name != "None" and name not in body] == []
    assert "\\* CleanStop\n" in reading.tla and "Reassign" in reading.tla.partition("EXTENDS")[0]
    assert not re.search(r"^(CleanStop|Reassign|Kill)\b", reading.tla, re.M) and "\nCrash(b, keep) ==" in reading.tla


@pytest.mark.parametrize(("variant", "scope"), [("kip_full", "two-brokers"), ("code_4_3", "three-brokers")])
def test_an_operator_reads_its_parameters_and_does_more_than_return_one(variant: str, scope: str) -> None:
    selected = resolve(Selection(variant, scope))
    model = specialised(selected.declared.checked(), selected.config).model
    operators = [fn for fn in model.fns.values() if fn.kind == "op"]
    assert len(operators) > 50
    for fn in operators:
        read = {name for e in block_expressions(fn.body) for name in free_names(e)}
        assert {name for name, _ in fn.params} <= read, fn.name
        assert not (isinstance(fn.body, Ret) and isinstance(fn.body.value, expr.Variable)), fn.name
    passed: dict[tuple[str, str], list[Expression]] = {}
    for node in model.nodes:
        if isinstance(node, expr.Call):
            for (name, _), value in zip(model.fns[node.function].params, node.args, strict=True):
                passed.setdefault((node.function, name), []).append(value)
    records = {place: values for place, values in passed.items() if isinstance(values[0], expr.RecordExpr)}
    assert [
        place for place, (one, *others) in records.items() if is_literal(one) and all(alike(one, e) for e in others)
    ] == []


def test_an_update_with_a_records_own_value_is_the_record() -> None:
    record = expr.Variable(BOTH, "r")
    own = expr.Field(INT, record, "0")
    assert folded(expr.Update(BOTH, record, ("0",), (own,))) is record
    other = folded(expr.Update(BOTH, record, ("0", "1"), (own, N)))
    assert isinstance(other, expr.Update) and other.names == ("1",)
    assert folded(expr.Update(BOTH, record, ("1",), (own,))) != record


@pytest.mark.tlc
@pytest.mark.slow
@pytest.mark.parametrize(
    ("variant", "scope", "settings"),
    [
        ("code_4_3", "two-brokers-quiet", ("fences=1",)),
        ("kip_full", "two-brokers-quiet", ("fences=1", "elections=1")),
        ("legacy", "two-brokers-quiet", ("crashes=1",)),
        ("code_4_1", "two-brokers-quiet", ("reassignments=1",)),
        ("code_3_9", "two-brokers-quiet", ("min_isr_changes=1",)),
        ("kip_full", "recovery-two-brokers", ("crashes=0", "kills=1")),
    ],
)
def test_tlc_finds_the_same_states(variant: str, scope: str, settings: tuple[str, ...], tmp_path: Path) -> None:
    """All properties are checked too. Only the steps of actions that lead beyond the bound are fewer."""
    selected = resolve(Selection(variant, scope, settings))
    model, config = selected.declared.checked(), selected.config
    expected, beyond = search(model, config), specialised(model, config).beyond
    spec = write_spec(model, config, tmp_path, "Reading", whole=False)
    violated = any(fn.ident in expected.first for fn in model.always)
    (tmp_path / "Reading.cfg").write_text(spec.count_cfg if violated else spec.cfg)
    run = run_tlc(find_tools(), tmp_path / "Reading.tla", None, TlcOptions(deadlock=False, timeout=300, brief=True))
    assert run.exit_code == 0, run.output_tail
    fewer = sum(expected.beyond.get(name, 0) for name in beyond)
    assert run.output.counts == (expected.generated - fewer, expected.distinct, expected.diameter)
    assert expected.distinct > 20 and fewer > 0


BUDGET = """
Spent = Annotated[int, nat("Spent", lo=LEAST, hi=3)]
@record
class Used:
    steps: Spent
@config
class C:
    steps: int = 0
@state
class S:
    used: Used
@init
def Init(c: C) -> S:
    return S(used=Used(steps=LEAST))
@action
def Step(c: C, s: S) -> S:
    require(s.used.steps < 3, "there is room")
    return replace(s, used=replace(s.used, steps=s.used.steps + 1))
@bound
def Budget(c: C, s: S) -> bool:
    return conj(steps=s.used.steps <= c.steps)
"""


def test_a_step_towards_a_budget_of_0_is_not_beyond_it(tmp_path: Path) -> None:
    """A number that begins below 0 grows within a budget of 0."""
    model, module = model_of(tmp_path, BUDGET.replace("LEAST", "-1"))
    assert specialised(model, module.C()).left_out == ()
    assert "Step ==" in reading_text(model, module.C(), "Budget").tla


def test_a_configuration_in_which_nothing_changes_has_no_module(tmp_path: Path) -> None:
    model, module = model_of(tmp_path, BUDGET.replace("LEAST", "0"))
    assert specialised(model, module.C()).left_out == ("Step",)
    with pytest.raises(UsageFault, match="no step changes anything in this configuration"):
        reading_text(model, module.C(), "Budget")
