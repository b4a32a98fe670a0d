"""A log directory is lost: the runs of F-52, as real brokers went through them, step by step in the model.

Three brokers, min ISR 2, two records acknowledged with acks=all. Which records are left in the end was
observed on Kafka 4.1.1 and 4.3.0; 0 of 300 and 16 of 300 there are 0 and 1 of 2 here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest

from elrcheck.invariants.properties import LeaderCompleteness
from elrcheck.lang.runtime import NotEnabled
from elrcheck.model.broker.isr_proposals import ExpandIsr, LeaderLearns
from elrcheck.model.broker.lifecycle import CleanStop, Start
from elrcheck.model.broker.log_directories import FailDirectory, LoseDirectory
from elrcheck.model.broker.metadata import ApplyMetadata
from elrcheck.model.broker.replica import Fetch, Produce
from elrcheck.model.choices import LostDirectory
from elrcheck.model.config import Config
from elrcheck.model.control_plane.broker_events import ControllerAlters, Fence, Register, Unfence
from elrcheck.model.control_plane.directory_events import ReportFailedDirectory, ReportNewDirectory
from elrcheck.model.control_plane.election_events import ElectPreferred
from elrcheck.model.start import Init
from elrcheck.model.state import Acks, LogDir, State, Status
from elrcheck.model.variants import variant_named

SIZES = {"records": 2, "acks_one": 0, "clean_stops": 4, "directory_losses": 1, "directory_failures": 1, "elections": 1}
KAFKA_4_1 = variant_named("code_4_1_1").knobs
KAFKA_4_3 = variant_named("code_4_3").knobs


class Run:
    """One cluster. Every method is what an operator, or a clock, makes happen; metadata arrives at once."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.state: State = Init(config)

    def do(self, action: Callable[..., State], *choices: object) -> bool:
        """The step, if it is possible; then every running broker applies what the controller wrote."""
        try:
            self.state = action(self.config, self.state, *choices)
        except NotEnabled:
            return False
        for b in self.config.brokers:
            try:
                self.state = ApplyMetadata(self.config, self.state, b)
            except NotEnabled:
                continue
        return True

    def write(self) -> None:
        """Both records are written and acknowledged."""
        leader = self.leader()
        for _ in range(2):
            assert self.do(Produce, leader, Acks.ALL)
        for _ in range(3):
            for f in sorted(self.state.partition.isr - {leader}):
                self.do(Fetch, f, leader, False)
        assert len(self.state.committed) == 2

    def leader(self) -> int:
        leader = self.state.partition.leader
        assert leader is not None
        return leader

    def stop(self, b: int) -> None:
        assert self.do(CleanStop, b) and self.do(Fence, b)

    def lose(self, b: int, directory: LogDir) -> None:
        assert self.do(LoseDirectory, b, directory)

    def fail(self, b: int) -> None:
        """The directory fails while b runs, and a heartbeat says so."""
        assert self.do(FailDirectory, b) and self.do(ReportFailedDirectory, b)

    def start(self, b: int) -> None:
        """b comes back; an operator asks for the preferred leader if there is none."""
        assert self.do(Start, b) and self.do(Register, b)
        self.do(ReportNewDirectory, b)
        assert self.do(Unfence, b)
        if self.state.partition.leader is None:
            self.do(ElectPreferred)

    def copy(self, b: int) -> None:
        """b fetches one record of the leader."""
        assert self.do(Fetch, b, self.leader(), False)

    def join(self, b: int) -> None:
        """b catches up with the leader and joins the ISR."""
        for _ in range(5):
            self.do(Fetch, b, self.leader(), False)
        if b not in self.state.partition.isr:
            leader = self.leader()
            assert self.do(ExpandIsr, leader, b) and self.do(ControllerAlters, leader)
            self.do(LeaderLearns, leader)

    def left(self) -> int:
        """What is left of the acknowledged records once every broker that is down is back and in sync."""
        for b in self.config.brokers:
            if self.state.broker[b].status == Status.OFFLINE:
                self.start(b)
        for b in sorted(self.config.brokers - {self.leader()}):
            if self.state.broker[b].log_dir != LogDir.FAILED:
                self.join(b)
        log = self.state.broker[self.leader()].log
        total = sum(1 for k, entry in enumerate(self.state.committed) if log[k : k + 1] == (entry,))
        assert bool(LeaderCompleteness(self.config, self.state)) == (total == len(self.state.committed))
        return total


def stopped(run: Run, order: tuple[int, ...] = (2, 0, 1), directory: LogDir = LogDir.DROPPED) -> None:
    """All stop in an orderly way, the last leader last; then the directory of 0 is lost, and 0 starts first."""
    run.write()
    for b in order:
        run.stop(b)
    run.lose(0, directory)
    run.start(0)


def live(run: Run, fails: bool = False) -> None:
    """0 comes back without its directory and copies again; the leader stops before 0 is in sync.

    fails: the directory fails while 0 runs.
    """
    run.write()
    run.stop(2)
    if fails:
        run.fail(0)
    run.stop(0)
    run.lose(0, LogDir.DROPPED)
    run.start(0)
    run.copy(0)
    run.stop(1)


def h2(run: Run) -> None:
    """The directory of 0 fails while 0 runs, so that 0 goes from ISR to ELR; 0 and 1 stop; it is dropped."""
    run.write()
    run.stop(2)
    run.fail(0)
    assert 0 not in run.state.partition.isr
    for b in (0, 1):
        run.stop(b) if b in run.state.partition.isr else run.do(CleanStop, b) and run.do(Fence, b)
    run.lose(0, LogDir.DROPPED)
    run.start(0)


STORIES: dict[str, Callable[[Run], None]] = {
    "h1": stopped,
    "h1r": partial(stopped, order=(2, 1, 0)),
    "live": live,
    "h1b": partial(stopped, directory=LogDir.REPLACED),
    "h1c": partial(stopped, directory=LogDir.FAILED),
    "h2": h2,
    "live2": partial(live, fails=True),
}
"""h1r: 0 was the last leader. h1b: an empty, formatted directory takes the place of the lost one. h1c: it stays in
log.dirs, unusable."""
OFF = {"elr_enabled": False}
# The table of docs/findings.md: the run, whether ELR is off, what is left on 4.1 and on 4.3.
ROWS: tuple[tuple[str, str, dict[str, bool], int, int], ...] = (
    ("h1", "h1", {}, 2, 0),
    ("h1r", "h1r", {}, 0, 0),
    ("live", "live", {}, 2, 1),
    ("h1b", "h1b", {}, 2, 2),
    ("h1c", "h1c", {}, 2, 2),
    ("h2", "h2", {}, 2, 0),
    ("live2", "live2", {}, 2, 1),
    ("h3", "h1", OFF, 2, 2),
    ("off", "live", OFF, 2, 2),
    ("h3r", "h1r", OFF, 0, 0),
)


def after(story: str, knobs: dict[str, object]) -> int:
    run = Run(replace(Config(), **{**SIZES, **knobs}))
    STORIES[story](run)
    return run.left()


@pytest.mark.parametrize(
    ("story", "off", "left_4_1", "left_4_3"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_what_real_brokers_lost(story: str, off: dict[str, bool], left_4_1: int, left_4_3: int) -> None:
    assert after(story, {**KAFKA_4_1, **off}) == left_4_1
    assert after(story, {**KAFKA_4_3, **off}) == left_4_3


@pytest.mark.parametrize("rule", [LostDirectory.REGISTRATION, LostDirectory.CLEAN_FILE], ids=lambda r: r.name)
@pytest.mark.parametrize("story", STORIES)
def test_with_the_fix_nothing_is_lost(story: str, rule: LostDirectory) -> None:
    """A leader may have to be waited for, but it has everything."""
    assert after(story, {**KAFKA_4_3, "lost_directory": rule}) == 2
    assert after(story, {"lost_directory": rule}) == 2
