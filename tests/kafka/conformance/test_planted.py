"""The teeth of a comparison: one changed knob of the model is found (`benchmarks/` has the real Kafka)."""

from __future__ import annotations

import pytest

from elrcheck.base.kafka_requests import ConformRequest
from elrcheck.base.progress import Silent
from elrcheck.kafka.conformance.block import Team
from elrcheck.kafka.conformance.conform import run_conform
from elrcheck.results.conform_report import ConformReport
from support.fake_kafka import config_of, open_faithful
from support.planted_knobs import PLANTED

QUICK = ("clean_check=ALWAYS_UNCLEAN", "last_known_leader=NEVER", "min_isr_change=NEVER", "elr_minus_isr=false")


def first_difference(change: str) -> ConformReport:
    request = ConformRequest(kafka=("1.0.0",), comparisons=16_000, workers=1, stop_at_first=True, seed=3)
    team = Team("code_4_1", config_of("code_4_1", change), ("1.0.0",))
    return run_conform(request, [team], open_faithful, Silent())


@pytest.mark.slow
@pytest.mark.parametrize("change", QUICK)
def test_a_planted_difference_is_found(change: str) -> None:
    report = first_difference(change)
    assert report.verdict == "violated" and report.stopped_by == "--stop-at-first"


@pytest.mark.slow
@pytest.mark.parametrize("change", [change for change in PLANTED if change not in QUICK])
def test_every_planted_difference_is_found(change: str) -> None:
    report = first_difference(change)
    assert report.verdict == "violated" and report.stopped_by == "--stop-at-first"
