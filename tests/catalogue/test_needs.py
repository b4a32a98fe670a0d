"""What a finding needs of the settings: below the least replication factor that its file names, nothing breaks."""

from __future__ import annotations

from pathlib import Path

import pytest

from elrcheck.base.progress import Silent
from elrcheck.base.requests import CheckRequest, Selection
from elrcheck.catalogue.finding_file import FindingRun
from elrcheck.catalogue.packaged_findings import packaged_findings
from elrcheck.checking.check import run_check
from elrcheck.model.knobs import plain

WITH_FOLLOWERS = {one.id: one for one in packaged_findings() if one.needs.replicas > 1}


def broken(run: FindingRun, replicas: int, folder: Path) -> set[str]:
    """Return the properties that break in a run with so many replicas; its search has to be complete."""
    knobs = {**run.knobs, "broker_count": replicas, "min_isr": 1}
    overrides = tuple(f"{name}={plain(value)}" for name, value in knobs.items())
    request = CheckRequest(Selection(run.variant, run.scope, overrides), liveness=run.liveness, run_dir=folder / "run")
    report = run_check(request, Silent())
    assert report.search.complete
    return {one.id for one in report.properties if one.verdict == "violated"}


@pytest.mark.parametrize("finding", WITH_FOLLOWERS)
def test_with_fewer_replicas_no_run_of_the_finding_breaks(finding: str, tmp_path: Path) -> None:
    """No run moves replicas, so its brokers are the replicas; a run without a breach names what holds."""
    runs = WITH_FOLLOWERS[finding].runs
    assert runs and not any("reassignments" in run.knobs for run in runs)
    for number, run in enumerate(runs):
        broke = broken(run, WITH_FOLLOWERS[finding].needs.replicas - 1, tmp_path / str(number))
        assert not broke & set(run.breaks) if run.breaks else not broke


def test_findings_about_followers_say_so() -> None:
    needs = {name: one.needs.replicas for name, one in WITH_FOLLOWERS.items()}
    assert needs.items() >= {"F-51": 2, "F-58": 2, "F-63": 3, "F-69": 2}.items()
