"""The meaning of a violation, in one sentence for people who have not read the model."""

from __future__ import annotations

from elrcheck.report.log_notes import loss, name
from elrcheck.results.check_report import CheckReport, PropertyReport
from elrcheck.results.trace_view import TraceView


def sentence(result: PropertyReport) -> str:
    """Return what the counterexample shows: the lost record, or the property that is false; empty without one."""
    if result.verdict != "violated" or result.counterexample is None:
        return ""
    return lost(result.counterexample) or _false(result, result.counterexample)


def stake(result: PropertyReport) -> str:
    """Return what users lose; empty where `sentence` says it, or nothing does."""
    return "" if result.counterexample is None or lost(result.counterexample) else result.at_stake


def lost(trace: TraceView) -> str:
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
