"""The steps of a trace as text, shared by every report that shows a trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from elrcheck.report.terminal import Page
from elrcheck.results.trace_view import Step, TraceView


def print_trace(
    trace: TraceView, page: Page, *, initial: bool = False, notes: Mapping[int, Sequence[str]] | None = None
) -> None:
    """Prints the steps of a trace, each with its changes. notes: step number -> lines to print after it."""
    notes = notes or {}
    if initial:
        for path, value in trace.initial.items():
            page.labelled("start", f"{path} = {value}")
    first = trace.steps[0].index if trace.steps else 1
    for note in notes.get(first - 1, ()):
        page.labelled("before", note)
    for step in trace.steps:
        if step.index - 1 == trace.loop:
            page.labelled("forever", f"from here on steps {step.index} to {len(trace.steps)} repeat")
        _print_step(step, page)
        for note in notes.get(step.index, ()):
            page.labelled("", note)
    if trace.loop == len(trace.steps):
        page.labelled("forever", "nothing more happens: no fair step is enabled")


def _print_step(step: Step, page: Page) -> None:
    page.labelled(f"step {step.index}", step.label)
    if step.because:
        page.labelled("", f"because  {step.because}")
    for change in step.changes:
        page.labelled("", f"{change.path}: {change.old} -> {change.new}")
