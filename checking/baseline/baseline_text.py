"""Writes a baseline as text, always in the same order, so that a diff shows only what changed."""

from __future__ import annotations

from collections.abc import Iterable

from elrcheck.base.typed.record_text import table_text, text_value
from elrcheck.checking.baseline.baseline import JOINT, SCHEMA, BaselineEntry
from elrcheck.checking.baseline.suite_entry import SuiteEntry

HEADER = """\
# The baseline of `elrcheck gate`: the last accepted results of each entry.
# `elrcheck gate` fails on any difference. After an intended change, run
#
#     elrcheck gate --update-baseline
#
# and review the diff of this file like source code. Entries may be edited by hand (variant, scope, set,
# properties, liveness, max-depth, max-states, proof, proof-timeout, teeth, controller; of a suite only,
# files, deep, sample); comments are lost.
"""


def baseline_text(entries: Iterable[BaselineEntry], suites: Iterable[SuiteEntry] = ()) -> str:
    """Return the whole file, with the entries in order of their names, and then the suites."""
    lines = [HEADER, f"schema = {text_value(SCHEMA)}"]
    for entry in sorted(entries, key=lambda e: e.name):
        lines += ["", *table_text(f"entry.{entry.name}", entry, JOINT)]
    for suite in sorted(suites, key=lambda e: e.name):
        lines += ["", *table_text(f"suite.{suite.name}", suite, JOINT)]
    return "\n".join(lines) + "\n"
