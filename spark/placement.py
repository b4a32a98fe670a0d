"""Where the next level is made: in the driver or on Spark.

A level on Spark costs some tenths of a second whatever is in it, one in the driver nothing but its
states. Both are measured while the search goes on: the first by a level of no states when the session
has started, the second by the levels that the driver makes.
"""

from __future__ import annotations

from dataclasses import dataclass

PAYS = 4.0
"""A level goes to Spark when the driver would take this many times as long as Spark does for nothing."""
SHRUNK = 0.5
"""A level comes back when it is this much smaller than the one that went."""
ENOUGH = 2000
"""States of a level that say how fast the driver is; smaller ones are mostly beginning and end."""
LOADING = 0.4
"""Taking a known state from a file, in units of what the driver takes to explore one (measured)."""


@dataclass
class Placement:
    """handover: states of a level from which on Spark makes the next one; None: by time.

    floor: seconds of a level on Spark without states. pace: seconds per state in the driver so far.
    went: states of the level that went to Spark. levels: made in the driver. stays: the driver has no room.
    """

    handover: int | None = None
    floor: float = 0.0
    pace: float = 0.0
    went: int = 0
    levels: int = 0
    stays: bool = False

    def measured(self, states: int, seconds: float) -> None:
        """The driver has expanded so many states in so much time."""
        self.levels += 1
        if states >= ENOUGH:
            self.pace = seconds / states

    def goes(self, frontier: int) -> bool:
        """Whether the next level, made from so many states, is for Spark."""
        if self.handover is not None:
            return frontier >= self.handover
        return frontier * self.pace > PAYS * self.floor

    def gone(self, frontier: int) -> None:
        self.went = frontier

    def returns(self, frontier: int, distinct: int) -> bool:
        """Whether the driver makes the rest of the search.

        It has to load all states first. That pays if the levels that are left, about as many as there
        were before the frontier had grown, would cost Spark more.
        """
        if self.stays or frontier >= SHRUNK * self.went:
            return False
        return self.handover is not None or distinct * self.pace * LOADING < self.levels * self.floor
