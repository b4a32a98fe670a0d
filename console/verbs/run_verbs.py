"""Verbs about stored runs: runs, runs clean and runs coverage."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import click

from elrcheck.base.errors import ExitCode
from elrcheck.base.option import Option
from elrcheck.console.output import PLAIN_REPORT, Form, Output
from elrcheck.console.shell import Shell
from elrcheck.console.verb import VerbGroup, verb

if TYPE_CHECKING:
    from elrcheck.commands.run_list import StoredRun

RUNS = Path(".elrcheck/runs")
_UNITS = ((86400, "d"), (3600, "h"), (60, "min"))

Folder: TypeAlias = Annotated[Path, Option("Folder that contains the runs.", kind="folder")]


def list_or_continue(shell: Shell, folder: Folder = RUNS, form: Form = "text") -> ExitCode | None:
    """List the stored runs, or remove them.

    A run is running, finished, resumable (`elrcheck check --resume`), or unfinished: killed before its first
    checkpoint.
    """
    if click.get_current_context().invoked_subcommand is not None:
        return None
    import time

    from elrcheck.commands.run_list import list_runs

    stored = list_runs(folder, time.time())
    if form == "json":
        from elrcheck.report.json_report import as_data

        shell.write_json([as_data(run) for run in stored])
    elif stored:
        from elrcheck.report.document import Table

        columns = ("run", "variant", "scope", "what", "age", "size")
        shell.show([Table(columns, [_row(run) for run in stored])])
    else:
        shell.note(f"there are no runs in {folder}")
    return ExitCode.HOLDS


runs = VerbGroup(list_or_continue, name="runs", invoke_without_command=True)


@verb()
def clean(
    shell: Shell,
    folder: Folder = RUNS,
    older_than: Annotated[
        float | None,
        Option("Only runs that were last written to at least this long ago.", metavar="30m|7d", kind="duration"),
    ] = None,
    every: Annotated[bool, Option("Also resumable and unfinished runs.", flags="--all", group="Output")] = False,
    dry_run: Annotated[bool, Option("Only print what would be removed.")] = False,
) -> ExitCode:
    """Remove finished runs with their traces.

    Skips any folder that contains files elrcheck did not write.
    """
    import time

    from elrcheck.commands.run_list import list_runs, removable, remove

    stored = list_runs(folder, time.time())
    outdated = [run for run in stored if removable(run, older_than or 0.0, every)]
    if not dry_run:
        remove(outdated, folder)
    for run in outdated:
        shell.write_line(f"{'would remove' if dry_run else 'removed'} {run.path}  {_size(run.size)}")
        if run.storage is not None:
            shell.note(f"its states remain in {run.storage}")
    for run in stored:
        if run.foreign is not None:
            shell.note(f"skipped: {run.path} contains {run.foreign}, which elrcheck did not write")
    rest = len(stored) - len(outdated)
    shell.note(f"{len(outdated)} removed, {rest} kept" if not dry_run else f"{rest} would be kept")
    return ExitCode.HOLDS


@verb(formats=PLAIN_REPORT)
def coverage(
    shell: Shell,
    output: Output,
    paths: Annotated[tuple[Path, ...], Option(metavar="[RUN|FILE]...", kind="path", exists=True, argument=True)] = (),
    folder: Folder = RUNS,
    strict: Annotated[bool, Option("Exit with 1 if no run covers some action or witness.")] = False,
) -> ExitCode:
    """Combine the coverage of runs: actions that never fired, witnesses that no run reached.

    RUN is a run folder, FILE a JSON report of `check` or `mutate --guards`; by default all runs in --folder
    count.
    """
    from elrcheck.commands.run_list import merge, stored_reports

    return shell.deliver(merge(paths or stored_reports(folder), strict), output)


runs.add_command(clean)
runs.add_command(coverage)


def _row(run: StoredRun) -> tuple[str, ...]:
    from elrcheck.report.document import Number

    return (run.path, run.variant or "", run.scope or "", _what(run), Number(_age(run.age)), Number(_size(run.size)))


def _what(run: StoredRun) -> str:
    """Return a short description of the run's state and its findings."""
    parts = [f"damaged: {run.trouble}"] if run.trouble else []
    if run.kind == "resumable":
        parts.append(f"resumable at depth {run.depth}, {run.states:,} states")
    if run.kind in ("running", "unfinished"):
        parts.append(run.kind)
    if run.violated:
        parts.append(f"violated: {', '.join(run.violated)}")
    if run.reached:
        parts.append(f"reached: {', '.join(run.reached)}")
    return "; ".join(parts) or "no traces"


def _age(seconds: float) -> str:
    for unit, name in _UNITS:
        if seconds >= unit:
            return f"{seconds // unit:.0f} {name}"
    return "now"


def _size(number: int) -> str:
    """Return a number of bytes in units of 1024."""
    if number < 1024:
        return f"{number} B"
    return f"{number / 1024:,.0f} KiB" if number < 2**20 else f"{number / 2**20:,.1f} MiB"
