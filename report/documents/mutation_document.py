"""A mutation report as text: the matrix of hazards, the guards, and the verdict as the last line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from elrcheck.base.typed.configuration import setting_text
from elrcheck.report.document import (
    Block,
    Case,
    Cell,
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
    grouped,
)
from elrcheck.report.documents.trace_document import source_blocks, trace_blocks
from elrcheck.report.plain_words import from_store_of
from elrcheck.results.mutation_report import GuardReport, HazardReport, MutateReport, RuleMutant, RuleSurvey
from elrcheck.results.trace_view import Scalar, TraceView

_NUMBERS = ("depth", "states", "seconds")


def mutate_blocks(report: MutateReport, detail: int = 0) -> Iterator[Block]:
    """Yield the blocks of the report.

    detail: below 0 only undetected hazards, above 0 every trace; a single finding shows its trace.
    """
    single = len(report.hazards) + len(report.guards) == 1
    for hazard in report.hazards:
        if detail > 0 or single:
            yield from _hazard(hazard, report, detail)
    for guard in report.guards:
        if guard.counterexample is not None and (detail > 0 or single):
            yield Headline(guard.verdict, f"{guard.action} without: {guard.guard}")
            yield from _finding(guard.conjunct, guard.witness, guard.counterexample, detail)
    run = [h for h in report.hazards if h.verdict != "skipped"]
    listed = [h for h in run if detail >= 0 or h.verdict != "found"]
    yield Table(
        ("hazard", "mutation", "verdict", "property", *_NUMBERS),
        [(h.id, h.mutation, h.verdict, h.property or "", *_measured(h)) for h in listed],
    )
    yield Table(
        ("hazard", "issue", "not run, because"),
        [(h.id, h.issue, h.reason or "") for h in report.hazards if h.verdict == "skipped" and detail >= 0],
    )
    yield Table(("hazard", "not settled, because"), [(h.id, h.reason or "") for h in listed if h.verdict != "found"])
    yield Table(
        ("hazard", "by the proof", "open obligation", "covered"),
        [(h.id, "a hole" if h.hole else h.proof, h.open or "", _covered(h)) for h in listed if h.proof],
    )
    if detail >= 0:
        yield from _guards(report)
    yield from _rules(report, detail)
    yield from _verdict(report)


def _measured(report: HazardReport | GuardReport) -> Sequence[Cell]:
    return report.depth, report.distinct, Number(f"{report.seconds:.1f}")


def _covered(hazard: HazardReport) -> str:
    return f"without {', '.join(hazard.beyond)}" if hazard.beyond else "yes"


def _guards(report: MutateReport) -> Iterator[Block]:
    run = [guard for guard in report.guards if guard.verdict != "skipped"]
    yield Table(
        ("action", "without the guard", "verdict", "property", *_NUMBERS),
        [(g.action, g.guard, g.verdict, g.property or "", *_measured(g)) for g in run],
    )
    yield Table(("action", "guard", "remark"), [(g.action, g.guard, g.reason) for g in run if g.reason is not None])
    skipped: dict[str, dict[str, None]] = {}
    for guard in report.guards:
        if guard.verdict == "skipped":
            skipped.setdefault(guard.reason or "", {})[guard.action] = None
    for reason, actions in skipped.items():
        yield Line(f"not run, because {reason}: {', '.join(actions)}")
        yield Line()


_QUIET = ("found", "counted", "undefined", "equivalent")


def _rules(report: MutateReport, detail: int) -> Iterator[Block]:
    """Yield the changes that nothing distinguishes from the original; with -v all of them."""
    listed = [rule for rule in report.rules if detail > 0 or rule.verdict not in _QUIET or rule.hole]
    yield Table(
        ("change", "at", "verdict", "by", "depth", ""),
        [(rule.name, rule.place, rule.verdict, rule.by or "", rule.depth, _why(rule)) for rule in listed],
    )


def _why(rule: RuleMutant) -> str:
    if rule.proof is not None:
        proof = f"{rule.proof} by the proof: {rule.open}" if rule.open else f"{rule.proof} by the proof"
        return f"{rule.configuration}; {proof}{', a hole' if rule.hole else ''}"
    if rule.verdict == "unaffected":
        return rule.reason or f"the same steps in all {rule.compared} configurations"
    where = f"{rule.configuration}: " if rule.configuration and rule.reason else rule.configuration or ""
    return where + (rule.reason or "")


def _hazard(hazard: HazardReport, report: MutateReport, detail: int) -> Iterator[Block]:
    yield Headline(hazard.verdict, f"{hazard.id}  {hazard.title}")
    yield Labelled("issue", hazard.issue)
    yield Labelled("mutation", hazard.mutation)
    yield Labelled("scope", f"{hazard.variant}, {hazard.scope}{_settings(hazard.settings)}")
    yield Labelled("breaks", ", ".join(hazard.expected))
    if hazard.unmutated is not None:
        size = f"{grouped(hazard.unmutated.distinct)} distinct states"
        word = "complete" if hazard.unmutated.complete else "not complete"
        yield Labelled("without", f"{size}, {word}; breaks {', '.join(hazard.unmutated.violated) or 'none'}")
    yield Labelled("reason", hazard.reason)
    yield from _finding(hazard.conjunct, hazard.witness, hazard.counterexample, detail)
    if hazard.trace is not None:
        yield Labelled("trace", f"{report.run_dir}/{hazard.trace}")
    yield Line()


def _settings(settings: Mapping[str, Scalar] | None) -> str:
    return "".join(f" {name}={setting_text(value)}" for name, value in (settings or {}).items())


def _finding(conjunct: str | None, witness: str | None, trace: TraceView | None, detail: int) -> Iterator[Block]:
    yield Labelled("conjunct", conjunct)
    yield Labelled("witness", witness)
    if trace is not None:
        yield from trace_blocks(trace, initial=detail > 0)


def _verdict(report: MutateReport) -> Iterator[Block]:
    parts = []
    if report.hazards:
        parts.append("hazards: " + _tally([h.verdict for h in report.hazards]))
    if report.guards:
        parts.append("guards: " + _tally([g.verdict for g in report.guards]))
    if report.rules:
        parts.append("changes: " + _tally([rule.verdict for rule in report.rules]))
    tally = "; ".join(parts) or ("nothing was changed" if report.rule_survey else "no guard was removed")
    ages = [h.kept for h in report.hazards if h.kept] + [g.kept for g in report.guards if g.kept]
    yield Labelled("kept", from_store_of(ages))
    yield Headline(report.verdict, f"{tally}  ({report.seconds:.1f} s)")
    yield from source_blocks(report)
    if report.survey is not None:
        survey = report.survey
        size = grouped(survey.unmutated.distinct)
        where = f"{survey.variant}, {survey.scope}"
        yield Labelled("guards in", f"{where}: {size} distinct states with all guards")
        yield Labelled("not run", survey.reason and f"search with all guards: {survey.reason}")
    if (rules := report.rule_survey) is not None:
        yield Labelled("rules", f"{rules.chosen} of {rules.possible} changes, {rules.ill_typed} of them ill-typed")
        yield Labelled("over", _over(report, rules))
        yield Labelled("not run", rules.reason and f"search without a change: {rules.reason}")
        yield Labelled("resumed", f"{rules.resumed} answers are of an earlier run" if rules.resumed else None)
        yield Labelled("stopped", "interrupted; the same command resumes" if rules.interrupted else None)
    same = sum(guard.same for guard in report.guards)
    yield Labelled("same", f"{same} guards make no difference to the program" if same else None)
    yield Labelled("run", report.run_dir)


def _over(report: MutateReport, rules: RuleSurvey) -> str:
    if rules.unmutated is not None and len(rules.configurations) == 1:
        return f"{rules.configurations[0]}: {grouped(rules.unmutated.distinct)} distinct states without a change"
    of_model = report.model is not None or report.patch is not None
    return "; ".join(rules.configurations) if of_model else f"{len(rules.configurations)} configurations of the suite"


def _tally(verdicts: Sequence[str]) -> str:
    words = dict.fromkeys(verdicts)
    return ", ".join(f"{verdicts.count(word)} {word.replace('_', ' ')}" for word in words)


_MUTATION: dict[str, Outcome] = {"found": "passed", "noticed": "passed", "unnoticed": "passed"}


def mutate_sheet(report: MutateReport) -> Sheet:
    suites = []
    if report.hazards:
        suites.append(_suite("hazards", [_hazard_case(hazard) for hazard in report.hazards]))
    if report.guards:
        where = f", {report.survey.variant}, {report.survey.scope}" if report.survey else ""
        suites.append(_suite(f"guards{where}", [_guard_case(guard) for guard in report.guards]))
    if report.rules:
        suites.append(_suite("changed rules", [_rule_case(rule) for rule in report.rules]))
    words: list[str] = [hazard.verdict for hazard in report.hazards]
    words += [guard.verdict for guard in report.guards] + [rule.verdict for rule in report.rules]
    return Sheet(_tally(words) or "nothing was run", tuple(suites))


def _suite(name: str, cases: Sequence[Case]) -> Suite:
    return Suite(name, tuple(cases), 0, sum(case.seconds for case in cases))


def _hazard_case(hazard: HazardReport) -> Case:
    missed = hazard.verdict == "not_found" or hazard.hole
    outcome = "failed" if missed else _MUTATION.get(hazard.verdict, "undecided")
    verdict = hazard.verdict.replace("_", " ")
    if hazard.property is not None:
        verdict += f" by {hazard.property}"
        verdict += f" at depth {hazard.depth}" if hazard.depth is not None else ""
    if hazard.proof is not None:
        verdict += f", {hazard.proof} by the proof{': a hole' if hazard.hole else ''}"
    why = f"{hazard.mutation}: {hazard.reason or verdict}" if outcome != "passed" else ""
    return Case(hazard.id, hazard.title, outcome, verdict, why, seconds=hazard.seconds)


def _rule_case(rule: RuleMutant) -> Case:
    hole = rule.hole or rule.verdict in ("unaffected", "contradicted")
    outcome: Outcome = "failed" if hole else "passed"
    if rule.verdict == "inconclusive":
        outcome = "undecided"
    verdict = rule.verdict + (f" by {rule.by}" if rule.by else "")
    why = f"{rule.name}: {rule.reason or rule.verdict}" if outcome != "passed" else ""
    return Case(rule.name, rule.name, outcome, verdict, why, source=rule.place, seconds=rule.seconds)


def _guard_case(guard: GuardReport) -> Case:
    name = f"{guard.action} without: {guard.guard}"
    verdict = guard.verdict + (f" by {guard.property}" if guard.property else "")
    outcome = _MUTATION.get(guard.verdict, "undecided")
    return Case(name, name, outcome, verdict, guard.reason or "", seconds=guard.seconds)


KINDS: ReportKinds = {MutateReport: ReportKind("mutate", mutate_blocks, mutate_sheet)}
