"""What the proof of Kafka's partition adds to its lemmas: the history, assumptions, conditions."""

from __future__ import annotations

from collections.abc import Mapping

from elrcheck.invariants import lemmas_changes, lemmas_losses, lemmas_recovery
from elrcheck.lang.induction import Induction, Operator
from elrcheck.model.config import Config


def _conditions(config: Config) -> Mapping[str, Operator]:
    more = lemmas_losses.WITH_REASSIGNMENTS if config.reassignments > 0 else {}
    return {**lemmas_losses.CONDITIONS, **more}


INDUCTION = Induction(
    history=lemmas_losses.HISTORY,
    assumptions=lemmas_changes.ASSUMPTIONS,
    named=lemmas_recovery.ASSUMPTIONS,
    allowed={**lemmas_changes.ALLOWED, **lemmas_recovery.ALLOWED},
    possible=lemmas_losses.POSSIBLE,
    actions={**lemmas_changes.ACTIONS, **lemmas_recovery.ACTIONS, **lemmas_losses.ACTIONS},
    conditions=_conditions,
    arbitrary={"min_isr": 1},
)
