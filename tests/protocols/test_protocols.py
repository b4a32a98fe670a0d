"""Models that anybody writes: counted by all engines as others have counted them, broken, traced, and refused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import elrcheck
from elrcheck.base.requests import Selection
from elrcheck.catalogue.select import resolve
from elrcheck.explorer.search.reference import search
from support.edits import replaced
from support.places import ROOT

Invoke = Callable[..., tuple[int, str, str]]

PROTOCOLS = ROOT / "protocols"
TWO_PHASE = PROTOCOLS / "two_phase.py"
# File, settings: (generated, distinct, diameter), as the manifests of the TLA+ Examples and Stateright have them.
COUNTS = {
    ("two_phase", ()): (1146, 288, 11),
    ("two_phase", ("rms=5",)): (58146, 8832, 17),
    ("transaction_commit", ()): (94, 34, 7),
    ("peterson", ()): (77, 42, 11),
    ("lock_with_history", ()): (41, 28, 10),
    ("barrier", ()): (194, 64, 7),
}
ABORT = "    return replace(s, rm=put(s.rm, r, Manager.ABORTED))"
GUARD = f'    require(s.rm[r] == Manager.WORKING, "r is working")\n{ABORT}'
NO_MODELS = (
    ("import nothing_of_this_name", "ModuleNotFoundError"),
    ("def f(:", "no Python: invalid syntax"),
    ("x = 1", "the file declares no ProtocolModel"),
    ("raise SystemExit(3)", "SystemExit: 3"),
)


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """Two-phase commit in which a prepared manager may abort."""
    file = tmp_path / "broken.py"
    file.write_text(replaced(TWO_PHASE.read_text(), GUARD, ABORT))
    return file


@pytest.mark.parametrize(("case", "counts"), COUNTS.items(), ids=lambda value: "-".join(map(str, value)))
def test_all_engines_count_what_others_counted(case: tuple[str, tuple[str, ...]], counts: tuple[int, ...]) -> None:
    name, settings = case
    file = PROTOCOLS / f"{name}.py"
    selected = resolve(Selection(overrides=settings, model=file))
    for engine in ("local", "numpy"):
        counted = elrcheck.check(model=file, settings=selected.overrides, engine=engine).search
        assert (counted.generated, counted.distinct, counted.diameter) == counts, engine
    plain = search(selected.whole_model(), selected.config)
    assert (plain.generated, plain.distinct, plain.diameter) == counts


@pytest.mark.tlc
@pytest.mark.parametrize(
    "name",
    [
        name if name == "two_phase" else pytest.param(name, marks=pytest.mark.slow)
        for name in sorted(file.stem for file in PROTOCOLS.glob("*.py"))
    ],
)
def test_tlc_counts_the_same(name: str, invoke: Invoke) -> None:
    code, out, _ = invoke("tlc", "--count", "--model", str(PROTOCOLS / f"{name}.py"), "--format", "json")
    assert (code, json.loads(out)["verdict"]) == (0, "same")


def test_peterson_needs_the_turn(invoke: Invoke) -> None:
    code, out, _ = invoke("check", "--model", str(PROTOCOLS / "peterson.py"), "--set", "yields=false")
    assert code == 1 and "P-1 MutualExclusion  violated at depth 8" in out


def test_nobody_starves_in_peterson_and_a_model_without_fairness_shows_why(invoke: Invoke, tmp_path: Path) -> None:
    text = (PROTOCOLS / "peterson.py").read_text()
    unfair = tmp_path / "unfair.py"
    unfair.write_text(replaced(text, "@action(fairness=GOES_ON)\ndef Enter", "@action\ndef Enter", 1))
    assert invoke("check", "--liveness", "--model", str(PROTOCOLS / "peterson.py"))[0] == 0
    code, out, _ = invoke("check", "--liveness", "--model", str(unfair))
    assert code == 1 and "V-1 NobodyStarves  violated" in out


@pytest.mark.tlc
def test_a_guard_less_is_found_and_its_trace_serves_all_verbs(broken: Path, invoke: Invoke) -> None:
    code, out, _ = invoke("check", "--model", str(broken))
    assert code == 1 and "P-1 Consistent  violated at depth 9  (broken, default)" in out
    assert "because  process 0 is working" not in out and "because  manager 0 is working" in out
    assert "tried" not in out, "budgets and findings are those of Kafka's partition"
    step = re.search(r"next +elrcheck (explain (\S+) --model (\S+))", out)
    assert step is not None
    assert invoke(*step[1].split())[0] == 1
    trace, model = step[2], ("--model", step[3])
    assert invoke("replay", trace, *model)[0] == 0
    assert "ChooseToAbort(r=0)" in invoke("trace", "show", trace, *model)[1]
    assert "CONFIRMED" in invoke("tlc", trace, *model)[1]
    assert invoke("export", "trace", trace, *model, "-f", "itf", "--out", "out")[0] == 0
    assert invoke("simulate", "--walks", "2000", "--seed", "1", *model)[0] == 1
    assert "459 distinct" in invoke("explore", *model)[1]


def test_a_changed_file_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a notebook, where one process checks a model after each edit."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "edited.py"
    for text in (TWO_PHASE.read_text(), replaced(TWO_PHASE.read_text(), GUARD, ABORT)):
        file.write_text(text)
        verdict = elrcheck.check(model=file).verdict
    assert verdict == "violated"


def test_a_trace_does_not_run_the_model_that_made_it(broken: Path, invoke: Invoke) -> None:
    invoke("check", "--model", str(broken), "--run-dir", "run")
    stored = Path("run/P-1.trace.json")
    assert "broken.py" not in stored.read_text()
    code, _, err = invoke("replay", str(stored))
    assert code == 2 and "--model FILE" in err


def test_an_unfinished_run_is_resumed_with_the_model_named_again(invoke: Invoke) -> None:
    model = ("--model", str(TWO_PHASE), "--scope", "five")
    assert invoke("check", *model, "--max-depth", "5", "--run-dir", "run")[0] == 3
    assert invoke("check", "--resume", "run")[0] == 2
    code, out, _ = invoke("check", "--resume", "run", "--model", str(TWO_PHASE))
    assert code == 0 and "8 832 distinct, 58 146 generated" in out.replace("\u202f", " ")


def test_models_with_the_same_names_have_folders_of_their_own(broken: Path, invoke: Invoke, tmp_path: Path) -> None:
    other = tmp_path / "other" / "broken.py"
    other.parent.mkdir()
    other.write_text(broken.read_text())
    for file in (broken, other):
        assert invoke("check", "--model", str(file))[0] == 1
    assert len(list((tmp_path / ".elrcheck" / "runs").iterdir())) == 2


@pytest.mark.parametrize(("text", "says"), NO_MODELS)
def test_a_file_that_is_no_model_is_a_clear_error(text: str, says: str, invoke: Invoke, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(text)
    code, _, err = invoke("check", "--model", str(file))
    assert code == 2 and says in err and "mine.py" in err and "Traceback" not in err


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("    rm: Vec[Manager]", "    rm: Vec[float]", "not a type of the modelling language: float"),
        ("    decision: Decision\n", "    decision: int\n", "expected int, this is Decision"),
        ("@init", "", "a model has exactly one @init function"),
        ('@always("P-1")', "@always", "@always takes the id of the property"),
        ('@always("P-1")', '@always("P1")', "'P1' is no id of a property"),
        ('{"rms": 5}', '{"rmz": 5}', "did you mean 'rms'?"),
        ("@state\n", "", "`State` has no decorator @state"),
        ("MODEL = ", "OTHER = ProtocolModel(State, Config)\nMODEL = ", "more than one ProtocolModel"),
    ],
)
def test_a_mistake_in_a_model_has_its_place(old: str, new: str, says: str, invoke: Invoke, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(replaced(TWO_PHASE.read_text(), old, new, 1))
    code, _, err = invoke("check", "--model", str(file))
    assert code == 2 and says in err and "mine.py" in err and "Traceback" not in err


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("        return self.rms\n", "        return self.rms // 0\n"),
        ("        return self.rms\n", "        return self.nothing\n"),
    ],
)
def test_a_mistake_that_shows_when_the_model_runs_is_no_bug_here(
    old: str, new: str, invoke: Invoke, tmp_path: Path
) -> None:
    file = tmp_path / "mine.py"
    file.write_text(replaced(TWO_PHASE.read_text(), old, new, 1))
    code, _, err = invoke("check", "--model", str(file))
    assert code == 2 and "error[model-source]" in err and "mine.py:" in err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--scope", "six"), "unknown scope `six`"),
        (("--variant", "legacy"), "unknown variant `legacy`"),
        (("--set", "broker_count=2"), "unknown setting `broker_count`"),
        (("--set", "rms=0"), "expected 1 to 62"),
        (("--set", "rms=63"), "expected 1 to 62"),
    ],
)
def test_wrong_selections(arguments: tuple[str, ...], says: str, invoke: Invoke) -> None:
    code, _, err = invoke("check", "--model", str(TWO_PHASE), *arguments)
    assert code == 2 and says in err


def test_a_folder_is_a_model(broken: Path, invoke: Invoke, tmp_path: Path) -> None:
    """Its modules import each other as those of any package do."""
    folder = tmp_path / "commit"
    folder.mkdir()
    text = broken.read_text()
    (folder / "rules.py").write_text(text.partition("MODEL = ")[0])
    (folder / "__init__.py").write_text(
        "from elrcheck.lang.load import ProtocolModel\n"
        "from . import rules\n\n"
        "MODEL = ProtocolModel(rules.State, rules.Config, modules=(rules,))\n"
    )
    code, out, _ = invoke("check", "--model", str(folder))
    assert code == 1 and "(commit, default)" in out
    (tmp_path / "empty").mkdir()
    assert "there is no file" in invoke("check", "--model", str(tmp_path / "empty"))[2]


@pytest.mark.parametrize("verb", ["sweep", "prove", "mutate", "gate", "web"])
def test_verbs_about_kafkas_partition_take_no_model(verb: str, invoke: Invoke) -> None:
    code, _, err = invoke(verb, "--model", str(TWO_PHASE))
    assert code == 2 and "no such option" in err


def test_every_protocol_has_its_counts_and_documents() -> None:
    assert {file.stem for file in PROTOCOLS.glob("*.py")} == {name for name, _ in COUNTS}
    for name in {name for name, _ in COUNTS}:
        model = resolve(Selection(model=PROTOCOLS / f"{name}.py")).whole_model()
        assert all(fn.doc for fn in (*model.actions, *model.always, *model.sometimes))
        assert model.always and model.sometimes
