"""The reports of `trace`, `replay`, `model diff` and `tlc` as text; the verdict, or what is violated, comes last."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from elrcheck.report.document import (
    Block,
    Case,
    Headline,
    Labelled,
    Line,
    Outcome,
    ReportKind,
    ReportKinds,
    Sheet,
    Suite,
    Table,
    grouped,
)
from elrcheck.report.plain_words import broker_count, several, unbound, with_reason
from elrcheck.results.any_report import OfModel
from elrcheck.results.model_diff_report import ModelDiffReport, ModelSide, RefusedTrace
from elrcheck.results.trace_reports import (
    Candidate,
    Hit,
    Origin,
    Rejection,
    ReplayReport,
    TlcReport,
    TraceDiffReport,
    TraceReport,
)
from elrcheck.results.trace_view import Change, Step, TraceView

CLOSEST = 3
LEAVES = 6


def replay_blocks(report: ReplayReport, detail: int = 0) -> Iterator[Block]:
    """Yield the blocks of the report.

    detail: below 0 only the verdict, above 0 the accepted steps and every candidate.
    """
    if detail > 0:
        yield from trace_blocks(report.trace)
        yield Line()
    if report.rejection is not None:
        yield from _rejection(report.rejection, detail)
    where = f"{report.origin.variant}, {report.origin.scope}"
    yield Headline(
        report.verdict,
        f"{where}: the model accepts {report.accepted} of {several(report.states, 'state')} ({report.origin.format})",
    )
    yield Labelled("file", report.origin.source)
    yield from origin_blocks(report.origin)
    yield Labelled("repro", report.trace.repro)
    if report.beyond is not None:
        yield Labelled("budgets", f"step {report.beyond} exceeds the budgets of the scope")
    yield from _hits("violates", report.violated)


def source_blocks(report: OfModel) -> Iterator[Block]:
    """Yield the model of a report and its patch, if the user named them."""
    yield Labelled("model", report.model)
    yield Labelled("patch", None if report.patch is None else str(report.patch))


def origin_blocks(origin: Origin) -> Iterator[Block]:
    """Yield the model in which a trace was replayed, and the options of its own model if that is another."""
    yield from source_blocks(origin)
    yield Labelled("missing", origin.missing and f"{origin.missing}, with which the trace was stored")


def _rejection(rejection: Rejection, detail: int) -> Iterator[Block]:
    name = f"step {rejection.step}" if rejection.step else "start"
    yield Labelled(name, rejection.recorded or ("unnamed" if rejection.step else "the first state"))
    yield Labelled("", rejection.reason)
    if rejection.changed:
        yield Labelled("", "recorded:" if rejection.step else "initial -> recorded:")
        yield from _leaves(rejection.changed, detail)
    possible = [one for one in rejection.candidates if one.guard is None]
    listed = possible if detail > 0 else [one for one in possible if one.named] or possible[:CLOSEST]
    for one in listed:
        if one.differs:
            label = "nearest" if one is listed[0] else ""
            yield Labelled(label, f"{one.label} leads to another state (model -> recorded):")
            yield from _leaves(one.differs, detail)
        else:
            yield Labelled("matches", one.label)
    refused = [one for one in rejection.candidates if one.guard is not None]
    if refused:
        yield Line()
        rows = _grouped(refused) if detail <= 0 else [(o.label, unbound(o.guard or ""), "") for o in refused]
        yield Table(("refused", "by guard", "choices"), rows)


def _grouped(refused: Sequence[Candidate]) -> list[tuple[str, str, str]]:
    """Return one row per action and guard; spells out a single choice of arguments."""
    groups: dict[tuple[str, str], list[Candidate]] = {}
    for one in refused:
        groups.setdefault((one.action, one.guard or ""), []).append(one)
    return [
        (alike[0].label if len(alike) == 1 or alike[0].named else action, unbound(guard), str(len(alike)))
        for (action, guard), alike in groups.items()
    ]


def _leaves(leaves: Sequence[Change], detail: int) -> Iterator[Block]:
    listed = leaves if detail > 0 else leaves[:LEAVES]
    for leaf in listed:
        yield Labelled("", f"  {leaf.path}: {leaf.old} -> {leaf.new}")
    if len(listed) < len(leaves):
        yield Labelled("", f"  and {len(leaves) - len(listed)} more (-v)")


def _hits(label: str, hits: Sequence[Hit]) -> Iterator[Block]:
    for number, hit in enumerate(hits):
        yield Labelled(label if number == 0 else "", hit_in_words(hit))


def hit_in_words(hit: Hit) -> str:
    """Return the property, the step, and why the trace hits it there."""
    step = "in the initial state" if hit.step == 0 else f"at step {hit.step}"
    return with_reason(f"{hit.id} {hit.name} {step}", hit.conjunct, hit.witness)


# ------------------------------------------------------------------------------------- trace


def trace_report_blocks(report: TraceReport, detail: int = 0) -> Iterator[Block]:
    """Yield the blocks of the report. detail: below 0 only the violated properties, above 0 also the initial state."""
    if detail >= 0:
        yield from trace_blocks(report.trace, initial=detail > 0, notes=_evaluated(report, detail > 0))
        yield Line()
    where = f"{report.origin.variant}, {report.origin.scope}"
    whole = report.last - report.first + 1 == report.steps
    part = "" if whole else f", {report.first} to {report.last} shown"
    yield Line(f"{where}: {several(report.steps, 'step')}{part}")
    yield Labelled("source", _source(report.origin))
    yield from origin_blocks(report.origin)
    yield Labelled("seed", None if report.seed is None else str(report.seed))
    yield Labelled("repro", report.trace.repro)
    done = report.shortened
    if done is not None:
        yield Labelled("shorter", f"{several(done.steps_before, 'step')} -> {done.steps}")
        for each in done.sorts:
            yield Labelled("members", f"{each.sort}: {each.before} -> {each.members}")
        fewest = "no shorter trace exists in this scope" if done.searched else "no single step can be removed"
        yield Labelled("fewest", f"{fewest} ({grouped(done.replays)} replays)")
    yield Labelled("saved", report.stored)
    yield from _hits("violates", report.violated)
    if detail > 0:
        yield from _hits("reaches", report.reached)


def trace_sheet(report: TraceReport) -> Sheet:
    """Return the outline of the page, which judges nothing."""
    return Sheet(f"{report.origin.variant}, {report.origin.scope}: {several(report.steps, 'step')}", judges=False)


def _evaluated(report: TraceReport, every: bool) -> dict[int, list[str]]:
    """Return step number -> lines with the values of expressions, only where they changed unless `every`."""
    notes: dict[int, list[str]] = {}
    for one in report.evaluations:
        for evaluated in one.values:
            if evaluated.changed or every:
                value = f"no value: {evaluated.why}" if evaluated.value is None else evaluated.value
                notes.setdefault(evaluated.at, []).append(f"{one.expression} = {value}")
    return notes


def _source(origin: Origin) -> str:
    return origin.source if origin.format in (None, "elrcheck") else f"{origin.source} ({origin.format})"


def _none(step: int) -> str:
    return "ended" if step else "the initial state"


def trace_diff_blocks(report: TraceDiffReport, detail: int = 0) -> Iterator[Block]:
    for change in report.config:
        yield Labelled("config", f"{change.path}: {change.old} -> {change.new}")
    if detail >= 0:
        for row in report.rows:
            yield Labelled(f"step {row.step}" if row.step else "start", f"A  {row.a or _none(row.step)}")
            if row.a != row.b:
                yield Labelled("", f"B  {row.b or _none(row.step)}")
            yield from _leaves(row.leaves, detail)
    yield Headline(report.verdict, f"{several(report.common, 'step')} in common, then {_after(report)}")
    yield Labelled("A", f"{_source(report.a)}: {several(report.steps_a, 'step')}")
    yield Labelled("B", f"{_source(report.b)}: {several(report.steps_b, 'step')}")


def _after(report: TraceDiffReport) -> str:
    rest_a, rest_b = report.steps_a - report.common, report.steps_b - report.common
    if not rest_a and not rest_b:
        return "both end"
    return f"{rest_a} more in A, {rest_b} in B"


def model_diff_blocks(report: ModelDiffReport, detail: int = 0) -> Iterator[Block]:
    """Yield the blocks of the report. detail: below 0 only the verdict."""
    sides = {"a": report.a, "b": report.b}
    if detail >= 0:
        for refused in report.traces:
            has, other = sides[refused.has], sides["b" if refused.has == "a" else "a"]
            if refused is not report.traces[0] and _mirrors(refused, report.traces[0]):
                yield Labelled("traces", f"{other.name} refuses the same steps of {has.name}, for the same reason")
            else:
                yield from _refused(refused, has, other)
        if report.properties:
            rows = [(each.id, each.name, each.a, each.b) for each in report.properties]
            yield Table(("id", "property", report.a.name, report.b.name), rows)
        columns = ("", "verdict", "generated", "distinct", "diameter")
        numbers = [
            (side.name, side.verdict, grouped(side.generated), grouped(side.distinct), str(side.diameter))
            for side in (report.a, report.b)
        ]
        yield Table(columns, numbers)
        for guard in report.guards:
            what = "no guards compared: the action is missing in the other" if guard.guard is None else guard.guard
            yield Labelled("guard", f"only in {sides[guard.side].name}: {guard.action}: {what}")
        for change in report.settings:
            yield Labelled("setting", f"{change.path}: {change.old} -> {change.new}")
    yield Headline(report.verdict, f"{_model_words(report.a)} and {_model_words(report.b)}, {report.a.scope}")
    yield Labelled("stopped", report.stopped_by and f"by {report.stopped_by}, before all traces were compared")


def _model_words(side: ModelSide) -> str:
    patch = None if side.patch is None else str(side.patch)
    return f"{side.name} ({side.variant}{f', {patch}' if patch else ''})"


def _mirrors(one: RefusedTrace, other: RefusedTrace) -> bool:
    """Return whether both models have these steps, and the last one leads to different states."""
    if one.trace is None or other.trace is None or not one.changed:
        return False
    swapped = [Change(each.path, each.new, each.old) for each in other.changed]
    return list(one.changed) == swapped and [s.label for s in one.trace.steps] == [s.label for s in other.trace.steps]


def _refused(refused: RefusedTrace, side: ModelSide, other: ModelSide) -> Iterator[Block]:
    """Yield a trace that one model has, and why the other refuses its last step."""
    if refused.trace is None:
        word = "no trace" if refused.verdict == "none" else "no trace found so far"
        yield Labelled("traces", f"{word} of {side.name} is refused by {other.name}")
        return
    steps = len(refused.trace.steps)
    yield Headline("different", f"{side.name} has a trace of {several(steps, 'step')} that {other.name} refuses")
    yield from trace_blocks(refused.trace)
    yield Labelled("refused", f"step {steps}: {refused.reason}")
    for change in refused.changed:
        yield Labelled("", f"{change.path}: {change.old} in {side.name}, {change.new} in {other.name}")
    yield Line()


def _outcome(difference: str) -> Outcome:
    return "failed" if difference else "passed"


def model_diff_sheet(report: ModelDiffReport) -> Sheet:
    """Return one suite: a case for each direction of traces, for the verdicts, the counts and the guards."""
    names = {"a": report.a.name, "b": report.b.name}
    cases = []
    for refused in report.traces:
        other = names["b" if refused.has == "a" else "a"]
        name = f"every trace of {names[refused.has]} is one of {other}"
        outcome: Outcome = "undecided" if refused.verdict == "inconclusive" else _outcome(refused.reason or "")
        message = refused.reason or ""
        cases.append(Case(f"traces-{refused.has}", name, outcome, refused.verdict, message, trace=refused.trace))
    a, b = ((side.generated, side.distinct, side.diameter) for side in (report.a, report.b))
    differences = {
        "verdicts": ", ".join(f"{each.id}: {each.a} -> {each.b}" for each in report.properties),
        "counts": "" if a == b else f"generated, distinct, diameter: {a} -> {b}",
        "guards": ", ".join(f"{names[one.side]}: {one.action}: {one.guard or 'the action'}" for one in report.guards),
    }
    for ident, text in differences.items():
        cases.append(Case(ident, f"the same {ident}", _outcome(text), "different" if text else "same", text))
    return Sheet("model diff", (Suite(f"{names['a']} and {names['b']}", tuple(cases)),))


def trace_blocks(
    trace: TraceView, *, initial: bool = False, notes: Mapping[int, Sequence[str]] | None = None
) -> Iterator[Block]:
    """Yield the steps of a trace, each with its changes. notes: step number -> lines to print after it."""
    notes = notes or {}
    if initial:
        for path, value in trace.initial.items():
            yield Labelled("start", f"{path} = {value}")
    first = trace.steps[0].index if trace.steps else 1
    for note in notes.get(first - 1, ()):
        yield Labelled("before", note)
    for step in trace.steps:
        if step.index - 1 == trace.loop:
            yield Labelled("forever", f"from here on steps {step.index} to {len(trace.steps)} repeat")
        yield from _step(step)
        for note in notes.get(step.index, ()):
            yield Labelled("", note)
    if trace.loop == len(trace.steps):
        yield Labelled("forever", "nothing more happens: no fair step is enabled")


def _step(step: Step) -> Iterator[Block]:
    yield Labelled(f"step {step.index}", step.label)
    if step.because:
        yield Labelled("", f"because  {step.because}")
    for change in step.changes:
        yield Labelled("", f"{change.path}: {change.old} -> {change.new}")


def replay_sheet(report: ReplayReport) -> Sheet:
    """Return one suite for the model, one case for the file."""
    origin, rejection = report.origin, report.rejection
    followed = f"the model accepts {report.accepted} of {report.states} states"
    message = "" if rejection is None else f"step {rejection.step}: {rejection.reason}"
    case = Case(
        id=origin.source,
        name=origin.source,
        outcome="passed" if rejection is None else "failed",
        verdict=report.verdict,
        message=message,
        text="" if rejection is None else tuple(replay_blocks(report)),
        place=origin.source,
        trace=report.trace,
        rule="replay",
    )
    suite = Suite(
        f"{origin.variant}, {origin.scope}",
        (case,),
        broker_count(origin.config),
        facts=(("format", origin.format or ""),),
    )
    summary = f"{origin.variant}, {origin.scope}: {followed}"
    return Sheet(summary, (suite,))


def tlc_blocks(report: TlcReport, detail: int = 0) -> Iterator[Block]:
    if report.ours is not None and report.theirs is not None:
        yield Table(
            ("checker", "generated", "distinct", "diameter"),
            [
                (name, counts.generated, counts.distinct, counts.diameter)
                for name, counts in (("elrcheck", report.ours), ("TLC", report.theirs))
            ],
        )
    if report.stored > 1:
        rows = [(one.property, one.file, one.verdict.replace("_", " "), one.detail) for one in report.traces]
        yield Table(("property", "trace", "verdict", "why"), rows)
        if len(report.traces) < report.stored:
            yield Line(f"{report.stored - len(report.traces)} more were not checked")
    if detail > 0 or report.verdict == "failed":
        for line in report.output_tail:
            yield Line(f"   | {line}")
    all_confirmed = len(report.traces) > 1 and report.verdict == "confirmed"
    what = f"{len(report.traces)} traces" if all_confirmed else report.module
    yield Headline(report.verdict, f"{what}, TLC {report.version}, {report.seconds:.1f} s")
    if report.stored == 1:
        yield from (Labelled("trace", f"{one.file}: {one.detail}") for one in report.traces)
    if detail >= 0:
        yield Labelled("command", " ".join(report.command))
        if report.tlc_exit_code is not None:
            yield Labelled("exit", f"{report.tlc_exit_code} of TLC")


KINDS: ReportKinds = {
    ReplayReport: ReportKind("replay", replay_blocks, replay_sheet),
    TraceReport: ReportKind("trace show", trace_report_blocks, trace_sheet),
    TraceDiffReport: ReportKind("trace diff", trace_diff_blocks),
    ModelDiffReport: ReportKind("model diff", model_diff_blocks, model_diff_sheet),
    TlcReport: ReportKind("tlc", tlc_blocks),
}
