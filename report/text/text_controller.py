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

from collections.abc import Sequence

from elrcheck.report.plain_words import several
from elrcheck.report.terminal import Page
from elrcheck.results.controller_report import ControllerReport, RuleReport, StepReport, VariantReport

_MARK = {"proved": ".", "refuted": "F", "unknown": "?"}


def print_controller(report: ControllerReport, page: Page, detail: int = 0) -> None:
    """detail: below 0 only counterexamples and the verdict, above 0 every counterexample."""
    for variant in report.variants:
        if len(report.variants) > 1:
            page.line(variant.variant, style="bold")
            page.line()
        _print_failures(variant, report.rules, page, detail)
        if detail >= 0:
            _print_cells(variant, report.rules, page)
    if detail >= 0:
        page.table(("id", "rule", "what it says"), ((r.id, r.name, r.title) for r in report.rules))
    if len(report.variants) > 1:
        _print_variants(report, page)
    names = ", ".join(v.variant for v in report.variants) if len(report.variants) < 3 else "all variants"
    solver = f"{report.solver.name} {report.solver.version}"
    page.line(f"{several(report.brokers, 'broker')}, replica lists of every length and order, unbounded epochs")
    page.verdict_line(report.verdict, f"{names}, {solver}, {report.seconds:.1f} s")


def _print_failures(variant: VariantReport, rules: Sequence[RuleReport], page: Page, detail: int) -> None:
    for rule in rules:
        broken = [cell for cell in variant.cells if cell.rule == rule.id and cell.verdict == "refuted"]
        open_ = [cell for cell in variant.cells if cell.rule == rule.id and cell.verdict == "unknown"]
        shown = broken if detail > 0 else broken[:1]
        for cell in shown:
            _print_failure(cell, rule, page)
            if cell is shown[-1] and len(shown) < len(broken):
                rest = ", ".join(other.event for other in broken[1:])
                page.labelled("also by", f"{rest}  (--verbose prints them)")
            page.line()
        for cell in open_:
            page.verdict_line("unknown", f"{rule.id} {rule.name} by {cell.event}  ({cell.seconds:.2f} s)")
            page.labelled("reason", cell.reason)
            page.line()


def _print_failure(cell: StepReport, rule: RuleReport, page: Page) -> None:
    page.verdict_line("refuted", f"{rule.id} {rule.name} by {cell.event}  ({cell.seconds:.2f} s)")
    page.labelled("rule", rule.title)
    failure = cell.failure
    if failure is None:
        return
    page.labelled("conjunct", failure.conjunct)
    for name, value in failure.knobs.items():
        page.labelled("setting", f"{name} = {str(value).lower()}")
    for broker, words in failure.brokers.items():
        page.labelled(f"broker {broker}", words)
    for path, text in failure.before.items():
        page.labelled("before", f"{path} = {text}")
    page.labelled("event", f"{cell.event}({', '.join(f'{a.name}={a.value}' for a in failure.arguments)})")
    for change in failure.changes:
        page.labelled("", f"{change.path}: {change.old} -> {change.new}")
    page.labelled("replayed", "yes, in plain Python" if failure.replayed else "no")


def _print_cells(variant: VariantReport, rules: Sequence[RuleReport], page: Page) -> None:
    verdicts = {(cell.event, cell.rule): cell.verdict for cell in variant.cells}
    width = max(len(event.name) for event in variant.events)
    page.line(f"{'':{width}}" + "".join(f"{rule.id.removeprefix('CT-'):>3}" for rule in rules), style="bold")
    for event in variant.events:
        asked = () if event.verdict == "impossible" else rules
        marks = "".join(f"{_MARK[verdicts[event.name, rule.id]]:>3}" for rule in asked)
        page.line(f"{event.name:{width}}{marks or '  impossible'}")
    page.line(f"{'':{width}}  . holds   F refuted   ? unknown")
    if variant.open:
        page.line(f"{'':{width}}  for all values of {', '.join(variant.open)}")
    page.line()


def _print_variants(report: ControllerReport, page: Page) -> None:
    page.table(
        ("variant", "verdict", "hold", "refuted", "unknown", "seconds"),
        (
            (
                v.variant,
                v.verdict,
                page.count(v.proved),
                page.count(v.refuted),
                page.count(v.unknown),
                f"{v.seconds:.1f}",
            )
            for v in report.variants
        ),
        right=("hold", "refuted", "unknown", "seconds"),
    )
