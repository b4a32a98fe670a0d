"""Answers of complete searches, stored by a digest of the program and of the engine.

After a change of the model, a configuration whose lowered program is the same is not searched again. The key of an
answer is a digest of the program itself (`lang/lowering/program_digest.py`), not of its source, so an answer cannot be
stale. It has the counts of the transition system, and each property under a digest of its own: a search for some
properties answers a later one for fewer.

Only answers that do not depend on a limit are stored: those of complete searches, and of searches with
--stop-at-first that ended with the level of a violation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from msgspec import field, structs

from elrcheck.base.kept import named_digests as digests
from elrcheck.base.kept.store import Store, StoredAnswer
from elrcheck.base.roundtrip import Record
from elrcheck.lang.lowering.program import Program
from elrcheck.lang.lowering.program_digest import ProgramDigest, program_digest

Mode: TypeAlias = Literal["complete", "first"]
Row: TypeAlias = tuple[int, ...]
STOPPED = "--stop-at-first"
"""The only reason of an incomplete search that does not depend on limits."""


class CheckAnswer(Record, frozen=True):
    """A property: the smallest depth at which it was hit, None if it was not, and a trace if one was rebuilt."""

    depth: int | None = None
    trace: tuple[Row, ...] | None = None


class KeptSearch(Record, frozen=True):
    """The answer of a search. enabled, new_states, beyond: by action; variables: values by path.

    reason: None if every state was visited. checks: by their digests.
    """

    reason: str | None
    generated: int
    distinct: int
    levels: tuple[int, ...]
    seconds: float
    bytes_per_state: int
    peak_bytes: int
    workers: int
    cut: int
    deadlocks: int
    enabled: dict[str, int]
    new_states: dict[str, int]
    beyond: dict[str, int]
    variables: dict[str, int]
    checks: dict[str, CheckAnswer] = field(default_factory=dict)

    @property
    def sound(self) -> bool:
        """True if its numbers are consistent."""
        depths = [check.depth for check in self.checks.values() if check.depth is not None]
        return (
            self.reason in (None, STOPPED)
            and sum(self.levels) == self.distinct <= self.generated
            and sum(self.new_states.values()) <= self.distinct
            and all(0 <= depth <= len(self.levels) for depth in depths)
        )


class SearchLookup:
    """Finds and stores the answer of one search. mode: "first" for a search that ends with the level of a violation.

    fresh: ignore stored answers, still store new ones.
    """

    def __init__(self, program: Program, mode: Mode, fresh: bool = False) -> None:
        self.store = Store("searches", KeptSearch, fresh=fresh)
        self.program, self.mode = program, mode
        self.digest: ProgramDigest = program_digest(program)

    def find(self) -> StoredAnswer[KeptSearch] | None:
        """Return a stored answer that covers all properties of the program, else None.

        A complete answer without a violation is also that of a search that would have stopped at one.
        """
        if self.store.fresh:
            return None
        whole = self._read("complete")
        if self._covers(whole) and (self.mode == "complete" or not self._violated(whole)):
            return whole
        if self.mode == "complete":
            return None
        stopped = self._read("first")
        return stopped if self._covers(stopped) else None

    def keep(self, answer: KeptSearch, checks: Sequence[CheckAnswer]) -> None:
        """Store an answer.

        checks: in the order of the program. Properties that only an earlier answer has stay in it if both have the
        same counts; the answer then has the date of the earlier one.
        """
        mode: Mode = "complete" if answer.reason is None else "first"
        new, when = dict(zip(self.digest.checks, checks, strict=True)), None
        entry = self._read(mode) if mode == "complete" else None
        if entry is not None:
            before = entry.value
            if (before.generated, before.levels) == (answer.generated, answer.levels):
                better = {key: _better(one, before.checks.get(key)) for key, one in new.items()}
                if before.checks.keys() - new.keys():
                    when = entry.origin.moment
                new = {**before.checks, **better}
        self.store.put(self._key(mode), structs.replace(answer, checks=new), when)

    def refuse(self, entry: StoredAnswer[KeptSearch]) -> None:
        """Refuse an answer with a trace that the plain model does not follow."""
        mode: Mode = "complete" if entry.value.reason is None else "first"
        self.store.refuse(self._key(mode), "has a trace that the model does not follow")

    def _covers(self, entry: StoredAnswer[KeptSearch] | None) -> bool:
        """Return whether there is an answer that covers all properties of the program."""
        return entry is not None and all(check in entry.value.checks for check in self.digest.checks)

    def _violated(self, entry: StoredAnswer[KeptSearch] | None) -> bool:
        return entry is not None and any(
            check.kind == "always" and entry.value.checks[digest].depth is not None
            for check, digest in zip(self.program.checks, self.digest.checks, strict=True)
        )

    def _read(self, mode: Mode) -> StoredAnswer[KeptSearch] | None:
        entry = self.store.peek(self._key(mode))
        if entry is None or (entry.value.sound and (entry.value.reason is None) == (mode == "complete")):
            return entry
        self.store.refuse(self._key(mode), "has numbers that do not fit together")
        return None

    def _key(self, mode: Mode) -> str:
        """Return the key: a digest of all that the answer depends on, including properties that end the search."""
        ending = self.digest.checks if mode == "first" else ()
        return digests.key(engine=digests.engine(), system=self.digest.system, mode=mode, ending=ending)


def _better(new: CheckAnswer, old: CheckAnswer | None) -> CheckAnswer:
    """Return the new answer about a property, or the old one if only that has a trace to the same depth."""
    return old if old is not None and new.trace is None and old.depth == new.depth else new
