"""The initial state, and the bound of a search."""

from __future__ import annotations

from elrcheck.lang.runtime import bound, init, within
from elrcheck.model.partitions.controller_config import ControllerConfig
from elrcheck.model.partitions.controller_state import ControllerState, Fault, Process, SpentByEvents, Stable
from elrcheck.model.partitions.indexes import recomputed
from elrcheck.model.partitions.topic_events import created
from elrcheck.model.state import Registration, Settings


@init
def Init(c: ControllerConfig) -> ControllerState:
    """All brokers are registered and unfenced, all topics exist, and every replica is in sync."""
    settings = Settings(
        topic_min_isr=None,
        cluster_min_isr=c.min_isr,
        broker_min_isr=tuple(None for b in c.brokers),
        elr_enabled=c.elr_enabled,
    )
    registration = tuple(
        Registration(registered=True, fenced=False, in_controlled_shutdown=False, shutdown_offset=0, epoch=1)
        for b in c.brokers
    )
    topics = tuple(created(c, settings, registration) for t in range(c.topics))
    indexes = recomputed(c, topics)
    registered = frozenset(c.brokers)
    return ControllerState(
        settings=settings,
        topics=topics,
        registration=registration,
        indexes=indexes,
        registered=registered,
        fault=Fault.NONE,
        spent=SpentByEvents(),
        stable=Stable(
            settings=settings,
            topics=topics,
            registration=registration,
            indexes=indexes,
            registered=registered,
            spent=SpentByEvents(),
        ),
        processes=tuple(Process(epoch=1, earlier_epoch=0, proves=False, may_stop=False) for b in c.brokers),
    )


@bound
def WithinBudget(c: ControllerConfig, s: ControllerState) -> bool:
    """Disturbances are limited, recovery is not."""
    return within(s.spent, c)
