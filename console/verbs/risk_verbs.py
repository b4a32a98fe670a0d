"""The verbs `assess` and `risk`: can a topic lose data, in Kafka's words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elrcheck.base.errors import ExitCode
from elrcheck.console.output import MEASURED_CASES, PAGE, Output
from elrcheck.console.shell import Shell
from elrcheck.console.verb import reject_given, verb

if TYPE_CHECKING:
    from elrcheck.base.kafka_requests import AssessRequest, Compare, Describe, RiskRequest


@verb(requests="kafka_requests", formats=MEASURED_CASES, of_kafka=True)
def assess(shell: Shell, request: AssessRequest, output: Output) -> ExitCode:
    """List the findings known to lose data with your release and topics.

    Lists the findings that were shown in this release and that the settings allow, those that lost
    acknowledged records on brokers first: what has to happen, how far it was shown, and what to do.
    Audits a metadata log or a running cluster too.  Searches nothing: `risk` does that.
    """
    from elrcheck.kafka.assess.assess import run_assess

    return shell.run(lambda progress: run_assess(request, progress), output)


@verb(requests="kafka_requests", formats=PAGE, of_kafka=True)
def risk(
    shell: Shell, request: RiskRequest, output: Output, describe: Describe = None, compare: Compare = ()
) -> ExitCode:
    """Find the events after which a topic can lose data.

    Searches the model of a release for the smallest sets of events after which an acknowledged record is
    lost, or the partition stays without a leader although all replicas are up.  Each comes with its story,
    its cause, how far it was shown on the release itself, and what to do.  Exits with 1 if something can be
    lost that the settings should keep.
    """
    from elrcheck.kafka.risk.compared_requests import compared, described
    from elrcheck.kafka.risk.risk import run_risk

    unread, not_searched = tuple[str, ...](), 0
    if describe is not None:
        reject_given(
            ("replication_factor", "min_insync_replicas", "first_partition", "compare"),
            "the settings of one topic, and --describe has those of many",
        )
        requests, unread, not_searched = described(request, describe)
    else:
        requests = compared(request, compare)
    return shell.run(lambda progress: run_risk(requests, progress, unread, not_searched), output)
