"""The command line: the group of verbs, and the options of all verbs, before a verb or after it.

The verbs are in `console/verbs/*_verbs.py` and compute nothing: each calls the room that does the work, with heavy
imports inside its function so that `elrcheck --help` stays fast, and returns an exit code.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NoReturn

import click

from elrcheck.base.version import __version__
from elrcheck.console.global_options import global_options
from elrcheck.console.help import Commands
from elrcheck.console.shell import end_as_interrupted, run
from elrcheck.console.verb import EXIT_CODES
from elrcheck.console.verbs.export_verbs import export, tlc
from elrcheck.console.verbs.gate_verbs import gate, init, new
from elrcheck.console.verbs.kafka_verbs import assess, audit, conform, reproduce, risk, site
from elrcheck.console.verbs.model_verbs import models, repl, web
from elrcheck.console.verbs.proof_verbs import mutate, prove
from elrcheck.console.verbs.reference_verbs import completion, config, doctor, list_, scenario, show, what_if
from elrcheck.console.verbs.run_verbs import runs
from elrcheck.console.verbs.search_verbs import check, explore, simulate, suite, sweep
from elrcheck.console.verbs.trace_verbs import explain, replay, traces

cli = Commands(
    "elrcheck",
    params=[*global_options()],
    help="Check protocols written in Python: yours with --model, by default the partition of a Kafka topic.",
    epilog=EXIT_CODES,
    context_settings={
        "auto_envvar_prefix": "ELRCHECK",
        "help_option_names": ["--help", "-h"],
        "max_content_width": 100,
    },
)
click.version_option(__version__, "--version", message="elrcheck %(version)s")(cli)
for title, commands in {
    "Ask about your cluster": (assess, risk, audit, reproduce, what_if, scenario),
    "Search a model": (check, simulate, explore, sweep, suite, runs),
    "Look at a trace": (web, repl, explain, replay, traces, export, tlc),
    "Prove, and doubt the model": (prove, mutate, conform),
    "Write a model": (new, models),
    "Guard it in CI": (gate, init, config),
    "Look things up": (list_, show, site, doctor, completion),
}.items():
    for command in commands:
        cli.add_to(title, command)


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """Run the command line, as the entry point of the console script `elrcheck`."""
    end_as_interrupted()
    sys.exit(run(cli, sys.argv[1:] if argv is None else argv))
