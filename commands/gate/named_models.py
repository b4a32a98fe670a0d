"""The models that a gate may run: only those that the user names.

A model runs as Python, so a baseline in a pull request must not choose what runs (docs/adr/0036).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from elrcheck.base.errors import NothingChecked, UsageFault
from elrcheck.base.requests import Selection
from elrcheck.checking.baseline import BaselineEntry, SuiteEntry
from elrcheck.declared.declared_model import declared


@dataclass(frozen=True)
class NamedModels:
    """The models that the user names for a baseline, whose entries name theirs by a path from its folder.

    patch: a diff of the only such model, or of Kafka's partition.
    """

    baseline: Path
    files: Sequence[Path] = ()
    patch: Path | None = None

    def find(self, written: Path | None, where: str) -> Path | None:
        """Return the model of an entry by the path that the user gave; raise UsageFault if the user gave none."""
        if written is None:
            return None
        meant = self.baseline.parent / written
        for file in self.files:
            if _same(file, meant):
                return file
        help = f"allow it to run: --model {meant}, or `model` in the settings"
        message = f"the entry is for the model {written}, which was not named, so it is not run"
        raise UsageFault("model-not-named", message, where=where, help=help)

    def runnable(self, entry: BaselineEntry) -> BaselineEntry:
        """Return the entry with the model and patch that the user gave."""
        where = f"{entry.place} ({entry.name})"
        model = self.find(entry.selection.model, where)
        patch = self.patch_of(model)
        if patch is not None and entry.controller:
            message = "--patch does not change the controller that `controller = true` proves"
            raise UsageFault("usage-option", message, where=where, help="leave one of the two out")
        scope = self._scope(entry.selection.scope)
        return replace(entry, selection=replace(entry.selection, model=model, scope=scope, patch=patch))

    def patch_of(self, model: Path | None) -> Path | None:
        """Return the diff of a model, None without one. model: the path that the user gave."""
        return self.patch if self.patch is not None and model == self.only("--patch") else None

    def runnable_suite(self, entry: SuiteEntry) -> SuiteEntry:
        """Return the part of a suite with the model that the user gave."""
        return replace(entry, model=self.find(entry.model, f"{entry.place} ({entry.name})"))

    def demand_patched(self, models: Iterable[Path | None]) -> None:
        """Raise NothingChecked if no entry to run is for the patched model. models: those of the entries."""
        if self.patch is not None and not any(self.patch_of(model) for model in models):
            message = f"no entry to run is for the model that {self.patch} changes"
            raise NothingChecked("model-not-in-baseline", message, help="name its model with --model")

    def demand_used(self, written: Iterable[Path]) -> None:
        """Raise NothingChecked for a model of the user without an entry. written: the models of all entries."""
        meant = [self.baseline.parent / file for file in written]
        for file in self.files:
            if not any(_same(file, other) for other in meant):
                message = f"no entry of {self.baseline} is for the model {file}"
                help = f"add one: `elrcheck gate --model {file} --add NAME`"
                raise NothingChecked("model-not-in-baseline", message, help=help)

    def only(self, option: str) -> Path | None:
        """Return the model of the user, None without one; raise UsageFault if there are several."""
        if len(self.files) > 1:
            raise UsageFault("usage-option", f"{option} takes one --model", help="run the command once for each model")
        return self.files[0] if self.files else None

    def written(self, selection: Selection) -> Selection:
        """Return the selection of a new entry in the notation of a baseline."""
        if _is_file(selection.scope):
            selection = replace(selection, scope=self.place(Path(selection.scope)).as_posix())
        if selection.model is None:
            return selection
        model = declared(selection.model)
        scope = selection.scope if _is_file(selection.scope) else model.scope(selection.scope).name
        variant = model.variant(selection.variant).name
        return replace(selection, variant=variant, scope=scope, model=self.place(selection.model))

    def _scope(self, written: str) -> str:
        """Return the scope to run: a file in the folder of the baseline, else in the working directory."""
        file = self.baseline.parent / written
        return str(file) if _is_file(written) and file.is_file() else written

    def place(self, file: Path) -> Path:
        """Return the path of a model or scope relative to the folder of the baseline."""
        return Path(os.path.relpath(file.resolve(), self.baseline.parent.resolve()))


def _is_file(scope: str) -> bool:
    """Return whether a scope is a file of the user."""
    return scope.endswith(".toml") or "/" in scope


def _same(one: Path, other: Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)
