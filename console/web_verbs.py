"""`elrcheck web`: the explorer in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from elrcheck.base.errors import ExitCode, UsageFault
from elrcheck.console.completion import completer, stored_traces
from elrcheck.console.help import Verb
from elrcheck.console.options import EXIT_CODES, chosen_selection, named_selection, selection_options
from elrcheck.console.shell import Shell


@click.command(cls=Verb, epilog=EXIT_CODES)
@click.option(
    "--trace",
    metavar="FILE",
    type=click.Path(path_type=Path),
    shell_complete=completer(stored_traces, "file"),
    help="Begin with this trace, in any notation of `replay`, or the first one of a run folder.",
)
@click.option("--repro", metavar="0/3/1", help="Begin at the end of this path of action indices.")
@click.option(
    "--port",
    metavar="N",
    type=click.IntRange(0, 65535),
    default=0,
    show_default="a free one",
    help="Port on this machine.",
)
@click.option("--open/--no-open", "opens", default=True, help="Open the page in a browser.")
@selection_options
@click.pass_obj
def web(shell: Shell, /, trace: Path | None, repro: str | None, port: int, opens: bool, **options: Any) -> ExitCode:
    """Explore a scope in the browser: click actions, see the state, run to a violation.

    Prints the address of the page and serves it until Ctrl-C (exit code 130). Only this machine can reach it,
    and it reaches no other. The address of a state holds the whole path to it.
    """
    if trace is not None and repro is not None:
        raise UsageFault("usage-option", "--trace and --repro cannot be combined", help="give one of them")
    from elrcheck.commands.web.web import WebRequest, run_web
    from elrcheck.traces.loaded import Given

    named = named_selection()
    given = Given(chosen_selection(options), named)
    run_web(WebRequest(given, port, opens, trace, repro or ""), shell.write)
    return ExitCode.HOLDS
