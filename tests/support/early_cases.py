"""Stories of a process that acts before it is registered, for the coverage of its branches (F-65)."""

from __future__ import annotations

from typing import Any

from elrcheck.model.choices import BeforeRegistration
from elrcheck.model.state import Acks

EARLY: dict[str, Any] = {
    "before_registration": BeforeRegistration.ACTS,
    "early_starts": 1,
    "early_writes": 1,
    "response_loss": False,
    "fetch_loss": False,
}
WRITTEN = (("Produce", 0, Acks.ALL), ("Fetch", 1, 0, False))
LEAVES = (("Fence", 1), ("ApplyMetadata", 0))
FETCHES = (*LEAVES, ("Unfence", 1), ("Crash", 1, 0), ("Start", 1), ("ApplyEarly", 1), ("Fetch", 1, 0, False))


def started(keep: int) -> tuple[tuple[Any, ...], ...]:
    """Broker 0 dies with `keep` records left and starts again."""
    return ("Crash", 0, keep), ("Start", 0)


EARLY_CASES: dict[str, tuple[dict[str, Any], tuple[tuple[Any, ...], ...]]] = {
    "acting-early": ({**EARLY, "records": 2, "log_slots": 2}, (*WRITTEN, *started(0))),
    "acting-early-full": ({**EARLY, "records": 2}, (*WRITTEN, *started(1), ("ApplyEarly", 0))),
    "waiting-for-the-registration": ({"early_starts": 1}, started(0)),
    "acting-early-alone": ({**EARLY, "records": 1, "fences": 1}, (*LEAVES, *started(0), ("ApplyEarly", 0))),
    # The request of the process before is still under way.
    "acting-early-with-a-proposal": (
        {**EARLY, "min_isr": 1, "records": 0, "fences": 1},
        (*LEAVES, ("Unfence", 1), ("Fetch", 1, 0, False), ("ExpandIsr", 0, 1), *started(0), ("ApplyEarly", 0)),
    ),
    "following-early": ({**EARLY, "records": 1, "fences": 1}, FETCHES),
    # The fetch brings a record, of which the leader hears with the next one.
    "following-early-behind": ({**EARLY, "records": 1, "fences": 1}, (("Produce", 0, Acks.ALL), *FETCHES)),
    "following-early-and-registered": ({**EARLY, "records": 0, "fences": 1}, (*FETCHES, ("Register", 1))),
    # Broker 0 still leads by its own view.
    "early-without-a-leader": ({**EARLY, "records": 0, "fences": 2}, (*FETCHES, ("Fence", 0), ("ApplyEarly", 1))),
}
