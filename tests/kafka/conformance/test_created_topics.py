"""Every placement of a new topic on three brokers in every condition: Kafka's classes and the model."""

from __future__ import annotations

from itertools import permutations, product

import pytest

from elrcheck.kafka.conformance.known_classes import partition_differences
from elrcheck.kafka.conformance.question_space import CONDITIONS
from elrcheck.kafka.controller_steps import CreateTopic, KafkaBroker, Setup
from elrcheck.kafka.kafka_oracle import open_oracle
from elrcheck.model.config import Config
from elrcheck.model.variants import variant_named
from support.fake_kafka import created_topic
from support.kafka_jars import jars_or_skip

pytestmark = [pytest.mark.kafka, pytest.mark.slow]

IDS = range(3)
PLACEMENTS = [order for size in (1, 2, 3) for order in permutations(IDS, size)]


@pytest.mark.parametrize("version", ["3.9.1", "4.0.2", "4.1.2", "4.3.1"])
def test_a_topic_starts_as_in_kafka(version: str) -> None:
    variant = variant_named({"3.9.1": "code_3_9", "4.0.2": "code_4_0", "4.1.2": "code_4_1"}.get(version, "code_4_3"))
    assert variant is not None
    config = Config(**variant.knobs)
    topics = [
        (
            Setup(
                tuple(
                    KafkaBroker(b, 100 + b, **CONDITIONS[condition])
                    for b, condition in zip(IDS, conditions, strict=True)
                ),
                None,
                elr=config.elr_enabled,
                cluster_min_isr=2,
            ),
            CreateTopic(placement),
        )
        for conditions in product(range(len(CONDITIONS)), repeat=len(IDS))
        for placement in PLACEMENTS
    ]
    with open_oracle(jars_or_skip(version)) as oracle:
        answers = oracle.steps(topics)
    wrong = []
    refused = 0
    for (setup, step), answer in zip(topics, answers, strict=True):
        error, partition = created_topic(config, setup, step)
        refused += partition is None
        if answer.error != error or partition_differences(answer.partition, partition):
            wrong.append((setup, step, answer, error, partition))
    assert not wrong, (len(wrong), wrong[0])
    assert len(topics) == 960 and 0 < refused < len(topics)
