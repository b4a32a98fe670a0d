"""The question of `what-if`: reads one JSON object strictly, and converts results back to JSON.

Broker ids are arbitrary numbers in JSON and 0..n-1 in the model, because the model numbers its brokers.
Broker epochs are one higher in the model, where 0 means "unknown", which Kafka writes as -1. Lists are sets
in the model, so `Request.lists` keeps their given order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from elrcheck.base.errors import UsageFault, did_you_mean
from elrcheck.catalogue.configuration import check_value, config_fields
from elrcheck.commands.what_if.question_json import Fields, array, integer, mistyped
from elrcheck.model.budgets import Spent
from elrcheck.model.config import Config, LklStorage
from elrcheck.model.state import Partition, Recovery, Registration, Settings
from elrcheck.model.variants import VARIANTS

NOBODY = -1
SETS = ("isr", "elr", "last_known_elr", "adding", "removing")
PARTITION_KEYS = ("replicas", *SETS, "leader", "leader_epoch", "partition_epoch", "leader_recovery_state")
# Sizes that only matter to a search; min_isr also matters to a single controller event.
_SEARCH_ONLY = ("broker_count", "log_slots")


@dataclass(frozen=True)
class Ids:
    """Broker ids of the request, ascending; the position of an id is its number in the model."""

    outside: tuple[int, ...]

    def __contains__(self, broker: int) -> bool:
        return broker in self.outside

    def inside(self, broker: object, path: str) -> int:
        """The model's number of a broker id; UsageFault if there is no such broker."""
        number = integer(broker, path)
        if number not in self.outside:
            raise UsageFault(
                "what-if-unknown-id",
                f"broker {number} is not in brokers",
                where=path,
                help="brokers: " + ", ".join(map(str, self.outside)),
            )
        return self.outside.index(number)

    def distinct(self, values: object, path: str) -> tuple[int, ...]:
        """Converts a list of distinct broker ids to broker numbers of the model."""
        found: list[int] = []
        for position, value in enumerate(array(values, path)):
            number = self.inside(value, f"{path}[{position}]")
            if number in found:
                raise UsageFault(
                    "what-if-duplicate-id", f"broker {value} is given twice", where=f"{path}[{position}]"
                )
            found.append(number)
        return tuple(found)

    def optional(self, broker: object, path: str) -> int | None:
        """Converts a broker id, where -1 means none."""
        return None if integer(broker, path) == NOBODY else self.inside(broker, path)


@dataclass(frozen=True)
class Request:
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


def read_request(given: Fields, *, needs_partition: bool) -> Request:
    """Reads everything except the operation."""
    config = _read_config(given)
    ids, keys, registration = _read_brokers(given.get("brokers"))
    config = replace(config, broker_count=len(keys))
    settings = Settings(
        topic_min_isr=config.min_isr,
        cluster_min_isr=config.min_isr,
        broker_min_isr=tuple(None for _ in keys),
        elr_enabled=config.elr_enabled,
    )
    if not needs_partition and (not given.has("partition") or given.get("partition") is None):
        return Request(config, settings, ids, keys, registration, None, {})
    if not given.has("partition"):
        raise UsageFault("what-if-missing-key", "`partition` is missing", where="partition")
    partition, lists = _read_partition(given.get("partition"), ids, config)
    return Request(config, settings, ids, keys, registration, partition, lists)


def knob_names() -> tuple[str, ...]:
    """The knobs that a question may set: those that affect a single event."""
    left_out = {*_SEARCH_ONLY, *(budget.name for budget in fields(Spent))}
    return tuple(knob.name for knob in fields(Config) if knob.name not in left_out)


def _read_config(given: Fields) -> Config:
    knobs: dict[str, Any] = {}
    if given.has("variant"):
        name = given.get("variant")
        if not isinstance(name, str):
            raise mistyped("variant", "a name", name)
        chosen = next((v for v in VARIANTS if v.name == name), None)
        if chosen is None:
            raise UsageFault(
                "unknown-variant",
                f"unknown variant `{name}`",
                where="variant",
                help=did_you_mean(name, [v.name for v in VARIANTS]),
            )
        knobs.update(chosen.knobs)
    kinds = config_fields(Config)
    for name in knob_names():
        if given.has(name):
            try:
                knobs[name] = check_value(kinds[name], given.get(name))
            except ValueError as fault:
                raise UsageFault("what-if-bad-value", f"`{name}`: {fault}", where=name) from fault
    config = Config(**knobs)
    if config.min_isr < 1:
        raise UsageFault("what-if-bad-value", "`min_isr`: expected 1 or more", where="min_isr")
    return config


def _read_brokers(value: object) -> tuple[Ids, tuple[int, ...], tuple[Registration, ...]]:
    if not isinstance(value, dict):
        raise mistyped("brokers", "an object", value)
    if not value:
        raise UsageFault("what-if-bad-value", "there is no broker", where="brokers")
    found: dict[int, Registration] = {}
    for key, inner in value.items():
        path = f"brokers.{key}"
        if not re.fullmatch(r"0|-?[1-9][0-9]{0,18}", key) or int(key) == NOBODY:
            raise UsageFault(
                "what-if-bad-value", f"`{key}` is not a broker id", where=path, help="-1 means no broker"
            )
        broker = Fields(inner, path, ("fenced", "in_controlled_shutdown", "epoch"))
        found[int(key)] = Registration(
            registered=True,
            fenced=broker.boolean("fenced"),
            in_controlled_shutdown=broker.boolean("in_controlled_shutdown"),
            shutdown_offset=0,
            epoch=broker.integer("epoch", least=0) + 1,
        )
    ids = Ids(tuple(sorted(found)))
    return ids, tuple(found), tuple(found[b] for b in ids.outside)


def _read_partition(value: object, ids: Ids, config: Config) -> tuple[Partition, dict[str, tuple[int, ...]]]:
    given = Fields(value, "partition", PARTITION_KEYS, ("last_known_leader",))
    replicas = ids.distinct(given.get("replicas"), "partition.replicas")
    if not replicas:
        raise UsageFault("what-if-bad-value", "there is no replica", where="partition.replicas")
    lists = {name: ids.distinct(given.get(name), f"partition.{name}") for name in SETS}
    last = None
    if given.has("last_known_leader"):
        last = ids.optional(given.get("last_known_leader"), "partition.last_known_leader")
    if last is not None and config.lkl_storage == LklStorage.OVERLOAD:
        raise UsageFault(
            "what-if-bad-value",
            "this variant has no such field",
            where="partition.last_known_leader",
            help="it stores the last known leader as the only member of last_known_elr",
        )
    partition = Partition(
        replicas=replicas,
        adding=frozenset(lists["adding"]),
        removing=frozenset(lists["removing"]),
        isr=frozenset(lists["isr"]),
        elr=frozenset(lists["elr"]),
        last_known_elr=frozenset(lists["last_known_elr"]),
        last_known_leader=last,
        leader=ids.optional(given.get("leader"), "partition.leader"),
        leader_epoch=given.integer("leader_epoch"),
        partition_epoch=given.integer("partition_epoch"),
        recovery=given.member("leader_recovery_state", Recovery),
    )
    if given.has("last_known_leader"):
        lists["last_known_leader"] = ()  # so that the answer also has the field
    return partition, lists


def partition_json(ids: Ids, p: Partition, orders: Mapping[str, tuple[int, ...]]) -> dict[str, Any]:
    """Converts a partition to the shape of the request.

    The ISR follows `orders`; any other list keeps its order as long as its members stay the same, and is
    ascending otherwise, which is how the controller's hash set lists them.
    """
    lists: dict[str, list[int]] = {}
    for name in SETS:
        members: frozenset[int] = getattr(p, name)
        order = orders.get(name, ())
        kept = order if name == "isr" or frozenset(order) == members else ()
        lists[name] = [ids.outside[b] for b in _ordered(members, kept)]
    last = (
        {}
        if p.last_known_leader is None and "last_known_leader" not in orders
        else {"last_known_leader": _or_nobody(ids, p.last_known_leader)}
    )
    return {
        "replicas": [ids.outside[b] for b in p.replicas],
        **lists,
        **last,
        "leader": _or_nobody(ids, p.leader),
        "leader_epoch": p.leader_epoch,
        "partition_epoch": p.partition_epoch,
        "leader_recovery_state": p.recovery.name,
    }


def brokers_json(request: Request, registration: Iterable[Registration]) -> dict[str, Any]:
    """Converts the registrations to the shape and order of the request."""
    by_id = dict(zip(request.ids.outside, registration, strict=True))
    return {
        str(key): {
            "fenced": by_id[key].fenced,
            "in_controlled_shutdown": by_id[key].in_controlled_shutdown,
            "epoch": by_id[key].epoch - 1,
        }
        for key in request.keys
    }


def _ordered(members: frozenset[int], order: tuple[int, ...]) -> list[int]:
    first = [b for b in order if b in members]
    return first + sorted(members - frozenset(first))


def _or_nobody(ids: Ids, broker: int | None) -> int:
    return NOBODY if broker is None else ids.outside[broker]
