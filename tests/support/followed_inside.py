"""Documents followed as by `followed.follow`, without starting a process for each command of elrcheck."""

from __future__ import annotations

import contextlib
import functools
import glob
import io
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import pytest

from elrcheck.cli import cli
from elrcheck.console.shell import run
from elrcheck.invariants import modules
from elrcheck.lang.load import Model
from elrcheck.model.protocol import load_model
from support.command_lines import Simple, is_elrcheck, simple_commands
from support.followed import Block, assert_quoted


@functools.cache
def load_model_once(*parts: ModuleType, lazily: bool = False) -> Model:
    """A command reads the model in a third of a second or more; it is the same one for all of them."""
    return load_model(*parts, lazily=lazily)


def follow_inside(steps: Sequence[Block], folder: Path) -> list[str]:
    """Runs the blocks in this process; asserts exit codes and quoted lines; returns what is printed.

    Each element is of one command. Commands are pipelines; ValueError for what only a shell can do.
    """
    printed = []
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name in [name for name in os.environ if name.startswith(("ELRCHECK_", "GITHUB_"))]:
            patch.delenv(name)
        patch.setenv("NO_COLOR", "1")
        patch.setenv("COLUMNS", "120")
        patch.setattr(modules, "load_model", load_model_once)
        for block in steps:
            first = len(printed)
            for command in block.commands:
                code, text = _pipeline(command.text, patch)
                message = f"$ {command.text}\n{text[-6000:]}"
                assert code in command.codes, f"exit {code}, not {sorted(command.codes)}\n{message}"
                assert "Traceback" not in text, message
                printed.append(text)
            assert_quoted(block.quoted, "".join(printed[first:]))
    return printed


def _pipeline(text: str, patch: pytest.MonkeyPatch) -> tuple[int, str]:
    """Exit code of the last command, and what is seen on the terminal."""
    code, data, seen = 0, b"", ""
    for simple in simple_commands(text):
        if simple.before not in ("", "|") or simple.assigned or simple.redirected:
            raise ValueError(f"this needs a shell: {text}")
        code, data, err = _inside(simple, data, patch) if is_elrcheck(simple) else _outside(simple, data)
        seen += err
    return code, seen + data.decode()


def _inside(simple: Simple, data: bytes, patch: pytest.MonkeyPatch) -> tuple[int, bytes, str]:
    words = [path for word in simple.words[1:] for path in sorted(glob.glob(word)) or [word]]
    out, err = io.BytesIO(), io.StringIO()
    stdout = io.TextIOWrapper(out, encoding="utf-8")
    with patch.context() as streams, contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(err):
        streams.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))
        code = run(cli, words)
        stdout.flush()
    return code, out.getvalue(), err.getvalue()


def _outside(simple: Simple, data: bytes) -> tuple[int, bytes, str]:
    if simple.words[0] == "jq":
        value = json.loads(data)
        for key in simple.words[1].strip(".").split("."):
            value = value[key]
        return 0, (json.dumps(value) + "\n").encode(), ""
    done = subprocess.run(simple.words, input=data, capture_output=True, check=False, timeout=300)
    return done.returncode, done.stdout, done.stderr.decode()
