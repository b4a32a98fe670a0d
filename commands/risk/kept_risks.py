"""What earlier runs of `risk` have found, by a digest of everything that it depends on.

The digest covers every source file of the package, so that no answer outlives a change of the model or of
the engine. A trace is kept as the numbers of its steps; whoever reads it has the plain model follow it again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import field

from elrcheck.base.atomic import write_file
from elrcheck.base.caches import cache_directory
from elrcheck.base.errors import ElrError
from elrcheck.base.package_files import files_of, rooms, root_files
from elrcheck.base.roundtrip import Record, from_text, to_text
from elrcheck.base.version import __version__
from elrcheck.catalogue.configuration import config_values
from elrcheck.model.config import Config


class KeptSet(Record, frozen=True):
    """What is known of one set of events. traces: property -> numbers of the steps of a shortest trace."""

    broken: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    states: int = 0
    traces: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


class KeptRisk(Record, frozen=True):
    """Everything about one configuration. sets: by the names of the events. prevented: by what was asked.

    tried: the seconds after which a search gave up, by the largest sets that it was for.
    """

    sets: Mapping[str, KeptSet] = field(default_factory=dict)
    prevented: Mapping[str, bool | None] = field(default_factory=dict)
    tried: Mapping[str, float] = field(default_factory=dict)


class KeptRisks:
    """The folder of kept answers. fresh: find nothing, but keep what is found."""

    def __init__(self, fresh: bool = False) -> None:
        self.folder = cache_directory(os.environ) / "risk"
        self.fresh = fresh
        self.program = program_digest()

    def find(self, config: Config) -> KeptRisk:
        """What is known of this configuration; nothing if the file is missing or damaged."""
        if self.fresh:
            return KeptRisk()
        try:
            return from_text(self._file(config).read_text(encoding="utf-8"), KeptRisk)
        except (OSError, ValueError):
            return KeptRisk()

    def add(self, config: Config, kept: KeptRisk) -> None:
        """Keep it; a full disk is no reason to fail."""
        with contextlib.suppress(OSError, ElrError):
            write_file(self._file(config), to_text(kept))

    def _file(self, config: Config) -> Path:
        asked = json.dumps([self.program, config_values(config)], sort_keys=True)
        return self.folder / f"{hashlib.sha256(asked.encode()).hexdigest()[:32]}.json"


def program_digest() -> str:
    """Digest of all source files of the package and of its version."""
    digest = hashlib.sha256(__version__.encode())
    every = [*root_files(), *(pair for room in rooms() for pair in files_of(room, (".py", ".toml")))]
    for name, file in every:
        digest.update(f"{name}\0".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()
