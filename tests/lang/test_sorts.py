"""Models with sorts of their own: sets of records, several initial states, sequences that lose their first elements."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from elrcheck.explorer.search.reference import search
from elrcheck.lang import value_layout
from elrcheck.lang.algebra import PACKED, ConcreteAlgebra
from elrcheck.lang.evaluate import Evaluator
from elrcheck.lang.load import Model, initial_states, load
from elrcheck.lang.lowering import dag_algebra
from elrcheck.lang.lowering.lower import lower
from elrcheck.lang.source import ModelError
from elrcheck.lang.structure import Structure
from elrcheck.lang.types import record_fields
from support.edits import replaced
from support.small_models import module_of
from support.small_programs import naive_search

HEADER = """
from __future__ import annotations
import enum
from dataclasses import replace
from typing import Annotated
from elrcheck.lang.runtime import Map
from elrcheck.lang.runtime import EMPTY, action, bound, config, init, op, put, record, require, state
from elrcheck.lang.types import Per, SeqMark, nat, sort

Node = Annotated[int, sort("Node", "nodes", ordered=True)]
Value = Annotated[int, sort("Value", "values")]
Round = Annotated[int, nat("Round", hi=2)]
class Kind(enum.Enum):
    ASK = 1
    TELL = 2
@config
class C:
    nodes: int = 3
    values: int = 2
    most: int = 2
@record
class Message:
    sender: Node
    kind: Kind
    value: Value | None
    round: Round
Queue = Annotated[tuple[Value, ...], SeqMark("most")]
@state
class S:
    sent: frozenset[Message]
    seen: Annotated[tuple[frozenset[Value], ...], Per(Node)]
    queue: Queue
    at: Node
@init
def Init(c: C, at: Node, first: frozenset[Value]) -> S:
    require(at != 1, "node 1 does not begin")
    return S(sent=EMPTY, seen=tuple(first if n == at else EMPTY for n in range(c.nodes)), queue=(), at=at)
@action
def Send(c: C, s: S, n: Node, v: Value | None) -> S:
    require(len(s.sent) < 2, "little was sent")
    message = Message(sender=n, kind=Kind.TELL, value=v, round=1)
    return replace(s, sent=s.sent | {message}, at=0 if s.at == c.nodes - 1 else s.at + 1)
@action
def Receive(c: C, s: S, m: Message) -> S:
    require(m in s.sent and m.value is not None, "it was sent")
    return replace(s, sent=s.sent - frozenset({m}), seen=put(s.seen, m.sender, s.seen[m.sender] | {m.value}))
@op
def filled(s: S) -> Queue:
    return (*(*s.queue, 1), 0)
@action
def Fill(c: C, s: S, v: Value) -> S:
    require(len(s.queue) < c.most, "there is room")
    return replace(s, queue=(*s.queue, v))
@action
def Drop(c: C, s: S) -> S:
    require(len(s.queue) > 0, "there is something")
    return replace(s, queue=s.queue[1:])
"""
TRUE = [
    "frozenset(range(c.nodes)) >= frozenset(n for n in range(c.nodes) if n > 0)",
    "len(frozenset(Message(sender=n, kind=Kind.ASK, value=None, round=0) for n in range(c.nodes))) == 3",
    "frozenset(s.at for n in range(c.nodes)) == frozenset({s.at})",
    "all(m.round == 2 for m in frozenset({Message(sender=0, kind=Kind.ASK, value=1, round=2)}))",
    "Message(sender=0, kind=Kind.ASK, value=1, round=2) not in s.sent",
    "filled(s)[1:] == filled(s)[len(filled(s)) - 1:] and filled(s)[5:] == () and filled(s)[s.at:][:0] == ()",
    "(*filled(s)[:1], 0) == filled(s)",
    "s.at + 1 > s.at and c.nodes - 1 >= s.at",
    "tuple(n + 1 for n in range(c.nodes))[2] == 3",
    "sum(1 for v in range(c.values) if v in s.seen[s.at]) == len(s.seen[s.at])",
    "frozenset(filled(s)) == frozenset({0, 1}) and 1 in filled(s)",
    "s.seen[1] == EMPTY and (EMPTY if s.at == 1 else s.seen[s.at]) == s.seen[s.at]",
]
REFUSED = {
    "two sorts": ("return s.at in s.seen[0]", "a frozenset[Value] has no Node"),
    "another index": ("return 0 in s.seen[s.queue[0]]", "indexed by a Node, not by Value"),
    "order of a sort": ("return s.queue[0] < s.queue[1]", "a number is expected, this is Value"),
    "mixed set": ("return s.seen[0] == frozenset({Kind.ASK})", "expected Value, this is Kind"),
}


def loaded(folder: Path, text: str = HEADER) -> tuple[Model, ModuleType]:
    module = module_of(folder, text)
    return load(module.S, module.C, [module]), module


@pytest.mark.parametrize("expression", TRUE)
def test_python_and_the_evaluator_agree_in_every_initial_state(tmp_path: Path, expression: str) -> None:
    model, source = loaded(tmp_path, f"{HEADER}\n@op\ndef f(c: C, s: S) -> bool:\n    return {expression}\n")
    config = source.C()
    evaluator = Evaluator(model.fns, config, ConcreteAlgebra())
    states = initial_states(model, config)
    assert len(states) == 8, "node 0 or 2 begins, with any set of two values"
    for state in states:
        assert source.f(config, state) is True
        assert evaluator.call(model.fns["f"], (evaluator.structure.lift(state, model.state_ty),), {}) is True


@pytest.mark.parametrize("case", REFUSED)
def test_sorts_are_not_mixed(tmp_path: Path, case: str) -> None:
    body, message = REFUSED[case]
    with pytest.raises(ModelError) as caught:
        loaded(tmp_path, f"{HEADER}\n@op\ndef f(c: C, s: S) -> bool:\n    {body}\n")
    assert message in str(caught.value)


@pytest.mark.parametrize("most", [62, PACKED], ids=["one leaf", "a leaf for each member"])
def test_the_program_counts_what_the_plain_search_counts(
    tmp_path: Path, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A set of more possible messages than are packed is laid out in another way than a smaller one."""
    for module in (value_layout, dag_algebra):
        monkeypatch.setattr(module, "PACKED", most)
    model, source = loaded(tmp_path)
    config = source.C(values=1, most=1)
    members = Structure(config, ConcreteAlgebra()).count(record_fields(source.S)["sent"].elem)
    assert (members > most) == (most == PACKED)
    plain, program = search(model, config), naive_search(lower(model, config, ()).program)
    assert (plain.generated, plain.distinct) == (program.generated, len(program.states))
    assert plain.distinct > 100


def test_a_state_goes_into_the_program_and_out_again(tmp_path: Path) -> None:
    model, source = loaded(tmp_path)
    config = source.C()
    program = lower(model, config)
    for state in initial_states(model, config):
        assert program.decode(program.encode(state)) == state


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('sort("Node", "nodes", ordered=True)', 'sort("Node", "nods", ordered=True)', "the size 'nods' of Node"),
        ("require(at != 1,", "require(at > 2,", "there is no initial state"),
        ('Round = Annotated[int, nat("Round", hi=2)]', "Round = int", "Message is infinite"),
        ("at: Node\n", "at: Node\n    last: Queue | None\n", "a record that has one can be None"),
        ("Per(Node)", "Per(Round)", "for each Round write Map[Round, T]"),
        ("Per(Node)", "Per(tuple[Node, Value])", "write Map[tuple[Node, Value], T]"),
        ("at: Node\n", "at: Node\n    last: Map[Node, Round]\n", "a tuple: Annotated[tuple[Round, ...], Per(Node)]"),
        ("at: Node\n", "at: Node\n    last: Map[int, Round]\n", "the keys of a map are of a type with finitely many"),
        ("at: Node\n", "at: Node\n    last: Map[Round, Round] | None\n", "a record that has one can be None"),
    ],
)
def test_a_mistake_about_sorts_is_named(tmp_path: Path, old: str, new: str, says: str) -> None:
    with pytest.raises(ModelError) as caught:
        model, source = loaded(tmp_path, replaced(HEADER, old, new))
        initial_states(model, source.C())
    assert says in str(caught.value)


def test_a_counter_is_refused_with_what_to_write_instead(tmp_path: Path) -> None:
    text = replaced(HEADER, "import enum\n", "import collections\nimport enum\n")
    with pytest.raises(ModelError, match="a bag is a map to a bounded number of copies"):
        loaded(tmp_path, replaced(text, "sent: frozenset[Message]", "sent: collections.Counter[Message]"))
