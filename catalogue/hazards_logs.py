"""Hazards of logs and fetching, F-6 to F-18; the whole table is `elrcheck.catalogue.hazards`."""

from __future__ import annotations

from elrcheck.catalogue.hazard import Hazard
from elrcheck.model.choices import FetchFencing, Propagation, Truncation

LOGS: tuple[Hazard, ...] = (
    Hazard(
        "F-6",
        "KIP-101, KAFKA-1211, KAFKA-3919",
        "Truncation to the high watermark",
        expected=("P-2", "P-26"),
        # A follower that has not heard of the watermark yet follows another leader.
        settings={"broker_count": 3, "fences": 1},
        knobs={"truncation": Truncation.HIGH_WATERMARK},
    ),
    Hazard(
        "F-7",
        "KIP-279, KAFKA-6361",
        "Truncation by one answer for the leader epoch",
        expected=("P-5", "P-2", "P-4"),
        # Two records of an old epoch against one of a newer epoch that the leader does not know.
        settings={"fences": 2, "records": 3, "log_slots": 2, "acks_one": 1},
        knobs={"truncation": Truncation.ONE_SHOT},
    ),
    # Refusing lower epochs alone (ONLY_LOWER) is enough here: a replica that is behind does the harm.
    Hazard(
        "F-8a",
        "KIP-320, KAFKA-7395",
        "No leader epoch in the fetch",
        expected=("P-2", "P-26"),
        # A follower that is behind fetches records of a later epoch; then it learns that it led in between.
        settings={"metadata": Propagation.LOG, "fences": 2, "records": 2, "log_slots": 2, "acks_one": 1},
        knobs={"fetch_fencing": FetchFencing.NONE},
    ),
    Hazard(
        "F-8b",
        "KIP-320, KAFKA-7395",
        "A fetch of a lower leader epoch is served, only a higher one is refused",
        expected=("P-2", "P-26"),
        settings={"metadata": Propagation.LOG, "fences": 2, "records": 2, "log_slots": 2, "acks_one": 1},
        knobs={"fetch_fencing": FetchFencing.ONLY_HIGHER},
    ),
    Hazard(
        "F-9",
        "KAFKA-7164",
        "Truncation only at the first fetch",
        expected=("P-2", "P-4", "P-25"),
        # The same broker leads before and after another one; a follower never hears of the other.
        settings={"broker_count": 3, "min_isr": 3, "fences": 1, "elections": 1, "records": 2},
        knobs={"truncation": Truncation.NEW_LEADER},
    ),
    Hazard(
        "F-10",
        "KAFKA-7415",
        "A new leader does not remember where its epoch starts",
        expected=("P-2", "P-13", "P-26"),
        settings={"fences": 2, "records": 2, "log_slots": 2, "acks_one": 1, "fetch_loss": True},
        knobs={"leader_caches_epoch": False},
    ),
    Hazard(
        "F-11",
        "KAFKA-7128",
        "A follower joins by the high watermark alone",
        expected=("P-27", "P-2"),
        # The new leader's watermark lags only if the fetch that would tell it is lost.
        settings={"crashes": 1, "fetch_loss": True},
        knobs={"join_requires_epoch_start": False},
    ),
    Hazard(
        "F-13",
        "KAFKA-15221",
        "An old fetch of a restarted follower counts",
        expected=("P-27", "P-2"),
        settings={"crashes": 1},
        knobs={"proposal_names_proof": False},
    ),
    Hazard(
        "F-14",
        "KAFKA-18991",
        "A fetch answer of an older leader epoch is applied",
        expected=("P-26", "P-2", "P-27"),
        settings={"min_isr": 1, "fences": 2, "records": 2, "late_fetches": 1},
        knobs={"response_checks_epoch": False},
    ),
    Hazard(
        "F-15",
        "KAFKA-13959 (related)",
        "A restarted broker acts on metadata from before its registration",
        expected=("P-1", "P-2", "P-8", "P-6", "P-27"),
        settings={"crashes": 1, "metadata": Propagation.LOG},
        knobs={"registration_catch_up": False},
    ),
    Hazard(
        "F-17",
        "KAFKA-15510",
        "An empty answer forgets the last fetched epoch",
        expected=("P-2", "P-4", "P-25"),
        settings={"broker_count": 3, "min_isr": 3, "fences": 1, "elections": 1, "records": 2},
        knobs={"truncation": Truncation.UNTIL_EMPTY},
    ),
    Hazard(
        "F-18a",
        "KAFKA-18723",
        "Records of a later leader epoch than the fetch are appended",
        expected=("P-5", "P-2", "P-4", "P-25"),
        # Between request and read the leader becomes a follower and gets another log.
        settings={"broker_count": 3, "shutdowns": 1, "records": 3, "log_slots": 2, "late_fetches": 1},
        knobs={"response_checks_records": False},
    ),
    Hazard(
        "F-18b",
        "KAFKA-13207",
        "An answer from a leader that is no longer followed is applied",
        left_out="a leader epoch has one leader, so whoever compares epochs (F-14) has compared leaders",
    ),
)
