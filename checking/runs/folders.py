"""The names of run folders, and the one that a new check takes."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path

from elrcheck.base.errors import EnvironmentFault
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


def places_of_run(request: CheckRequest, selected: Selected) -> Iterator[Path]:
    """Yield the folders that a new check without --run-dir may have: named after what it checks, numbered."""
    first = run_folder(selected, request.engine)
    yield first
    yield from (first.with_name(f"{first.name}-{number}") for number in itertools.count(2))


def free_place(request: CheckRequest, selected: Selected, ending: contextlib.ExitStack) -> Path:
    """Lock the folder of a new check and return it: the requested one, or one that no other run has.

    A resumable run keeps its folder, and so does one that another process is making.
    """
    if request.run_dir is not None:
        ending.enter_context(alone_in(request.run_dir))
        return request.run_dir
    for place in places_of_run(request, selected):
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(alone_in(place, optional=not request.fingerprint))
            except EnvironmentFault:  # it is in use
                continue
            if not (place / MANIFEST).exists():
                ending.enter_context(stack.pop_all())
                return place
    raise AssertionError("there is always another number")
