"""The operations of `what-if`: each reads its fields and calls one rule of the model.

Only cases that the modelling language cannot represent are decided here: an AlterPartition from an
unregistered broker, and a proposed ISR with duplicates or unknown brokers, which no set of brokers can hold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from elrcheck.base.errors import UsageFault, suggest
from elrcheck.commands.what_if.operator_ops import OPERATOR_OPERATIONS
from elrcheck.commands.what_if.outcome_json import NONE, Operation, Outcome, subject
from elrcheck.commands.what_if.question import NOBODY, Request
from elrcheck.commands.what_if.question_json import Fields, array, integer, mistyped
from elrcheck.lang.runtime import EMPTY, put
from elrcheck.model.config import Config
from elrcheck.model.control_plane.controller import (
    AlterRequest,
    active,
    alter_partition,
    fenced_partition,
    new_incarnation,
    registered_partition,
    shutdown_was_clean,
    unfenced_partition,
)
from elrcheck.model.control_plane.creation import created_partition, initial_isr
from elrcheck.model.control_plane.elections import AdminError, balance_preferred, maybe_elect_unclean
from elrcheck.model.control_plane.partition import Election, Target, change
from elrcheck.model.state import Error, Partition, Recovery, Registration, Settings, configured_min_isr

Rule = Callable[[Config, Settings, Partition, tuple[Registration, ...]], Partition]


# ---------------------------------------------------------------------------- broker events


def _fence(request: Request, op: Fields) -> Outcome:
    b = request.ids.inside(op.get("broker"), op.at("broker"))
    p, registration = subject(request), request.registration
    if registration[b].fenced:
        return Outcome(NONE, p, registration)
    after = fenced_partition(request.config, request.settings, p, registration, b)
    return Outcome(NONE, after, put(registration, b, replace(registration[b], fenced=True)))


def _unfence(request: Request, op: Fields) -> Outcome:
    b = request.ids.inside(op.get("broker"), op.at("broker"))
    p, registration = subject(request), request.registration
    if not registration[b].fenced:
        return Outcome(NONE, p, registration)
    after = unfenced_partition(request.config, request.settings, p, registration, b)
    return Outcome(NONE, after, put(registration, b, replace(registration[b], fenced=False)))


def _register(request: Request, op: Fields) -> Outcome:
    """Registers a new incarnation. The session of an unfenced broker counts as expired: no duplicates."""
    b = request.ids.inside(op.get("broker"), op.at("broker"))
    p, registration = subject(request), request.registration
    presented = registration[b].epoch if op.boolean("clean") else 0
    clean = shutdown_was_clean(request.config, presented, registration[b].epoch)
    after = registered_partition(request.config, request.settings, p, registration, b, clean)
    return Outcome(NONE, after, put(registration, b, new_incarnation(registration[b])))


def _controlled_shutdown(request: Request, op: Fields) -> Outcome:
    """The broker requests controlled shutdown while it still leads partitions, so it stays unfenced."""
    b = request.ids.inside(op.get("broker"), op.at("broker"))
    p, registration = subject(request), request.registration
    if registration[b].fenced or registration[b].in_controlled_shutdown:
        return Outcome(NONE, p, registration)
    after = fenced_partition(request.config, request.settings, p, registration, b)
    return Outcome(NONE, after, put(registration, b, replace(registration[b], in_controlled_shutdown=True)))


# ---------------------------------------------------------------------------- AlterPartition


def _alter_partition(request: Request, op: Fields) -> Outcome:
    ids, p, registration = request.ids, subject(request), request.registration
    members = _members(op)
    sender = op.integer("sender")
    sender_epoch = op.integer("sender_broker_epoch", least=NOBODY) + 1
    leader_epoch, partition_epoch = op.integer("leader_epoch"), op.integer("partition_epoch")
    recovery = op.member("leader_recovery_state", Recovery)
    if sender not in ids:
        return Outcome(Error.STALE_BROKER_EPOCH.name, p, registration)
    named = [broker for broker, _ in members]
    known = len(set(named)) == len(named) and all(broker in ids for broker in named)
    # The check for an ISR without the leader also refuses one that is not a set of known brokers.
    isr = tuple(ids.outside.index(broker) for broker in named) if known else ()
    carried = dict(zip(isr, (epoch + 1 for _, epoch in members), strict=False))
    decision = alter_partition(
        request.config,
        request.settings,
        p,
        registration,
        AlterRequest(
            sender=ids.outside.index(sender),
            sender_epoch=sender_epoch,
            leader_epoch=leader_epoch,
            partition_epoch=partition_epoch,
            isr=frozenset(isr),
            member_epochs=tuple(carried.get(b, 0) for b in range(len(registration))),
            recovery=recovery,
        ),
    )
    return Outcome(decision.error.name, decision.partition, registration, {"isr": isr})


def _members(op: Fields) -> list[tuple[int, int]]:
    """Reads `new_isr`: pairs of broker id and the broker epoch that the leader knows (-1: unknown)."""
    pairs: list[tuple[int, int]] = []
    for position, value in enumerate(op.items("new_isr")):
        path = f"{op.at('new_isr')}[{position}]"
        pair = array(value, path)
        if len(pair) != 2:
            raise mistyped(path, "a pair of broker id and broker epoch", value)
        pairs.append((integer(pair[0], f"{path}[0]"), integer(pair[1], f"{path}[1]", least=NOBODY)))
    return pairs


# ---------------------------------------------------------------------------- periodic events


def _quietly(rule: Rule) -> Callable[[Request, Fields], Outcome]:
    """Wraps the rule of a periodic event: there is no request, so there is no error."""

    def apply(request: Request, op: Fields) -> Outcome:
        after = rule(request.config, request.settings, subject(request), request.registration)
        return Outcome(NONE, after, request.registration)

    return apply


def _create_partition(request: Request, op: Fields) -> Outcome:
    replicas = request.ids.distinct(op.get("replicas"), op.at("replicas"))
    if initial_isr(request.config, request.registration, replicas) == EMPTY:
        return Outcome(AdminError.INVALID_REPLICA_ASSIGNMENT.name, request.partition, request.registration)
    created = created_partition(request.config, request.registration, replicas)
    return Outcome(NONE, created, request.registration, {"isr": replicas})


# ---------------------------------------------------------------------------- the raw builder


def _change(request: Request, op: Fields) -> Outcome:
    """PartitionChangeBuilder itself. Defaults: election ONLINE, acceptable leaders are active brokers."""
    ids, p, registration = request.ids, subject(request), request.registration

    def listed(key: str, default: tuple[int, ...]) -> tuple[int, ...]:
        return ids.distinct(op.get(key), op.at(key)) if op.has(key) else default

    replicas = listed("target_replicas", p.replicas)
    if not replicas:
        raise UsageFault("what-if-bad-value", "there is no replica", where=op.at("target_replicas"))
    isr = listed("target_isr", request.lists["isr"])
    adding = listed("target_adding", request.lists["adding"])
    removing = listed("target_removing", request.lists["removing"])
    recovery = op.member("leader_recovery_state", Recovery) if op.has("leader_recovery_state") else p.recovery
    acceptable = frozenset(listed("acceptable_leaders", tuple(active(request.config, registration))))
    after = change(
        request.config,
        p,
        Target(
            replicas=replicas,
            adding=frozenset(adding),
            removing=frozenset(removing),
            isr=frozenset(isr),
            election=op.member("election", Election) if op.has("election") else Election.ONLINE,
            acceptable=acceptable,
            unclean=frozenset(listed("unclean_shutdown_replicas", ())),
            recovery=recovery,
            min_isr=configured_min_isr(request.settings),
            elr_enabled=request.settings.elr_enabled,
        ),
    )
    return Outcome(NONE, after, registration, {"isr": isr, "adding": adding, "removing": removing})


OPERATIONS: tuple[Operation, ...] = (
    Operation("fence", _fence, ("broker",)),
    Operation("unfence", _unfence, ("broker",)),
    Operation("controlled_shutdown", _controlled_shutdown, ("broker",)),
    Operation("register", _register, ("broker", "clean")),
    Operation(
        "alter_partition",
        _alter_partition,
        (
            "sender",
            "sender_broker_epoch",
            "leader_epoch",
            "partition_epoch",
            "new_isr",
            "leader_recovery_state",
        ),
    ),
    Operation("create_partition", _create_partition, ("replicas",), needs_partition=False),
    Operation("balance_preferred", _quietly(balance_preferred)),
    Operation("maybe_elect_unclean", _quietly(maybe_elect_unclean)),
    *OPERATOR_OPERATIONS,
    Operation(
        "change",
        _change,
        (),
        (
            "target_isr",
            "target_replicas",
            "target_adding",
            "target_removing",
            "election",
            "unclean_shutdown_replicas",
            "acceptable_leaders",
            "leader_recovery_state",
        ),
    ),
)


def find_operation(op: Any) -> Operation:
    """The operation that `op.type` names; UsageFault listing all operations if there is none."""
    if not isinstance(op, dict):
        raise mistyped("op", "an object", op)
    if "type" not in op:
        raise UsageFault("what-if-missing-key", "`type` is missing", where="op.type")
    names = [operation.name for operation in OPERATIONS]
    name = op["type"]
    if not isinstance(name, str):
        raise mistyped("op.type", "a name", name)
    for operation in OPERATIONS:
        if operation.name == name:
            return operation
    near = suggest(name, names)
    known = "supported: " + ", ".join(names)
    raise UsageFault(
        "what-if-unknown-op",
        f"`{name}` is not supported",
        where="op.type",
        help=f"did you mean `{near}`? {known}" if near else known,
    )
