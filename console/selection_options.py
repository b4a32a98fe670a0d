"""Selections of a model, adjusted for verbs."""

from __future__ import annotations

from dataclasses import replace

from elrcheck.base.requests import Selection
from elrcheck.console.verb import on_command_line
from elrcheck.traces.loaded import NamedSelection

REDUCTIONS = ("skips_no_news=true", "forgets=true")
"""Knobs that merge states no property and no step can distinguish (docs/adr/0008, 0009)."""


def reduced(selection: Selection, reduce: bool) -> Selection:
    """Return the selection, if `reduce` with the knobs of `--reduce`, which `--set` may override."""
    return replace(selection, overrides=(*REDUCTIONS, *selection.overrides)) if reduce else selection


def selection_of_trace(selection: Selection) -> NamedSelection:
    """Return the selection, and which of its options override those of a trace file."""
    return NamedSelection(selection, frozenset(on_command_line("variant", "scope")))
