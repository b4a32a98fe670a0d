"""The findings: what each search breaks and at which depth, that its control does not, and the page.

Every search is complete, and every counterexample is followed by the plain model (`run_check` does so).
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from elrcheck.base.common_options import KINDS
from elrcheck.base.errors import UsageFault
from elrcheck.base.progress import Silent
from elrcheck.base.requests import CheckRequest, Selection
from elrcheck.catalogue import lookup
from elrcheck.catalogue.finding_file import Finding, FindingRun, read_finding
from elrcheck.catalogue.hazard import packaged_hazards
from elrcheck.catalogue.packaged_findings import packaged_findings
from elrcheck.checking.check import run_check
from elrcheck.model.knobs import plain
from elrcheck.results.risk.finding_table import LEVELS
from support.edits import replaced
from support.places import ROOT
from support.scripts import script

FINDINGS: tuple[Finding, ...] = packaged_findings()


def every_run() -> list[Any]:
    return [
        # The first search of each finding in the ordinary suite, all of them at night.
        pytest.param(run, id=f"{finding.id}-{number}", marks=(pytest.mark.slow,) if run.slow or number > 0 else ())
        for finding in FINDINGS
        for number, run in enumerate(finding.runs)
    ]


def broken(run: FindingRun, variant: str, more: Mapping[str, Any], folder: Path) -> dict[str, int | None]:
    """What a complete search of the run breaks, and at which depth."""
    values = {key: plain(value) for key, value in {**run.knobs, **more}.items()}
    selection = Selection(variant, run.scope, tuple(f"{key}={value}" for key, value in values.items()))
    report = run_check(CheckRequest(selection, liveness=run.liveness, run_dir=folder), Silent())
    assert report.search.complete
    return {each.id: each.depth for each in report.properties if each.verdict == "violated"}


COMMANDS = ("kafka-", "kill ", "echo ", "rm ", "cp ", "for ", "done", "#", "  ")


def test_steps_by_hand_are_commands_line_by_line() -> None:
    """A shell block reflowed like a paragraph no longer runs."""
    lines = [
        (finding.id, line)
        for finding in FINDINGS
        for each in finding.by_hand
        for line in each.shell.strip().splitlines()
    ]
    assert len(lines) > 50 and [each for each in lines if not each[1].startswith(COMMANDS)] == []
    for finding in FINDINGS:
        for each in finding.by_hand:
            assert (
                subprocess.run(["bash", "-n"], input=each.shell, text=True, check=False, timeout=60).returncode == 0
            ), finding.id


def test_show_prints_evidence_without_line_breaks() -> None:
    entries = [lookup.find(finding.id)["evidence"] for finding in FINDINGS[:3]]
    assert any(len(text) > 120 for texts in entries for text in texts)
    assert not any("\n" in text for texts in entries for text in texts)


@pytest.mark.slow
@pytest.mark.parametrize("run", every_run())
def test_a_finding_breaks_what_it_says(run: FindingRun, tmp_path: Path) -> None:
    breaches = broken(run, run.variant, {}, tmp_path / "run")
    assert {ident: breaches.get(ident) for ident in run.breaks} == dict(run.breaks)
    assert set(breaches) - set(run.breaks) == set(run.also_breaks)


@pytest.mark.slow
@pytest.mark.parametrize("run", every_run())
def test_its_control_holds(run: FindingRun, tmp_path: Path) -> None:
    """The same search with only the rule at fault repaired."""
    if run.control is None:
        assert not run.breaks
        return
    breaches = broken(run, run.control.variant, run.control.knobs, tmp_path / "control")
    assert set(breaches) == set(run.control.also_breaks)
    assert not set(breaches) & set(run.breaks)


def test_every_run_that_breaks_something_has_a_control() -> None:
    assert all((run.control is not None) == bool(run.breaks) for each in FINDINGS for run in each.runs)
    assert all(each.evidence and {part.level for part in each.evidence} <= set(LEVELS) for each in FINDINGS)


def test_a_hazard_and_its_finding_are_shown_together(monkeypatch: pytest.MonkeyPatch) -> None:
    members = {kind: lookup._members(kind, lookup._load) for kind in KINDS}  # seconds, once
    monkeypatch.setattr(lookup, "_members", lambda kind, *_: members[kind])
    hazards = {hazard.id: hazard for hazard in packaged_hazards()}
    shared = [finding.id for finding in FINDINGS if finding.id in hazards]
    assert len(shared) > 10
    for ident in shared:
        entry = lookup.find(ident)
        assert (entry["list"], entry["id"]) == ("findings", ident)
        assert all(broken in entry["hazard"] for broken in hazards[ident].expected)


def test_every_generated_page_is_up_to_date() -> None:
    pages: dict[Path, str] = dict(script("docs/generate_pages.py").generated())
    stale = [page.name for page, text in pages.items() if page.read_text(encoding="utf-8") != text]
    assert stale == [], "run python docs/generate_pages.py"
    folder = ROOT / "docs" / "findings"
    assert set(folder.iterdir()) == {page for page in pages if page.parent == folder}


def test_a_page_has_the_runs_of_its_recipes_and_the_matrix_their_releases() -> None:
    page = (ROOT / "docs" / "findings" / "F-20.md").read_text(encoding="utf-8")
    assert "| 4.0.0 to 4.2.1, 4.3.0, 4.3.1 | lost 600 of 600 | lost 0 of 600 |" in page
    table = (ROOT / "docs" / "findings" / "table.md").read_text(encoding="utf-8")
    (row,) = (line for line in table.splitlines() if line.startswith("| [F-20]"))
    assert row.split(" | ")[1:4] == ["m--", "MCB", "MCB"]


GOOD = """\
id = "F-0"
title = "A title"
severity = "loss"
lost = "nothing"
versions = "none"
happens = "Nothing."
cause = "no cause"
[[evidence]]
level = "model"
text = "shown"
[[run]]
variant = "kip_full"
breaks = { P-1 = 2 }
[run.control]
set = { fences = 0 }
[[by_hand]]
title = "By hand"
shell = "kafka-topics.sh"
versions = ["4.1.1"]
[[junit]]
property = "P-1"
fails = ["4.1.2"]
passes = ["4.3.1"]
[patch]
text = "a line"
knobs = ["fences"]
classes = ["4.1.2"]
edit = [{ file = "Some", after = "code", insert = "more" }]
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('level = "model"', 'level = "modle"', "did you mean"),
        ('level = "model"', 'level = "brokers"', "it has to"),
        ('variant = "kip_full"', 'variant = "kip_ful"', "unknown variant"),
        ("[run.control]\nset = { fences = 0 }\n", "", "has a [run.control]"),
        ("breaks = { P-1 = 2 }", "breaks = { P-1 = 0 }", "1 or more"),
        ("fences = 0", "fence = 0", "unknown key"),
        ('text = "shown"', 'text = " "', "not an empty one"),
        ('severity = "loss"', 'severity = "lost"', "did you mean"),
        ('versions = ["4.1.1"]', 'versions = ["4.1"]', "all three numbers"),
        ('shell = "kafka-topics.sh"', 'shel = "kafka-topics.sh"', "shel"),
        ('fails = ["4.1.2"]', 'fails = ["4.1.2", "4.3.1"]', "fails in some versions"),
        ('passes = ["4.3.1"]', 'passes = ["4.1.2"]', "passes only in others"),
        ('knobs = ["fences"]', 'knobs = ["fence"]', "no control of the finding sets `fence`"),
        ('classes = ["4.1.2"]', 'classes = ["4.2.1"]', "without the edit"),
        ('insert = "more"', 'inserts = "more"', "inserts"),
    ],
)
def test_a_wrong_file_is_refused(old: str, new: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "F-0.toml"
    file.write_text(GOOD)
    assert read_finding(file).runs[0].breaks == {"P-1": 2}
    assert old in GOOD
    file.write_text(replaced(GOOD, old, new))
    with pytest.raises(UsageFault) as fault:
        read_finding(file)
    assert message in f"{fault.value} {fault.value.help}"
