"""A model in a file declares the history that its lemmas speak of, as Kafka's partition does."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.invoked import Invoke

LAMPS = '''
from dataclasses import replace
from typing import Annotated

from elrcheck.lang.induction import Induction, RunHistory
from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.runtime import EMPTY, action, always, config, init, op, record, require, state
from elrcheck.lang.types import sort

Lamp = Annotated[int, sort("Lamp", "lamps")]


@config
class Config:
    lamps: int = 2


@state
class State:
    lit: frozenset[Lamp] = EMPTY
    worn: frozenset[Lamp] = EMPTY


@record
class Past:
    used: frozenset[Lamp]


@init
def Init(c: Config) -> State:
    return State()


@action
def Switch(c: Config, s: State, lamp: Lamp) -> State:
    """A lamp is switched on or off, and wears from the first time on."""
    lit = s.lit - {lamp} if lamp in s.lit else s.lit | {lamp}
    return replace(s, lit=lit, worn=s.worn | lit)


@op
def Unused(c: Config) -> Past:
    return Past(used=EMPTY)


@op
def UsedAfter(c: Config, s: State, t: State, seen: Past) -> Past:
    return Past(used=seen.used | t.lit)


@op
def WornIfUsed(c: Config, s: State, seen: Past) -> bool:
    """A lamp is worn if it has ever been lit."""
    return s.worn == seen.used


@op
def LitIsUsed(c: Config, s: State, seen: Past) -> bool:
    """Lamps that are lit have been used."""
    return s.lit <= seen.used


@always("P-1")
def LitIsWorn(c: Config, s: State) -> bool:
    """Every lamp that is lit is worn."""
    return s.lit <= s.worn


MODEL = ProtocolModel(
    State, Config, induction=Induction(history=RunHistory(Past, Unused, UsedAfter, (WornIfUsed, LitIsUsed)))
)
'''


@pytest.fixture
def lamps(tmp_path: Path) -> Path:
    file = tmp_path / "lamps.py"
    file.write_text(LAMPS)
    return file


def test_lemmas_about_the_history_prove_a_property(invoke: Invoke, lamps: Path) -> None:
    code, out, _ = invoke("prove", "--model", str(lamps))
    assert code == 0 and "P-1" in out
    assert invoke("check", "--model", str(lamps))[0] == 0


def test_a_step_that_breaks_such_a_lemma_is_shown_with_the_history(invoke: Invoke, lamps: Path) -> None:
    lamps.write_text(LAMPS.replace("worn=s.worn | lit", "worn=lit"))
    code, out, _ = invoke("prove", "--model", str(lamps))
    assert code == 1 and "Switch does not preserve" in out and "seen.used" in out


def test_a_history_of_anything_but_sets_is_refused(invoke: Invoke, lamps: Path) -> None:
    field = "    used: frozenset[Lamp]\n"
    lamps.write_text(LAMPS.replace(field, field + "    dark: bool = False\n"))
    code, _, err = invoke("prove", "--model", str(lamps))
    assert code == 2 and "a history has fields that are sets" in err and "lamps.py:" in err


def test_an_assumption_leaves_out_steps_and_must_allow_others(invoke: Invoke, lamps: Path) -> None:
    """Lamps that have been used are still lit, if none is switched off; that may not mean that none goes on."""
    assumed = """@op
def StaysLit(c: Config, s: State, t: State) -> bool:
    \"\"\"No lamp is switched off.\"\"\"
    return s.lit <= t.lit


@op
def GoesOn(c: Config, s: State, t: State) -> bool:
    \"\"\"a lamp goes on\"\"\"
    return s.lit <= t.lit and s.lit != t.lit


MODEL ="""
    text = LAMPS.replace("s.lit <= seen.used", "s.lit == seen.used").replace("MODEL =", assumed)
    lamps.write_text(text)
    assert invoke("prove", "--model", str(lamps))[0] == 1
    with_it = "induction=Induction(assumptions=(StaysLit,), allowed={StaysLit: (GoesOn,)}, "
    lamps.write_text(text.replace("induction=Induction(", with_it))
    assert invoke("prove", "--model", str(lamps))[0] == 0
    lamps.write_text(
        text.replace("induction=Induction(", with_it).replace("return s.lit <= t.lit\n", "return s.lit == t.lit\n")
    )
    code, out, _ = invoke("prove", "--model", str(lamps))
    assert code != 0 and "the assumption StaysLit excludes what it must allow" in out
