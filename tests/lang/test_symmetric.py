"""Symmetric sorts: what tells members apart is refused with its place, and all renamings are gone through."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import pytest

from elrcheck.base.requests import Limits
from elrcheck.explorer.kernel.symmetry.canonical_ir import Canonical
from elrcheck.explorer.search.reference import search
from elrcheck.explorer.search.vector import VectorSearch
from elrcheck.lang.load import Model, load
from elrcheck.lang.lowering.leaf_images import plain_changes, up_to_renaming
from elrcheck.lang.lowering.lower import lower
from elrcheck.lang.plain import PlainModel
from elrcheck.lang.runtime import ModelConfig
from elrcheck.lang.source import ModelError
from elrcheck.lang.symmetry.alike_members import all_renamings, renamed
from support.edits import replaced
from support.searches import search as compiled
from support.small_models import module_of

TEXT = '''
from __future__ import annotations
from dataclasses import replace
from typing import Annotated
from elrcheck.lang.domains import every
from elrcheck.lang.runtime import EMPTY, Map, action, always, config, init, op, put, record, require, state
from elrcheck.lang.types import Per, SeqMark, nat, sort

Node = Annotated[int, sort("Node", "nodes", symmetric=True)]
Value = Annotated[int, sort("Value", "values", symmetric=True)]
Place = Annotated[int, sort("Place", 2, ordered=True)]

@config
class C:
    nodes: int = 3
    values: int = 2
    least: Node = 0
    boss: Node | None = None

@record
class Message:
    to: Node
    value: Value | None

@record
class Ticket:
    first: Node
    second: Node
    value: Value
    place: tuple[Place, bool, bool]

@state
class S:
    holder: Node | None
    log: Annotated[tuple[Node, ...], SeqMark(2)]
    last: Message | None
    votes: Annotated[tuple[frozenset[Value], ...], Per(Node)]
    boxes: Annotated[tuple[Annotated[tuple[tuple[Value, Node], ...], SeqMark(1)], ...], Per(Node)]
    issued: frozenset[Ticket]
    met: Map[tuple[Node, Value], Node | None]

@init
def Init(c: C, v: Value) -> S:
    return S(
        holder=None,
        log=(),
        last=None,
        votes=tuple(frozenset({v}) for n in range(c.nodes)),
        boxes=tuple(() for n in range(c.nodes)),
        issued=EMPTY,
        met=Map({k: None for k in every(c, tuple[Node, Value])}),
    )

@action
def Take(c: C, s: S, n: Node) -> S:
    require(s.holder is None and len(s.log) < 2, "it is free")
    return replace(s, holder=n, log=(*s.log, n))

@action
def Send(c: C, s: S, n: Node, v: Value | None) -> S:
    require(s.holder is not None and s.holder != n, "it is held")
    return replace(s, holder=None, last=Message(to=n, value=v))

@action
def Receive(c: C, s: S) -> S:
    require(s.last is not None and s.last.value is not None and s.boxes[s.last.to] == (), "something was sent")
    box = s.boxes[s.last.to] + ((s.last.value, s.last.to),)
    return replace(s, last=None, boxes=put(s.boxes, s.last.to, box), votes=put(s.votes, s.last.to, EMPTY))

@action
def Issue(c: C, s: S, p: Place) -> S:
    require(s.issued == EMPTY and s.last is not None and s.last.value is not None and s.holder is not None, "new")
    ticket = Ticket(first=s.holder, second=s.last.to, value=s.last.value, place=(p, p == 1, False))
    return replace(s, issued=frozenset({ticket}), met=put(s.met, (s.holder, s.last.value), s.last.to))

@always("P-1")
def Short(c: C, s: S) -> bool:
    """Few take it."""
    return len(s.log) < 2 or s.issued == EMPTY

@always("P-2")
def Stays(c: C, s: S, t: S) -> bool:
    """No box changes."""
    return s.issued == EMPTY or s.boxes == t.boxes
'''
REFUSED = {
    "a number": ("return s.holder == 0", "names the member 0 by its number"),
    "an entry": ("return s.votes[1] == EMPTY", "names the member 1 by its number"),
    "a member of a set": ("return s.holder is None or s.votes[s.holder] == frozenset({1})", "names the member 1"),
    "a list": ("return s.log == tuple(range(c.nodes))", "lists the members in the order of their numbers"),
    "the first": ("return s.holder == next((n for n in range(c.nodes) if s.votes[n] == EMPTY), None)", "the first"),
    "the least": ("return s.holder == min((n for n in range(c.nodes)), default=None)", "takes the least"),
    "of the configuration": ("return s.holder == c.least", "takes members from the configuration"),
    "perhaps of the configuration": ("return s.holder == c.boss", "takes members from the configuration"),
}


def loaded(folder: Path, text: str = TEXT) -> tuple[Model, ModelConfig]:
    module = module_of(folder, text)
    return load(module.S, module.C, [module]), module.C()


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("called", [False, True], ids=["property", "operator"])
def test_what_tells_members_apart_is_refused_with_its_place(tmp_path: Path, case: str, called: bool) -> None:
    body, says = REFUSED[case]
    head = '@always("P-3")\ndef Odd(c: C, s: S) -> bool:\n    """Odd."""\n'
    text = f"{TEXT}\n{head}    {body}\n"
    if called:
        text = f"{TEXT}\n@op\ndef odd(c: C, s: S) -> bool:\n    {body}\n\n{head}    return odd(c, s)\n"
    with pytest.raises(ModelError) as caught:
        loaded(tmp_path, text)
    fault = caught.value
    assert says in fault.message and "declared symmetric" in fault.message
    assert fault.excerpt == body and ("odd" if called else "Odd") in fault.message
    assert loaded(tmp_path, replaced(text, ", symmetric=True", "")), "without the declaration it is a model"


def test_a_lemma_may_tell_members_apart(tmp_path: Path) -> None:
    text = (
        replaced(TEXT, "init, op", "init, lemma, op")
        + "\n@lemma\ndef L(c: C, s: S) -> bool:\n    return s.holder != 0\n"
    )
    assert loaded(tmp_path, text)[0].lemmas


def test_an_order_is_no_symmetry(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be ordered and symmetric"):
        loaded(tmp_path, replaced(TEXT, "2, ordered=True", "2, ordered=True, symmetric=True"))


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_swaps_of_neighbours_go_through_all_orders(size: int) -> None:
    order, met = list(range(size)), {tuple(range(size))}
    for swap in plain_changes(size):
        order[swap], order[swap + 1] = order[swap + 1], order[swap]
        assert tuple(order) not in met
        met.add(tuple(order))
    assert met == set(itertools.permutations(range(size))) and len(met) == math.factorial(size)


@pytest.mark.slow
def test_all_engines_count_one_state_of_each_class(tmp_path: Path) -> None:
    """Members in sequences, options, records, keys of maps and sets that are not packed are renamed."""
    model, config = loaded(tmp_path)
    plain, lowered = PlainModel(model, config), lower(model, config)
    renamings = list(all_renamings(model.symmetric_sorts, config))
    assert len(renamings) == 12
    reached, todo = set(plain.starts), list(plain.starts)
    while todo:
        for _, after in plain.successors(todo.pop()):
            if after not in reached:
                reached.add(after)
                todo.append(after)
    classes = {frozenset(renamed(state, model.state_ty, to) for to in renamings) for state in reached}
    assert set().union(*classes) == reached and len(classes) < len(reached) / 8
    reduced = up_to_renaming(lowered)
    kernel = compiled(reduced.program)
    reference = search(model, config, symmetry=True)
    vector = VectorSearch(reduced.program, limits=Limits())
    numbers = vector.run(None, "complete")
    assert kernel.distinct == reference.distinct == numbers.distinct == len(classes)
    assert (kernel.generated, kernel.levels, kernel.first) == (numbers.generated, numbers.levels, numbers.first)
    assert (kernel.new_states, kernel.enabled, kernel.deadlocks) == (
        numbers.new_states,
        numbers.enabled,
        numbers.deadlocks,
    )
    assert (kernel.generated, kernel.levels) == (reference.generated, reference.levels)
    assert {reduced.program.checks[k].name: depth for k, depth in kernel.first.items()} == reference.first
    assert compiled(lowered.program).distinct == len(reached)
    for check, rows in kernel.traces.items():
        states = [reduced.decode(row) for row in rows]
        assert states[0] in plain.starts and len(states) == kernel.first[check] + 1
        for before, after in itertools.pairwise(states):
            assert after in [state for _, state in plain.successors(before)]
        fn = next(fn for fn in model.checks if fn.ident == reduced.program.checks[check].name)
        assert not plain.holds(fn, *(states[-2:] if fn.is_step else states[-1:]))
    assert len(kernel.traces) == 2


def test_the_least_image_is_the_same_for_all_images(tmp_path: Path) -> None:
    model, config = loaded(tmp_path)
    lowered = up_to_renaming(lower(model, config))
    run = VectorSearch(lowered.program, limits=Limits())
    run.run(None, "complete")
    canonical = Canonical(lowered.program, run.layout)
    for state in [lowered.decode(run.layout.unpack(row)) for row in run.levels[3]]:
        images = {renamed(state, model.state_ty, to) for to in all_renamings(model.symmetric_sorts, config)}
        rows = run.layout.pack_rows([lowered.encode(image) for image in images])
        assert len({tuple(row) for row in canonical.rows(rows).tolist()}) == 1
        assert min(map(tuple, rows.tolist())) == tuple(canonical.rows(rows)[0].tolist())


def test_initial_states_that_tell_members_apart_are_refused(tmp_path: Path) -> None:
    """Where the source does not show it: the guard of a choice is plain Python as well."""
    model, config = loaded(tmp_path)
    first = model.init.source
    object.__setattr__(model.init, "source", lambda c, v: first(c, 0))
    with pytest.raises(ModelError, match="the initial states change if members 0 and 1 of Value are swapped"):
        up_to_renaming(lower(model, config))
