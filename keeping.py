"""What elrcheck keeps between runs: the command runs.

It belongs to the group in `cli.py`, which adds it; the same rules hold here.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from elrcheck.errors import ExitCode
from elrcheck.options import duration, format_option
from elrcheck.shell import Shell

if TYPE_CHECKING:
    from elrcheck.explorer.run_list import StoredRun

FOLDER = ".elrcheck/runs"
_UNITS = ((86400, "d"), (3600, "h"), (60, "min"))

folder_option = click.option(
    "--folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path), default=FOLDER,
    show_default=True, help="The folder of runs.",
)  # fmt: skip


@click.group(invoke_without_command=True)
@folder_option
@format_option
@click.pass_context
def runs(ctx: click.Context, /, folder: Path, form: str) -> ExitCode | None:
    """List the stored runs, or remove them.

    A run is finished, resumable (`elrcheck check --resume`), or unfinished: it goes on at this moment, or was
    killed before it saved anything.
    """
    if ctx.invoked_subcommand is not None:
        return None
    import time

    from elrcheck.explorer.run_list import list_runs

    shell: Shell = ctx.obj
    found = list_runs(folder, time.time())
    if form == "json":
        import json

        from elrcheck.report.json import as_data

        shell.write(json.dumps([as_data(run) for run in found], indent=2, ensure_ascii=False) + "\n")
    elif found:
        columns = ("run", "variant", "scope", "what", "age", "size")
        shell.page().table(columns, (_row(run) for run in found), right=("age", "size"))
    else:
        shell.note(f"there are no runs in {folder}")
    return ExitCode.HOLDS


@runs.command()
@folder_option
@click.option(
    "--older-than",
    metavar="30m|7d",
    type=duration,
    default=None,
    help="Only runs to which nothing was written for so long.",
)
@click.option("--all", "every", is_flag=True, help="Also runs that could be gone on with, or still go on.")
@click.option("--dry-run", is_flag=True, help="Only say what would be removed.")
@click.pass_obj
def clean(shell: Shell, /, folder: Path, older_than: float | None, every: bool,
          dry_run: bool) -> ExitCode:  # fmt: skip
    """Remove finished runs with their traces.

    A folder that holds anything that elrcheck does not write is left alone.
    """
    import time

    from elrcheck.explorer.run_list import list_runs, removable, remove

    found = list_runs(folder, time.time())
    chosen = [run for run in found if removable(run, older_than or 0.0, every)]
    if not dry_run:
        remove(chosen, folder)
    for run in chosen:
        shell.write(f"{'would remove' if dry_run else 'removed'} {run.path}  {_size(run.size)}\n")
        if run.storage is not None:
            shell.note(f"its states are left in {run.storage}")
    for run in found:
        if run.foreign is not None:
            shell.note(f"left alone: {run.path} has {run.foreign}, which is not elrcheck's")
    kept = len(found) - len(chosen)
    shell.note(f"{len(chosen)} removed, {kept} kept" if not dry_run else f"{kept} would be kept")
    return ExitCode.HOLDS


def _row(run: StoredRun) -> tuple[str, ...]:
    return (run.path, run.variant or "", run.scope or "", _what(run), _age(run.age), _size(run.size))


def _what(run: StoredRun) -> str:
    """What there is of the run, in a few words."""
    parts = [f"damaged: {run.trouble}"] if run.trouble else []
    if run.kind == "resumable":
        parts.append(f"resumable at depth {run.depth}, {run.states:,} states")
    if run.kind == "unfinished":
        parts.append("unfinished")
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
    """Bytes, in units of 1024."""
    if number < 1024:
        return f"{number} B"
    return f"{number / 1024:,.0f} KiB" if number < 2**20 else f"{number / 2**20:,.1f} MiB"
