"""Paths of sources in Kafka's repository, and changes to them in the form of `git diff`."""

from __future__ import annotations

import difflib
from collections.abc import Mapping

from elrcheck.kafka.patched_jar import source_place


def repository_path(path: str) -> str:
    """Return the path in Kafka's repository of a file in a jar of sources, of the release or of its tests."""
    _, folder = source_place(path)
    stem = path.rpartition("/")[2].rpartition(".")[0]
    return folder.format(set="test" if stem.endswith("Test") else "main") + path


def git_diff(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """Return the changes of files, path -> text, as `git apply` takes them."""
    return "".join(_file_diff(repository_path(path), before[path], after[path]) for path in after)


def _file_diff(path: str, before: str, after: str) -> str:
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), f"a/{path}", f"b/{path}"
    )
    text = "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
    return f"diff --git a/{path} b/{path}\n{text}"
