"""Verbs about one trace: replay and explain."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from elrcheck.base.common_options import Properties, Repro
from elrcheck.base.errors import ExitCode
from elrcheck.base.option import Option
from elrcheck.console.output import CASES, PAGE, Output
from elrcheck.console.shell import Shell
from elrcheck.console.verb import selection_of_trace, verb
from elrcheck.console.verbs.trace_options import FileFormat, OptionalTraceFile, SourceFormat, trace_file

if TYPE_CHECKING:
    from elrcheck.base.requests import Selection


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
    from elrcheck.commands.trace.replay_file import run_replay

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
    from elrcheck.stored_traces.followed_trace import subject_of

    subject = subject_of(path, repro, selection_of_trace(selection), source_format)
    report = run_explain(subject, ExplainQuestion(properties, action, at))
    return shell.deliver(report, output)
