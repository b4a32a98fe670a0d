"""The trace of the model that a recipe follows: the recipe waits for its states, in their order.

[trace]
property = "P-1"                       # a shortest counterexample of this property
variant = "code_4_1"
scope = "two-brokers-quiet"            # by default
set = { reassignments = 2 }            # budgets and rules of the search, as in a finding
liveness = true                        # left out for a search of states
brokers = [1, 1, 0]                    # the broker of the model that stands for 0, for 1, for 2

Brokers of a recipe may share one of the model. A test searches the trace and compares: every
`wait` of the run, up to what the recipe is about, is met by a state of the trace, one after the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from elrcheck.base.errors import did_you_mean
from elrcheck.base.requests import Selection
from elrcheck.base.strict import Node
from elrcheck.base.typed.configuration import config_fields, config_value
from elrcheck.catalogue.recipe_notation.recipe_actions import Seen
from elrcheck.model.config import Config
from elrcheck.model.knobs import plain
from elrcheck.model.variants import variant_names

SCOPE = "two-brokers-quiet"
NO_LEADER = -1


@dataclass(frozen=True)
class RecipeTrace:
    """broken: the property; brokers: for each broker of the recipe the one of the model."""

    broken: str
    variant: str
    scope: str
    knobs: Mapping[str, Any]
    liveness: bool
    brokers: tuple[int, ...]

    @property
    def selection(self) -> Selection:
        return Selection(self.variant, self.scope, tuple(f"{k}={plain(v)}" for k, v in self.knobs.items()))

    @property
    def command(self) -> str:
        """The search, as a user types it."""
        settings = (f"--set {key}={str(plain(value)).lower()}" for key, value in self.knobs.items())
        words = ["elrcheck check", *(["--liveness"] if self.liveness else []), f"--scope {self.scope}"]
        return " ".join([*words, f"--variant {self.variant}", *settings, f"-p {self.broken}"])

    def met(self, seen: Sequence[Seen], states: Sequence[Mapping[str, Any]]) -> int:
        """How many expectations are met by these states of a partition, one after the other."""
        at = 0
        for number, expected in enumerate(seen):
            while at < len(states) and not self._fits(expected, states[at]):
                at += 1
            if at == len(states):
                return number
        return len(seen)

    def _fits(self, seen: Seen, state: Mapping[str, Any]) -> bool:
        sets = ((seen.replicas, "replicas"), (seen.isr, "isr"), (seen.elr, "elr"))
        leader = NO_LEADER if state["leader"] is None else state["leader"]
        return (
            seen.leader is None
            or leader in {one if one == NO_LEADER else self.brokers[one] for one in seen.leader}
        ) and all(ids is None or {self.brokers[one] for one in ids} == set(state[name]) for ids, name in sets)


def read_trace(node: Node, brokers: int) -> RecipeTrace:
    """Read one strictly. brokers: how many the recipe has."""
    node.object(("property", "variant", "brokers"), ("scope", "set", "liveness"))
    variant, known = node["variant"].text(), variant_names()
    if variant not in known:
        node["variant"].bad(f"unknown variant `{variant}`", did_you_mean(variant, known))
    kinds = config_fields(Config)
    fields = node.get("set", {}).object((), kinds).fields()
    standing = tuple(one.natural() for one in node["brokers"].items())
    if len(standing) != brokers or set(standing) != set(range(max(standing, default=0) + 1)):
        node["brokers"].expected(f"for each of the {brokers} brokers one of the model, and all of those")
    return RecipeTrace(
        broken=node["property"].text(),
        variant=variant,
        scope=node.maybe("scope", Node.text, SCOPE),
        knobs={key: config_value(kinds[key], part) for key, part in fields},
        liveness=node.maybe("liveness", Node.boolean, False),
        brokers=standing,
    )
