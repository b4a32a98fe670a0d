"""Which folder a run has."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from pathlib import Path

from elrcheck.base.requests import CheckRequest
from elrcheck.catalogue.configuration import config_values
from elrcheck.catalogue.select import Selected

RUNS = Path(".elrcheck") / "runs"
MANIFEST = "run.json"
"""The file that makes a folder one of a run that can be gone on with (`checkpoint`)."""

REPORT = "report.json"
"""What a check with a folder leaves there, as `--format json` has it."""


def run_folder(selected: Selected, *how: str | int) -> Path:
    """The folder named by what was explored and how: the same run has the same folder."""
    identity = json.dumps([selected.variant, config_values(selected.config), *how], sort_keys=True)
    digest = hashlib.sha256(identity.encode()).hexdigest()[:10]
    stem = re.sub(r"[^\w.-]+", "_", Path(selected.scope).stem)[:60]  # a file of the user has any name
    return RUNS / f"{selected.variant}-{stem}-{digest}"


def place_of_run(request: CheckRequest, selected: Selected) -> Path:
    """The folder of a check: the one asked for, or one named by what is checked.

    A run that can be gone on with keeps its folder, so another one of the same kind gets another.
    """
    chosen = request.resume or request.run_dir
    if chosen is not None:
        return chosen
    first = run_folder(selected, request.engine)
    places = (first.with_name(f"{first.name}-{number}") for number in itertools.count(2))
    return next(place for place in itertools.chain([first], places) if not (place / MANIFEST).exists())
