"""No rule changes unnoticed, however deep its file: digests and the list of modules look everywhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tokenize
from io import BytesIO
from pathlib import Path

import pytest

from elrcheck.base.kept.named_digests import WORDS
from support.places import ROOT, copy_package, sources

FILES = sources("lang", "model", "invariants")
FOLDERS = sorted({path.parent.relative_to(ROOT).as_posix() for path in FILES})
EDIT = """
import json, pathlib, sys
from elrcheck.base.kept.named_digests import rules
digests = {"": rules()}
for folder in json.loads(sys.argv[1]):
    file = sorted(pathlib.Path("elrcheck", folder).glob("[a-z]*.py"))[-1]
    file.write_text(file.read_text("utf-8") + "\\nADDED = 1\\n", "utf-8")
    rules.cache_clear()
    digests[folder] = rules()
print(json.dumps(digests))
"""
STRAY = '''"""A stray rule."""
from elrcheck.lang.runtime import action
from elrcheck.model.config import Config
from elrcheck.model.state import State


@action
def Stray(c: Config, s: State) -> State:
    """Does nothing; written nowhere."""
    return s
'''
LOAD = """
from elrcheck.lang.source import ModelError
from elrcheck.model.protocol import load_model
try:
    load_model()
except ModelError as fault:
    print(fault)
"""


def ran(package: Path, source: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", source, *arguments],
        cwd=package.parent,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": str(package.parent)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_digest_of_a_sweep_sees_every_folder(tmp_path: Path) -> None:
    assert {"model", "model/broker", "model/control_plane", "invariants"} <= set(FOLDERS)
    digests = json.loads(ran(copy_package(tmp_path / "elrcheck"), EDIT, json.dumps(FOLDERS)))
    assert len(digests) == len(FOLDERS) + 1
    assert len(set(digests.values())) == len(digests), digests


def statements_of(source: bytes) -> list[str]:
    """Return the tokens of a file without comments, layout and strings that are statements."""
    layout = (tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING)
    tokens = [token for token in tokenize.tokenize(BytesIO(source).readline) if token.type not in layout]
    ends = (tokenize.NEWLINE, tokenize.ENDMARKER)
    lone = [
        token.type == tokenize.STRING and (i == 0 or tokens[i - 1].type in ends) and tokens[i + 1].type in ends
        for i, token in enumerate(tokens)
    ]
    return [token.string for token, alone in zip(tokens, lone, strict=True) if not alone and token.type not in ends]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_digest_of_statements_leaves_out_docstrings_and_nothing_else(path: Path) -> None:
    source = path.read_bytes()
    assert statements_of(WORDS.sub(b"", source)) == statements_of(source)


def test_an_action_that_no_list_has_is_refused_in_every_folder(tmp_path: Path) -> None:
    package = copy_package(tmp_path / "elrcheck")
    for folder in (folder for folder in FOLDERS if folder.startswith("model")):
        stray = package / folder / "stray.py"
        stray.write_text(STRAY, encoding="utf-8")
        assert "stray is in no list of modules" in ran(package, LOAD), folder
        stray.unlink()
    assert ran(package, LOAD) == ""
