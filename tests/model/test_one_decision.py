"""A rule changed in `decide` changes every reading, and there is no other writing of an event.

The decision of one kind of event is changed: the leader epoch is one higher than it should be. Every reading
that has such an event has to show it: the compiled program of `check`, the proof, `what-if`, `conform` (and
with it the exported tests), and what `audit` holds a log against.
"""

from __future__ import annotations

import ast
import copy
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest
import z3

from elrcheck.invariants.controller_events import EventKind
from elrcheck.invariants.modules import load_controller_model
from elrcheck.kafka import controller_steps as kafka
from elrcheck.kafka.audit import explained
from elrcheck.kafka.conformance.model_side import Situation, decide_step, situation_of
from elrcheck.kafka.controller_proof import StepProver
from elrcheck.kafka.partition_questions import KafkaPartition
from elrcheck.lang.changed.altered import affected, altered, planted
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.lowering.lower import lower
from elrcheck.lang.lowering.lowered import Lowered
from elrcheck.lang.lowering.relower import relower
from elrcheck.lang.source import Source, dispatch_of
from elrcheck.model.config import Config
from elrcheck.model.control_plane import controller_event as events
from elrcheck.model.control_plane.decide import decide
from elrcheck.model.protocol import load_model
from elrcheck.model.variants import variant_named
from support.fake_kafka import created_topic
from support.what_if_questions import ask, brokers, partition

ROOT = Path(__file__).parents[2]
HIGHER = """
def changed():
    right = {decision}
    higher = replace(right.controller.partition, leader_epoch=right.controller.partition.leader_epoch + 1)
    return Decided(error=right.error, controller=replace(right.controller, partition=higher))
"""


@dataclass(frozen=True)
class Readings:
    """Where an event occurs: actions, kinds of the proof, operations of what-if, steps of conform, words."""

    actions: tuple[str, ...] = ()
    kinds: tuple[EventKind, ...] = ()
    operation: Mapping[str, Any] | None = None
    step: kafka.Step | None = None
    audit: str | None = None


BROKER = {"broker": 2}
OF: dict[type, Readings] = {
    events.FenceEvent: Readings(
        ("Fence",), (EventKind.FENCE,), {"type": "fence", **BROKER}, kafka.Fence(1), "is fenced or shuts down"
    ),
    events.UnfenceEvent: Readings(
        ("Unfence", "UnfenceWithoutDirectory"),
        (EventKind.UNFENCE,),
        {"type": "unfence", **BROKER},
        kafka.Unfence(1),
        "is unfenced",
    ),
    events.RegisterEvent: Readings(
        ("Register",),
        (EventKind.REGISTER_CLEAN, EventKind.REGISTER_UNCLEAN),
        {"type": "register", "clean": True, **BROKER},
        kafka.Register(1),
        "registers after a clean",
    ),
    events.StartShutdownEvent: Readings(
        ("StartControlledShutdown",),
        (EventKind.START_SHUTDOWN,),
        {"type": "controlled_shutdown", **BROKER},
        kafka.ShutDown(1),
    ),
    events.GrantShutdownEvent: Readings((), (EventKind.GRANT_SHUTDOWN,)),
    events.UnregisterEvent: Readings(
        ("Unregister",),
        (EventKind.UNREGISTER,),
        {"type": "unregister", **BROKER},
        kafka.Unregister(1),
        "is unregistered",
    ),
    events.DirectoryFailedEvent: Readings(
        ("ReportFailedDirectory", "UnfenceWithoutDirectory"),
        (EventKind.DIRECTORY_FAILED, EventKind.UNFENCE_WITHOUT_DIRECTORY),
        {"type": "directory_failed", **BROKER},
        kafka.Heartbeat(1, offline=(0,)),
        "a log directory of",
    ),
    events.DirectoryMovedEvent: Readings(
        ("ReportNewDirectory",),
        (EventKind.DIRECTORY_MOVED,),
        {"type": "assign_directories", **BROKER},
        None,
        "reports a new log directory",
    ),
    events.DirectoriesEvent: Readings(
        ("AssignDirectories",),
        (EventKind.ASSIGN_DIRECTORIES,),
        None,
        kafka.AssignDirectory(1, 1),
        "an assignment of log directories",
    ),
    events.AlterPartitionEvent: Readings(
        ("ControllerAlters",),
        (EventKind.ALTER_PARTITION,),
        {"type": "alter_partition", "new_isr": [1, 2]},
        kafka.AlterPartition(0, (kafka.Member(0), kafka.Member(1))),
        "AlterPartition of leader",
    ),
    events.BalanceEvent: Readings(
        (), (EventKind.BALANCE_PREFERRED,), {"type": "balance_preferred"}, kafka.Balance(), "a preferred election"
    ),
    events.PeriodicElectionEvent: Readings(
        ("ElectUncleanPeriodically",),
        (EventKind.ELECT_UNCLEAN_PERIODIC,),
        {"type": "maybe_elect_unclean"},
        kafka.ElectUncleanly(),
        "the periodic unclean election",
    ),
    events.FinishRecoveryEvent: Readings(("FinishRecovery",), (EventKind.FINISH_RECOVERY,)),
    events.ElectLeadersEvent: Readings(
        ("ElectPreferred", "ElectUnclean", "DesignateLeader"),
        (EventKind.ELECT_PREFERRED, EventKind.ELECT_UNCLEAN, EventKind.DESIGNATE),
        {"type": "elect_leaders", "election_type": "PREFERRED"},
        kafka.Elect("PREFERRED"),
        "an unclean election",
    ),
    events.ReassignEvent: Readings(
        ("Reassign",),
        (EventKind.REASSIGN,),
        {"type": "reassign", "target": [1, 2]},
        kafka.Reassign((0, 1)),
        "a reassignment to",
    ),
    events.CancelReassignmentEvent: Readings(
        ("CancelReassignment",),
        (EventKind.CANCEL_REASSIGNMENT,),
        {"type": "cancel_reassignment"},
        kafka.Reassign(None),
        "the reassignment is cancelled",
    ),
    events.MinIsrEvent: Readings(
        ("ChangeMinIsr", "DeleteMinIsr"),
        (EventKind.MIN_ISR_TOPIC, EventKind.MIN_ISR_CLUSTER, EventKind.MIN_ISR_BROKER, EventKind.MIN_ISR_DELETED),
        {"type": "set_min_isr", "level": "topic", "value": 1},
        kafka.Configure("topic", "1"),
        "min.insync.replicas of the topic",
    ),
    events.FeatureEvent: Readings(
        ("ChangeFeature",), (EventKind.FEATURE_ON, EventKind.FEATURE_OFF), None, kafka.SwitchElr(False)
    ),
    events.CreatePartitionEvent: Readings(
        (),
        (EventKind.CREATE_PARTITION,),
        {"type": "create_partition", "replicas": [1, 2]},
        kafka.CreateTopic((0, 1)),
        "the topic is created",
    ),
}


class _Higher(ast.NodeTransformer):
    """Every decision of a function with a leader epoch that is one higher."""

    def visit_Return(self, node: ast.Return) -> Any:
        assert node.value is not None
        (function,) = ast.parse(HIGHER.format(decision=ast.unparse(node.value))).body
        assert isinstance(function, ast.FunctionDef)
        return [ast.copy_location(line, node) for line in function.body]


def changed_decision(model: Model, kind: type) -> tuple[Model, Callable[..., Any], Callable[..., Any]]:
    """The model with the decision changed, the operator as it is, and as it is changed."""
    original = dispatch_of(decide).operator(kind)
    assert original is not None
    tree = ast.fix_missing_locations(_Higher().visit(copy.deepcopy(Source(original).tree)))
    changed, plain = altered(model, original.__name__, tree, affected(model, original.__name__))
    return changed, original, plain


@cache
def protocol() -> Model:
    return load_model()


@cache
def controller_model() -> Model:
    return load_controller_model()


CONFIG = Config(
    broker_count=2,
    elections=1,
    unclean_elections=1,
    reassignments=1,
    min_isr_changes=1,
    feature_changes=1,
    directory_changes=1,
    directory_failures=1,
    directory_losses=1,
    unregistrations=1,
    shutdowns=1,
    fences=1,
    crashes=1,
    clean_stops=1,
    unclean_leader_election_enable=True,
    elect_leaders_v3=True,
    register_before_fence=True,
    heartbeat_in_one_snapshot=True,
)
NAME = operator.attrgetter("__name__")
EVENTS = sorted(OF, key=lambda kind: kind.__name__)


def test_every_kind_of_event_is_here() -> None:
    assert set(OF) == set(get_args(events.Event))
    kinds = [kind for readings in OF.values() for kind in readings.kinds]
    assert sorted(kind.name for kind in kinds) == sorted(kind.name for kind in EventKind)


# ---------------------------------------------------------------------------- the readings


@cache
def program() -> Lowered:
    return lower(protocol(), CONFIG, ())


@pytest.mark.parametrize("kind", [kind for kind in EVENTS if OF[kind].actions], ids=NAME)
def test_check_explores_the_changed_decision(kind: type) -> None:
    changed, original, plain = changed_decision(protocol(), kind)
    with planted(original, plain):
        change = relower(program(), changed, affected(protocol(), original.__name__))
    assert change is not None
    differ = {instance.action for pair in change.instances for instance in pair if instance is not None}
    assert differ == set(OF[kind].actions)


@pytest.mark.parametrize("kind", EVENTS, ids=NAME)
def test_the_proof_is_about_the_changed_decision(kind: type) -> None:
    changed, _, _ = changed_decision(controller_model(), kind)
    after = zip(epochs(controller_model(), kind), epochs(changed, kind), strict=True)
    assert not any(z3.eq(z3.IntVal(0) + x, z3.IntVal(0) + y) for x, y in after)


def epochs(model: Model, kind: type) -> Iterator[Any]:
    """The leader epoch after the event, for each kind of the proof, as a term of the solver."""
    prover = StepProver(model, CONFIG, None)
    for one in OF[kind].kinds:
        event = {**prover.event.value, "kind": list(EventKind).index(one)}
        yield prover.holds("after", s=prover.situation.value, e=event)["partition"]["leader_epoch"]


def answer_of(kind: type) -> Any:
    """What-if's answer: broker 3 is fenced, and broker 2 if it is to be unfenced."""
    operation = OF[kind].operation
    assert operation is not None
    fenced = (2,) if kind is events.UnfenceEvent else ()
    live = brokers(*{1, 2, 3} - set(fenced), fenced=fenced)
    return ask(dict(operation), partition(), live)["partition"]["leader_epoch"]


@pytest.mark.parametrize("kind", [kind for kind in EVENTS if OF[kind].operation], ids=NAME)
def test_what_if_answers_by_the_changed_decision(kind: type) -> None:
    before = answer_of(kind)
    _, original, plain = changed_decision(protocol(), kind)
    with planted(original, plain):
        assert answer_of(kind) == before + 1


def released() -> Config:
    variant = variant_named("code_4_3")
    assert variant is not None
    return Config(**variant.knobs)


def situation(kind: type) -> Situation:
    fenced = kind is events.UnfenceEvent
    setup = kafka.Setup(
        (kafka.KafkaBroker(0), kafka.KafkaBroker(1, fenced=fenced)),
        KafkaPartition((0, 1), (0, 1), leader=0, leader_epoch=5, partition_epoch=9, directories=(0, 0)),
        topic_min_isr=2,
    )
    return situation_of(released(), setup)


def stepped(kind: type) -> int:
    step = OF[kind].step
    assert step is not None
    if isinstance(step, kafka.CreateTopic):
        setup = kafka.Setup((kafka.KafkaBroker(0), kafka.KafkaBroker(1)), None)
        partition = created_topic(released(), setup, step)[1]
    else:
        partition = decide_step(situation(kind), step)[1].controller.partition
    assert partition is not None
    return partition.leader_epoch


@pytest.mark.parametrize("kind", [kind for kind in EVENTS if OF[kind].step], ids=NAME)
def test_conform_compares_the_changed_decision(kind: type) -> None:
    before = stepped(kind)
    _, original, plain = changed_decision(protocol(), kind)
    with planted(original, plain):
        assert stepped(kind) == before + 1


def explained_by(kind: type) -> list[int]:
    """The leader epochs that the event would have written, as audit asks for them."""
    now = situation(kind)
    p = now.controller.partition
    moving = replace(p, adding=frozenset({1}))
    view = KafkaPartition(p.replicas, (0, 1), leader=0, leader_epoch=5, partition_epoch=9)
    brokers = tuple(explained.KnownBroker(True, r.fenced) for r in now.controller.registration)
    settings = now.controller.settings
    question = explained.RecordQuestion(view, view, brokers, brokers, view, settings, settings, 0, 0)
    befores = [] if kind is events.CreatePartitionEvent else [p, moving]
    words = OF[kind].audit
    assert words is not None
    return [
        written.leader_epoch for name, written in explained._events(now.config, question, befores, p) if words in name
    ]


@pytest.mark.parametrize("kind", [kind for kind in EVENTS if OF[kind].audit], ids=NAME)
def test_audit_explains_by_the_changed_decision(kind: type) -> None:
    before = explained_by(kind)
    _, original, plain = changed_decision(protocol(), kind)
    with planted(original, plain):
        after = explained_by(kind)
    assert before and after == [epoch + 1 for epoch in before]


# ---------------------------------------------------------------------------- no other writing

RULES = ("controller", "elections", "reassignment", "operator_settings", "directories", "creation", "recovery")
# Rules that others may use, and why.
USED_ELSEWHERE = {
    "is_reassigning": "a state of the partition",
    "answer_counts": "what the recovery manager has accepted before it decides",
    "shutdown_was_clean": "the exported test writes the clean-shutdown file that the question is about",
    "without_partition": "a controller to ask",
}


def test_rules_of_the_controller_are_used_by_its_decisions_alone() -> None:
    """`fenced_partition` and its like are named in model/control_plane, and nowhere else in the product."""
    rules: set[str] = set()
    for module in RULES:
        text = (ROOT / f"model/control_plane/{module}.py").read_text(encoding="utf-8")
        rules |= set(re.findall(r"^def (\w+)", text, re.M))
    assert {"fenced_partition", "reassign", "min_isr_changed"} <= rules
    used: dict[str, set[str]] = {}
    for room in ("commands", "invariants", "kafka", "catalogue", "traces", "explorer", "api", "report"):
        for path in (ROOT / room).rglob("*.py"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            for node in ast.walk(tree):
                if isinstance(node, ast.ImportFrom) and "model.control_plane" in str(node.module):
                    for name in {alias.name for alias in node.names} & rules:
                        used.setdefault(name, set()).add(str(path.relative_to(ROOT)))
    assert set(used) == set(USED_ELSEWHERE), used


def test_the_mark_of_a_case_is_that_of_its_record() -> None:
    fns: Mapping[str, Fn] = protocol().fns
    for kind, name in dispatch_of(decide).cases.items():
        assert [ty.cls for _, ty in fns[name].params if ty.cls in OF] == [kind]
