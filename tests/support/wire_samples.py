"""One of every kind of step, and a partition and brokers with something in every field."""

from __future__ import annotations

from elrcheck.kafka.controller_steps import (
    AlterPartition,
    AssignDirectory,
    Balance,
    Configure,
    CreateTopic,
    Elect,
    ElectUncleanly,
    Expire,
    Fence,
    Heartbeat,
    KafkaBroker,
    Member,
    Reassign,
    Register,
    ShutDown,
    Step,
    SwitchElr,
    Unfence,
    Unregister,
)
from elrcheck.kafka.partition_questions import LOST, UNASSIGNED, KafkaPartition

PLACES = (0, UNASSIGNED, LOST)
PARTITION = KafkaPartition((2, 0, 1), (0,), (2,), (-1,), (1,), (), -1, 3, 7, "RECOVERING", PLACES)
BROKERS = (KafkaBroker(0, 100, fenced=True), KafkaBroker(2, 5, registered=False, directories=(1,)))

STEPS: tuple[Step, ...] = (
    Fence(1),
    Expire(1),
    Unfence(1),
    ShutDown(1),
    Heartbeat(1),
    Heartbeat(1, want_fence=True),
    Heartbeat(1, want_shut_down=True),
    Heartbeat(1, caught_up=False),
    Heartbeat(1, offline=(0, 1)),
    Register(1),
    Register(1, "none"),
    Register(1, "other", (1,)),
    Unregister(1),
    AlterPartition(1, (Member(1),)),
    AlterPartition(1, (Member(1, -1),)),
    AlterPartition(1, (Member(1, None),)),
    AlterPartition(1, (), sender_epoch=-1),
    AlterPartition(1, (), leader_epoch=-1),
    AlterPartition(1, (), partition_epoch=-1),
    AlterPartition(1, (), recovery="RECOVERING"),
    Elect("PREFERRED"),
    Elect("UNCLEAN"),
    Balance(),
    ElectUncleanly(),
    Reassign((1, 2)),
    Reassign((1, 2), may_change_replication_factor=False),
    Reassign(()),
    Reassign(None),
    Configure("topic", "2"),
    Configure("topic", None),
    Configure("cluster", "2"),
    Configure("cluster", "2", legacy=True),
    Configure("broker", "2", broker=1),
    Configure("topic", "true", "unclean.leader.election.enable"),
    SwitchElr(True),
    SwitchElr(False),
    AssignDirectory(1, 0),
    CreateTopic((1, 2)),
)
