"""The files that documents show: settings, a baseline, a grid, pytest's own; read as elrcheck reads them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from elrcheck.base.requests import Selection
from elrcheck.checking.baseline import read_baseline
from elrcheck.checking.suite.suite import selected_cases
from elrcheck.cli import cli
from elrcheck.commands.sweep.grid import make_grid
from elrcheck.console.settings import load_settings
from support.edits import replaced
from support.places import ROOT


def toml_of(name: str) -> list[str]:
    return re.findall(r"^```toml\n(.*?)^```$", (ROOT / name).read_text(encoding="utf-8"), re.M | re.S)


def test_the_settings_of_the_readme(tmp_path: Path) -> None:
    (text,) = toml_of("README.md")
    (tmp_path / "elrcheck.toml").write_text(text)
    defaults = load_settings(None, tmp_path, cli).defaults
    assert defaults["check"] == {"variant": "code_4_1", "time_budget": "90s"}
    assert defaults["prove"]["variant"] == "code_4_1"


def test_the_baseline_of_the_page_on_ci(tmp_path: Path) -> None:
    """What is found is cut short on the page: only the entry is read, and the counts compared."""
    text = toml_of("docs/ci.md")[0]
    entry, expected = text.split("[entry.two-brokers.expected]")
    (tmp_path / "baseline.toml").write_text(entry)
    (read,) = read_baseline(tmp_path / "baseline.toml").entries
    assert read.selection == Selection("kip_full", "two-brokers", ("min_isr=1",))
    assert (read.properties, read.liveness, read.proof, read.teeth) == (("P-*", "W-*"), False, True, True)
    assert (read.max_depth, read.max_states, read.proof_timeout) == (20, 100_000, 60)
    assert set(tomllib.loads(expected)) == {"verdict", "generated", "distinct"}


def test_the_suite_of_the_page_on_ci(tmp_path: Path) -> None:
    (tmp_path / "baseline.toml").write_text(toml_of("docs/ci.md")[1])
    (read,) = read_baseline(tmp_path / "baseline.toml").suites
    assert read.expected is not None
    cases = {case.name for case in selected_cases(read.request(tmp_path / "baseline.toml", None))}
    assert set(read.expected) < cases and len(cases) == 12


def test_the_settings_of_the_pytest_plug_in() -> None:
    """`docs/ci.md` shows elrcheck_files as a comment; the plug-in must know that word."""
    ini = tomllib.loads(replaced(toml_of("docs/ci.md")[2], "# elrcheck_files", "elrcheck_files"))
    options = ini["tool"]["pytest"]["ini_options"]
    assert options["addopts"] == "-p elrcheck.pytest_plugin" and set(options) == {
        "addopts",
        "testpaths",
        "elrcheck_files",
    }
    assert '"elrcheck_files"' in (ROOT / "pytest_plugin.py").read_text(encoding="utf-8")


def test_the_grid_of_the_page_on_sweeps(tmp_path: Path) -> None:
    """4 variants x 3 x 2; three points with code_4_0 and a crash are left out, one is added."""
    (text,) = toml_of("docs/sweep.md")
    (tmp_path / "grid.toml").write_text(text)
    points = make_grid(Selection("kip_full", "two-brokers-quiet", ()), (), tmp_path / "grid.toml")
    assert (len(points.points), points.excluded) == (40, 3)
    last = points.points[-1].selection
    assert (last.variant, last.overrides) == ("legacy", ("fences=2",))
