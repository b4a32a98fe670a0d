"""Events of the controller: the same text in Z3 as in Python, and the same results as the actions."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
import z3

from elrcheck.invariants.controller_events import AnyEvent, EventKind, after, possible
from elrcheck.invariants.controller_legal import legal
from elrcheck.invariants.modules import rules_of
from elrcheck.kafka.controller_proof import StepProver
from elrcheck.lang.algebra import ConcreteAlgebra
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.lang.structure import Structure
from elrcheck.lang.types import type_of
from elrcheck.model.broker.log_directories import presented_epoch
from elrcheck.model.choices import MinIsrChange
from elrcheck.model.config import Config
from elrcheck.model.control_plane.controller_event import AlterPartitionEvent, MinIsrLevel
from elrcheck.model.replication_control import Controller
from elrcheck.model.state import InfoStage, LogDir, LogInfo, Recovery, State
from elrcheck.model.variants import VARIANTS
from elrcheck.proof.symbolic_values import Symbolic, constant
from support.controller_situations import event, situation
from support.sampling import reachable

CHECKED_VARIANTS = [v.name for v in VARIANTS]


BUDGETS = (
    "crashes",
    "clean_stops",
    "fences",
    "shrinks",
    "shutdowns",
    "unregistrations",
    "elections",
    "unclean_elections",
    "reassignments",
    "min_isr_changes",
    "directory_changes",
    "directory_failures",
    "directory_losses",
)


def knobs_of(variant: str) -> dict[str, Any]:
    return next(v.knobs for v in VARIANTS if v.name == variant)


# ---------------------------------------------------------------------------- Z3 and Python


class Computed:
    """What Z3 computes of one kind of event, at concrete values: a name for each scalar of the outcome."""

    def __init__(self, prover: StepProver, kind: EventKind, rules: tuple[Fn, ...]) -> None:
        self.prover, self.ty = prover, type_of(Controller)
        self.plain = Structure(prover.config, ConcreteAlgebra())
        step = prover.open_step(kind)
        terms = {"s": prover.situation.value, "e": step.event, "t": step.after}
        self.solver = z3.Solver()
        self.truths = {}
        for fn in (prover.model.fns["legal"], prover.model.fns["possible"], *rules):
            args = {param: terms[param] for param, _ in fn.params}
            self.truths[fn.name] = self._named(prover.evaluator.call(fn, (), args))
        self.leaves = [
            [self._named(x) for x in term] if ty.kind == "set" else self._named(term)
            for _, ty, term in prover.structure.leaves(step.after, self.ty)
        ]

    def _named(self, term: Any) -> Any:
        if isinstance(term, (bool, int)):
            return term
        name = z3.FreshConst(term.sort())
        self.solver.add(name == term)
        return name

    def at(self, s: Controller, e: AnyEvent) -> tuple[Controller, dict[str, bool]]:
        """The situation after the event, and which predicates hold."""
        self.solver.push()
        for name, term in self.prover.knobs.items():
            self.solver.add(term == getattr(self.prover.config, name))
        self._bind(self.prover.situation, s)
        self._bind(self.prover.event, e)
        assert self.solver.check() == z3.sat
        solved = self.solver.model()
        self.solver.pop()
        truths = {name: constant(solved, term) for name, term in self.truths.items()}
        scalars = [constant(solved, term) for term in self.leaves]
        return self.plain.lower(self.plain.rebuild(iter(scalars), self.ty), self.ty), truths

    def _bind(self, symbolic: Symbolic, value: Any) -> None:
        values = self.plain.leaves(self.plain.lift(value, symbolic.ty), symbolic.ty)
        for scalar, (_, ty, argument) in zip(symbolic.scalars, values, strict=True):
            terms = scalar.term if ty.kind == "set" else [scalar.term]
            for term, one in zip(terms, argument if ty.kind == "set" else [argument], strict=True):
                self.solver.add(term == one)


AT_NIGHT = [pytest.param(variant, marks=pytest.mark.slow) for variant in ("code_4_0", "legacy")]


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["kip_full", *AT_NIGHT])
def test_z3_computes_what_python_computes(controller_model: Model, variant: str) -> None:
    """On random situations, legal or not: whether the event is possible, its outcome, and every rule."""
    config = Config(broker_count=3, **knobs_of(variant))
    prover = StepProver(controller_model, config, None)
    rules = rules_of(controller_model)
    rng = random.Random(1)
    changed = lawful = 0
    for kind in EventKind:
        computed = Computed(prover, kind, rules)
        for _ in range(15):
            s = situation(rng, config)
            e = event(rng, config, kind, s)
            outcome, truths = computed.at(s, e)
            assert truths["legal"] == bool(legal(config, s))
            assert truths["possible"] == bool(possible(config, s, e))
            if not possible(config, s, e):
                continue
            t = after(config, s, e)
            assert outcome == t
            for rule in rules:
                assert truths[rule.name] == bool(rule.source(config, s, e, t)), rule.name
            changed += t.partition != s.partition
            lawful += bool(legal(config, s))
    assert changed > 50
    assert lawful > 20


@pytest.mark.parametrize("variant", ["kip_full", "kip_phase1"])
def test_rules_hold_for_random_legal_situations(controller_model: Model, variant: str) -> None:
    """What the solver proves for all, plain Python does not refute for some."""
    rng = random.Random(2)
    steps = 0
    while steps < 2000:
        unclean = rng.random() < 0.5
        config = Config(broker_count=4, unclean_leader_election_enable=unclean, **knobs_of(variant))
        s = situation(rng, config)
        if not legal(config, s):
            continue
        for kind in EventKind:
            e = event(rng, config, kind, s)
            if possible(config, s, e):
                t = after(config, s, e)
                steps += t != s
                broken = [r.ident for r in rules_of(controller_model) if not r.source(config, s, e, t)]
                assert broken == [], (s, e, t)


# ---------------------------------------------------------------------------- actions

BLANK = AnyEvent(
    kind=EventKind.FENCE,
    broker=0,
    presented=0,
    brings_directory=True,
    request=AlterPartitionEvent(0, 0, 0, 0, frozenset(), (0, 0, 0), Recovery.RECOVERED),
    replicas=(),
    value=0,
    info=LogInfo(InfoStage.NONE, 0, 0, 0, 0),
)
OF_BROKER = {
    "Fence": EventKind.FENCE,
    "Unfence": EventKind.UNFENCE,
    "StartControlledShutdown": EventKind.START_SHUTDOWN,
    "GrantShutdown": EventKind.GRANT_SHUTDOWN,
    "Unregister": EventKind.UNREGISTER,
    "DesignateLeader": EventKind.DESIGNATE,
    "ReportFailedDirectory": EventKind.DIRECTORY_FAILED,
    "UnfenceWithoutDirectory": EventKind.UNFENCE_WITHOUT_DIRECTORY,
    "ReportNewDirectory": EventKind.DIRECTORY_MOVED,
}
WITHOUT_ARGUMENT = {
    "ElectPreferred": EventKind.ELECT_PREFERRED,
    "ElectUnclean": EventKind.ELECT_UNCLEAN,
    "ElectUncleanPeriodically": EventKind.ELECT_UNCLEAN_PERIODIC,
    "CancelReassignment": EventKind.CANCEL_REASSIGNMENT,
    "AssignDirectories": EventKind.ASSIGN_DIRECTORIES,
}
LEVELS = {MinIsrLevel.TOPIC: EventKind.MIN_ISR_TOPIC, MinIsrLevel.CLUSTER: EventKind.MIN_ISR_CLUSTER}


def event_of(config: Config, s: State, label: Label) -> AnyEvent | None:
    """The event that an action is for the controller; None if it is none."""
    args = label.args
    match label.action:
        case name if name in OF_BROKER:
            return replace(BLANK, kind=OF_BROKER[name], broker=args[0])
        case name if name in WITHOUT_ARGUMENT:
            return replace(BLANK, kind=WITHOUT_ARGUMENT[name])
        case "Register":
            presented = presented_epoch(config, s.broker[args[0]])
            old = s.registration[args[0]]
            clean = old.registered and presented == old.epoch
            kind = EventKind.REGISTER_CLEAN if clean else EventKind.REGISTER_UNCLEAN
            brings = s.broker[args[0]].log_dir == LogDir.PRESENT
            return replace(BLANK, kind=kind, broker=args[0], presented=presented, brings_directory=brings)
        case "ControllerAlters":
            x = s.broker[args[0]].alter
            request = AlterPartitionEvent(
                sender=args[0],
                sender_epoch=x.member_epochs[args[0]],
                leader_epoch=x.leader_epoch,
                partition_epoch=x.partition_epoch,
                isr=x.isr,
                member_epochs=x.member_epochs,
                recovery=Recovery.RECOVERED,
            )
            return replace(BLANK, kind=EventKind.ALTER_PARTITION, request=request)
        case "FinishRecovery":
            info = s.recovery.answers[args[0]]
            return replace(BLANK, kind=EventKind.FINISH_RECOVERY, broker=args[0], info=info)
        case "Reassign":
            return replace(BLANK, kind=EventKind.REASSIGN, replicas=tuple(sorted(args[0])))
        case "ChangeMinIsr":
            return replace(BLANK, kind=LEVELS[args[0]], value=args[1])
        case "ChangeBrokerMinIsr":
            return replace(BLANK, kind=EventKind.MIN_ISR_BROKER, broker=args[0], value=args[1])
        case "DeleteMinIsr":
            return replace(BLANK, kind=EventKind.MIN_ISR_DELETED)
        case "ChangeFeature":
            return replace(BLANK, kind=EventKind.FEATURE_ON if args[0] else EventKind.FEATURE_OFF)
    return None


def of_state(s: State) -> Controller:
    return Controller(s.settings, s.partition, s.registration)


@pytest.mark.slow
@pytest.mark.parametrize("variant", CHECKED_VARIANTS)
def test_events_do_what_the_actions_do(controller_model: Model, variant: str) -> None:
    """Every action that changes what the controller knows is an event here, with the same outcome."""
    knobs = knobs_of(variant)
    features = 9 if knobs.get("elr_enabled", True) else 0
    config = Config(feature_changes=features, **dict.fromkeys(BUDGETS, 9), **knobs)
    plain = PlainModel(controller_model, config)
    seen: set[EventKind] = set()
    named = {fn.name: fn.marks.events for fn in controller_model.actions}
    for s in reachable(plain, 250, 3):
        for label, t in plain.successors(s):
            e = event_of(config, s, label)
            if e is None:
                assert of_state(t) == of_state(s), label
                continue
            assert e.kind.name in named[label.action]
            assert possible(config, of_state(s), e), label
            assert after(config, of_state(s), e) == of_state(t), label
            seen.add(e.kind)
    assert {EventKind.FENCE, EventKind.REASSIGN, EventKind.UNREGISTER, EventKind.CANCEL_REASSIGNMENT} <= seen
    assert len(seen) >= 12


def test_min_isr_is_changed_as_the_variant_says() -> None:
    """Hand-derived: ISR {0, 1}, ELR {2}, min ISR 3 becomes 2: the KIP clears the ELR, old code did not."""
    rng = random.Random(0)
    config = Config()
    s = situation(rng, config)
    p = replace(
        s.partition,
        replicas=(0, 1, 2),
        adding=frozenset(),
        removing=frozenset(),
        isr=frozenset({0, 1}),
        elr=frozenset({2}),
        last_known_elr=frozenset(),
        last_known_leader=None,
        leader=0,
        partition_epoch=7,
    )
    s = replace(s, partition=p, settings=replace(s.settings, topic_min_isr=3, elr_enabled=True))
    e = replace(BLANK, kind=EventKind.MIN_ISR_TOPIC, value=2)
    t = after(config, s, e)
    assert t.settings.topic_min_isr == 2
    assert (t.partition.elr, t.partition.partition_epoch) == (frozenset(), 8)
    never = after(replace(config, min_isr_change=MinIsrChange.NEVER), s, e)
    assert (never.partition.elr, never.partition.partition_epoch) == (frozenset({2}), 7)
