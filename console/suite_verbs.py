"""The verb `suite`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from elrcheck.base.errors import ExitCode
from elrcheck.base.requests import SuiteRequest
from elrcheck.console.completion import completer, configurations
from elrcheck.console.help import Verb
from elrcheck.console.option_values import WorkerCount
from elrcheck.console.options import EXIT_CODES, case_options, fresh_option
from elrcheck.console.shell import Shell


@click.command(cls=Verb, epilog=EXIT_CODES)
@click.option(
    "--only",
    metavar="NAME|GLOB",
    multiple=True,
    shell_complete=completer(configurations),
    help="Run only these configurations, or all of a family; may be repeated.",
)
@click.option("--deep", is_flag=True, help="Also run the families marked deep, which take much longer.")
@click.option(
    "--sample",
    metavar="N",
    type=click.IntRange(min=1),
    help="Run only N configurations, evenly spread over the others selected.",
)
@click.option(
    "--file",
    "files",
    metavar="FILE",
    multiple=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="A suite file in place of the packaged ones; may be repeated.",
)
@fresh_option
@click.option(
    "--record",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the exact counts to this file in place of comparing them with those recorded.",
)
@click.option(
    "--run-dir",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the traces of unexplained violations.",
)
@click.option(
    "--workers", metavar="N|auto", type=WorkerCount(), default="auto", show_default=True, help="Number of processes."
)
@case_options
@click.pass_context
def suite(
    ctx: click.Context,
    /,
    form: str,
    outputs: Sequence[tuple[str, Path]],
    exit_zero: bool,
    only: tuple[str, ...],
    deep: bool,
    sample: int | None,
    files: tuple[Path, ...],
    fresh: bool,
    record: Path | None,
    run_dir: Path | None,
    workers: int | None,
) -> ExitCode:
    """Check small configurations that combine operations with faults.

    Every violation must have its explanation in the suite, and every explanation its violation; otherwise the
    exit code is 1. A configuration in which no write is ever acknowledged shows nothing, and fails too. So
    does one of the packaged suites whose exact counts are not those that were recorded.
    """
    from elrcheck.checking.suite.suite import run_suite

    request = SuiteRequest(only, files, deep, sample, fresh, workers, run_dir, record)
    shell: Shell = ctx.obj
    with shell.open_progress() as progress:
        report = run_suite(request, progress)
    code = shell.deliver(report, form, outputs, exit_zero=exit_zero)
    if report.interrupted:
        shell.note("interrupted; the same command resumes where it stopped")
    return code
