"""Properties as assertions about the controller's classes, in Java: a test ends with one.

The controller's classes know its registrations but nothing of the brokers' logs. So a property of data becomes: only
brokers that have every committed record in the trace may lead or be candidates.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from elrcheck.base.errors import UsageFault
from elrcheck.kafka.controller_steps import AlterPartition, Register
from elrcheck.kafka.junit.controller_walk import ControllerWalk
from elrcheck.lang.runtime import EMPTY
from elrcheck.model.broker.logs import is_prefix
from elrcheck.model.config import Config
from elrcheck.model.min_isr import effective_min_isr
from elrcheck.model.replication_control import active, has_online_directory
from elrcheck.model.state import State, Status, configured_min_isr


@dataclass(frozen=True)
class Assertion:
    """Java at the end of a test. says: the same in words; uses: what the context must offer.

    first: Java before the first call; before: before the last call; call: instead of the last call. waits: the step
    from which the trace only waits, so that a repair may show in any later one; None if it does not wait.
    """

    says: str
    condition: str
    uses: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    call: str | None = None
    waits: int | None = None


def assertion_of(walk: ControllerWalk, ident: str, testable: Collection[str] = ()) -> Assertion:
    """Return the assertion for a property at the end of this walk.

    testable: what a message suggests instead. Raises UsageFault if the classes cannot show the property.
    """
    if ident not in ASSERTIONS:
        message = f"{ident or 'a trace without a property'} cannot be asserted of the controller's classes"
        help = f"a test can state: {', '.join(testable or ASSERTIONS)}"
        raise UsageFault("junit-property", message, help=help)
    assertion = ASSERTIONS[ident](walk)
    if assertion is None:
        message = f"the trace does not end in a violation of {ident} by the controller's classes"
        raise UsageFault("junit-property", message, help="give the trace up to the step that breaks it")
    return assertion


# ---------------------------------------------------------------------------- who is a member


def _disjoint(walk: ControllerWalk) -> Assertion | None:
    p = walk.last.partition
    if p.isr & p.elr == EMPTY:
        return None
    return Assertion("no broker is in the ISR and in the ELR", "Collections.disjoint(context.isr(), context.elr())")


def _below_min_isr(walk: ControllerWalk) -> Assertion | None:
    s = walk.last
    if s.partition.elr == EMPTY or len(s.partition.isr) < effective_min_isr(s.settings, s.partition.replicas):
        return None
    least = configured_min_isr(s.settings)
    condition = f"context.elr().isEmpty() || context.isr().size() < Math.min({least}, context.replicas().size())"
    return Assertion("there is an ELR only while the ISR is below min ISR", condition)


def _replicas(walk: ControllerWalk) -> Assertion | None:
    p = walk.last.partition
    names = [
        (java, kafka)
        for java, kafka, members in (
            ("isr", "the ISR", p.isr),
            ("elr", "the ELR", p.elr),
            ("lastKnownElr", "LastKnownELR", p.last_known_elr),
        )
        if not members <= frozenset(p.replicas)
    ]
    if not names:
        return None
    java, kafka = names[0]
    return Assertion(f"{kafka} names replicas only", f"context.replicas().containsAll(context.{java}())", (java,))


def _quorum(walk: ControllerWalk) -> Assertion | None:
    """Assert P-9, which is about one step: that step must be a call."""
    if walk.steps[-1].call is None:
        return None
    before, after = walk.steps[-1].before, walk.last
    if len(_candidates(after)) >= len(_candidates(before)):
        return None
    least = effective_min_isr(before.settings, before.partition.replicas)
    return Assertion(
        "ISR and ELR together keep min ISR members while none of them registers after an unclean shutdown",
        f"context.candidates().size() >= Math.min(before, {least})",
        ("candidates",),
        ("int before = context.candidates().size();",),
    )


def _candidates(s: State) -> frozenset[int]:
    return s.partition.isr | s.partition.elr


# ---------------------------------------------------------------------------- who leads


def _led(walk: ControllerWalk) -> Assertion | None:
    s = walk.last
    leader = s.partition.leader
    if s.settings.elr_enabled and leader is not None and not has_online_directory(s.registration[leader]):
        return Assertion("a leader's log directory is online", "context.leaderHasDirectory()", ("leaderHasDirectory",))
    if not s.settings.elr_enabled or (leader is None) == (s.partition.isr == EMPTY):
        return None
    return Assertion(
        "with ELR on, a partition is without a leader exactly if its ISR is empty",
        "context.isr().isEmpty() == (context.partition().leader == NO_LEADER)",
    )


def _isr_active(walk: ControllerWalk) -> Assertion | None:
    s = walk.last
    if not s.settings.elr_enabled or s.partition.isr <= active(walk.config, s.registration):
        return None
    return Assertion(
        "with ELR on, every member of the ISR is active", "context.active().containsAll(context.isr())", ("active",)
    )


def _stalls(walk: ControllerWalk) -> Assertion | None:
    s = walk.last
    if s.partition.leader is not None or s.partition.isr != EMPTY:
        return None
    return Assertion(
        "no partition is without a leader while an eligible replica is active",
        "context.partition().leader != NO_LEADER || Collections.disjoint(context.elr(), context.active())",
        ("active",),
    )


def _served(walk: ControllerWalk) -> Assertion | None:
    """Assert that a partition gets a leader, at the end of a trace that waits for ever."""
    waits = len(walk.steps)
    while waits > 0 and walk.steps[waits - 1].after.partition.leader is None:
        waits -= 1
    if waits == len(walk.steps):
        return None
    return Assertion(
        "the partition gets a leader once its replicas are back; here no step is left that gives it one",
        "context.partition().leader != NO_LEADER",
        waits=waits,
    )


# ---------------------------------------------------------------------------- who has the data


def _leader_complete(walk: ControllerWalk) -> Assertion | None:
    s = walk.last
    complete = _complete(walk.config, s)
    if s.partition.leader is None or s.partition.leader in complete:
        return None
    return Assertion(
        f"a leader holds every committed record, here {_of(complete)}",
        f"{_java(complete | {-1})}.contains(context.partition().leader)",
    )


def _candidates_complete(walk: ControllerWalk) -> Assertion | None:
    s = walk.last
    complete = _complete(walk.config, s)
    if _candidates(s) <= complete:
        return None
    return Assertion(
        f"every member of ISR and ELR holds every committed record, here {_of(complete)}",
        f"{_java(complete)}.containsAll(context.candidates())",
        ("candidates",),
    )


def _elr_complete(walk: ControllerWalk) -> Assertion | None:
    s = walk.last
    complete = _complete(walk.config, s)
    if s.partition.elr <= complete:
        return None
    return Assertion(
        f"every member of the ELR holds every committed record, here {_of(complete)}",
        f"{_java(complete)}.containsAll(context.elr())",
    )


def _complete(c: Config, s: State) -> frozenset[int]:
    """Return brokers with every committed record, and those of whose loss the controller cannot know yet."""
    return frozenset(b for b in c.brokers if is_prefix(s.committed, s.broker[b].log)) | s.lossy


def _excluded(walk: ControllerWalk) -> Assertion | None:
    """Assert P-14 at a registration, the only return of an unclean broker that it covers."""
    call, p = walk.steps[-1].call, walk.last.partition
    if not isinstance(call, Register) or (call.previous == "last" and call.directories is None):
        return None
    how = "after an unclean shutdown" if call.previous != "last" else "without the directory of its replica"
    if call.broker not in _candidates(walk.last):
        return None
    return Assertion(
        f"broker {call.broker}, which registers {how}, may not be elected"
        + (" and does not lead" if p.leader == call.broker else ""),
        f"!context.candidates().contains({call.broker}) && context.partition().leader != {call.broker}",
        ("candidates",),
    )


def _refused(walk: ControllerWalk) -> Assertion | None:
    """Assert P-3 where a repaired controller refuses a proposal made under metadata that is no longer the newest."""
    last = walk.calls[-1]
    step = walk.steps[last]
    call, error = step.call, step.repaired_error
    if walk.parting != last or not isinstance(call, AlterPartition) or error in (None, step.error):
        return None
    if step.before.partition.partition_epoch + call.partition_epoch != walk.first.partition.partition_epoch:
        return None
    arguments = ", ".join(map(str, (call.sender, *(m.broker for m in call.isr))))
    return Assertion(
        "an ISR proposed by a leader that has not read the newest min.insync.replicas is refused",
        f"answer == Errors.{error}",
        first=("int known = context.partition().partitionEpoch;",),
        call=f"Errors answer = context.alterPartitionOf(known, {arguments})",
    )


def _copies(walk: ControllerWalk) -> Assertion | None:
    """Assert P-29 at the step that ends a reassignment, with the members that an AlterPartition adds in it."""
    call, after = walk.steps[-1].call, walk.last
    before = walk.steps[-1].before
    complete = _complete(walk.config, before)
    proposed = frozenset(m.broker for m in call.isr) if isinstance(call, AlterPartition) else EMPTY
    copies_before = frozenset(before.partition.replicas) & (_candidates(before) | proposed) & complete
    copies_after = frozenset(after.partition.replicas) & _candidates(after) & complete
    copies = min(len(copies_before), effective_min_isr(after.settings, after.partition.replicas))
    if len(copies_after) >= copies:
        return None
    return Assertion(
        f"the end of a reassignment leaves each committed record, which {_of(complete)} hold, on {copies}"
        " replicas that may be elected",
        f"context.copies({', '.join(map(str, sorted(complete)))}) >= {copies}",
        ("copies",),
    )


def _registers(walk: ControllerWalk) -> Assertion | None:
    """Assert V-1 at the end of a trace that waits for ever: a broker that starts cannot register."""
    s = walk.last
    starting = [b for b in walk.config.brokers if s.broker[b].status == Status.STARTING]
    if not starting:
        return None
    return Assertion(
        f"broker {starting[0]}, which starts, can register", f"context.canRegister({starting[0]})", ("canRegister",)
    )


def _of(brokers: frozenset[int]) -> str:
    return f"only broker{'s' * (len(brokers) > 1)} {', '.join(map(str, sorted(brokers)))}" if brokers else "no broker"


def _java(brokers: frozenset[int]) -> str:
    return f"Set.of({', '.join(map(str, sorted(brokers)))})"


ASSERTIONS: dict[str, Callable[[ControllerWalk], Assertion | None]] = {
    "P-12": _replicas,
    "P-9": _quorum,
    "P-18": _led,
    "P-19": _isr_active,
    "P-20": _stalls,
    "P-1": _leader_complete,
    "P-13": _elr_complete,
    "P-2": _candidates_complete,
    "P-10": _disjoint,
    "P-11": _below_min_isr,
    "P-14": _excluded,
    "P-3": _refused,
    "P-29": _copies,
    "V-1": _registers,
    "V-7": _served,
    "V-8": _served,
    "V-11": _served,
}
"""Properties that a test can state, the plainest first: a finding's test states the first that it breaks."""
