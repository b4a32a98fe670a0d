"""Judges a change of a rule by random walks, in the configurations that are too large to search.

If the changed program has the same leaves, its steps are compared in every state that the walks of the unchanged
program visited, without walking again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from elrcheck.checking.suite.suite_file import SuiteCase, Walk
from elrcheck.checking.suite.walked_case import counts_of_walks, walks_of
from elrcheck.explorer.search.changed_search import differs_in
from elrcheck.explorer.search.recorded_walk import WalkDigest
from elrcheck.lang.changed.altered import planted
from elrcheck.lang.load import Model
from elrcheck.lang.lowering.lower import lower
from elrcheck.lang.lowering.lowered import Lowered
from elrcheck.lang.lowering.relower import relower
from elrcheck.mutation.rule_answer import ChangeVerdict
from elrcheck.mutation.rule_mutants import ChangedModel

CHUNK = 4096


@dataclass(frozen=True)
class WalkBase:
    """A configuration without the change, and the states that its walks visited."""

    case: SuiteCase
    walk: Walk
    lowered: Lowered
    met: WalkDigest


class WalkBench:
    """The walked configurations, each walked when it is first needed."""

    def __init__(self, model: Model, cases: Mapping[str, SuiteCase]) -> None:
        self.model, self.cases = model, cases
        self.bases: dict[str, WalkBase] = {}

    def base(self, name: str) -> WalkBase:
        """Return a configuration with its walks."""
        if name not in self.bases:
            case = self.cases[name]
            assert case.walk is not None
            lowered = lower(self.model, case.selected.config, ())
            self.bases[name] = WalkBase(case, case.walk, lowered, walks_of(lowered.program, case.walk))
        return self.bases[name]

    def judge(self, name: str, changed: ChangedModel) -> ChangeVerdict | None:
        """Return how a change shows in the walks of a configuration; None if their steps are the same."""
        base = self.base(name)
        change = relower(base.lowered, changed.model, changed.affected)
        if change is None:
            with planted(changed.original, changed.plain):
                program = lower(changed.model, base.case.selected.config, ()).program
            before, after = counts_of_walks(base.met), counts_of_walks(walks_of(program, base.walk))
            if before == after:
                return None
            return ChangeVerdict("counted", reason=f"{after}; without the change: {before}")
        if change.same:
            return None
        for start in range(0, base.met.distinct, CHUNK):
            part = [column[start : start + CHUNK].astype(np.int64) for column in base.met.columns]
            if differs_in(base.lowered.program, change, part, min(CHUNK, base.met.distinct - start)):
                return ChangeVerdict("counted", reason=f"another step in one of the first {start + CHUNK:,} states")
        return None
