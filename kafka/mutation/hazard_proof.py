"""Runs the proof by induction on hazards, and names an obligation that each leaves open.

Uses the same claims as for changes of rules, then one with recoveries, under its assumption. If none has an open
obligation, and the search of the hazard changes other rules too, these count as part of the change. Settings of the
search that no proof covers are named.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from elrcheck.base.requests import ProofAssumption, Selection
from elrcheck.catalogue.hazard import Hazard
from elrcheck.catalogue.proof_settings import ALWAYS_NAMED, outside, widened
from elrcheck.declared.select import resolve
from elrcheck.kafka.mutation.rule_proof import SIZES, ByProof, ProofBench, Side
from elrcheck.model.config import Config
from elrcheck.model.knobs import knobs
from elrcheck.mutation.mutation_run import dropped

RECOVERY: ProofAssumption = "complete-winners"
ORDER = ("outside", "proved", "undefined", "undecided", "refuted")
"""Answers of the proof; the later says more."""


@dataclass(frozen=True)
class HazardByProof:
    """The verdict of the proof on a hazard. beyond: settings of its search that no proof covers.

    hole: no obligation is open, although the proof covers the configuration of the search that finds the hazard.
    """

    by_proof: ByProof
    beyond: tuple[str, ...]

    @property
    def hole(self) -> bool:
        return self.by_proof.answer in ("proved", "outside") and not self.beyond


class HazardProofs:
    """The claims for hazards, built when first needed."""

    def __init__(self, sizes: tuple[tuple[str, ...], ...] = SIZES) -> None:
        self.bench = ProofBench(sizes=sizes)
        self._recoveries: dict[int, Side] = {}

    def judge(self, hazard: Hazard, base: Config) -> HazardByProof:
        """Return the first open obligation. base: the configuration that the hazard is searched in, without it."""
        last = ByProof("outside")
        for side, change in self._tries(hazard, base):
            model = side.model if hazard.guard is None else dropped(side.model, *hazard.guard)
            by_proof = side.compare(model, replace(side.config, **change))
            last = max(last, by_proof, key=lambda one: ORDER.index(one.answer))
            if last.answer == "refuted":
                break
        return HazardByProof(last, outside(base, hazard.variant))

    def _tries(self, hazard: Hazard, base: Config) -> Iterator[tuple[Side, Mapping[str, Any]]]:
        """Yield the claims, with what changes in each."""
        yield from ((side, hazard.knobs) for side in self.bench.sides)
        yield self._recovery(base.min_isr), hazard.knobs
        own = {knob.name for knob in knobs() if knob.is_rule}
        own -= set(ALWAYS_NAMED)  # protocols of their own, not rules
        if rules := {name: value for name, value in hazard.settings.items() if name in own}:
            yield from ((side, {**rules, **hazard.knobs}) for side in self.bench.sides)

    def _recovery(self, min_isr: int) -> Side:
        """Return the claim with unclean elections and recoveries, two brokers and logs of one record."""
        if min_isr not in self._recoveries:
            small = ("log_slots=1", f"min_isr={min_isr}")
            selected = resolve(Selection("kip_full", "two-brokers", small))
            config = widened(selected.config, selected.overrides, (RECOVERY,))
            self._recoveries[min_isr] = Side(self.bench.model, config, (RECOVERY,))
        return self._recoveries[min_isr]
