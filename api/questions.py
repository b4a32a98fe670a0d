"""`risk`, `audit` and `what_if`: the questions of the command line about a cluster, asked from Python."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from elrcheck.api.arguments import (
    Place,
    Setting,
    Words,
    at_least,
    more_than_nothing,
    one_of,
    path,
    setting,
    told,
    words,
)
from elrcheck.api.result_types import AuditResult, RiskResult, WhatIfResult, as_result
from elrcheck.base.errors import UsageFault
from elrcheck.base.kafka_requests import AuditRequest, RiskRequest
from elrcheck.base.requests import SparkRequest


def risk(
    kafka: str,
    *,
    replication_factor: int = 3,
    min_insync_replicas: int = 1,
    acks: Literal["all", "1", "0"] = "all",
    elr: bool | None = None,
    unclean_leader_election_enable: bool = False,
    first_partition: bool = False,
    describe: Place | None = None,
    compare: Iterable[Mapping[str, Setting]] = (),
    events: Words = (),
    most: int = 3,
    seconds: float = 20.0,
    workers: int | None = None,
    fresh: bool = False,
    run_dir: Place | None = None,
    progress: bool = False,
) -> RiskResult:
    """After which events a topic can lose data, as `elrcheck risk` answers it.

    kafka: a release or a line, such as 4.1. elr: None for what new clusters of the release have. describe: a
    file with the output of kafka-topics.sh --describe, instead of settings. compare: settings to ask with
    once more, each as what differs, such as `{"kafka": "4.3"}`. most: how many events to combine; seconds:
    time for the searches.
    """
    from elrcheck.kafka.risk.compared_requests import compared, described
    from elrcheck.kafka.risk.risk import run_risk

    one_of("acks", acks, ("all", "1", "0"))
    at_least("replication_factor", replication_factor, 1)
    at_least("min_insync_replicas", min_insync_replicas, 1)
    at_least("workers", workers, 1)
    more_than_nothing("seconds", seconds)
    if not 1 <= most <= 4:
        raise UsageFault("usage-bad-value", f"`most`: expected 1 to 4 events, not {most}", where="most")
    request = RiskRequest(
        kafka,
        replication_factor,
        min_insync_replicas,
        acks,
        elr,
        unclean_leader_election_enable,
        first_partition,
        words(events),
        most,
        seconds,
        workers,
        fresh,
        path(run_dir),
    )
    unread: tuple[str, ...] = ()
    others = [_compared(settings) for settings in compare]
    if describe is None:
        requests = compared(request, others)
    elif others or (replication_factor, min_insync_replicas, first_partition) != (3, 1, False):
        raise UsageFault("usage-option", "`describe` has the settings of the topics: leave out the others")
    else:
        requests, unread = described(request, Path(describe))
    with told(progress) as shown:
        return as_result(RiskResult, run_risk(requests, shown, unread))


def _compared(settings: Mapping[str, Setting]) -> str:
    """The settings as `--compare` writes them."""
    if "elr" in settings and isinstance(settings["elr"], bool):
        settings = {**settings, "elr": "on" if settings["elr"] else "off"}
    return ",".join(f"{key}={setting(key, value)}" for key, value in settings.items())


def audit(
    *paths: Place,
    bootstrap: str | None = None,
    client_config: Place | None = None,
    strict: bool = False,
    engine: Literal["local", "spark"] = "local",
    spark: SparkRequest | None = None,
    workers: int | None = 1,
    repaired: Words = (),
    progress: bool = False,
) -> AuditResult:
    """Check the partitions of a real cluster by its metadata logs, or by asking it, as `elrcheck audit` does.

    paths: folders such as __cluster_metadata-0, segments, snapshots, or text of kafka-dump-log.sh.
    bootstrap: HOST:PORT of brokers to ask, instead of paths. repaired: findings whose patches the cluster's
    build has, such as "F-28".
    """
    from elrcheck.kafka.audit.audit import run_audit

    one_of("engine", engine, ("local", "spark"))
    at_least("workers", workers, 1)
    if bool(paths) == (bootstrap is not None):
        code = "usage-option" if paths else "usage-missing"
        raise UsageFault(code, "give paths, or `bootstrap`, and not both")
    if client_config is not None and bootstrap is None:
        raise UsageFault("usage-option", "`client_config` needs `bootstrap`", where="client_config")
    texts = [str(place) for place in paths]
    request = AuditRequest(
        tuple(text if "://" in text else Path(text) for text in texts),
        strict,
        engine,
        spark or SparkRequest(),
        bootstrap,
        path(client_config),
        workers,
        words(repaired),
    )
    with told(progress) as shown:
        return as_result(AuditResult, run_audit(request, shown))


def what_if(question: Mapping[str, Any]) -> WhatIfResult:
    """What the controller would do: the question and the answer are those of `elrcheck what-if`.

    Brokers may be numbers, lists may be tuples. A malformed question raises UsageFault with the path of the
    field; what the controller refuses is an answer with Kafka's name of the error.
    """
    from elrcheck.commands.what_if.ask import answer

    try:
        written = json.loads(json.dumps(question, default=list))
    except (TypeError, ValueError) as fault:
        raise UsageFault("json-malformed", f"a question must be like JSON: {fault}") from fault
    if not isinstance(written, dict):
        raise UsageFault("json-malformed", f"a question is a mapping, not {type(question).__name__}")
    return WhatIfResult(**answer(written))
