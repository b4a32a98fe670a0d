"""A model that changes twice in a second: bytecode of what it said before must not be run."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from elrcheck.base.requests import Selection
from elrcheck.declared.select import resolve

CONFIG = """
from elrcheck.lang.runtime import config

@config
class Config:
    \"\"\"Sizes.\"\"\"

    top: int = {top}
"""
REST = """
from dataclasses import replace
from typing import Annotated

from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.runtime import action, init, require, state
from elrcheck.lang.types import nat

@state
class State:
    \"\"\"A number.\"\"\"

    n: Annotated[int, nat("Small", hi=9)]

@init
def Init(c: Config) -> State:
    \"\"\"It begins at 0.\"\"\"
    return State(n=0)

@action
def Up(c: Config, s: State) -> State:
    \"\"\"It grows.\"\"\"
    require(s.n < c.top, "it is below the top")
    return replace(s, n=s.n + 1)

MODEL = ProtocolModel(State, Config)
"""
ANNOTATIONS = "from __future__ import annotations\n"


@pytest.mark.parametrize("folder", [False, True])
def test_what_a_file_said_earlier_in_the_same_second_is_not_run(
    folder: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    place = tmp_path / "counter"
    model, changed = (place, place / "sizes.py") if folder else (place.with_suffix(".py"), place.with_suffix(".py"))
    if folder:
        place.mkdir()
        (place / "__init__.py").write_text(f"{ANNOTATIONS}from .sizes import Config\n{REST}")
    for part, top in enumerate((1, 2, 1)):
        changed.write_text(ANNOTATIONS + CONFIG.format(top=top) + ("" if folder else REST))
        os.utime(changed, ns=(part, 10**18 + part))  # the same second, and the same size
        assert resolve(Selection(model=model)).config.top == top
    assert list(changed.parent.glob("__pycache__/*.pyc")), "no bytecode was there to be run"
