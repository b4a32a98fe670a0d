"""What runs of a recipe reported, kept in its file, for docs/reproduce.md and the table of findings.

[[seen]]
kafka = "4.1.1"
outcome = "lost"                               # as in the report of `elrcheck reproduce`
left = 0                                       # for lost: of the acknowledged records
acknowledged = 600
state = "leader=none isr=[] elr=[0]"           # for unavailable: how the partition stayed
message = "no answer about the new leader"     # for inconclusive: why
control = { left = 600, acknowledged = 600 }   # left out if the control was not tried
runs = { ended = 12, shown = 5 }               # of several: left, acknowledged, seconds are of all together
seconds = 89                                   # of the run and its control
day = "2026-11-22"
busy = true                                    # the machine had other work; left out if it had none
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from elrcheck.base.strict import Node

Outcome: TypeAlias = Literal["lost", "unavailable", "not-reproduced", "inconclusive"]
OUTCOMES: dict[str, Outcome] = {
    "lost": "lost",
    "unavailable": "unavailable",
    "not-reproduced": "not-reproduced",
    "inconclusive": "inconclusive",
}
NEEDED = ("kafka", "outcome", "seconds", "day")
OF_OUTCOME = {"left": "lost", "acknowledged": "lost", "state": "unavailable", "message": "inconclusive"}
"""Keys that one outcome needs, and no other has."""
RELEASE = re.compile(r"\d+\.\d+\.\d+")
DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True)
class Left:
    """How many of the acknowledged records could be read at the end."""

    left: int
    acknowledged: int


@dataclass(frozen=True)
class SeenRuns:
    """Of several runs: how many came to their end, and in how many of those the finding shows."""

    ended: int
    shown: int


@dataclass(frozen=True)
class SeenRun:
    """What a run reported. left: where records were lost; control: of its control, None if not tried."""

    kafka: str
    outcome: Outcome
    left: Left | None
    state: str
    message: str
    control: Left | None
    runs: SeenRuns | None
    seconds: int
    day: str
    busy: bool

    @property
    def what(self) -> str:
        """The outcome in words."""
        often = "" if self.runs is None else f" in {self.runs.shown} of {self.runs.ended} runs"
        if self.left is not None:
            return f"lost: {self.left.acknowledged - self.left.left} of {self.left.acknowledged}{often}"
        if self.outcome == "unavailable":
            return f"unavailable: {self.state}"
        return self.outcome.replace("-", " ") + often + (f": {self.message}" if self.message else "")

    @property
    def control_left(self) -> str:
        """What the control had left, in words."""
        return f"{self.control.left} of {self.control.acknowledged} left" if self.control else "not tried"


def read_seen(node: Node, controlled: bool) -> SeenRun:
    """Read one strictly. controlled: the recipe has a control."""
    node.object(NEEDED, (*OF_OUTCOME, "control", "runs", "busy"))
    outcome = OUTCOMES[node["outcome"].choice(OUTCOMES)]
    for key, where in OF_OUTCOME.items():
        if (key in node) != (outcome == where):
            node.fail(f"`{key}` is said of the outcome {where}, which needs it")
    runs = node.maybe("runs", _runs, None)
    if runs is not None and (runs.shown > 0) != (outcome in ("lost", "unavailable")):
        node["runs"].fail("the outcome says whether it shows in any of the runs")
    control = node.maybe("control", lambda part: _left(part.object(("left", "acknowledged"))), None)
    if control is not None and not controlled:
        node["control"].fail("the recipe has no [control]")
    return SeenRun(
        kafka=_like(node["kafka"], RELEASE, "a release such as 4.1.2"),
        outcome=outcome,
        left=_left(node) if outcome == "lost" else None,
        state=node.maybe("state", Node.text, ""),
        message=node.maybe("message", Node.text, ""),
        control=control,
        runs=runs,
        seconds=node["seconds"].positive(),
        day=_like(node["day"], DAY, "a day such as 2026-11-22"),
        busy=node.maybe("busy", Node.boolean, False),
    )


def _left(node: Node) -> Left:
    found = Left(node["left"].natural(), node["acknowledged"].positive())
    if found.left > found.acknowledged:
        node["left"].expected(f"at most {found.acknowledged}")
    return found


def _runs(node: Node) -> SeenRuns:
    node.object(("ended", "shown"))
    found = SeenRuns(node["ended"].positive(), node["shown"].natural())
    if found.shown > found.ended:
        node["shown"].expected(f"at most {found.ended}")
    return found


def _like(node: Node, form: re.Pattern[str], what: str) -> str:
    text = node.text()
    if form.fullmatch(text) is None:
        node.expected(what)
    return text
