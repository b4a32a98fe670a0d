"""The engine `spark` of the commands: opens a session, and a search on it."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from elrcheck.base.progress import Progress
from elrcheck.base.requests import SparkRequest
from elrcheck.base.runner.processors import processors
from elrcheck.explorer.search.compiled import SearchSettings
from elrcheck.lang.lowering.program import Program
from elrcheck.spark.conf import SparkChoice, parse_conf
from elrcheck.spark.distributed_search import SparkSearch
from elrcheck.spark.master import parse_master
from elrcheck.spark.session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TRIES = 4
"""Attempts per task: Spark's default on a cluster, which a local master does not apply by itself."""


@contextlib.contextmanager
def spark_search(
    program: Program, request: SparkRequest, settings: SearchSettings, progress: Progress
) -> Iterator[SparkSearch]:
    """Open a search to run within the block; raise the faults of `spark_session`. settings: of the driver."""
    choice = spark_choice(request)
    with session_for(choice, progress) as session:
        progress.stage("starting the executors")
        search = SparkSearch(program, session, settings, request.partitions, request.handover, progress)
        try:
            search.start()
            yield search
        finally:
            with contextlib.suppress(Exception):
                search.close()


def spark_choice(request: SparkRequest) -> SparkChoice:
    """Return options for one task at a time per executor, on all its cores, so that it holds each shard once."""
    conf = parse_conf(request.conf)
    properties = dict(conf)
    master = parse_master(request.master)
    url, threads = master.url, None
    if master.local:
        threads = master.threads or processors()
        if re.fullmatch(r"local(\[[^,]*\])?", url):
            url = f"local[{threads},{TRIES}]"
    elif properties.get("spark.executor.cores", "").isdecimal():
        threads = int(properties["spark.executor.cores"])
    if "spark.task.cpus" in properties:
        threads = None
    return SparkChoice(url, conf, threads=threads, verbose=request.verbose, ship_packages=request.ship_packages)


@contextlib.contextmanager
def session_for(choice: SparkChoice, progress: Progress) -> Iterator[SparkSession]:
    """Open a new session, or use the one that this process already has, such as a sweep's."""
    pyspark = sys.modules.get("pyspark")
    if pyspark is not None and pyspark.SparkContext._active_spark_context is not None:
        from pyspark.sql import SparkSession

        yield SparkSession.builder.getOrCreate()
        return
    progress.stage("starting Spark")
    with spark_session(choice) as session:
        yield session
