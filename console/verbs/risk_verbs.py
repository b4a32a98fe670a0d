"""The verb `risk`: can a topic lose data, in Kafka's words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elrcheck.base.errors import ExitCode
from elrcheck.console.output import PAGE, Output
from elrcheck.console.shell import Shell
from elrcheck.console.verb import reject_given, verb

if TYPE_CHECKING:
    from elrcheck.base.kafka_requests import Compare, Describe, RiskRequest


@verb(requests="kafka_requests", formats=PAGE)
def risk(
    shell: Shell, request: RiskRequest, output: Output, describe: Describe = None, compare: Compare = ()
) -> ExitCode:
    """Tell after which events a topic can lose data.

    Searches the model of a release for the smallest sets of events after which an acknowledged record is
    lost, or the partition stays without a leader although all replicas are up.  Each comes with its story,
    its cause, how far it was shown on the release itself, and what to do.  Exits with 1 if something can be
    lost that the settings should keep.
    """
    from elrcheck.kafka.risk.compared_requests import compared, described
    from elrcheck.kafka.risk.risk import run_risk

    unread: tuple[str, ...] = ()
    if describe is not None:
        reject_given(
            ("replication_factor", "min_insync_replicas", "first_partition", "compare"),
            "settings that no --describe gives",
        )
        requests, unread = described(request, describe)
    else:
        requests = compared(request, compare)
    return shell.run(lambda progress: run_risk(requests, progress, unread), output)
