"""Obligations that earlier runs have proved, by a digest of their contents.

An obligation is: the types, some lemmas and the guard of a step imply the goal after the step. A stored answer is valid
only if the text of all these terms is the same, with the same Z3 and elrcheck; of the lemmas, those that the proof
needed. So a changed rule affects the steps that use it, and a changed lemma its own column and the proofs that needed
it. Several proofs of a goal are stored, so that undoing a change of a lemma finds its answers again. Only proofs are
stored; anything else is asked again.

An entry of the store has the obligations of one instance of an action.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Annotated, Literal

import z3
from msgspec import Meta

from elrcheck.base.kept import named_digests as digests_of
from elrcheck.base.kept.age import KeptOrigin, kept_at
from elrcheck.base.kept.store import LAST_SECOND, Store
from elrcheck.base.roundtrip import Record
from elrcheck.base.version import __version__
from elrcheck.proof.digests import Digests
from elrcheck.proof.obligations import Discharge
from elrcheck.proof.transition import SymbolicStep

PROOFS = 4
"""The maximum number of stored proofs of one goal of an instance, each from other lemmas."""


class KeptCell(Record, frozen=True):
    """A proved obligation. core: lemma that the proof needed -> its digest. when: seconds since 1970.

    how: `lemmas` for a proof that needed some, `step` for one from the types and the step alone, `untouched` if the
    step cannot affect the goal.
    """

    how: Literal["lemmas", "step", "untouched"]
    core: dict[str, str]
    seconds: float
    when: Annotated[int, Meta(ge=0, le=LAST_SECOND)]

    @property
    def sound(self) -> bool:
        """Return whether the proof is consistent: it has lemmas exactly if it claims to need some."""
        return bool(self.core) == (self.how == "lemmas") and self.seconds >= 0


class KeptProofs(Record, frozen=True):
    """The proved obligations of an instance, by the digests of their goals; the newest proof first."""

    proofs: dict[str, tuple[KeptCell, ...]]


class KeptCells:
    """The obligations in the store. fresh: ignore existing entries, still write new ones. used: origins of answers."""

    def __init__(self, digests: Digests, fresh: bool) -> None:
        self.store = Store("proofs", KeptProofs, fresh=fresh)
        self.digests = digests
        self.used: list[KeptOrigin] = []

    def find(self, instance: SymbolicStep, goals: Iterable[str]) -> dict[str, Discharge | None]:
        """Return the stored answers, by the names of the goals; None where there was nothing to prove."""
        if self.store.fresh:
            return {}
        key = self._key(instance)
        proofs = self._read(key)
        answers: dict[str, Discharge | None] = {}
        for goal in goals:
            before = proofs.get(self.digests.goal(goal), ())
            if (cell := next(filter(self._current, before), None)) is not None:
                self.used.append(kept_at(cell.when, key))
                proved = Discharge("proved", cell.seconds, frozenset(cell.core), kept=True)
                answers[goal] = None if cell.how == "untouched" else proved
        return answers

    def add(self, instance: SymbolicStep, answers: Mapping[str, Discharge | None]) -> None:
        """Store the proved answers."""
        key, now = self._key(instance), int(time.time())
        proofs = dict(self._read(key))
        for goal, answer in answers.items():
            if answer is None:
                new = KeptCell("untouched", {}, 0.0, now)
            elif answer.verdict == "proved":
                core = {lemma: self.digests.lemmas[lemma] for lemma in sorted(answer.core)}
                new = KeptCell("lemmas" if core else "step", core, answer.seconds, now)
            else:
                continue
            name = self.digests.goal(goal)
            others = (cell for cell in proofs.get(name, ()) if not self._current(cell))
            proofs[name] = (new, *others)[:PROOFS]
        self.store.put(key, KeptProofs(proofs))

    def _current(self, cell: KeptCell) -> bool:
        return all(self.digests.lemmas.get(name) == digest for name, digest in cell.core.items())

    def _read(self, key: str) -> dict[str, tuple[KeptCell, ...]]:
        entry = self.store.peek(key)
        if entry is None:
            return {}
        if not all(cell.sound for cells in entry.value.proofs.values() for cell in cells):
            self.store.refuse(key, "has a proof that does not say what it needs")
            return {}
        return entry.value.proofs

    def _key(self, instance: SymbolicStep) -> str:
        solver = z3.get_version_string()
        return digests_of.key(elrcheck=__version__, solver=solver, instance=self.digests.instance(instance))
