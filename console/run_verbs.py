"""Verbs about stored runs and effective settings: runs and config."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from elrcheck.base.errors import ExitCode, UsageFault
from elrcheck.base.requests import Selection
from elrcheck.base.roundtrip import Record
from elrcheck.console.completion import commands, completer
from elrcheck.console.help import Commands, Verb
from elrcheck.console.option_values import duration
from elrcheck.console.options import EXIT_CODES, REDUCTIONS, format_option, output_options
from elrcheck.console.shell import Shell

if TYPE_CHECKING:
    from elrcheck.catalogue.effective import Effective
    from elrcheck.commands.run_list import StoredRun

FOLDER = ".elrcheck/runs"
_UNITS = ((86400, "d"), (3600, "h"), (60, "min"))

folder_option = click.option(
    "--folder",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    default=FOLDER,
    show_default=True,
    help="Folder that contains the runs.",
)


@click.group(cls=Commands, invoke_without_command=True)
@folder_option
@format_option
@click.pass_context
def runs(ctx: click.Context, /, folder: Path, form: str) -> ExitCode | None:
    """List the stored runs, or remove them.

    A run is running, finished, resumable (`elrcheck check --resume`), or unfinished: killed before its first
    checkpoint.
    """
    if ctx.invoked_subcommand is not None:
        return None
    import time

    from elrcheck.commands.run_list import list_runs

    shell: Shell = ctx.obj
    found = list_runs(folder, time.time())
    if form == "json":
        import json

        from elrcheck.report.json_report import as_data

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
    help="Only runs that were last written to at least this long ago.",
)
@click.option("--all", "every", is_flag=True, help="Also resumable and unfinished runs.")
@click.option("--dry-run", is_flag=True, help="Only print what would be removed.")
@click.pass_obj
def clean(shell: Shell, /, folder: Path, older_than: float | None, every: bool, dry_run: bool) -> ExitCode:
    """Remove finished runs with their traces.

    Skips any folder that contains files elrcheck did not write.
    """
    import time

    from elrcheck.commands.run_list import list_runs, removable, remove

    found = list_runs(folder, time.time())
    chosen = [run for run in found if removable(run, older_than or 0.0, every)]
    if not dry_run:
        remove(chosen, folder)
    for run in chosen:
        shell.write_line(f"{'would remove' if dry_run else 'removed'} {run.path}  {_size(run.size)}")
        if run.storage is not None:
            shell.note(f"its states remain in {run.storage}")
    for run in found:
        if run.foreign is not None:
            shell.note(f"skipped: {run.path} contains {run.foreign}, which elrcheck did not write")
    kept = len(found) - len(chosen)
    shell.note(f"{len(chosen)} removed, {kept} kept" if not dry_run else f"{kept} would be kept")
    return ExitCode.HOLDS


@runs.command(epilog=EXIT_CODES)
@click.argument("paths", metavar="[RUN|FILE]...", nargs=-1, type=click.Path(exists=True, path_type=Path))
@folder_option
@click.option("--strict", is_flag=True, help="Exit with 1 if no run covers some action or witness.")
@output_options
@click.pass_obj
def coverage(
    shell: Shell,
    /,
    form: str,
    outputs: Sequence[tuple[str, Path]],
    exit_zero: bool,
    paths: tuple[Path, ...],
    folder: Path,
    strict: bool,
) -> ExitCode:
    """Combined coverage of runs: actions that never fired, witnesses that no run reached.

    RUN is a run folder, FILE a JSON report of `check` or `mutate --guards`; by default all runs in --folder
    count.
    """
    from elrcheck.commands.run_coverage import merge, stored_reports

    report = merge(paths or stored_reports(folder), strict)
    return shell.deliver(report, form, outputs, exit_zero=exit_zero)


def _row(run: StoredRun) -> tuple[str, ...]:
    return (run.path, run.variant or "", run.scope or "", _what(run), _age(run.age), _size(run.size))


def _what(run: StoredRun) -> str:
    """Short description of the run's state and its findings."""
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
    """Bytes, in units of 1024."""
    if number < 1024:
        return f"{number} B"
    return f"{number / 1024:,.0f} KiB" if number < 2**20 else f"{number / 2**20:,.1f} MiB"


# ----------------------------------------------------------------------------------- config


class Chosen(Record, frozen=True):
    """One option of a command. source: where its value comes from, in words."""

    name: str
    value: Any
    source: str


@click.command(cls=Verb, context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@format_option
@click.argument("command", default="check", shell_complete=completer(commands))
@click.argument("arguments", metavar="[OPTIONS OF COMMAND]", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def config(ctx: click.Context, /, form: str, command: str, arguments: tuple[str, ...]) -> ExitCode:
    """Show the settings COMMAND (check) would use, and where each value comes from.

    An option comes from the command line, the environment, the settings file or a built-in default; a
    setting of the model from --set (or --reduce), the scope, the variant or a built-in default. Hides
    built-in defaults unless -v is given.
    """
    shell: Shell = ctx.obj
    chosen, selection = _chosen(ctx, command, arguments)
    values: tuple[Effective, ...] = ()
    if selection is not None:
        from elrcheck.catalogue.effective import effective

        values = effective(selection)
    if form == "json":
        import json

        from elrcheck.report.json_report import as_data

        document = {"command": command, "options": as_data(chosen), "model": as_data(values)}
        shell.write(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
        return ExitCode.HOLDS
    page, all_of_it = shell.page(), shell.detail > 0
    named = ("--variant", "--scope")
    options = [one for one in chosen if all_of_it or one.source != "default" or one.name in named]
    page.table(("option", "value", "from"), ((one.name, _text(one.value), one.source) for one in options))
    shown = [value for value in values if all_of_it or value.source != "default"]
    page.table(("setting", "value", "from"), ((one.name, _text(one.value), one.source) for one in shown))
    hidden = len(chosen) - len(options) + len(values) - len(shown)
    if hidden:
        shell.note(f"{hidden} more have built-in values: `elrcheck -v config` shows them")
    return ExitCode.HOLDS


def _chosen(ctx: click.Context, name: str, arguments: tuple[str, ...]) -> tuple[tuple[Chosen, ...], Selection | None]:
    """The options of a command with their effective values, and its selection if it has one."""
    group, above = ctx.find_root().command, ctx.find_root()
    assert isinstance(group, click.Group)
    _, command, _ = group.resolve_command(above, [name])
    if command is None or isinstance(command, click.Group):
        raise UsageFault("usage-unknown-command", f"`{name}` has no options of its own", help="try check")
    with command.make_context(name, list(arguments), parent=above) as inner:
        chosen = tuple(
            Chosen(option.opts[0], _plain(inner.params[option.name]), _source(inner, option.name))
            for option in command.params
            if isinstance(option, click.Option) and option.name in inner.params
        )
        given = inner.params
        has_selection = {"variant", "scope", "overrides"} <= set(given)
        reductions = REDUCTIONS if given.get("reduce") else ()
        selection = (
            Selection(given["variant"], given["scope"], (*reductions, *given["overrides"])) if has_selection else None
        )
    return chosen, selection


def _source(ctx: click.Context, name: str) -> str:
    match ctx.get_parameter_source(name):
        case ParameterSource.COMMANDLINE:
            return "command line"
        case ParameterSource.ENVIRONMENT:
            return "environment"
        case ParameterSource.DEFAULT_MAP:
            return "settings file"
    return "default"


def _plain(value: Any) -> Any:
    """Converts an option's value to JSON types."""
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _text(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case list():
            return ", ".join(_text(part) for part in value)
    return str(value)
