"""The names of run folders, and the choice of the folder of a new run."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path

from elrcheck.base.errors import EnvironmentFault, UsageFault
from elrcheck.base.requests import CheckRequest
from elrcheck.base.run_lock import alone_in
from elrcheck.base.typed.configuration import config_values
from elrcheck.declared.select import Selected

RUNS = Path(".elrcheck") / "runs"
MANIFEST = "run.json"
"""Manifest (see `checkpoint`); its presence marks a resumable run."""

TRACE = ".trace.json"
"""The suffix of traces in a run folder."""
REPORT = "report.json"
"""The report that a check with a run folder stores there, in the format of `--format json`."""


def run_folder(selected: Selected, *how: str | int) -> Path:
    """Return the folder named after what is explored and how: the same run always has the same folder."""
    model = [] if selected.model is None else [str(Path(selected.model).resolve())]
    model += [] if selected.patch is None else [selected.patch.digest]
    identity = json.dumps([*model, selected.variant, config_values(selected.config), *how], sort_keys=True)
    digest = hashlib.sha256(identity.encode()).hexdigest()[:10]
    stem = re.sub(r"[^\w.-]+", "_", Path(selected.scope).stem)[:60]  # the user's scope file may have any name
    return RUNS / f"{selected.variant}-{stem}-{digest}"


def numbered(first: Path) -> Iterator[Path]:
    """Yield the paths NAME, NAME-2, NAME-3, .."""
    yield first
    yield from (first.with_name(f"{first.name}-{number}") for number in itertools.count(2))


def reject_file(run_dir: Path | None) -> None:
    """Raise UsageFault if the requested run folder exists but is no folder."""
    if run_dir is not None and run_dir.exists() and not run_dir.is_dir():
        raise UsageFault("run-dir-is-file", f"{run_dir} is a file, not a folder")


def free_place(request: CheckRequest, selected: Selected, ending: contextlib.ExitStack) -> Path:
    """Lock the folder of a new check and return it: the requested one, or the first that no other run uses.

    A resumable run keeps its folder, and so does a run in progress.
    """
    if request.run_dir is not None:
        ending.enter_context(alone_in(request.run_dir))
        return request.run_dir
    for place in numbered(run_folder(selected, request.engine)):
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(alone_in(place, optional=not request.fingerprint))
            except EnvironmentFault as fault:
                if fault.code != "run-in-use":
                    raise
                continue
            if not (place / MANIFEST).exists():
                ending.enter_context(stack.pop_all())
                return place
    raise AssertionError("there is always another number")
