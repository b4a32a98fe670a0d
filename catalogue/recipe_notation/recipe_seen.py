"""The results of a recipe's runs, stored in its file for the finding's page and the table of findings.

[[seen]]
kafka = "4.1.1"
outcome = "lost"                               # as in the report of `elrcheck reproduce`
left = 0                                       # for lost: of the acknowledged records
acknowledged = 600
state = "leader=none isr=[] elr=[0]"           # for unavailable: the state in which the partition stayed
message = "no answer about the new leader"     # for inconclusive: why
control = { left = 600, acknowledged = 600 }   # left out if the control was not tried
runs = { ended = 12, shown = 5 }               # for several runs; left, acknowledged and seconds are totals then
seconds = 89                                   # of the run and its control
day = "2026-11-22"
busy = true                                    # the machine had other work; left out if it had none
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from elrcheck.base.strict import Node
from elrcheck.base.typed.records import Natural, Positive, matching
from elrcheck.catalogue.file_values import Release
from elrcheck.results.reproduce_report import SHOWING, ReproduceOutcome

OF_OUTCOME = {"left": "lost", "acknowledged": "lost", "state": "unavailable", "message": "inconclusive"}
"""Key -> the outcome that needs it; no other has it."""


@dataclass(frozen=True)
class RecordsLeft:
    """The number of acknowledged records, and how many of them could be read at the end."""

    left: Natural
    acknowledged: Positive

    def checked(self, node: Node) -> RecordsLeft:
        if self.left > self.acknowledged:
            node["left"].expected(f"at most {self.acknowledged}")
        return self


@dataclass(frozen=True)
class SeenRuns:
    """Counts over several runs: how many ended, and in how many of those the finding shows."""

    ended: Positive
    shown: Natural

    def checked(self, node: Node) -> SeenRuns:
        if self.shown > self.ended:
            node["shown"].expected(f"at most {self.ended}")
        return self

    @property
    def text(self) -> str:
        """Return `5 of 12`, or `12` if the finding shows in none."""
        return f"{self.shown} of {self.ended}" if self.shown else str(self.ended)


@dataclass(frozen=True)
class SeenRun:
    """The result of a run. left, acknowledged: if records were lost; control: None if it was not tried."""

    kafka: Release
    outcome: ReproduceOutcome
    seconds: Positive
    day: Annotated[str, matching(r"\d{4}-\d{2}-\d{2}", "a day such as 2026-11-22")]
    left: Natural = 0
    acknowledged: Natural = 0
    state: str = ""
    message: str = ""
    control: RecordsLeft | None = None
    runs: SeenRuns | None = None
    busy: bool = False

    def checked(self, node: Node) -> SeenRun:
        for key, outcome in OF_OUTCOME.items():
            if (key in node) != (self.outcome == outcome):
                node.fail(f"`{key}` is said of the outcome {outcome}, which needs it")
        if self.outcome == "lost":
            RecordsLeft(self.left, node["acknowledged"].positive()).checked(node)
        if self.runs is not None and (self.runs.shown > 0) != self.shows:
            node["runs"].fail("the outcome says whether it shows in any of the runs")
        return self

    @property
    def shows(self) -> bool:
        """Return whether the run shows the finding on brokers."""
        return self.outcome in SHOWING

    @property
    def what(self) -> str:
        """Return the outcome in words."""
        often = "" if self.runs is None else f" in {self.runs.text} runs"
        if self.outcome == "lost":
            return f"lost {self.acknowledged - self.left:,} of {self.acknowledged:,}{often}"
        if self.outcome == "unavailable":
            return f"unavailable: {self.state}"
        return self.outcome.replace("-", " ") + often + (f": {self.message}" if self.message else "")

    @property
    def control_left(self) -> str:
        """Return how many records were lost in the control, as text."""
        if self.control is None:
            return "not run"
        return f"lost {self.control.acknowledged - self.control.left:,} of {self.control.acknowledged:,}"
