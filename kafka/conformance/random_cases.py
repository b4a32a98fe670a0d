"""Random questions beyond the exhaustive ones: more replicas, reassignments, walks of many events.

Every question depends only on a seed and a number. The model guides a walk, so that most of its events have an
effect; each is compared in the state that Kafka's classes have then.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, TypeVar

from elrcheck.kafka import controller_steps as steps
from elrcheck.kafka.conformance.model_side import NotRepresentable, Situation, decide_step, situation_of
from elrcheck.kafka.controller_steps import KafkaBroker, Setup, Step
from elrcheck.kafka.partition_questions import NO_LEADER, BuilderQuestion, Ids, KafkaPartition
from elrcheck.model.config import Config
from elrcheck.model.replication_control import Controller, active
from elrcheck.model.state import Registration

T = TypeVar("T")

MOST_REPLICAS = 5
SHORTEST, LONGEST = 8, 40
BOTH: Ids = (0, 1)


def random_setup(choice: random.Random, elr: bool) -> Setup:
    """Return a new topic in a cluster where all but a few brokers are active."""
    brokers = choice.randint(2, MOST_REPLICAS + 1)
    replicas = tuple(choice.sample(range(brokers), choice.randint(1, min(brokers, MOST_REPLICAS))))
    conditions = [choice.random() < 0.1 for _ in range(brokers)]
    isr = tuple(r for r in replicas if not conditions[r])
    if not isr:
        conditions[replicas[0]] = False
        isr = replicas[:1]
    least = choice.randint(1, min(len(replicas) + 1, 4))
    own = choice.random() < 0.7
    return Setup(
        tuple(KafkaBroker(b, 100 + b, fenced=fenced) for b, fenced in enumerate(conditions)),
        KafkaPartition(replicas, isr, leader=isr[0]),
        elr=elr and choice.random() < 0.92,
        topic_min_isr=least if own else None,
        cluster_min_isr=choice.randint(1, 3) if own else least,
        topic_unclean=choice.random() < 0.25,
        sibling=_sibling(choice, conditions) if choice.random() < 0.2 else None,
    )


def _sibling(choice: random.Random, fenced: Sequence[bool]) -> KafkaPartition | None:
    """Return partition 0 of the topic, with another number of replicas; None if no replica is active."""
    brokers = len(fenced)
    replicas = tuple(choice.sample(range(brokers), choice.randint(1, brokers)))
    isr = tuple(r for r in replicas if not fenced[r])
    return KafkaPartition(replicas, isr, leader=isr[0]) if isr else None


def random_walk(config: Config, choice: random.Random) -> tuple[Setup, tuple[Step, ...]]:
    """Return a setup and events, each chosen in the state that the model reaches by those before."""
    setup = random_setup(choice, config.elr_enabled)
    now = situation_of(config, setup)
    walk: list[Step] = []
    for _ in range(choice.randint(SHORTEST, LONGEST)):
        step = random_step(choice, now, config.elr_enabled)
        try:
            _, now = decide_step(now, step)
        except NotRepresentable:
            continue
        walk.append(step)
    return setup, tuple(walk)


def random_step(choice: random.Random, now: Situation, features: bool) -> Step:
    """Return an event that is possible in this situation, preferably one that changes something."""
    s = now.controller
    live = sorted(active(now.config, s.registration))
    unfenced = [b for b, r in enumerate(s.registration) if r.registered and not r.fenced]
    fenced = [b for b, r in enumerate(s.registration) if r.registered and r.fenced]
    usable = [b for b, r in enumerate(s.registration) if _may_fail(r) and len(now.online[b]) > 1]
    registered = [b for b, r in enumerate(s.registration) if r.registered]
    options: list[tuple[int, Any]] = [
        (14 if unfenced else 0, lambda: choice.choice(_FENCINGS)(choice.choice(unfenced))),
        (16 if fenced else 0, lambda: steps.Unfence(choice.choice(fenced))),
        (12, lambda: _register(choice, now, fenced)),
        (4 if live else 0, lambda: steps.ShutDown(choice.choice(live))),
        (2, lambda: steps.Unregister(choice.randrange(len(s.registration)))),
        (24, lambda: _alter(choice, s, live)),
        (4, lambda: steps.Elect(choice.choice(("PREFERRED", "UNCLEAN")))),
        (2, steps.Balance),
        (2, steps.ElectUncleanly),
        (9, lambda: steps.Reassign(_target(choice, s))),
        (3, lambda: steps.Reassign(None)),
        (5, lambda: _min_isr(choice)),
        (1, lambda: steps.Configure("topic", choice.choice(("true", "false")), "unclean.leader.election.enable")),
        (3 if features else 0, lambda: steps.SwitchElr(choice.random() < 0.6)),
        (3 if registered else 0, lambda: _directory(choice, now)),
        (3 if usable else 0, lambda: _failure(choice, s, usable)),
    ]
    (make,) = choice.choices([make for _, make in options], [weight for weight, _ in options])
    step: Step = make()
    return step


_FENCINGS = (steps.Fence, steps.Fence, steps.Expire)
_FILES: tuple[Any, ...] = ("last", "last", "none", "none", "none", "other")


def _any_broker(choice: random.Random, s: Controller, fenced: Sequence[int]) -> int:
    return choice.choice(fenced) if fenced and choice.random() < 0.7 else choice.randrange(len(s.registration))


def _alter(choice: random.Random, s: Controller, live: Sequence[int]) -> steps.AlterPartition:
    """Return mostly a shrink or an expansion by the leader; sometimes a request that must be refused."""
    p = s.partition
    isr = sorted(p.isr)
    candidates = [r for r in p.replicas if r in live and r not in p.isr]
    if candidates and choice.random() < 0.6:
        isr.append(choice.choice(candidates))
    elif len(isr) > 1:
        isr.remove(choice.choice([b for b in isr if b != p.leader] or isr))
    if choice.random() < 0.15:  # a broker holds the ISR as a set, so any order may arrive
        choice.shuffle(isr)
    sender = p.leader if p.leader is not None else choice.choice(p.replicas)
    if choice.random() < 0.8:
        return steps.AlterPartition(sender, tuple(steps.Member(b) for b in isr))
    everyone = range(len(s.registration))
    if choice.random() < 0.4:
        sender = choice.choice(everyone)
        isr = choice.sample(everyone, choice.randint(0, len(everyone)))
    epochs = (0, 0, 0, 0, -1, 1)
    return steps.AlterPartition(
        sender,
        tuple(steps.Member(b, choice.choice((0, 0, 0, None, -1, 1))) for b in isr),
        choice.choice(epochs),
        choice.choice(epochs),
        choice.choice(epochs),
        choice.choice(("RECOVERED", "RECOVERING")),
    )


def _target(choice: random.Random, s: Controller) -> Ids:
    brokers = [b for b, r in enumerate(s.registration) if r.registered or choice.random() < 0.05]
    if not brokers:
        return s.partition.replicas
    return tuple(choice.sample(brokers, choice.randint(1, min(len(brokers), MOST_REPLICAS))))


def _min_isr(choice: random.Random) -> steps.Configure:
    level: Any = choice.choice(("topic", "topic", "cluster"))
    if choice.random() < 0.12:
        return steps.Configure("topic", None, legacy=choice.random() < 0.3)
    return steps.Configure(level, str(choice.choice((1, 1, 2, 2, 3, 4))), legacy=choice.random() < 0.3)


def _register(choice: random.Random, now: Situation, fenced: Sequence[int]) -> steps.Register:
    """Register mostly with the same directories; a failed one is repaired or missing, and others may be missing too."""
    b = _any_broker(choice, now.controller, fenced)
    file = choice.choice(_FILES)
    if now.online[b] == BOTH and choice.random() < 0.9:
        return steps.Register(b, file)
    return steps.Register(b, file, choice.choice((BOTH, (0,), (1,))))


def _directory(choice: random.Random, now: Situation) -> Step:
    s = now.controller
    holders = [r for r in s.partition.replicas if s.registration[r].registered]
    if not holders:
        return steps.Balance()
    b = choice.choice(holders)
    return steps.AssignDirectory(b, choice.choice(now.online[b]))


def _may_fail(r: Registration) -> bool:
    return r.registered and not r.in_controlled_shutdown


def _failure(choice: random.Random, s: Controller, usable: Sequence[int]) -> steps.Heartbeat:
    """Return a heartbeat that says that a directory has failed, and often changes the broker's state as well."""
    b = choice.choice(usable)
    fenced = s.registration[b].fenced
    asks = fenced if choice.random() < 0.6 else not fenced
    stops = not fenced and choice.random() < 0.2
    return steps.Heartbeat(b, want_fence=asks, want_shut_down=stops, offline=(choice.choice(BOTH),))


# ---------------------------------------------------------------------------- single questions


def random_partition(choice: random.Random, brokers: int) -> KafkaPartition:
    """Return a partition of up to five replicas, reassigning or not, reachable or not."""
    replicas = tuple(choice.sample(range(brokers), choice.randint(1, min(brokers, MOST_REPLICAS))))
    isr = _some(choice, replicas, 0.5)
    elr = tuple(r for r in sorted(_some(choice, replicas, 0.4)) if r not in isr)
    leader = choice.choice(isr) if isr and choice.random() < 0.8 else NO_LEADER
    last: Ids = ()
    if leader == NO_LEADER and choice.random() < 0.5:
        last = (choice.choice(replicas),)
    adding, removing = _moves(choice, replicas) if choice.random() < 0.4 else ((), ())
    return KafkaPartition(
        replicas,
        tuple(sorted(isr)),
        elr,
        last,
        adding,
        removing,
        leader,
        choice.randint(0, 9),
        choice.randint(0, 20),
        choice.choice(("RECOVERED", "RECOVERED", "RECOVERING")),
    )


def random_builder_question(choice: random.Random) -> BuilderQuestion:
    """Return a question to the builder as its callers ask it, of up to five replicas and one broker more."""
    brokers = choice.randint(3, MOST_REPLICAS + 1)
    p = random_partition(choice, brokers)
    kind = choice.randrange(4)
    gone = choice.choice(p.replicas)
    alive = _some(choice, range(brokers), 0.6)
    elr = choice.random() < 0.8
    least = choice.randint(1, len(p.replicas))
    election: Any = choice.choice(("ONLINE", "ONLINE", "UNCLEAN", "PREFERRED"))
    if kind == 0:
        left = tuple(b for b in p.isr if b != gone)
        alive = tuple(b for b in alive if b != gone)
        unclean = choice.choice(((gone,), None))
        return BuilderQuestion(p, alive, least, elr, election, target_isr=left, unclean_shutdown=unclean)
    if kind == 1:
        isr = tuple(sorted(_some(choice, p.replicas, 0.6)))
        recovery: Any = choice.choice((None, "RECOVERED", "RECOVERING"))
        return BuilderQuestion(p, alive, least, elr, election, target_isr=isr, target_recovery=recovery)
    if kind == 2:
        target = tuple(choice.sample(range(brokers), choice.randint(1, brokers)))
        leaving = tuple(sorted(set(p.replicas) - set(target)))
        new = tuple(sorted(set(target) - set(p.replicas)))
        return BuilderQuestion(
            p, alive, min(least, len(p.replicas)), elr, election, None, target + leaving, new or None, leaving or None
        )
    staying = tuple(r for r in p.replicas if r not in p.adding) or p.replicas
    isr = tuple(b for b in p.isr if b in staying) or staying[:1]
    return BuilderQuestion(p, alive, least, elr, election, isr, staying, (), ())


def random_single(config: Config, choice: random.Random) -> tuple[Setup, Step]:
    """Return one event for a partition and brokers in any condition."""
    brokers = choice.randint(3, MOST_REPLICAS + 1)
    p = random_partition(choice, brokers)
    registered = [choice.random() > 0.08 for _ in range(brokers)]
    setup = Setup(
        tuple(
            KafkaBroker(
                b,
                100 + b,
                registered=present,
                fenced=not present or (b not in p.isr and choice.random() < 0.5),
                in_controlled_shutdown=present and b not in p.isr and choice.random() < 0.1,
            )
            for b, present in enumerate(registered[r] or r in p.isr for r in range(brokers))
        ),
        p,
        elr=config.elr_enabled and choice.random() < 0.85,
        topic_min_isr=choice.randint(1, MOST_REPLICAS) if choice.random() < 0.7 else None,
        cluster_min_isr=choice.randint(1, 3),
        topic_unclean=choice.random() < 0.3,
    )
    return setup, random_step(choice, situation_of(config, setup), config.elr_enabled)


def _some(choice: random.Random, members: Sequence[int], chance: float) -> Ids:
    return tuple(member for member in members if choice.random() < chance)


def _moves(choice: random.Random, replicas: Ids) -> tuple[Ids, Ids]:
    adding = tuple(sorted(_some(choice, replicas, 0.3)))[: len(replicas) - 1]
    rest = [r for r in sorted(replicas) if r not in adding]
    return adding, tuple(_some(choice, rest, 0.3))[: len(replicas) - 1]
