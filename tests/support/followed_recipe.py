"""A recipe that `reproduce` follows on fake clusters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from elrcheck.base.kafka_requests import ReproduceRequest
from elrcheck.base.progress import Silent
from elrcheck.catalogue.recipe_notation import recipe_file
from elrcheck.kafka.jars import ClassPath
from elrcheck.kafka.reproduce import reproduce
from elrcheck.results.reproduce_report import ReproduceReport
from support.edits import replaced
from support.fake_cluster import FakeCluster, opening

RECIPE = """\
finding = "F-20"
name = "small"
default = true
title = "A title"
about = "About it"
expects = "lost"
versions = ["4.0.0", "4.1.1"]
needs = "4.0.0"
timing = "the copy is slow"
[cluster]
brokers = 3
features = { "eligible.leader.replicas.version" = 1, "group.version" = 1 }
[control]
title = "ELR off"
features = { "eligible.leader.replicas.version" = 0 }
[[step]]
create = "orders"
partitions = [[0, 1]]
[[step]]
produce = "orders-0"
records = 10
[[step]]
reassign = "orders-0"
to = [1]
[[step]]
wait = "orders-0"
replicas = [1]
seconds = 1
SIGN
[[step]]
stop = 1
in = "run"
[[step]]
kill = 1
in = "control"
[[step]]
start = 1
[[step]]
produce = "orders-0"
records = 5
LEADERLESS
[read]
partitions = ["orders-0"]
"""
Follow = Callable[..., ReproduceReport]
SIGN = '[[step]]\nwait = "orders-0"\nelr = [0]\nseconds = 1\ndecides = true'


def step(*lines: str) -> str:
    return "\n".join(["[[step]]", *lines, ""])


def follower(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Follow:
    """Follow the recipe above on fake clusters, with more steps."""
    monkeypatch.setattr(
        reproduce, "from_maven", lambda version, jars: ClassPath(version, (tmp_path / jars.name,), "test")
    )

    def call(
        *clusters: FakeCluster,
        sign: str = "",
        leaderless: str = "",
        kafka: str = "4.1.1",
        elr: Sequence[int] = (1, 0),
        without: str = "",
        **more: object,
    ) -> ReproduceReport:
        file = tmp_path / "F-20-small.toml"
        text = replaced(replaced(RECIPE, "SIGN", sign), "LEADERLESS", leaderless)
        text = replaced(text, f"[[step]]\n{without}\n", "") if without else text
        file.write_text(text, encoding="utf-8")
        monkeypatch.setattr(recipe_file, "recipes_of", lambda _: (recipe_file.read_recipe(file),))
        opened, shapes = opening(*clusters)
        request = ReproduceRequest("F-20", kafka=kafka, **more)  # type: ignore[arg-type]
        report = reproduce.run_reproduce(request, Silent(), opened)
        assert [cluster.ended for cluster in clusters[: len(shapes)]] == [True] * len(shapes)
        levels = [shape.features["eligible.leader.replicas.version"] for shape in shapes]
        assert levels == list(elr)[: len(shapes)]
        return report

    return call
