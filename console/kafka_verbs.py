"""Verbs about Kafka itself: conform, audit, reproduce."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click
from click.core import ParameterSource

from elrcheck.base.errors import ExitCode, UsageFault
from elrcheck.base.requests import SparkRequest
from elrcheck.console.completion import complete_setting, completer, recipes, variants
from elrcheck.console.help import Verb
from elrcheck.console.option_values import Factor, WorkerCount, duration
from elrcheck.console.options import (
    EXIT_CODES,
    case_options,
    located_options,
    reject_given,
    verdict_options,
    workers_option,
)
from elrcheck.console.shell import Shell

if TYPE_CHECKING:
    from elrcheck.base.kafka_requests import ConformRequest
    from elrcheck.base.progress import Progress
    from elrcheck.results.conform_report import ConformReport


@click.command(cls=Verb, epilog=EXIT_CODES)
@click.option(
    "--kafka",
    metavar="VERSION",
    multiple=True,
    help="Release to compare with, such as 4.1.2; Maven gets its jars. May be repeated.",
)
@click.option(
    "--kafka-home",
    "homes",
    metavar="DIR",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of an unpacked Kafka distribution, whose libs are used. May be repeated.",
)
@click.option(
    "--variant",
    metavar="NAME",
    shell_complete=completer(variants),
    help="Variant of the model; by default the one that stands for the release.",
)
@click.option(
    "--set",
    "overrides",
    metavar="KEY=VALUE",
    multiple=True,
    shell_complete=complete_setting,
    help="Override one knob of the model; may be repeated.",
)
@click.option(
    "--level",
    type=click.Choice(("builder", "controller", "broker")),
    help="Ask only PartitionChangeBuilder, only the controller's managers, or instead a broker's"
    " kafka.cluster.Partition.",
)
@click.option(
    "--comparisons",
    "--steps",
    metavar="N",
    type=click.IntRange(min=1),
    default=100_000,
    show_default="100000",
    help="About how many answers to compare, for each release.",
)
@click.option(
    "--seconds", metavar="90|5m|1h", type=duration, help="Stop after this long, with the report of what was compared."
)
@click.option("--stop-at-first", is_flag=True, help="Stop at the first difference without an explanation.")
@click.option(
    "--seed",
    metavar="N",
    type=click.IntRange(0, 2**64 - 1),
    default=1,
    show_default=True,
    help="What the random questions depend on.",
)
@click.option(
    "--record",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Keep in this file what was compared; `elrcheck show VARIANT` reads the packaged one.",
)
@click.option(
    "--refresh",
    is_flag=True,
    help="Repeat what is stale in that file, or in the packaged one: comparisons of rules that have"
    " changed since. Releases, seeds and numbers are the recorded ones.",
)
@click.option(
    "--answers",
    metavar="FILE|packaged",
    multiple=True,
    help="Compare with Kafka's answers in a file instead, without Java; `packaged` for those that"
    " come with elrcheck. May be repeated.",
)
@click.option(
    "--keep-answers",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Ask one release, and write its answers to a file for --answers.",
)
@workers_option
@case_options
@click.pass_context
def conform(
    ctx: click.Context, /, form: str, outputs: Sequence[tuple[str, Path]], exit_zero: bool, **options: Any
) -> ExitCode:
    """Compare the rules of the model with Kafka's own classes.

    Asks both sides the same: every question to the change builder about three replicas and less, single
    events of the controller, and random walks.  A difference is shrunk, and shown side by side.  Needs a
    JDK, and Maven or a Kafka distribution.
    """
    from elrcheck.base.kafka_requests import ConformRequest
    from elrcheck.kafka.conformance.answers.answer_run import keep_answers
    from elrcheck.kafka.conformance.answers.compare_kept import compare_answers
    from elrcheck.kafka.conformance.kafka_source import teams_of
    from elrcheck.kafka.conformance.recorded.conform_record import (
        compared_rules,
        record_comparison,
        reject_unrecordable,
        side_of,
    )
    from elrcheck.kafka.conformance.recorded.conform_refresh import FIXED, refresh

    shell: Shell = ctx.obj
    request = ConformRequest(**options)
    if request.refresh:
        reject_given(ctx, (*FIXED, "stop_at_first"), "a comparison of its own, not --refresh")
    reject_unrecordable(request)
    rules = None if request.record is None else compared_rules(side_of(request))
    with shell.open_progress() as progress:
        if request.answers:
            return shell.deliver(compare_answers(request, progress), form, outputs, exit_zero=exit_zero)
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
        return shell.deliver(refreshed.report, form, outputs, exit_zero=exit_zero)
    if request.record is not None and rules is not None and report.compared:
        record_comparison(report, request, rules, request.record)
    return shell.deliver(report, form, outputs, exit_zero=exit_zero)


def _compare_sides(request: ConformRequest, progress: Progress) -> ConformReport:
    """Compare with the classes of the controller, or with those of a broker if the level says so."""
    from elrcheck.kafka.conformance.broker.broker_conform import open_partition, run_broker_conform
    from elrcheck.kafka.conformance.conform import run_conform
    from elrcheck.kafka.conformance.kafka_source import open_kafka, teams_of

    teams = teams_of(request, progress)
    if request.level == "broker":
        return run_broker_conform(request, teams, open_partition, progress)
    return run_conform(request, teams, open_kafka, progress)


@click.command(cls=Verb, epilog=EXIT_CODES)
@click.argument("paths", metavar="[PATH...]", nargs=-1, type=click.Path())
@click.option(
    "--bootstrap", metavar="HOST:PORT[,...]", help="Ask the brokers of a cluster that runs, instead of reading logs."
)
@click.option(
    "--client-config",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="With --bootstrap: a file of Kafka's client properties, for TLS and SASL.",
)
@click.option(
    "--repaired",
    metavar="FINDING",
    multiple=True,
    help="The cluster's build has the patch of this finding, such as F-28; signs of it that mean"
    " nothing then are not flagged. May be repeated.",
)
@click.option("--strict", is_flag=True, help="Exit with 2 if a file is damaged, or records are missing.")
@click.option(
    "--workers",
    metavar="N|auto",
    type=WorkerCount(),
    default="auto",
    show_default=True,
    help="Processes that judge; auto: one, unless there are four processors and 64 MiB of logs.",
)
@click.option(
    "--engine",
    type=click.Choice(("local", "spark")),
    default="local",
    show_default=True,
    help="local: this machine; spark: the same on a cluster, from any storage that Spark reads.",
)
@click.option(
    "--master",
    metavar="URL",
    default="local[*]",
    show_default=True,
    help="Spark master: local[N], spark://HOST:PORT, yarn or k8s://...",
)
@click.option("--spark-conf", metavar="KEY=VALUE", multiple=True, help="Set a Spark property; may be repeated.")
@located_options
@click.pass_context
def audit(
    ctx: click.Context,
    /,
    paths: tuple[str, ...],
    bootstrap: str | None,
    client_config: Path | None,
    repaired: tuple[str, ...],
    strict: bool,
    workers: int | None,
    engine: Literal["local", "spark"],
    master: str,
    spark_conf: tuple[str, ...],
    form: str,
    outputs: Sequence[tuple[str, Path]],
    exit_zero: bool,
) -> ExitCode:
    """Check the partitions of a real cluster, by its metadata log or by asking it.

    Follows the history of every partition, and flags what breaks a property of the model or is a sign of a
    finding, with what to do now.  PATH is a folder such as __cluster_metadata-0, a segment (*.log), a
    snapshot (*.checkpoint), or the text of kafka-dump-log.sh --cluster-metadata-decoder.  With --bootstrap
    partitions are judged as they are now, and by the next step with which a finding begins.  Nothing is
    changed.
    """
    from elrcheck.base.kafka_requests import AuditRequest
    from elrcheck.kafka.audit.audit import run_audit

    shell: Shell = ctx.obj
    if engine != "spark":
        reject_given(ctx, ("master", "spark_conf"), "--engine spark")
    else:
        reject_given(ctx, ("workers",), "--engine local")
    if paths and ctx.get_parameter_source("bootstrap") is not ParameterSource.COMMANDLINE:
        bootstrap = None  # a default from a file of settings
    if bootstrap is None:
        reject_given(ctx, ("client_config",), "--bootstrap")
        if not paths:
            raise UsageFault("usage-missing", "give a PATH, or --bootstrap HOST:PORT")
    else:
        if paths:
            raise UsageFault("usage-option", "give a PATH or --bootstrap, not both")
        reject_given(ctx, ("strict", "engine", "workers"), "a PATH")
    request = AuditRequest(
        tuple(path if "://" in path else Path(path) for path in paths),
        strict,
        engine,
        SparkRequest(master, spark_conf, verbose=shell.detail > 0),
        bootstrap,
        client_config,
        workers,
        repaired,
    )
    with shell.open_progress() as progress:
        report = run_audit(request, progress)
    return shell.deliver(report, form, outputs, exit_zero=exit_zero)


@click.command(cls=Verb, epilog=EXIT_CODES)
@click.argument("finding", metavar="FINDING[/RECIPE]", shell_complete=completer(recipes))
@click.option("--order", metavar="RECIPE", help="The recipe, if FINDING does not name it.")
@click.option("--kafka", metavar="VERSION", help="Release to run, such as 4.1.2; Maven gets its jars.")
@click.option(
    "--kafka-home",
    "home",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of an unpacked Kafka distribution to run.",
)
@click.option(
    "--classes",
    metavar="PATH",
    multiple=True,
    type=click.Path(exists=True, path_type=Path),
    help="Jar or folder of classes that go before Kafka's own, such as a patch; may be repeated.",
)
@click.option(
    "--patched",
    is_flag=True,
    help="Build the patch of the finding from Kafka's sources, and put it before Kafka's own.",
)
@click.option(
    "--control/--no-control",
    default=True,
    show_default=True,
    help="Follow the same steps on a second cluster, with one thing changed.",
)
@click.option(
    "--runs",
    metavar="N",
    type=click.IntRange(1, 10_000),
    default=1,
    show_default=True,
    help="Repeat the run, each time on a new cluster, and report how often the finding shows.",
)
@click.option(
    "--keep",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Keep logs, settings and the metadata log (for `elrcheck audit`) in this empty folder.",
)
@click.option(
    "--patience",
    metavar="FACTOR",
    type=Factor(0.1, 100.0),
    default=1.0,
    show_default=True,
    help="Multiplies every time limit, for a machine that is slow or busy.",
)
@verdict_options
@click.pass_obj
def reproduce(
    shell: Shell, /, form: str, outputs: Sequence[tuple[str, Path]], exit_zero: bool, **options: Any
) -> ExitCode:
    """Reproduce a finding on a real Kafka cluster.

    Starts a controller and brokers on the loopback interface, follows the steps of a recipe, and reports
    whether records acknowledged with acks=all are lost, or a partition becomes unavailable; beside it the
    control.  Nothing is left running or on disk.  Needs a JDK, and Maven or a Kafka distribution.
    """
    from elrcheck.base.kafka_requests import ReproduceRequest
    from elrcheck.kafka.reproduce.reproduce import run_reproduce

    with shell.open_progress() as progress:
        report = run_reproduce(ReproduceRequest(**options), progress)
    return shell.deliver(report, form, outputs, exit_zero=exit_zero)
