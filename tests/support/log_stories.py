"""The log of tests/data/metadata_log/made: every kind of record in every version.

`python -m support.log_stories`, in tests, writes the files again, by Kafka's own classes.
"""

from __future__ import annotations

import json

from elrcheck.kafka.log.record_table import BY_NAME
from support.log_writer import RecordFields, batch_of, leader_change, snapshot_footer, snapshot_header
from support.places import TESTS

BY_KAFKA = TESTS / "data" / "metadata_log" / "made"
SEGMENT = "00000000000000000000.log"
SNAPSHOT = "00000000000000000017-0000000001.checkpoint"
KAFKA = "4.4.0"
T, U = "Xv7YpeXSRI6lrH9LqT0rkA", "mUB98od-Qdmvt7UgNZIyNg"
D, E = "KvUvGCJJQgi3w52y-cTS0A", "0jmoEaBNSBKMG7TXUKkbTw"
PORT = {"name": "PLAINTEXT", "host": "b0.example", "port": 65535, "securityProtocol": 0}
LEVELS = {"name": "metadata.version", "minSupportedVersion": 7, "maxSupportedVersion": 29}


def broker(version: int, number: int, **more: object) -> RecordFields:
    values = {"brokerId": number, "incarnationId": U, "brokerEpoch": 9, "endPoints": [PORT], "rack": None}
    return ("REGISTER_BROKER_RECORD", version, values | {"features": [LEVELS]} | more)


def change(version: int, **more: object) -> RecordFields:
    return ("PARTITION_CHANGE_RECORD", version, {"partitionId": 0, "topicId": T} | more)


def registered(version: int, **more: object) -> RecordFields:
    return ("BROKER_REGISTRATION_CHANGE_RECORD", version, {"brokerId": 1, "brokerEpoch": 9} | more)


PARTITION = {
    "partitionId": 0,
    "topicId": T,
    "replicas": [0, 1, 2],
    "isr": [0, 1, 2],
    "leader": 0,
    "leaderEpoch": 0,
    "partitionEpoch": 0,
}
START: tuple[RecordFields, ...] = (
    ("BEGIN_TRANSACTION_RECORD", 0, {"name": "Bootstrap records"}),
    ("FEATURE_LEVEL_RECORD", 0, {"name": "metadata.version", "featureLevel": 27}),
    ("FEATURE_LEVEL_RECORD", 0, {"name": "eligible.leader.replicas.version", "featureLevel": 1}),
    ("CONFIG_RECORD", 0, {"resourceType": 4, "name": "min.insync.replicas", "value": "2"}),
    ("END_TRANSACTION_RECORD", 0, {}),
)
BROKERS: tuple[RecordFields, ...] = (
    broker(0, 0),
    broker(1, 1, inControlledShutdown=True),
    broker(2, 2, isMigratingZkBroker=True, rack="r-ä"),
    broker(3, 3, fenced=False, logDirs=[D]),
    broker(4, 4, logDirs=[D, E], cordonedLogDirs=[E]),
)
TOPICS: tuple[RecordFields, ...] = (
    ("TOPIC_RECORD", 0, {"name": "orders", "topicId": T}),
    ("CONFIG_RECORD", 0, {"resourceType": 2, "resourceName": "orders", "name": "min.insync.replicas", "value": None}),
    ("PARTITION_RECORD", 0, PARTITION),
    ("PARTITION_RECORD", 1, PARTITION | {"partitionId": 1, "directories": [D, E, D]}),
    (
        "PARTITION_RECORD",
        2,
        PARTITION
        | {
            "partitionId": 2,
            "directories": [D, E, D],
            "isr": [],
            "leader": -1,
            "eligibleLeaderReplicas": [1, 2],
            "lastKnownElr": [0],
            "leaderRecoveryState": 1,
        },
    ),
)
REST: tuple[RecordFields, ...] = (
    change(0, isr=[0, 2], leader=2),
    change(0, replicas=[0, 1, 2, 300], addingReplicas=[300], removingReplicas=[0]),
    change(1, directories=[D, E, D, E], leaderRecoveryState=0),
    change(2, isr=[], leader=-1, eligibleLeaderReplicas=[2], lastKnownElr=[]),
    change(2, eligibleLeaderReplicas=[], lastKnownElr=[-1]),
    change(2),
    ("FENCE_BROKER_RECORD", 0, {"id": 1, "epoch": 9}),
    ("UNFENCE_BROKER_RECORD", 0, {"id": 1, "epoch": 9}),
    registered(0, fenced=-1),
    registered(1, inControlledShutdown=1),
    registered(2, logDirs=[D, E]),
    registered(3, fenced=1, cordonedLogDirs=[]),
    ("CLEAR_ELR_RECORD", 0, {"topicName": "orders"}),
    ("UNREGISTER_BROKER_RECORD", 0, {"brokerId": 4, "brokerEpoch": 9}),
    ("BEGIN_TRANSACTION_RECORD", 0, {}),
    ("REMOVE_TOPIC_RECORD", 0, {"topicId": T}),
    ("ABORT_TRANSACTION_RECORD", 0, {"reason": "a new leader"}),
    ("NO_OP_RECORD", 0, {}),
)
SEGMENT_RECORDS = ((1, START), (6, BROKERS), (11, TOPICS), (16, REST))
"""Base offsets and records; offset 0 is the leader change."""
ALL_RECORDS = (*START, *BROKERS, *TOPICS, *REST)
TIME = 1_795_303_937_052
NEXT_OFFSET = 34
SNAPSHOT_RECORDS = (*START[1:4], *BROKERS[2:], *TOPICS)


def written_here() -> dict[str, bytes]:
    """The two files, as log_writer makes them."""
    segment = leader_change(0, 1, TIME, 100) + b"".join(
        batch_of(base, steps, 1, TIME + base) for base, steps in SEGMENT_RECORDS
    )
    snapshot = snapshot_header(0, 1, TIME, TIME + 16) + batch_of(1, SNAPSHOT_RECORDS, 1, TIME)
    return {SEGMENT: segment, SNAPSHOT: snapshot + snapshot_footer(1 + len(SNAPSHOT_RECORDS), 1, TIME)}


def written_by_kafka() -> dict[str, bytes]:
    """The two files, as Kafka's serializers make them."""
    from support.kafka_jars import jars_or_skip
    from support.kafka_records import answers_to

    jars = jars_or_skip(KAFKA)

    def values(steps: tuple[RecordFields, ...]) -> str:
        lines = []
        for name, version, fields in steps:
            kind = BY_NAME[name]
            written = (field for field in kind.fields if field.since <= version)
            every = {field.name: fields.get(field.name, field.otherwise) for field in written}
            lines.append(f"record {kind.key} {version} {json.dumps(every)}")
        return ",".join(answer.split(" ", 1)[0] for answer in answers_to(jars, lines))

    lines = [f"leader 0 1 {TIME} 100"]
    lines += [f"batch {base} 1 {TIME + base} {values(batch)}" for base, batch in SEGMENT_RECORDS]
    lines += [f"header 0 1 {TIME} {TIME + 16}", f"batch 1 1 {TIME} {values(SNAPSHOT_RECORDS)}"]
    lines.append(f"footer {1 + len(SNAPSHOT_RECORDS)} 1 {TIME} -")
    answers = [bytes.fromhex(answer) for answer in answers_to(jars, lines)]
    return {SEGMENT: b"".join(answers[:5]), SNAPSHOT: b"".join(answers[5:])}


if __name__ == "__main__":
    for name, content in written_by_kafka().items():
        (BY_KAFKA / name).write_bytes(content)
