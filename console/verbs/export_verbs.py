"""Verbs that pass the model, a trace or a finding to other tools: export and tlc."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

from elrcheck.base.errors import ExitCode, UsageFault
from elrcheck.base.option import Option
from elrcheck.console.help import Commands
from elrcheck.console.output import PLAIN_REPORT, Output, format_option
from elrcheck.console.shell import Shell
from elrcheck.console.verb import verb

if TYPE_CHECKING:
    from elrcheck.base.kafka_requests import UpstreamRequest
    from elrcheck.base.proof_requests import TlcRequest
    from elrcheck.base.requests import Selection, TraceFormat

export = Commands("export", help="Export the model or a trace in another notation.")

Folder: TypeAlias = Annotated[Path, Option("Output folder; created if it does not exist.", kind="folder")]


def _missing(what: str, command: str) -> UsageFault:
    return UsageFault("usage-missing", what, help=f"see `elrcheck {command} --help`")


@verb(requests="requests")
def spec(
    shell: Shell,
    selection: Selection,
    out: Folder,
    symmetry: Annotated[
        bool, Option("Write SYMMETRY into the configuration: TLC then searches up to renaming.")
    ] = False,
    whole: Annotated[
        bool,
        Option(
            "Write all rules and witnesses, with each setting as a constant, not only what this variant and scope use."
        ),
    ] = False,
) -> ExitCode:
    """Export the model as a TLA+ module with its TLC configuration.

    The module is for reading: it is specialised for the variant and scope, and omits actions that cannot happen,
    fields that never change and unused operators. --whole writes the module for every setting.
    """
    from elrcheck.commands.export import export_spec

    for path in export_spec(selection, out, symmetry, whole):
        shell.write_line(f"{path}")
    return ExitCode.HOLDS


@verb(requests="requests")
def trace(
    shell: Shell,
    *,
    path: Annotated[Path | None, Option(kind="path", complete="stored_traces", otherwise="file", argument=True)] = None,
    repro: Annotated[str | None, Option("The trace as action indices, instead of PATH.", metavar="0/3/1")] = None,
    form: Annotated[
        TraceFormat, format_option("Notation; tla writes a module with which TLC confirms or rejects the trace.")
    ] = "tla",
    selection: Selection,
    out: Folder,
) -> ExitCode:
    """Export a stored trace as TLA+, ITF, JSON, Mermaid or DOT.

    A stored trace names its own variant and scope; the options for them apply only with --repro.
    """
    if (path is None) == (repro is None):
        raise _missing("give either PATH or --repro", "export trace")
    from elrcheck.commands.export import export_trace

    for file in export_trace(path, repro, selection, form, out):
        shell.write_line(f"{file}")
    return ExitCode.HOLDS


@verb(of_kafka=True)
def junit(
    shell: Shell,
    what: Annotated[str, Option(metavar="TRACE|FINDING", complete="stored_traces", otherwise="file", argument=True)],
    property: Annotated[
        str | None,
        Option(
            "Property that the test asserts at its end; by default the one that TRACE violates, or the first that"
            " FINDING breaks and a test can state.",
            metavar="P-1",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        Option(
            "Java file to write, named after its class, or a folder for it; by default elrcheck prints the test.",
            flags="--out -o",
            metavar="FILE",
            kind="path",
        ),
    ] = None,
) -> ExitCode:
    """Export a trace as a JUnit test of Kafka's controller or broker classes.

    The test repeats the controller's steps of a trace file, or of the shortest trace of a finding such as
    F-20, and ends with the property as an assertion: it fails if Kafka does what the trace says. Steps of
    brokers become comments. Where the leader is at fault, as in F-51, the test drives
    kafka.cluster.Partition. The file needs Kafka's released jars, 4.0.0 or newer, and JUnit 5.
    """
    from elrcheck.kafka.junit.export_junit import export_junit

    with shell.open_progress() as progress:
        test = export_junit(what, property, out, progress)
    if out is None:
        shell.write(test.text)
    else:
        shell.write_line(str(test.written))
    return ExitCode.HOLDS


@verb(requests="kafka_requests", formats=PLAIN_REPORT, of_kafka=True)
def upstream(shell: Shell, request: UpstreamRequest, output: Output) -> ExitCode:
    """Write a finding as an issue for Kafka's tracker, with a change and a test for its repository.

    `change.patch` applies to the sources of a release; the test extends a test class of Kafka's.  With
    --run, Kafka's tests of the changed classes run from its released jars: the new test must fail without
    the change and pass with it, and the change may break no other test.  Needs Maven and a JDK.
    """
    from elrcheck.kafka.upstream.export_upstream import export_upstream

    return shell.run(lambda progress: export_upstream(request, progress), output)


export.add_command(spec)
export.add_command(trace)
export.add_command(junit)
export.add_command(upstream)


@verb(requests="proof_requests", formats=PLAIN_REPORT)
def tlc(shell: Shell, request: TlcRequest, output: Output) -> ExitCode:
    """Confirm the traces of a RUN with TLC, or compare state counts."""
    if request.run is None and not request.count:
        raise _missing("give a RUN to confirm, or --count", "tlc")
    from elrcheck.commands.export import run_tlc

    return shell.run(lambda progress: run_tlc(request, progress), output)
