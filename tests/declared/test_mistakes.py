"""Model source that does not load: exit 2, the place, what is wrong and what to do; never a stack trace."""

from __future__ import annotations

import textwrap
from dataclasses import fields, make_dataclass
from pathlib import Path
from types import ModuleType

import click
import pytest

from elrcheck.base.typed.configuration import config_fields
from elrcheck.console.shell import run
from elrcheck.declared.mistakes import behind
from elrcheck.lang.load import demand_documents, demand_listed
from elrcheck.lang.source import ModelError, error_at, error_in_field, near
from elrcheck.model import protocol
from elrcheck.model.budgets import Spent
from elrcheck.model.config import Config
from elrcheck.model.variants import Variant

RULE = """
from elrcheck.lang.runtime import op
@op
def third(c: object, log: tuple) -> bool:
    return log[3] == 1
def helper(log):
    return log[3] == 1
"""


def raised(package: Path, name: str, text: str, call: str = "") -> BaseException:
    """What executing a file of this text, and then a call of it, raises."""
    file = package / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(textwrap.dedent(text), encoding="utf-8")
    space: dict[str, object] = {"__name__": "under_test"}
    try:
        exec(compile(file.read_text(encoding="utf-8"), str(file), "exec"), space)
        exec(call, space)
    except Exception as fault:
        return fault
    raise AssertionError("nothing was raised")


def mistake_of(package: Path, fault: BaseException) -> tuple[str, str]:
    """The last part of the place, and the message."""
    mistake = behind(fault, package, ("model", "invariants"))
    assert mistake is not None
    return mistake.where.removeprefix(f"{package}/"), mistake.message


def test_what_python_meets_while_it_imports_the_model(tmp_path: Path) -> None:
    assert mistake_of(tmp_path, raised(tmp_path, "model/a.py", "x = 1\ny = nothing\n")) == (
        "model/a.py:2",
        "NameError: name 'nothing' is not defined",
    )
    where, message = mistake_of(tmp_path, raised(tmp_path, "invariants/b.py", "def f(:\n    pass\n"))
    assert (where, message.split(":")[0]) == ("invariants/b.py:1", "not valid Python")
    text = "from elrcheck.model.state import Brokr\n"
    where, message = mistake_of(tmp_path, raised(tmp_path, "model/c.py", text))
    assert where == "model/c.py:1" and "cannot import name 'Brokr'" in message
    text = "class A:\n    x = nothing\n"
    assert mistake_of(tmp_path, raised(tmp_path, "model/d.py", text))[0] == "model/d.py:2"


def test_a_rule_that_stops_in_plain_python(tmp_path: Path) -> None:
    where, message = mistake_of(tmp_path, raised(tmp_path, "model/a.py", RULE, "third(0, ())"))
    assert where == "model/a.py:5"
    assert message == "IndexError: tuple index out of range, in third in plain Python"


def test_other_errors_stay_errors_of_the_program(tmp_path: Path) -> None:
    folders = ("model", "invariants")
    for name, text, call in [
        ("model/a.py", RULE, "helper(())"),  # no rule: what stands beside the model
        ("explorer/a.py", "x = nothing\n", ""),
        ("explorer/b.py", "def f(:\n", ""),
        ("model/b.py", "import no_such_package\n", ""),  # this machine lacks something
    ]:
        assert behind(raised(tmp_path, name, text, call), tmp_path, folders) is None, (name, call)


def test_it_is_shown_as_a_mistake_of_the_user(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "lifecycle.py"
    file.write_text("first\n    while True:\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    @click.command()
    def broken() -> None:
        raise error_at(str(file), 2, "a while loop is not in the modelling language")

    assert run(broken, []) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.splitlines() == [
        "error[model-source]: a while loop is not in the modelling language",
        "  --> lifecycle.py:2",
        "   | while True:",
        "   = help: docs/reading-the-model.md describes the language",
    ]


# ---------------------------------------------------------------------------- what has to be said


def test_a_file_that_is_in_no_list_is_named(tmp_path: Path) -> None:
    (tmp_path / "there.py").write_text("@always('P-1')\ndef A(): ...\n", encoding="utf-8")
    (tmp_path / "other.py").write_text("\n\n@always('P-2')\ndef B(): ...\n", encoding="utf-8")
    listed = ModuleType("there")
    listed.__file__ = str(tmp_path / "there.py")
    with pytest.raises(ModelError) as caught:
        demand_listed(tmp_path, ("always",), [listed], "the list")
    assert caught.value.where == f"{tmp_path}/other.py:3"
    assert caught.value.help == "import other and list it in the list"
    demand_listed(tmp_path, ("action",), [listed], "the list")


def test_an_action_needs_a_docstring(monkeypatch: pytest.MonkeyPatch) -> None:
    model = protocol.load_model()
    monkeypatch.setattr(model.actions[0], "doc", "")
    with pytest.raises(ModelError, match="action Fence has no docstring") as caught:
        demand_documents(model)
    assert caught.value.where.endswith(model.actions[0].place)


def test_a_budget_needs_somebody_who_counts_it(monkeypatch: pytest.MonkeyPatch) -> None:
    model = protocol.load_model()
    for name in [name for name, fn in model.fns.items() if name == "Kill"]:
        monkeypatch.delitem(model.fns, name)
    with pytest.raises(ModelError, match=r"Spent\.kills: no action counts this budget") as caught:
        protocol.demand_counted(model)
    file, _, line = caught.value.where.rpartition(":")
    assert Path(file).read_text().splitlines()[int(line) - 1].strip().startswith("kills: ")


def test_every_budget_has_a_field_of_its_name() -> None:
    assert {part.name for part in fields(Spent)} <= {part.name for part in fields(Config)}


def test_a_misspelt_knob_is_refused_where_the_row_is_made() -> None:
    with pytest.raises(TypeError, match=r"x: there is no knob 'strict_hvm'\. did you mean 'strict_hwm'"):
        Variant("x", "", {"strict_hvm": False})
    with pytest.raises(TypeError, match="'strict_hwm' is a bool, not 1"):
        Variant("x", "", {"strict_hwm": 1})


def test_a_field_of_the_configuration_has_a_type_that_can_be_given() -> None:
    odd = make_dataclass("Odd", [("text", str, "a")])
    with pytest.raises(ModelError, match=r"bools, whole numbers and enums, not str$"):
        config_fields(odd)


def test_near_lists_only_what_is_short() -> None:
    assert near("crashs", ["crashes", "kills"]) == "did you mean 'crashes'?"
    assert near("zzz", ["crashes", "kills"]) == "known: crashes, kills"
    assert near("zzz", [f"name{n}" for n in range(40)]) == ""


def test_a_field_is_found_in_its_class() -> None:
    fault = error_in_field(Config, "strict_hwm", "is wrong")
    file, _, line = fault.where.rpartition(":")
    assert Path(file).name == "config.py"
    assert Path(file).read_text().splitlines()[int(line) - 1].strip().startswith("strict_hwm:")
