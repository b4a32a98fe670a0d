"""A whole comparison with a fake Kafka: what is counted, what is found, what stops it."""

from __future__ import annotations

import json

import pytest

from elrcheck.base.errors import ExitCode
from elrcheck.base.interrupts import Interrupts
from elrcheck.base.kafka_requests import ConformRequest
from elrcheck.base.progress import Event, Silent
from elrcheck.kafka.conformance.block import Opener, Team
from elrcheck.kafka.conformance.conform import run_conform
from elrcheck.report.formats import render
from elrcheck.results.conform_report import ConformReport
from support.fake_kafka import config_of, open_differing, open_faithful

TEAM = Team("code_4_1", config_of("code_4_1"), ("1.0.0",))


def compared(opener: Opener, comparisons: int = 3000, sources: tuple[str, ...] = ("1.0.0",)) -> ConformReport:
    request = ConformRequest(kafka=sources, comparisons=comparisons, workers=1)
    return run_conform(request, [Team("code_4_1", TEAM.config, sources)], opener, Silent())


@pytest.fixture(scope="module")
def differing() -> ConformReport:
    return compared(open_differing)


def test_a_faithful_kafka_agrees_in_everything() -> None:
    report = compared(open_faithful)
    assert report.verdict == "holds" and report.exit_code == ExitCode.HOLDS
    (version,) = report.versions
    assert version.unexplained == 0 and version.compared > 1000
    assert version.compared == version.builder + version.controller + version.isr_order + version.indexes
    assert min(version.builder, version.controller, version.isr_order, version.indexes) > 0


@pytest.mark.slow
def test_two_releases_are_asked_the_same(differing: ConformReport) -> None:
    report = compared(open_differing, sources=("1.0.0", "1.0.1"))
    first, second = report.versions
    assert (first.kafka, second.kafka) == ("1.0.0", "1.0.1")
    assert first.compared == second.compared == differing.compared
    assert first.unexplained == second.unexplained == differing.unexplained


def test_a_planted_difference_is_found_and_shrunk(differing: ConformReport) -> None:
    assert differing.verdict == "violated" and differing.exit_code == ExitCode.FINDING
    assert all(difference.class_.startswith("Register: ") for difference in differing.disagreements)
    for difference in differing.disagreements:
        example = difference.example
        assert example.events[-1].startswith("Register")
        if example.from_new_topic:
            assert len(example.events) <= 4, example.events
    shortest = min(
        (d.example for d in differing.disagreements if d.example.from_new_topic), key=lambda e: len(e.events)
    )
    assert len(shortest.events) <= 2


def test_the_same_seed_finds_the_same(differing: ConformReport) -> None:
    again = compared(open_differing)
    assert [(d.class_, d.count) for d in again.disagreements] == [(d.class_, d.count) for d in differing.disagreements]


def test_every_format_shows_what_differs(differing: ConformReport) -> None:
    difference = differing.disagreements[0]
    text = render(differing, "text")
    assert "UNEXPLAINED" in text and difference.class_ in text and "Kafka" in text
    data = json.loads(render(differing, "json"))
    assert data["schema"] == "elrcheck.conform/1" and data["unexplained"] == differing.unexplained
    assert data["disagreements"][0]["class"] == difference.class_
    for form in ("junit", "markdown", "html", "github"):
        assert "Register" in render(differing, form), form


class StopsSoon(Silent):
    """Interrupts the run after the first comparisons, as Ctrl-C does."""

    def tell(self, event: Event) -> None:
        import os
        import signal

        os.kill(os.getpid(), signal.SIGINT)


def test_an_interrupt_gives_the_report_so_far() -> None:
    request = ConformRequest(kafka=("1.0.0",), comparisons=50_000, workers=1)
    report = run_conform(request, [TEAM], open_faithful, StopsSoon())
    assert report.stopped_by == "interrupted" and report.exit_code == ExitCode.INTERRUPTED
    assert 0 < report.compared < 20_000
    assert "interrupted" in render(report, "text")
    assert not Interrupts().requested


def test_the_time_limit_gives_the_report_so_far() -> None:
    request = ConformRequest(kafka=("1.0.0",), comparisons=500_000, workers=1, seconds=0.001)
    report = run_conform(request, [TEAM], open_faithful, Silent())
    assert report.stopped_by == "--seconds" and 0 < report.compared < 100_000
    assert report.exit_code == ExitCode.HOLDS
