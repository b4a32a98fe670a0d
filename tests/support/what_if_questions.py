"""Questions for `what-if`, written briefly: what the tests of it share."""

from __future__ import annotations

from typing import Any

from elrcheck.kafka.what_if.ask import answer

Json = dict[str, Any]


def brokers(*active: int, fenced: tuple[int, ...] = (), stopping: tuple[int, ...] = ()) -> Json:
    """Registrations; the broker epoch is 100 more than the id."""
    return {
        str(b): {"fenced": b in fenced, "in_controlled_shutdown": b in stopping, "epoch": 100 + b}
        for b in (*active, *fenced, *stopping)
    }


def partition(**changed: Any) -> Json:
    """Replicas 1, 2, 3, all in sync, 1 leads; leader epoch 5, partition epoch 9."""
    return {
        "replicas": [1, 2, 3],
        "isr": [1, 2, 3],
        "elr": [],
        "last_known_elr": [],
        "adding": [],
        "removing": [],
        "last_known_leader": -1,
        "leader": 1,
        "leader_epoch": 5,
        "partition_epoch": 9,
        "leader_recovery_state": "RECOVERED",
        **changed,
    }


def ask(op: Json, before: Json | None = None, live: Json | None = None, **knobs: Any) -> Json:
    """The answer, with min ISR 2 unless said otherwise."""
    return answer(
        {
            "min_isr": 2,
            **knobs,
            "brokers": brokers(1, 2, 3) if live is None else live,
            "partition": partition() if before is None else before,
            "op": op,
        }
    )


def alter(*isr: int, sender: int = 1, leader_epoch: int = 5, partition_epoch: int = 9, **changed: Any) -> Json:
    """AlterPartition with the broker epochs of `brokers`."""
    return {
        "type": "alter_partition",
        "sender": sender,
        "sender_broker_epoch": 100 + sender,
        "leader_epoch": leader_epoch,
        "partition_epoch": partition_epoch,
        "new_isr": [[b, 100 + b] for b in isr],
        "leader_recovery_state": "RECOVERED",
        **changed,
    }


def fence(broker: int) -> Json:
    return {"type": "fence", "broker": broker}


def unfence(broker: int) -> Json:
    return {"type": "unfence", "broker": broker}


def register(broker: int, clean: bool) -> Json:
    return {"type": "register", "broker": broker, "clean": clean}
