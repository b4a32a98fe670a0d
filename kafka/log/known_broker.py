"""A broker that a partition names: its state in the metadata log, and the model's registration for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from elrcheck.kafka.log.cluster_state import UNASSIGNED, StoredBroker, StoredPartition
from elrcheck.model.state import Directory, Registration


class KnownBroker(NamedTuple):
    """A broker that a partition names, as the controller knows it."""

    registered: bool = False
    fenced: bool = True
    in_controlled_shutdown: bool = False
    online: bool = True

    @property
    def registration(self) -> Registration:
        return Registration(
            registered=self.registered,
            fenced=self.fenced,
            in_controlled_shutdown=self.in_controlled_shutdown,
            shutdown_offset=0,
            epoch=1,
            directory=Directory.ONLINE if self.online else Directory.OFFLINE,
        )


def known_brokers(
    ids: Iterable[int], brokers: Mapping[int, StoredBroker], stored: StoredPartition
) -> tuple[KnownBroker, ...]:
    """Return these brokers, each with the log directory of its replica of the partition."""
    directories = dict(stored.shape.home.pairs)
    return tuple([known_broker(brokers.get(broker), directories.get(broker, UNASSIGNED)) for broker in ids])


def known_broker(broker: StoredBroker | None, directory: str) -> KnownBroker:
    """Return a broker whose replica is in this directory; broker: None if it is not registered."""
    if broker is None:
        return KnownBroker()
    return KnownBroker(True, broker.fenced, broker.in_controlled_shutdown, broker.has_online(directory))
