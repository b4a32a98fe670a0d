"""Translates settings in Kafka's terms to a configuration of the model, and says what they allow in every release.

What settings allow by design needs no finding: the promise of acks=all is that a record survives the loss of one log
less than min.insync.replicas counts.

The settings of one call of `risk` are those of options or of a description, and others to compare.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from elrcheck.base.errors import UsageFault, did_you_mean
from elrcheck.base.kafka_requests import RiskRequest
from elrcheck.base.requests import Selection
from elrcheck.base.typed.configuration import setting_text
from elrcheck.catalogue.configured import of_release, partition_config, release_numbers
from elrcheck.catalogue.evidence.searched import RELEASED
from elrcheck.kafka.risk.event_sets import BY_NAME, KINDS, Events, RiskEvent, budgets_of
from elrcheck.kafka.topics.described import Described, TopicSettings, settings_of
from elrcheck.kafka.topics.topic_files import read_topics
from elrcheck.model.config import Config
from elrcheck.model.variants import Variant
from elrcheck.results.risk.risk_report import RiskSettings, SettingRisk

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


# ---------------------------------------------------------------------------- what settings allow by design

UNCLEAN = "unclean_leader_election_enable"
BY_SETTING: Mapping[str, str] = {
    "unclean_leader_election_enable": "Set unclean.leader.election.enable=false.",
    "elr_enabled": "Switch ELR on: kafka-features.sh upgrade --feature eligible.leader.replicas.version=1.",
}
REASSIGN = (
    "While every ISR is complete, reassign to replication factor 3 (kafka-reassign-partitions.sh); neither cancel"
    " that nor stop a broker before every ISR is complete again."
)
"""How to add replicas without the beginning of F-20, F-60 or F-61."""
RAISE = "While every ISR is complete and no broker is about to stop, set min.insync.replicas to 2 (kafka-configs.sh)."
"""How to raise min.insync.replicas without the beginning of F-24 or F-53."""
WORST_FIRST = (
    ("replication.factor", "loss"),
    ("unclean.leader.election.enable", "loss"),
    ("min.insync.replicas", "loss"),
    ("min.insync.replicas", "unavailable"),
)


def setting_risks(settings: RiskSettings) -> tuple[SettingRisk, ...]:
    """Return the losses and outages that these settings allow to a producer with acks=all, losses first."""
    if settings.acks != "all":
        return ()
    min_isr, unclean = settings.min_insync_replicas, settings.unclean_leader_election_enable
    return tuple(_risks(settings.replication_factor, min_isr, unclean))


def loses_by_design(topics: TopicSettings) -> bool:
    """Return whether the settings of these topics allow a loss to a producer with acks=all."""
    return any(risk.severity == "loss" for risk in _of_topics(topics))


def rank(topics: TopicSettings) -> tuple[object, ...]:
    """Return what sorts the settings that lose most first: by `WORST_FIRST`, then by the fewest copies that count."""
    allowed = {(risk.setting, risk.severity) for risk in _of_topics(topics)}
    copies = topics.replication_factor + _least(topics.replication_factor, topics.min_insync_replicas)
    return *(risk not in allowed for risk in WORST_FIRST), copies


def _of_topics(topics: TopicSettings) -> Iterator[SettingRisk]:
    return _risks(topics.replication_factor, topics.min_insync_replicas, topics.unclean)


def _least(factor: int, min_isr: int) -> int:
    """Return the members that an ISR needs; a larger min.insync.replicas counts so, at brokers and controllers."""
    return min(min_isr, factor)


def _risks(factor: int, min_isr: int, unclean: bool) -> Iterator[SettingRisk]:
    least = _least(factor, min_isr)
    usual = RAISE if factor > 2 else f"{REASSIGN} Then: {RAISE[0].lower()}{RAISE[1:]}"
    if unclean:
        happens = (
            "Once no replica in sync or eligible is up, another is elected, and acknowledged records it lacks are lost."
        )
        yield SettingRisk("unclean.leader.election.enable", "loss", happens, BY_SETTING[UNCLEAN])
    if factor == 1:
        yield SettingRisk("replication.factor", "loss", "All records are lost with the log of the only replica.", usual)
    elif least == 1:
        happens = "The last replica in sync acknowledges records alone; they are lost with its log."
        yield SettingRisk("min.insync.replicas", "loss", happens, usual)
    elif least == factor:
        happens = f"While one of the {factor} replicas is down, every write with acks=all is refused."
        lower = f"While every ISR is complete, lower min.insync.replicas to {least - 1}, or add a replica."
        remedy = lower if least > 2 else REASSIGN
        yield SettingRisk("min.insync.replicas", "unavailable", happens, remedy)


ON_OFF = {"on": True, "off": False}
TRUE_FALSE = {"true": True, "false": False}
KEYS = (
    "kafka",
    "replication-factor",
    "min-insync-replicas",
    "acks",
    "elr",
    "unclean-leader-election-enable",
    "first-partition",
)
MOST_GROUPS = 8
"""Groups of settings that one run searches; with more minutes than that, one for each."""


def compared(request: RiskRequest, others: Sequence[str]) -> list[RiskRequest]:
    """Return the request, and one for each `KEY=VALUE[,KEY=VALUE..]` that differs from it in just that."""
    return [request, *(_changed(request, text) for text in others)]


def _changed(request: RiskRequest, text: str) -> RiskRequest:
    values: dict[str, Any] = {}
    for pair in text.split(","):
        key, equals, value = pair.partition("=")
        name = key.strip().replace("_", "-").replace(".", "-")
        if name not in KEYS or not equals:
            raise UsageFault(
                "risk-compare",
                f"--compare {text}: expected KEY=VALUE, such as kafka=4.3",
                help=did_you_mean(name, KEYS) or f"keys: {', '.join(KEYS)}",
            )
        values[name.replace("-", "_")] = _value(name, value.strip(), text)
    return replace(request, **values)


def _value(name: str, value: str, text: str) -> Any:
    choices: dict[str, dict[str, Any]] = {
        "elr": ON_OFF,
        "unclean-leader-election-enable": TRUE_FALSE,
        "first-partition": TRUE_FALSE,
        "acks": {word: word for word in ("all", "1", "0")},
    }
    if name in choices:
        if value not in choices[name]:
            raise UsageFault("risk-compare", f"--compare {text}: `{name}` is one of {', '.join(choices[name])}")
        return choices[name][value]
    if name == "kafka":
        return value
    if not re.fullmatch(r"[0-9]{1,4}", value) or int(value) < 1:
        raise UsageFault("risk-compare", f"--compare {text}: `{name}` must be 1 or more")
    return int(value)


class DescribedQuestions(NamedTuple):
    """The requests for a description. unread: lines not understood; not_searched: topics beyond the limit of groups."""

    requests: list[RiskRequest]
    unread: tuple[str, ...]
    not_searched: int


def described(request: RiskRequest, file: Path) -> DescribedQuestions:
    """Return a request for each group of topics to search, which share the time.

    Groups that lose no record by design come first, those with most topics before others.
    """
    settings, unread = topic_groups(request, (file,))
    settings.sort(key=lambda group: (loses_by_design(group), -len(group.names)))
    most = max(MOST_GROUPS, int(request.seconds // 60))
    groups = [of_group(request, group) for group in settings[:most]]
    left = sum(len(group.names) for group in settings[most:])
    return DescribedQuestions([replace(each, seconds=request.seconds / len(groups)) for each in groups], unread, left)


def topic_groups(request: RiskRequest, files: Sequence[Path]) -> tuple[list[TopicSettings], tuple[str, ...]]:
    """Return the groups of topics that files define, those at risk first, and the lines not understood."""
    return groups_in(request, read_topics(files))


def groups_in(
    request: RiskRequest, description: Described, apart: bool = True
) -> tuple[list[TopicSettings], tuple[str, ...]]:
    """Return the groups of topics of a description, those that lose most first, and the lines not understood.

    apart: topics whose only partition is number 0 are groups of their own.
    """
    groups, problems = settings_of(description, request.unclean_leader_election_enable, apart)
    unread = (*description.unread, *problems)
    if not groups:
        help = "give each topic a replication factor" if "replication factor" in unread[0] else None
        raise UsageFault("topics-unreadable", f"no usable topic: {unread[0]}", help=help)
    return sorted(groups, key=rank), unread


def of_group(request: RiskRequest, group: TopicSettings) -> RiskRequest:
    """Return the request with the settings of a group of topics."""
    return replace(
        request,
        replication_factor=group.replication_factor,
        min_insync_replicas=group.min_insync_replicas,
        unclean_leader_election_enable=group.unclean,
        first_partition=group.single,
        topics=group.names,
    )
