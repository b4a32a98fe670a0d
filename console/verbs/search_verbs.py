"""The verbs `check`, `simulate` and `explore`. Every heavy import is inside the verb that needs it."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from elrcheck.base.common_options import Reduce
from elrcheck.base.errors import ExitCode
from elrcheck.base.option import Option
from elrcheck.console.output import LOCATED_CASES, PAGE, Output
from elrcheck.console.shell import Shell
from elrcheck.console.verb import on_command_line, reduced, reject_given, verb

if TYPE_CHECKING:
    from elrcheck.base.requests import CheckRequest, ExploreRequest, SimulateRequest


@verb(requests="requests", formats=LOCATED_CASES)
def check(
    shell: Shell,
    request: CheckRequest,
    output: Output,
    reduce: Reduce = False,
    every: Annotated[
        bool,
        Option(
            "Print every counterexample, not only the shortest, and every table, as -v does.",
            flags="--all",
            group="Output",
        ),
    ] = False,
) -> ExitCode:
    """Explore every reachable state and check the properties."""
    from elrcheck.checking.check import run_check

    if request.engine != "spark":
        reject_given(("master", "partitions", "handover", "storage", "conf", "ship_packages"), "--engine spark")
    request = replace(
        request,
        selection=reduced(request.selection, reduce),
        selected=bool(on_command_line("variant", "scope", "overrides", "reduce")),
        spark=replace(request.spark, verbose=shell.detail > 0),
        drawn=output.has_page,
        kept=True,
    )
    with contextlib.ExitStack() as ending:
        with shell.open_progress() as progress:
            report = run_check(request, progress, ending)
        shell = replace(shell, detail=max(shell.detail, 1)) if every else shell
        return shell.deliver(report, output)


@verb(requests="requests", formats=PAGE)
def simulate(shell: Shell, request: SimulateRequest, output: Output) -> ExitCode:
    """Walk at random through a scope too large to explore.

    Exits with 1 when a walk violates a property, else with 3: walks cannot show that a property holds. The
    same seed gives the same walks, with any number of workers. --guided remembers the states it has visited
    and reaches deep violations in far fewer states, with one worker.
    """
    from elrcheck.commands.simulate import run_simulate

    return shell.run(lambda progress: run_simulate(request, progress), output)


@verb(requests="requests", formats=PAGE)
def explore(shell: Shell, request: ExploreRequest, output: Output) -> ExitCode:
    """Describe a scope: levels, steps, actions, values.

    Gives no verdict: exits with 0 when all states were explored, even if the graph marks violations.
    """
    from elrcheck.commands.explore import run_explore

    return shell.run(lambda progress: run_explore(replace(request, drawn=output.has_page), progress), output)
