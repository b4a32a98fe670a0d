"""The verb `sweep`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from elrcheck.base.errors import ExitCode, UsageFault
from elrcheck.base.requests import Limits, SweepRequest
from elrcheck.console.completion import complete_axis
from elrcheck.console.help import Verb
from elrcheck.console.option_values import WorkerCount, output_file
from elrcheck.console.options import (
    EXIT_CODES,
    REDUCTIONS,
    apart,
    chosen_selection,
    html_option,
    limit_options,
    property_option,
    reject_given,
    selection_options,
)
from elrcheck.console.shell import Shell

if TYPE_CHECKING:
    from elrcheck.results.sweep_report import SweepReport

TEXT_FORMS = ("text", "json", "csv", "markdown", "html")
FORMS = (*TEXT_FORMS, "parquet")
ENDINGS = {".json": "json", ".csv": "csv", ".md": "markdown", ".html": "html", ".parquet": "parquet"}
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


def to_file(text: str) -> tuple[str, Path]:
    return output_file(FORMS, text, FORMS, ENDINGS)


@click.command(cls=Verb, epilog=EXIT_CODES)
@click.option(
    "--sweep",
    "sweeps",
    metavar="KEY=VALUES",
    multiple=True,
    shell_complete=complete_axis,
    help="An axis of the grid: variant, scope, or a key of --set; values as 1..3, a,b,c or code_*. May be repeated.",
)
@click.option(
    "--grid",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A TOML file with [axes], [[exclude]] and [[include]].",
)
@selection_options
@click.option("--reduce", is_flag=True, help="Merge indistinguishable states: fewer states, the same findings.")
@property_option
@limit_options
@click.option("--stop-at-first", is_flag=True, help="Stop each search after the level of its first violation.")
@click.option(
    "--engine",
    type=click.Choice(("local", "spark")),
    default="local",
    show_default=True,
    help="local: processes on this machine; spark: tasks on a cluster.",
)
@click.option(
    "--workers",
    metavar="N|auto",
    type=WorkerCount(),
    default="auto",
    show_default=True,
    help="Number of processes of the local engine, and of threads for a large search.",
)
@click.option("--master", metavar="URL", help="Spark master; by default local[*].")
@click.option("--spark-conf", metavar="KEY=VALUE", multiple=True, help="Set a Spark property; may be repeated.")
@click.option(
    "--storage",
    metavar="PATH|URI",
    help="Where large configurations store their states; every executor must be able to access it.",
)
@click.option(
    "--large",
    metavar="STATES",
    type=click.IntRange(min=1),
    default=2_000_000,
    show_default="2000000",
    help="A configuration with more states runs later, on its own, with all workers.",
)
@click.option(
    "--run-dir",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Run folder: stores traces, and the ledger for a later --resume.",
)
@click.option(
    "--resume",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Resume the sweep in this folder; grid and limits come from the sweep.",
)
@click.option(
    "--format",
    "-f",
    "form",
    type=click.Choice(TEXT_FORMS),
    default="text",
    show_default=True,
    help="Format of the report on stdout; markdown and html show a matrix.",
)
@click.option(
    "--output",
    "-o",
    "outputs",
    metavar="[FORMAT:]FILE",
    multiple=True,
    type=to_file,
    help="Also write the report to a file, in the format of its extension (.json, .csv, .parquet, "
    ".md, .html); may be repeated.",
)
@html_option
@click.option("--exit-zero", is_flag=True, help="Exit with 0 instead of 1 when there are findings.")
@apart
@click.pass_context
def sweep(
    ctx: click.Context,
    /,
    form: str,
    outputs: Sequence[tuple[str, Path]],
    exit_zero: bool,
    reduce: bool,
    sweeps: tuple[str, ...],
    grid: Path | None,
    properties: tuple[str, ...],
    stop_at_first: bool,
    engine: Any,
    workers: int | None,
    master: str | None,
    spark_conf: tuple[str, ...],
    storage: str | None,
    large: int,
    run_dir: Path | None,
    resume: Path | None,
    **options: Any,
) -> ExitCode:
    """Check a grid of configurations, the smallest breaking one first.

    Checks each configuration as `check` does; limits apply to each configuration. Lists configurations that
    the model refuses as skipped.
    """
    from elrcheck.commands.sweep.sweep import run_sweep

    named = [n for n in GRID if ctx.get_parameter_source(n) is click.core.ParameterSource.COMMANDLINE]
    if engine != "spark":
        reject_given(ctx, ("master", "spark_conf", "storage"), "--engine spark")
    selection = chosen_selection(options)
    if reduce:
        selection = replace(selection, overrides=(*REDUCTIONS, *selection.overrides))
    reject_fixed_axes(ctx, sweeps)
    request = SweepRequest(
        selection=selection,
        sweeps=sweeps,
        grid=grid,
        properties=properties,
        limits=Limits(**options),
        stop_at_first=stop_at_first,
        engine=engine,
        workers=workers,
        large=large,
        master=master,
        spark_conf=spark_conf,
        storage=storage,
        verbose=ctx.obj.detail > 0,
        run_dir=run_dir,
        resume=resume,
        named=resume is None or bool(named),
    )
    shell: Shell = ctx.obj
    with shell.open_progress() as progress:
        report = run_sweep(request, progress)
    code = deliver(shell, report, form, outputs, exit_zero=exit_zero)
    if report.interrupted:
        shell.note(f"interrupted; resume with `elrcheck sweep --resume {report.run_dir}`")
    return code


def reject_fixed_axes(ctx: click.Context, sweeps: Sequence[str]) -> None:
    """Raises UsageFault for `--variant` or `--scope` together with an axis of that name."""
    for name in ("variant", "scope"):
        given = ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
        if given and any(text.partition("=")[0].strip() == name for text in sweeps):
            raise UsageFault("sweep-twice", f"`{name}` is both swept and set", help=f"leave out --{name}")


def deliver(
    shell: Shell, report: SweepReport, form: str, outputs: Sequence[tuple[str, Path]], *, exit_zero: bool
) -> ExitCode:
    """Writes the report to its files, then to stdout; returns the exit code of the report."""
    from elrcheck.base.atomic import write_bytes

    for file_form, path in outputs:
        write_bytes(path, render(shell, report, file_form))
    if form == "text":
        return shell.deliver(report, form, exit_zero=exit_zero)
    shell.write(render(shell, report, form).decode())
    code = report.exit_code
    return ExitCode.HOLDS if exit_zero and code is ExitCode.FINDING else code


def render(shell: Shell, report: SweepReport, form: str) -> bytes:
    """Renders the report in one of `FORMS`, as the bytes of a file."""
    match form:
        case "csv":
            from elrcheck.report.sweep_table import to_csv

            return to_csv(report).encode()
        case "parquet":
            from elrcheck.report.sweep_table import to_parquet

            return to_parquet(report)
        case "markdown":
            from elrcheck.report.sweep_matrix import to_markdown

            return to_markdown(report).encode()
        case "html":
            from elrcheck.report.html.sweep_html import to_html

            return to_html(report).encode()
        case _:
            return shell.render(report, form).encode()
