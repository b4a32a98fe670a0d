"""What records add up to, against Kafka's own image of the metadata (MetadataDelta, MetadataImage)."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from elrcheck.kafka.log.cluster_state import ClusterState, PartitionKey
from elrcheck.kafka.log.metadata_records import MetadataRecord, defaults_of
from elrcheck.kafka.log.record_table import BY_NAME
from support.kafka_jars import ALL, jars_or_skip
from support.kafka_records import answers_to
from support.log_stories import D, E, T, U, broker
from support.log_writer import RecordFields

pytestmark = [pytest.mark.kafka, pytest.mark.slow]
HISTORIES, LENGTH = 12, 40
NEW = {"CLEAR_ELR_RECORD": (4, 0)}
"""Kinds of records that older releases do not have."""
NEWEST = {(3, 9): 3, (4, 0): 3, (4, 1): 3, (4, 2): 3}
"""Version of broker registrations that a release can read; 4 in the others."""


def history(kafka: str, chance: random.Random) -> list[RecordFields]:
    """Records of a cluster with two topics, each about something that exists."""
    release = tuple(map(int, kafka.split(".")[:2]))
    newest = NEWEST.get(release, 4)
    steps: list[RecordFields] = [broker(min(newest, 3), b, logDirs=[D], brokerEpoch=b + 5) for b in range(4)]
    topics = {T: "orders", U: "other"}
    living = {b: b + 5 for b in range(4)}
    partitions: list[PartitionKey] = []
    for topic_id, name in topics.items():
        steps.append(("TOPIC_RECORD", 0, {"name": name, "topicId": topic_id}))
        for number in range(2):
            replicas = chance.sample(range(4), 3)
            steps.append(
                (
                    "PARTITION_RECORD",
                    chance.choice((0, 1, 2)),
                    {
                        "partitionId": number,
                        "topicId": topic_id,
                        "replicas": replicas,
                        "isr": replicas,
                        "leader": replicas[0],
                        "leaderEpoch": 0,
                        "partitionEpoch": 0,
                        "directories": chance.sample([D, E, D], 3),
                    },
                )
            )
            partitions.append(PartitionKey(topic_id, number))
    for _ in range(LENGTH):
        steps.append(_step(release, newest, chance, topics, living, partitions))
    return steps


def _step(
    release: tuple[int, ...],
    newest: int,
    chance: random.Random,
    topics: dict[str, str],
    living: dict[int, int],
    partitions: list[PartitionKey],
) -> RecordFields:
    roll = chance.random()
    if roll < 0.6 and partitions:
        return _change(chance, chance.choice(partitions))
    if roll < 0.7 and release >= NEW["CLEAR_ELR_RECORD"]:
        return ("CLEAR_ELR_RECORD", 0, {"topicName": chance.choice(["", *topics.values()])})
    if roll < 0.72 and len(topics) > 1:
        topic_id = chance.choice(list(topics))
        del topics[topic_id]
        partitions[:] = [key for key in partitions if key.topic_id != topic_id]
        return ("REMOVE_TOPIC_RECORD", 0, {"topicId": topic_id})
    if roll < 0.76 and len(living) > 2:
        number = chance.choice(list(living))
        return ("UNREGISTER_BROKER_RECORD", 0, {"brokerId": number, "brokerEpoch": living.pop(number)})
    if roll < 0.84 or not living:
        number = chance.randrange(4)
        living[number] = chance.randrange(10, 99)
        more: dict[str, Any] = {"fenced": chance.random() < 0.5, "logDirs": chance.choice([[D], [D, E]])}
        more["inControlledShutdown"] = chance.random() < 0.5
        return broker(chance.randrange(1, newest + 1), number, brokerEpoch=living[number], **more)
    number = chance.choice(list(living))
    if roll < 0.9:
        name = chance.choice(("FENCE_BROKER_RECORD", "UNFENCE_BROKER_RECORD"))
        return (name, 0, {"id": number, "epoch": living[number]})
    return (
        "BROKER_REGISTRATION_CHANGE_RECORD",
        2,
        {
            "brokerId": number,
            "brokerEpoch": living[number],
            "fenced": chance.choice((-1, 0, 1)),
            "inControlledShutdown": chance.choice((0, 1)),
            "logDirs": chance.choice(([], [E], [D, E])),
        },
    )


def _change(chance: random.Random, key: PartitionKey) -> RecordFields:
    fields: dict[str, Any] = {"partitionId": key.partition, "topicId": key.topic_id}

    def some() -> list[int]:
        return chance.sample(range(4), chance.randrange(4))

    for name in ("isr", "eligibleLeaderReplicas", "lastKnownElr", "addingReplicas", "removingReplicas"):
        if chance.random() < 0.3:
            fields[name] = some()
    if chance.random() < 0.2:
        fields["replicas"] = chance.sample(range(4), 3)
        fields["directories"] = chance.choices([D, E], k=3)
    if chance.random() < 0.4:
        fields["leader"] = chance.choice((-1, 0, 1, 2, 3))
    return ("PARTITION_CHANGE_RECORD", 2, fields)


def printed(state: ClusterState) -> Any:
    """The state as the driver prints Kafka's."""
    partitions = {}
    for key, stored in state.partitions.items():
        p = stored.registration
        partitions[f"{state.name_of(key)}-{key.partition}"] = [
            p.replicas,
            p.isr,
            p.elr,
            p.last_known_elr,
            p.adding,
            p.removing,
            p.leader,
            p.leader_epoch,
            p.partition_epoch,
            p.recovery,
            stored.shape.directories,
        ]
    brokers = {
        str(number): [b.epoch, b.fenced, b.in_controlled_shutdown, sorted(b.directories)]
        for number, b in state.brokers.items()
    }
    return json.loads(json.dumps([partitions, brokers]))


@pytest.mark.parametrize("kafka", ALL)
def test_every_record_does_what_it_does_to_kafkas_image(kafka: str) -> None:
    jars = jars_or_skip(kafka)
    chance = random.Random(kafka)
    histories = [history(kafka, chance) for _ in range(HISTORIES)]
    lines: list[str] = []
    for steps in histories:
        lines.append("forget")
        for name, version, fields in steps:
            kind = BY_NAME[name]
            every = {
                field.name: fields.get(field.name, field.otherwise) for field in kind.fields if field.since <= version
            }
            lines.append(f"replay {kind.key} {version} {json.dumps(every)}")
    answers = iter(answers_to(jars, lines))
    for steps in histories:
        assert next(answers) == "forgotten"
        state = ClusterState()
        for name, version, fields in steps:
            kind = BY_NAME[name]
            read = {
                field.name: fields.get(field.name, field.otherwise) for field in kind.fields if field.since <= version
            }
            tuples = {k: tuple(value) if isinstance(value, list) else value for k, value in read.items()}
            state.apply(MetadataRecord(name, version, defaults_of(kind) | tuples))
            partitions, brokers = json.loads(next(answers))
            kafkas = [partitions, {b: [*rest, sorted(dirs)] for b, (*rest, dirs) in brokers.items()}]
            assert printed(state) == kafkas, (name, version, fields)
