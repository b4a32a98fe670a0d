"""Measures how many records a second an audit reads, and which part of it takes how long, side by side.

    python benchmarks/audit.py [--records 200000] [--partitions 10000] [--spark "local[2]"] [--profile]

Writes a metadata log of that size into a temporary folder: topics of three replicas on nine brokers, whose
ISR shrinks and grows in batches, as when brokers restart one after the other. `cut` checks the batches and
cuts them into records, `decode` decodes those too, `follow` also applies them to the state, `judge` is the
audit without the event that wrote each record, `audit` is all of it. Times are of the processor, because
other processes may run; with --spark, seconds on the clock.
"""

from __future__ import annotations

import argparse
import base64
import cProfile
import pstats
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from measure import machine

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))

from log_stories import broker
from log_writer import Told, told_batch

from elrcheck.base.progress import Silent
from elrcheck.base.requests import AuditRequest, SparkRequest
from elrcheck.commands.audit.audit import run_audit
from elrcheck.commands.audit.log_audit import LogAudit
from elrcheck.commands.audit.record_check import RecordCheck
from elrcheck.kafka.log.entries import read_entries
from elrcheck.kafka.log.history import History
from elrcheck.kafka.log.log_files import logs_of, read_log
from elrcheck.kafka.log.segments import read_segment

BROKERS = 9
TOPIC_SIZE = 50
ONLINE = "AAAAAAAAAAAAAAAAAAAAAA"


def written(folder: Path, records: int, partitions: int, seed: int = 1) -> Path:
    """A log with one segment."""
    chance = random.Random(seed)
    path = folder / f"{0:020}.log"
    offset = 0
    with path.open("wb") as file:
        for batch in _batches(chance, records, partitions):
            file.write(told_batch(offset, batch, time=1_700_000_000_000 + offset))
            offset += len(batch)
    return path


def _batches(chance: random.Random, records: int, partitions: int) -> Iterator[list[Told]]:
    elr = {"name": "eligible.leader.replicas.version", "featureLevel": 1}
    cluster = {"resourceType": 4, "resourceName": "", "name": "min.insync.replicas", "value": "2"}
    yield [("FEATURE_LEVEL_RECORD", 0, elr), ("CONFIG_RECORD", 0, cluster)]
    yield [broker(3, b, fenced=False) for b in range(BROKERS)]
    replicas = [chance.sample(range(BROKERS), 3) for _ in range(partitions)]
    isr = [list(each) for each in replicas]
    topics = [_topic_id(n) for n in range(-(-partitions // TOPIC_SIZE))]
    for n, topic in enumerate(topics):
        created: list[Told] = [("TOPIC_RECORD", 0, {"name": f"t{n}", "topicId": topic})]
        for p in range(n * TOPIC_SIZE, min((n + 1) * TOPIC_SIZE, partitions)):
            place = {"partitionId": p % TOPIC_SIZE, "topicId": topic, "directories": [ONLINE] * 3}
            state = {"leader": replicas[p][0], "leaderEpoch": 0, "partitionEpoch": 0}
            created.append(("PARTITION_RECORD", 2, place | state | {"replicas": replicas[p], "isr": isr[p]}))
        yield created
    told = 2 + BROKERS + len(topics) + partitions
    while told < records:
        batch: list[Told] = []
        for p in chance.sample(range(partitions), min(chance.randrange(1, 40), partitions)):
            follower = replicas[p][1]
            isr[p] = [b for b in replicas[p] if b != follower or follower not in isr[p]]
            change = {"partitionId": p % TOPIC_SIZE, "topicId": topics[p // TOPIC_SIZE], "isr": isr[p]}
            batch.append(("PARTITION_CHANGE_RECORD", 2, change))
        told += len(batch)
        yield batch


def _topic_id(number: int) -> str:
    return base64.urlsafe_b64encode(number.to_bytes(16))[:22].decode()


def cut(path: Path) -> None:
    for _ in read_segment(path, 0):
        pass


def decode(path: Path) -> None:
    for _ in read_entries(path, 0):
        pass


def follow(path: Path) -> None:
    (log,) = logs_of([path])
    for _ in History().events(read_log(log)):
        pass


def judge(path: Path) -> None:
    (log,) = logs_of([path])
    audited = LogAudit(log)
    audited._check = _NoCheck()
    for _ in audited.run(read_log(log)):
        pass


class _NoCheck(RecordCheck):
    def seen(self, *_: object) -> Iterator[Any]:
        return iter(())


def audit(path: Path) -> None:
    report = run_audit(AuditRequest((path,)), Silent())
    if report.flags or report.damage:
        raise SystemExit(f"the log is sound, but {report.flags[:1] or report.damage[:1]}")


def measured(work: Callable[[Path], None], path: Path) -> float:
    before = time.process_time()
    work(path)
    return time.process_time() - before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--records", type=int, default=200_000)
    parser.add_argument("--partitions", type=int, default=10_000)
    parser.add_argument("--spark", metavar="MASTER", help="measure the audit on Spark too")
    parser.add_argument("--profile", action="store_true", help="show where the time of the audit goes")
    options = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        path = written(Path(folder), options.records, options.partitions)
        records = options.records
        print(f"about {records:,} records, {options.partitions:,} partitions, {path.stat().st_size:,} bytes")
        for work in (cut, decode, follow, judge, audit):
            seconds = measured(work, path)
            print(f"{work.__name__:8}{seconds:>9.2f} s{records / seconds:>12,.0f} records/s", flush=True)
        if options.spark:
            request = AuditRequest((path,), engine="spark", spark=SparkRequest(options.spark))
            report = run_audit(request, Silent())
            rate = report.records / report.seconds
            print(f"{options.spark:8}{report.seconds:>9.2f} s{rate:>12,.0f} records/s on the clock")
        if options.profile:
            profile = cProfile.Profile()
            profile.runcall(audit, path)
            pstats.Stats(profile).sort_stats("tottime").print_stats(30)


if __name__ == "__main__":
    main()
