"""Obligations that earlier runs have proved, by a digest of what they contain.

An obligation is: the types, some lemmas and the guard of a step imply the goal after the step. Its answer is
found again only if the text of all of these terms is the same, with the same Z3 and elrcheck; of the lemmas,
the ones that the proof needed. So a changed rule concerns the steps that it is part of, a changed lemma its
own column and the proofs that needed it. A goal keeps several proofs, so that a lemma that was changed and is
as before has its answers. Only what is proved is kept: anything else is asked again.

A file holds the obligations of one instance of an action. It is only ever replaced as a whole, so several
runs may share the folder.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping

import z3

from elrcheck.base.atomic import write_file
from elrcheck.base.caches import cache_directory
from elrcheck.base.errors import ElrError
from elrcheck.base.roundtrip import Record, from_text, to_text
from elrcheck.base.version import __version__
from elrcheck.invariants.proof.digests import Digests, digest
from elrcheck.invariants.proof.obligations import Discharge
from elrcheck.invariants.proof.transition import Instance

PROOFS = 4
"""Proofs that are kept of one goal of an instance, each from other lemmas."""


class KeptCell(Record, frozen=True):
    """A proved obligation. core: the lemmas that it needed, each with its digest.

    affected: False if the step leaves alone what the goal speaks of, so that nothing was to be proved.
    """

    core: dict[str, str]
    seconds: float
    affected: bool = True


class KeptInstance(Record, frozen=True):
    """The proved obligations of an instance, by the digests of their goals; the newest proof first."""

    proofs: dict[str, tuple[KeptCell, ...]]


class KeptCells:
    """The obligations in the cache folder. fresh: find none of them, but keep new ones."""

    def __init__(self, digests: Digests, fresh: bool) -> None:
        self.folder = cache_directory(os.environ) / "prove"
        self.digests, self.fresh = digests, fresh

    def find(self, instance: Instance, goals: Iterable[str]) -> dict[str, Discharge | None]:
        """The answers that are known, by the names of the goals; None where nothing was to be proved."""
        if self.fresh:
            return {}
        proofs = self._read(self._name(instance))
        found: dict[str, Discharge | None] = {}
        for goal in goals:
            before = proofs.get(self.digests.goal(goal), ())
            if (cell := next(filter(self._current, before), None)) is not None:
                known = Discharge("proved", cell.seconds, frozenset(cell.core), kept=True)
                found[goal] = known if cell.affected else None
        return found

    def add(self, instance: Instance, answers: Mapping[str, Discharge | None]) -> None:
        """Keep what is proved; a full disk is no reason to fail."""
        name = self._name(instance)
        proofs = dict(self._read(name))
        for goal, answer in answers.items():
            if answer is None:
                new = KeptCell({}, 0.0, affected=False)
            elif answer.verdict == "proved":
                core = {lemma: self.digests.lemmas[lemma] for lemma in sorted(answer.core)}
                new = KeptCell(core, answer.seconds)
            else:
                continue
            key = self.digests.goal(goal)
            others = (cell for cell in proofs.get(key, ()) if not self._current(cell))
            proofs[key] = (new, *others)[:PROOFS]
        with contextlib.suppress(OSError, ElrError):
            write_file(self.folder / name, to_text(KeptInstance(proofs)))

    def _current(self, cell: KeptCell) -> bool:
        return all(self.digests.lemmas.get(name) == known for name, known in cell.core.items())

    def _read(self, name: str) -> dict[str, tuple[KeptCell, ...]]:
        try:
            return from_text((self.folder / name).read_bytes(), KeptInstance).proofs
        except (OSError, ValueError):
            return {}

    def _name(self, instance: Instance) -> str:
        return f"{digest([__version__, z3.get_version_string(), self.digests.instance(instance)])}.json"
