"""Suites of a model of the user: scopes, variants, counts, explanations, walks, and the same with a diff."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from elrcheck.base.errors import UsageFault
from elrcheck.base.requests import Selection
from elrcheck.checking.suite.suite_file import read_family
from support.edits import patch_file, replaced
from support.invoked import Invoke
from support.places import protocol

SIZES = """\
description = "Two-phase commit of three sizes."
scope = "default"
reaches = ["W-1"]
[[configuration]]
name = "three"
[[configuration]]
name = "one"
set = { rms = 1 }
[[configuration]]
name = "five"
scope = "five"
"""
LOCKS = """\
description = "The lock with each variant."
scope = "default"
variants = ["lock", "atomic"]
together = 1
[operations.more]
processes = 1
[faults.none]
[[violates]]
properties = ["P-1"]
in = ["*@lock"]
because = "it takes a lock that it has seen free before"
finding = "BUG-1"
"""
GUARD = '    require(s.sent_commit, "a commit was sent")\n'


@pytest.fixture
def commit(tmp_path: Path) -> Path:
    """Two-phase commit with a suite that comes with it."""
    text = protocol("two_phase").read_text()
    text = replaced(text, '{"five": {"rms": 5}}', '{"five": {"rms": 5}}, suites=Path(__file__).parent / "suites"')
    file = tmp_path / "two_phase.py"
    file.write_text(replaced(text, "from typing import", "from pathlib import Path\nfrom typing import", 1))
    (tmp_path / "suites").mkdir()
    (tmp_path / "suites" / "sizes.toml").write_text(SIZES)
    return file


def test_a_protocol_has_scopes_and_counts(commit: Path, invoke: Invoke, tmp_path: Path) -> None:
    model = ("suite", "--model", "two_phase.py")
    code, out, _ = invoke(*model, "-f", "json")
    runs = {run["name"]: run for run in json.loads(out)["runs"]}
    assert code == 0 and {name: run["distinct"] for name, run in runs.items()} == {
        "sizes/three": 288,
        "sizes/one": 12,
        "sizes/five": 8832,
    }
    assert runs["sizes/five"]["command"] == "elrcheck check --scope five --model two_phase.py"
    counts = tmp_path / "suites" / "suite_counts.json"
    assert invoke(*model, "--record", str(counts))[0] == 0 and '"distinct": 8832' in counts.read_text()
    assert invoke(*model)[0] == 0
    counts.write_text(replaced(counts.read_text(), "58146", "58147"))
    code, out, _ = invoke(*model)
    assert code == 1 and "58,146 generated, 8,832 distinct, diameter 17; recorded: 58,147 generated" in out


def test_a_guard_that_is_gone_breaks_it(commit: Path, invoke: Invoke) -> None:
    assert invoke("suite", "--model", "two_phase.py")[0] == 0
    patch_file(commit, GUARD, "")
    code, out, _ = invoke("suite", "--model", "two_phase.py", "--only", "sizes/three")
    assert code == 1 and "P-1 breaks at depth 2, unexplained" in out
    trace = ".elrcheck/runs/suite/sizes.three.P-1.trace.json"
    assert trace in out and invoke("replay", trace, "--model", "two_phase.py")[0] == 0


def test_variants_have_explanations_and_operations_add_to_the_defaults(invoke: Invoke, tmp_path: Path) -> None:
    assert invoke("new", "lock")[0] == 0
    (tmp_path / "locks.toml").write_text(LOCKS)
    code, out, _ = invoke("suite", "--model", "lock.py", "--file", "locks.toml", "-f", "json")
    first, second = json.loads(out)["runs"]
    assert (code, first["name"], second["name"]) == (0, "locks/more/none@lock", "locks/more/none@atomic")
    assert (first["verdict"], second["verdict"], first["settings"]) == ("violated", "holds", {"processes": 3})
    (broken,) = first["violations"]
    assert (broken["id"], broken["finding"]) == ("P-1", "BUG-1")
    text = replaced(LOCKS, "*@lock", "*@atomic")
    (tmp_path / "locks.toml").write_text(text)
    code, out, _ = invoke("suite", "--model", "lock.py", "--file", "locks.toml")
    assert code == 1 and "P-1 no longer breaks" in out and "--variant atomic --scope default" in out


def test_a_protocol_is_walked(commit: Path, invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "suites" / "sizes.toml").write_text(
        replaced(SIZES, "[[conf", "[walk]\nwalks = 9\nsteps = 5\n[[conf", 1)
    )
    counts = str(tmp_path / "suites" / "suite_counts.json")
    code, _, _ = invoke("suite", "--model", "two_phase.py", "--only", "sizes/three", "--record", counts)
    assert code == 0 and invoke("suite", "--model", "two_phase.py", "--only", "sizes/three")[0] == 0
    patch_file(commit, GUARD, "")
    code, out, _ = invoke("suite", "--model", "two_phase.py", "--only", "sizes/three")
    assert code == 1 and "recorded" in out and "elrcheck suite --only sizes/three --fresh --model two_phase.py" in out


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ("rms = 1", "rmss = 1", "did you mean `rms`?"),
        ("rms = 1", "rms = 0", "expected 1 to"),
        ('scope = "five"', 'scope = "fife"', "unknown scope `fife`"),
        ('name = "one"', 'name = "one"\nvariant = "two-phase"', "sizes.toml:8"),
    ],
)
def test_a_mistake_is_one_in_this_model(commit: Path, before: str, after: str, says: str) -> None:
    file = commit.parent / "suites" / "sizes.toml"
    file.write_text(replaced(SIZES, before, after))
    with pytest.raises(UsageFault) as fault:
        read_family(file, Selection(model=commit))
    assert says in fault.value.render() and ("sizes" in fault.value.render() or "two_phase.py" in fault.value.render())


def test_a_suite_names_what_the_model_has(commit: Path, invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "suites" / "sizes.toml").write_text(replaced(SIZES, "W-1", "W-2"))
    code, _, err = invoke("suite", "--model", "two_phase.py")
    assert code == 2 and "there is no witness `W-2`" in err
    (tmp_path / "suites" / "sizes.toml").unlink()
    code, _, err = invoke("suite", "--model", "two_phase.py")
    assert code == 5 and "no suite comes with the model two_phase.py" in err and "--file FILE" in err
    commit.write_text(commit.read_text().replace('Path(__file__).parent / "suites"', '"suites"'))
    code, _, err = invoke("suite", "--model", "two_phase.py")
    assert code == 2 and "`suites` is a folder, a Path" in err


@pytest.mark.slow
def test_the_suite_of_a_model_with_a_diff_is_that_of_the_model(commit: Path, invoke: Invoke, tmp_path: Path) -> None:
    text = commit.read_text()
    number = text[: text.index(GUARD)].count("\n") + 1
    before = text.splitlines(keepends=True)[number - 2]
    diff = f"--- a/two_phase.py\n+++ b/two_phase.py\n@@ -{number - 1},2 +{number - 1} @@\n {before}-{GUARD}"
    (tmp_path / "weaker.diff").write_text(diff)
    words = ("suite", "--model", "two_phase.py", "--only", "sizes/three")
    assert invoke(*words)[0] == 0
    code, out, _ = invoke(*words, "--patch", "weaker.diff")
    assert code == 1 and "elrcheck check --scope default --model two_phase.py --patch weaker.diff" in out
