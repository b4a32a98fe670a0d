"""Numbers with a noun, and guards without their letters."""

from __future__ import annotations

from elrcheck.lang.ir import guard_names
from elrcheck.model.protocol import load_model
from elrcheck.report.plain_words import LETTERS, several, unbound


def test_one_and_many() -> None:
    assert [several(n, "guard") for n in (0, 1, 2)] == ["0 guards", "1 guard", "2 guards"]
    assert several(2, "entry", "entries") == "2 entries"
    assert several(1200, "state", shown="1 200") == "1 200 states"


def test_guards_name_whom_they_mean() -> None:
    assert unbound("an answer of b is on its way") == "an answer of the broker is on its way"
    assert unbound("b's proposal, f and leader") == "the broker's proposal, the follower and leader"


def test_every_letter_in_a_guard_is_known() -> None:
    for fn in load_model().actions:
        letters = {name for name, _ in fn.params if len(name) == 1}
        assert letters <= set(LETTERS), fn.name
        assert not [g for g in guard_names(fn) for name in letters if f" {name} " in f" {unbound(g)} "]
