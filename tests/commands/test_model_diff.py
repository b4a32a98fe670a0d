"""`elrcheck model diff`: what differs between two models is found, with the shortest traces, and nothing else."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from elrcheck.base.progress import Silent
from elrcheck.base.requests import Selection
from elrcheck.checking.two_models import TraceLimits, TwoModels, compared_steps, meaning
from elrcheck.declared.select import resolve
from elrcheck.lang.lowering.lower import lower
from elrcheck.lang.plain import PlainModel
from elrcheck.report.documents.trace_document import model_diff_blocks
from elrcheck.report.terminal import plain_text
from elrcheck.results.model_diff_report import ModelDiffReport, ModelSide, RefusedTrace
from elrcheck.results.trace_view import Change, Step, TraceView
from support.invoked import Invoke
from support.places import ROOT
from support.weaker import WEAKER

TEMPLATE = (ROOT / "commands" / "templates" / "new_model.py.txt").read_text().replace("{name}", "lock")
AGAIN = 'require(implies(c.tests_again, not s.locked), "the lock is still free, if p tests again")'
CHANGES = {
    "same": (AGAIN, 'require(implies(c.tests_again, not s.locked), "another name")'),
    "stronger": (AGAIN, 'require(not s.locked, "the lock is free")'),
    "other": ("locked=True)", "locked=False)"),
    "gone": ("@action\ndef Leave(", "@action\ndef Leaves("),
}


LETTERS = """
import enum
from dataclasses import replace
from typing import Annotated

from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.runtime import EMPTY, action, config, init, require, state
from elrcheck.lang.types import sort

Node = Annotated[int, sort("Node", "nodes")]


class Kind(enum.Enum):
    ASK = "ask"
    ANSWER = "answer"


@config
class Config:
    nodes: int = 2


@state
class State:
    last: tuple[Node, Kind]
    sent: frozenset[tuple[Node, Kind]]


@init
def Init(c: Config) -> State:
    return State(last=(0, Kind.ASK), sent=EMPTY)


@action
def Ask(c: Config, s: State, n: Node) -> State:
    \"\"\"A node asks.\"\"\"
    return replace(s, last=(n, Kind.ASK), sent=s.sent | {(n, Kind.ASK)})


@action
def Answer(c: Config, s: State, n: Node) -> State:
    \"\"\"A node that has asked is answered.\"\"\"
    require((n, Kind.ASK) in s.sent, "n has asked")
    return replace(s, last=(n, Kind.ANSWER), sent=s.sent | {(n, Kind.ANSWER)})


MODEL = ProtocolModel(State, Config)
"""


def models(folder: Path, change: str) -> tuple[Path, Path]:
    old, new = CHANGES[change]
    assert TEMPLATE.count(old) == 1
    paths = folder / "one" / "lock.py", folder / "other" / "lock.py"
    for path, text in zip(paths, (TEMPLATE, TEMPLATE.replace(old, new)), strict=True):
        path.parent.mkdir()
        path.write_text(text)
    return paths


def shortest(has: PlainModel, refuses: PlainModel, most: int) -> int | None:
    """The length of the shortest trace that one has and the other refuses, from all traces, with no care for speed."""
    (start,), (other,) = set(has.starts), set(refuses.starts)
    walks: list[tuple[Any, Any]] = [(start, other)]
    for length in range(1, most + 1):
        longer = []
        for state, elsewhere in walks:
            steps = {f"{label.action}{label.args}": after for label, after in refuses.successors(elsewhere)}
            for label, after in has.successors(state):
                word = f"{label.action}{label.args}"
                if word not in steps or meaning(steps[word]) != meaning(after):
                    return length
                longer.append((after, steps[word]))
        walks = longer
    return None


def compared(a: Path, b: Path, **settings: int) -> tuple[tuple[RefusedTrace, ...], list[PlainModel]]:
    overrides = tuple(f"{name}={value}" for name, value in settings.items())
    selected = [resolve(Selection(model=file, overrides=overrides)) for file in (a, b)]
    pairs = [(each.declared.checked(), each.config) for each in selected]
    plain = [PlainModel(model, config) for model, config in pairs]
    steps = compared_steps(*(lower(model, config, ()).program for model, config in pairs))
    two = TwoModels(plain[0], plain[1], TraceLimits(10_000, None, 60.0), steps)
    return two.search(Silent()), plain


def test_states_with_pairs_are_compared_behind_steps_that_are_equal(tmp_path: Path) -> None:
    """A pair has no class, and what it holds may have another one in a copy."""
    weaker = LETTERS.replace(
        'require((n, Kind.ASK) in s.sent, "n has asked")', 'require(s.sent != EMPTY, "one has asked")'
    )
    paths = tmp_path / "letters.py", tmp_path / "weaker.py"
    for path, text in zip(paths, (LETTERS, weaker), strict=True):
        path.write_text(text)
    answers, plain = compared(*paths)
    assert [answer.verdict for answer in answers] == ["none", "found"]
    assert answers[1].trace is not None and shortest(plain[1], plain[0], 3) == len(answers[1].trace.steps) == 2
    assert answers[1].guard == "n has asked"
    same, _ = compared(paths[0], paths[0])
    assert [answer.verdict for answer in same] == ["none", "none"] and same[0].explored > 4


def test_a_state_outside_the_bound_of_one_model_is_a_difference(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The counts of the two are equal."""
    monkeypatch.chdir(tmp_path)
    for node in (0, 1):
        bound = f"@bound\ndef Bound(c: Config, s: State) -> bool:\n    return ({node}, Kind.ASK) not in s.sent\n"
        check = '@always("P-1")\ndef Fine(c: Config, s: State) -> bool:\n    """All is well."""\n    return True\n'
        text = LETTERS.replace("EMPTY, action", "EMPTY, action, always, bound")
        Path(f"{node}.py").write_text(text.replace("@action", f"{bound}\n\n{check}\n\n@action", 1))
    code, out, err = invoke("model", "diff", "0.py", "1.py", "-f", "json")
    assert code == 1, err
    report = json.loads(out)
    assert report["verdict"] == "different" and report["a"]["distinct"] == report["b"]["distinct"]
    assert [len(each["trace"]["steps"]) for each in report["traces"]] == [1, 1]
    assert {each["reason"] for each in report["traces"]} == {"the state after it is outside the bound there"}


@pytest.mark.parametrize("change", CHANGES)
def test_the_shortest_traces_are_those_of_all_traces(tmp_path: Path, change: str) -> None:
    answers, plain = compared(*models(tmp_path, change))
    for answer, (has, refuses) in zip(answers, itertools.permutations(plain), strict=True):
        length = shortest(has, refuses, 7)
        assert (answer.verdict == "none") == (length is None)
        if answer.trace is not None:
            assert len(answer.trace.steps) == length
    if change == "same":
        assert [answer.verdict for answer in answers] == ["none", "none"]
    if change == "stronger":
        assert [answer.verdict for answer in answers] == ["found", "none"]
        assert answers[0].guard == "the lock is free"
    if change == "gone":
        assert all("no such step of Leave" in (answer.reason or "") for answer in answers)


def test_the_report_of_a_stronger_guard(invoke: Invoke, tmp_path: Path) -> None:
    models(tmp_path, "stronger")
    code, out, _ = invoke("model", "diff", "one/lock.py", "other/lock.py", "-f", "json")
    report = json.loads(out)
    assert code == 1 and report["verdict"] == "different"
    rows = [(row["id"], row["a"], row["b"]) for row in report["properties"]]
    assert ("P-1", "violated at depth 4", "holds") in rows
    (has, other) = report["traces"]
    assert has["guard"] == "the lock is free" and [step["action"] for step in has["trace"]["steps"]][-1] == "Enter"
    assert other["verdict"] == "none" and report["a"]["distinct"] > report["b"]["distinct"]
    guards = {(row["side"], row["guard"]) for row in report["guards"]}
    assert guards == {("a", AGAIN.split('"')[1]), ("b", "the lock is free")}
    code, out, _ = invoke("model", "diff", "one/lock.py", "other/lock.py")
    assert code == 1 and "refuses" in out and "the guard `the lock is free` refuses it there" in out
    code, out, _ = invoke("model", "diff", "one/lock.py", "other/lock.py", "-f", "junit")
    assert (code == 1 and 'name="traces-a' in out) or "traces" in out


def test_variants_of_one_model_and_a_model_with_itself(invoke: Invoke, tmp_path: Path) -> None:
    models(tmp_path, "same")
    code, out, _ = invoke("model", "diff", "lock", "atomic", "--model", "one/lock.py", "-f", "json")
    report = json.loads(out)
    assert code == 1 and [change["path"] for change in report["settings"]] == ["tests_again"]
    code, out, _ = invoke("model", "diff", "one/lock.py@atomic", "other/lock.py@atomic", "-f", "json")
    report = json.loads(out)
    assert code == 1 and len(report["guards"]) == 2 and {each["verdict"] for each in report["traces"]} == {"none"}
    code, out, _ = invoke("model", "diff", "one/lock.py", "one/lock.py", "-f", "json")
    assert code == 0 and json.loads(out)["verdict"] == "same"


def test_a_limit_is_inconclusive(invoke: Invoke, tmp_path: Path) -> None:
    models(tmp_path, "stronger")
    words = ("model", "diff", "one/lock.py", "one/lock.py@atomic", "-f", "json")
    code, out, _ = invoke(*words, "--max-depth", "1")
    report = json.loads(out)
    assert code == 3 and report["verdict"] == "inconclusive" and report["stopped_by"] == "--max-depth 1"
    assert {each["verdict"] for each in report["traces"]} == {"inconclusive"}


@pytest.mark.slow
def test_kafkas_partition_and_a_diff_of_it(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "change.diff").write_text(WEAKER)
    code, out, _ = invoke("model", "diff", "kafka", "change.diff", "-p", "P-1", "-f", "json")
    report = json.loads(out)
    assert code == 1 and report["a"]["scope"] == "two-brokers" and report["b"]["patch"]["file"] == "change.diff"
    assert [each["verdict"] for each in report["traces"]] == ["found", "found"]
    assert [step["action"] for step in report["traces"][0]["trace"]["steps"]] == ["Fence", "Produce", "ApplyMetadata"]
    assert "broker[0].high_watermark" in [change["path"] for change in report["traces"][0]["changed"]]
    code, out, _ = invoke("model", "diff", "code_4_1", "code_4_3", "-p", "P-1", "-f", "json")
    report = json.loads(out)
    assert code == 0 and [change["path"] for change in report["settings"]] == ["reassign_gate", "dirs_wipe_elr"]


def test_words_that_mean_nothing(invoke: Invoke, tmp_path: Path) -> None:
    for word, message in (
        ("code_9", "unknown variant `code_9`"),
        ("no/file.py", "there is no file"),
        ("x.py@v", "no file"),
    ):
        code, _, err = invoke("model", "diff", "kafka", word)
        assert code == 2 and message in err, err


def test_a_step_to_different_states_is_printed_once() -> None:
    """Both models have the steps, and differ in where the last one leads: one trace, and a line about the other."""
    a, b = (ModelSide(name, None, None, "v", "s", "holds", True, 1, 1, 1) for name in ("one", "other"))
    trace, reason = TraceView(steps=(Step(1, "Enter"),)), "it makes another state there"
    there = (
        RefusedTrace("a", "found", 1, trace, None, (Change("x", "0", "1"),), reason),
        RefusedTrace("b", "found", 1, trace, None, (Change("x", "1", "0"),), reason),
    )
    report = ModelDiffReport("different", a, b, (), (), 0, there, ())
    text = plain_text(model_diff_blocks(report))
    assert text.count("step 1") == 2 and text.count("x: ") == 1
    assert "DIFFERENT  one has a trace of 1 step that other refuses" in text and "FAIL" not in text
    assert "one refuses the same steps of other, for the same reason" in text
    apart = replace(there[1], changed=(Change("x", "2", "0"),))
    both = plain_text(model_diff_blocks(replace(report, traces=(there[0], apart))))
    assert "other has a trace of 1 step that one refuses" in both and "the same steps" not in both
