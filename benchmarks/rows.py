"""The rows of `table.py`, what it compares them with, and groups of problems, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spin import MODES

GROUPS: Mapping[str, tuple[str, ...]] = {
    "table": ("three-brokers", "two_phase@rms=9"),
    "quick": ("two-brokers", "two_phase"),
    "growth": ("three-brokers@metadata=log,records=2,log_slots=2,response_loss=true,shrinks=1",),
    "reductions": (
        *("two-brokers", "three-brokers-tiny", "min-isr-1", "late-fetches", "recovery-two-brokers"),
        *("three-brokers-small", "min-isr-change", "four-brokers-reassign", "three-brokers-lossy-network"),
        *("three-brokers-clean-stop", "three-brokers-log", "three-brokers"),
    ),
    "protocols": (
        *("peterson", "two_phase", "paxos", "paxos_voting", "disruptor", "nbac_guerraoui", "crdt", "reusable_barrier"),
        *("atomic_commit", "disruptor_writers", "simple_regular", "two_phase@rms=7", "ewd998", "btree", "raft"),
        *("paxos_commit", "two_phase@rms=8", "multi_paxos", "fast_paxos", "snapshot_store@transactions=3"),
        "two_phase@rms=9",
    ),
}


@dataclass(frozen=True)
class TableRow:
    """An engine and its options. counts: rows of a problem with the same word search the same states and steps.

    job, arguments: for engine.py. only: the one protocol that the engine has.
    """

    name: str
    job: str
    arguments: str = ""
    counts: str = "all"
    once: bool = False
    only: str = ""


ROWS = (
    TableRow("elrcheck 1", "compiled"),
    TableRow("elrcheck 1, every step", "compiled", "--every-step"),
    TableRow("elrcheck 1, --reduce", "compiled", "--reduce", "reduced"),
    TableRow("elrcheck 1, --reduce, every step", "compiled", "--reduce --every-step", "reduced"),
    TableRow("elrcheck 1, --symmetry", "compiled", "--symmetry", "symmetric"),
    TableRow("C 1", "c"),
    *(TableRow(f"Spin {mode.cores} {mode.name}", "spin", f"--mode {k}", mode.counts) for k, mode in enumerate(MODES)),
    TableRow("Stateright 1", "stateright", only="two_phase"),
    TableRow("Stateright 1, symmetry", "stateright", "--symmetry", "symmetric", only="two_phase"),
    TableRow("elrcheck 1, state checks", "compiled", "--checks state"),
    TableRow("C 1, state checks", "c", "--checks state"),
    TableRow("elrcheck 2", "compiled", "--workers 2"),
    TableRow("elrcheck 2, all checks", "compiled", "--workers 2 --checks all"),
    TableRow("elrcheck 2, all checks, --reduce", "compiled", "--workers 2 --checks all --reduce", "reduced"),
    TableRow("elrcheck 2, all checks, --fingerprint 64", "compiled", "--workers 2 --checks all --fingerprint 64"),
    TableRow("Stateright 2", "stateright", "--workers 2", only="two_phase"),
    TableRow("TLC 2", "tlc", "--workers 2", once=True),
    TableRow("TLC 2, symmetry", "tlc", "--workers 2 --symmetry", "symmetric", once=True),
    TableRow("Python 1", "reference", once=True),
)
FACTORS: tuple[tuple[str, str, float | None], ...] = (
    ("elrcheck 1", "elrcheck 1, every step", None),
    ("elrcheck 1, --reduce, every step", "elrcheck 1, every step", None),
    ("elrcheck 1, --reduce", "elrcheck 1, every step", None),
    ("elrcheck 1, --symmetry", "elrcheck 1, every step", None),
    ("elrcheck 2", "elrcheck 1", None),
    ("elrcheck 1", "C 1", 1.5),
    ("elrcheck 1, every step", "C 1", None),
    ("elrcheck 1, state checks", "C 1, state checks", 0.8),
    ("elrcheck 1", "Spin 1 depth-first", 2.0),
    ("elrcheck 1", "Spin 1 breadth-first", 2.0),
    ("elrcheck 2", "Spin 2 depth-first", 2.0),
    ("elrcheck 2", "Spin 2 breadth-first", 2.0),
    ("elrcheck 1", "Stateright 1", None),
    ("elrcheck 2", "Stateright 2", None),
    ("elrcheck 1, --symmetry", "Stateright 1, symmetry", None),
    ("elrcheck 2", "TLC 2", 500.0),
    ("elrcheck 1", "Python 1", 40.0),
)
"""A row, the one that it is compared with, and the least ratio of states a second that was wanted."""
