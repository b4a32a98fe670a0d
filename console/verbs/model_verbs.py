"""Verbs about a model: fork and diff below `elrcheck model`, web, and repl."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from elrcheck.base.errors import ExitCode, UsageFault
from elrcheck.base.option import Option
from elrcheck.console.help import Commands
from elrcheck.console.output import VERDICT, Output
from elrcheck.console.shell import Shell
from elrcheck.console.verb import EXIT_CODES, selection_of_trace, verb

if TYPE_CHECKING:
    from elrcheck.base.common_options import ModelFile, PatchFile
    from elrcheck.base.requests import ModelDiffRequest, Selection


models = Commands("model", help="Copy a model to change it, and compare two.")


@verb(requests="requests")
def fork(
    shell: Shell,
    folder: Annotated[Path, Option(metavar="DIR", argument=True, kind="folder")],
    *,
    model: ModelFile = None,
    patch: PatchFile = None,
) -> ExitCode:
    """Copy Kafka's model into a new folder, to change its rules there.

    The copy is a model for --model, with the variants and scopes of Kafka's partition. Refuses a folder that is not
    empty. --model copies another model, --patch one with a diff applied.
    """
    from elrcheck.commands.new_model import write_fork
    from elrcheck.report.plain_words import several

    paths = write_fork(folder, model, patch)
    shell.write_line(f"wrote    {folder}: {several(len(paths), 'file')}")
    scope = " --scope two-brokers" if model is None else ""
    shell.note(f"next: change a rule, then `elrcheck check --model {folder}{scope}`")
    return ExitCode.HOLDS


@verb(requests="requests", formats=VERDICT)
def diff(shell: Shell, request: ModelDiffRequest, output: Output) -> ExitCode:
    """Show what differs between two models: verdicts, counts, traces, guards.

    A and B are each a file or folder with a model, a .diff of one, `kafka`, a variant, or MODEL@VARIANT. Searches
    both, then looks for the shortest trace that one has and the other refuses, step by step in plain Python, for at
    most two minutes unless --time-budget says otherwise. Exits with 0 if they are the same, with 1 if they differ.
    """
    from elrcheck.commands.model_diff import run_model_diff

    return shell.run(lambda progress: run_model_diff(request, progress), output)


models.add_command(fork)
models.add_command(diff)


@verb(requests="requests", epilog=EXIT_CODES)
def web(
    shell: Shell,
    *,
    trace: Annotated[
        Path | None,
        Option(
            "Begin with this trace, in any notation of `replay`, or the first one of a run folder.",
            metavar="FILE",
            kind="path",
            complete="stored_traces",
            otherwise="file",
        ),
    ] = None,
    repro: Annotated[str | None, Option("Begin at the end of this path of action indices.", metavar="0/3/1")] = None,
    port: Annotated[int, Option("Port on this machine.", least=0, most=65535, show_default="a free one")] = 0,
    opens: Annotated[bool, Option("Open the page in a browser.", flags="--open")] = True,
    selection: Selection,
) -> ExitCode:
    """Explore a scope in the browser: click actions, see the state, run to a violation.

    Prints the address of the page and serves it until Ctrl-C (exit code 130). Only this machine can reach the
    page, and the page loads nothing from elsewhere. The address of a state holds the whole path to it.
    """
    from elrcheck.commands.web.web_api import WebRequest, run_web

    if trace is not None and repro is not None:
        raise UsageFault("usage-option", "--trace and --repro cannot be combined", help="give one of them")
    run_web(WebRequest(selection_of_trace(selection), port, opens, trace, repro or ""), shell.write)
    return ExitCode.HOLDS


@verb(requests="requests", epilog=EXIT_CODES)
def repl(shell: Shell, *, selection: Selection) -> ExitCode:
    """Open Python with a walk through the model.

    `walk` begins in the initial state; `walk.step("Fence(1)")` returns a longer one, and refuses an action that is not
    enabled, naming its guard. A program piped to stdin runs like a file; if it ends with a fault, the exit code is 2.
    """
    from elrcheck.api.model_walk import walk_from
    from elrcheck.console.python_console import run_console

    return ExitCode.HOLDS if run_console(walk_from(selection, 0)) else ExitCode.DID_NOT_RUN
