"""Which folder a run has."""

from __future__ import annotations

import hashlib
import itertools
import json
from pathlib import Path

from elrcheck.config import config_values
from elrcheck.explorer.select import Selected
from elrcheck.report.request import CheckRequest

RUNS = Path(".elrcheck") / "runs"
MANIFEST = "run.json"
"""The file that makes a folder one of a run that can be gone on with (`checkpoint`)."""


def place_of_run(request: CheckRequest, selected: Selected) -> Path:
    """The folder of the run: the one asked for, or one named by what is checked.

    A run that can be gone on with keeps its folder, so another one of the same kind gets another.
    """
    chosen = request.resume or request.run_dir
    if chosen is not None:
        return chosen
    identity = json.dumps([selected.variant, config_values(selected.config), request.engine], sort_keys=True)
    digest = hashlib.sha256(identity.encode()).hexdigest()[:10]
    name = f"{selected.variant}-{Path(selected.scope).stem}-{digest}"
    places = (RUNS / (name if number == 1 else f"{name}-{number}") for number in itertools.count(1))
    return next(place for place in places if not (place / MANIFEST).exists())
