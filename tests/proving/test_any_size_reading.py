"""The reading for every size agrees with plain Python on states that are reached, and its axioms of sizes are true."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import z3

from elrcheck.base.requests import Selection
from elrcheck.declared.select import resolve
from elrcheck.lang.domains import domain
from elrcheck.lang.plain import PlainModel
from elrcheck.lang.types import Ty
from elrcheck.proof.any_size.definitions import OF_TWO, Counted, NamedTerms, of_one, of_two
from elrcheck.proof.any_size.evaluator import AnySizeEvaluator
from elrcheck.proof.any_size.next_state import Named
from elrcheck.proof.any_size.unsized_values import ComputedOnce, Members
from elrcheck.proof.any_size.unsized_values import Sequence as Elements
from elrcheck.proof.hypotheses import lemmas_of
from elrcheck.proof.z3_algebra import formula
from support.places import protocol

# ------------------------------------------------------------------------- sizes of sets


def false_for(size: int, axioms: Any, name: str) -> list[str]:
    """The axioms that are false of some sets of so many values, all of which are tried."""
    sort, values = z3.EnumSort(f"{name}{size}", [f"{name}{size}.{k}" for k in range(size)])
    false = set()
    variables = [z3.Const("m", sort)]
    for one, other in itertools.product(itertools.product((False, True), repeat=size), repeat=2):

        def counted(flags: Sequence[bool]) -> Counted:
            inside = [value for value, flag in zip(values, flags, strict=True) if flag]
            return Counted(lambda x: z3.Or(*(x == value for value in inside)), z3.IntVal(len(inside)))

        for which, axiom in axioms(counted(one), counted(other), z3.IntVal(size), variables):
            solver = z3.Solver()
            solver.add(z3.Not(axiom))
            if solver.check() != z3.unsat:
                false.add(which)
    return sorted(false)


def all_axioms(one: Counted, other: Counted, everything: Any, variables: list[Any]) -> Iterator[tuple[str, Any]]:
    yield from of_one(one, everything, variables)
    yield from of_two(one, other, everything, variables)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_axioms_of_sizes_are_true_of_all_sets(size: int) -> None:
    assert false_for(size, all_axioms, "Value") == []


def test_the_check_of_the_axioms_finds_one_that_is_false() -> None:
    def quorums_that_only_touch(one: Counted, other: Counted, everything: Any, variables: list[Any]) -> Any:
        shared = z3.Exists(variables, z3.And(one.holds(*variables), other.holds(*variables)))
        yield "touch", z3.Implies(one.size + other.size >= everything, shared)

    assert false_for(2, quorums_that_only_touch, "Touching") == ["touch"]


def test_every_axiom_about_two_sets_has_its_name_in_the_list() -> None:
    x = z3.Int("x")
    one = Counted(lambda y: y > 0, z3.Int("n"))
    assert tuple(name for name, _ in of_two(one, one, z3.Int("all"), [x])) == OF_TWO


def test_a_set_of_at_most_one_has_no_two_members() -> None:
    """What `ControllerRecord` says of the ISR while ELR is off."""
    sort, scope = z3.DeclareSort("Single"), NamedTerms()
    inside = z3.Function("inside", sort, z3.BoolSort())
    with scope.variables([sort]) as own:
        size = scope.size(own, inside(own[0]), None)
    one, other = z3.Consts("one other", sort)
    for most, answer in ((1, z3.unsat), (2, z3.sat)):
        formulas = [size <= most, inside(one), inside(other), one != other]
        solver = z3.Solver()
        solver.add(*formulas, *scope.needed(formulas, ()))
        assert solver.check() == answer


# ------------------------------------------------------------------------- states


class PlainValues:
    """Plain values as values of the reading, for a configuration whose sizes are fixed by `axioms`."""

    def __init__(self, evaluator: AnySizeEvaluator, config: Any) -> None:
        self.evaluator, self.structure, self.config = evaluator, evaluator.structure, config
        fixed = evaluator.sizes.arbitrary.items()
        self.axioms = [term == int(getattr(config, name)) for name, term in fixed]

    def value(self, plain: Any, ty: Ty) -> Any:
        structure = self.structure
        match ty.kind:
            case "opt":
                return structure.blank(ty) if plain is None else (True, self.value(plain, ty.elem))
            case "enum":
                return ty.members.index(plain.name)
            case "member":
                return structure.member_at(ty, plain)
            case "set":
                inside = [self.value(one, ty.elem) for one in plain]
                return Members(lambda x: structure.alg.or_([structure.eq(x, one, ty.elem) for one in inside]))
            case "vec":
                keys = domain(ty.keys, self.config)
                entries = [self.value(one, ty.elem) for one in ([plain[k] for k in keys] if ty.is_map else plain)]
                places = [self.value(key, ty.keys) for key in keys]
                return ComputedOnce(lambda x: self._chosen(x, places, entries, ty.keys, ty.elem))
            case "seq":
                entries = [self.value(one, ty.elem) for one in plain]
                number = Ty("nat", "int")
                at = lambda i: self._chosen(i, list(range(len(entries))), entries, number, ty.elem)  # noqa: E731
                return Elements(len(plain), ComputedOnce(at))
            case "record" | "state":
                return {name: self.value(ty.field_of(plain, name), part) for name, part in ty.fields.items()}
            case _:
                return plain

    def _chosen(self, index: Any, places: list[Any], entries: list[Any], keys: Ty, elem: Ty) -> Any:
        structure = self.structure
        value = structure.blank(elem)
        for place, entry in zip(places, entries, strict=True):
            value = structure.ite(structure.eq(index, place, keys), entry, value, elem)
        return value


def reached(plain: PlainModel, seed: int, steps: int) -> Iterator[Any]:
    """States of a random walk."""
    chance = random.Random(seed)
    state = chance.choice(list(plain.starts))
    for _ in range(steps):
        yield state
        following = [after for _, after in plain.successors(state)]
        if not following:
            return
        state = chance.choice(following)


@pytest.mark.parametrize(
    "name",
    [
        *("two_phase", "ewd840", "chang_roberts", "transaction_commit", "snapshot_store", "crdt", "sailfish"),
        pytest.param("paxos_voting", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("named", ["rules", "all"])
def test_the_reading_agrees_with_plain_python(name: str, named: Named) -> None:
    """Of each state, Z3 refutes that a lemma or property has another value, and not that it has its own."""
    selected = resolve(Selection(model=protocol(name)))
    model, config = selected.declared.with_lemmas(), selected.config
    decided, states = 0, list(reached(PlainModel(model, config), 7, 12))
    for state in states:
        evaluator = AnySizeEvaluator(model, config, named)
        reading = PlainValues(evaluator, config)
        fields = reading.value(state, model.state_ty)
        for fn in lemmas_of(model):
            truth = fn.source(config, state)
            read = formula(evaluator.call(fn, (fields,), {}))
            for other in (True, False):
                formulas = [*evaluator.sizes.axioms, *reading.axioms, read == z3.BoolVal(truth if other else not truth)]
                solver = z3.Solver()
                solver.set("timeout", 10_000)
                solver.add(*formulas, *evaluator.scope.needed(formulas, OF_TWO))
                answer = solver.check()
                assert answer != (z3.unsat if other else z3.sat), (fn.name, state)
                decided += answer == z3.unsat
    assert decided >= len(states) > 3


# ------------------------------------------------------------------------- sets of numbers

MARKS = '''
from typing import Annotated

from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.runtime import action, config, init, lemma, require, state
from elrcheck.lang.types import SeqMark

Marks = Annotated[tuple[bool, ...], SeqMark("slots")]


@config
class Config:
    slots: int = 4


@state
class State:
    marks: Marks


@init
def Init(c: Config) -> State:
    return State(marks=())


@action
def Append(c: Config, s: State, marked: bool) -> State:
    """One more place."""
    require(len(s.marks) < c.slots, "there is room")
    return State(marks=s.marks + (marked,))


@lemma
def Three(c: Config, s: State) -> bool:
    """Three places are marked."""
    return len(frozenset(k for k in range(len(s.marks)) if s.marks[k])) == 3


MODEL = ProtocolModel(State, Config)
'''


def test_a_set_of_numbers_has_its_size_and_that_of_the_first_ones_is_decided(tmp_path: Path) -> None:
    """All sets of up to four numbers: none contradicts the axioms, and these count those that leave no number out."""
    file = tmp_path / "marks.py"
    file.write_text(MARKS)
    selected = resolve(Selection(model=file))
    model, config = selected.declared.with_lemmas(), selected.config
    (three,) = lemmas_of(model)
    for length in range(config.slots + 1):
        for marks in itertools.product((False, True), repeat=length):
            evaluator = AnySizeEvaluator(model, config)
            reading = PlainValues(evaluator, config)
            fields = reading.value(model.state_ty.cls(marks), model.state_ty)
            read = formula(evaluator.call(three, (fields,), {}))
            answers = []
            for claimed in (read, z3.Not(read)):
                formulas = [*evaluator.sizes.axioms, *reading.axioms, claimed]
                solver = z3.Solver()
                solver.set("timeout", 10_000)
                solver.add(*formulas, *evaluator.scope.needed(formulas, OF_TWO))
                answers.append(solver.check())
            size = sum(marks)
            assert answers[size != 3] != z3.unsat, marks
            if all(marks[:size]):
                assert answers[size == 3] == z3.unsat, marks
