"""A leader's rules against kafka.cluster.Partition: what is asked, what is compared, what is found and shown.

Without Java another configuration of the model answers in Kafka's place: then every difference is planted.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace

import pytest

from elrcheck.base.kafka_requests import ConformRequest
from elrcheck.base.progress import Silent
from elrcheck.base.requests import Selection
from elrcheck.declared.select import resolve
from elrcheck.kafka.broker_steps import Append, Beginning, BrokerEvent, FollowerFetch, Granted, LookForLag, Metadata
from elrcheck.kafka.conformance.block import Team
from elrcheck.kafka.conformance.broker_part import BROKER, BROKER_CLASSES
from elrcheck.kafka.conformance.broker_walks import ACTIVE, possible, random_walk
from elrcheck.kafka.conformance.broker_walks import ALL as EVERYBODY
from elrcheck.kafka.conformance.conform import run_conform
from elrcheck.kafka.java_program import sources_of
from elrcheck.kafka.kafka_oracle import BrokerOracle, open_broker_oracle
from elrcheck.model.choices import AlterReject, HwmGate, Reelection
from elrcheck.model.config import Config
from elrcheck.results.conform_report import ConformReport
from support.broker_stand_in import StandIn, compared_with
from support.kafka_jars import ONE, OTHERS, jars_or_skip

CODE = resolve(Selection("code_4_1", "two-brokers")).config
# F-51: broker 1 leads epoch 2, broker 2 has its second record; then 1 leads epoch 4 without stepping down.
MISSED_EPOCH: tuple[BrokerEvent, ...] = (
    Beginning(1, 11, 2),
    ACTIVE,
    Metadata(1, 2, 3, EVERYBODY, EVERYBODY),
    Append(-1),
    FollowerFetch(0, 10, 1, 2, 2),
    FollowerFetch(2, 12, 1, 2, 2),
    Append(-1),
    FollowerFetch(2, 12, 2, 2, 2),
    Metadata(1, 4, 5, EVERYBODY, (1, 2)),
)
# The same, but it hears of epoch 3, in which 0 leads.
STEPPED_DOWN = (*MISSED_EPOCH[:-1], Metadata(0, 3, 4, EVERYBODY, EVERYBODY), MISSED_EPOCH[-1])


def run(other: Config, comparisons: int = 1000) -> ConformReport:
    return compared_with(StandIn(other), CODE, comparisons)


def test_the_same_rules_do_not_differ() -> None:
    report = run(CODE)
    assert (report.verdict, report.unexplained, report.disagreements) == ("holds", 0, ())
    assert report.compared >= 1000
    assert report.versions[0].spaces[0].asked > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "knobs",
    [
        {"reelection": Reelection.RESET},
        {"strict_hwm": False},
        {"hwm_gate": HwmGate.MAXIMAL},
        {"maximal_isr": False},
        {"join_requires_epoch_start": False},
        {"waits_for_unknown": False},
        {"alter_reject": AlterReject.ROLLBACK},
        {"alter_retries": False},
        {"ignores_failed_fetches": False},
        {"leader_caches_epoch": False},
    ],
    ids=lambda knobs: next(iter(knobs)),
)
def test_a_planted_difference_is_found_and_shrunk(knobs: dict[str, object]) -> None:
    report = run(replace(CODE, **knobs), comparisons=3000 if "maximal_isr" in knobs else 700)  # type: ignore[arg-type]
    assert report.verdict == "violated"
    difference = next(one for one in report.disagreements if not one.explained)
    assert difference.example.fields
    assert 2 <= len(difference.example.events) <= 12
    assert "--level broker" in difference.example.command


def test_what_a_walk_asks_depends_on_seed_and_number_only() -> None:
    assert random_walk(CODE, 7, 3) == random_walk(CODE, 7, 3)
    assert random_walk(CODE, 7, 3) != random_walk(CODE, 7, 4)


def test_answers_to_requests_that_were_not_sent_are_left_out() -> None:
    start = MISSED_EPOCH[:4]
    never_sent = (*start, Granted(2, 4, (1,)))
    assert possible(CODE, never_sent) == start
    assert possible(CODE, (*start, LookForLag(), Granted(2, 4, (1,))))[-1] == Granted(2, 4, (1,))


def test_the_drivers_sources_are_shipped_and_short() -> None:
    sources = sources_of("kafka/java/broker")
    lines = {name: text.splitlines() for name, text in sources.items()}
    assert "BrokerMain.java" in lines
    assert {name: len(lines_of) for name, lines_of in lines.items() if len(lines_of) > 400} == {}
    assert {name for name, lines_of in lines.items() if any(len(line) > 120 for line in lines_of)} == set()


# ---------------------------------------------------------------------------- Kafka


@pytest.fixture(scope="module")
def partition() -> Iterator[BrokerOracle]:
    from elrcheck.kafka.jars import Jars, from_maven

    jars_or_skip(ONE)
    with open_broker_oracle(from_maven(ONE, Jars.BROKER)) as oracle:
        yield oracle


@pytest.mark.slow
@pytest.mark.kafka
def test_a_leader_that_missed_an_epoch_trusts_what_its_followers_had(partition: BrokerOracle) -> None:
    """F-51, and its control: a broker that steps down in between waits for a fetch."""
    (missed, stepped) = (answers[-1] for answers in partition.walks([MISSED_EPOCH, STEPPED_DOWN]))
    assert (missed.high_watermark, missed.produce) == (2, ("NONE", "NONE"))
    assert missed.peers == ((0, 1, 10), (2, 2, 12))
    assert (stepped.high_watermark, stepped.produce) == (1, ("NONE", "WAITING"))
    assert stepped.peers == ((0, -1, -1), (2, -1, -1))


@pytest.mark.kafka
def test_only_kept_log_ends_are_as_in_kafka(partition: BrokerOracle) -> None:
    answers = partition.walks([MISSED_EPOCH])[0]
    for reelection in Reelection:
        config = replace(CODE, reelection=reelection)
        unexplained = [one for one in BROKER.disagreements(config, MISSED_EPOCH, answers) if one.known_class is None]
        assert bool(unexplained) == (reelection != Reelection.KEPT), reelection


@pytest.mark.slow
@pytest.mark.kafka
def test_every_known_difference_occurs(partition: BrokerOracle) -> None:
    walks = [random_walk(CODE, 1, number) for number in range(150)]
    differences = [
        one
        for walk, answers in zip(walks, partition.walks(walks), strict=True)
        for one in BROKER.disagreements(CODE, walk, answers)
    ]
    assert [one for one in differences if one.known_class is None] == []
    rare = {"watermark-left-behind"}
    assert {one.known_class.id for one in differences} >= BROKER_CLASSES.keys() - rare


@pytest.mark.kafka
@pytest.mark.slow
@pytest.mark.parametrize("version", OTHERS)
def test_a_leader_of_other_releases_is_the_models(version: str) -> None:
    from elrcheck.kafka.jars import Jars, from_maven

    jars_or_skip(version)
    with open_broker_oracle(from_maven(version, Jars.BROKER)) as oracle:
        assert oracle.version == version

        @contextlib.contextmanager
        def opener(source: str) -> Iterator[BrokerOracle]:
            yield oracle

        request = ConformRequest(kafka=(version,), level="broker", comparisons=20_000)
        report = run_conform(request, [Team("code_4_1", CODE, (version,))], opener, Silent())
    assert report.unexplained == 0, report.disagreements
