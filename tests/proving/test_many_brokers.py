"""Sixty brokers: plain Python takes each step of the claim from a state in which every lemma holds.

Z3 decides no such question for sixty members of a sort; a walk needs no solver, and its states are reached.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from elrcheck.catalogue.proof_settings import widened
from elrcheck.invariants.lemmas import lemmas_changes
from elrcheck.invariants.lemmas.lemmas_losses import HISTORY
from elrcheck.invariants.modules import load_proof_model
from elrcheck.lang.domains import domain
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import initial_states
from elrcheck.lang.runtime import NotEnabled
from elrcheck.lang.types import Ty
from elrcheck.model.config import Config
from elrcheck.proof.any_size.step_tasks import every_choice
from elrcheck.proof.any_size.steps import Unbounded, UnboundedStep
from elrcheck.proof.hypotheses import lemmas_of

BROKERS = 60
MIN_ISR = 58
"""So high that two brokers outside the ISR put others into the ELR."""
LOG_SLOTS = 6
BUSY = 4
"""Brokers whose arguments are drawn most often."""
RECOVERY = ("ControllerAlters", "LeaderLearns", "Start", "Register", "Unfence", "ApplyMetadata", "Fetch", "ExpandIsr")
"""Actions that bring the partition back to where disturbances are possible."""
TRIES = 40
"""Draws of the arguments of an action in one round."""
SEEDS, ROUNDS = (1, 2), 25


class Walk:
    """A random walk. fired: the actions that it has taken, each from a state in which the lemmas held."""

    def __init__(self, seed: int) -> None:
        self.model = load_proof_model()
        self.config: Any = widened(Config(broker_count=BROKERS, min_isr=MIN_ISR, log_slots=LOG_SLOTS), ())
        self.chance = random.Random(seed)
        self.state = initial_states(self.model, self.config)[0]
        self.seen = HISTORY.at_first(self.config)
        self.actions = {fn.name: fn for fn in self.model.actions}
        self.fired: set[str] = set()

    def round(self) -> None:
        """Let the partition recover, and after each part of that try the actions that have not fired yet."""
        for name in RECOVERY:
            for arguments in self._everybody(self.actions[name]):
                self.take(self.actions[name], arguments)
            for fn in self.model.actions:
                if fn.name not in self.fired:
                    self.attempt(fn)
        self.attempt(self.chance.choice(self.model.actions))

    def attempt(self, fn: Fn) -> None:
        any(self.take(fn, tuple(self.drawn(ty) for _, ty in fn.params)) for _ in range(TRIES))

    def _everybody(self, fn: Fn) -> Any:
        """Yield arguments that name each broker once, beside the leader where an action has one."""
        leader = self.state.partition.leader
        for b in range(BROKERS):
            named = {"leader": b if fn.params[0][0] == "leader" and len(fn.params) == 1 else leader, "lost": False}
            arguments = tuple(named.get(name, b) for name, _ in fn.params)
            if None not in arguments:
                yield arguments

    def drawn(self, ty: Ty) -> Any:
        match ty.kind:
            case "member":
                return self.chance.randrange(BUSY if self.chance.random() < 0.8 else BROKERS)
            case "set":
                return frozenset(self.drawn(ty.elem) for _ in range(self.chance.randint(1, 2)))
            case _:
                return self.chance.choice(domain(ty, self.config))

    def take(self, fn: Fn, arguments: tuple[Any, ...]) -> bool:
        """Take a step if it is enabled and assumed; return whether it was."""
        before = self.state
        try:
            after = fn.source(self.config, before, *arguments)
        except NotEnabled:
            return False
        if after == before or not all(holds(self.config, before, after) for holds in lemmas_changes.ASSUMPTIONS):
            return False
        if fn.name not in self.fired:
            assert self.broken() == []
            self.fired.add(fn.name)
        self.seen = HISTORY.after(self.config, before, after, self.seen)
        self.state = after
        return True

    def broken(self) -> list[str]:
        """Return the lemmas that are false in the present state."""
        return [
            fn.name
            for fn in lemmas_of(self.model)
            if not fn.source(self.config, self.state, *((self.seen,) if fn.params else ()))
        ]


@pytest.mark.slow
def test_each_step_of_the_claim_is_possible_with_sixty_brokers() -> None:
    walks = [Walk(seed) for seed in SEEDS]
    system = Unbounded(walks[0].model, replace(walks[0].config, broker_count=2, log_slots=1))
    claimed = {one.action.name for one in every_choice(system) if UnboundedStep(system, one).possible}
    for walk in walks:
        for _ in range(ROUNDS):
            walk.round()
        assert walk.broken() == []
    assert set().union(*(walk.fired for walk in walks)) == claimed


def test_a_walk_notices_a_lemma_that_is_false() -> None:
    walk = Walk(SEEDS[0])
    assert walk.broken() == []
    walk.state = replace(walk.state, lossy=frozenset({0}))
    assert walk.broken() == ["Processes", "LostCovers"]
