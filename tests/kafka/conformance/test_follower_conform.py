"""A follower's truncation against ReplicaFetcherThread: what is asked, what is compared, what is found and shown.

Without Java another configuration of the model answers in Kafka's place: then every difference is planted.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

from elrcheck.base.kafka_requests import ConformRequest
from elrcheck.base.progress import Silent
from elrcheck.base.requests import Selection
from elrcheck.base.roundtrip import from_text
from elrcheck.catalogue.evidence.conformance import Conformance, rules_below
from elrcheck.declared.select import resolve
from elrcheck.kafka.broker_steps import AskTruncation, Truncated
from elrcheck.kafka.conformance.answer_files import read_answers
from elrcheck.kafka.conformance.block import Team
from elrcheck.kafka.conformance.conform import run_conform
from elrcheck.kafka.conformance.conform_record import compared_rules, record_comparison
from elrcheck.kafka.conformance.follower_part import FOLLOWER, LOGS, follower_spaces, truncated
from elrcheck.kafka.jars import Jars, from_maven
from elrcheck.kafka.kafka_oracle import FollowerOracle, open_follower_oracle
from elrcheck.model.choices import Truncation
from elrcheck.model.config import Config
from elrcheck.results.conform_report import ConformReport
from support.invoked import Invoke
from support.kafka_jars import ALL, ONE, jars_or_skip

CODE = resolve(Selection("code_4_1", "two-brokers")).config
EVERY = 2 * 35 * 34
"""Both requests, each log of up to four records in three epochs, and each but the empty one."""
# KIP-279: the leader has no record of epoch 2, and the follower none of epoch 1 from offset 1 on.
MISSING_EPOCH = AskTruncation((1, 1, 3), 4, (1, 2, 2), True)


class AnotherModel:
    """A configuration of the model in Kafka's place."""

    version = "0.0.0"

    def __init__(self, config: Config) -> None:
        self.config = config

    def truncations(self, questions: Sequence[AskTruncation]) -> list[Truncated]:
        return [truncated(self.config, question) for question in questions]


def run(other: Config, comparisons: int = EVERY) -> ConformReport:
    @contextlib.contextmanager
    def opener(source: str) -> Iterator[AnotherModel]:
        yield AnotherModel(other)

    request = ConformRequest(kafka=("0.0.0",), level="follower", comparisons=comparisons)
    return run_conform(request, [Team("code_4_1", CODE, ("0.0.0",))], opener, Silent())  # type: ignore[arg-type]


def test_every_pair_of_logs_is_asked() -> None:
    (space,) = follower_spaces()
    assert len(LOGS) == 35 and space.size == EVERY
    report = run(CODE, comparisons=100_000)
    assert (report.verdict, report.compared, report.unexplained, report.disagreements) == ("holds", EVERY, 0, ())
    (covered,) = report.versions[0].spaces
    assert covered.asked == covered.points == EVERY


def test_fewer_comparisons_are_a_sample() -> None:
    report = run(CODE, comparisons=100)
    assert report.compared == 100 and report.versions[0].spaces[0].points == EVERY


def test_a_planted_difference_is_found_and_shrunk() -> None:
    """Without KIP-279 a follower takes the leader's offset, whatever it has of that epoch itself."""
    report = run(replace(CODE, truncation=Truncation.ONE_SHOT))
    assert report.verdict == "violated"
    assert {one.class_ for one in report.disagreements} == {"Fetch: log_end", "OffsetsForLeaderEpoch: log_end"}
    example = report.disagreements[0].example
    assert "--level follower" in example.command
    assert example.fields[0].name == "log end offset" and example.fields[0].kafka > example.fields[0].model
    assert truncated(CODE, MISSING_EPOCH) == Truncated(1)


def test_the_comparison_is_recorded_with_the_rules_of_truncation(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    rules = compared_rules("follower")
    assert {"model.broker.logs.cut_at", "model.broker.logs.truncation_point"} <= {*rules.functions}
    assert "model.control_plane.partition.change" not in rules.functions and rules == rules_below([truncated])
    request = ConformRequest(kafka=("0.0.0",), level="follower", comparisons=EVERY)
    record_comparison(run(CODE), request, rules, path)
    record = from_text(path.read_bytes(), Conformance)
    (entry,) = record.comparisons
    assert (entry.name, entry.level, entry.compared) == ("0.0.0, follower", None, EVERY)
    assert record.changes(entry) == ()


# ---------------------------------------------------------------------------- Kafka


@pytest.fixture(scope="module")
def fetcher() -> Iterator[FollowerOracle]:
    jars_or_skip(ONE, Jars.BROKER)
    with open_follower_oracle(from_maven(ONE, Jars.BROKER)) as oracle:
        yield oracle


@pytest.mark.slow
@pytest.mark.kafka
def test_only_one_rule_of_truncation_is_kafkas(fetcher: FollowerOracle) -> None:
    questions = (MISSING_EPOCH, structs.replace(MISSING_EPOCH, by_fetch=False))
    for answer, question in zip(fetcher.truncations(questions), questions, strict=True):
        for rule in Truncation:
            differs = [*FOLLOWER.disagreements(replace(CODE, truncation=rule), question, answer)]
            assert bool(differs) == (rule in (Truncation.ONE_SHOT, Truncation.HIGH_WATERMARK)), rule


@pytest.mark.slow
@pytest.mark.kafka
@pytest.mark.parametrize("version", ALL)
def test_a_follower_truncates_every_small_log_where_kafka_does(invoke: Invoke, version: str, tmp_path: Path) -> None:
    jars_or_skip(version, Jars.BROKER)
    file = tmp_path / "kept.answers.xz"
    code, out, _ = invoke("conform", "--kafka", version, "--level", "follower", "--format", "json")
    (compared,) = json.loads(out)["versions"]
    assert code == 0 and (compared["kafka"], compared["compared"], compared["unexplained"]) == (version, EVERY, 0)
    assert invoke("conform", "--kafka", version, "--level", "follower", "--keep-answers", str(file))[0] == 0
    answers = read_answers(file.read_bytes(), str(file))
    assert answers.level == "follower" and len(answers.truncations) == EVERY
    assert invoke("conform", "--answers", str(file))[0] == 0
