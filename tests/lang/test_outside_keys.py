"""An entry put outside the keys of a map: no reading goes on as if nothing had happened."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import elrcheck
from elrcheck.base.requests import Selection
from elrcheck.declared.select import resolve
from elrcheck.explorer.search.reference import search
from support.edits import replaced
from support.invoked import Invoke

MODEL = '''
import enum
from dataclasses import replace
from typing import Annotated

from elrcheck.lang.domains import every
from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.runtime import EMPTY, Map, action, always, config, init, put, record, require, sometimes, state
from elrcheck.lang.types import nat

Place = Annotated[int, nat("Place", hi=3)]
Key = tuple[Place, Place]
Wide = frozenset[tuple[Annotated[int, nat("A", hi=8)], Annotated[int, nat("B", hi=8)]]]


class Mark(enum.Enum):
    OPEN = "open"
    DONE = "done"


@record
class Pair:
    mark: Mark
    done: bool


@config
class Config:
    pass


@state
class State:
    marks: Map[KEY, VALUE]
    next: Place


@init
def Init(c: Config) -> State:
    return State(marks=Map({k: BEFORE for k in every(c, KEY)}), next=0)


@action
def Go(c: Config, s: State) -> State:
    """The next place."""
    require(s.next < 3, "there is a next one")
    return replace(s, next=s.next + 1)


@action
def Set(c: Config, s: State) -> State:
    """The place behind is marked."""
    require(s.next < 3 or s.next == 3, "there is a place behind")
    return replace(s, marks=put(s.marks, AT, AFTER))


@always("P-1")
def StillToSay(c: Config, s: State) -> bool:
    """Places are not left."""
    return s.next <= 3


@sometimes("W-1")
def Marked(c: Config, s: State) -> bool:
    """A place is marked."""
    return any(s.marks[k] == AFTER for k in every(c, KEY))


MODEL = ProtocolModel(State, Config)
'''
VALUES = {
    "bool": ("False", "True"),
    "Mark": ("Mark.OPEN", "Mark.DONE"),
    "Place": ("0", "1"),
    "Place | None": ("None", "2"),
    "frozenset[Place]": ("EMPTY", "frozenset({1, 3})"),
    "Wide": ("EMPTY", "frozenset({(1, 3)})"),
    "Pair": ("Pair(mark=Mark.OPEN, done=False)", "Pair(mark=Mark.OPEN, done=True)"),
    "Pair | None": ("None", "Pair(mark=Mark.DONE, done=True)"),
    "Map[Mark, bool]": ("Map({m: False for m in Mark})", "Map({m: True for m in Mark})"),
}
"""The type of an entry -> its initial value, and the one that is put."""
GUARDED = ("s.next < 3 or s.next == 3", "s.next < 3")


def _model(folder: Path, value: str, key: str = "Place", at: str = "s.next + 1") -> Path:
    before, after = VALUES[value]
    file = folder / "marks.py"
    text = MODEL.replace("AFTER", after).replace("BEFORE", before).replace("VALUE", value)
    file.write_text(text.replace("KEY", key).replace("AT", at))
    return file


@pytest.mark.parametrize(
    ("value", "key", "at"), [*((value, "Place", "s.next + 1") for value in VALUES), ("bool", "Key", "(3, s.next + 1)")]
)
def test_a_search_is_inconclusive(value: str, key: str, at: str, tmp_path: Path) -> None:
    file = _model(tmp_path, value, key, at)
    for engine in ("local", "numpy"):
        report = elrcheck.check(model=file, engine=engine)
        (overflow,) = report.search.overflows
        assert report.verdict == "inconclusive" and overflow.leaf.startswith("marks["), engine
        assert overflow.count == 8, "each of the steps from states at the last place, of which the map has 2^3"
    file.write_text(replaced(file.read_text(), *GUARDED, 1))
    guarded = elrcheck.check(model=file)
    selected = resolve(Selection(model=file))
    plain = search(selected.declared.whole(), selected.config)
    assert guarded.verdict == "holds" and not guarded.search.overflows
    assert (guarded.search.generated, guarded.search.distinct) == (plain.generated, plain.distinct)


def test_the_key_may_be_wrong_in_every_state(tmp_path: Path) -> None:
    report = elrcheck.check(model=_model(tmp_path, "bool", "Key", "(3, 4)"))
    assert report.verdict == "inconclusive" and report.search.overflows[0].leaf == "marks[(0,0)]"


def test_a_choice_in_a_step_decides_whether_it_is_put(tmp_path: Path) -> None:
    file = _model(tmp_path, "Mark", at="s.next + 1 if s.next < 3 else 0")
    assert elrcheck.check(model=file).verdict == "holds"
    put = "put(s.marks, s.next + 1, Mark.DONE)"
    file = _model(tmp_path, "Mark")
    file.write_text(replaced(file.read_text(), put, f"{put} if s.next < 3 else s.marks", 1))
    assert elrcheck.check(model=file).verdict == "holds"


def test_walks_and_a_proof_do_not_go_on_either(tmp_path: Path, invoke: Invoke) -> None:
    model = ("--model", str(_model(tmp_path, "bool")))
    code, out, _ = invoke("simulate", *model, "--walks", "100", "--seed", "1", "-f", "json")
    assert code == 3 and json.loads(out)["search"]["overflows"]
    code, _, err = invoke("prove", *model, "--fresh")
    assert code == 2 and "4 is not a key of the map" in err and "in Set in plain Python" in err and "marks.py:" in err
    patched = _model(tmp_path, "bool")
    patched.write_text(replaced(patched.read_text(), *GUARDED, 1))
    assert invoke("prove", *model, "--fresh")[0] == 0
