"""The verb `sweep`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from elrcheck.base.common_options import Reduce
from elrcheck.base.errors import ExitCode, UsageFault
from elrcheck.console.output import Formats, Output
from elrcheck.console.shell import Shell
from elrcheck.console.verb import on_command_line, reduced, reject_given, verb

if TYPE_CHECKING:
    from elrcheck.base.requests import SweepRequest
    from elrcheck.results.any_report import Report

TEXT_FORMS = ("text", "json", "csv", "markdown", "html")
FORMS = (*TEXT_FORMS, "parquet")
FORMATS = Formats(
    TEXT_FORMS,
    FORMS,
    FORMS,
    {".json": "json", ".csv": "csv", ".md": "markdown", ".html": "html", ".parquet": "parquet"},
    "Format of the report on stdout; markdown and html show a matrix.",
    "Also write the report to a file, in the format of its extension (.json, .csv, .parquet, .md, .html);"
    " may be repeated.",
)
GRID = (
    "variant",
    "scope",
    "overrides",
    "reduce",
    "sweeps",
    "grid",
    "properties",
    "max_depth",
    "max_states",
    "time_budget",
    "memory",
    "stop_at_first",
    "large",
)
"""Options that define the sweep; --resume needs none of them."""


@verb(requests="requests", formats=FORMATS)
def sweep(shell: Shell, request: SweepRequest, output: Output, reduce: Reduce = False) -> ExitCode:
    """Check a grid of configurations, the smallest breaking one first.

    Checks each configuration as `check` does; limits apply to each configuration. Lists configurations that
    the model refuses as skipped.
    """
    from elrcheck.commands.sweep.sweep import again_with, run_sweep

    if request.engine != "spark":
        reject_given(("master", "spark_conf", "storage"), "--engine spark")
    _reject_fixed_axes(request.sweeps)
    request = replace(
        request,
        selection=reduced(request.selection, reduce),
        named=request.resume is None or bool(on_command_line(*GRID)),
        verbose=shell.detail > 0,
    )
    with shell.open_progress() as progress:
        report = run_sweep(request, progress)
    code = shell.deliver(report, output, _render)
    if report.interrupted:
        shell.note(f"interrupted; resume with `{again_with(str(report.run_dir), request.selection)}`")
    return code


def _reject_fixed_axes(sweeps: Sequence[str]) -> None:
    """Raise UsageFault for `--variant` or `--scope` together with an axis of that name."""
    axes = {text.partition("=")[0].strip() for text in sweeps}
    for name in on_command_line("variant", "scope"):
        if name in axes:
            raise UsageFault("sweep-twice", f"`{name}` is both swept and set", help=f"leave out --{name}")


def _render(report: Report, form: str) -> str | bytes | None:
    """Return a sweep in one of the formats that only a sweep has, or has in its own form; None for others."""
    from elrcheck.report.sweep_table import to_parquet
    from elrcheck.results.sweep_report import SweepReport

    assert isinstance(report, SweepReport)
    if form == "parquet":
        return to_parquet(report)
    if form in ("csv", "markdown", "html"):
        from elrcheck.api.result_types import SweepResult, as_result

        return as_result(SweepResult, report).render(form)
    return None
