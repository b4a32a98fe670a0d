"""Metadata logs at random: segments, a snapshot, transactions, damage; any change of any partition."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from pathlib import Path

from support.audit_stories import START, change, feature, partition
from support.log_stories import T, U
from support.log_writer import RecordFields, batch_of, snapshot_footer, snapshot_header

CLUSTER: Sequence[RecordFields] = (
    feature(0),
    feature(1),
    ("CLEAR_ELR_RECORD", 0, {"topicName": "t1"}),
    ("CONFIG_RECORD", 0, {"resourceType": 4, "name": "min.insync.replicas", "value": "2"}),
    ("CONFIG_RECORD", 0, {"resourceType": 4, "name": "min.insync.replicas", "value": "1"}),
    ("UNREGISTER_BROKER_RECORD", 0, {"brokerId": 1, "brokerEpoch": 9}),
    ("NO_OP_RECORD", 0, {}),
    ("FENCE_BROKER_RECORD", 0, {"id": 2, "epoch": 9}),
    ("UNFENCE_BROKER_RECORD", 0, {"id": 2, "epoch": 9}),
    ("FENCE_BROKER_RECORD", 0, {"id": 9, "epoch": 9}),
    ("BEGIN_TRANSACTION_RECORD", 0, {}),
    ("END_TRANSACTION_RECORD", 0, {}),
    ("ABORT_TRANSACTION_RECORD", 0, {}),
    ("REMOVE_TOPIC_RECORD", 0, {"topicId": U}),
)


def any_change(chance: random.Random) -> RecordFields:
    some = chance.sample(range(4), chance.randrange(4))
    more = {
        "isr": some,
        "leader": chance.choice((-1, 0, 1, 2)),
        "replicas": [*some, 3][:3],
        "eligibleLeaderReplicas": chance.sample(range(4), chance.randrange(3)),
        "lastKnownElr": [0],
    }
    chosen = {name: more[name] for name in chance.sample(sorted(more), chance.randrange(1, 4))}
    return change(partitionId=chance.randrange(5), topicId=chance.choice((T, U)), **chosen)


def written_at_random(folder: Path, chance: random.Random) -> None:
    """Three segments, a snapshot and damage: partitions of two topics, with brokers and settings between."""
    folder.mkdir()
    topics = (("TOPIC_RECORD", 0, {"name": "t1", "topicId": U}),)
    parts = [partition(partitionId=n, topicId=topic) for topic in (T, U) for n in range(4)]
    steps = [*START, *topics, *parts]
    batches = [steps]
    batches += [
        [any_change(chance) if chance.random() < 0.8 else chance.choice(CLUSTER) for _ in range(chance.randrange(1, 9))]
        for _ in range(60)
    ]
    base, offsets = 0, []
    for batch in batches:
        offsets.append(base)
        base += len(batch)
    cuts = (0, 20, 40, len(batches))
    for start, end in itertools.pairwise(cuts):
        raw = b"".join(batch_of(offsets[n], batches[n], time=1000 + n) for n in range(start, end))
        if chance.random() < 0.5:
            at = chance.randrange(len(raw) // 2, len(raw))
            raw = raw[:at] + bytes([raw[at] ^ 4]) + raw[at + 1 :]
        (folder / f"{offsets[start]:020}.log").write_bytes(raw)
    if chance.random() < 0.6:
        (folder / f"{0:020}.log").unlink()
        end = offsets[22]
        content = snapshot_header(0, 1, 5, 4) + batch_of(1, steps) + snapshot_footer(1 + len(steps), 1, 5)
        (folder / f"{end:020}-0000000001.checkpoint").write_bytes(content)
    last = folder / f"{offsets[40]:020}.log"
    last.write_bytes(last.read_bytes() + batch_of(base, parts)[: chance.randrange(1, 60)])
