"""Verbs for continuous integration: gate and init."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from elrcheck.base.errors import ExitCode
from elrcheck.base.requests import GATE_FAIL_ON, GateFailOn
from elrcheck.console.completion import completer, configurations, entries
from elrcheck.console.help import Verb
from elrcheck.console.options import (
    EXIT_CODES,
    chosen_selection,
    fail_on_option,
    located_options,
    property_option,
    reject_given,
    selection_options,
    workers_option,
)
from elrcheck.console.shell import Shell

BASELINE = "elrcheck-baseline.toml"
_ENTRY = (
    "variant",
    "scope",
    "overrides",
    "properties",
    "liveness",
    "max_depth",
    "max_states",
    "proof",
    "teeth",
    "controller",
)


@click.command(cls=Verb, epilog=EXIT_CODES)
@click.option(
    "--baseline",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    default=BASELINE,
    show_default=True,
    help="Baseline file to compare with.",
)
@click.option(
    "--only",
    metavar="NAME",
    multiple=True,
    shell_complete=completer(entries),
    help="Run only this entry; may be repeated.",
)
@fail_on_option(GATE_FAIL_ON, "drift")
@click.option("--update-baseline", is_flag=True, help="Write the results to the baseline.")
@click.option(
    "--add", metavar="NAME", help="Add an entry, defined by the options below; creates the baseline if there is none."
)
@selection_options
@property_option
@click.option("--liveness", is_flag=True, help="Check the liveness properties (V-*) instead of the others.")
@click.option("--max-depth", metavar="N", type=click.IntRange(min=1), help="Stop after this many steps.")
@click.option("--max-states", metavar="N", type=click.IntRange(min=1), help="Stop beyond this many distinct states.")
@click.option("--proof", is_flag=True, help="Also prove the properties, as `elrcheck prove` does.")
@click.option("--teeth", is_flag=True, help="Also run the guard survey, as `elrcheck mutate --guards` does.")
@click.option(
    "--controller", is_flag=True, help="Also prove the controller's rules, as `elrcheck prove --controller` does."
)
@click.option(
    "--suite",
    metavar="NAME|GLOB",
    multiple=True,
    shell_complete=completer(configurations),
    help="Add these configurations of the suite, or a family; may be repeated.",
)
@click.option(
    "--kept", is_flag=True, help="Believe what earlier runs have left in the store; by default everything is made anew."
)
@workers_option
@located_options
@click.pass_context
def gate(
    ctx: click.Context,
    /,
    form: str,
    outputs: Sequence[tuple[str, Path]],
    exit_zero: bool,
    baseline: Path,
    only: tuple[str, ...],
    fail_on: tuple[GateFailOn, ...],
    update_baseline: bool,
    add: str | None,
    suite: tuple[str, ...],
    workers: int | None,
    kept: bool,
    **options: Any,
) -> ExitCode:
    """Compare with a committed baseline: verdicts, exact counts, coverage, proofs.

    Runs every entry of the baseline again. Exits with 1 when a result differs from the baseline, with 2
    when there is no baseline, with 5 when it is empty. --update-baseline writes the results and exits with 0.
    """
    from elrcheck.base.proof_requests import GateRequest, NewEntry
    from elrcheck.commands.gate.gate import run_gate

    if add is None:
        reject_given(ctx, (*_ENTRY, "suite"), "--add")
    if suite:
        reject_given(ctx, _ENTRY, "an entry that is no suite")
    selection = chosen_selection(options)
    entry = None if add is None else NewEntry(add, selection, suite=suite, **options)
    request = GateRequest(baseline, only, entry, update_baseline, fail_on, workers, kept)
    shell: Shell = ctx.obj
    with shell.open_progress() as progress:
        report = run_gate(request, progress)
    return shell.deliver(report, form, outputs, exit_zero=exit_zero)


@click.command(cls=Verb)
@click.option("--force", is_flag=True, help="Overwrite existing files.")
@click.option(
    "--directory",
    "-C",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    default=".",
    help="Folder to write to; by default the current one.",
)
@click.option(
    "--install-from",
    metavar="URL",
    help="What the workflow installs, by commit or hash; by default what is installed here.",
)
@click.pass_obj
def init(shell: Shell, /, force: bool, directory: Path, install_from: str | None) -> ExitCode:
    """Write settings, a CI workflow and a pre-commit hook.

    Writes elrcheck.toml, elrcheck-baseline.toml, .github/workflows/elrcheck.yml and
    .pre-commit-config.yaml, all with comments, and a line in .gitignore for the folder of runs. Keeps
    existing files unless --force is given.
    """
    from elrcheck.base.origin import checked, installed_from
    from elrcheck.commands.init import WORKFLOW_PATH, start

    origin = installed_from() if install_from is None else checked(install_from, "--install-from")
    for path, what in start(directory, force, origin):
        shell.write_line(f"{what:<8} {path}")
    if origin is None:
        shell.note(f"this elrcheck was installed from this machine: say in {WORKFLOW_PATH} where CI gets it")
    shell.note("next: `elrcheck gate --update-baseline`, then commit these files")
    return ExitCode.HOLDS
