"""Translates settings in Kafka's terms to a configuration of the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from elrcheck.base.errors import UsageFault, did_you_mean
from elrcheck.base.kafka_requests import RiskRequest
from elrcheck.base.requests import Selection
from elrcheck.base.typed.configuration import setting_text
from elrcheck.catalogue.configured import of_release, partition_config, release_numbers
from elrcheck.catalogue.evidence.searched import RELEASED
from elrcheck.kafka.risk.event_kinds import BY_NAME, KINDS, Events, RiskEvent, budgets_of
from elrcheck.model.config import Config
from elrcheck.model.variants import Variant
from elrcheck.results.risk.risk_report import RiskSettings

SCOPE = "two-brokers-quiet"
"""The base scope: one record, and no lost messages; events and sizes are set on top of it."""
MOST_REPLICAS = 5
FIRST_WITH_FEATURE = (4, 0)
"""The first release in which users can switch ELR on."""
FIRST_BY_DEFAULT = (4, 1)
"""The first release whose new clusters have ELR on (Feature.ELIGIBLE_LEADER_REPLICAS_VERSION)."""
REDUCED = {"skips_no_news": True, "forgets": True}
"""Reductions that no property of states depends on (docs/adr/0008, 0009)."""


@dataclass(frozen=True)
class SettingsGroup:
    """One group of settings in Kafka's words. kinds: the events that its release knows."""

    settings: RiskSettings
    kinds: tuple[RiskEvent, ...]
    topics: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @cached_property
    def config(self) -> Config:
        """The configuration of the model without any event."""
        return self.with_events(())

    @property
    def losses(self) -> str:
        """The property that breaks when an acknowledged record is lost."""
        return "LOSS-1" if self.settings.acks == "all" else "LOSS-2"

    def selection(self, events: Events) -> Selection:
        """Return the request for the same configuration with these events."""
        return Selection(self.settings.variant, SCOPE, tuple(self._overrides(budgets_of(events))))

    def with_events(self, events: Events) -> Config:
        """Return the configuration in which these events may happen."""
        return partition_config(self.selection(events))

    def command(self, events: Events, ident: str) -> str:
        """Return the command that repeats a search with these events; `check` has no property about outages."""
        if ident != "LOSS-1":
            return self._risk(events)
        sets = " ".join(f"--set {pair}" for pair in self._overrides(budgets_of(events)))
        check = f"elrcheck check --variant {self.settings.variant} --scope {SCOPE}"
        return f"{check} {sets} --property P-6 --property P-8"

    def _risk(self, events: Events) -> str:
        """Return the question about these events alone."""
        settings = self.settings
        words = [
            f"--kafka {settings.kafka} --replication-factor {settings.replication_factor}",
            f"--min-insync-replicas {settings.min_insync_replicas} --acks {settings.acks}",
        ]
        if release_numbers(settings.kafka) >= FIRST_WITH_FEATURE:
            words.append(f"--elr {'on' if settings.elr else 'off'}")
        words += ["--unclean-leader-election-enable"] * settings.unclean_leader_election_enable
        words += ["--first-partition"] * settings.first_partition
        words += [f"--event {name}" for name in dict.fromkeys(events)]
        return f"elrcheck risk {' '.join(words)} --events {len(events)} --fresh"

    def _overrides(self, budgets: Mapping[str, int]) -> Sequence[str]:
        values = {**sizes(self.settings), **budgets}
        return [f"{name}={setting_text(value)}" for name, value in values.items()]


def sizes(settings: RiskSettings) -> dict[str, Any]:
    """Return the fields that the settings determine, beyond the rules of the release and the scope."""
    values: dict[str, Any] = {
        "broker_count": settings.replication_factor,
        "min_isr": min(settings.min_insync_replicas, settings.replication_factor),
        "elr_enabled": settings.elr,
        "unclean_leader_election_enable": settings.unclean_leader_election_enable,
        **REDUCED,
    }
    if not settings.first_partition:
        values["partition_zero_replicas"] = settings.replication_factor
    if settings.acks != "all":
        values["acks_one"] = 1
    return values


def releases() -> tuple[str, ...]:
    """Return every release that a variant stands for, ascending."""
    return tuple(sorted((name for variant in RELEASED for name in variant.kafka), key=release_numbers))


def release_named(text: str) -> tuple[str, Variant]:
    """Return a release and the variant that stands for it: 4.1 is the last one of its line."""
    release = of_release(text)
    if release is None:
        names = releases()
        raise UsageFault(
            "unknown-release",
            f"no rules are known for Kafka `{text}`",
            help=f"known: {', '.join(names)}, and lines such as 4.1",
        )
    return release


def group_of(request: RiskRequest) -> SettingsGroup:
    """Read the settings of a request; raise UsageFault if no cluster can have them, or they are too large to search."""
    factor = request.replication_factor
    if not 1 <= factor <= MOST_REPLICAS:
        raise UsageFault("risk-setting", f"--replication-factor {factor}: expected 1 to {MOST_REPLICAS}")
    settings, notes = settings_named(request)
    return SettingsGroup(settings, _kinds(request, settings), request.topics, notes)


def settings_named(request: RiskRequest) -> tuple[RiskSettings, tuple[str, ...]]:
    """Return the settings of a request with the defaults of its release, and notes on them."""
    release, variant = release_named(request.kafka)
    factor = request.replication_factor
    if request.min_insync_replicas < 1:
        raise UsageFault("risk-setting", "--min-insync-replicas: at least 1")
    notes = []
    if request.min_insync_replicas > factor:
        notes.append(
            f"min.insync.replicas {request.min_insync_replicas} of {factor} replicas counts as {factor}, in Kafka too"
        )
    version = release_numbers(release)
    by_default = version >= FIRST_BY_DEFAULT
    elr = by_default if request.elr is None else request.elr
    if elr and version < FIRST_WITH_FEATURE:
        raise UsageFault(
            "risk-setting",
            f"Kafka {release} has no ELR that users can switch on",
            help="leave out --elr on, or ask for 4.0 or later",
        )
    if by_default and request.elr is None:
        notes.append(
            "ELR is on in new clusters of this release; an upgraded one may have it off: see kafka-features.sh describe"
        )
    if request.acks == "0":
        notes.append(
            "with acks=0 no record is ever acknowledged, and one may be lost without any event; this is the"
            " answer for acks=1"
        )
    settings = RiskSettings(
        kafka=release,
        variant=variant.name,
        replication_factor=factor,
        min_insync_replicas=request.min_insync_replicas,
        acks=request.acks,
        elr=elr,
        unclean_leader_election_enable=request.unclean_leader_election_enable,
        first_partition=request.first_partition,
    )
    return settings, tuple(notes)


def _kinds(request: RiskRequest, settings: RiskSettings) -> tuple[RiskEvent, ...]:
    """Return the events of the request, or every one that can happen."""
    for name in request.events:
        if name not in BY_NAME:
            raise UsageFault("unknown-event", f"unknown event `{name}`", help=did_you_mean(name, BY_NAME))
    possible = [
        kind for kind in KINDS if kind.name != "switch_elr" or release_numbers(settings.kafka) >= FIRST_WITH_FEATURE
    ]
    return tuple(kind for kind in possible if not request.events or kind.name in request.events)
