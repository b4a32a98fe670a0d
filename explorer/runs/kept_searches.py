"""Answers of complete searches, by what was searched: a digest of the program, and of the engine.

After a change of the model, a configuration whose lowered program is the same is not searched again. The key
of an answer is the program itself (`lang/lowering/program_digest.py`), never the source that it was made
from, so an answer cannot be stale. It has the counts of the transition system, and each property by a digest
of its own: a search for some properties answers a later one for fewer.

    searches/<digest of the engine, the system and the mode>.json
    elrcheck-search/1 <SHA-256 of the rest>
    {"key": "..", "generated": 9, "checks": {"<digest of a property>": {"depth": 4, "trace": [[..], ..]}}, ..}

Only what does not depend on a limit is kept: complete searches, and those that ended with the level in which
a property broke, because that was asked for. A file that is damaged, or was written by another version, is no
answer. Files are replaced as a whole, so several processes may share the folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias

import llvmlite
import numpy as np
from msgspec import field, structs

from elrcheck.base.atomic import write_bytes
from elrcheck.base.caches import cache_directory
from elrcheck.base.errors import ElrError
from elrcheck.base.package_files import files_of
from elrcheck.base.roundtrip import Record, from_text, to_text
from elrcheck.base.version import __version__
from elrcheck.lang.lowering.program import Program
from elrcheck.lang.lowering.program_digest import ProgramDigest, program_digest

Mode: TypeAlias = Literal["complete", "first"]
Row: TypeAlias = tuple[int, ...]
MAGIC = "elrcheck-search/1 "
ROOMS = ("explorer/kernel", "explorer/search", "explorer/store", "explorer/runs", "lang/lowering")
"""Whose source decides what an engine makes of a program."""


class KeptCheck(Record, frozen=True):
    """A property: the smallest depth at which it was hit, None for never, and a trace if one was rebuilt."""

    depth: int | None = None
    trace: tuple[Row, ...] | None = None


class KeptSearch(Record, frozen=True):
    """The answer of a search. enabled, new_states, beyond: by action; variables: values by path.

    reason: None if every state was visited. checks: by their digests.
    """

    key: str
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
    checks: dict[str, KeptCheck] = field(default_factory=dict)

    @property
    def sound(self) -> bool:
        """Whether its numbers fit together."""
        depths = [check.depth for check in self.checks.values() if check.depth is not None]
        return (
            sum(self.levels) == self.distinct <= self.generated
            and sum(self.new_states.values()) <= self.distinct
            and all(0 <= depth <= len(self.levels) for depth in depths)
        )


class KeptSearches:
    """The folder of kept answers. fresh: find none of them, but keep new ones."""

    def __init__(self, fresh: bool = False, folder: Path | None = None) -> None:
        self.folder = folder or cache_directory(os.environ) / "searches"
        self.fresh = fresh

    def asked(self, program: Program, mode: Mode) -> Asked:
        """The question that a search of this program answers."""
        return Asked(self, program, program_digest(program), mode)


class Asked:
    """One question to the store. mode: whether the search goes on after the level of a violation."""

    def __init__(self, store: KeptSearches, program: Program, digest: ProgramDigest, mode: Mode) -> None:
        self.store, self.program, self.digest, self.mode = store, program, digest, mode

    def find(self) -> KeptSearch | None:
        """A kept answer that knows all properties of the program; None if there is none.

        A complete answer without a violation is also that of a search that would have stopped at one.
        """
        if self.store.fresh:
            return None
        whole = self._read("complete")
        if self._tells(whole) and (self.mode == "complete" or not self._violated(whole)):
            return whole
        if self.mode == "complete":
            return None
        stopped = self._read("first")
        return stopped if self._tells(stopped) else None

    def keep(self, answer: KeptSearch, checks: Sequence[KeptCheck]) -> None:
        """Keep an answer; a full disk is no reason to fail.

        checks: in the order of the program's. What an earlier answer says of other properties stays, if both
        have found the same states.
        """
        mode: Mode = "complete" if answer.reason is None else "first"
        known = dict(zip(self.digest.checks, checks, strict=True))
        before = self._read(mode) if mode == "complete" else None
        if before is not None and (before.generated, before.levels) == (answer.generated, answer.levels):
            better = {key: _better(one, before.checks.get(key)) for key, one in known.items()}
            known = {**before.checks, **better}
        body = to_text(structs.replace(answer, key=self._key(mode), checks=known)).encode()
        head = f"{MAGIC}{hashlib.sha256(body).hexdigest()}\n".encode()
        with contextlib.suppress(OSError, ElrError):
            write_bytes(self._file(mode), head + body)

    def _tells(self, answer: KeptSearch | None) -> bool:
        """Whether an answer knows all properties of the program."""
        return answer is not None and all(check in answer.checks for check in self.digest.checks)

    def _violated(self, answer: KeptSearch | None) -> bool:
        return answer is not None and any(
            check.kind == "always" and answer.checks[digest].depth is not None
            for check, digest in zip(self.program.checks, self.digest.checks, strict=True)
        )

    def _read(self, mode: Mode) -> KeptSearch | None:
        try:
            head, _, body = self._file(mode).read_bytes().partition(b"\n")
            if head != f"{MAGIC}{hashlib.sha256(body).hexdigest()}".encode():
                return None
            answer = from_text(body, KeptSearch)
        except (OSError, ValueError):
            return None
        return answer if answer.key == self._key(mode) and answer.sound else None

    def _key(self, mode: Mode) -> str:
        """Everything that the answer depends on. Which properties end a search decides where it ends."""
        ending = " ".join(self.digest.checks) if mode == "first" else ""
        return f"{engine_digest()} {self.digest.system} {mode} {ending}".rstrip()

    def _file(self, mode: Mode) -> Path:
        return self.store.folder / f"{hashlib.sha256(self._key(mode).encode()).hexdigest()}.json"


def _better(new: KeptCheck, old: KeptCheck | None) -> KeptCheck:
    """Of two equal answers about a property, the one with a trace."""
    return old if old is not None and new.trace is None and old.depth == new.depth else new


@cache
def engine_digest() -> str:
    """Of the sources of the engine and of the libraries that make its machine code and its traces."""
    digest = hashlib.sha256(f"{__version__} {llvmlite.__version__} {np.__version__}".encode())
    for room in ROOMS:
        for name, file in files_of(room):
            digest.update(f"{name}\0".encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()
