"""The run of a search, before the search has a program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from elrcheck.base.requests import CheckRequest
from elrcheck.declared.select import Selected
from elrcheck.lang.ir import Fn

if TYPE_CHECKING:
    from elrcheck.checking.runs.checkpoint import CheckpointFolder, Saved
    from elrcheck.lang.lowering.program import Program


@dataclass
class PlannedRun:
    """A search that may leave a checkpoint in the folder `place`.

    saved: the checkpoint that it resumes. folder: opened by a search without a stored answer.
    """

    place: Path
    selected: Selected
    chosen: Sequence[Fn]
    request: CheckRequest
    saved: Saved | None = None
    folder: CheckpointFolder | None = None

    def open(self, program: Program) -> CheckpointFolder:
        """Open the folder for a search of this program (`open_folder`)."""
        from elrcheck.checking.runs.checkpoint import open_folder

        self.folder = open_folder(program, self.place, self.selected, self.chosen, self.request, self.saved)
        return self.folder
