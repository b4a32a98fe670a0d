"""A model with a unified diff applied: a copy of its source files, in a folder named by their digest."""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from elrcheck.base.atomic import write_file
from elrcheck.base.caches import cache_directory
from elrcheck.base.common_options import ModelSource, PatchedModel
from elrcheck.base.documents import read_text
from elrcheck.base.strict import Codes
from elrcheck.declared.unified_diff import apply_diff
from elrcheck.results.any_report import PatchApplied

CODES = Codes("patch-not-diff", unreadable="patch-unreadable")
LIMIT = 2**22
"""Limit of a diff, in bytes."""
FOLDER = "patched"


def patched_file(source: PatchedModel, texts: Mapping[str, str]) -> Path:
    """Write the texts of the base with the diff applied, and return the file or folder of that model.

    texts: path -> text. Raise UsageFault for a diff that does not fit.
    """
    after = apply_diff(read_text(source.patch, CODES, LIMIT), str(source.patch), texts)
    digest = hashlib.sha256(repr(sorted(after.items())).encode()).hexdigest()[:16]
    folder = _place(digest) / (source.patch if source.base is None else source.base.resolve()).stem.replace(".", "_")
    for path, text in after.items():
        place = folder / path
        if place.is_file() and place.read_bytes() == text.encode():
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        write_file(place, text)
    return folder / source.base.name if source.base is not None and source.base.is_file() else folder


def _place(digest: str) -> Path:
    """Create and return a folder in the cache folder, or a temporary one if that cannot be written."""
    place = cache_directory(os.environ) / FOLDER / digest
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError:
        place = Path(tempfile.mkdtemp(prefix=f"elrcheck-{FOLDER}-"))
        atexit.register(shutil.rmtree, place, ignore_errors=True)
    return place


def patch_applied(source: ModelSource) -> PatchApplied | None:
    """Return the diff of a model, for reports; None for a model without one."""
    if not isinstance(source, PatchedModel):
        return None
    text = read_text(source.patch, CODES, LIMIT)
    return PatchApplied(str(source.patch), hashlib.sha256(text.encode()).hexdigest())
