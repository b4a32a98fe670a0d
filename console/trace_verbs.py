"""Commands about traces: replay, trace and explain.

They belong to the group in `cli.py`, which adds them; the same rules hold here.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from elrcheck.base.errors import ExitCode, UsageFault
from elrcheck.console.completion import actions, completer, properties, stored_traces
from elrcheck.console.help import Commands, Verb
from elrcheck.console.options import (
    EXIT_CODES,
    case_options,
    chosen_selection,
    duration,
    output_options,
    page_options,
    property_option,
    selection_options,
)
from elrcheck.console.shell import Shell

if TYPE_CHECKING:
    from elrcheck.commands.trace.show import Filters
    from elrcheck.traces.loaded import Given

FROM_FORMATS = ("elrcheck", "itf", "tlc-json", "tlc-text")

file_argument = click.argument("path", metavar="FILE", type=click.Path(path_type=Path),
                               shell_complete=completer(stored_traces, "file"))  # fmt: skip
from_option = click.option("--from", "source_format", type=click.Choice(FROM_FORMATS),
                           help="The notation of FILE; otherwise told from its contents.")  # fmt: skip


def _given(options: dict[str, Any]) -> Given:
    """Takes the selection options out of a command's options, and notes which were given."""
    from elrcheck.traces.loaded import Given

    ctx = click.get_current_context()
    said = click.core.ParameterSource.COMMANDLINE
    named = {name for name in ("variant", "scope") if ctx.get_parameter_source(name) is said}
    return Given(chosen_selection(options), frozenset(named))


@click.command(cls=Verb, epilog=EXIT_CODES)
@file_argument
@from_option
@selection_options
@case_options
@click.pass_obj
def replay(shell: Shell, /, form: str, outputs: Sequence[tuple[str, Path]], exit_zero: bool, path: Path,
           source_format: Any, **options: Any) -> ExitCode:  # fmt: skip
    """Follow a recorded trace in the model.

    Reads our stored traces, ITF (Apalache, Quint), TLC's -dumpTrace json and what TLC prints. A refused trace
    is a finding: the report has the part that was accepted and, for every action, the guard that refused it.

    A trace that names its own variant and scope is followed there, unless options say otherwise.
    """
    from elrcheck.commands.trace.replay_file import run_replay

    report = run_replay(path, _given(options), source_format)
    return shell.deliver(report, form, outputs, exit_zero=exit_zero)


# ------------------------------------------------------------------------------------- trace


@click.group(name="trace", cls=Commands)
def traces() -> None:
    """Show, compare, shorten, sample and make traces."""


subject_argument = click.argument("path", metavar="[FILE]", required=False, type=click.Path(path_type=Path),
                                  shell_complete=completer(stored_traces, "file"))  # fmt: skip
repro_option = click.option("--repro", metavar="0/3/1", help="A trace as action indices, instead of FILE.")
save_option = click.option("--save", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path),
                           help="Store the trace, as `check` does.")  # fmt: skip
seed_option = click.option("--seed", metavar="N", type=click.IntRange(0, 2**64 - 1),
                           help="What chance follows from; otherwise one is drawn and printed.")  # fmt: skip
NOTATIONS = ("trace", "tla", "itf", "mermaid", "dot")
notation_option = click.option("--as", "notation", type=click.Choice(NOTATIONS),
                               help="Print the trace in this notation instead of a report.")  # fmt: skip


def filter_options(function: Any) -> Any:
    """Which part of a trace is shown."""
    for option in (
        click.option("--to", "last", metavar="N", type=int, help="Up to this step."),
        click.option("--from", "first", metavar="N", type=int, help="From this step on."),
        click.option("--hide", metavar="LEAF", multiple=True, help="Without these leaves; may be repeated."),
        click.option("--only", metavar="LEAF", multiple=True,
                     help="Only these leaves of the state: isr, broker[1], or a glob; may be repeated."),
    ):  # fmt: skip
        function = option(function)
    return function


eval_option = click.option(
    "--eval", "expressions", metavar="EXPR", multiple=True,
    help="Also the value of EXPR, in the modelling language over the state s: len(s.partition.isr); "
    "may be repeated.",
)  # fmt: skip
format_file_option = click.option("--file-format", "source_format", type=click.Choice(FROM_FORMATS),
                                  help="The notation of FILE; otherwise told from its contents.")  # fmt: skip


def _filters(options: dict[str, Any]) -> Filters:
    from elrcheck.commands.trace.show import Filters

    return Filters(*(options.pop(name) for name in ("only", "hide", "first", "last")))


@traces.command(epilog=EXIT_CODES)
@subject_argument
@repro_option
@format_file_option
@filter_options
@eval_option
@notation_option
@save_option
@selection_options
@output_options
@click.pass_obj
def show(shell: Shell, /, form: str, outputs: Sequence[tuple[str, Path]], exit_zero: bool,
         path: Path | None, repro: str | None, source_format: Any, notation: str | None, save: Path | None,
         expressions: tuple[str, ...], **options: Any) -> ExitCode:  # fmt: skip
    """A trace, each step with what it changed.

    It is followed in the model first; a file that the model refuses is for `elrcheck replay`.
    """
    from elrcheck.commands.trace import show as viewing
    from elrcheck.traces.subject import subject_of

    if notation is not None and expressions:
        raise UsageFault("usage-eval", "--eval is part of a report: leave out --as")
    filters = _filters(options)
    subject = subject_of(path, repro, _given(options), source_format)
    if notation is not None:
        text = viewing.written(subject, notation, filters)
        viewing.show(subject, filters, save=save)
        if notation == "tla":
            shell.note("only the witness; `elrcheck export trace` writes all that TLC needs")
        shell.write(text)
        return ExitCode.HOLDS
    report = viewing.show(subject, filters, save=save, expressions=expressions)
    return shell.deliver(report, form, outputs, exit_zero=exit_zero)


@traces.command(epilog=EXIT_CODES)
@click.argument("a", metavar="A", type=click.Path(path_type=Path),
                shell_complete=completer(stored_traces, "file"))
@click.argument("b", metavar="B", type=click.Path(path_type=Path),
                shell_complete=completer(stored_traces, "file"))
@selection_options
@output_options
@click.pass_obj
def diff(shell: Shell, /, form: str, outputs: Sequence[tuple[str, Path]], exit_zero: bool, a: Path, b: Path,
         **options: Any) -> ExitCode:  # fmt: skip
    """Where two traces part, and what differs from there on.

    Exits with 1 when they differ.
    """
    from elrcheck.commands.trace import diff as difference
    from elrcheck.traces.subject import subject_of

    given = _given(options)
    report = difference.diff(subject_of(a, None, given), subject_of(b, None, given))
    return shell.deliver(report, form, outputs, exit_zero=exit_zero)


@traces.command(epilog=EXIT_CODES)
@subject_argument
@repro_option
@click.option("--property", "-p", "wanted", metavar="ID", shell_complete=completer(properties),
              help="The property that must still break.")
@click.option("--search", is_flag=True, help="Then search for a shorter one, so that there is none.")
@click.option("--time-budget", metavar="90s|5m", type=duration, default="60s", show_default=True,
              help="For that search.")
@notation_option
@save_option
@selection_options
@output_options
@click.pass_obj
def minimise(shell: Shell, /, form: str, outputs: Sequence[tuple[str, Path]], exit_zero: bool,
             path: Path | None, repro: str | None, wanted: str | None, search: bool, time_budget: float,
             notation: str | None, save: Path | None, **options: Any) -> ExitCode:  # fmt: skip
    """Leave out what is not needed to break a property: steps, then brokers."""
    from elrcheck.commands.trace import show as viewing
    from elrcheck.commands.trace.minimise import minimise as shorten
    from elrcheck.traces.subject import subject_of

    subject = subject_of(path, repro, _given(options))
    with shell.open_progress() as progress:
        subject, done = shorten(subject, wanted, progress, search, time_budget)
    report = viewing.show(subject, shortened=done, save=save)
    if notation is not None:
        shell.write(viewing.written(subject, notation, viewing.Filters()))
        return ExitCode.HOLDS
    return shell.deliver(report, form, outputs, exit_zero=exit_zero)


@traces.command(epilog=EXIT_CODES)
@seed_option
@click.option("--depth", metavar="N", type=click.IntRange(1, 100_000), default=20, show_default=True,
              help="Steps; fewer where nothing is possible within the budgets.")
@filter_options
@notation_option
@save_option
@selection_options
@output_options
@click.pass_obj
def sample(shell: Shell, /, form: str, outputs: Sequence[tuple[str, Path]], exit_zero: bool,
           seed: int | None, depth: int, notation: str | None, save: Path | None,
           **options: Any) -> ExitCode:  # fmt: skip
    """A random trace; the same seed gives the same one."""
    import secrets

    from elrcheck.commands.trace import show as viewing

    filters = _filters(options)
    seed = secrets.randbits(32) if seed is None else seed
    subject = viewing.sample(_given(options), seed, depth)
    report = viewing.show(subject, filters, seed=seed, save=save)
    if notation is not None:
        shell.write(viewing.written(subject, notation, filters))
        return ExitCode.HOLDS
    return shell.deliver(report, form, outputs, exit_zero=exit_zero)


@traces.command()
@subject_argument
@repro_option
@selection_options
@click.pass_obj
def step(shell: Shell, /, path: Path | None, repro: str | None, **options: Any) -> ExitCode:
    """Walk through a scope by hand: the enabled actions as a menu.

    Starts in the initial state, or at the end of a trace. Reads commands from stdin, so a script can be piped
    in; from a pipe a mistake ends the run with exit code 2.
    """
    from elrcheck.commands.trace.step import step as walk
    from elrcheck.traces.subject import subject_of

    if path is None and repro is None:
        repro = ""
    subject = subject_of(path, repro, _given(options))
    patient = sys.stdin is not None and sys.stdin.isatty()

    def read() -> str | None:
        if patient:
            shell.write("> ")
        try:
            return sys.stdin.readline(10_000) or None if sys.stdin is not None else None
        except UnicodeDecodeError as fault:
            raise UsageFault("step-command", "the commands are not text", where="<stdin>") from fault

    reached = walk(subject, read, shell.write, patient)
    repro = f"  --repro {reached.repro}" if reached.repro else ""
    shell.write(f"\n{len(reached.labels)} steps{repro}\n")
    return ExitCode.HOLDS


# ----------------------------------------------------------------------------------- explain


@click.command(cls=Verb, epilog=EXIT_CODES)
@subject_argument
@repro_option
@format_file_option
@property_option
@click.option("--action", metavar="NAME[(ARGS)]", shell_complete=completer(actions),
              help="Why this action is not possible, instead of a property.")
@click.option("--at", metavar="N", type=int,
              help="In this state, 0 is the first; otherwise where the property first fails, else the last.")
@selection_options
@page_options
@click.pass_obj
def explain(shell: Shell, /, form: str, outputs: Sequence[tuple[str, Path]], exit_zero: bool,
            path: Path | None, repro: str | None, source_format: Any, properties: tuple[str, ...],
            action: str | None, at: int | None, **options: Any) -> ExitCode:  # fmt: skip
    """Why a property fails or holds in a state, or why an action is not possible there.

    Shows the part that decides, for which broker or offset, and the values it looks at. Exits with 1 when a
    property fails or the action is refused.
    """
    from elrcheck.commands.trace.explain import Question, run_explain
    from elrcheck.traces.subject import subject_of

    subject = subject_of(path, repro, _given(options), source_format)
    report = run_explain(subject, Question(properties, action, at))
    return shell.deliver(report, form, outputs, exit_zero=exit_zero)
