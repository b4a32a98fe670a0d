"""P-10 to P-12 and P-17 to P-20 for every partition; `membership` has these properties for one partition.

The statements about one partition are those of the proof of the controller (`controller_legal`).
"""

from __future__ import annotations

from elrcheck.invariants.controller_legal import (
    elr_is_below_min_isr,
    isr_is_legal,
    leader_is_legal,
    leaderless_iff_isr_empty,
    members_are_replicas,
    nobody_waits,
)
from elrcheck.lang.runtime import EMPTY, always, conj, implies, op
from elrcheck.model.partitions.controller_config import ControllerConfig
from elrcheck.model.partitions.controller_state import ControllerState, Part, Topic
from elrcheck.model.partitions.images import controller_at
from elrcheck.model.state import Directory


@always("P-10")
def IsrElrDisjoint(c: ControllerConfig, s: ControllerState) -> bool:
    """No broker is in the ISR and in the ELR of a partition."""
    return conj(
        disjoint=all(
            s.topics[t].parts[p].partition.isr & s.topics[t].parts[p].partition.elr == EMPTY
            for t in range(c.topics)
            for p in range(c.partitions)
        )
    )


@always("P-11")
def ElrOnlyBelowMinIsr(c: ControllerConfig, s: ControllerState) -> bool:
    """A partition has an ELR only while its ISR is below min ISR."""
    return conj(
        below_min_isr=all(
            elr_is_below_min_isr(c, controller_at(c, s, t, p)) for t in range(c.topics) for p in range(c.partitions)
        )
    )


@always("P-12")
def MembersAreReplicas(c: ControllerConfig, s: ControllerState) -> bool:
    """ISR, ELR and LastKnownELR name replicas only."""
    return conj(
        replicas=all(
            members_are_replicas(controller_at(c, s, t, p)) for t in range(c.topics) for p in range(c.partitions)
        )
    )


@always("P-17")
def LeaderInIsr(c: ControllerConfig, s: ControllerState) -> bool:
    """The leader of a partition is in its ISR."""
    return conj(
        leader_in_isr=all(
            leader_is_legal(controller_at(c, s, t, p)) for t in range(c.topics) for p in range(c.partitions)
        )
    )


@op
def whole(c: ControllerConfig, s: ControllerState, t: Topic, p: Part) -> bool:
    """No ISR member has its replica in a log directory that has failed."""
    image = s.topics[t].parts[p]
    return all(image.directory[b] != Directory.OFFLINE for b in image.partition.isr)


@always("P-18")
def LeaderlessIffIsrEmpty(c: ControllerConfig, s: ControllerState) -> bool:
    """With ELR on, a partition is leaderless exactly when its ISR is empty, unless a member's directory has failed."""
    return conj(
        leaderless_iff_empty=all(
            implies(s.settings.elr_enabled and whole(c, s, t, p), leaderless_iff_isr_empty(controller_at(c, s, t, p)))
            for t in range(c.topics)
            for p in range(c.partitions)
        )
    )


@always("P-19")
def IsrMembersActive(c: ControllerConfig, s: ControllerState) -> bool:
    """A fenced broker is in no ISR, except as the last member in a leaderless partition (KIP-841)."""
    return conj(
        isr_active=all(isr_is_legal(c, controller_at(c, s, t, p)) for t in range(c.topics) for p in range(c.partitions))
    )


@always("P-20")
def NoNeedlessStall(c: ControllerConfig, s: ControllerState) -> bool:
    """No partition is leaderless while one of its candidates is active with an online log directory.

    An ISR member, even one whose log directory has failed, prevents an election from the ELR.
    """
    return conj(
        elected=all(
            implies(whole(c, s, t, p), nobody_waits(c, controller_at(c, s, t, p)))
            for t in range(c.topics)
            for p in range(c.partitions)
        )
    )
