"""What the language offers for protocols in general means the same in every reading; TLC judges what is printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from elrcheck.lang.load import Model
from elrcheck.lang.source import ModelError
from support.readings import assert_readings_agree, model_of

RING = """
Slot = Annotated[int, nat("Slot", hi=6)]
Node = Annotated[int, sort("Node", "size", ordered=True)]
Index = Annotated[int, nat("Index", cap=30)]
@config
class C:
    size: int = 3
    slots: int = 7
@state
class S:
    head: Slot
    written: Index
    at: Node
@init
def Init(c: C) -> S:
    return S(head=0, written=0, at=0)
@action
def Write(c: C, s: S) -> S:
    require(s.written - s.head // 2 < 20, "there is room")
    return replace(s, head=(s.head + 5) % c.slots, written=s.written + 1, at=(s.at + 2) % c.size)
@action
def Read(c: C, s: S, n: Node) -> S:
    require((s.written // c.size) % 2 == 1 and n == (s.at + s.written) % c.size, "the round is odd")
    return replace(s, at=(n - 1) % c.size)
"""


def case(text: str, *expressions: str) -> tuple[str, tuple[str, ...]]:
    return text, expressions


CASES = {
    "division": case(
        RING,
        "s.written % 4 == 3",
        "s.written // c.slots >= 1",
        "(s.head - s.written) % 5 == 2",
        "(s.head - s.written) // 4 < -2",
        "(s.head - 9) // c.size + (s.at - 1) % 2 == -2",
        "all((s.written + n) % c.size != s.at for n in range(2))",
        "any(k > 1 for k in range(s.head // 2))",
        "any(s.head == k for k in range(s.written % 5))",
        "(s.written % 16) // 8 == 1 and s.written // 1 % 1 == 0",
    )
}
REFUSED = {
    "by a variable": (RING, "s.head % s.written == 0", "a divisor is a positive number"),
    "by zero": (RING, "s.head // 0 == 0", "a divisor is a positive number"),
    "by a negative number": (RING, "s.head % (0 - 2) == 0", "a divisor is a positive number"),
    "true division": (RING, "s.head / 2 == 1", "numbers have +, -, // and %"),
}


@pytest.mark.parametrize("tlc", [False, pytest.param(True, marks=pytest.mark.tlc)], ids=["ours", "tlc"])
@pytest.mark.parametrize("name", CASES)
def test_all_readings_agree(name: str, tlc: bool, tmp_path: Path) -> None:
    text, expressions = CASES[name]
    model, module = model_of(tmp_path, text, expressions)
    assert_readings_agree(model, module.C(), tmp_path, tlc=tlc)


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_reading_is_refused_with_its_place(name: str, tmp_path: Path) -> None:
    text, expression, message = REFUSED[name]
    with pytest.raises(ModelError) as caught:
        model_of(tmp_path, text, (expression,))
    assert message in str(caught.value) and ".py:" in str(caught.value) and "^" in str(caught.value)


def test_a_model_lists_what_it_divides_by(tmp_path: Path) -> None:
    model: Model = model_of(tmp_path, RING, CASES["division"][1])[0]
    assert model.divisors == {"size", "slots"}
