"""Two-phase commit with a backup transaction manager, which takes over when the first one fails.

Source: 2PCwithBTM.tla of the TLA+ Examples (transaction_commit), by M. Demirbas. With three resource managers, one of
which may fail: 1,245 distinct states, diameter 15. TLC generates 5,841 on the published module, where it counts the
step of the backup that commits once for each way to satisfy its condition, and 5,343 on this one.
"""

from __future__ import annotations

import enum
from dataclasses import replace
from typing import Annotated

from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.runtime import action, always, config, init, op, put, require, sometimes, state
from elrcheck.lang.types import Per, sort

Manager = Annotated[int, sort("Manager", "rms")]


class Status(enum.Enum):
    """The state of a resource manager; FAILED ones are heard of no more."""

    WORKING = "working"
    PREPARED = "prepared"
    COMMITTED = "committed"
    ABORTED = "aborted"
    FAILED = "failed"


class Decision(enum.Enum):
    """The decision as the resource managers see it; HIDDEN, while the transaction manager has failed."""

    NONE = "none"
    COMMIT = "commit"
    ABORT = "abort"
    HIDDEN = "hidden"


class Step(enum.Enum):
    """The next step of a transaction manager."""

    DECIDE = "decide"
    COMMIT = "commit"
    ABORT = "abort"
    FAIL = "fail"
    DONE = "done"


@config
class Config:
    """managers_fail: one resource manager may fail. coordinator_fails: the transaction manager does once it decided."""

    rms: int = 3
    managers_fail: bool = True
    coordinator_fails: bool = True


@state
class State:
    rm: Annotated[tuple[Status, ...], Per(Manager)]
    done: frozenset[Manager]
    decision: Decision
    coordinator: Step
    backup: Step


@init
def Init(c: Config) -> State:
    return State(
        rm=tuple(Status.WORKING for r in range(c.rms)),
        done=frozenset(),
        decision=Decision.NONE,
        coordinator=Step.DECIDE,
        backup=Step.DECIDE,
    )


@op
def undecided(s: State, r: Manager) -> bool:
    return s.rm[r] in (Status.WORKING, Status.PREPARED)


@op
def can_commit(c: Config, s: State, seen: Manager | None) -> bool:
    """All managers are prepared, or one that is seen has committed."""
    if seen is None:
        return all(s.rm[r] == Status.PREPARED for r in range(c.rms))
    return s.rm[seen] == Status.COMMITTED


@op
def can_abort(c: Config, s: State, seen: Manager) -> bool:
    """One that is seen has aborted or failed, and none has committed."""
    ended = s.rm[seen] in (Status.ABORTED, Status.FAILED)
    return ended and not any(s.rm[r] == Status.COMMITTED for r in range(c.rms))


@action
def Prepare(c: Config, s: State, r: Manager) -> State:
    """A resource manager prepares."""
    require(s.rm[r] == Status.WORKING, "r is working")
    return replace(s, rm=put(s.rm, r, Status.PREPARED))


@action
def Commit(c: Config, s: State, r: Manager) -> State:
    """A resource manager sees that it is to commit."""
    require(undecided(s, r), "r is working or prepared")
    require(s.decision == Decision.COMMIT, "the decision is to commit")
    return replace(s, rm=put(s.rm, r, Status.COMMITTED))


@action
def ChooseToAbort(c: Config, s: State, r: Manager) -> State:
    """A resource manager that is not prepared aborts of its own accord."""
    require(s.rm[r] == Status.WORKING, "r is working")
    return replace(s, rm=put(s.rm, r, Status.ABORTED))


@action
def Abort(c: Config, s: State, r: Manager) -> State:
    """A resource manager sees that it is to abort."""
    require(undecided(s, r), "r is working or prepared")
    require(s.decision == Decision.ABORT, "the decision is to abort")
    return replace(s, rm=put(s.rm, r, Status.ABORTED))


@action
def Fail(c: Config, s: State, r: Manager) -> State:
    """A resource manager fails, if none has failed before; otherwise this step changes nothing."""
    require(undecided(s, r), "r is working or prepared")
    first = c.managers_fail and all(s.rm[each] != Status.FAILED for each in range(c.rms))
    return replace(s, rm=put(s.rm, r, Status.FAILED)) if first else s


@action
def End(c: Config, s: State, r: Manager) -> State:
    """A resource manager ends."""
    require(not undecided(s, r), "r has decided or failed")
    require(r not in s.done, "r has not ended")
    return replace(s, done=s.done | {r})


@action
def DecideToCommit(c: Config, s: State, seen: Manager | None) -> State:
    """The transaction manager makes up its mind to commit."""
    require(s.coordinator == Step.DECIDE, "nothing is decided")
    require(can_commit(c, s, seen), "all are prepared, or one has committed")
    return replace(s, coordinator=Step.COMMIT)


@action
def DecideToAbort(c: Config, s: State, seen: Manager) -> State:
    """The transaction manager makes up its mind to abort."""
    require(s.coordinator == Step.DECIDE, "nothing is decided")
    require(can_abort(c, s, seen), "one has aborted or failed, and none has committed")
    return replace(s, coordinator=Step.ABORT)


@action
def Announce(c: Config, s: State) -> State:
    """The transaction manager announces its decision."""
    require(s.coordinator in (Step.COMMIT, Step.ABORT), "it has made up its mind")
    decision = Decision.COMMIT if s.coordinator == Step.COMMIT else Decision.ABORT
    return replace(s, decision=decision, coordinator=Step.FAIL)


@action
def CoordinatorFails(c: Config, s: State) -> State:
    """The transaction manager fails, and its decision cannot be seen any more."""
    require(s.coordinator == Step.FAIL, "it has announced its decision")
    return replace(s, decision=Decision.HIDDEN if c.coordinator_fails else s.decision, coordinator=Step.DONE)


@action
def BackupDecidesToCommit(c: Config, s: State, seen: Manager | None) -> State:
    """The backup takes over and makes up its mind to commit."""
    require(s.backup == Step.DECIDE and s.decision == Decision.HIDDEN, "the transaction manager has failed")
    require(can_commit(c, s, seen), "all are prepared, or one has committed")
    return replace(s, backup=Step.COMMIT)


@action
def BackupDecidesToAbort(c: Config, s: State, seen: Manager) -> State:
    """The backup takes over and makes up its mind to abort."""
    require(s.backup == Step.DECIDE and s.decision == Decision.HIDDEN, "the transaction manager has failed")
    require(can_abort(c, s, seen), "one has aborted or failed, and none has committed")
    return replace(s, backup=Step.ABORT)


@action
def BackupAnnounces(c: Config, s: State) -> State:
    """The backup announces its decision."""
    require(s.backup in (Step.COMMIT, Step.ABORT), "it has made up its mind")
    decision = Decision.COMMIT if s.backup == Step.COMMIT else Decision.ABORT
    return replace(s, decision=decision, backup=Step.DONE)


@action
def Stay(c: Config, s: State) -> State:
    """All have ended, and nothing happens any more."""
    ended = s.coordinator == Step.DONE and s.backup == Step.DONE
    require(ended and s.done == frozenset(range(c.rms)), "all have ended")
    return s


@always("P-1")
def Consistent(c: Config, s: State) -> bool:
    """No resource manager has aborted while another has committed."""
    aborted = any(s.rm[r] == Status.ABORTED for r in range(c.rms))
    committed = any(s.rm[r] == Status.COMMITTED for r in range(c.rms))
    return not (aborted and committed)


@sometimes("W-1")
def BackupCommits(c: Config, s: State) -> bool:
    """The backup lets a resource manager commit."""
    committed = any(s.rm[r] == Status.COMMITTED for r in range(c.rms))
    return s.backup == Step.DONE and committed and s.decision == Decision.COMMIT


MODEL = ProtocolModel(State, Config)
