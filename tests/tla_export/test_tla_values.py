"""TLA+ texts of model values, and TLC's printed values back into model values."""

from __future__ import annotations

import enum
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elrcheck.lang.runtime import record, state
from elrcheck.lang.types import SeqMark, Ty, opt, type_of
from elrcheck.model.replicas import REPLICA, RSET, Replica, RSet, Vec
from elrcheck.tla_export.reading.parse import IDENTIFIER, ModelValue, TlaFunction, ValueSyntaxError, parse, text_of
from elrcheck.tla_export.reading.values import (
    RESERVED,
    ValueMismatch,
    identifier,
    read,
    read_state,
    read_text,
    show,
    show_call,
)

Log = Annotated[tuple[int, ...], SeqMark(3)]


class Mode(enum.Enum):
    UP = 0
    FENCED = 1


@record
class View:
    isr: RSet
    leader: Replica | None
    armed: bool


@state
class State:
    view: View
    log: Vec[Log]
    mode: Vec[Mode]
    seen: RSet | None


STATE = type_of(State)
VIEW = type_of(View)
VEC_INT = Ty("vec", "vector", Ty("nat", "int"), index=REPLICA)
SEQ_INT = type_of(Log)

views = st.builds(View, isr=st.frozensets(st.integers(0, 4)), leader=st.none() | st.integers(0, 4), armed=st.booleans())
states = st.builds(
    State,
    view=views,
    log=st.lists(st.lists(st.integers(-3, 9), max_size=3).map(tuple), min_size=1, max_size=4).map(tuple),
    mode=st.lists(st.sampled_from(Mode), min_size=1, max_size=4).map(tuple),
    seen=st.none() | st.frozensets(st.integers(0, 4)),
)


def as_function(pairs: dict[Any, Any]) -> TlaFunction:
    return TlaFunction(pairs.items())


scalars = st.booleans() | st.integers(-(2**31), 2**31) | st.text(max_size=5) | st.just(ModelValue("None"))
parsed_values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(tuple),
        st.frozensets(st.integers(), max_size=3),
        st.dictionaries(st.sampled_from(["isr", "leader", "_a1"]), inner, min_size=1).map(as_function),
        st.dictionaries(st.integers(-2, 0), inner, min_size=1).map(as_function),
    ),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("ty", "value", "text"),
    [
        (type_of(bool), True, "TRUE"),
        (type_of(int), 7, "7"),
        (type_of(int), -1, "(-1)"),
        (type_of(Mode), Mode.FENCED, '"FENCED"'),
        (RSET, frozenset({2, 0}), "{0, 2}"),
        (RSET, frozenset(), "{}"),
        (opt(RSET), None, "None"),
        (opt(RSET), frozenset({1}), "{1}"),
        (VEC_INT, (4, 5), "(0 :> 4 @@ 1 :> 5)"),
        (SEQ_INT, (4, 5), "<<4, 5>>"),
        (SEQ_INT, (), "<<>>"),
        (VIEW, View(frozenset({1}), None, False), "[isr |-> {1}, leader |-> None, armed |-> FALSE]"),
    ],
)
def test_text_of_each_kind_and_back(ty: Ty, value: object, text: str) -> None:
    assert show(ty, value) == text
    assert read_text(ty, text) == value


@given(states)
def test_states_survive_the_round_trip(value: State) -> None:
    assert read_text(STATE, show(STATE, value)) == value
    texts = {name: show(ty, getattr(value, name)) for name, ty in STATE.fields.items()}
    assert read_state(STATE, {name: parse(text) for name, text in texts.items()}) == value


@given(parsed_values)
def test_canonical_text_parses_back(value: object) -> None:
    text = text_of(value)  # type: ignore[arg-type]
    assert "\n" not in text
    assert text_of(parse(text)) == text


def test_tlc_habits() -> None:
    printed = """( 0 :> [leader |-> None, isr |-> {0, 1},
  armed |-> TRUE] @@
  1 :> [armed |-> FALSE, leader |-> 1, isr |-> 0..2] )"""
    assert read_text(Ty("vec", "Vec", VIEW), printed) == (
        View(frozenset({0, 1}), None, True),
        View(frozenset({0, 1, 2}), 1, False),
    )
    assert parse("(1 :> 5 @@ 2 :> 6)") == parse("<<5, 6>>") == (5, 6)
    assert parse('("a" :> 5)') == parse("[a |-> 5]")
    assert parse("0 :> 1 @@ 0 :> 2") == TlaFunction([(0, 1)]), "the left function of @@ wins"
    assert parse("1..0") == frozenset()
    assert parse(r'"a\"b\\"') == 'a"b\\'


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<<1",
        "{1,}",
        "[a 1]",
        "[a |-> 1, a |-> 2]",
        "[1 |-> ]",
        "1 2",
        "{1; 2}",
        ")",
        "1..<<>>",
        "1..99999999",
        "(" * 3000,
        "9" * 5000,
    ],
)
def test_what_is_not_a_value(text: str) -> None:
    with pytest.raises(ValueSyntaxError):
        parse(text)


@pytest.mark.parametrize(
    ("text", "path", "why"),
    [
        ("[isr |-> {0}, leader |-> 1]", "", "without armed"),
        ("[isr |-> {0}, leader |-> 1, armed |-> TRUE, x |-> 1]", "", "no field x"),
        ("[isr |-> {TRUE}, leader |-> 1, armed |-> TRUE]", "isr", "expected a broker"),
        ("[isr |-> {0}, leader |-> NoLeader, armed |-> TRUE]", "leader", "or None, found NoLeader"),
        ("[isr |-> {0}, leader |-> 1, armed |-> 1]", "armed", "expected TRUE or FALSE, found 1"),
        ("<<1>>", "", "expected a View record"),
    ],
)
def test_wrong_types_are_named_with_their_place(text: str, path: str, why: str) -> None:
    with pytest.raises(ValueMismatch) as caught:
        read_text(VIEW, text)
    assert caught.value.path == path
    assert why in caught.value.why


def test_a_vector_is_not_a_sequence() -> None:
    with pytest.raises(ValueMismatch):
        read(VEC_INT, (1, 2))
    with pytest.raises(ValueMismatch):
        read(SEQ_INT, TlaFunction([(0, 1), (1, 2)]))
    with pytest.raises(ValueMismatch, match=r"domain is \{0, 2\}"):
        read(VEC_INT, TlaFunction([(0, 1), (2, 2)]))


def test_printing_refuses_the_wrong_type_and_numbers_tlc_cannot_hold() -> None:
    with pytest.raises(ValueMismatch, match="isr"):
        show(VIEW, View([0], None, True))  # type: ignore[arg-type]
    with pytest.raises(ValueMismatch, match="32-bit"):
        show(type_of(int), 2**31)
    with pytest.raises(ValueMismatch):
        show(type_of(bool), 1)
    with pytest.raises(ValueMismatch):
        show(type_of(int), True)


def test_action_expressions() -> None:
    assert show_call("Fetch", (1, 0, False), (type_of(int), type_of(int), type_of(bool))) == "Fetch(1, 0, FALSE)"
    assert show_call("Tick", (), ()) == "Tick"
    types = (type_of(Mode), opt(type_of(int)), RSET)
    assert show_call("Go", (Mode.UP, None, frozenset({1, 0})), types) == 'Go("UP", None, {0, 1})'
    assert show_call("Put", ((1, 2),), (VEC_INT,)) == "Put((0 :> 1 @@ 1 :> 2))"
    with pytest.raises(ValueMismatch):
        show_call("Put", ((1, 2),), (RSET,))
    with pytest.raises(ValueMismatch, match="takes 2"):
        show_call("Put", (1,), (VEC_INT, VEC_INT))


@given(st.text(max_size=12) | st.sampled_from(sorted(RESERVED)) | st.just("WF_x"))
def test_identifiers_are_identifiers(text: str) -> None:
    name = identifier(text)
    assert IDENTIFIER.match(name) and name not in RESERVED
    assert identifier(name) == name


def test_identifiers_stay_readable() -> None:
    assert identifier("P-21 cex") == "P_21_cex"
    assert identifier("21") == "Name_21"
    assert identifier("") == "Name"
