"""`elrcheck audit --bootstrap` on real brokers: no flag while all is well, and F-20 before any loss."""

from __future__ import annotations

import pytest

from elrcheck.base.kafka_requests import AuditRequest
from elrcheck.base.progress import Silent
from elrcheck.kafka.audit.audit import run_audit
from elrcheck.kafka.cluster.cluster import KafkaCluster, start_cluster, wait_for
from elrcheck.kafka.cluster.node_settings import ClusterShape
from elrcheck.kafka.jars import ClassPath, Jars
from elrcheck.kafka.live import snapshot
from elrcheck.results.audit_report import AuditReport
from support.kafka_jars import ONE, jars_or_skip
from support.wire_broker import library_or_skip

pytestmark = [pytest.mark.kafka, pytest.mark.slow]
SECONDS = 120.0


@pytest.fixture
def class_path() -> ClassPath:
    library_or_skip()
    return jars_or_skip(ONE, Jars.CLUSTER)


def audited(cluster: KafkaCluster) -> AuditReport:
    return run_audit(AuditRequest(bootstrap=cluster.layout.broker_addresses), Silent())


def test_a_cluster_before_and_after_the_first_reassignment_of_f_20(
    class_path: ClassPath, monkeypatch: pytest.MonkeyPatch
) -> None:
    shape = ClusterShape(brokers=3, features={"eligible.leader.replicas.version": 1})
    with start_cluster(class_path, shape, patience=3) as cluster:
        # The effective min.insync.replicas is limited by the replicas of partition 0.
        cluster.clients.create("orders", [(0, 1, 2)] * 2, {"min.insync.replicas": "2"})
        cluster.clients.create("many", [(0,)] * 20, {})
        wait_for(lambda: cluster.clients.describe("many-19").leader == 0, SECONDS, "the topics")

        healthy = audited(cluster)
        assert (healthy.verdict, healthy.flags, healthy.partitions) == ("no_sign", (), 22)
        assert healthy.cluster is not None and healthy.cluster.unseen == ()
        assert (healthy.cluster.kafka, healthy.cluster.elr_version) == ("4.1", 1)
        assert healthy.cluster.offset > 0
        with monkeypatch.context() as small:
            small.setattr(snapshot, "PAGE", 3)
            assert audited(cluster).partitions == 22

        cluster.clients.reassign("orders-1", (2,))
        wait_for(lambda: cluster.clients.describe("orders-1").replicas == (2,), SECONDS, "the reassignment")
        report = audited(cluster)
        assert report.verdict == "violated"
        assert [(f.rule, f.hazard, f.severity, f.topic, f.partition) for f in report.flags] == [
            ("elr-outside-replicas", "F-20", "critical", "orders", 1),
            ("downgrade-keeps-elr", "F-28", "low", "orders", 1),
        ]

        cluster.stop(1)  # orders-0: ISR [0, 2], which is enough, so the ELR stays empty
        wait_for(lambda: cluster.clients.describe("orders-0").isr == (0, 2), SECONDS, "the stop")
        stopped = audited(cluster)
        assert {f.partition for f in stopped.flags if f.topic == "orders"} == {1}
        assert stopped.cluster is not None and stopped.cluster.fenced in ((), (1,))
