"""The whole command against Kafka's own classes, where their jars are: nothing unexplained, and the teeth."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from elrcheck.cli import cli
from elrcheck.console.shell import run
from support.kafka_jars import jars_or_skip
from support.planted_knobs import PLANTED

pytestmark = [pytest.mark.kafka, pytest.mark.slow]


def conform(tmp_path: Path, version: str, *options: str) -> tuple[int, dict[str, object]]:
    jars_or_skip(version)
    file = tmp_path / "report.json"
    arguments = ["conform", "--kafka", version, "-o", f"json:{file}", *options]
    code = run(cli, arguments)
    return code, json.loads(file.read_text())


@pytest.mark.parametrize("version", ["4.0.2", "4.1.2", "4.3.1"])
def test_the_variant_of_a_release_answers_as_kafka_does(version: str, tmp_path: Path) -> None:
    code, report = conform(tmp_path, version, "--comparisons", "6000", "--seed", "5")
    assert code == 0 and report["verdict"] == "holds" and report["unexplained"] == 0
    assert isinstance(report["compared"], int) and report["compared"] > 5000


@pytest.mark.parametrize("change", PLANTED[::4])
def test_a_planted_difference_is_found_within_a_minute(change: str, tmp_path: Path) -> None:
    """Each of them is found in recorded answers, by test_planted."""
    code, report = conform(
        tmp_path, "4.1.2", "--set", change, "--stop-at-first", "--seconds", "60", "--comparisons", "1000000"
    )
    assert code == 1 and report["stopped_by"] == "--stop-at-first"
