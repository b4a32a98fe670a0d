"""The verbs `check`, `simulate`, `explore`, `sweep` and `suite`; each imports what is heavy when it is called."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from elrcheck.base.common_options import Reduce
from elrcheck.base.errors import ExitCode, UsageFault
from elrcheck.base.option import Option
from elrcheck.console.output import CASES, LOCATED_CASES, PAGE, Formats, Output
from elrcheck.console.shell import Shell
from elrcheck.console.verb import on_command_line, reduced, reject_given, verb

if TYPE_CHECKING:
    from elrcheck.base.requests import CheckRequest, ExploreRequest, SimulateRequest, SuiteRequest, SweepRequest
    from elrcheck.results.any_report import Report


@verb(requests="requests", formats=LOCATED_CASES)
def check(
    shell: Shell,
    request: CheckRequest,
    output: Output,
    reduce: Reduce = False,
    every: Annotated[
        bool,
        Option(
            "Print every counterexample, not only the shortest, and every table, as -v does.",
            flags="--all",
            group="Output",
        ),
    ] = False,
) -> ExitCode:
    """Explore every reachable state and check the properties."""
    from elrcheck.checking.check import run_check

    if request.engine != "spark":
        reject_given(("master", "partitions", "handover", "storage", "conf", "ship_packages"), "--engine spark")
    request = replace(
        request,
        selection=reduced(request.selection, reduce),
        selected=bool(on_command_line("variant", "scope", "overrides", "reduce")),
        spark=replace(request.spark, verbose=shell.detail > 0),
        drawn=output.has_page,
        kept=True,
    )
    with contextlib.ExitStack() as ending:
        with shell.open_progress() as progress:
            report = run_check(request, progress, ending)
        shell = replace(shell, detail=max(shell.detail, 1)) if every else shell
        return shell.deliver(report, output)


@verb(requests="requests", formats=PAGE)
def simulate(shell: Shell, request: SimulateRequest, output: Output) -> ExitCode:
    """Walk at random through a scope too large to explore.

    Exits with 1 when a walk violates a property, else with 3: walks cannot show that a property holds. The
    same seed gives the same walks, with any number of workers. --guided remembers the states it has visited
    and reaches deep violations in far fewer states, with one worker.
    """
    from elrcheck.commands.simulate import run_simulate

    return shell.run(lambda progress: run_simulate(request, progress), output)


@verb(requests="requests", formats=PAGE)
def explore(shell: Shell, request: ExploreRequest, output: Output) -> ExitCode:
    """Describe a scope: levels, steps, actions, values.

    Gives no verdict: exits with 0 when all states were explored, even if the graph marks violations.
    """
    from elrcheck.commands.explore import run_explore

    return shell.run(lambda progress: run_explore(replace(request, drawn=output.has_page), progress), output)


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
    from elrcheck.results.suite_report import SweepReport

    assert isinstance(report, SweepReport)
    if form == "parquet":
        return to_parquet(report)
    if form in ("csv", "markdown", "html"):
        from elrcheck.api.result_types import SweepResult, as_result

        return as_result(SweepResult, report).render(form)
    return None


@verb(requests="requests", formats=CASES)
def suite(shell: Shell, request: SuiteRequest, output: Output) -> ExitCode:
    """Check small configurations that combine operations with faults.

    Every violation must have its explanation in the suite, and every explanation its violation; otherwise the
    exit code is 1. A configuration also fails if it does not reach a required witness, and so shows nothing, or
    if its exact counts differ from the recorded ones.
    """
    from elrcheck.checking.suite.suite import run_suite

    with shell.open_progress() as progress:
        report = run_suite(request, progress)
    code = shell.deliver(report, output)
    if report.interrupted:
        shell.note("interrupted; the same command resumes where it stopped")
    return code
