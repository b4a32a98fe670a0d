"""Verbs about traces: replay and explain, and below `elrcheck trace` show, diff, minimise, sample and step."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from elrcheck.base.common_options import Properties, Repro, Seed
from elrcheck.base.errors import ExitCode, UsageFault
from elrcheck.base.option import Option
from elrcheck.console.help import Commands
from elrcheck.console.output import CASES, PAGE, PLAIN_REPORT, Output
from elrcheck.console.shell import Shell
from elrcheck.console.verb import selection_of_trace, verb

if TYPE_CHECKING:
    from elrcheck.base.requests import Selection, TraceFilters
    from elrcheck.results.trace_reports import TraceReport


SourceFormat: TypeAlias = Literal["elrcheck", "itf", "tlc-json", "tlc-text"]
Notation: TypeAlias = Literal["trace", "tla", "itf", "mermaid", "dot"]


def trace_file(metavar: str = "FILE") -> Option:
    """Return an argument that is a stored trace, or a file in another notation."""
    return Option(metavar=metavar, kind="path", complete="stored_traces", otherwise="file", argument=True)


OptionalTraceFile: TypeAlias = Annotated[Path | None, trace_file("[FILE]")]
FileFormat: TypeAlias = Annotated[
    SourceFormat | None, Option("Notation of FILE; by default detected from its content.", flags="--file-format")
]
Expressions: TypeAlias = Annotated[
    tuple[str, ...],
    Option(
        "Also show the value of EXPR, in the modelling language over the state s, such as len(s.partition.isr)",
        flags="--eval",
        metavar="EXPR",
    ),
]
As: TypeAlias = Annotated[
    Notation | None, Option("Print the trace in this notation instead of a report.", flags="--as")
]
Save: TypeAlias = Annotated[Path | None, Option("Store the trace in the format `check` uses.", kind="file")]


traces = Commands("trace", help="Show, compare, shorten, sample and build traces.")


@verb(requests="requests", formats=PLAIN_REPORT)
def show(
    shell: Shell,
    selection: Selection,
    output: Output,
    *,
    path: OptionalTraceFile = None,
    repro: Repro = None,
    source_format: FileFormat = None,
    filters: TraceFilters,
    expressions: Expressions = (),
    notation: As = None,
    save: Save = None,
) -> ExitCode:
    """Show a trace, step by step, with the changes of each step.

    Replays the trace in the model first; use `elrcheck replay` for a trace that the model refuses.
    """
    from elrcheck.commands.trace import show as viewing
    from elrcheck.stored_traces.recorded import subject_of

    if notation is not None and expressions:
        raise UsageFault("usage-eval", "--eval adds to a report: leave out --as")
    subject = subject_of(path, repro, selection_of_trace(selection), source_format)
    text = None if notation is None else viewing.written(subject, notation, filters)
    report = viewing.show(subject, filters, save=save, expressions=expressions)
    if notation == "tla":
        shell.note("only the witness module; `elrcheck export trace` writes all files that TLC needs")
    return _deliver(shell, output, report, text)


@verb(requests="requests", formats=PLAIN_REPORT)
def diff(
    shell: Shell,
    a: Annotated[Path, trace_file("A")],
    b: Annotated[Path, trace_file("B")],
    selection: Selection,
    output: Output,
) -> ExitCode:
    """Show where two traces diverge, and how they differ from there on.

    Exits with 1 when they differ.
    """
    from elrcheck.commands.trace import diff as difference
    from elrcheck.stored_traces.recorded import subject_of

    model = selection_of_trace(selection)
    report = difference.diff(subject_of(a, None, model), subject_of(b, None, model))
    return shell.deliver(report, output)


@verb(requests="requests", formats=PLAIN_REPORT)
def minimise(
    shell: Shell,
    selection: Selection,
    output: Output,
    path: OptionalTraceFile = None,
    repro: Repro = None,
    property: Annotated[
        str | None,
        Option(
            "Property that the shorter trace must still violate.",
            flags="--property -p",
            metavar="ID",
            complete="properties",
        ),
    ] = None,
    search: Annotated[bool, Option("Then search exhaustively for a shorter trace.")] = False,
    time_budget: Annotated[float, Option("Time for that search.", metavar="90s|5m", kind="duration")] = 60.0,
    notation: As = None,
    save: Save = None,
) -> ExitCode:
    """Remove what is not needed to violate a property: steps, then members of sorts such as brokers."""
    from elrcheck.commands.trace import show as viewing
    from elrcheck.commands.trace.minimise import minimise as shorten
    from elrcheck.stored_traces.recorded import subject_of

    subject = subject_of(path, repro, selection_of_trace(selection))
    with shell.open_progress() as progress:
        subject, steps = shorten(subject, property, progress, search, time_budget, selection)
    report = viewing.show(subject, shortened=steps, save=save)
    text = None if notation is None else viewing.written(subject, notation)
    return _deliver(shell, output, report, text)


@verb(requests="requests", formats=PLAIN_REPORT)
def sample(
    shell: Shell,
    selection: Selection,
    output: Output,
    *,
    seed: Seed = None,
    depth: Annotated[
        int, Option("Number of steps; fewer if no action is enabled within the budgets.", least=1, most=100_000)
    ] = 20,
    filters: TraceFilters,
    notation: As = None,
    save: Save = None,
) -> ExitCode:
    """Show a random trace; the same seed gives the same trace."""
    import secrets

    from elrcheck.commands.trace import show as viewing

    seed = secrets.randbits(32) if seed is None else seed
    subject = viewing.sample(selection_of_trace(selection), seed, depth)
    text = None if notation is None else viewing.written(subject, notation, filters)
    report = viewing.show(subject, filters, seed=seed, save=save)
    return _deliver(shell, output, report, text)


@verb(requests="requests")
def step(shell: Shell, *, path: OptionalTraceFile = None, repro: Repro = None, selection: Selection) -> ExitCode:
    """Walk through a scope by hand, choosing enabled actions from a menu.

    Starts in the initial state, or at the end of a trace. Reads commands from stdin, so a script can be piped
    in; a mistake in piped input ends the run with exit code 2.
    """
    from elrcheck.commands.trace.step import step as walk
    from elrcheck.report.plain_words import several
    from elrcheck.stored_traces.recorded import subject_of

    if path is None and repro is None:
        repro = ""
    subject = subject_of(path, repro, selection_of_trace(selection))
    interactive = sys.stdin is not None and sys.stdin.isatty()

    def read() -> str | None:
        if interactive:
            shell.write("> ")
        try:
            return sys.stdin.readline(10_000) or None if sys.stdin is not None else None
        except UnicodeDecodeError as fault:
            raise UsageFault("step-command", "the commands are not text", where="<stdin>") from fault

    reached = walk(subject, read, shell.write, interactive)
    repro = f"  --repro {reached.repro}" if reached.repro else ""
    shell.write(f"\n{several(len(reached.labels), 'step')}{repro}\n")
    return ExitCode.HOLDS


def _deliver(shell: Shell, output: Output, report: TraceReport, text: str | None) -> ExitCode:
    """Print the text of the trace in another notation, else the report."""
    if text is None:
        return shell.deliver(report, output)
    shell.write(text)
    return ExitCode.HOLDS


traces.add_command(show)
traces.add_command(diff)
traces.add_command(minimise)
traces.add_command(sample)
traces.add_command(step)


@verb(requests="requests", formats=CASES)
def replay(
    shell: Shell,
    output: Output,
    *,
    path: Annotated[Path, trace_file()],
    source_format: Annotated[
        SourceFormat | None, Option("Notation of FILE; by default detected from its content.", flags="--from")
    ] = None,
    selection: Selection,
) -> ExitCode:
    """Replay a recorded trace in the model.

    Reads stored traces, ITF (Apalache, Quint), TLC's -dumpTrace json and TLC's printed output. A trace that
    the model refuses is a finding: the report shows the accepted prefix and, for every action, the guard that
    failed.

    A trace that names its variant and scope is replayed there unless options override them.
    """
    from elrcheck.commands.trace.show import run_replay

    report = run_replay(path, selection_of_trace(selection), source_format)
    return shell.deliver(report, output)


@verb(requests="requests", formats=PAGE)
def explain(
    shell: Shell,
    selection: Selection,
    output: Output,
    path: OptionalTraceFile = None,
    repro: Repro = None,
    source_format: FileFormat = None,
    properties: Properties = (),
    action: Annotated[
        str | None,
        Option(
            "Explain why this action is not enabled, instead of a property.", metavar="NAME[(ARGS)]", complete="actions"
        ),
    ] = None,
    at: Annotated[
        int | None, Option("State to explain, from 0; by default where the property first fails, else the last.")
    ] = None,
) -> ExitCode:
    """Explain why a property fails or holds in a state, or why an action is not enabled there.

    Shows the deciding part of the formula, for which broker or offset, and the values it reads. Exits with 1
    when a property fails or the action is not enabled.
    """
    from elrcheck.commands.trace.explain import ExplainQuestion, run_explain
    from elrcheck.stored_traces.recorded import subject_of

    subject = subject_of(path, repro, selection_of_trace(selection), source_format)
    report = run_explain(subject, ExplainQuestion(properties, action, at))
    return shell.deliver(report, output)
