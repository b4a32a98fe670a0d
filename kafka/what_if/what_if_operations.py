"""The operations of `what-if`: each reads its fields into an event, which the controller decides.

Only cases that the modelling language cannot represent are decided here: requests from an unregistered broker, whose
epoch is stale, and lists with duplicates or unknown brokers, which no list of replicas can be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from elrcheck.base.errors import suggest
from elrcheck.base.strict import Node
from elrcheck.kafka.what_if.question import NO_BROKER, WhatIfQuestion
from elrcheck.model.change_record import Election, Target
from elrcheck.model.control_plane import controller_event as events
from elrcheck.model.control_plane.controller_event import Decided, Event
from elrcheck.model.control_plane.creation import without_partition
from elrcheck.model.control_plane.decide import decide
from elrcheck.model.control_plane.partition import change
from elrcheck.model.kafka_error import Error
from elrcheck.model.replication_control import Controller, may_lead
from elrcheck.model.state import Partition, Recovery, Registration, configured_min_isr

MOST_MIN_ISR = 2**31 - 1
"""The largest number of a setting of Kafka's type INT (org.apache.kafka.common.config.ConfigDef)."""


@dataclass(frozen=True)
class OperationOutcome:
    """The result of an operation. orders: the requested order of each list that the request names."""

    error: str
    partition: Partition | None
    registration: tuple[Registration, ...]
    orders: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class WhatIfOp:
    """One `op.type` and the other fields it takes."""

    name: str
    apply: Callable[[WhatIfQuestion, Node], OperationOutcome]
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    needs_partition: bool = True


def subject(request: WhatIfQuestion) -> Partition:
    """Return the partition of a question that has one."""
    assert request.partition is not None, "only an operation that makes a partition goes without"
    return request.partition


def controller_of(request: WhatIfQuestion) -> Controller:
    """Return the state from which the controller decides, for a question that has a partition."""
    return Controller(request.settings, subject(request), request.registration)


def outcome(decided: Decided, orders: Mapping[str, tuple[int, ...]] | None = None) -> OperationOutcome:
    """Return a decision as the outcome of a question."""
    after = decided.controller
    return OperationOutcome(decided.error.name, after.partition, after.registration, orders or {})


def deciding(event_of: Callable[[WhatIfQuestion, Node], Event]) -> Callable[[WhatIfQuestion, Node], OperationOutcome]:
    """Return an operation that reads its fields into an event and has the controller decide it."""

    def apply(request: WhatIfQuestion, op: Node) -> OperationOutcome:
        return outcome(decide(request.config, controller_of(request), event_of(request, op)))

    return apply


# ---------------------------------------------------------------------------- broker events


def _broker(request: WhatIfQuestion, op: Node) -> int:
    return request.ids.inside(op["broker"])


def _of_broker(kind: Callable[[int], Event]) -> Callable[[WhatIfQuestion, Node], OperationOutcome]:
    """Return an event that names a broker and nothing else."""
    return deciding(lambda request, op: kind(_broker(request, op)))


def _heartbeat(event_of: Callable[[WhatIfQuestion, Node], Event]) -> Callable[[WhatIfQuestion, Node], OperationOutcome]:
    """Return an event that begins with a heartbeat: ClusterControlManager.checkBrokerEpoch refuses unknown brokers."""
    decided = deciding(event_of)

    def apply(request: WhatIfQuestion, op: Node) -> OperationOutcome:
        if not request.registration[_broker(request, op)].registered:
            return OperationOutcome(Error.STALE_BROKER_EPOCH.name, subject(request), request.registration)
        return decided(request, op)

    return apply


def _register(request: WhatIfQuestion, op: Node) -> events.RegisterEvent:
    b = request.ids.inside(op["broker"])
    presented = request.registration[b].epoch if op["clean"].boolean() else 0
    return events.RegisterEvent(b, presented, op.maybe("brings_directory", lambda node: node.boolean(), True))


def _directory_failed(request: WhatIfQuestion, op: Node) -> events.DirectoryFailedEvent:
    becomes = op.maybe("becomes", lambda node: node.member(events.ControlState), events.ControlState.UNCHANGED)
    return events.DirectoryFailedEvent(request.ids.inside(op["broker"]), becomes)


# ---------------------------------------------------------------------------- AlterPartition


def _alter_partition(request: WhatIfQuestion, op: Node) -> OperationOutcome:
    ids, p, registration = request.ids, subject(request), request.registration
    members = _members(request, op)
    if p.leader is None and "sender" not in op:
        op.fail("the partition has no leader, which would send AlterPartition", "name the broker in `sender`")
    sender = op.get("sender", NO_BROKER if p.leader is None else ids.outside[p.leader]).integer()
    known_epoch = registration[ids.outside.index(sender)].epoch - 1 if sender in ids else NO_BROKER
    sender_epoch = op.get("sender_broker_epoch", known_epoch).integer(least=NO_BROKER) + 1
    leader_epoch = op.get("leader_epoch", p.leader_epoch).integer()
    partition_epoch = op.get("partition_epoch", p.partition_epoch).integer()
    recovery = op.get("leader_recovery_state", p.recovery.name).member(Recovery)
    if sender not in ids:
        return OperationOutcome(Error.STALE_BROKER_EPOCH.name, p, registration)
    named = [broker for broker, _ in members]
    well_formed = len(set(named)) == len(named) and all(broker in ids for broker in named)
    # The check for an ISR without the leader also refuses one that is not a set of known brokers.
    isr = tuple(ids.outside.index(broker) for broker in named) if well_formed else ()
    carried = dict(zip(isr, (epoch + 1 for _, epoch in members), strict=False))
    decided = decide(
        request.config,
        controller_of(request),
        events.AlterPartitionEvent(
            sender=ids.outside.index(sender),
            sender_epoch=sender_epoch,
            leader_epoch=leader_epoch,
            partition_epoch=partition_epoch,
            isr=frozenset(isr),
            member_epochs=tuple(carried.get(b, 0) for b in range(len(registration))),
            recovery=recovery,
        ),
    )
    return outcome(decided, {"isr": isr})


def _members(request: WhatIfQuestion, op: Node) -> list[tuple[int, int]]:
    """Read `new_isr`: pairs of a broker id and the broker epoch the leader knows, -1 for none.

    An id alone means that the leader knows the broker's epoch.
    """
    pairs: list[tuple[int, int]] = []
    for node in op["new_isr"].items():
        if isinstance(node.value, int):
            broker = node.integer()
            registered = broker in request.ids
            epoch = request.registration[request.ids.outside.index(broker)].epoch - 1 if registered else NO_BROKER
            pairs.append((broker, epoch))
            continue
        pair = node.items()
        if len(pair) != 2:
            node.expected("a pair of broker id and broker epoch")
        pairs.append((pair[0].integer(), pair[1].integer(least=NO_BROKER)))
    return pairs


# ---------------------------------------------------------------------------- operators


def _elect_leaders(request: WhatIfQuestion, op: Node) -> events.ElectLeadersEvent:
    kind = op["election_type"].member(events.ElectionType)
    leader = op.get("desired_leader")
    desired = None if leader.value is None else request.ids.optional(leader)
    if desired is not None and kind != events.ElectionType.DESIGNATION:
        leader.fail(f"{kind.name} takes no desired leader")
    return events.ElectLeadersEvent(kind, desired)


def _reassign(request: WhatIfQuestion, op: Node) -> OperationOutcome:
    if not _assignable(request, op["target"]):
        refused = Error.INVALID_REPLICA_ASSIGNMENT.name
        return OperationOutcome(refused, subject(request), request.registration)
    event = events.ReassignEvent(request.ids.distinct(op["target"]))
    return outcome(decide(request.config, controller_of(request), event))


def _assignable(request: WhatIfQuestion, replicas: Node) -> bool:
    """Return whether a manual assignment has known brokers, each once (validateManualPartitionAssignment)."""
    named = [broker.integer() for broker in replicas.items()]
    return len(set(named)) == len(named) and all(broker in request.ids for broker in named)


def _set_min_isr(request: WhatIfQuestion, op: Node) -> OperationOutcome:
    """Decide a change of min.insync.replicas at one level; `min_isr` of the question is its previous value."""
    name = op["level"].value
    level = next((level for level in events.MinIsrLevel if level.value == str(name).lower()), None)
    if level is None:
        levels = ", ".join(level.value for level in events.MinIsrLevel)
        op["level"].fail(f"`{name}` is not a level", f"levels: {levels}")
    value = op["value"].integer()
    if value > MOST_MIN_ISR:
        return OperationOutcome(Error.INVALID_CONFIG.name, subject(request), request.registration)
    b = op.maybe("broker", request.ids.inside, 0)
    before = controller_of(request)
    if level != events.MinIsrLevel.TOPIC:
        before = replace(before, settings=replace(before.settings, topic_min_isr=None))
    return outcome(decide(request.config, before, events.MinIsrEvent(level, b, value)))


# ---------------------------------------------------------------------------- a new topic


def _create_partition(request: WhatIfQuestion, op: Node) -> OperationOutcome:
    if not _assignable(request, op["replicas"]):
        refused = Error.INVALID_REPLICA_ASSIGNMENT.name
        return OperationOutcome(refused, request.partition, request.registration)
    replicas = request.ids.distinct(op["replicas"])
    before = without_partition(request.settings, request.registration)
    decided = decide(request.config, before, events.CreatePartitionEvent(replicas))
    if decided.error != Error.NONE:
        return OperationOutcome(decided.error.name, request.partition, request.registration)
    return outcome(decided, {"isr": replicas})


# ---------------------------------------------------------------------------- the raw builder


def _change(request: WhatIfQuestion, op: Node) -> OperationOutcome:
    """Run PartitionChangeBuilder itself. Defaults: no target, election ONLINE, active brokers acceptable as leaders."""
    ids, p, registration = request.ids, subject(request), request.registration

    def listed(key: str, default: tuple[int, ...]) -> tuple[int, ...]:
        return op.maybe(key, ids.distinct, default)

    replicas = listed("target_replicas", p.replicas)
    if not replicas:
        op["target_replicas"].fail("there is no replica")
    isr = listed("target_isr", request.lists["isr"])
    adding = listed("target_adding", request.lists["adding"])
    removing = listed("target_removing", request.lists["removing"])
    recovery = op.maybe("leader_recovery_state", lambda node: node.member(Recovery), p.recovery)
    usual = tuple(may_lead(request.config, request.registration))
    acceptable = frozenset(listed("acceptable_leaders", usual))
    after = change(
        request.config,
        p,
        Target(
            replicas=replicas,
            adding=frozenset(adding),
            removing=frozenset(removing),
            isr=frozenset(isr),
            election=op.maybe("election", lambda node: node.member(Election), Election.ONLINE),
            acceptable=acceptable,
            unclean=frozenset(listed("unclean_shutdown_replicas", ())),
            recovery=recovery,
            min_isr=configured_min_isr(request.settings),
            elr_enabled=request.settings.elr_enabled,
        ),
    )
    return OperationOutcome(Error.NONE.name, after, registration, {"isr": isr, "adding": adding, "removing": removing})


_ALL: tuple[WhatIfOp, ...] = (
    WhatIfOp("fence", _of_broker(events.FenceEvent), ("broker",)),
    WhatIfOp("unfence", _heartbeat(lambda request, op: events.UnfenceEvent(_broker(request, op))), ("broker",)),
    WhatIfOp(
        "controlled_shutdown",
        _heartbeat(lambda request, op: events.StartShutdownEvent(_broker(request, op))),
        ("broker",),
    ),
    WhatIfOp("register", deciding(_register), ("broker", "clean"), ("brings_directory",)),
    # An unregistered broker stays in the answer: its epoch shows that a later registration is new.
    WhatIfOp("unregister", _of_broker(events.UnregisterEvent), ("broker",)),
    WhatIfOp("directory_failed", _heartbeat(_directory_failed), ("broker",), ("becomes",)),
    WhatIfOp("assign_directories", _of_broker(events.DirectoryMovedEvent), ("broker",)),
    WhatIfOp(
        "alter_partition",
        _alter_partition,
        ("new_isr",),
        ("sender", "sender_broker_epoch", "leader_epoch", "partition_epoch", "leader_recovery_state"),
    ),
    WhatIfOp("create_partition", _create_partition, ("replicas",), needs_partition=False),
    WhatIfOp("balance_preferred", deciding(lambda request, op: events.BalanceEvent())),
    WhatIfOp("maybe_elect_unclean", deciding(lambda request, op: events.PeriodicElectionEvent())),
    WhatIfOp("elect_leaders", deciding(_elect_leaders), ("election_type",), ("desired_leader",)),
    WhatIfOp("reassign", _reassign, ("target",)),
    WhatIfOp("cancel_reassignment", deciding(lambda request, op: events.CancelReassignmentEvent())),
    WhatIfOp("set_min_isr", _set_min_isr, ("level", "value"), ("broker",)),
    WhatIfOp(
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


OPERATIONS: Mapping[str, WhatIfOp] = {operation.name: operation for operation in _ALL}


def find_operation(op: Node) -> WhatIfOp:
    """Return the operation that `op.type` names; UsageFault lists all operations if it does not exist."""
    kind = op.object(("type",), None)["type"]
    if not isinstance(kind.value, str):
        kind.expected("a name")
    if kind.value in OPERATIONS:
        return OPERATIONS[kind.value]
    near = suggest(kind.value, OPERATIONS)
    supported = "supported: " + ", ".join(OPERATIONS)
    help = f"did you mean `{near}`? {supported}" if near else supported
    kind.fail(f"`{kind.value}` is not supported", help, code="what-if-unknown-op")
