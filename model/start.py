"""The initial state, and the bound on disturbances in a search."""

from __future__ import annotations

from elrcheck.lang.runtime import EMPTY, bound, init, op, within
from elrcheck.model.absent import initial_replicas, no_exchange, no_peers, no_recovery
from elrcheck.model.alternatives.reductions import forget_registration
from elrcheck.model.budgets import Spent
from elrcheck.model.choices import Propagation
from elrcheck.model.config import Config
from elrcheck.model.metadata_record import snapshot
from elrcheck.model.min_isr import known_min_isr
from elrcheck.model.replicas import Replica, RSet
from elrcheck.model.state import (
    Broker,
    Directory,
    Metadata,
    Partition,
    Recovery,
    Registration,
    Settings,
    State,
    Status,
    View,
)


@op
def first_records(c: Config, settings: Settings, p: Partition) -> Metadata:
    """The initial metadata log; empty if no broker can lag behind."""
    nothing: Metadata = ()
    return nothing + (snapshot(c, settings, p),) if c.metadata == Propagation.LOG else nothing  # noqa: RUF005


@op
def first_broker(c: Config, settings: Settings, replicas: RSet, b: Replica) -> Broker:
    """Broker b running, with an empty log, and with all metadata applied."""
    isr = replicas if b == 0 else EMPTY
    broker = Broker(
        status=Status.RUNNING,
        epoch=1,
        registered_at=1,
        min_isr=known_min_isr(c, settings, b),
        clean_file=0,
        log=(),
        high_watermark=0,
        view=View(leader=0, leader_epoch=1, partition_epoch=1, isr=isr, replicas=replicas),
        epoch_start=0,
        settled=0,
        peers=no_peers(c),
        alter=no_exchange(c),
        detached_log=(),
    )
    return forget_registration(c, broker)


@init
def Init(c: Config) -> State:
    """All brokers run, registered and unfenced; broker 0 leads with all replicas in sync."""
    replicas = frozenset(initial_replicas(c))
    first = Partition(
        replicas=initial_replicas(c),
        adding=EMPTY,
        removing=EMPTY,
        isr=replicas,
        elr=EMPTY,
        last_known_elr=EMPTY,
        last_known_leader=None,
        leader=0,
        leader_epoch=1,
        partition_epoch=1,
        recovery=Recovery.RECOVERED,
        last_known_none=False,
    )
    settings = Settings(
        topic_min_isr=c.min_isr if c.topic_has_min_isr else None,
        cluster_min_isr=c.min_isr,
        broker_min_isr=tuple(None for b in c.brokers),
        elr_enabled=c.elr_enabled,
    )
    return State(
        settings=settings,
        partition=first,
        metadata=first_records(c, settings, first),
        recovery=no_recovery(c),
        registration=tuple(
            Registration(
                registered=True,
                fenced=False,
                in_controlled_shutdown=False,
                shutdown_offset=0,
                epoch=1,
                stale_entries=0,
                directory=Directory.ONLINE if c.directories_assigned else Directory.UNASSIGNED,
            )
            for b in c.brokers
        ),
        broker=tuple(first_broker(c, settings, replicas, b) for b in c.brokers),
        fetching=(),
        committed=(),
        lossy=EMPTY,
        spent=Spent(),
        promised=(),
        acked=(),
        undone=(),
        favoured=None,
    )


@bound
def WithinBudget(c: Config, s: State) -> bool:
    """The bound of a search: disturbances are limited, recovery is not (`elrcheck.model.budgets`)."""
    return within(s.spent, c)
