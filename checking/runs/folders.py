"""The names of run folders."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path

from elrcheck.base.requests import CheckRequest
from elrcheck.base.typed.configuration import config_values
from elrcheck.declared.select import Selected

RUNS = Path(".elrcheck") / "runs"
MANIFEST = "run.json"
"""Manifest (see `checkpoint`); its presence marks a resumable run."""

TRACE = ".trace.json"
"""How the names of the traces in a run folder end."""
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
