"""Reports of what Kafka itself does: `reproduce` on a cluster, `export upstream` in Kafka's own tests."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import sqrt
from typing import Literal, TypeAlias

from elrcheck.base.errors import ExitCode
from elrcheck.base.roundtrip import Record
from elrcheck.results.any_report import Report

ReproduceOutcome: TypeAlias = Literal["lost", "unavailable", "not-reproduced", "inconclusive"]
SHOWING: tuple[ReproduceOutcome, ...] = ("lost", "unavailable")
"""Outcomes that show a finding."""


class SeenState(Record, frozen=True):
    """A partition as DescribeTopicPartitions showed it in a step."""

    step: int
    seconds: float
    """Since the nodes were started."""
    partition: str
    leader: int | None
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    elr: tuple[int, ...]
    last_known_elr: tuple[int, ...]


class DoneStep(Record, frozen=True):
    """A step of the recipe that was done."""

    number: int
    text: str
    seconds: float
    """Since the nodes were started."""
    result: str
    """May be empty."""
    note: str


class ControlReport(Record, frozen=True):
    """The same steps on a second cluster, which differs in one thing: `title`."""

    title: str
    outcome: ReproduceOutcome
    acknowledged: int
    left: int | None
    missing: str
    message: str
    states: tuple[SeenState, ...]
    steps: tuple[DoneStep, ...]
    seconds: float


class OneRun(Record, frozen=True):
    """One of several runs."""

    outcome: ReproduceOutcome
    acknowledged: int
    left: int | None
    message: str
    seconds: float


class RepeatedRuns(Record, frozen=True):
    """How many of several runs showed the finding."""

    asked: int
    """The number of runs that were requested; an interrupt leaves fewer."""
    ended: int
    """Runs that were not inconclusive."""
    shown: int
    """Runs that showed the finding."""
    low: float
    """Lower bound of the share `shown`/`ended` at 95 % confidence (Wilson's interval)."""
    high: float
    """Upper bound of that share."""
    runs: tuple[OneRun, ...]

    @classmethod
    def of(cls, requested: int, runs: Sequence[OneRun]) -> RepeatedRuns:
        ended = [run for run in runs if run.outcome != "inconclusive"]
        showing = sum(run.outcome in SHOWING for run in ended)
        low, high = wilson(showing, len(ended))
        return cls(requested, len(ended), showing, round(low, 4), round(high, 4), tuple(runs))


def wilson(showing: int, ended: int, z: float = 1.959964) -> tuple[float, float]:
    """Return Wilson's interval for the share `showing`/`ended`; z: quantile of the normal distribution, for 95 %."""
    if ended == 0:
        return 0.0, 1.0
    share, z2 = showing / ended, z * z
    middle = (share + z2 / (2 * ended)) / (1 + z2 / ended)
    half = z * sqrt(share * (1 - share) / ended + z2 / (4 * ended * ended)) / (1 + z2 / ended)
    return max(0.0, middle - half), min(1.0, middle + half)


class ReproduceReport(Report, frozen=True, tag="elrcheck.reproduce/1"):
    """The result of `elrcheck reproduce`.

    Of several runs, it has the first that shows the finding, else the last that was not inconclusive.
    """

    finding: str
    order: str
    """The name of the recipe."""
    title: str
    kafka: str
    expected: bool
    """The recipe names this release among those that showed the finding; false with other `classes`."""
    outcome: ReproduceOutcome
    """`lost` if records that were acknowledged with acks=all could not be read at the end; `unavailable` if a partition
    stayed without a leader; `inconclusive` if the cluster did not get that far."""
    acknowledged: int
    left: int | None
    """How many acknowledged records could be read at the end; null if the partition could not be read."""
    missing: str
    """The numbers of the lost records, such as 16-599."""
    message: str
    """Why the outcome is inconclusive or not-reproduced; empty otherwise."""
    control: ControlReport | None
    states: tuple[SeenState, ...]
    steps: tuple[DoneStep, ...]
    timing: str
    """What depends on timing; may be empty."""
    kept: str | None
    """The folder with the logs and the metadata log, if they were kept."""
    seconds: float
    repeated: RepeatedRuns | None = None
    """All runs, if several were requested."""
    classes: tuple[str, ...] = ()
    """Entries of the class path before Kafka's own jars, such as the classes of a patch."""
    patched: tuple[str, ...] = ()
    """With `--patched`: the sources of Kafka that the patch of the finding changes."""

    @property
    def control_shows_it(self) -> bool:
        """Return whether the control shows the finding too, so that the run proves nothing."""
        return self.control is not None and self.control.outcome in SHOWING

    @property
    def verdict(self) -> ReproduceOutcome:
        return self.outcome

    @property
    def interrupted(self) -> bool:
        return self.repeated is not None and len(self.repeated.runs) < self.repeated.asked

    @property
    def exit_code(self) -> ExitCode:
        if self.control_shows_it and not self.interrupted:
            return ExitCode.INCONCLUSIVE
        return super().exit_code


class NewTest(Record, frozen=True):
    """A test that comes with the change."""

    name: str
    without: str
    """How it fails without the change; empty if it passes."""
    with_change: str
    """How it fails with the change; empty if it passes."""


class KafkaTestRuns(Record, frozen=True):
    """Kafka's tests of one class, without and with the change."""

    name: str
    tests: int
    """Number of Kafka's own tests, without the new ones."""
    failing: tuple[str, ...]
    """Kafka's own tests that fail without the change, on this machine."""
    broken: tuple[str, ...]
    """Kafka's own tests that fail only with the change."""
    added: tuple[NewTest, ...]

    @classmethod
    def of(
        cls, name: str, without: Mapping[str, str], with_change: Mapping[str, str], new: Collection[str]
    ) -> KafkaTestRuns:
        """Return the runs of class `name`, from test ("package.Class.method") -> message. new: the added tests."""
        own = [test for test in without if test.startswith(f"{name}.") and test.partition("(")[0] not in new]
        added = [test for test in without if test.startswith(f"{name}.") and test.partition("(")[0] in new]
        return cls(
            name=name,
            tests=len(own),
            failing=tuple(test for test in own if without[test]),
            broken=tuple(test for test in own if with_change.get(test, "not run") and not without[test]),
            added=tuple(NewTest(test, without[test], with_change.get(test, "not run")) for test in added),
        )


class UpstreamReport(Report, frozen=True, tag="elrcheck.upstream/1"):
    """The files for Kafka's tracker and repository, and the outcome of Kafka's tests with the change."""

    finding: str
    summary: str
    kafka: str
    files: tuple[str, ...]
    tests: tuple[KafkaTestRuns, ...]
    """Empty if they were not run."""
    seconds: float

    @property
    def verdict(self) -> str:
        """Return `confirmed` if the new tests fail only without the change, and no test of Kafka fails only with it."""
        if not self.tests:
            return "complete"
        added = [test for each in self.tests for test in each.added]
        fixed = added and all(test.without and not test.with_change for test in added)
        return "confirmed" if fixed and not any(each.broken for each in self.tests) else "rejected"
