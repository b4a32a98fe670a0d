"""Live progress on stderr, so that stdout carries only the result.

`open_progress` chooses one of three styles: a status line that rewrites itself on a terminal, one line per finished
level elsewhere (at most about one a second, always including the last; every level in CI), or silence.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TextIO, TypeAlias

from elrcheck.base.printable import printable, printable_line

if TYPE_CHECKING:
    from rich.status import Status

Color: TypeAlias = Literal["auto", "always", "never"]
"""When text on a terminal has colours."""


@dataclass(frozen=True)
class LevelDone:
    """A level of the search has finished, or a long one is under way; the counts are totals so far.

    growth: size of the level relative to the one before. projected: estimated number of states of the whole search.
    passing: this search is one of many.
    """

    depth: int
    frontier: int
    generated: int
    distinct: int
    seconds: float
    remark: str = ""
    growth: float | None = None
    projected: int | None = None
    passing: bool = False

    def __str__(self) -> str:
        rate = self.distinct / self.seconds if self.seconds > 0 else 0.0
        size = "" if self.growth is None else f", growth {self.growth:.2f}"
        size += "" if self.projected is None else f", projected {self.projected:,} states"
        remark = f", {self.remark}" if self.remark else ""
        return (
            f"depth {self.depth}: {self.distinct:,} states, {self.frontier:,} new, "
            f"{self.generated:,} generated, {self.seconds:.1f} s, {rate:,.0f} states/s{size}{remark}"
        )


@dataclass(frozen=True)
class ObligationDone:
    """A proof obligation has been decided; `subject` is `Action x Lemma` or the name of a property.

    counterexample: lines about a refuted one, which follow its own line.
    """

    phase: str
    done: int
    total: int
    subject: str
    verdict: str
    seconds: float
    counterexample: tuple[str, ...] = ()

    def __str__(self) -> str:
        done = f"{self.phase} {self.done}/{self.total}"
        return f"{done}: {self.subject} ... {self.verdict} ({self.seconds:.2f} s)"


@dataclass(frozen=True)
class WalksDone:
    """Random walks started so far, and the steps that they have taken in total."""

    walks: int
    steps: int
    seconds: float

    def __str__(self) -> str:
        rate = self.steps / self.seconds if self.seconds > 0 else 0.0
        return f"{self.walks:,} walks, {self.steps:,} steps, {self.seconds:.1f} s, {rate:,.0f} steps/s"


@dataclass(frozen=True)
class ComparisonsDone:
    """Answers of Kafka's classes compared so far, and how many of them differ without an explanation."""

    compared: int
    unexplained: int
    seconds: float

    def __str__(self) -> str:
        rate = 60 * self.compared / self.seconds if self.seconds > 0 else 0.0
        odd = f", {self.unexplained:,} unexplained" if self.unexplained else ""
        return f"{self.compared:,} comparisons{odd}, {self.seconds:.1f} s, {rate:,.0f} a minute"


@dataclass(frozen=True)
class RecordsDone:
    """Records of metadata logs read so far, the share of all bytes that this is, and flags raised."""

    records: int
    share: float
    flags: int
    seconds: float

    def __str__(self) -> str:
        rate = self.records / self.seconds if self.seconds > 0 else 0.0
        read = f"{self.records:,} records ({self.share:.0%}), {self.flags:,} flags"
        return f"{read}, {self.seconds:.1f} s, {rate:,.0f} records/s"


@dataclass(frozen=True)
class PartitionsDone:
    """Partitions of a running cluster read so far."""

    partitions: int
    seconds: float

    def __str__(self) -> str:
        return f"{self.partitions:,} partitions, {self.seconds:.1f} s"


@dataclass(frozen=True)
class PointsDone:
    """Configurations of a sweep that are done; `states` counts theirs and those of running configurations."""

    done: int
    total: int
    current: tuple[str, ...]
    states: int
    seconds: float
    left: float | None

    def __str__(self) -> str:
        text = f"{self.done}/{self.total} configurations, {self.states:,} states, {self.seconds:.1f} s"
        if self.left is not None:
            text += f", about {self.left:.0f} s left"
        return text + (f"; now {'; '.join(self.current)}" if self.current else "")


@dataclass(frozen=True)
class ExecutorsLost:
    """Spark has lost executors, named by number and address, and so many are left."""

    names: tuple[str, ...]
    left: int

    def __str__(self) -> str:
        several = "s" if len(self.names) > 1 else ""
        then = "the others take over its part" if self.left else "Spark waits for a new one"
        return f"Spark lost executor{several} {', '.join(self.names)}, {self.left} left; {then}"


Event: TypeAlias = (
    LevelDone | ObligationDone | WalksDone | ComparisonsDone | RecordsDone | PartitionsDone | PointsDone | ExecutorsLost
)
"""An event of a long job; `str` returns the line that a user reads."""


class Progress(Protocol):
    """Receives the events of a long job."""

    def stage(self, text: str) -> None:
        """Begin a new stage, such as ``[2/3] consecution``."""

    def tell(self, event: Event) -> None:
        """Report an event."""


class Silent:
    """Progress that prints nothing."""

    def stage(self, text: str) -> None:
        pass

    def tell(self, event: Event) -> None:
        pass


A_MINUTE = 60.0
LASTING = ("refuted", "never")
"""Verdicts of obligations that are printed at once and stay on the screen, because a user may stop the proof then."""


def lasting_lines(event: Event) -> tuple[str, ...]:
    """Return the lines of an event that is printed at once and stays on the screen; none of any other event."""
    if isinstance(event, ExecutorsLost):
        return (str(event),)
    if isinstance(event, ObligationDone) and event.verdict in LASTING:
        return (str(event), *event.counterexample)
    return ()


class ProgressLines:
    """Whole lines for logs; an event within `interval` seconds of the last line only replaces the pending one.

    every_level: print every finished level anyway, unless the search is one of many. A level is reported several times,
    and has finished when the next one is reported; a long one gets a line a minute.
    """

    def __init__(
        self,
        stream: TextIO,
        interval: float = 1.0,
        clock: Callable[[], float] = time.monotonic,
        every_level: bool = False,
    ) -> None:
        self._every_level = every_level
        self._stream = stream
        self._interval = interval
        self._clock = clock
        self._last = clock() - interval
        self._held: str | None = None
        self._depth = -1

    def stage(self, text: str) -> None:
        self.close()
        self._write(text)

    def tell(self, event: Event) -> None:
        if isinstance(event, LevelDone) and self._every_level and not event.passing:
            self._hold_level(event)
        elif lines := lasting_lines(event):
            self.close()
            for line in lines:
                self._write(line)
        else:
            self._offer(str(event))

    def _hold_level(self, event: LevelDone) -> None:
        if event.depth != self._depth:
            self.close()
            self._depth, self._last = event.depth, self._clock()
        self._held = str(event)
        if self._clock() - self._last >= A_MINUTE:
            self.close()
            self._last = self._clock()

    def close(self) -> None:
        """Print the pending event, if any, so that the last line is never lost."""
        if self._held is not None:
            self._write(self._held)
            self._held = None

    def _offer(self, text: str) -> None:
        now = self._clock()
        if now - self._last < self._interval:
            self._held = text
            return
        self._last = now
        self._held = None
        self._write(text)

    def _write(self, text: str) -> None:
        with suppress(OSError):  # a log on a full disk must not end the run
            self._stream.write(printable_line(text) + "\n")
            self._stream.flush()


def fitted(text: str, width: int) -> str:
    """Return as many clauses of a status line as fit into `width` columns, or words if no clause fits."""
    if len(text) <= width:
        return text
    clauses = re.split(r"(?<=[,;]) ", text)
    while len(clauses) > 1 and len(" ".join(clauses).rstrip(",;")) > width:
        clauses.pop()
    words = " ".join(clauses).rstrip(",;").split(" ")
    while len(words) > 1 and len(" ".join(words)) > width:
        words.pop()
    return " ".join(words)


SPINNER = 3
"""Columns for the spinner before a status line, and one that stays free at the end."""


class LiveStatus:
    """A status line on a terminal that rewrites itself, never wider than the terminal."""

    def __init__(self, status: Status, width: Callable[[], int]) -> None:
        self._status = status
        self._width = width
        self._stage = ""

    def stage(self, text: str) -> None:
        self._stage = text
        self._update(text)

    def tell(self, event: Event) -> None:
        for line in lasting_lines(event):
            self._status.console.print(line)
        self._update(f"{self._stage}  {event}" if self._stage else str(event))

    def _update(self, text: str) -> None:
        from rich.text import Text

        text = printable(text)
        self._status.update(Text(fitted(text, self._width() - SPINNER)))


@contextmanager
def open_progress(
    stream: TextIO, environ: Mapping[str, str], *, visible: bool = True, color: Color = "auto"
) -> Iterator[Progress]:
    """Open the progress that suits `stream`: a status line only on a terminal outside CI."""
    if not visible:
        yield Silent()
        return
    if environ.get("CI") or environ.get("TERM") == "dumb" or not stream.isatty():
        lines = ProgressLines(stream, every_level=bool(environ.get("CI")))
        try:
            yield lines
        finally:
            lines.close()
        return
    from rich.console import Console

    console = Console(file=stream, no_color=color == "never" or None, highlight=False, markup=False)
    with console.status("starting") as status:
        yield LiveStatus(status, lambda: console.width)
