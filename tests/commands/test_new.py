"""`elrcheck new`: the model it writes runs, breaks where it says so, and its tests pass as they stand."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.invoked import Invoke
from support.places import ROOT


def test_what_it_writes_runs_and_its_tests_pass(invoke: Invoke, tmp_path: Path) -> None:
    code, out, err = invoke("new", "lock")
    assert code == 0 and "elrcheck check --model lock.py" in err
    assert [line.split()[1] for line in out.splitlines()] == ["lock.py", "test_lock.py"]
    code, out, _ = invoke("check", "--model", "lock.py")
    assert code == 1 and "P-1 MutualExclusion  violated at depth 4" in out
    assert invoke("check", "--model", "lock.py", "--variant", "atomic", "--scope", "five")[0] == 0
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "/dev/null", "--rootdir", "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0 and "2 passed" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize(("page", "count"), [("README.md", 2), ("docs/first-protocol.md", 3)])
def test_pages_quote_what_it_writes(page: str, count: int) -> None:
    template = (ROOT / "commands" / "templates" / "new_model.py.txt").read_text()
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    parts = [part for block in blocks for part in block.rstrip().split("\n\n\n")]
    assert len(parts) == count and all(part in template for part in parts)


def test_nothing_is_overwritten(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text("mine")
    code, _, err = invoke("new", "mine")
    assert code == 2 and "test_mine.py exists already" in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["test_mine.py"]
    assert (tmp_path / "test_mine.py").read_text() == "mine"


def test_a_name_that_cannot_be_imported_is_refused(invoke: Invoke, tmp_path: Path) -> None:
    for name in ("a-b", "2pc", "../x", "class", ""):
        code, _, err = invoke("new", name)
        assert code == 2 and "not a valid name of a Python module" in err
    assert list(tmp_path.iterdir()) == []


def test_another_folder(invoke: Invoke, tmp_path: Path) -> None:
    assert invoke("new", "lock", "-C", "models")[0] == 0
    assert (tmp_path / "models" / "lock.py").is_file()
