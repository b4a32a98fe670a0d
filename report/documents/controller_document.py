"""A controller proof as text: counterexamples first, then events x rules, and the verdict last.

Prints one counterexample per broken rule; `--verbose` prints those of all its events::

    REFUTED  CT-13 LeaderAlive by UNFENCE  (0.01 s)
          rule      Whoever leads after the event is registered, unfenced and not shutting down.
          broker 0  fenced, epoch 1
          before    partition.last_known_elr = {0}
          event     UNFENCE(broker=2)
                    partition.leader: none -> 0
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from elrcheck.base.typed.configuration import setting_text
from elrcheck.report.document import (
    Block,
    Case,
    Headline,
    Labelled,
    Line,
    Number,
    Outcome,
    ReportKind,
    ReportKinds,
    Sheet,
    Suite,
    Table,
)
from elrcheck.report.plain_words import several
from elrcheck.results.proofs.controller_report import ControllerReport, RuleReport, StepReport, VariantReport
from elrcheck.results.trace_view import Step, TraceView, as_call

_MARK = {"proved": ".", "refuted": "F", "unknown": "?"}


def controller_blocks(report: ControllerReport, detail: int = 0) -> Iterator[Block]:
    """Yield the blocks of the report.

    detail: below 0 only counterexamples and the verdict, above 0 every counterexample.
    """
    for variant in report.variants:
        if len(report.variants) > 1:
            yield Line(variant.variant, style="bold")
            yield Line()
        yield from _failures(variant, report.rules, detail)
        if detail >= 0:
            yield from _cells(variant, report.rules)
    if detail >= 0:
        yield Table(("id", "rule", "what it says"), [(r.id, r.name, r.title) for r in report.rules])
    if len(report.variants) > 1:
        yield from _variants(report)
    names = ", ".join(v.variant for v in report.variants) if len(report.variants) < 3 else "all variants"
    solver = f"{report.solver.name} {report.solver.version}"
    yield Line(f"{several(report.brokers, 'broker')}, replica lists of every length and order, unbounded epochs")
    yield Headline(report.verdict, f"{names}, {solver}, {report.seconds:.1f} s")


def _failures(variant: VariantReport, rules: Sequence[RuleReport], detail: int) -> Iterator[Block]:
    for rule in rules:
        broken = [cell for cell in variant.cells if cell.rule == rule.id and cell.verdict == "refuted"]
        open_ = [cell for cell in variant.cells if cell.rule == rule.id and cell.verdict == "unknown"]
        listed = broken if detail > 0 else broken[:1]
        for cell in listed:
            yield from _failure(cell, rule)
            if cell is listed[-1] and len(listed) < len(broken):
                rest = ", ".join(other.event for other in broken[1:])
                yield Labelled("also by", f"{rest}  (--verbose prints them)")
            yield Line()
        for cell in open_:
            yield Headline("unknown", f"{rule.id} {rule.name} by {cell.event}  ({cell.seconds:.2f} s)")
            yield Labelled("reason", cell.reason)
            yield Line()


def _failure(cell: StepReport, rule: RuleReport) -> Iterator[Block]:
    yield Headline("refuted", f"{rule.id} {rule.name} by {cell.event}  ({cell.seconds:.2f} s)")
    yield Labelled("rule", rule.title)
    failure = cell.failure
    if failure is None:
        return
    yield Labelled("conjunct", failure.conjunct)
    for name, value in failure.knobs.items():
        yield Labelled("setting", f"{name} = {setting_text(value)}")
    for broker, words in failure.brokers.items():
        yield Labelled(f"broker {broker}", words)
    for path, text in failure.before.items():
        yield Labelled("before", f"{path} = {text}")
    yield Labelled("event", as_call(cell.event, failure.arguments))
    for change in failure.changes:
        yield Labelled("", f"{change.path}: {change.old} -> {change.new}")
    yield Labelled("replayed", "yes, in plain Python" if failure.replayed else "no")


def _cells(variant: VariantReport, rules: Sequence[RuleReport]) -> Iterator[Block]:
    verdicts = {(cell.event, cell.rule): cell.verdict for cell in variant.cells}
    width = max((len(event.name) for event in variant.events), default=0)
    yield Line(f"{'':{width}}" + "".join(f"{rule.id.removeprefix('CT-'):>3}" for rule in rules), style="bold")
    for event in variant.events:
        columns = () if event.verdict == "impossible" else rules
        marks = "".join(f"{_MARK[verdicts[event.name, rule.id]]:>3}" for rule in columns)
        yield Line(f"{event.name:{width}}{marks or '  impossible'}")
    yield Line(f"{'':{width}}  . holds   F refuted   ? unknown")
    if variant.open:
        yield Line(f"{'':{width}}  for all values of {', '.join(variant.open)}")
    yield Line()


def _variants(report: ControllerReport) -> Iterator[Block]:
    yield Table(
        ("variant", "verdict", "hold", "refuted", "unknown", "seconds"),
        [(v.variant, v.verdict, v.proved, v.refuted, v.unknown, Number(f"{v.seconds:.1f}")) for v in report.variants],
    )


_PROOF: dict[str, Outcome] = {"proved": "passed", "refuted": "failed", "unknown": "undecided"}


def controller_sheet(report: ControllerReport) -> Sheet:
    rules = {rule.id: rule for rule in report.rules}
    suites = tuple(
        Suite(
            variant.variant,
            tuple(_step_case(step, rules.get(step.rule)) for step in variant.cells),
            report.brokers,
            variant.seconds,
        )
        for variant in report.variants
    )
    proved, total = sum(v.proved for v in report.variants), sum(len(v.cells) for v in report.variants)
    summary = f"{several(len(suites), 'variant')}: {proved} of {total} obligations proved, {report.seconds:.1f} s"
    return Sheet(summary, suites)


def _step_case(step: StepReport, rule_report: RuleReport | None) -> Case:
    rule, trace, message = f"{step.rule} {rule_report.name if rule_report else ''}".strip(), None, ""
    if step.verdict != "proved":
        message = f"{step.event} does not preserve {rule}: {step.reason or step.verdict}"
    if (failure := step.failure) is not None:
        message += f" ({failure.conjunct})" if failure.conjunct else ""
        trace = TraceView(failure.before, (Step(1, step.event, failure.arguments, "", failure.changes),))
    return Case(
        f"{step.event} x {step.rule}",
        f"{step.event} preserves {rule}",
        _PROOF[step.verdict],
        step.verdict,
        message,
        source=rule_report.place if rule_report else None,
        trace=trace,
        seconds=step.seconds,
        rule=step.rule,
    )


KINDS: ReportKinds = {ControllerReport: ReportKind("prove --controller", controller_blocks, controller_sheet)}
