"""The settings of one call of `risk`: those of options or of a description, and others to compare."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from elrcheck.base.errors import UsageFault, did_you_mean
from elrcheck.base.kafka_requests import RiskRequest
from elrcheck.kafka.risk.setting_risks import loses_by_design, rank
from elrcheck.kafka.topics.described import Described, TopicSettings, settings_of
from elrcheck.kafka.topics.topic_files import read_topics

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
