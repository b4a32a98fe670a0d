"""docs/api.md, followed: its blocks run one after another, as in a notebook, and print what they quote."""

from __future__ import annotations

import contextlib
import io
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import elrcheck
from support.followed import assert_quoted
from support.places import ROOT

PAGE = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"(?:^<!-- (\w+) -->\n)?^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```$)?", re.M | re.S)
LOG = ROOT / "tests" / "data" / "metadata_log" / "lost-4.1.1"


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(LOG, "__cluster_metadata-0")


def follow(marked: set[str], names: dict[str, Any]) -> int:
    """Runs the blocks with one of these marks; returns how many there were."""
    followed = 0
    for mark, source, quoted in BLOCK.findall(PAGE):
        if mark in marked:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(source, "docs/api.md", "exec"), names)
            lines = (" ".join(line.split()) for line in quoted.splitlines())
            assert_quoted(tuple(lines), printed.getvalue())
            followed += 1
    return followed


@pytest.mark.slow
@pytest.mark.usefixtures("there")
def test_the_page_is_followed() -> None:
    """`__name__` is that of an imported module here: what starts processes is for the slow test."""
    names: dict[str, Any] = {"__name__": "notebook"}
    assert follow({""}, names) >= 8
    assert isinstance(names["result"], elrcheck.CheckResult)


@pytest.mark.slow
@pytest.mark.usefixtures("there")
def test_what_takes_longer_on_the_page() -> None:
    names: dict[str, Any] = {"__name__": "__main__", "elrcheck": elrcheck}
    assert follow({"", "seconds", "minutes"}, names) >= 11
    assert names["grid"].verdict == "holds" and len(names["grid"].rows) == 4
    assert names["proof"].verdict == "proved"


def test_the_page_names_every_function_class_and_exception() -> None:
    for name in elrcheck.__all__:
        assert name in ("Result", "ExitCode", "SparkRequest", "__version__") or f"`{name}" in PAGE, name
