"""The tests themselves: none waits without a limit, and no test module imports another."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from support.places import TESTS

FILES = sorted(path for path in TESTS.rglob("*.py") if "node_modules" not in path.parts)
RUNS = ("run", "call", "check_call", "check_output", "getoutput")
# Name of a method -> which positional argument is the limit. `Path.read_text` and the like are no waits.
WAITS = {"wait": 0, "communicate": 1, "join": 0, "urlopen": 2}


def calls(file: Path) -> list[ast.Call]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


def limited(call: ast.Call) -> bool:
    """Whether a call that may wait says for how long; true of every other call."""
    if not isinstance(call.func, ast.Attribute):
        return True
    name, owner = call.func.attr, ast.unparse(call.func.value)
    if any(keyword.arg == "timeout" for keyword in call.keywords):
        return True
    if owner == "subprocess":
        return name not in RUNS
    if name == "join":  # of a thread or a process; strings and paths are given something to join
        return bool(call.args)
    return name not in WAITS or len(call.args) > WAITS[name]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("subprocess.run(['a'])", False),
        ("subprocess.run(['a'], timeout=1)", True),
        ("run(['a'])", True),
        ("process.wait()", False),
        ("process.wait(5)", True),
        ("process.communicate()", False),
        ("process.communicate(data)", False),
        ("thread.join()", False),
        ("','.join(words)", True),
    ],
)
def test_what_counts_as_a_limit(text: str, expected: bool) -> None:
    (call,) = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    assert limited(call) is expected


def test_no_test_waits_without_a_limit() -> None:
    """What reads the output of a running process stands under `processes.ended_in_time`."""
    assert len(FILES) > 100
    unlimited = [f"{file.name}:{call.lineno}" for file in FILES for call in calls(file) if not limited(call)]
    assert unlimited == []


def test_no_test_module_imports_another() -> None:
    names = {file.stem for file in FILES if file.stem.startswith("test_")}
    imports = []
    for file in FILES:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imports += [(file.name, alias.name) for alias in node.names if alias.name in names]
            elif isinstance(node, ast.ImportFrom) and node.module in names:
                imports.append((file.name, node.module))
    assert imports == []
