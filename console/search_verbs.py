"""Verbs that search a scope: check, simulate and explore.

A verb declares options and passes a request to `commands/`; every heavy import is inside the verb that needs
it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from elrcheck.base.errors import ExitCode
from elrcheck.base.requests import CHECK_FAIL_ON, CheckFailOn, CheckRequest, ExploreRequest, Limits, SimulateRequest
from elrcheck.console.help import Verb
from elrcheck.console.option_values import duration
from elrcheck.console.options import (
    EXIT_CODES,
    chosen_selection,
    engine_choices,
    engine_options,
    fail_on_option,
    fresh_option,
    has_page,
    limit_options,
    located_options,
    page_options,
    property_option,
    run_choices,
    run_options,
    selection_options,
    workers_option,
)
from elrcheck.console.shell import Shell

GRAPH_FORMATS = ("graphml", "dot", "json", "svg")


@click.command(cls=Verb, epilog=EXIT_CODES)
@selection_options
@property_option
@workers_option
@limit_options
@click.option("--stop-at-first", is_flag=True, help="Stop after the level of the first violation.")
@click.option("--liveness", is_flag=True, help="Check the liveness properties (V-*) instead of the others.")
@click.option(
    "--all",
    "every",
    is_flag=True,
    help="Print every counterexample, not only the shortest, and every table, as -v does.",
)
@fail_on_option(CHECK_FAIL_ON)
@fresh_option
@run_options
@engine_options
@located_options
@click.pass_obj
def check(
    shell: Shell,
    /,
    form: str,
    outputs: Sequence[tuple[str, Path]],
    exit_zero: bool,
    properties: tuple[str, ...],
    workers: int | None,
    stop_at_first: bool,
    liveness: bool,
    every: bool,
    fail_on: tuple[CheckFailOn, ...],
    fresh: bool,
    **options: Any,
) -> ExitCode:
    """Explore every reachable state and check the properties."""
    from elrcheck.checking.check import run_check

    request = CheckRequest(
        properties=properties,
        workers=workers,
        stop_at_first=stop_at_first,
        liveness=liveness,
        drawn=has_page(form, outputs),
        fail_on=fail_on,
        kept=True,
        fresh=fresh,
        **engine_choices(options, shell.detail > 0),
        **run_choices(options),
        limits=Limits(**options),
    )
    with contextlib.ExitStack() as ending:
        with shell.open_progress() as progress:
            report = run_check(request, progress, ending)
        shell = replace(shell, detail=max(shell.detail, 1)) if every else shell
        return shell.deliver(report, form, outputs, exit_zero=exit_zero)


@click.command(cls=Verb, epilog=EXIT_CODES)
@selection_options
@property_option
@click.option(
    "--seed",
    metavar="N",
    type=click.IntRange(0, 2**64 - 1),
    help="Random seed; by default a fresh one, which the report prints.",
)
@click.option(
    "--walks",
    metavar="N",
    type=click.IntRange(1, 10**12),
    help="Number of walks; by default 100000, or as many as --time-budget allows.",
)
@click.option(
    "--depth",
    metavar="N",
    type=click.IntRange(1, 1_000_000),
    default=40,
    show_default=True,
    help="Maximum number of steps in a walk.",
)
@click.option("--time-budget", metavar="90s|5m|1h", type=duration, help="Stop after this long.")
@workers_option
@click.option("--stop-at-first", is_flag=True, help="Stop after the block of 4096 walks with the first violation.")
@click.option("--guided", is_flag=True, help="Prefer rarely visited states close to a violation; never repeat a walk.")
@click.option("--run-dir", metavar="DIR", type=click.Path(file_okay=False, path_type=Path), help="Folder for traces.")
@page_options
@click.pass_obj
def simulate(
    shell: Shell, /, form: str, outputs: Sequence[tuple[str, Path]], exit_zero: bool, **options: Any
) -> ExitCode:
    """Walk at random through a scope too large to explore.

    Exits with 1 when a walk violates a property, else with 3: walks cannot show that a property holds. The
    same seed gives the same walks, with any number of workers. --guided remembers the states it has met and
    finds what needs many steps in far fewer states, with one worker.
    """
    from elrcheck.commands.simulate import run_simulate

    request = SimulateRequest(chosen_selection(options), **options)
    with shell.open_progress() as progress:
        report = run_simulate(request, progress)
    return shell.deliver(report, form, outputs, exit_zero=exit_zero)


@click.command(cls=Verb, epilog=EXIT_CODES)
@selection_options
@property_option
@workers_option
@limit_options
@click.option(
    "--graph",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the state graph, with violations of the properties marked.",
)
@click.option(
    "--graph-format",
    type=click.Choice(GRAPH_FORMATS),
    help="Format of --graph; by default taken from the extension of FILE.",
)
@click.option(
    "--max-nodes",
    metavar="N",
    type=click.IntRange(1, 1_000_000),
    default=2000,
    show_default=True,
    help="Largest graph to write, in states (SVG: 200).",
)
@page_options
@click.pass_obj
def explore(
    shell: Shell,
    /,
    form: str,
    outputs: Sequence[tuple[str, Path]],
    exit_zero: bool,
    properties: tuple[str, ...],
    workers: int | None,
    graph: Path | None,
    graph_format: Any,
    max_nodes: int,
    **options: Any,
) -> ExitCode:
    """Describe a scope: levels, steps, actions, values.

    Gives no verdict: the exit code is 0 when all states were explored, even if the graph marks violations.
    """
    from elrcheck.commands.explore import run_explore

    request = ExploreRequest(
        selection=chosen_selection(options),
        properties=properties,
        workers=workers,
        limits=Limits(**options),
        graph=graph,
        graph_format=graph_format,
        max_nodes=max_nodes,
        drawn=has_page(form, outputs),
    )
    with shell.open_progress() as progress:
        report = run_explore(request, progress)
    return shell.deliver(report, form, outputs, exit_zero=exit_zero)
