"""Stories of files that lag: the leader epoch cache behind a truncation (F-69), the checkpoint behind the watermark."""

from __future__ import annotations

from typing import Any

from elrcheck.model.choices import EpochFile
from elrcheck.model.state import Acks

LATE: dict[str, Any] = {
    "epoch_file": EpochFile.LATER,
    "late_flushes": 1,
    "log_slots": 2,
    "records": 2,
    "crashes": 1,
    "kills": 1,
    "clean_stops": 1,
    "fences": 4,
    "response_loss": False,
    "fetch_loss": False,
}
FENCED_0, FENCED_1 = (("Fence", 0), ("Unfence", 0)), (("Fence", 1), ("Unfence", 1))
WRITTEN, FETCHED = ("Produce", 0, Acks.ALL), ("Fetch", 1, 0, False)
# Broker 1 leads without writing; broker 0 writes in the epoch before, leads again, and has broker 1 truncate.
CUT = (
    *FENCED_0,
    WRITTEN,
    FETCHED,
    ("ApplyMetadata", 1),
    *FENCED_1,
    ("ApplyMetadata", 1),
    WRITTEN,
    ("ApplyMetadata", 0),
    FETCHED,
)
RESTARTED = (*CUT, FETCHED, ("CleanStop", 1), ("Start", 1), ("Register", 1))
LEADS = (*RESTARTED, ("ApplyMetadata", 1), ("Fence", 0), ("Unfence", 1), ("ApplyMetadata", 1))
SHORTER = (WRITTEN, FETCHED, WRITTEN, *FENCED_0, ("ApplyMetadata", 1), ("ApplyMetadata", 0))
OLD: dict[str, Any] = {**LATE, "late_flushes": 0, "kills": 2, "old_checkpoints": 1, "log_slots": 1, "records": 1}
COMMITTED = (WRITTEN, FETCHED, FETCHED, ("Kill", 0))

LATE_FLUSH_CASES: dict[str, tuple[dict[str, Any], tuple[tuple[Any, ...], ...]]] = {
    "cut-before-the-flush": (LATE, CUT),
    "grown-before-the-flush": (LATE, (*CUT, FETCHED)),
    "loaded-too-much": (LATE, RESTARTED),
    "following-with-too-much": (LATE, (*RESTARTED, ("ApplyMetadata", 1))),
    "leading-with-too-much": (LATE, LEADS),
    "led-with-too-much": (LATE, (*LEADS, ("Unfence", 0), *FENCED_1)),
    "cut-within-an-epoch": (LATE, SHORTER),
    "killed-after-a-commit": (OLD, COMMITTED),
    "killed-before-another-checkpoint": (OLD, (*COMMITTED, ("Start", 0), ("Kill", 0))),
}
