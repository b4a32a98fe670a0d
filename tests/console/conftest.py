"""A command in this process, and stand-ins for the jobs behind it."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import Any

import pytest


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
