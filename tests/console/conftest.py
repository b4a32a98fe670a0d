"""A command in this process, and stand-ins for the jobs behind it."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from elrcheck.cli import cli
from elrcheck.console.shell import run

Invoke = Callable[..., tuple[int, str, str]]


@pytest.fixture
def invoke(
    no_settings: None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Invoke:
    """Runs a command in an empty folder with no settings in the environment."""
    monkeypatch.chdir(tmp_path)

    def call(*argv: str) -> tuple[int, str, str]:
        code = run(cli, argv)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def job(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str, Any], list[Any]]:
    """Puts a stand-in where a command looks for the owner of its job; returns the calls it got."""

    def replace(module: str, function: str, result: Any) -> list[Any]:
        calls: list[Any] = []

        def stand_in(*arguments: Any, **_: Any) -> Any:
            calls.append(arguments)
            if isinstance(result, BaseException):
                raise result
            return result(*arguments) if callable(result) else result

        fake = types.ModuleType(module)
        setattr(fake, function, stand_in)
        monkeypatch.setitem(sys.modules, module, fake)
        return calls

    return replace
