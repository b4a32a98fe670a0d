"""Answers of earlier runs of `risk`, by a digest of everything that they depend on.

The digest covers every source file of the package, so that no answer outlives a change of the model or the engine. A
trace is stored as the numbers of its steps; the plain model follows it again when it is read.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import field

from elrcheck.base.kept import named_digests as digests
from elrcheck.base.kept.store import Store
from elrcheck.base.roundtrip import Record
from elrcheck.base.typed.configuration import config_values
from elrcheck.kafka.risk.event_sets import SetAnswer
from elrcheck.model.config import Config


class KeptRisk(Record, frozen=True):
    """The answers about one configuration. sets: by the names of their events.

    prevented: by repair, events and property. tried: the seconds after which a search gave up, by the largest sets
    that it was for.
    """

    sets: Mapping[str, SetAnswer] = field(default_factory=dict)
    prevented: Mapping[str, bool | None] = field(default_factory=dict)
    tried: Mapping[str, float] = field(default_factory=dict)


def risk_store(fresh: bool = False) -> Store[KeptRisk]:
    """Return the store of these answers. fresh: ignore existing entries, still write new ones."""
    return Store("risk", KeptRisk, fresh=fresh)


def risk_key(config: Config) -> str:
    """Return the key of the answers about a configuration."""
    return digests.key(package=digests.package(), config=config_values(config))
