"""The command line: the group of verbs, and the options of all verbs, before a verb or after it.

The verbs are in `console/*_verbs.py` and compute nothing: each calls `commands/`, and does its heavy imports
inside its own function so that `elrcheck --help` stays fast. A verb returns its exit code;
`console/shell.py` does the rest.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import click

from elrcheck.base.version import __version__
from elrcheck.console.config_verbs import config
from elrcheck.console.export_verbs import export, tlc
from elrcheck.console.gate_verbs import gate, init
from elrcheck.console.global_options import use_settings
from elrcheck.console.help import Commands
from elrcheck.console.kafka_verbs import audit, conform, reproduce
from elrcheck.console.proof_verbs import mutate, prove
from elrcheck.console.reference_verbs import completion, doctor, list_, scenario, show, what_if
from elrcheck.console.replay_verbs import explain, replay
from elrcheck.console.risk_verbs import risk
from elrcheck.console.run_verbs import runs
from elrcheck.console.search_verbs import check, explore, simulate
from elrcheck.console.shell import Shell, end_as_interrupted, run
from elrcheck.console.suite_verbs import suite
from elrcheck.console.sweep_verbs import sweep
from elrcheck.console.trace_verbs import traces
from elrcheck.console.verb import EXIT_CODES
from elrcheck.console.web_verbs import web


@click.group(
    cls=Commands,
    epilog=EXIT_CODES,
    context_settings={
        "auto_envvar_prefix": "ELRCHECK",
        "help_option_names": ["--help", "-h"],
        "max_content_width": 100,
    },
)
@click.option(
    "--config",
    metavar="FILE",
    type=click.Path(path_type=Path),
    is_eager=True,
    expose_value=False,
    callback=use_settings,
    help="Option defaults; if omitted, elrcheck.toml or [tool.elrcheck] in pyproject.toml.",
)
@click.option(
    "--color",
    type=click.Choice(("auto", "always", "never")),
    default="auto",
    show_default=True,
    help="When to colour the output.",
)
@click.option("--quiet", "-q", count=True, help="Print only findings and the verdict.")
@click.option("--verbose", "-v", count=True, help="Print more detail.")
@click.option("--progress/--no-progress", default=True, help="Show progress on stderr.")
@click.version_option(__version__, "--version", message="elrcheck %(version)s")
@click.pass_context
def cli(ctx: click.Context, color: Any, quiet: int, verbose: int, progress: bool) -> None:
    """Model checker for the partition state of Kafka's KRaft controller (KIP-966, ELR)."""
    ctx.obj = Shell(color=color, detail=verbose - quiet, progress=progress)


for command in (
    risk,
    check,
    simulate,
    explore,
    sweep,
    suite,
    gate,
    init,
    replay,
    traces,
    explain,
    web,
    runs,
    config,
    prove,
    conform,
    audit,
    reproduce,
    mutate,
    export,
    tlc,
    what_if,
    scenario,
    list_,
    show,
    doctor,
    completion,
):
    cli.add_command(command)


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """Entry point of the console script `elrcheck`."""
    end_as_interrupted()
    sys.exit(run(cli, sys.argv[1:] if argv is None else argv))
