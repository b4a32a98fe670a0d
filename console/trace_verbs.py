"""Verbs about traces: replay, trace and explain."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from elrcheck.base.errors import ExitCode, UsageFault
from elrcheck.console.completion import actions, completer, properties, stored_traces
from elrcheck.console.help import Commands, Verb
from elrcheck.console.option_values import duration
from elrcheck.console.options import (
    EXIT_CODES,
    case_options,
    chosen_selection,
    named_selection,
    output_options,
    page_options,
    property_option,
    selection_options,
)
from elrcheck.console.shell import Shell
from elrcheck.report.plain_words import several

if TYPE_CHECKING:
    from elrcheck.commands.trace.show import Filters
    from elrcheck.traces.loaded import Given

FROM_FORMATS = ("elrcheck", "itf", "tlc-json", "tlc-text")

file_argument = click.argument(
    "path", metavar="FILE", type=click.Path(path_type=Path), shell_complete=completer(stored_traces, "file")
)
from_option = click.option(
    "--from",
    "source_format",
    type=click.Choice(FROM_FORMATS),
    help="Notation of FILE; by default detected from its content.",
)


def _given(options: dict[str, Any]) -> Given:
    """Takes the selection options out of a command's options, and notes which were given."""
    from elrcheck.traces.loaded import Given

    return Given(chosen_selection(options), named_selection())


@click.command(cls=Verb, epilog=EXIT_CODES)
@file_argument
@from_option
@selection_options
@case_options
@click.pass_obj
def replay(
    shell: Shell,
    /,
    form: str,
    outputs: Sequence[tuple[str, Path]],
    exit_zero: bool,
    path: Path,
    source_format: Any,
    **options: Any,
) -> ExitCode:
    """Replay a recorded trace in the model.

    Reads stored traces, ITF (Apalache, Quint), TLC's -dumpTrace json and TLC's printed output. A trace that
    the model refuses is a finding: the report shows the accepted prefix and, for every action, the guard that
    failed.

    A trace that names its variant and scope is replayed there unless options override them.
    """
    from elrcheck.commands.trace.replay_file import run_replay

    report = run_replay(path, _given(options), source_format)
    return shell.deliver(report, form, outputs, exit_zero=exit_zero)


# ------------------------------------------------------------------------------------- trace


@click.group(name="trace", cls=Commands)
def traces() -> None:
    """Show, compare, shorten, sample and build traces."""


subject_argument = click.argument(
    "path",
    metavar="[FILE]",
    required=False,
    type=click.Path(path_type=Path),
    shell_complete=completer(stored_traces, "file"),
)
repro_option = click.option("--repro", metavar="0/3/1", help="The trace as action indices, instead of FILE.")
save_option = click.option(
    "--save",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Store the trace in the format `check` uses.",
)
seed_option = click.option(
    "--seed",
    metavar="N",
    type=click.IntRange(0, 2**64 - 1),
    help="Random seed; by default a fresh one, which the report prints.",
)
NOTATIONS = ("trace", "tla", "itf", "mermaid", "dot")
notation_option = click.option(
    "--as", "notation", type=click.Choice(NOTATIONS), help="Print the trace in this notation instead of a report."
)


def filter_options(function: Any) -> Any:
    """Options that select the part of a trace to show."""
    for option in (
        click.option("--to", "last", metavar="N", type=int, help="Show steps up to this one."),
        click.option("--from", "first", metavar="N", type=int, help="Show steps from this one on."),
        click.option("--hide", metavar="LEAF", multiple=True, help="Hide these leaves; may be repeated."),
        click.option(
            "--only",
            metavar="LEAF",
            multiple=True,
            help="Show only these leaves of the state: isr, broker[1], or a glob; may be repeated.",
        ),
    ):
        function = option(function)
    return function


eval_option = click.option(
    "--eval",
    "expressions",
    metavar="EXPR",
    multiple=True,
    help="Also show the value of EXPR, in the modelling language over the state s, such as "
    "len(s.partition.isr); may be repeated.",
)
format_file_option = click.option(
    "--file-format",
    "source_format",
    type=click.Choice(FROM_FORMATS),
    help="Notation of FILE; by default detected from its content.",
)


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
def show(
    shell: Shell,
    /,
    form: str,
    outputs: Sequence[tuple[str, Path]],
    exit_zero: bool,
    path: Path | None,
    repro: str | None,
    source_format: Any,
    notation: str | None,
    save: Path | None,
    expressions: tuple[str, ...],
    **options: Any,
) -> ExitCode:
    """Show a trace, step by step, with the changes of each step.

    Replays the trace in the model first; use `elrcheck replay` for a trace that the model refuses.
    """
    from elrcheck.commands.trace import show as viewing
    from elrcheck.stored_traces.subject import subject_of

    if notation is not None and expressions:
        raise UsageFault("usage-eval", "--eval adds to a report: leave out --as")
    filters = _filters(options)
    subject = subject_of(path, repro, _given(options), source_format)
    if notation is not None:
        text = viewing.written(subject, notation, filters)
        viewing.show(subject, filters, save=save)
        if notation == "tla":
            shell.note("only the witness module; `elrcheck export trace` writes all files that TLC needs")
        shell.write(text)
        return ExitCode.HOLDS
    report = viewing.show(subject, filters, save=save, expressions=expressions)
    return shell.deliver(report, form, outputs, exit_zero=exit_zero)


@traces.command(epilog=EXIT_CODES)
@click.argument("a", metavar="A", type=click.Path(path_type=Path), shell_complete=completer(stored_traces, "file"))
@click.argument("b", metavar="B", type=click.Path(path_type=Path), shell_complete=completer(stored_traces, "file"))
@selection_options
@output_options
@click.pass_obj
def diff(
    shell: Shell, /, form: str, outputs: Sequence[tuple[str, Path]], exit_zero: bool, a: Path, b: Path, **options: Any
) -> ExitCode:
    """Show where two traces diverge, and how they differ from there on.

    Exits with 1 when they differ.
    """
    from elrcheck.commands.trace import diff as difference
    from elrcheck.stored_traces.subject import subject_of

    given = _given(options)
    report = difference.diff(subject_of(a, None, given), subject_of(b, None, given))
    return shell.deliver(report, form, outputs, exit_zero=exit_zero)


@traces.command(epilog=EXIT_CODES)
@subject_argument
@repro_option
@click.option(
    "--property",
    "-p",
    "wanted",
    metavar="ID",
    shell_complete=completer(properties),
    help="Property that the shorter trace must still violate.",
)
@click.option("--search", is_flag=True, help="Then search exhaustively for a shorter trace.")
@click.option(
    "--time-budget",
    metavar="90s|5m",
    type=duration,
    default="60s",
    show_default=True,
    help="Number of threads for that search.",
)
@notation_option
@save_option
@selection_options
@output_options
@click.pass_obj
def minimise(
    shell: Shell,
    /,
    form: str,
    outputs: Sequence[tuple[str, Path]],
    exit_zero: bool,
    path: Path | None,
    repro: str | None,
    wanted: str | None,
    search: bool,
    time_budget: float,
    notation: str | None,
    save: Path | None,
    **options: Any,
) -> ExitCode:
    """Remove what is not needed to violate a property: steps, then brokers."""
    from elrcheck.commands.trace import show as viewing
    from elrcheck.commands.trace.minimise import minimise as shorten
    from elrcheck.stored_traces.subject import subject_of

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
@click.option(
    "--depth",
    metavar="N",
    type=click.IntRange(1, 100_000),
    default=20,
    show_default=True,
    help="Number of steps; fewer if no action is enabled within the budgets.",
)
@filter_options
@notation_option
@save_option
@selection_options
@output_options
@click.pass_obj
def sample(
    shell: Shell,
    /,
    form: str,
    outputs: Sequence[tuple[str, Path]],
    exit_zero: bool,
    seed: int | None,
    depth: int,
    notation: str | None,
    save: Path | None,
    **options: Any,
) -> ExitCode:
    """Show a random trace; the same seed gives the same trace."""
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
    """Walk through a scope by hand, choosing enabled actions from a menu.

    Starts in the initial state, or at the end of a trace. Reads commands from stdin, so a script can be piped
    in; a mistake in piped input ends the run with exit code 2.
    """
    from elrcheck.commands.trace.step import step as walk
    from elrcheck.stored_traces.subject import subject_of

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
    shell.write(f"\n{several(len(reached.labels), 'step')}{repro}\n")
    return ExitCode.HOLDS


# ----------------------------------------------------------------------------------- explain


@click.command(cls=Verb, epilog=EXIT_CODES)
@subject_argument
@repro_option
@format_file_option
@property_option
@click.option(
    "--action",
    metavar="NAME[(ARGS)]",
    shell_complete=completer(actions),
    help="Explain why this action is not enabled, instead of a property.",
)
@click.option(
    "--at",
    metavar="N",
    type=int,
    help="State to explain, from 0; by default where the property first fails, else the last.",
)
@selection_options
@page_options
@click.pass_obj
def explain(
    shell: Shell,
    /,
    form: str,
    outputs: Sequence[tuple[str, Path]],
    exit_zero: bool,
    path: Path | None,
    repro: str | None,
    source_format: Any,
    properties: tuple[str, ...],
    action: str | None,
    at: int | None,
    **options: Any,
) -> ExitCode:
    """Explain why a property fails or holds in a state, or why an action is not enabled there.

    Shows the deciding part of the formula, for which broker or offset, and the values it reads. Exits with 1
    when a property fails or the action is not enabled.
    """
    from elrcheck.commands.trace.explain import Question, run_explain
    from elrcheck.stored_traces.subject import subject_of

    subject = subject_of(path, repro, _given(options), source_format)
    report = run_explain(subject, Question(properties, action, at))
    return shell.deliver(report, form, outputs, exit_zero=exit_zero)
