"""Answers of earlier runs of `risk`, by a digest of everything that they depend on.

The digest covers every source file of the package, so that no answer outlives a change of the model or of
the engine. A trace is kept as the numbers of its steps; whoever reads it has the plain model follow it again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta, field

from elrcheck.base.kept import named_digests as digests
from elrcheck.base.kept.age import Kept
from elrcheck.base.kept.store import Entry, Store
from elrcheck.base.roundtrip import Record
from elrcheck.base.typed.configuration import config_values
from elrcheck.model.config import Config

Count = Annotated[int, Meta(ge=0)]


class KeptSet(Record, frozen=True):
    """The answer for one set of events. traces: property -> numbers of the steps of a shortest trace."""

    broken: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    states: Count = 0
    traces: Mapping[str, tuple[Count, ...]] = field(default_factory=dict)

    @property
    def sound(self) -> bool:
        """Whether no property both broke and held, and each that broke has a trace."""
        return not {*self.broken} & {*self.held} and {*self.broken} <= self.traces.keys()


class KeptRisk(Record, frozen=True):
    """Everything about one configuration. sets: by the names of the events. prevented: by what was asked.

    tried: the seconds after which a search gave up, by the largest sets that it was for.
    """

    sets: Mapping[str, KeptSet] = field(default_factory=dict)
    prevented: Mapping[str, bool | None] = field(default_factory=dict)
    tried: Mapping[str, float] = field(default_factory=dict)


class KeptRisks:
    """The kept answers. fresh: ignore existing entries, still write new ones."""

    def __init__(self, fresh: bool = False) -> None:
        self.store = Store("risk", KeptRisk, fresh=fresh)

    def find(self, config: Config) -> Entry[KeptRisk] | None:
        """What earlier runs have answered about this configuration."""
        return self.store.get(_key(config))

    def refuse(self, config: Config) -> None:
        """Take back an answer of which a part could not be confirmed."""
        self.store.refuse(_key(config), "has a part that the model does not confirm")

    def add(self, config: Config, risk: KeptRisk, origin: Kept | None) -> None:
        """Keep an answer. origin: of the older answers in it."""
        self.store.put(_key(config), risk, None if origin is None else origin.moment)


def _key(config: Config) -> str:
    return digests.key(package=digests.package(), config=config_values(config))
