"""Properties that are false, in models that invite a proof to take them for true: none is proved."""

from __future__ import annotations

from pathlib import Path

import pytest

import elrcheck
from support.edits import replaced
from support.invoked import Invoke

MARKS = '''
from dataclasses import replace
from typing import Annotated

from elrcheck.lang.induction import Induction, RunHistory, WaitStage
from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.marks import Fair
from elrcheck.lang.runtime import (
    EMPTY, LeadsTo, action, always, config, init, leads_to, op, record, require, state)
from elrcheck.lang.types import nat, sort

Node = Annotated[int, sort("Node", "nodes")]
Few = Annotated[int, nat("Few", hi=2)]


@config
class Config:
    nodes: int = 3
    special: Node = 1


@state
class State:
    marked: frozenset[Node] = EMPTY


@record
class Past:
    count: Few


@init
def Init(c: Config) -> State:
    return State()


@action(fairness=Fair("it is marked"))
def Mark(c: Config, s: State, n: Node) -> State:
    """A node is marked."""
    require(n not in s.marked and (len(s.marked) < 2 or GUARD), "there is a node left")
    return replace(s, marked=s.marked | {n})


@op
def Never(c: Config) -> Past:
    return Past(count=0)


@op
def OneMore(c: Config, s: State, t: State, seen: Past) -> Past:
    return Past(count=seen.count + 1)


@op
def Counted(c: Config, s: State, seen: Past) -> bool:
    """The history counts the marks."""
    return len(s.marked) == seen.count


@op
def TwoUnmarked(c: Config, s: State) -> bool:
    """Node 2 is never marked."""
    return 2 not in s.marked


@op
def Unmarked(c: Config, s: State) -> bool:
    """Node 0 is not marked."""
    return 0 not in s.marked


@always("P-1")
def Claimed(c: Config, s: State) -> bool:
    """It is false."""
    return CLAIM


@leads_to("V-1")
def Ends(c: Config, s: State) -> LeadsTo:
    """Somebody is marked."""
    return LeadsTo(premise=True, conclusion=0 in s.marked)


MODEL = ProtocolModel(State, Config, induction=Induction(INDUCTION))
'''
HISTORY = "history=RunHistory(Past, Never, OneMore, (Counted,))"


def marks(folder: Path, claim: str, guard: str = "True", induction: str = "") -> Path:
    """The model with a claim, which a search refutes under some configuration."""
    file = folder / "marks.py"
    file.write_text(MARKS.replace("CLAIM", claim).replace("GUARD", guard).replace("INDUCTION", induction))
    return file


@pytest.mark.parametrize(
    "claim",
    [
        "2 not in s.marked",
        "c.special not in s.marked",
        "TwoUnmarked(c, s)",
        "min((n for n in s.marked), default=0) == 0",
        "next((n for n in range(c.nodes) if n in s.marked), None) != 1",
    ],
)
def test_a_property_that_tells_members_apart_is_asked_for_each_of_them(claim: str, tmp_path: Path) -> None:
    """A property of states is preserved by every step only if it is by those of each member."""
    file = marks(tmp_path, claim)
    assert elrcheck.check(model=file).verdict == "violated"
    report = elrcheck.prove(model=file, fresh=True)
    assert report.verdict == "refuted" and report.coverage is not None and report.coverage.renamed == 0


def test_a_least_member_cannot_be_read_for_any_size(tmp_path: Path) -> None:
    """Its place in the order of a sort is a number, and a proof for any size compares no members."""
    file = marks(tmp_path, "min((n for n in s.marked), default=None) is None or 0 in s.marked")
    with pytest.raises(elrcheck.UsageFault, match=r"marks.py:\d+: the least or greatest member"):
        elrcheck.prove(model=file, any_size=True)


def test_a_lemma_of_waits_that_tells_members_apart_is_asked_for_each_of_them(tmp_path: Path, invoke: Invoke) -> None:
    waits = "waits={Ends: (WaitStage(Unmarked, Mark, {'n': 0}),)}, wait_lemmas=(TwoUnmarked,)"
    file = marks(tmp_path, "len(s.marked) <= 3", induction=waits)
    code, out, _ = invoke("prove", "--liveness", "--model", str(file), "--fresh")
    assert code == 1 and "TwoUnmarked" in out and "marked: {} -> {2}" in out


def test_the_type_of_a_history_is_proved_for_any_size(tmp_path: Path) -> None:
    """With three nodes nobody is marked third, and the history counts to two; with four it does not."""
    file = marks(tmp_path, "len(s.marked) <= 2", "3 < c.nodes", HISTORY)
    assert elrcheck.prove(model=file, fresh=True).verdict == "proved"
    assert elrcheck.check(model=file, settings={"nodes": 4}).verdict == "violated"
    report = elrcheck.prove(model=file, any_size=True, timeout=1.0)
    assert report.verdict == "inconclusive"
    assert [(cell.lemma, cell.verdict) for cell in report.cells if cell.verdict != "proved"] == [("Types", "unknown")]


def test_the_first_value_of_a_history_is_of_its_type_for_any_size(tmp_path: Path) -> None:
    file = marks(tmp_path, "len(s.marked) <= 2", "3 < c.nodes", HISTORY)
    text = replaced(file.read_text(), "Past(count=0)", "Past(count=0 if c.nodes < 4 else 3)", 1)
    text = replaced(text, "seen.count + 1", "seen.count if 3 < c.nodes else seen.count + 1", 1)
    file.write_text(replaced(text, "len(s.marked) == seen.count", "len(s.marked) == seen.count or 3 < c.nodes", 1))
    report = elrcheck.prove(model=file, any_size=True, timeout=1.0)
    assert [(one.name, one.verdict) for one in report.initiation] == [("Types", "unknown"), ("Counted", "proved")]


@pytest.mark.parametrize("step", [False, True], ids=["states", "steps"])
def test_what_the_sizes_of_a_configuration_decide_is_proved_for_any_size(step: bool, tmp_path: Path) -> None:
    """At most two nodes are marked if there are two; that is no reason to leave the property out for any size."""
    file = marks(tmp_path, "len(s.marked) <= 2", induction=HISTORY)
    text = replaced(file.read_text(), 'nat("Few", hi=2)', 'nat("Few")', 1)
    if step:
        text = replaced(text, "Claimed(c: Config, s: State)", "Claimed(c: Config, s: State, t: State)", 1)
        text = replaced(text, "len(s.marked) <= 2\n", "len(t.marked) <= 2\n", 1)
    file.write_text(replaced(text, "nodes: int = 3", "nodes: int = 2", 1))
    bounded = elrcheck.prove(model=file, fresh=True)
    assert bounded.verdict == "proved" and [one.id for one in bounded.skipped] == ["P-1"]
    report = elrcheck.prove(model=file, any_size=True, timeout=1.0)
    assert report.verdict == "inconclusive" and not report.skipped


def test_what_constants_decide_says_nothing_for_any_size_either(tmp_path: Path) -> None:
    file = marks(tmp_path, "len(s.marked) <= c.nodes", induction=HISTORY)
    file.write_text(replaced(file.read_text(), 'nat("Few", hi=2)', 'nat("Few")', 1))
    report = elrcheck.prove(model=file, any_size=True)
    assert report.verdict == "proved" and [one.id for one in report.skipped] == ["P-1"]
