"""Placement of the next level: in the driver or on Spark.

A level on Spark has a fixed cost of some tenths of a second; a level in the driver costs only its states.
Both are measured: the first with an empty level after the session has started, the second with the levels
that the driver computes.
"""

from __future__ import annotations

from dataclasses import dataclass

PAYS = 4.0
"""A level goes to Spark if the driver would need this many times the seconds of an empty level on Spark."""
SHRUNK = 0.5
"""The search returns to the driver when a level is at most this fraction of the first one on Spark."""
ENOUGH = 2000
"""Smallest level, in states, from which to measure the driver's speed; smaller ones are mostly overhead."""
LOADING = 0.4
"""Cost of loading a known state from a file, relative to exploring one in the driver (measured)."""


@dataclass
class Placement:
    """Decides where the next level is computed.

    handover: size of a level, in states, from which Spark computes the next one; None to decide by time.
    floor: seconds for an empty level on Spark. pace: seconds per state in the driver so far. moved_at: size of
    the level at which the search moved to Spark. levels: computed in the driver. too_large: the states no longer
    fit into the driver.
    """

    handover: int | None = None
    floor: float = 0.0
    pace: float = 0.0
    moved_at: int = 0
    levels: int = 0
    too_large: bool = False

    def measured(self, states: int, seconds: float) -> None:
        """Record that the driver expanded this many states in this time."""
        self.levels += 1
        if states >= ENOUGH:
            self.pace = seconds / states

    def favours_spark(self, frontier: int) -> bool:
        """Return True if Spark should compute the next level, from a frontier of this size."""
        if self.handover is not None:
            return frontier >= self.handover
        return frontier * self.pace > PAYS * self.floor

    def favours_driver(self, frontier: int, distinct: int) -> bool:
        """Return True if the driver should compute the rest of the search.

        It has to load all states first. That pays off if the remaining levels, about as many as the driver has
        computed so far, would cost more on Spark.
        """
        if self.too_large or frontier >= SHRUNK * self.moved_at:
            return False
        return self.handover is not None or distinct * self.pace * LOADING < self.levels * self.floor
