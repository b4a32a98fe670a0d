"""F-65: with the diff that its page names, P-5 breaks where a process leads before it is registered, and only there."""

from __future__ import annotations

import pytest

import elrcheck
from support.places import ROOT

DIFF = ROOT / "docs" / "changes" / "before-registration.diff"
WRITES = {"records": "2", "log_slots": "2", "early_starts": "1", "early_writes": "1"}


@pytest.mark.parametrize("variant", ["kip_full", "code_4_3"])
@pytest.mark.parametrize(("choice", "verdict"), [("acts", "violated"), ("follows", "holds"), ("waits", "holds")])
def test_a_coordinator_writes_twice_at_one_offset_of_one_epoch(variant: str, choice: str, verdict: str) -> None:
    report = elrcheck.check(
        patch=DIFF,
        variant=variant,
        scope="two-brokers",
        settings={**WRITES, "before_registration": choice},
        properties="P-5",
    )
    (judged,) = report.properties
    assert judged.verdict == verdict
    if judged.counterexample is not None:
        names = [step.action for step in judged.counterexample.steps]
        assert names == ["Produce", "Fetch", "Crash", "Start", "ApplyEarly", "WriteEarly"]
