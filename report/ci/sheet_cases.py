"""The cases of `check`, `prove`, `prove --controller` and `mutate`."""

from __future__ import annotations

from collections.abc import Sequence

from elrcheck.report.ci.sheet import Case, Outcome, Sheet, Suite
from elrcheck.report.plain_words import several
from elrcheck.report.terminal import plain_text
from elrcheck.report.text.text_check import print_violation
from elrcheck.report.text.text_proof import given, print_cell, print_obligation
from elrcheck.results.check_report import CheckReport, PropertyReport, SearchReport
from elrcheck.results.controller_report import ControllerReport, RuleReport, StepReport
from elrcheck.results.mutation_report import GuardReport, HazardReport, MutateReport, RuleMutant
from elrcheck.results.prove_report import CellReport, ObligationReport, ProveReport, Skipped
from elrcheck.results.trace_view import Argument, Change, Step, TraceView

_PROOF: dict[str, Outcome] = {"proved": "passed", "refuted": "failed", "unknown": "undecided"}


_MUTATION: dict[str, Outcome] = {"found": "passed", "noticed": "passed", "unnoticed": "passed"}


_UNDECIDED = {"unreached": "no state of this search shows it", "inconclusive": "the search stopped before deciding it"}


_PROPERTY: dict[str, Outcome] = {"holds": "passed", "reached": "passed", "violated": "failed"}


def check_sheet(report: CheckReport) -> Sheet:
    suite = Suite(
        f"{report.variant}, {report.scope}",
        (*(property_case(found, report) for found in report.properties), *_idle_cases(report)),
        broker_count(report),
        report.search.seconds,
        search_facts(report.search),
    )
    violated = [found.id for found in report.properties if found.verdict == "violated"]
    reach = "complete within the budgets of the scope"
    if not report.search.complete:
        reach = f"bounded by {report.search.stopped_by or 'an unnamed limit'}"
    summary = f"{suite.name}: {reach}" + (f"; violated: {', '.join(violated)}" if violated else "")
    if report.failures:
        summary += f"; fails by --fail-on {','.join(failure.word for failure in report.failures)}"
    return Sheet("check", report.verdict, summary, report.exit_code, (suite,), check_notes(report))


def _idle_cases(report: CheckReport) -> list[Case]:
    """Cases for actions that never fire, if `--fail-on` makes them failures."""
    return [
        Case(name, f"{name} fires", "failed", "never fires", f"{name} never fires (--fail-on {failure.word})")
        for failure in report.failures
        if failure.word == "unreached-action"
        for name in failure.subjects
    ]


def check_notes(report: CheckReport) -> tuple[str, ...]:
    """Reasons why a search is less conclusive than it seems."""
    search, notes = report.search, []
    if report.vacuous is not None:
        notes.append(f"vacuous: {report.vacuous}")
    if not search.complete:
        notes.append(f"the search is incomplete: it was stopped by {search.stopped_by or 'a limit'}")
    notes += [f"{o.leaf} exceeded its bit width in {o.count} steps" for o in search.overflows]
    return tuple(notes)


def property_case(found: PropertyReport, report: CheckReport) -> Case:
    """The case of one property. An unreached witness or an undecided property fails only by `--fail-on`."""
    outcome = _PROPERTY.get(found.verdict, "undecided")
    if any(found.id in failure.subjects for failure in report.failures):
        outcome = "failed"
    where = "" if found.depth is None else f" at depth {found.depth}"
    message, text = "", ""
    if found.verdict == "violated":
        named = [found.conjunct or "", f"for {found.witness}" if found.witness else ""]
        why = [": " + " ".join(filter(None, named))] if any(named) else []
        message = " ".join(["violated" + where, *why])
        message = f"{found.id} {found.name} {message}".replace(" : ", ": ")
        text = plain_text(lambda page: print_violation(found, report, page))
    elif found.verdict not in _PROPERTY:
        message = _UNDECIDED.get(found.verdict, found.verdict)
        if outcome == "failed":
            message = f"{found.id} {found.name}: {message}"
    return Case(
        id=found.id,
        name=found.name,
        outcome=outcome,
        verdict=found.verdict + where,
        message=message,
        text=text,
        source=found.source,
        trace=found.counterexample,
    )


def search_facts(search: SearchReport) -> tuple[tuple[str, str], ...]:
    return (
        ("distinct states", str(search.distinct)),
        ("generated states", str(search.generated)),
        ("diameter", str(search.diameter)),
        ("seconds", f"{search.seconds:.3f}"),
    )


def broker_count(report: CheckReport | ProveReport) -> int:
    number = report.config.get("broker_count")
    return number if isinstance(number, int) else 0


def prove_sheet(report: ProveReport) -> Sheet:
    brokers = broker_count(report)
    named = {
        "initiation": tuple(obligation_case(o) for o in report.initiation),
        "consecution": tuple(cell_case(cell) for cell in report.cells),
        "implication": tuple(obligation_case(o) for o in report.implication),
        "not covered": tuple(_skipped_case(skipped) for skipped in report.skipped),
    }
    suites = tuple(
        Suite(f"{report.variant}, {name}", cases, brokers, sum(case.seconds for case in cases))
        for name, cases in named.items()
        if cases
    )
    total = len(report.initiation) + len(report.cells) + len(report.implication)
    proved = sum(phase.proved for phase in report.phases)
    about, covered = "", report.coverage
    if covered is not None:
        about = f" about {covered.properties} of {covered.all_properties} properties"
        about += f" and {covered.actions} of {covered.all_actions} actions"
    summary = f"{report.variant}: {proved} of {total} obligations{about} proved, {report.seconds:.1f} s"
    summary += given(report)
    return Sheet("prove", report.verdict, summary, report.exit_code, suites)


def cell_case(cell: CellReport) -> Case:
    trace, message = None, ""
    if cell.verdict != "proved":
        message = f"{cell.action} does not preserve {cell.lemma}: {cell.verdict}"
    if cell.failure is not None:
        message += f" ({cell.failure.conjunct})" if cell.failure.conjunct else ""
        failure = cell.failure
        where = failure.source or ""
        step = Step(1, cell.action, failure.arguments, "", failure.changes, where, failure.talk)
        trace = TraceView(failure.before, (step,))
    text = plain_text(lambda page: print_cell(cell, page)) if message else ""
    return Case(
        f"{cell.action} x {cell.lemma}",
        f"{cell.action} preserves {cell.lemma}",
        _PROOF[cell.verdict],
        cell.verdict,
        message,
        text,
        cell.source,
        None,
        trace,
        cell.seconds,
        cell.lemma,
    )


def obligation_case(found: ObligationReport) -> Case:
    proved = found.verdict == "proved"
    message = "" if proved else f"{found.name}: {found.verdict}"
    text = "" if proved else plain_text(lambda page: print_obligation(found, page))
    return Case(
        found.id or found.name,
        found.name,
        _PROOF[found.verdict],
        found.verdict,
        message,
        text,
        found.source,
        seconds=found.seconds,
    )


def _skipped_case(skipped: Skipped) -> Case:
    """The case of what the proof does not cover: a property, an action, or arguments of one."""
    ident = skipped.name if skipped.id in ("action", "arguments") else skipped.id
    return Case(ident, skipped.name, "undecided", "not covered", skipped.reason)


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
    return Sheet("prove --controller", report.verdict, summary, report.exit_code, suites)


def _step_case(step: StepReport, kept: RuleReport | None) -> Case:
    rule, trace, message = f"{step.rule} {kept.name if kept else ''}".strip(), None, ""
    if step.verdict != "proved":
        message = f"{step.event} does not preserve {rule}: {step.reason or step.verdict}"
    if (failure := step.failure) is not None:
        message += f" ({failure.conjunct})" if failure.conjunct else ""
        arguments = tuple(Argument(a.name, a.value) for a in failure.arguments)
        changes = tuple(Change(c.path, c.old, c.new) for c in failure.changes)
        trace = TraceView(failure.before, (Step(1, step.event, arguments, "", changes),))
    return Case(
        f"{step.event} x {step.rule}",
        f"{step.event} preserves {rule}",
        _PROOF[step.verdict],
        step.verdict,
        message,
        source=kept.place if kept else None,
        trace=trace,
        seconds=step.seconds,
        rule=step.rule,
    )


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
    summary = ", ".join(f"{words.count(word)} {word.replace('_', ' ')}" for word in dict.fromkeys(words))
    return Sheet("mutate", report.verdict, summary or "nothing was run", report.exit_code, tuple(suites))


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
