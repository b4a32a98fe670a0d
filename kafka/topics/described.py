"""Topics as a definition, a metadata log or a running cluster describes them, and topics grouped by equal settings."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from elrcheck.kafka.log.cluster_state import BROKER, EVERY_BROKER, TOPIC, ClusterState, min_isr_in
from elrcheck.kafka.log.cluster_state import MIN_ISR as MIN_ISR
from elrcheck.kafka.log.cluster_state import UNCLEAN as UNCLEAN
from elrcheck.model.queries.cluster_image import legal_topic_name
from elrcheck.report.plain_words import several, some_of

FACTOR = "default.replication.factor"
OWN_FACTOR = "replication.factor"
MOST_OTHERS = 3
"""Further lines or topics that a message names."""


@dataclass
class TopicDescription:
    """A topic as it is described. factors: partition -> number of its replicas. place: ``file:line`` of the first.

    topic_id: Kafka's id of it, where a log or a cluster says it. inherits: a setting that it does not have may be that
    of a broker, which is not on record.
    """

    name: str
    replication_factor: int | None = None
    configs: dict[str, str] = field(default_factory=dict)
    factors: dict[int, int] = field(default_factory=dict)
    line: int = 0
    place: str = ""
    topic_id: str = ""
    inherits: bool = False
    single: bool = False
    """The topic has one partition, as its definition says; if `factors` is not empty, that decides."""
    lines: dict[str, int] = field(default_factory=dict)
    """The line of each setting that the definition gives, by Kafka's names."""

    @property
    def at(self) -> str:
        """Return the beginning of a message about the topic: where it is described, if that is a file."""
        file, _, line = self.place.rpartition(":")
        return f"{file}, line {line}: " if file else ""


@dataclass(frozen=True)
class Described:
    """A whole description. cluster: settings of brokers, which apply to topics without their own.

    unread: the parts that are not understood, each with its line and the reason. clusters: the same settings of each
    cluster that is defined; where two of them differ, the setting of a topic without its own is unknown.
    """

    topics: tuple[TopicDescription, ...]
    cluster: Mapping[str, str]
    unread: tuple[str, ...]
    clusters: tuple[Mapping[str, str], ...] = ()


@dataclass(frozen=True)
class TopicSettings:
    """The settings of one or more partitions of equal settings. names: of topics, or of their partitions.

    single: these topics have one partition, which is number 0.
    """

    replication_factor: int
    min_insync_replicas: int
    unclean: bool
    single: bool
    names: tuple[str, ...]
    places: tuple[str, ...] = ()
    """``file:line`` of each of them."""
    lines: tuple[Mapping[str, int], ...] = ()
    """The line of each setting, for each of them."""


class NotUnderstood(ValueError):
    """A part of a description is not understood; the message has the reason. line: its line, from 1."""

    def __init__(self, why: object, line: int = 0) -> None:
        super().__init__(str(why))
        self.line = line


def all_of(descriptions: Iterable[Described]) -> Described:
    """Return several descriptions as one, in which settings of brokers apply to the topics of all."""
    topics: list[TopicDescription] = []
    cluster: dict[str, str] = {}
    unread: list[str] = []
    clusters: list[Mapping[str, str]] = []
    for each in descriptions:
        topics += each.topics
        cluster |= each.cluster
        unread += each.unread
        clusters += each.clusters
    return Described(tuple(topics), cluster, tuple(unread), tuple(clusters))


def settings_of(
    described: Described, unclean: bool, apart: bool = True
) -> tuple[tuple[TopicSettings, ...], tuple[str, ...]]:
    """Return topics grouped by equal settings, and those whose settings are not determined.

    unclean: the value for topics whose description does not set it. apart: topics whose only partition is number 0 are
    groups of their own.
    """
    groups: dict[tuple[int, int, bool, bool], list[str]] = {}
    unclear: dict[str, list[TopicDescription]] = {}
    places: dict[tuple[int, int, bool, bool], list[tuple[str, Mapping[str, int]]]] = {}
    for topic in described.topics:
        try:
            min_isr = number(_setting(topic, described, MIN_ISR, "1"), MIN_ISR)
            allowed = _flag(_setting(topic, described, UNCLEAN, str(unclean).lower()))
            has_own = topic.factors or topic.replication_factor
            inherited = "" if has_own else _setting(topic, described, FACTOR, "")
            default = number(inherited, FACTOR) if inherited else 0
        except NotUnderstood as fault:
            unclear.setdefault(str(fault), []).append(topic)
            continue
        every = set(topic.factors.values()) or {topic.replication_factor or default}
        for factor in sorted(every):
            if factor == 0:
                unclear.setdefault("its replication factor is not given", []).append(topic)
                continue
            parts = [str(partition) for partition, size in sorted(topic.factors.items()) if size == factor]
            name = topic.name if len(every) == 1 else f"{topic.name} ({', '.join(parts)})"
            single = apart and (set(topic.factors) == {0} if topic.factors else topic.single)
            groups.setdefault((factor, min_isr, allowed, single), []).append(name)
            places.setdefault((factor, min_isr, allowed, single), []).append((topic.place, topic.lines))
    settings = tuple(
        TopicSettings(*key, tuple(names), *zip(*places[key], strict=True)) for key, names in groups.items()
    )
    problems = (
        f"{first.at}topic {first.name}: {why}{and_others([each.name for each in others], 'topic')}"
        for why, (first, *others) in unclear.items()
    )
    return settings, tuple(problems)


def and_others(others: Sequence[object], noun: str) -> str:
    """Return what a message about one line or topic adds if it is about others, too; empty if it is not."""
    if not others:
        return ""
    return f" (and {several(len(others), f'more {noun}')}: {some_of([str(each) for each in others], MOST_OTHERS)})"


def _setting(topic: TopicDescription, described: Described, name: str, default: str) -> str:
    if name in topic.configs:
        return topic.configs[name]
    if len({cluster.get(name, default) for cluster in described.clusters}) > 1:
        raise NotUnderstood(f"it inherits {name}, in which the clusters differ; name the files of one cluster")
    return described.cluster.get(name, default)


def number(text: str, what: str, line: int = 0) -> int:
    """Return a positive number; raise NotUnderstood for any other text."""
    if not re.fullmatch(r"[0-9]{1,9}", text) or int(text) < 1:
        raise NotUnderstood(f"{what} must be a number from 1 to 999999999, not `{text}`", line)
    return int(text)


def demand_spelt(name: str, line: int = 0, about: str = "") -> None:
    """Raise NotUnderstood for the name of a setting that is near to one that is read, whose value is then unknown.

    about: what the message begins with.
    """
    names = (MIN_ISR, UNCLEAN)
    near = difflib.get_close_matches(re.sub("[^a-z]", ".", name.lower()), names, n=1, cutoff=0.85)
    if near and name not in names:
        raise NotUnderstood(f"{about}unknown setting `{name}`; did you mean `{near[0]}`?", line)


def topic_name(text: str, line: int = 0) -> str:
    """Return the name of a topic; raise NotUnderstood if Kafka would reject it."""
    if not legal_topic_name(text):
        raise NotUnderstood("not a legal topic name", line)
    return text


def _flag(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise NotUnderstood(f"{UNCLEAN} is neither true nor false but `{text}`")
    return text.lower() == "true"


def topics_in_use(
    state: ClusterState, unclean: Collection[str] | None, unreported: Collection[str] = ()
) -> Iterator[TopicDescription]:
    """Yield the topics that exist, in the order of their names.

    unclean: the topics of a running cluster that allow unclean elections; None of a log, whose topics inherit the
    settings of server.properties files, which no record has. unreported: those whose settings the cluster did not
    report.
    """
    for topic_id, name in sorted(state.topics.items(), key=lambda topic: topic[1]):
        own, cluster = min_isr_in(state.min_isr, name)
        configs = {}
        if own is not None or (BROKER, EVERY_BROKER) in state.min_isr:
            configs[MIN_ISR] = str(cluster if own is None else own)
        recorded = state.unclean.get((TOPIC, name), state.unclean.get((BROKER, EVERY_BROKER)))
        if (unclean and name in unclean) or recorded is not None:
            configs[UNCLEAN] = "true" if unclean and name in unclean else str(recorded).lower()
        factors = {}
        for key in sorted(state.keys_in(topic_id)):
            lists = state.partitions[key].shape.lists
            factors[key.partition] = len(set(lists.replicas) - set(lists.adding))
        inherits = unclean is None or name in unreported
        yield TopicDescription(name, configs=configs, factors=factors, topic_id=topic_id, inherits=inherits)
