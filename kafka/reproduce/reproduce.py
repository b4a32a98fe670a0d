"""`elrcheck reproduce`: follows the recipe of a finding on a real cluster, then its control on another."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from elrcheck.base.errors import UsageFault
from elrcheck.base.kafka_requests import ReproduceRequest
from elrcheck.base.progress import Progress
from elrcheck.catalogue.configured import release_numbers
from elrcheck.catalogue.recipe_notation.recipe_file import Recipe, Side, find_recipe
from elrcheck.kafka.cluster.cluster import ClusterFault, KafkaCluster, start_cluster
from elrcheck.kafka.cluster.node_settings import ClusterShape
from elrcheck.kafka.jars import ClassPath, Jars, from_home, from_maven
from elrcheck.kafka.log.cluster_state import ELR_FEATURE
from elrcheck.kafka.patched_jar import patch_of
from elrcheck.kafka.reproduce.recipe_run import RecipeRun, SideResult
from elrcheck.results.reproduce_report import SHOWING, ControlReport, OneRun, RepeatedRuns, ReproduceReport

ELR_KNOWN = (4, 0, 0)
OpenCluster = Callable[[ClassPath, ClusterShape, float, Path | None], AbstractContextManager[KafkaCluster]]


def open_real_cluster(
    class_path: ClassPath, shape: ClusterShape, patience: float, keep: Path | None
) -> AbstractContextManager[KafkaCluster]:
    return start_cluster(class_path, shape, patience=patience, keep=keep)


def run_reproduce(
    request: ReproduceRequest, progress: Progress, open_cluster: OpenCluster = open_real_cluster
) -> ReproduceReport:
    """Follow the recipe and report the outcome; leaves nothing of the clusters."""
    begun = time.monotonic()
    recipe = find_recipe(request.finding, request.order)
    if request.keep is not None:
        _reject_taken(request.keep)
    progress.stage("looking for Kafka")
    class_path, patched = class_path_of(request), tuple[str, ...]()
    _reject_too_old(recipe, class_path.version)
    if request.patched:
        progress.stage(f"building the patch of {recipe.finding}")
        jar, patched = patch_of(recipe.finding, class_path)
        request = replace(request, classes=(*request.classes, jar))
    class_path = replace(class_path, jars=(*request.classes, *class_path.jars))
    sides = _RecipeClusters(recipe, request, class_path, progress, open_cluster)
    run, repeated = _runs(sides, request.runs)
    control, whole = None, repeated is None or len(repeated.runs) == repeated.asked
    if request.control and recipe.control is not None and run.outcome != "inconclusive" and whole:
        since = time.monotonic()
        compared = sides.follow("control")
        seconds = round(time.monotonic() - since, 1)
        control = ControlReport(title=recipe.control.title, seconds=seconds, **compared.reported())
    return ReproduceReport(
        finding=recipe.finding,
        order=recipe.name,
        title=recipe.title,
        kafka=class_path.version,
        expected=not request.classes and _expected(recipe, class_path.version),
        control=control,
        timing=recipe.timing,
        kept=None if request.keep is None else str(request.keep),
        seconds=round(time.monotonic() - begun, 1),
        repeated=repeated,
        classes=tuple(map(str, request.classes)),
        patched=patched,
        **run.reported(),
    )


def _runs(sides: _RecipeClusters, count: int) -> tuple[SideResult, RepeatedRuns | None]:
    """Follow the recipe `count` times; after an interrupt the finished runs count, if there are any."""
    if count == 1:
        return sides.follow("run"), None
    results: list[SideResult] = []
    each: list[OneRun] = []
    with contextlib.suppress(KeyboardInterrupt):
        for number in range(1, count + 1):
            since = time.monotonic()
            result = sides.follow("run", number)
            seconds = round(time.monotonic() - since, 1)
            results.append(result)
            each.append(OneRun(result.outcome, result.acknowledged, result.left, result.message, seconds))
    if not results:
        raise KeyboardInterrupt
    ended = [result for result in results if result.outcome != "inconclusive"] or results
    return next((one for one in ended if one.outcome in SHOWING), ended[-1]), RepeatedRuns.of(count, each)


def class_path_of(request: ReproduceRequest) -> ClassPath:
    """Return the jars of the Kafka that the request names."""
    if (request.kafka is None) == (request.home is None):
        raise UsageFault(
            "usage-missing" if request.kafka is None else "usage-option",
            "name the Kafka to run: --kafka VERSION or --kafka-home DIR",
            help="such as --kafka 4.1.2",
        )
    if request.home is not None:
        return from_home(request.home, Jars.CLUSTER)
    assert request.kafka is not None
    return from_maven(request.kafka, Jars.CLUSTER)


class _RecipeClusters:
    """Opens a cluster for each side, and follows the recipe there."""

    def __init__(
        self,
        recipe: Recipe,
        request: ReproduceRequest,
        class_path: ClassPath,
        progress: Progress,
        open_cluster: OpenCluster,
    ) -> None:
        self._recipe, self._request, self._class_path = recipe, request, class_path
        self._progress, self._open = progress, open_cluster

    def follow(self, side: Side, number: int = 0) -> SideResult:
        """Follow one side. number: that of several runs; 0 for a single one."""
        shape = shape_of(self._recipe, side, self._class_path.version)
        name = f"{side}-{number}" if number else side
        self._progress.stage(f"{name}: starting a controller and {shape.brokers} brokers")
        patience = self._request.patience
        keep = None if self._request.keep is None else self._request.keep / name
        try:
            with self._open(self._class_path, shape, patience, keep) as cluster:
                return RecipeRun(self._recipe, side, cluster, self._progress, patience).follow()
        except ClusterFault as fault:
            excerpt = f"\n{fault.excerpt}" if fault.excerpt else ""
            return SideResult("inconclusive", message=f"the cluster did not start: {fault}{excerpt}")


def shape_of(recipe: Recipe, side: Side, version: str) -> ClusterShape:
    """Return the cluster of one side, without switching off a feature that the release does not know."""
    cluster, control = recipe.cluster, recipe.control
    features: Mapping[str, int] = cluster.features
    if side == "control" and control is not None:
        features = {**features, **control.features}
    if release_numbers(version) < ELR_KNOWN:
        features = {name: level for name, level in features.items() if (name, level) != (ELR_FEATURE, 0)}
    return ClusterShape(cluster.brokers, cluster.log_dirs, features, cluster.controller, cluster.broker, cluster.debug)


def _expected(recipe: Recipe, version: str) -> bool:
    if recipe.versions is None:
        return False
    oldest, newest = recipe.versions
    return release_numbers(oldest) <= release_numbers(version) <= release_numbers(newest)


def _reject_too_old(recipe: Recipe, version: str) -> None:
    if recipe.needs is not None and release_numbers(version) < release_numbers(recipe.needs):
        raise UsageFault(
            "recipe-version",
            f"{recipe.id} cannot be tried on Kafka {version}",
            help=f"it needs Kafka {recipe.needs} or later",
        )


def _reject_taken(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageFault("keep-taken", f"{folder} is not an empty folder", help="give --keep a new or empty folder")
