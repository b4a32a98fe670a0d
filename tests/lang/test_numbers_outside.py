"""A number that is not of its type: no reading takes it for another value, or loops as if it were of the type."""

from __future__ import annotations

from pathlib import Path

import pytest

import elrcheck
from elrcheck.lang.source import ModelError

MODEL = '''
from dataclasses import replace
from typing import Annotated

from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.runtime import action, always, config, init, op, put, record, state
from elrcheck.lang.types import Per, SeqMark, nat, sort

Few = Annotated[int, nat("Few", hi=2)]
Many = Annotated[int, nat("Many", hi=5)]
Place = Annotated[int, sort("Place", "places", ordered=True)]
Flags = Annotated[tuple[bool, ...], SeqMark(3)]


@config
class Config:
    places: int = 3


@record
class Pair:
    few: Few


@record
class Kit:
    marks: Annotated[tuple[bool, ...], Per(Place)]


@state
class State:
    few: Few | None
    place: Place | None
    marks: Annotated[tuple[bool, ...], Per(Place)]
    marked: Place
    many: Many
    kit: Kit | None
    flags: Flags


@init
def Init(c: Config) -> State:
    marks = tuple(False for p in range(c.places))
    return State(few=None, place=None, marks=marks, marked=2, many=0, kit=None, flags=())


@op
def narrow(s: State) -> Few:
    """Returns more than its type has."""
    return s.many


@op
def below(few: Few) -> bool:
    """Is given more than the type has."""
    return all(k != 4 for k in range(few))


@op
def first(flags: Flags, few: Few) -> Flags:
    """Is given less than the type has."""
    return flags[:few]


@action
def Step(c: Config, s: State) -> State:
    """Something changes."""
    return replace(s, CHANGE)


@always("P-1")
def Claimed(c: Config, s: State) -> bool:
    """It is false in plain Python, or nothing is known of it."""
    return CLAIM


MODEL = ProtocolModel(State, Config)
'''


def _model(folder: Path, change: str, claim: str) -> Path:
    file = folder / "outside.py"
    file.write_text(MODEL.replace("CHANGE", change).replace("CLAIM", claim))
    return file


@pytest.mark.parametrize(
    ("change", "claim", "leaf"),
    [
        ("few=s.marked - 3", "s.few is None", "few"),
        ("place=s.marked - 3", "s.place is None", "place"),
        ("few=s.marked - 3 if s.few is None else s.few", "s.few is None or s.few != 0", "few"),
        ("marks=put(s.marks, s.marked + 1, True)", "not any(s.marks[p] for p in range(c.places))", "marks[0]"),
        ("kit=Kit(marks=put(s.marks, s.marked + 1, True))", "s.kit is None or s.kit.marks == s.marks", "kit.marks[0]"),
        ("marks=put(s.marks, s.marked - 3, True)", "not any(s.marks[p] for p in range(c.places))", "marks[0]"),
    ],
)
def test_a_step_to_it_is_refused(change: str, claim: str, leaf: str, tmp_path: Path) -> None:
    """The number beside None is -1 inside a search, and a vector has no entry behind its last."""
    file = _model(tmp_path, change, claim)
    for engine in ("local", "numpy"):
        report = elrcheck.check(model=file, engine=engine)
        assert report.verdict == "inconclusive", engine
        assert [one.leaf for one in report.search.overflows] == [leaf], engine
    for any_size in (False, True):
        refuted = elrcheck.prove(model=file, fresh=True, any_size=any_size)
        assert refuted.verdict == "refuted"
        assert {cell.lemma for cell in refuted.cells if cell.verdict == "refuted"} >= {"Types"}


def test_within_an_expression_it_is_that_number(tmp_path: Path) -> None:
    claim = "(s.marked - 3 if s.many < 5 else s.few) is not None and (s.many - 1 if s.many < 5 else s.few) != None"
    file = _model(tmp_path, "many=min(s.many + 1, 4)", claim)
    assert elrcheck.check(model=file).verdict == "holds"
    assert elrcheck.prove(model=file, fresh=True).verdict == "proved"


@pytest.mark.parametrize(
    "claim",
    [
        "all(k != 4 for k in range(narrow(s)))",
        "below(s.many)",
        "all(k != 4 for k in range(Pair(few=s.many).few))",
        "all(k != -1 for k in range(narrow(s) - s.many - 1, 0))",
    ],
)
def test_a_loop_goes_to_the_number_and_not_to_the_limit_of_a_type(claim: str, tmp_path: Path) -> None:
    file = _model(tmp_path, "many=min(s.many + 1, 5)", claim)
    for engine in ("local", "numpy", "reference"):
        assert elrcheck.check(model=file, engine=engine).verdict == "violated", engine
    for any_size in (False, True):
        assert elrcheck.prove(model=file, fresh=True, any_size=any_size, timeout=1.0).verdict == "refuted"


@pytest.mark.parametrize(
    ("claim", "verdict"), [("not s.marks[s.many - 1]", "violated"), ("s.marks[1] == s.marks[s.many - 2]", "holds")]
)
def test_an_index_of_a_vector_below_0_counts_from_the_end(claim: str, verdict: str, tmp_path: Path) -> None:
    file = _model(tmp_path, "marks=put(s.marks, 2, True)", claim)
    for engine in ("local", "numpy", "reference"):
        assert elrcheck.check(model=file, engine=engine).verdict == verdict, engine
    proof = elrcheck.prove(model=file, fresh=True).verdict
    assert proof == ("refuted" if verdict == "violated" else "proved")


def test_an_index_below_0_counts_from_the_end_for_any_size(tmp_path: Path) -> None:
    """Only for the three places of the configuration the claim holds."""
    claim = "c.places == 3 or not s.marks[s.marked - 1]"
    file = _model(tmp_path, "marks=put(s.marks, c.places - 1, True)", claim)
    file.write_text(file.read_text().replace("marked=2", "marked=0"))
    verdicts = [elrcheck.check(model=file, settings={"places": n}).verdict for n in (3, 4)]
    assert verdicts == ["holds", "violated"]
    assert elrcheck.prove(model=file, fresh=True, any_size=True, timeout=1.0).verdict != "proved"


def test_a_slice_to_a_parameter_below_0_counts_from_the_end_for_any_size(tmp_path: Path) -> None:
    """Only for the three places of the configuration the claim holds."""
    claim = "c.places == 3 or len(first(s.flags, 0 - 1)) < 1"
    file = _model(tmp_path, "marked=0, flags=(*s.flags, True) if len(s.flags) < 2 else s.flags", claim)
    file.write_text(file.read_text().replace("marked=2", "marked=0"))
    verdicts = [elrcheck.check(model=file, settings={"places": n}).verdict for n in (3, 4)]
    assert verdicts == ["holds", "violated"]
    assert elrcheck.prove(model=file, fresh=True, any_size=True, timeout=1.0).verdict != "proved"


def test_the_size_of_a_set_is_a_number_of_the_next_state(tmp_path: Path) -> None:
    file = _model(tmp_path, "many=len(frozenset(p for p in range(c.places) if s.marks[p]))", "s.many == 0")
    assert elrcheck.check(model=file).verdict == "holds"
    report = elrcheck.prove(model=file, fresh=True)
    assert report.verdict == "proved" and report.possible is not None and report.possible.replayed == 1


def test_a_loop_to_a_number_without_a_limit_is_refused_by_a_proof(tmp_path: Path) -> None:
    """A search has room for the numbers up to the cap; a proof has no limit at all, whatever an operator promises."""
    file = _model(tmp_path, "many=s.many + 1", "all(k != 4 for k in range(narrow(s)))")
    file.write_text(file.read_text().replace('nat("Many", hi=5)', 'nat("Many", cap=5)'))
    with pytest.raises(ModelError, match="a number has no limit here"):
        elrcheck.prove(model=file, fresh=True)
