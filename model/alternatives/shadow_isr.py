"""A shadow ISR instead of the ELR: an alternative that KIP-966 rejected (E-10, knob `shadow_isr`).

The last member of the ISR always stays in it, and leads when it is back. After an unclean shutdown it is RECOVERING:
before it serves, it copies the records that it lost from a member of the shadow ISR. The ELR field stores the shadow
ISR, by the rule of the ELR, but its members are not electable.

The operators here are the hooks that the rules of the protocol call. `elrcheck.model.broker.shadow_isr_sync` has the
return of the last member.
"""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.runtime import EMPTY, op
from elrcheck.model.change_record import Draft, Target, election_type, target
from elrcheck.model.config import Config
from elrcheck.model.elr import eligible_members, needed, with_elr, with_empty_elr
from elrcheck.model.replicas import Replica, RSet
from elrcheck.model.replication_control import Controller, active
from elrcheck.model.state import Partition, Recovery, State


@op
def update_shadow_isr(c: Config, p: Partition, draft: Draft, target: Target) -> Draft:
    """Step 2 of the change builder: the rule of the ELR, but the last member of the ISR stays in it."""
    if len(draft.isr) >= needed(c, target, p.replicas):
        return with_empty_elr(c, draft)
    stays = p.isr if draft.isr == EMPTY and not target.elr_enabled else EMPTY
    return with_elr(c, p, draft, eligible_members(c, p, draft, target) - stays)


@op
def electable(c: Config, elr: RSet) -> RSet:
    """The electable ELR members: all of them, but no member of a shadow ISR."""
    return EMPTY if c.shadow_isr else elr


@op
def synchronises(c: Config, s: State, leader: Replica) -> bool:
    """The leader is still copying lost records from the shadow ISR, and does not serve yet."""
    return c.shadow_isr and s.partition.leader == leader and s.partition.recovery == Recovery.RECOVERING


@op
def serves(c: Config, s: State, leader: Replica) -> bool:
    """A leader serves clients and followers at once, unless it must copy from a shadow ISR first."""
    return not synchronises(c, s, leader)


@op
def shadow_registration(c: Config, controller: Controller, b: Replica) -> Target:
    """A new incarnation of b registers after an unclean shutdown, so it may have lost data.

    It leaves the shadow ISR; as the last member of the ISR it will lead, but must recover first (E-10).
    """
    p = controller.partition
    acceptable = active(c, controller.registration) - {b}
    base = target(controller, p.isr, election_type(c, controller.settings), acceptable, frozenset({b}))
    last = b in p.isr and p.leader is None
    return replace(base, recovery=Recovery.RECOVERING) if last else base
