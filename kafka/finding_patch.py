"""Builds the patch on a finding's page for a release."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from elrcheck.base.errors import UsageFault
from elrcheck.catalogue.finding_file import Edit
from elrcheck.catalogue.packaged_findings import find_finding
from elrcheck.kafka.jars import ClassPath
from elrcheck.kafka.patched_jar import patched_jar


def patch_of(finding: str, kafka: ClassPath) -> tuple[Path, tuple[str, ...]]:
    """Return the jar of the patch, and the sources that it changes."""
    edits = edits_of(finding, kafka.version)
    return patched_jar(finding, edits, kafka), tuple(dict.fromkeys(edit.path for edit in edits))


def edits_of(finding: str, version: str) -> Sequence[Edit]:
    """Return the edits of the finding's patch for a release; raise UsageFault for a release without edits."""
    patch = find_finding(finding).patch
    if patch is None or not patch.edits:
        help = f"`elrcheck show {finding}` says what is known; other classes can be given with --classes"
        raise UsageFault("no-patch", f"{finding} has no patch to build", help=help)
    of_some = [edit.versions for edit in patch.edits if edit.versions]
    if of_some and not any(version in versions for versions in of_some):
        releases = ", ".join(dict.fromkeys(release for versions in of_some for release in versions))
        raise UsageFault(
            "patch-edit", f"the patch of {finding} has no edit for Kafka {version}", help=f"it is for {releases}"
        )
    return patch.edits_of(version)
