"""The trace of the model that a recipe follows: the recipe waits for the states of the trace in order.

[trace]
property = "P-1"                       # a shortest counterexample of this property
variant = "code_4_1"
scope = "two-brokers-quiet"            # by default
set = { reassignments = 2 }            # budgets and rules of the search, as in a finding
liveness = true                        # left out for a search of states
brokers = [1, 1, 0]                    # the broker of the model that stands for 0, for 1, for 2

Several brokers of a recipe may stand for the same broker of the model. A test searches the trace and compares: each
`wait` of the run, up to the sign of the finding, has to match a later state of the trace than the one before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from elrcheck.base.requests import Selection
from elrcheck.base.strict import Node
from elrcheck.base.typed.records import KeyName, Natural
from elrcheck.catalogue.file_values import SCOPE, Knobs, Variant
from elrcheck.catalogue.recipe_notation.recipe_signs import ExpectedPartition
from elrcheck.catalogue.recipe_notation.recipe_values import NO_LEADER
from elrcheck.model.knobs import plain


@dataclass(frozen=True)
class RecipeTrace:
    """The search for the trace. broken: the property; brokers: the model's broker for each of the recipe's."""

    broken: Annotated[str, KeyName("property")]
    variant: Variant
    brokers: tuple[Natural, ...]
    scope: str = SCOPE
    knobs: Annotated[Knobs, KeyName("set")] = field(default_factory=dict)
    liveness: bool = False

    def check_brokers(self, node: Node, number: int) -> None:
        """Raise UsageFault unless each of the recipe's `number` brokers has one of the model."""
        if len(self.brokers) != number or set(self.brokers) != set(range(max(self.brokers, default=0) + 1)):
            node["brokers"].expected(f"for each of the {number} brokers one of the model, and all of those")

    @property
    def selection(self) -> Selection:
        return Selection(self.variant, self.scope, tuple(f"{k}={plain(v)}" for k, v in self.knobs.items()))

    @property
    def command(self) -> str:
        """Return the command line of the search."""
        settings = (f"--set {key}={str(plain(value)).lower()}" for key, value in self.knobs.items())
        words = ["elrcheck check", *(["--liveness"] if self.liveness else []), f"--scope {self.scope}"]
        return " ".join([*words, f"--variant {self.variant}", *settings, f"-p {self.broken}"])

    def met(self, seen: Sequence[ExpectedPartition], states: Sequence[Mapping[str, Any]]) -> int:
        """Return how many expectations, from the first, these states of a partition match in order."""
        at = 0
        for number, expected in enumerate(seen):
            while at < len(states) and not self._fits(expected, states[at]):
                at += 1
            if at == len(states):
                return number
        return len(seen)

    def _fits(self, seen: ExpectedPartition, state: Mapping[str, Any]) -> bool:
        sets = ((seen.replicas, "replicas"), (seen.isr, "isr"), (seen.elr, "elr"))
        leader = NO_LEADER if state["leader"] is None else state["leader"]
        return (
            seen.leader is None or leader in {one if one == NO_LEADER else self.brokers[one] for one in seen.leader}
        ) and all(ids is None or {self.brokers[one] for one in ids} == set(state[name]) for ids, name in sets)
