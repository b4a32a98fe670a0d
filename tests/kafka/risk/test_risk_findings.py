"""What `risk` says of each release, against the findings and what was searched before."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from elrcheck.base.kafka_requests import RiskRequest
from elrcheck.base.progress import Silent
from elrcheck.catalogue.evidence.by_version import finding_table
from elrcheck.kafka.risk.risk import run_risk
from elrcheck.results.risk.risk_report import RiskPart

pytestmark = pytest.mark.slow
REASSIGNED = ("stop", "fence", "reassign")
EXPLAINED = [
    # A set, its outcome, and the finding that explains it: in every release with ELR on, by default or not.
    ({"fence": 1, "reassign": 2}, "lost", "F-20"),
    ({"stop": 1, "reassign": 2}, "lost", "F-20"),
]
ON = [("4.0", True), ("4.1.0", None), ("4.1", None), ("4.3", None)]


@pytest.fixture(autouse=True, scope="module")
def own_folders(tmp_path_factory: pytest.TempPathFactory) -> Generator[None, None, None]:
    folder = tmp_path_factory.mktemp("risk")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ELRCHECK_CACHE_DIR", str(folder / "cache"))
        patch.chdir(folder)
        yield


def answered(kafka: str, *events: str, most: int = 3, elr: bool | None = None) -> RiskPart:
    """Two brokers and min ISR 2, as the searches of most findings have; nothing is left open."""
    request = RiskRequest(kafka, 2, 2, elr=elr, events=events, most=most, seconds=3000, run_dir=Path("out"))
    report = run_risk([request], Silent())
    assert all(reach.undecided == 0 for reach in report.safe_up_to.values())
    assert_recorded(report.first)
    return report.first


def assert_recorded(part: RiskPart) -> None:
    """A finding that an answer names is on record for that very release; the story ends with the outcome."""
    recorded = {
        (row.finding, cell.kafka) for row in finding_table().rows for cell in row.cells if cell.state == "shown"
    }
    for answer in part.answers:
        findings = [cause.finding for cause in answer.causes if cause.finding]
        assert {(finding, part.settings.kafka) for finding in findings} <= recorded, answer.words
        stalled = "has no leader" in answer.story[-1]
        assert stalled is (answer.outcome == "unavailable"), answer.story


def sets_of(part: RiskPart, outcome: str, finding: str = "") -> list[dict[str, int]]:
    """The smallest sets with an outcome; only those that a finding explains, if one is named."""
    return [
        dict(answer.events)
        for answer in part.answers
        if answer.outcome == outcome and (not finding or finding in [c.finding for c in answer.causes])
    ]


@pytest.mark.parametrize(("kafka", "elr"), ON)
def test_f_20_is_found_wherever_elr_is_on(kafka: str, elr: bool | None) -> None:
    part = answered(kafka, *REASSIGNED, elr=elr)
    for events, outcome, finding in EXPLAINED:
        assert events in sets_of(part, outcome, finding), (events, part.answers)
    assert part.safe_up_to["lost"].events == 2


@pytest.mark.parametrize("kafka", ["3.9", "4.0", "4.1", "4.3"])
def test_reassignments_are_safe_without_elr(kafka: str) -> None:
    part = answered(kafka, *REASSIGNED, elr=None if kafka in ("3.9", "4.0") else False)
    assert not sets_of(part, "lost", "F-20")
    assert not sets_of(part, "unavailable", "F-20")


@pytest.mark.parametrize(("kafka", "elr"), ON)
def test_f_21_leaves_a_partition_without_a_leader(kafka: str, elr: bool | None) -> None:
    part = answered(kafka, "kill", "unregister", elr=elr)
    assert {"kill": 2, "unregister": 1} in sets_of(part, "unavailable", "F-21")


@pytest.mark.parametrize(("kafka", "breaks"), [("4.0", True), ("4.1", True), ("4.3", False)])
def test_f_23_is_fixed_in_4_3(kafka: str, breaks: bool) -> None:
    part = answered(kafka, "crash", "fence", "move_directory", elr=True)
    assert bool(sets_of(part, "unavailable", "F-23") or sets_of(part, "lost", "F-23")) is breaks


def test_f_2_is_fixed_in_4_0() -> None:
    assert sets_of(answered("3.9", "crash", most=1), "lost", "F-2") == [{"crash": 1}]
    assert sets_of(answered("4.0", "crash", most=1), "lost") == []


@pytest.mark.parametrize("kafka", ["3.9", "4.0", "4.1", "4.3"])
def test_orderly_stops_and_fencing_lose_nothing(kafka: str) -> None:
    """As the recorded searches of the suite say of one partition that is not reassigned."""
    part = answered(kafka, "stop", "fence", "kill")
    assert not sets_of(part, "lost")
    assert part.safe_up_to["lost"].events == 3


@pytest.mark.parametrize(("kafka", "finding"), [("4.0", "F-26"), ("4.1", "F-57")])
def test_a_switch_of_the_feature_is_recognised(kafka: str, finding: str) -> None:
    part = answered(kafka, "kill", "switch_elr")
    assert {"kill": 2, "switch_elr": 1} in sets_of(part, "unavailable", finding)


def test_without_elr_two_kills_and_a_crash_are_too_many() -> None:
    request = RiskRequest("4.0", 3, 2, events=("kill", "crash"), seconds=3000, run_dir=Path("out"))
    part = run_risk([request], Silent()).first
    answer = next(one for one in part.answers if dict(one.events) == {"kill": 2, "crash": 1})
    assert answer.expected and answer.outcome == "lost"
    assert [cause.kind for cause in answer.causes] == ["setting"]
