"""What is refused of a model that anybody writes: other files, mistakes in it, selections that it does not have."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.edits import replaced
from support.invoked import Invoke
from support.places import protocol

TWO_PHASE = protocol("two_phase")
NO_MODELS = (
    ("import nothing_of_this_name", "ModuleNotFoundError"),
    ("def f(:", "not valid Python: invalid syntax"),
    ("x = 1", "the file declares no ProtocolModel"),
    ("raise SystemExit(3)", "SystemExit: 3"),
)


@pytest.mark.parametrize(("text", "says"), NO_MODELS)
def test_a_file_that_is_no_model_is_a_clear_error(text: str, says: str, invoke: Invoke, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(text)
    code, _, err = invoke("check", "--model", str(file))
    assert code == 2 and says in err and "mine.py" in err and "Traceback" not in err


def test_a_file_that_is_not_utf8_is_refused_with_its_line(invoke: Invoke, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_bytes(b"# caf\xe9\n" + TWO_PHASE.read_bytes())
    code, _, err = invoke("check", "--model", str(file))
    assert code == 2 and "the file is not UTF-8 text" in err and "mine.py:1" in err
    file.write_bytes(b"\xef\xbb\xbf" + TWO_PHASE.read_bytes())
    assert invoke("check", "--model", str(file))[0] == 0


def test_so_is_another_file_of_the_folder(invoke: Invoke, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "__init__.py").write_bytes(TWO_PHASE.read_bytes())
    (folder / "more.py").write_bytes(b"x = 1\n# caf\xe9\n")
    code, _, err = invoke("check", "--model", str(folder))
    assert code == 2 and "the file is not UTF-8 text" in err and "more.py:2" in err


@pytest.mark.parametrize("name", ["mine.pyc", "mine.so", "mine.txt"])
def test_a_file_without_python_source_is_refused(name: str, invoke: Invoke, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_bytes(b"\xcb\r\r\n\0")
    code, _, err = invoke("check", "--model", str(file))
    assert code == 2 and f"{name} is not a Python file" in err and "its name ends in .py" in err


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("tuple[Status, ...]", "tuple[float, ...]", "not a type of the modelling language: float"),
        ("    decision: Decision\n", "    decision: bool\n", "expected bool, this is Decision"),
        ("@init", "", "a model has exactly one @init function"),
        ('@always("P-1")', "@always", "@always takes the id of the property"),
        ('@always("P-1")', '@always("P1")', "'P1' is not an id of a property"),
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


@pytest.mark.parametrize("wrong", ["self.rms // 0", "self.nothing"])
def test_a_mistake_that_shows_when_the_model_runs_is_no_bug_here(wrong: str, invoke: Invoke, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    field = "    rms: int = 3\n"
    runs = f"{field}\n    def __post_init__(self) -> None:\n        {wrong}\n"
    file.write_text(replaced(TWO_PHASE.read_text(), field, runs, 1))
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


def test_a_search_for_nothing_has_no_verdict(invoke: Invoke, tmp_path: Path) -> None:
    """HOLDS would mislead: ewd998 has no liveness property, and the copy of `peterson` no property at all."""
    code, out, err = invoke("check", "--model", str(protocol("ewd998")), "--liveness")
    assert code == 5 and "no liveness property" in err and not out
    bare = tmp_path / "bare.py"
    text = protocol("peterson").read_text().partition("# ------")[0] + "MODEL = ProtocolModel(State, Config)\n"
    bare.write_text(re.sub(r"@(always|sometimes|leads_to)\(.*?\n\n\n", "", text, flags=re.S))
    for verb in ("check", "simulate", "mutate"):
        code, out, err = invoke(verb, "--model", str(bare), *(("--guards",) if verb == "mutate" else ()))
        assert code == 5 and "the model has no property" in err and not out, verb
    code, _, err = invoke("mutate", "--guards", "--model", str(protocol("peterson")), "-p", "W-1")
    assert code == 5 and "none is selected" in err
    code, out, _ = invoke("explore", "--model", str(bare))
    assert code == 0 and "42 distinct" in out


def test_an_action_with_a_name_of_tla_is_a_mistake_of_the_model(invoke: Invoke, tmp_path: Path) -> None:
    file = tmp_path / "named.py"
    file.write_text(TWO_PHASE.read_text().replace("def Commit(", "def Append("))
    assert "def Append(" in file.read_text()
    code, _, err = invoke("export", "spec", "--model", str(file), "--out", "out")
    assert code == 2 and "error[tla-name]: `Append` cannot be a name in a TLA+ module" in err and "rename it" in err


def test_a_verb_about_no_model_at_all_does_not_say_so(invoke: Invoke) -> None:
    code, _, err = invoke("doctor", "--model", str(TWO_PHASE))
    assert code == 2 and "no such option '--model'" in err and "Kafka" not in err
