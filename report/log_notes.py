"""The effects of a trace's steps on the logs: before and after, committed records, and lost ones; and what that means.

Everything comes from the changes that the trace lists, so it is the same for a trace of any command. A record is
*committed* once the high watermark has passed it; *acknowledged* appears only if the trace tracks the answers to
producers (the leaf `acked`). `sentence` says what a violation means, for people who have not read the model.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from elrcheck.base.roundtrip import Record
from elrcheck.results.check_report import CheckReport, PropertyReport
from elrcheck.results.trace_view import CONTROLLER, Step, TraceView, Truth

_LOG = re.compile(r"broker\[(\d+)\]\.log")
_WATERMARK = re.compile(r"broker\[(\d+)\]\.high_watermark")


class LogChange(Record, frozen=True):
    """The log of a broker before and after a step."""

    broker: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    lost: tuple[str, ...]
    """Committed records that the step removed from it."""


class StepNotes(Record, frozen=True):
    """The effects of one step on records."""

    logs: tuple[LogChange, ...] = ()
    committed: tuple[str, ...] = ()
    acknowledged: tuple[str, ...] = ()
    at: str = CONTROLLER
    """The broker where they were committed, or CONTROLLER."""
    gone: tuple[str, ...] = ()
    """Committed records that no log has from here on."""
    broken: tuple[Truth, ...] = ()
    """Properties that become false."""


class Loss(Record, frozen=True):
    """A committed record that is missing after the last step."""

    record: str
    leader: str | None
    """The leader that lacks it; None if no log has it."""
    acknowledged: bool
    committed: int
    """Number of the step that committed it."""
    lost: int | None
    """Number of the last step that removed it from a log; None if no step did."""


def records(text: str) -> tuple[str, ...]:
    """Return the records of a log in the notation of traces, `[r1@1(all) r2@2(1)]`."""
    return tuple(text.removeprefix("[").removesuffix("]").split())


def name(record: str) -> str:
    """Return the short name of a record: `r1` of `r1@1(all)`."""
    return record.partition("@")[0]


def notes(trace: TraceView) -> tuple[StepNotes, ...]:
    """Return the effects of each step."""
    logs = _logs(trace.initial)
    committed = records(trace.initial.get("committed", "[]"))
    gone = _nowhere(committed, logs)
    every_note = []
    for step in trace.steps:
        changes = {change.path: change for change in step.changes}
        taken = []
        for path, change in changes.items():
            if match := _LOG.fullmatch(path):
                before, after = records(change.old), records(change.new)
                lost = tuple(e for e in before if e in committed and e not in after)
                taken.append(LogChange(match[1], before, after, lost))
                logs[match[1]] = after
        more = _gained(changes["committed"].old, changes["committed"].new) if "committed" in changes else ()
        answered = _gained(changes["acked"].old, changes["acked"].new) if "acked" in changes else ()
        committed += more
        now = _nowhere(committed, logs)
        every_note.append(
            StepNotes(
                tuple(taken),
                more,
                answered,
                _leader_of(step),
                tuple(e for e in now if e not in gone),
                tuple(t for t in trace.truths if t.kind == "always" and t.hits and t.hits[0] == step.index),
            )
        )
        gone = now
    return tuple(every_note)


def loss(trace: TraceView) -> Loss | None:
    """Return the first committed record that no log has after the last step, or that the leader lacks."""
    last = dict(trace.initial)
    for step in trace.steps:
        last |= {change.path: change.new for change in step.changes}
    logs = _logs(last)
    committed = records(last.get("committed", "[]"))
    leader = last.get("partition.leader", "none")
    missing = _nowhere(committed, logs)
    if missing:
        return _loss(trace, missing[0], None, last)
    lacks = [e for e in committed if leader in logs and e not in logs[leader]]
    return _loss(trace, lacks[0], leader, last) if lacks else None


def _loss(trace: TraceView, record: str, leader: str | None, last: Mapping[str, str]) -> Loss:
    committed, lost = 0, None
    for step, step_notes in zip(trace.steps, notes(trace), strict=True):
        if record in step_notes.committed:
            committed = step.index
        if any(record in change.lost and leader in (None, change.broker) for change in step_notes.logs):
            lost = step.index
    return Loss(record, leader, record in records(last.get("acked", "[]")), committed, lost)


def _logs(leaves: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    return {match[1]: records(text) for path, text in leaves.items() if (match := _LOG.fullmatch(path))}


def _nowhere(committed: tuple[str, ...], logs: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(e for e in committed if logs and not any(e in log for log in logs.values()))


def _gained(old: str, new: str) -> tuple[str, ...]:
    before = records(old)
    return tuple(e for e in records(new) if e not in before)


def _leader_of(step: Step) -> str:
    """Return the broker whose high watermark the step raised, which is the one that committed; else CONTROLLER."""
    for change in step.changes:
        match = _WATERMARK.fullmatch(change.path)
        if match and change.old.isdigit() and change.new.isdigit() and int(change.new) > int(change.old):
            return match[1]
    return CONTROLLER


def sentence(result: PropertyReport) -> str:
    """Return what the counterexample shows: the lost record, or the property that is false; empty without one."""
    if result.verdict != "violated" or result.counterexample is None:
        return ""
    return loss_in_words(result.counterexample) or _false(result, result.counterexample)


def stake(result: PropertyReport) -> str:
    """Return what users lose; empty where `sentence` says it, or nothing does."""
    return "" if result.counterexample is None or loss_in_words(result.counterexample) else result.at_stake


def loss_in_words(trace: TraceView) -> str:
    """Return a sentence about the record that is lost at the end of a trace; empty if none is."""
    missing = loss(trace)
    if missing is None:
        return ""
    kind = "An acknowledged" if missing.acknowledged else "A committed"
    record, last = name(missing.record), len(trace.steps)
    where = f"no log has {record} any more"
    if missing.leader is not None:
        where = f"broker {missing.leader} leads without {record}"
    when = f"in step {missing.committed}" if missing.committed else "before the first step"
    history = f"committed {when}"
    if missing.lost is not None:
        history += f", lost in step {missing.lost}"
    return f"{kind} record can be lost: after step {last} {where} ({history})."


def shortest(report: CheckReport) -> PropertyReport | None:
    """Return the violated property with the shortest counterexample; None if every property holds."""
    violations = [each for each in report.properties if each.verdict == "violated" and each.counterexample]
    return min(violations, key=lambda each: (each.depth is None, each.depth or 0), default=None)


def _false(result: PropertyReport, trace: TraceView) -> str:
    statement = result.statement.rstrip(".") or f"{result.id} {result.name}"
    if trace.loop is not None:
        return f"It can happen that this never comes true: “{statement}”."
    return f"After step {len(trace.steps)} this is false: “{statement}”."
