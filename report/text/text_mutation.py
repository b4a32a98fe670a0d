"""A mutation report as text: the matrix of hazards, the guards, and the verdict as the last line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from elrcheck.report.plain_words import from_store_of
from elrcheck.report.terminal import Page
from elrcheck.report.text.text_trace import print_trace
from elrcheck.results.mutation_report import HazardReport, MutateReport, RuleMutant
from elrcheck.results.trace_view import Scalar, TraceView

_NUMBERS = ("depth", "states", "seconds")


def print_mutate(report: MutateReport, page: Page, detail: int = 0) -> None:
    """detail: below 0 only undetected hazards, above 0 every trace; a single finding shows its trace."""
    single = len(report.hazards) + len(report.guards) == 1
    for hazard in report.hazards:
        if detail > 0 or single:
            _print_hazard(hazard, report, page, detail)
    for guard in report.guards:
        if guard.counterexample is not None and (detail > 0 or single):
            page.verdict_line(guard.verdict, f"{guard.action} without: {guard.guard}")
            _print_finding(guard.conjunct, guard.witness, guard.counterexample, page, detail)
    run = [h for h in report.hazards if h.verdict != "skipped"]
    shown = [h for h in run if detail >= 0 or h.verdict != "found"]
    page.table(
        ("hazard", "mutation", "verdict", "property", *_NUMBERS),
        (
            (h.id, h.mutation, h.verdict, h.property or "", *_measured(h.depth, h.distinct, h.seconds, page))
            for h in shown
        ),
        right=_NUMBERS,
    )
    page.table(
        ("hazard", "issue", "not run, because"),
        ((h.id, h.issue, h.reason or "") for h in report.hazards if h.verdict == "skipped" and detail >= 0),
    )
    page.table(("hazard", "not settled, because"), ((h.id, h.reason or "") for h in shown if h.verdict != "found"))
    page.table(
        ("hazard", "by the proof", "open obligation", "covered"),
        ((h.id, "a hole" if h.hole else h.proof, h.open or "", _covered(h)) for h in shown if h.proof),
    )
    if detail >= 0:
        _print_guards(report, page)
    _print_rules(report, page, detail)
    _print_verdict(report, page)


def _measured(depth: int | None, distinct: int | None, seconds: float, page: Page) -> Sequence[str]:
    return ("" if depth is None else str(depth), "" if distinct is None else page.count(distinct), f"{seconds:.1f}")


def _covered(hazard: HazardReport) -> str:
    return f"without {', '.join(hazard.beyond)}" if hazard.beyond else "yes"


def _print_guards(report: MutateReport, page: Page) -> None:
    run = [guard for guard in report.guards if guard.verdict != "skipped"]
    page.table(
        ("action", "without the guard", "verdict", "property", *_NUMBERS),
        (
            (g.action, g.guard, g.verdict, g.property or "", *_measured(g.depth, g.distinct, g.seconds, page))
            for g in run
        ),
        right=_NUMBERS,
    )
    page.table(("action", "guard", "remark"), ((g.action, g.guard, g.reason) for g in run if g.reason is not None))
    skipped: dict[str, dict[str, None]] = {}
    for guard in report.guards:
        if guard.verdict == "skipped":
            skipped.setdefault(guard.reason or "", {})[guard.action] = None
    for reason, actions in skipped.items():
        page.line(f"not run, because {reason}: {', '.join(actions)}")
        page.line()


_QUIET = ("found", "counted", "undefined", "equivalent")


def _print_rules(report: MutateReport, page: Page, detail: int) -> None:
    """Changes that nothing tells apart; with -v all of them."""
    shown = [rule for rule in report.rules if detail > 0 or rule.verdict not in _QUIET or rule.hole]
    page.table(
        ("change", "at", "verdict", "by", "depth", ""),
        (
            (
                rule.name,
                rule.place,
                rule.verdict,
                rule.by or "",
                "" if rule.depth is None else str(rule.depth),
                _why(rule),
            )
            for rule in shown
        ),
        right=("depth",),
    )


def _why(rule: RuleMutant) -> str:
    if rule.proof is not None:
        proof = f"{rule.proof} by the proof: {rule.open}" if rule.open else f"{rule.proof} by the proof"
        return f"{rule.configuration}; {proof}{', a hole' if rule.hole else ''}"
    if rule.verdict == "unaffected":
        return f"the same steps in all {rule.compared} configurations"
    where = f"{rule.configuration}: " if rule.configuration and rule.reason else rule.configuration or ""
    return where + (rule.reason or "")


def _print_hazard(hazard: HazardReport, report: MutateReport, page: Page, detail: int) -> None:
    page.verdict_line(hazard.verdict, f"{hazard.id}  {hazard.title}")
    page.labelled("issue", hazard.issue)
    page.labelled("mutation", hazard.mutation)
    page.labelled("scope", f"{hazard.variant}, {hazard.scope}{_settings(hazard.settings)}")
    page.labelled("breaks", ", ".join(hazard.expected))
    if hazard.unmutated is not None:
        size = f"{page.count(hazard.unmutated.distinct)} distinct states"
        word = "complete" if hazard.unmutated.complete else "not complete"
        page.labelled("without", f"{size}, {word}; breaks {', '.join(hazard.unmutated.violated) or 'none'}")
    page.labelled("reason", hazard.reason)
    _print_finding(hazard.conjunct, hazard.witness, hazard.counterexample, page, detail)
    if hazard.trace is not None:
        page.labelled("trace", f"{report.run_dir}/{hazard.trace}")
    page.line()


def _settings(settings: Mapping[str, Scalar] | None) -> str:
    return "".join(f" {name}={_word(value)}" for name, value in (settings or {}).items())


def _word(value: Scalar) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _print_finding(conjunct: str | None, witness: str | None, trace: TraceView | None, page: Page, detail: int) -> None:
    page.labelled("conjunct", conjunct)
    page.labelled("witness", witness)
    if trace is not None:
        print_trace(trace, page, initial=detail > 0)


def _print_verdict(report: MutateReport, page: Page) -> None:
    parts = []
    if report.hazards:
        parts.append("hazards: " + _tally([h.verdict for h in report.hazards]))
    if report.guards:
        parts.append("guards: " + _tally([g.verdict for g in report.guards]))
    if report.rules:
        parts.append("changes: " + _tally([rule.verdict for rule in report.rules]))
    tally = "; ".join(parts) or ("nothing was changed" if report.rule_survey else "no guard was removed")
    kept = [h.kept for h in report.hazards if h.kept] + [g.kept for g in report.guards if g.kept]
    page.labelled("kept", from_store_of(kept))
    page.verdict_line(report.verdict, f"{tally}  ({report.seconds:.1f} s)")
    if report.survey is not None:
        survey = report.survey
        size = page.count(survey.unmutated.distinct)
        where = f"{survey.variant}, {survey.scope}"
        page.labelled("guards in", f"{where}: {size} distinct states with all guards")
        page.labelled("not run", survey.reason and f"search with all guards: {survey.reason}")
    if (rules := report.rule_survey) is not None:
        page.labelled("rules", f"{rules.chosen} of {rules.possible} changes, {rules.ill_typed} of them ill-typed")
        page.labelled("over", f"{len(rules.configurations)} configurations of the suite")
        page.labelled("resumed", f"{rules.resumed} answers are of an earlier run" if rules.resumed else None)
        page.labelled("stopped", "interrupted; the same command resumes" if rules.interrupted else None)
    same = sum(guard.same for guard in report.guards)
    page.labelled("same", f"{same} guards make no difference to the program" if same else None)
    page.labelled("run", report.run_dir)


def _tally(verdicts: Sequence[str]) -> str:
    words = dict.fromkeys(verdicts)
    return ", ".join(f"{verdicts.count(word)} {word.replace('_', ' ')}" for word in words)
