"""The operations of `what-if`: each reads its fields and calls one rule of the model.

Only cases that the modelling language cannot represent are decided here: an AlterPartition from an
unregistered broker, and a proposed ISR with duplicates or unknown brokers, which no set of brokers can hold.
"""

from __future__ import annotations

from elrcheck.base.errors import suggest
from elrcheck.base.strict import Node
from elrcheck.commands.what_if.decisions import (
    NONE,
    alter,
    balance,
    controlled_shutdown,
    create,
    directory_failed,
    elect_periodically,
    fence,
    register,
    report_directory,
    unfence,
    unregister,
)
from elrcheck.commands.what_if.operator_ops import OPERATOR_OPERATIONS
from elrcheck.commands.what_if.outcome_json import Operation, Outcome, controller_of, outcome, subject
from elrcheck.commands.what_if.question import NOBODY, Request
from elrcheck.model.change_record import Election, Target
from elrcheck.model.control_plane.controller_event import AlterPartitionEvent
from elrcheck.model.control_plane.partition import change
from elrcheck.model.replication_control import may_lead
from elrcheck.model.state import Error, Recovery, configured_min_isr

# ---------------------------------------------------------------------------- broker events


def _fence(request: Request, op: Node) -> Outcome:
    b = request.ids.inside(op["broker"])
    return outcome(fence(request.config, controller_of(request), b))


def _unfence(request: Request, op: Node) -> Outcome:
    b = request.ids.inside(op["broker"])
    return outcome(unfence(request.config, controller_of(request), b))


def _register(request: Request, op: Node) -> Outcome:
    b = request.ids.inside(op["broker"])
    presented = request.registration[b].epoch if op["clean"].boolean() else 0
    brings = op.maybe("brings_directory", lambda node: node.boolean(), True)
    return outcome(register(request.config, controller_of(request), b, presented, brings))


def _unregister(request: Request, op: Node) -> Outcome:
    """The broker stays in the answer, fenced: its epoch says that a later registration is a new one."""
    b = request.ids.inside(op["broker"])
    return outcome(unregister(request.config, controller_of(request), b))


def _directory_failed(request: Request, op: Node) -> Outcome:
    b = request.ids.inside(op["broker"])
    return outcome(directory_failed(request.config, controller_of(request), b))


def _assign_directories(request: Request, op: Node) -> Outcome:
    b = request.ids.inside(op["broker"])
    return outcome(report_directory(request.config, controller_of(request), b))


def _controlled_shutdown(request: Request, op: Node) -> Outcome:
    b = request.ids.inside(op["broker"])
    return outcome(controlled_shutdown(request.config, controller_of(request), b))


# ---------------------------------------------------------------------------- AlterPartition


def _alter_partition(request: Request, op: Node) -> Outcome:
    ids, p, registration = request.ids, subject(request), request.registration
    members = _members(request, op)
    leads = NOBODY if p.leader is None else ids.outside[p.leader]
    sender = op.get("sender", leads).integer()
    known_epoch = registration[ids.outside.index(sender)].epoch - 1 if sender in ids else NOBODY
    sender_epoch = op.get("sender_broker_epoch", known_epoch).integer(least=NOBODY) + 1
    leader_epoch = op.get("leader_epoch", p.leader_epoch).integer()
    partition_epoch = op.get("partition_epoch", p.partition_epoch).integer()
    recovery = op.get("leader_recovery_state", p.recovery.name).member(Recovery)
    if sender not in ids:
        return Outcome(Error.STALE_BROKER_EPOCH.name, p, registration)
    named = [broker for broker, _ in members]
    known = len(set(named)) == len(named) and all(broker in ids for broker in named)
    # The check for an ISR without the leader also refuses one that is not a set of known brokers.
    isr = tuple(ids.outside.index(broker) for broker in named) if known else ()
    carried = dict(zip(isr, (epoch + 1 for _, epoch in members), strict=False))
    decided = alter(
        request.config,
        controller_of(request),
        AlterPartitionEvent(
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


def _members(request: Request, op: Node) -> list[tuple[int, int]]:
    """`new_isr`: pairs of a broker id and the broker epoch the leader knows, -1 for none.

    An id alone stands for a leader that knows the broker's epoch.
    """
    pairs: list[tuple[int, int]] = []
    for node in op["new_isr"].items():
        if isinstance(node.value, int):
            broker = node.integer()
            known = broker in request.ids
            epoch = request.registration[request.ids.outside.index(broker)].epoch - 1 if known else NOBODY
            pairs.append((broker, epoch))
            continue
        pair = node.items()
        if len(pair) != 2:
            node.expected("a pair of broker id and broker epoch")
        pairs.append((pair[0].integer(), pair[1].integer(least=NOBODY)))
    return pairs


# ---------------------------------------------------------------------------- periodic events


def _balance(request: Request, op: Node) -> Outcome:
    return outcome(balance(request.config, controller_of(request)))


def _elect_periodically(request: Request, op: Node) -> Outcome:
    return outcome(elect_periodically(request.config, controller_of(request)))


def _create_partition(request: Request, op: Node) -> Outcome:
    replicas = request.ids.distinct(op["replicas"])
    error, created = create(request.config, request.registration, replicas)
    if created is None:
        return Outcome(error, request.partition, request.registration)
    return Outcome(error, created, request.registration, {"isr": replicas})


# ---------------------------------------------------------------------------- the raw builder


def _change(request: Request, op: Node) -> Outcome:
    """PartitionChangeBuilder itself. What is not given stays: the election ONLINE, the leaders active."""
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
    return Outcome(NONE, after, registration, {"isr": isr, "adding": adding, "removing": removing})


OPERATIONS: tuple[Operation, ...] = (
    Operation("fence", _fence, ("broker",)),
    Operation("unfence", _unfence, ("broker",)),
    Operation("controlled_shutdown", _controlled_shutdown, ("broker",)),
    Operation("register", _register, ("broker", "clean"), ("brings_directory",)),
    Operation("unregister", _unregister, ("broker",)),
    Operation("directory_failed", _directory_failed, ("broker",)),
    Operation("assign_directories", _assign_directories, ("broker",)),
    Operation(
        "alter_partition",
        _alter_partition,
        ("new_isr",),
        ("sender", "sender_broker_epoch", "leader_epoch", "partition_epoch", "leader_recovery_state"),
    ),
    Operation("create_partition", _create_partition, ("replicas",), needs_partition=False),
    Operation("balance_preferred", _balance),
    Operation("maybe_elect_unclean", _elect_periodically),
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


def find_operation(op: Node) -> Operation:
    """The operation that `op.type` names; UsageFault with all of them if there is no such one."""
    kind = op.object(("type",), None)["type"]
    if not isinstance(kind.value, str):
        kind.expected("a name")
    names = [operation.name for operation in OPERATIONS]
    for operation in OPERATIONS:
        if operation.name == kind.value:
            return operation
    near = suggest(kind.value, names)
    known = "supported: " + ", ".join(names)
    help = f"did you mean `{near}`? {known}" if near else known
    kind.fail(f"`{kind.value}` is not supported", help, code="what-if-unknown-op")
