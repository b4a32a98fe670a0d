"""The question of `what-if`: reads one JSON object strictly, and converts results back to JSON.

Broker ids are arbitrary numbers in JSON and 0..n-1 in the model, because the model numbers its brokers.
Broker epochs are one higher in the model, where 0 means "unknown", which Kafka writes as -1. Lists are sets
in the model, so `Request.lists` keeps their given order.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from elrcheck.base.errors import did_you_mean
from elrcheck.base.strict import Codes, Node
from elrcheck.base.typed.configuration import config_fields, config_value
from elrcheck.model.budgets import Spent
from elrcheck.model.choices import LklStorage
from elrcheck.model.config import Config
from elrcheck.model.state import Directory, Partition, Recovery, Registration, Settings
from elrcheck.model.variants import variant_named, variant_names
from elrcheck.report.what_if_text import USUAL

CODES = Codes(
    bad_value="what-if-bad-value",
    unknown_key="what-if-unknown-key",
    missing_key="what-if-missing-key",
    malformed="json-malformed",
)
NO_BROKER = -1
NEEDED = ("replicas",)
"""The required fields of a partition; the defaults describe a healthy one."""
SETS = ("isr", "elr", "last_known_elr", "adding", "removing")
PARTITION_KEYS = ("replicas", *SETS, "leader", "leader_epoch", "partition_epoch", "leader_recovery_state")
ACCEPTED = dict.fromkeys((*PARTITION_KEYS, "last_known_leader"))
# Sizes that only matter to a search; min_isr also matters to a single controller event.
_SEARCH_ONLY = ("broker_count", "log_slots")


@dataclass(frozen=True)
class Ids:
    """Broker ids of the request, ascending; the position of an id is its number in the model."""

    outside: tuple[int, ...]

    def __contains__(self, broker: int) -> bool:
        return broker in self.outside

    def inside(self, broker: Node) -> int:
        """Return the model's number of a broker id; raise UsageFault if there is no such broker."""
        number = broker.integer()
        if number not in self.outside:
            help = "brokers: " + ", ".join(map(str, self.outside))
            broker.fail(f"broker {number} is not in brokers", help, code="what-if-unknown-id")
        return self.outside.index(number)

    def distinct(self, brokers: Node) -> tuple[int, ...]:
        """Return a list of distinct broker ids as numbers of the model."""
        numbers: list[int] = []
        for broker in brokers.items():
            number = self.inside(broker)
            if number in numbers:
                broker.fail(f"broker {broker.value} is given twice", code="what-if-duplicate-id")
            numbers.append(number)
        return tuple(numbers)

    def optional(self, broker: Node) -> int | None:
        """Return the model's number of a broker id, None for -1."""
        return None if broker.integer() == NO_BROKER else self.inside(broker)


@dataclass(frozen=True)
class WhatIfQuestion:
    """One question. keys: the brokers in their given order; lists: the partition's lists, likewise.

    partition is None only if the operation creates it.
    """

    config: Config
    settings: Settings
    ids: Ids
    keys: tuple[int, ...]
    registration: tuple[Registration, ...]
    partition: Partition | None
    lists: Mapping[str, tuple[int, ...]]


def read_request(question: Node, *, needs_partition: bool) -> WhatIfQuestion:
    """Read everything but the operation."""
    ids, keys, registration = _read_brokers(_brokers(question))
    config = _read_config(question, len(keys))
    settings = Settings(
        topic_min_isr=config.min_isr,
        cluster_min_isr=config.min_isr,
        broker_min_isr=tuple(None for _ in keys),
        elr_enabled=config.elr_enabled,
    )
    if not needs_partition and question.get("partition").value is None:
        return WhatIfQuestion(config, settings, ids, keys, registration, None, {})
    partition, lists = _read_partition(question["partition"], ids, config)
    return WhatIfQuestion(config, settings, ids, keys, registration, partition, lists)


@functools.cache
def knob_names() -> tuple[str, ...]:
    """Return the knobs that a question may set: those that affect a single event."""
    left_out = {*_SEARCH_ONLY, *(budget.name for budget in fields(Spent))}
    return tuple(knob.name for knob in fields(Config) if knob.name not in left_out)


@functools.cache
def question_keys() -> Mapping[str, None]:
    """Return the keys that a question may have besides its operation."""
    return dict.fromkeys(("brokers", "partition", "variant", *knob_names()))


def _read_config(question: Node, brokers: int) -> Config:
    knobs: dict[str, Any] = question.maybe("variant", _knobs_of_variant, {})
    kinds = config_fields(Config)
    for name, node in question.fields():
        if name in knob_names():
            knobs[name] = config_value(kinds[name], node)
    if knobs.get("min_isr", 1) < 1:
        question["min_isr"].expected("a whole number, 1 or more")
    return _config(frozenset(knobs.items()), brokers)


@functools.lru_cache(maxsize=64)
def _config(knobs: frozenset[tuple[str, Any]], brokers: int) -> Config:
    """Return the configuration of these knobs; the questions of one run have few different ones."""
    return Config(**{**dict(knobs), "broker_count": brokers})


def _knobs_of_variant(node: Node) -> dict[str, Any]:
    if not isinstance(node.value, str):
        node.expected("a name")
    variant = variant_named(node.value)
    if variant is None:
        help = did_you_mean(node.value, variant_names())
        node.fail(f"unknown variant `{node.value}`", help, code="unknown-variant")
    return dict(variant.knobs)


def _brokers(question: Node) -> Node:
    """Return the brokers of the question; by default those of its replicas, all unfenced."""
    if "brokers" in question:
        return question["brokers"]
    placed = question.get("partition", {}).get("replicas", []).items() if "partition" in question else []
    placed += question["op"].get("replicas", []).items() + question["op"].get("target", []).items()
    return question.get("brokers", {str(broker.integer()): {} for broker in placed})


def _read_brokers(brokers: Node) -> tuple[Ids, tuple[int, ...], tuple[Registration, ...]]:
    """Return the ids of the brokers, the same in the given order, and the registration of each."""
    brokers_of: dict[int, Registration] = {}
    for key, broker in brokers.fields():
        if not re.fullmatch(r"0|-?[1-9][0-9]{0,18}", key) or int(key) == NO_BROKER:
            broker.fail(f"`{key}` is not a broker id", "-1 means no broker")
        broker.object((), ("registered", "fenced", "in_controlled_shutdown", "epoch", "directory"))
        registered = broker.get("registered", True).boolean()
        fenced = broker.get("fenced", not registered).boolean()
        stopping = broker.get("in_controlled_shutdown", False).boolean()
        if not registered and (stopping or not fenced):
            broker.fail("a broker that is not registered is fenced, and in no controlled shutdown")
        brokers_of[int(key)] = Registration(
            registered=registered,
            fenced=fenced,
            in_controlled_shutdown=stopping,
            shutdown_offset=0,
            epoch=broker.get("epoch", 0).natural() + 1,
            directory=broker.maybe("directory", lambda node: node.member(Directory), Directory.ONLINE),
        )
    if not brokers_of:
        brokers.fail("there is no broker")
    ids = Ids(tuple(sorted(brokers_of)))
    return ids, tuple(brokers_of), tuple(brokers_of[b] for b in ids.outside)


def _read_partition(partition: Node, ids: Ids, config: Config) -> tuple[Partition, dict[str, tuple[int, ...]]]:
    partition.object(NEEDED, ACCEPTED)
    replicas = ids.distinct(partition["replicas"])
    if not replicas:
        partition["replicas"].fail("there is no replica")
    sets = {name: partition.get(name, partition["replicas"].value if name == "isr" else []) for name in SETS}
    none = _is_none_stored(sets["last_known_elr"])
    if none and not config.lkl_stores_none:
        partition["last_known_elr"].fail("-1 is not a broker", "only released code stores it as a last known leader")
    lists = {name: () if none and name == "last_known_elr" else ids.distinct(sets[name]) for name in SETS}
    last = partition.maybe("last_known_leader", ids.optional, None)
    if last is not None and config.lkl_storage == LklStorage.OVERLOAD:
        partition["last_known_leader"].fail(
            "this variant has no such field", "it keeps the last known leader as the only member of last_known_elr"
        )
    read = Partition(
        replicas=replicas,
        adding=frozenset(lists["adding"]),
        removing=frozenset(lists["removing"]),
        isr=frozenset(lists["isr"]),
        elr=frozenset(lists["elr"]),
        last_known_elr=frozenset(lists["last_known_elr"]),
        last_known_leader=last,
        leader=_leader(partition, ids, lists["isr"]),
        leader_epoch=partition.get("leader_epoch", 0).integer(),
        partition_epoch=partition.get("partition_epoch", 0).integer(),
        recovery=partition.get("leader_recovery_state", Recovery.RECOVERED.name).member(Recovery),
        last_known_none=none,
    )
    if "last_known_leader" in partition:
        lists["last_known_leader"] = ()  # the answer then has the field too
    return read, lists


def _leader(partition: Node, ids: Ids, isr: Sequence[int]) -> int | None:
    """Return the leader of the question, else the first member of the ISR."""
    if "leader" in partition:
        return ids.optional(partition["leader"])
    return isr[0] if isr else None


def _is_none_stored(partition: Node) -> bool:
    """Return whether LastKnownELR is [-1], which released code stores for a partition without a leader."""
    return isinstance(partition.value, list) and partition.value == [NO_BROKER]


def partition_json(ids: Ids, p: Partition, orders: Mapping[str, tuple[int, ...]]) -> dict[str, Any]:
    """Convert a partition to the shape of the request.

    The ISR follows `orders`; any other list keeps its order as long as its members stay the same, and is
    ascending otherwise, which is how the controller's hash set lists them.
    """
    lists: dict[str, list[int]] = {}
    for name in SETS:
        members: frozenset[int] = getattr(p, name)
        order = orders.get(name, ())
        order = order if name == "isr" or frozenset(order) == members else ()
        lists[name] = [ids.outside[b] for b in _ordered(members, order)]
    if p.last_known_none:
        lists["last_known_elr"] = [NO_BROKER]
    last = (
        {}
        if p.last_known_leader is None and "last_known_leader" not in orders
        else {"last_known_leader": _id_or_none(ids, p.last_known_leader)}
    )
    return {
        "replicas": [ids.outside[b] for b in p.replicas],
        **lists,
        **last,
        "leader": _id_or_none(ids, p.leader),
        "leader_epoch": p.leader_epoch,
        "partition_epoch": p.partition_epoch,
        "leader_recovery_state": p.recovery.name,
    }


def brokers_json(request: WhatIfQuestion, registration: Iterable[Registration]) -> dict[str, Any]:
    """Convert the registrations to the shape and order of the request, without what `USUAL` says."""
    by_id = dict(zip(request.ids.outside, registration, strict=True))
    return {
        str(key): {
            "fenced": by_id[key].fenced,
            "in_controlled_shutdown": by_id[key].in_controlled_shutdown,
            "epoch": by_id[key].epoch - 1,
            **{name: value for name, value in _unusual(by_id[key]).items() if value != USUAL[name]},
        }
        for key in request.keys
    }


def _unusual(r: Registration) -> Mapping[str, bool | str]:
    return {"registered": r.registered, "directory": r.directory.name}


def _ordered(members: frozenset[int], order: tuple[int, ...]) -> list[int]:
    first = [b for b in order if b in members]
    return first + sorted(members - frozenset(first))


def _id_or_none(ids: Ids, broker: int | None) -> int:
    return NO_BROKER if broker is None else ids.outside[broker]
