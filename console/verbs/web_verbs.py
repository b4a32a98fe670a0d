"""`elrcheck web` and `repl`: a model explored in the browser, and in Python."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from elrcheck.base.errors import ExitCode, UsageFault
from elrcheck.base.option import Option
from elrcheck.console.shell import Shell
from elrcheck.console.verb import EXIT_CODES, selection_of_trace, verb

if TYPE_CHECKING:
    from elrcheck.base.requests import Selection


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
    from elrcheck.commands.web.web import WebRequest, run_web

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
