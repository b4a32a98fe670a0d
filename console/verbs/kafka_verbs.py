"""Verbs about Kafka itself: conform, audit, assess, risk, reproduce, site."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from elrcheck.base.errors import ExitCode, UsageFault
from elrcheck.base.option import Option
from elrcheck.console.output import CASES, MEASURED_CASES, PAGE, VERDICT, Output
from elrcheck.console.shell import Shell
from elrcheck.console.verb import on_command_line, reject_given, verb

if TYPE_CHECKING:
    from elrcheck.base.kafka_requests import (
        AssessRequest,
        AuditRequest,
        Compare,
        ConformRequest,
        Describe,
        ReproduceRequest,
        RiskRequest,
    )
    from elrcheck.base.progress import Progress
    from elrcheck.results.conform_report import ConformReport


@verb(requests="kafka_requests", formats=CASES, of_kafka=True)
def conform(shell: Shell, request: ConformRequest, output: Output) -> ExitCode:
    """Compare the rules of the model with Kafka's own classes.

    Gives both the same inputs: every input of the change builder with up to three replicas, single events of
    the controller, and random walks.  Shrinks each difference, and shows both answers side by side.  Needs a
    JDK, and Maven or a Kafka distribution.
    """
    from elrcheck.kafka.conformance.answer_files import compare_answers, keep_answers
    from elrcheck.kafka.conformance.conform_record import (
        FIXED,
        compared_rules,
        record_comparison,
        refresh,
        reject_unrecordable,
    )
    from elrcheck.kafka.conformance.sides import side_of, teams_of

    if request.refresh:
        reject_given((*FIXED, "stop_at_first"), "a comparison of its own, not --refresh")
    reject_unrecordable(request)
    rules = None if request.record is None else compared_rules(side_of(request))
    with shell.open_progress() as progress:
        if request.answers:
            return shell.deliver(compare_answers(request, progress), output)
        if request.refresh:
            refreshed = refresh(request, _compare_sides, progress)
        elif request.keep_answers is not None:
            lines = keep_answers(request, teams_of(request, progress), request.keep_answers, progress)
            shell.write_line(f"{lines:,} questions with their answers in {request.keep_answers}")
            return ExitCode.HOLDS
        else:
            report = _compare_sides(request, progress)
    if request.refresh:
        if refreshed.report is None:
            shell.note(f"nothing in {refreshed.path} is stale")
            return ExitCode.HOLDS
        if refreshed.left:
            shell.note(f"still stale, run it again: {'; '.join(refreshed.left)}")
        return shell.deliver(refreshed.report, output)
    if request.record is not None and rules is not None and report.compared:
        record_comparison(report, request, rules, request.record)
    return shell.deliver(report, output)


def _compare_sides(request: ConformRequest, progress: Progress) -> ConformReport:
    """Compare with the classes of the controller, or of the broker that the level says."""
    from elrcheck.kafka.conformance.conform import run_conform
    from elrcheck.kafka.conformance.sides import SIDES, side_of, teams_of

    return run_conform(request, teams_of(request, progress), SIDES[side_of(request)].open, progress)


@verb(requests="kafka_requests", formats=MEASURED_CASES, of_kafka=True)
def audit(shell: Shell, request: AuditRequest, output: Output) -> ExitCode:
    """Check the partitions of a real cluster, in its metadata log or live.

    Follows the history of every partition, flags violated properties and signs of findings, and says what to
    do now.  PATH is a folder such as __cluster_metadata-0, a segment (*.log), a snapshot (*.checkpoint), or
    the text of kafka-dump-log.sh --cluster-metadata-decoder.  --bootstrap judges partitions as they are now,
    and whether one next step would begin a finding.  Reads only; changes nothing.
    """
    from elrcheck.kafka.audit.audit import run_audit

    if request.engine != "spark":
        reject_given(("master", "conf", "ship_packages"), "--engine spark")
    else:
        reject_given(("workers",), "--engine local")
    if request.paths and not on_command_line("bootstrap"):
        request = replace(request, bootstrap=None)  # a default from the settings file
    if request.bootstrap is None:
        reject_given(("client_config",), "--bootstrap")
        if not request.paths:
            raise UsageFault("usage-missing", "give a PATH, or --bootstrap HOST:PORT")
    else:
        if request.paths:
            raise UsageFault("usage-option", "give a PATH or --bootstrap, not both")
        reject_given(("strict", "engine", "workers"), "a PATH")
    request = replace(request, spark=replace(request.spark, verbose=shell.detail > 0))
    return shell.run(lambda progress: run_audit(request, progress), output)


@verb(requests="kafka_requests", formats=VERDICT, of_kafka=True)
def reproduce(shell: Shell, request: ReproduceRequest, output: Output) -> ExitCode:
    """Reproduce a finding on a real Kafka cluster.

    Starts a controller and brokers on the loopback interface, follows the steps of a recipe, and reports
    whether records acknowledged with acks=all are lost, or a partition becomes unavailable; then does the
    same for the control.  Leaves nothing running or on disk.  Needs a JDK, and Maven or a Kafka distribution.
    """
    from elrcheck.kafka.reproduce.reproduce import run_reproduce

    return shell.run(lambda progress: run_reproduce(request, progress), output)


@verb(of_kafka=True)
def site(
    shell: Shell, out: Annotated[Path, Option("Output folder; created if it does not exist.", kind="folder")]
) -> ExitCode:
    """Write findings, scenarios and documents as a site that needs no server.

    Each finding and scenario is a page to step through; a link that ends in #step=5 opens it there. The documents,
    with a search, need mkdocs-material (`pip install mkdocs-material`); without it they are omitted. Exits with 3
    when the model no longer follows a recorded counterexample, which is then omitted too.
    """
    from elrcheck.kafka.site import write_site
    from elrcheck.report.plain_words import several

    with shell.open_progress() as progress:
        written = write_site(out, progress)
    counts = (several(written.findings, "finding"), several(written.scenarios, "scenario"))
    traces = several(written.traces, "counterexample")
    shell.write_line(f"wrote    {written.home}: {', '.join(counts)}, {traces}{', the documents' * written.documents}")
    for text in (*written.left_out, *written.outdated):
        shell.write_line(f"left out {text}")
    return ExitCode.INCONCLUSIVE if written.outdated else ExitCode.HOLDS


@verb(requests="kafka_requests", formats=MEASURED_CASES, of_kafka=True)
def assess(shell: Shell, request: AssessRequest, output: Output) -> ExitCode:
    """List the findings known to lose data with your release and topics.

    Lists the findings that were shown in this release and that the settings allow, those that lost
    acknowledged records on brokers first: what has to happen, where it was shown, and what to do.
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
    lost, or the partition stays without a leader although all replicas are up.  Each comes with its
    steps in words, its cause, where the finding was shown on that release, and what to do.  Exits with 1 if a
    record can be lost that the settings should keep.
    """
    from elrcheck.kafka.risk.risk import run_risk
    from elrcheck.kafka.risk.settings_group import compared, described

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
