"""Ctrl-C before `elrcheck.console.shell` is in charge, and while a command imports what it needs."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from types import ModuleType

import pytest

from elrcheck.__main__ import main
from elrcheck.cli import cli
from elrcheck.console.shell import run
from support.places import ROOT


class Struck(importlib.abc.MetaPathFinder):
    """Ctrl-C hits where a module is looked for."""

    def __init__(self, name: str) -> None:
        self.name = name

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name == self.name:
            raise KeyboardInterrupt
        return None


@pytest.fixture
def struck(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    name: str = request.param
    monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(sys, "meta_path", [Struck(name), *sys.meta_path])
    return name


@pytest.mark.parametrize("struck", ["elrcheck.cli"], indirect=True)
def test_the_command_line_itself(struck: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130
    assert capsys.readouterr().err == "interrupted\n"


@pytest.mark.parametrize("struck", ["elrcheck.checking.check"], indirect=True)
def test_what_a_command_needs(struck: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(cli, ["check"]) == 130
    assert capsys.readouterr().err == "interrupted\n"


def test_a_class_that_is_struck_while_it_is_created(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Up to Python 3.11, __set_name__ turns Ctrl-C into a RuntimeError."""

    def strike(*_: object, **__: object) -> None:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as struck:
            raise RuntimeError("Error calling __set_name__") from struck

    monkeypatch.setattr("elrcheck.checking.check.run_check", strike)
    assert run(cli, ["check"]) == 130
    assert capsys.readouterr().err == "interrupted\n"


def test_a_process_that_is_struck_while_it_imports_click() -> None:
    source = (
        "import sys\nclass Struck:\n  def find_spec(self, name, path, target=None):\n"
        "    if name == 'click': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Struck())\nimport runpy\nrunpy.run_module('elrcheck', run_name='__main__')"
    )
    command = [sys.executable, "-c", source, "--version"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_the_console_script_is_that_function() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert project["project"]["scripts"] == {"elrcheck": f"{main.__module__}:{main.__name__}"}
