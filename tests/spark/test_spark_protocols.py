"""Protocols of others on Spark: executors make the wide levels, and everything is as the local engine finds it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from elrcheck.lang.lowering.leaf_images import up_to_renaming
from support.places import protocol
from support.spark_runs import locally, lowered_protocol, on_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

HANDOVER = {
    "inner_fifo": 200,
    "reusable_barrier": 1000,
    "two_phase_backup": 150,
    "write_through_cache": 600,
    "internal_memory": 400,
    "two_phase": 20,
    "replicated_log": 150,
    "request_store": 300,
    "nbac_raynal": 400,
    "paxos": 300,
    "snapshot_store": 2000,
    "nbac_guerraoui": 3000,
    "simple_regular": 20_000,
    "paxos_commit": 100_000,
}
"""Protocol -> the size of a level that goes to the executors. TLC counts all but the last three, too."""


@pytest.mark.slow
@pytest.mark.parametrize("name", HANDOVER)
def test_as_the_local_engine(name: str, spark: SparkSession, tmp_path: Path) -> None:
    program = lowered_protocol(protocol(name))
    facts, search = on_spark(program, spark, tmp_path / "levels", 3, HANDOVER[name])
    assert facts == locally(program)
    assert len(search.costs) >= 2, "executors made several levels"


@pytest.mark.slow
def test_up_to_renaming(spark: SparkSession, tmp_path: Path) -> None:
    program = up_to_renaming(lowered_protocol(protocol("paxos_voting")))
    facts, search = on_spark(program, spark, tmp_path / "levels", 3, 40)
    assert facts == locally(program) and facts["distinct"] == 686
    assert len(search.costs) >= 2
