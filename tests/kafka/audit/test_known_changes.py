"""Records like one that was judged harmless are only applied; the report is that of judging each of them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from elrcheck.kafka.audit.known_changes import KnownChanges
from elrcheck.kafka.audit.log_audit import LogAudit
from elrcheck.kafka.log.entries import RecordRun
from elrcheck.kafka.log.log_files import logs_of, read_log
from elrcheck.results.audit_report import AuditReport
from support.audit_stories import CLEAR, LOST, audited, feature, min_isr
from support.cluster_restarts import ONLINE, TOPIC_SIZE, Cluster, topic_id, written_restarts
from support.log_stories import SEGMENT, broker, registered
from support.log_writer import batch, record_value
from support.random_logs import written_at_random

OFFLINE = "AAAAAAAAAAAAAAAAAAAAAg"


def without_memory(monkeypatch: pytest.MonkeyPatch, *paths: Path) -> AuditReport:
    with monkeypatch.context() as patch:
        patch.setattr(KnownChanges, "apply", lambda *_: 0)
        patch.setattr(KnownChanges, "is_sound", lambda *_: False)
        return replace(audited(*paths), seconds=0.0)


def test_restarts_are_explained_and_mostly_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written_restarts(tmp_path, Cluster(60, brokers=5), 2_500)
    applied = 0
    apply = KnownChanges.apply

    def counted(self: KnownChanges, state: object, run: RecordRun, number: int) -> int:
        nonlocal applied
        count = apply(self, state, run, number)  # type: ignore[arg-type]
        applied += count
        return count

    monkeypatch.setattr(KnownChanges, "apply", counted)
    report = audited(path)
    assert report.flags == () and report.damage == () and report.exit_code == 0
    (log,) = report.logs
    assert log.unexplained == log.not_asked == 0 and log.explained > 2_300
    assert applied > 0.6 * log.explained


def hazard(cluster: Cluster, chance: random.Random) -> bytes:
    """A change as of a partition that has an ELR, is reassigned, or is given log directories."""
    p = chance.randrange(cluster.partitions)
    replicas = list(cluster.replicas[p])
    other = chance.randrange(cluster.brokers)
    fields = {
        "isr": chance.sample(replicas, chance.randrange(3)),
        "leader": chance.choice((-1, *replicas)),
        "eligibleLeaderReplicas": chance.sample([*replicas, other], chance.randrange(3)),
        "lastKnownElr": chance.choice(([], replicas[:1], [-1])),
        "replicas": chance.choice((replicas, replicas[1:], [*replicas[1:], other], replicas[::-1])),
        "addingReplicas": chance.choice(([], [other])),
        "removingReplicas": replicas[: chance.randrange(2)],
        "directories": [chance.choice((ONLINE, OFFLINE)) for _ in replicas],
    }
    chosen = chance.sample(sorted(fields), chance.choice((1, 1, 2, 2, 3)))
    name = {"partitionId": p % TOPIC_SIZE, "topicId": topic_id(p)}
    return record_value(("PARTITION_CHANGE_RECORD", 2, name | {each: fields[each] for each in chosen}))


def disturbed(folder: Path, seed: int, brokers: int = 4) -> Path:
    """Restarts with changes that no controller makes, and with brokers and settings that change anywhere."""
    chance = random.Random(seed)
    cluster = Cluster(24, brokers=brokers, seed=seed)
    topic = (2, "t0")
    news = (
        feature(0),
        feature(1),
        min_isr("1"),
        min_isr("2"),
        min_isr("1", topic),
        min_isr(None, topic),
        CLEAR,
        *(registered(2, brokerId=b, fenced=chance.choice((1, -1))) for b in range(4)),
        ("UNREGISTER_BROKER_RECORD", 0, {"brokerId": 3, "brokerEpoch": 9}),
        broker(3, 3, fenced=False),
        ("BEGIN_TRANSACTION_RECORD", 0, {}),
        ("END_TRANSACTION_RECORD", 0, {}),
        ("ABORT_TRANSACTION_RECORD", 0, {}),
        ("NO_OP_RECORD", 0, {}),
    )
    content, offset = b"", 0
    for number, steps in enumerate(cluster.batches(450)):
        values: Sequence[bytes] = steps
        if number > 2 and chance.random() < 0.3:
            steps.insert(chance.randrange(len(steps) + 1), hazard(cluster, chance))
        if number > 2 and chance.random() < 0.4:
            members = tuple(chance.sample(range(4), chance.randrange(4)))
            odd = cluster.change(chance.randrange(24), members, chance.choice((None, -1, 0, 1)))
            steps.insert(chance.randrange(len(steps) + 1), odd)
        if number > 2 and chance.random() < 0.3:
            steps.insert(chance.randrange(len(steps) + 1), record_value(chance.choice(news)))
        if number > 2 and chance.random() < 0.05:
            steps.append(steps[-1][:-1])  # cannot be decoded
        content += batch(offset, values, time=1_000 + offset)
        offset += len(values)
    folder.mkdir()
    (folder / SEGMENT).write_bytes(content)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_what_is_remembered_changes_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    folders = [disturbed(tmp_path / "disturbed", seed, brokers=3 + seed), tmp_path / "random"]
    written_at_random(folders[1], random.Random(seed))
    if seed == 1:
        folders += [LOST, written_restarts(tmp_path, Cluster(20, brokers=4), 300)]
    remembered = replace(audited(*folders), seconds=0.0)
    afresh = without_memory(monkeypatch, *folders)
    assert remembered.flags == afresh.flags
    assert remembered == afresh
    assert {flag.rule for flag in afresh.flags} >= {"elr-outside-replicas", "ghost-elected", "P-10", "P-17"}
    first = afresh.logs[0]
    assert first.explained > 100 and first.unexplained > 10 and len(afresh.flags) > 30


def test_records_behind_known_changes_are_counted_once(tmp_path: Path) -> None:
    path = written_restarts(tmp_path, Cluster(20, brokers=4), 300)
    (log,) = logs_of([path])
    audit = LogAudit(log)
    seen = [last.position for last in audit.run(read_log(log))]
    read = audit.history.read
    assert seen == sorted(seen) and len(set(seen)) > 10
    assert read.first_offset == 0 and read.last_offset == read.records - 1
