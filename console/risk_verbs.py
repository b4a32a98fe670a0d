"""The verb `risk`: can a topic lose data, in Kafka's words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from elrcheck.base.errors import ExitCode
from elrcheck.console.help import Verb
from elrcheck.console.option_values import duration
from elrcheck.console.options import EXIT_CODES, page_options, reject_given, workers_option
from elrcheck.console.shell import Shell


@click.command(cls=Verb, epilog=EXIT_CODES)
@click.option("--kafka", metavar="VERSION", required=True, help="Release, such as 4.1.2, or a line, such as 4.1.")
@click.option(
    "--replication-factor",
    metavar="N",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    help="Replicas of the partition; there are as many brokers.",
)
@click.option(
    "--min-insync-replicas",
    metavar="N",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="min.insync.replicas of the topic.",
)
@click.option(
    "--acks",
    type=click.Choice(("all", "1", "0")),
    default="all",
    show_default=True,
    help="What the producer waits for.",
)
@click.option(
    "--elr",
    type=click.Choice(("on", "off")),
    help="eligible.leader.replicas.version 1 or 0; by default that of new clusters of the release.",
)
@click.option(
    "--unclean-leader-election-enable", is_flag=True, help="unclean.leader.election.enable=true on the topic."
)
@click.option(
    "--first-partition",
    is_flag=True,
    help="The partition is number 0 of its topic, which decides the effective min.insync.replicas of all of them.",
)
@click.option(
    "--describe",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Output of kafka-topics.sh --describe, kafka-configs.sh --describe, or both, instead of"
    " the settings of one topic.",
)
@click.option(
    "--compare",
    metavar="KEY=VALUE",
    multiple=True,
    help="Ask once more with another setting, such as kafka=4.3 or elr=off, and show what differs; may be repeated.",
)
@click.option(
    "--event",
    "events",
    metavar="NAME",
    multiple=True,
    help="Combine only this event; may be repeated. By default all that the release knows.",
)
@click.option(
    "--events",
    "most",
    metavar="N",
    type=click.IntRange(1, 4),
    default=3,
    show_default=True,
    help="Combine up to so many events.",
)
@click.option(
    "--time-budget",
    "seconds",
    metavar="90s|5m|1h",
    type=duration,
    default="20s",
    show_default=True,
    help="Time for the searches; what is open then is undecided, never safe.",
)
@workers_option
@click.option("--fresh", is_flag=True, help="Search again what earlier runs have found.")
@click.option("--run-dir", metavar="DIR", type=click.Path(file_okay=False, path_type=Path), help="Folder for traces.")
@page_options
@click.pass_context
def risk(
    ctx: click.Context,
    /,
    form: str,
    outputs: Sequence[tuple[str, Path]],
    exit_zero: bool,
    elr: str | None,
    describe: Path | None,
    compare: Sequence[str],
    **options: Any,
) -> ExitCode:
    """Tell after which events a topic can lose data.

    Searches the model of a release for the smallest sets of events after which an acknowledged record is
    lost, or the partition stays without a leader although all replicas are up.  Each comes with its story,
    its cause, how far it was shown on the release itself, and what to do.  Exits with 1 if something can be
    lost that the settings should keep.
    """
    from elrcheck.base.kafka_requests import RiskRequest
    from elrcheck.kafka.risk.compared_requests import ON_OFF, compared, described
    from elrcheck.kafka.risk.risk import run_risk

    shell: Shell = ctx.obj
    request = replace(RiskRequest(**options), elr=None if elr is None else ON_OFF[elr])
    unread: tuple[str, ...] = ()
    if describe is not None:
        reject_given(
            ctx,
            ("replication_factor", "min_insync_replicas", "first_partition", "compare"),
            "settings that no --describe gives",
        )
        requests, unread = described(request, describe)
    else:
        requests = compared(request, compare)
    with shell.open_progress() as progress:
        report = run_risk(requests, progress, unread)
    return shell.deliver(report, form, outputs, exit_zero=exit_zero)
