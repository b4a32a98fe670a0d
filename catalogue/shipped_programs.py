"""Programs that an installation brings along: those of the searches that a new user begins with.

    python -m elrcheck.catalogue.shipped_programs FOLDER [SCOPE ...]

Lowering the model takes longer than a first small search. So the build of a wheel (`setup.py`) does it once, and writes
entries of the store below FOLDER: the lowered programs, and the marks that the sources of the model, and of that of
`risk`, have no mistake. Their keys name those sources and the version of Python; an installation whose key differs
ignores them, and lowers the model itself. Verdicts and machine code are not shipped: every search still runs.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from elrcheck.base.caches import NAMED_BY, empty_cache
from elrcheck.base.kept.store import Store
from elrcheck.base.progress import Silent
from elrcheck.base.requests import CheckRequest, Selection
from elrcheck.checking.engines import SearchSubject
from elrcheck.declared.select import resolve, select_properties
from elrcheck.explorer.kernel.kept_program import KeptProgram
from elrcheck.invariants.modules import load_outcome_model

SCOPES = ("two-brokers-quiet", "two-brokers", "three-brokers-small", "three-brokers")
WITHOUT_TIME = 0
"""Entries carry no time of their own, so that two builds have the same bytes."""


def write_programs(folder: str, scopes: Sequence[str] = SCOPES) -> None:
    """Write the entries below a folder."""
    with empty_cache():
        for scope in scopes:
            request = CheckRequest(selection=Selection(scope=scope))
            selected = resolve(request.selection)
            model = selected.declared.whole()
            chosen = select_properties(model, request.properties, request.liveness)
            SearchSubject(model, selected.config, chosen).program(Silent())
        load_outcome_model()
        for kind, payload in (("programs", KeptProgram), ("models", str)):
            shipped = Store(kind, payload, environ={NAMED_BY: folder})
            for key, answer in Store(kind, payload).entries():
                shipped.put(key, answer.value, WITHOUT_TIME)
                shipped.path(key).chmod(0o644)  # the package is for every user of the machine
            shipped.folder.chmod(0o755)
            shipped.folder.parent.chmod(0o755)


if __name__ == "__main__":
    write_programs(sys.argv[1], sys.argv[2:] or SCOPES)
