"""The changes of `mutate --rules` in Kafka's partition; ghosts and budgets are not rules."""

from __future__ import annotations

from dataclasses import fields

from elrcheck.lang.load import Model
from elrcheck.model.budgets import Spent
from elrcheck.model.state import GHOSTS
from elrcheck.mutation.rule_mutants import RuleMutants

BUDGETS = frozenset(part.name for part in fields(Spent))


def partition_mutants(model: Model) -> RuleMutants:
    """Return all changes of the rules in one of the models of a partition."""
    return RuleMutants(model, GHOSTS, BUDGETS)
