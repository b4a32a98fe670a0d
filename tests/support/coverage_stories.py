"""Situations that lie deep: the steps that lead to them, and the configuration; part of `coverage_suite`.

name -> (knobs, steps before the search).
"""

from __future__ import annotations

from typing import Any

from elrcheck.lang.plain import Label
from elrcheck.model.choices import (
    BalancedEnd,
    LastKnownLeader,
    MinIsrChange,
    RecoveryQuorum,
    Reregistration,
    Truncation,
)
from elrcheck.model.control_plane.controller_event import MinIsrLevel
from elrcheck.model.state import Acks
from support.coverage_knobs import (
    BY_HAND,
    LAGGING_MIN_ISR,
    LEADERLESS,
    LOG,
    MIN_ISR_DUE,
    QUIET,
    SHADOW,
    SKIPPING,
    variant,
)


def story(*steps: tuple[Any, ...]) -> tuple[Label, ...]:
    """Steps as (action, argument, ...)."""
    return tuple(Label(step[0], tuple(step[1:])) for step in steps)


def restarted(b: int, keep: int) -> tuple[tuple[Any, ...], ...]:
    """b dies with `keep` records left and registers again."""
    return ("Crash", b, keep), ("Start", b), ("Register", b)


# A fenced follower moves the leader's epoch, while it still is in the one before.
LATE = {"late_fetches": 1, "fences": 1, "min_isr": 1, "bump_leader_epoch_on_isr_shrink": True}
BOTH_UNCLEAN = story(*restarted(1, 0), *restarted(0, 0))
STORIES: dict[str, tuple[dict[str, Any], tuple[Label, ...]]] = {
    **{
        f"quorum-{quorum.name}": ({**LEADERLESS, "recovery_quorum": quorum, "failovers": 1}, BOTH_UNCLEAN)
        for quorum in RecoveryQuorum
    },
    # Broker 0 has missed two records, the second of which says nothing new to it.
    "skipping-lagging": ({**SKIPPING, **LOG, "broker_count": 3, "fences": 2}, story(("Fence", 0), ("Fence", 2))),
    "phase-1": ({**variant("kip_phase1"), **BY_HAND}, BOTH_UNCLEAN),
    # Broker 1 knows of its own restart, but not that broker 0 has lost the lead since.
    "answer-of-an-older-epoch": (
        {**LEADERLESS, "failovers": 1},
        story(
            *restarted(1, 0),
            ("ApplyMetadata", 1),
            *restarted(0, 0),
            ("ApplyMetadata", 0),
            ("Unfence", 0),
            ("Unfence", 1),
            ("StartRecovery",),
            ("SendLogInfo", 1),
        ),
    ),
    # Broker 1 is fenced and stays in the ISR, which is proposed with broker 2.
    "kept-min-isr": (
        {"broker_count": 3, "keep_min_isr": True, "fences": 2, "crashes": 0, **QUIET},
        story(
            ("Fence", 2),
            ("Fence", 1),
            ("Unfence", 2),
            ("ApplyMetadata", 0),
            ("ApplyMetadata", 2),
            ("Fetch", 2, 0, False),
            ("ExpandIsr", 0, 2),
        ),
    ),
    "active-last-known": ({**variant("code_4_1"), **LEADERLESS}, BOTH_UNCLEAN),
    **{
        f"longest-log-{keep}": (
            {**LEADERLESS, "records": 2, "log_slots": 2},
            story(
                ("Produce", 0, Acks.ALL),
                ("Fetch", 1, 0, False),
                ("Produce", 0, Acks.ALL),
                *restarted(1, keep),
                *restarted(0, 2),
            ),
        )
        for keep in (0, 1)
    },
    # Broker 0 has two records of epoch 1, the leader after it has one of them.
    "diverging-in-an-epoch": (
        {"records": 2, "log_slots": 2, "fences": 1},
        story(
            ("Produce", 0, Acks.ALL),
            ("Fetch", 1, 0, False),
            ("Produce", 0, Acks.ALL),
            ("Fence", 0),
            ("ApplyMetadata", 1),
            ("ApplyMetadata", 0),
        ),
    ),
    # Each broker wrote a record in an epoch that the other never saw.
    "diverging-by-an-epoch": (
        {"records": 2, "min_isr": 1, "fences": 2, "unclean_leader_election_enable": True},
        story(
            ("Fence", 0),
            ("ApplyMetadata", 1),
            ("Produce", 1, Acks.ALL),
            ("Crash", 1, 1),
            ("Fence", 1),
            ("Unfence", 0),
            ("ApplyMetadata", 0),
            ("Produce", 0, Acks.ALL),
            ("Start", 1),
            ("Register", 1),
            ("ApplyMetadata", 1),
            ("Unfence", 1),
            ("Fence", 0),
            ("ApplyMetadata", 1),
            ("ApplyMetadata", 0),
        ),
    ),
    # The same where the follower cuts its log at what the leader answers first.
    "diverging-once": (
        {"records": 2, "log_slots": 2, "fences": 1, "truncation": Truncation.ONE_SHOT},
        story(
            ("Produce", 0, Acks.ALL),
            ("Fetch", 1, 0, False),
            ("Produce", 0, Acks.ALL),
            ("Fence", 0),
            ("ApplyMetadata", 1),
            ("ApplyMetadata", 0),
        ),
    ),
    # The leader loses its log and leads on; its follower does not compare logs any more.
    "settled-beyond-the-leader": (
        {"elr_enabled": False, "rereg_without_elr": Reregistration.IGNORE, "truncation": Truncation.NEW_LEADER},
        story(("Produce", 0, Acks.ALL), ("Fetch", 1, 0, False), *restarted(0, 0), ("ApplyMetadata", 0)),
    ),
    **{
        f"late-record-{'checked' if checked else 'unchecked'}": (
            {**LATE, "response_checks_records": checked},
            story(
                ("SendLateFetch", 1, 0),
                ("Fence", 1),
                ("ApplyMetadata", 0),
                ("Produce", 0, Acks.ALL),
                ("ReadForLateFetch",),
            ),
        )
        for checked in (True, False)
    },
    "acked": (
        {"tracks_acks": True, "records": 2, "log_slots": 2, "acks_one": 1, "min_isr": 1, "crashes": 0},
        story(("Produce", 0, Acks.ALL), ("Fetch", 1, 0, False)),
    ),
    "ended-at-once": (
        {
            **LEADERLESS,
            "balanced_end": BalancedEnd.AT_ONCE,
            "unclean_election_clears_last_known": True,
            "unclean_elections": 1,
        },
        BOTH_UNCLEAN,
    ),
    "late-while-restarting": ({**LATE, **QUIET}, story(("SendLateFetch", 1, 0))),
    # The last member of the ISR returns after an unclean stop; the other one is in the shadow.
    **{
        f"synchronising-{lasting}-of-{copied}": (
            {**SHADOW, "sync_may_be_skipped": lasting == 1, "crashes": 2, "response_loss": False},
            story(
                ("Produce", 0, Acks.ALL),
                *[("Fetch", 1, 0, False)] * copied,
                ("Fence", 1),
                ("Crash", 0, lasting),
                ("Fence", 0),
                ("Start", 0),
                ("Register", 0),
                ("ApplyMetadata", 0),
                ("Unfence", 0),
                ("ApplyMetadata", 0),
            ),
        )
        for lasting, copied in ((0, 1), (1, 0))
    },
    # Broker 0, in the shadow, holds a record that the last member, broker 1, never had.
    "synchronising-with-another-log": (
        {**SHADOW, "records": 2, "acks_one": 1},
        story(
            ("Produce", 0, Acks.ALL),
            ("Fence", 0),
            ("ApplyMetadata", 1),
            ("Produce", 1, Acks.ONE),
            ("Crash", 1, 1),
            ("Fence", 1),
            ("Start", 1),
            ("Register", 1),
            ("ApplyMetadata", 1),
            ("Unfence", 1),
            ("ApplyMetadata", 1),
        ),
    ),
    # Broker 0 leads while it is fenced; its AlterPartition would end its recovery and elects broker 2.
    "recovered-and-overruled": (
        {
            "broker_count": 3,
            "crashes": 2,
            "fences": 3,
            "unclean_leader_election_enable": True,
            "last_known_leader": LastKnownLeader.ANY,
            "last_known_in_every_election": True,
            "alter_checks_fenced": False,
            **QUIET,
        },
        story(
            ("Fence", 1),
            ("Fence", 2),
            *restarted(0, 0),
            *restarted(2, 0),
            ("ApplyMetadata", 0),
            ("ApplyMetadata", 1),
            ("ApplyMetadata", 2),
            ("Fetch", 1, 0, False),
            ("ExpandIsr", 0, 1),
            ("Unfence", 2),
        ),
    ),
}
LATE_ANSWER: dict[str, Any] = {"broker_count": 3, "late_answers": 1, "shrinks": 1, "fences": 1}
# Broker 0 reads that broker 2 was fenced before it has the answer that grants an ISR without broker 1.
ANSWERED_LATE = story(
    ("Produce", 0, Acks.ALL),
    ("ShrinkIsr", 0, frozenset({1})),
    ("ControllerAlters", 0),
    ("Fence", 2),
    ("ApplyMetadataFirst", 0),
)
# The next few steps are all that is asked for.
AT_ONCE: dict[str, tuple[dict[str, Any], tuple[Label, ...]]] = {
    "late-answer": ({**LATE_ANSWER, "crashes": 1}, ANSWERED_LATE),
    # Broker 0 has not read that 2 was fenced, and min ISR has been 1 since; it may be raised once more.
    "min-isr-raised-twice": (
        {"broker_count": 3, "min_isr": 3, "min_isr_changes": 3, "fences": 1, "crashes": 0},
        story(("Fence", 2), ("ChangeMinIsr", MinIsrLevel.TOPIC, 1), ("ChangeMinIsr", MinIsrLevel.TOPIC, 2)),
    ),
    "late-answer-by-epoch": ({**LATE_ANSWER, "answer_needs_proposal": False, "crashes": 0}, ANSWERED_LATE),
    "promises": (
        {"min_isr_changes": 2, "crashes": 0},
        story(("Produce", 0, Acks.ALL), ("Fetch", 1, 0, False), ("Fetch", 1, 0, False)),
    ),
    "granted-with-min-isr": (
        {**LAGGING_MIN_ISR, "alter_answer_carries_min_isr": True, "crashes": 0, "shrinks": 1},
        story(("Produce", 0, Acks.ALL), ("ShrinkIsr", 0, frozenset({1})), ("ControllerAlters", 0)),
    ),
    "min-isr-due": (
        {**MIN_ISR_DUE, **LOG, "min_isr": 1, "crashes": 0, "fences": 1, **QUIET},
        story(("ChangeMinIsr", MinIsrLevel.TOPIC, 2), ("Fence", 1), ("ApplyMetadata", 0)),
    ),
    # The leader has its partition epoch from an answer, and neither that record nor the value.
    "min-isr-due-ahead": (
        {
            **MIN_ISR_DUE,
            "late_answers": 1,
            "known_record_ends_proposal": True,
            "min_isr": 1,
            "crashes": 0,
            "shrinks": 1,
        },
        story(
            ("Produce", 0, Acks.ALL),
            ("ShrinkIsr", 0, frozenset({1})),
            ("ControllerAlters", 0),
            ("LeaderLearns", 0),
            ("ChangeMinIsr", MinIsrLevel.TOPIC, 2),
        ),
    ),
    # Broker 0 is all of the LastKnownELR and has answered; an operator may empty the LastKnownELR.
    "recovery-without-anyone-to-wait-for": (
        {**LEADERLESS, "min_isr": 1, "min_isr_changes": 1, "min_isr_change": MinIsrChange.ALWAYS},
        story(
            *restarted(1, 0),
            *restarted(0, 0),
            ("ApplyMetadata", 0),
            ("ApplyMetadata", 1),
            ("Unfence", 0),
            ("Unfence", 1),
            ("StartRecovery",),
            ("SendLogInfo", 0),
            ("AcceptLogInfo", 0),
        ),
    ),
    # Broker 0 has committed a record alone; broker 1, elected uncleanly, commits two others.
    "committed-instead": (
        {"min_isr": 1, "records": 3, "log_slots": 2, "fences": 2, "crashes": 0, "unclean_leader_election_enable": True},
        story(
            ("Fence", 1),
            ("ApplyMetadata", 0),
            ("Produce", 0, Acks.ALL),
            ("Fence", 0),
            ("Unfence", 1),
            ("ApplyMetadata", 1),
            ("Produce", 1, Acks.ALL),
        ),
    ),
}
