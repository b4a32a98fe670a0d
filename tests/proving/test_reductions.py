"""`prove --reductions`: a reduction of a search is a theorem about the rules, and a false one is refused."""

from __future__ import annotations

import difflib
import json
from pathlib import Path

import pytest

from elrcheck.base.progress import Silent
from elrcheck.base.requests import Selection
from elrcheck.declared.select import resolve
from elrcheck.invariants.reductions.representatives import REDUCTIONS
from elrcheck.lang.plain import Label
from elrcheck.model.choices import Propagation
from elrcheck.model.config import Config
from elrcheck.proving.prove_reductions import left_out_steps
from elrcheck.results.prove_report import CellReport
from elrcheck.tests.support.places import ROOT
from support.invoked import Invoke

DOORS = '''
from dataclasses import replace
from typing import Annotated

from elrcheck.lang.induction import Induction, Reduction
from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.runtime import action, always, config, init, op, require, state
from elrcheck.lang.types import nat

Code = Annotated[int, nat("Code", hi=3)]
Uses = Annotated[int, nat("Uses", hi=2)]


@config
class Config:
    forgets: bool = False
    keeps_code: bool = False


@state
class State:
    """code: opens the closed door; no rule reads it while the door is open."""

    is_open: bool = False
    code: Code = 0
    uses: Uses = 0


@init
def Init(c: Config) -> State:
    return State()


@action
def SetCode(c: Config, s: State, code: Code) -> State:
    require(not s.is_open, "the door is closed")
    return replace(s, code=code)


@action
def Open(c: Config, s: State, code: Code) -> State:
    require(not s.is_open, "the door is closed")
    require(s.code == code, "the code is right")
    require(s.uses < 2, "it is used twice")
    return replace(s, is_open=True, code=0 if c.forgets else s.code, uses=s.uses + 1)


@action
def Close(c: Config, s: State) -> State:
    require(s.is_open, "the door is open")
    return replace(s, is_open=False, code=0)


@op
def without_code(c: Config, s: State) -> State:
    """The state without the code of an open door."""
    return replace(s, code=0) if s.is_open else s


@always("P-1")
def FewUses(c: Config, s: State) -> bool:
    """The door is used twice at most."""
    return s.uses <= 2


MODEL = ProtocolModel(
    State, Config, induction=Induction(reductions=(Reduction("code", without_code, {"forgets": True}),))
)
'''


@pytest.fixture
def doors(tmp_path: Path) -> Path:
    file = tmp_path / "doors.py"
    file.write_text(DOORS)
    return file


def proof(invoke: Invoke, file: Path) -> tuple[int, dict[str, object]]:
    code, out, _ = invoke("prove", "--reductions", "--model", str(file), "--format", "json")
    return code, json.loads(out)


def failures(report: dict[str, object]) -> dict[tuple[str, str], str]:
    """Return what differs, by action and goal, of refuted cells that plain Python has replayed."""
    cells = report["cells"]
    assert isinstance(cells, list)
    refuted = [cell for cell in cells if cell["verdict"] == "refuted"]
    assert all(cell["failure"]["replayed"] for cell in refuted)
    return {(cell["action"], cell["lemma"]): cell["failure"]["conjunct"] for cell in refuted}


def test_a_dead_value_may_be_forgotten(invoke: Invoke, doors: Path) -> None:
    code, report = proof(invoke, doors)
    assert code == 0 and report["verdict"] == "proved"
    reduction, left_out = report["reductions"]  # type: ignore[misc]
    assert reduction["settings"] == {"forgets": True} and reduction["lemmas"] == []
    # 9 choices of arguments, 3 goals each, Starts, Once and P-1
    assert reduction["obligations"] == 9 * 3 + 3
    assert left_out["name"] == "steps left out" and left_out["obligations"] == 0


def test_the_search_merges_what_the_theorem_calls_the_same(invoke: Invoke, doors: Path) -> None:
    states = []
    for more in ((), ("--set", "forgets=true")):
        _, out, _ = invoke("check", "--model", str(doors), "--format", "json", *more)
        states.append(json.loads(out)["search"]["distinct"])
    # closed: 4 codes and 0 to 2 uses; open: 4 codes, or none, and 1 or 2 uses
    assert states == [4 * 3 + 4 * 2, 4 * 3 + 2]


def test_a_value_that_is_read_later_may_not_be_forgotten(invoke: Invoke, doors: Path) -> None:
    doors.write_text(DOORS.replace("replace(s, is_open=False, code=0)", "replace(s, is_open=False)"))
    code, report = proof(invoke, doors)
    assert code == 1
    assert failures(report)["Close", "code: Alike"].startswith("afterwards code is ")


def test_a_representative_that_a_property_tells_apart_is_refused(invoke: Invoke, doors: Path) -> None:
    doors.write_text(DOORS.replace("return s.uses <= 2", "return s.uses <= 2 and s.code <= 2"))
    code, report = proof(invoke, doors)
    open_ = [one["name"] for one in report["implication"] if one["verdict"] == "refuted"]  # type: ignore[attr-defined]
    assert code == 1 and open_ == ["code: FewUses"]


def test_a_knob_that_changes_more_than_the_representative_is_refused(invoke: Invoke, doors: Path) -> None:
    doors.write_text(DOORS.replace("uses=s.uses + 1)", "uses=s.uses if c.forgets else s.uses + 1)"))
    code, report = proof(invoke, doors)
    assert code == 1 and ("Open", "code: Settings") in failures(report)


def test_a_guard_that_reads_a_forgotten_value_is_refused(invoke: Invoke, doors: Path) -> None:
    guarded = 'require(s.is_open, "the door is open")\n    require(s.code != 1, "1 keeps it open")'
    doors.write_text(DOORS.replace('require(s.is_open, "the door is open")', guarded))
    code, report = proof(invoke, doors)
    assert code == 1
    assert failures(report)["Close", "code: Alike"] == "only the second of the two steps is possible"


def test_an_initial_state_with_another_representative_is_refused(invoke: Invoke, doors: Path) -> None:
    doors.write_text(DOORS.replace("return State()", "return State(code=1 if c.forgets else 0)"))
    code, report = proof(invoke, doors)
    refuted = [one["name"] for one in report["initiation"] if one["verdict"] == "refuted"]  # type: ignore[attr-defined]
    assert code == 1 and refuted == ["code: initial states"]


def test_options_of_other_proofs_are_refused(invoke: Invoke, doors: Path) -> None:
    for more in (["--liveness"], ["--needed"], ["--property", "P-1"], ["--set", "forgets=true"]):
        code, _, err = invoke("prove", "--reductions", "--model", str(doors), *more)
        assert code == 2 and "leave out" in err


TALLIES = """
from dataclasses import replace
from typing import Annotated

from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.runtime import action, bound, config, init, require, state
from elrcheck.lang.types import nat

Count = Annotated[int, nat("Count", hi=3)]


@config
class Config:
    most: int = 3


@state
class State:
    left: Count = 0
    right: Count = 0


@init
def Init(c: Config) -> State:
    return State()


@action
def Left(c: Config, s: State) -> State:
    require(s.left < c.most, "left has room")
    return replace(s, left=s.left + 1)


@action
def Right(c: Config, s: State) -> State:
    require(s.right < c.most, "right has room")
    return replace(s, right=s.right + 1)


@action
def Level(c: Config, s: State) -> State:
    require(s.left != s.right, "they differ")
    return replace(s, left=s.right)


@action
def Clear(c: Config, s: State) -> State:
    return replace(s, left=0)


@action
def Copy(c: Config, s: State) -> State:
    return replace(s, left=s.right)


@bound
def Within(c: Config, s: State) -> bool:
    return s.left + s.right < 5


MODEL = ProtocolModel(State, Config)
"""
LEFT, RIGHT, LEVEL, CLEAR, COPY = (Label(name, ()) for name in ("Left", "Right", "Level", "Clear", "Copy"))


@pytest.fixture
def tallies(tmp_path: Path) -> Path:
    file = tmp_path / "tallies.py"
    file.write_text(TALLIES)
    return file


def proof_of_pairs(file: Path, *pairs: tuple[Label, Label]) -> tuple[CellReport, ...]:
    selected = resolve(Selection(model=file))
    model = selected.declared.with_lemmas()
    return left_out_steps(model, selected.config, 10.0, Silent(), pairs)[1]


def test_steps_that_a_search_leaves_out_commute(invoke: Invoke, tallies: Path) -> None:
    unbounded = TALLIES.replace("return s.left + s.right < 5", "return s.left < 5")
    tallies.write_text(unbounded)
    code, report = proof(invoke, tallies)
    assert code == 0
    (left_out,) = report["reductions"]  # type: ignore[misc]
    assert left_out["obligations"] == 2
    assert [(cell["action"], cell["lemma"]) for cell in report["cells"]] == [  # type: ignore[attr-defined]
        ("Left", "steps left out: Right"),
        ("Right", "steps left out: Clear"),
    ]


@pytest.mark.parametrize(
    ("pair", "difference"),
    [
        ((CLEAR, COPY), "afterwards left is "),
        ((LEVEL, RIGHT), "Level is possible only after Right"),
        ((LEFT, RIGHT), "stays inside the bound only before or only after"),
        ((LEVEL, LEVEL), "Level is possible only before Level"),
    ],
)
def test_a_pair_that_does_not_commute_is_refused(tallies: Path, pair: tuple[Label, Label], difference: str) -> None:
    (cell,) = proof_of_pairs(tallies, pair)
    assert cell.verdict == "refuted" and cell.failure is not None and cell.failure.replayed
    assert difference in str(cell.failure.conjunct)


def patch_of(folder: Path, name: str, before: str, after: str) -> Path:
    """Write a patch that changes one text of a file of the model."""
    old = (ROOT / name).read_text()
    assert old.count(before) == 1
    lines = (text.splitlines(keepends=True) for text in (old, old.replace(before, after)))
    patch = folder / "false.diff"
    patch.write_text("".join(difflib.unified_diff(*lines, f"a/{name}", f"b/{name}")))
    return patch


@pytest.mark.slow
def test_what_reduce_does_to_the_partition_loses_nothing(invoke: Invoke) -> None:
    code, out, _ = invoke("prove", "--reductions", "--scope", "two-brokers", "--format", "json")
    report = json.loads(out)
    assert code == 0
    *reduced, left_out = report["reductions"]
    assert [one["name"] for one in reduced] == ["records without news", "epochs without use"]
    assert all("ViewEpochs" in one["lemmas"] for one in reduced)
    assert left_out["obligations"] > 400 and not left_out["lemmas"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "before", "after", "cell"),
    [
        # A leader's own epoch is compared before anything else: a zombie's request would pass for one of the process.
        (
            "model/alternatives/reductions.py",
            "if b == sender else 0",
            "if b != sender else 0",
            ("ControllerAlters", "Settings"),
        ),
        (
            "invariants/reductions/representatives.py",
            "if f == b else 0",
            "if f != b else 0",
            ("ControllerAlters", "Alike"),
        ),
    ],
)
def test_a_false_reduction_of_the_partition_is_refused(
    invoke: Invoke, tmp_path: Path, file: str, before: str, after: str, cell: tuple[str, str]
) -> None:
    patch = patch_of(tmp_path, file, before, after)
    arguments = ("--scope", "two-brokers", "--patch", str(patch), "--format", "json")
    code, out, _ = invoke("prove", "--reductions", *arguments)
    action, goal = cell
    assert code == 1 and (action, f"epochs without use: {goal}") in failures(json.loads(out))


def test_a_log_of_records_is_left_open(invoke: Invoke) -> None:
    reasons = [[bool(one.left_out(Config(metadata=choice))) for one in REDUCTIONS] for choice in Propagation]
    assert dict(zip(Propagation, reasons, strict=True)) == {
        Propagation.LATEST: [False, False],
        Propagation.LOG: [True, False],
    }
