"""The card on top of a page: the result in a sentence or two, the figures, and what was tried."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from elrcheck.base.roundtrip import Record
from elrcheck.report.documents.risk_document import SEARCHED, WORDS, reach_in_words, shared_and_rest
from elrcheck.report.log_notes import sentence, shortest, stake
from elrcheck.report.plain_words import some_of
from elrcheck.report.sweep_matrix import smallest
from elrcheck.report.words.assess_words import by_design_together, findings_together
from elrcheck.results.any_report import Report
from elrcheck.results.audit_report import WORST_FIRST, AuditReport
from elrcheck.results.check_report import CheckReport
from elrcheck.results.gate_report import EntryReport, GateReport
from elrcheck.results.mutation_report import MutateReport
from elrcheck.results.prove_report import ProveReport
from elrcheck.results.risk.assess_report import AssessReport
from elrcheck.results.risk.risk_report import RiskReport
from elrcheck.results.suite_report import SuiteReport, SweepReport

GATE_TONES = {"drift": "failed", "same": "passed", "tolerated": "undecided", "inconclusive": "undecided"}
SWEEP_TONES = {"violated": "failed", "holds": "passed"}
MUTATE_TONES = {
    "found": "passed",
    "noticed": "passed",
    "not found": "failed",
    "unnoticed": "undecided",
    "unaffected": "failed",
    "contradicted": "failed",
}
MOST_DIFFERENCES = 3
"""Differences from a baseline that the card names."""
MOST_LEFT = 6
"""Uncovered properties and actions that the card of a proof names."""
SEVERITY_IN_WORDS = {
    "critical": "acknowledged records are lost, or orderly operations can lose them",
    "high": "a partition is unavailable, or one failure away from it",
    "medium": "a partition is in a state that can become worse",
    "low": "there is a note, which leaves the verdict alone",
}
NO_IDS = ("action", "arguments")
"""Values of `Skipped.id` that name no property."""


class Figure(Record, frozen=True):
    """A number or a word with its label."""

    value: str
    label: str
    tone: str = ""
    """Passed, failed, undecided, or empty."""


class Card(Record, frozen=True):
    """sentences: plain words, the worst first; lines: pairs of label and text."""

    sentences: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
    lines: tuple[tuple[str, str], ...] = ()


def no_card(report: Report) -> Card:
    """Return an empty card, for a page that is about a single trace."""
    return Card()


def suite_card(report: SuiteReport) -> Card:
    words = Counter("as expected" if run.as_expected else "not as expected" for run in report.runs)
    return Card(figures=_counted(words, {"as expected": "passed", "not as expected": "failed"}))


def mutate_card(report: MutateReport) -> Card:
    kinds = (report.hazards, report.guards, report.rules)
    words = Counter(each.verdict.replace("_", " ") for kind in kinds for each in kind)
    return Card(figures=(*_counted(words, MUTATE_TONES), Figure(f"{report.seconds:.1f} s", "time")))


def sweep_card(report: SweepReport) -> Card:
    words: Counter[str] = Counter(row.verdict for row in report.rows)
    first = smallest(report)
    sentences = () if first is None else (f"Smallest breaking configuration: {first}.",)
    return Card(sentences, (*_counted(words, SWEEP_TONES), Figure(f"{report.seconds:.1f} s", "time")))


def check_card(report: CheckReport) -> Card:
    verdicts = Counter(each.verdict for each in report.properties)
    search = report.search
    figures = [
        _figure(verdicts["violated"], _one(verdicts["violated"], "property", "properties", "violated"), "failed"),
        _figure(verdicts["holds"], _one(verdicts["holds"], "property", "properties", "true"), "passed"),
        _figure(verdicts["inconclusive"], "undecided", "undecided"),
        _figure(verdicts["unreached"], _one(verdicts["unreached"], "witness", "witnesses", "not reached"), ""),
        Figure(f"{search.distinct:,}", "distinct states"),
        Figure(f"{search.seconds:.1f} s", "time"),
    ]
    findings = {each.finding: each.title for violation in report.properties for each in violation.instance_of}
    lines = [("instance of", f"{finding}: {title} (elrcheck show {finding})") for finding, title in findings.items()]
    if (extent := report.extent) is not None:
        lines.append(("tried", ", ".join(extent.tried) or "no disturbance at all"))
        lines.append(("not tried", ", ".join(extent.not_tried)))
        lines.append(("known, outside this scope", ", ".join(outside.finding for outside in extent.findings)))
        lines.append(("no effect", ", ".join(extent.no_effect)))
        lines.append(("effect", "; ".join(extent.effect)))
    first = shortest(report)
    sentences = () if first is None else tuple(filter(None, (sentence(first), stake(first))))
    if first is None and report.verdict == "holds" and search.complete:
        sentences = ("Nothing that was tried breaks a property.",)
    return Card(sentences, tuple(f for f in figures if f.value != "0"), tuple(line for line in lines if line[1]))


def gate_card(report: GateReport) -> Card:
    words: Counter[str] = Counter(part.verdict for part in report.parts)
    failing = [(part.name, one) for part in report.parts for one in part.differences if one.fails]
    sentences = [f"{name}: {one.what} is {one.found}, expected {one.expected}." for name, one in failing]
    if len(sentences) > MOST_DIFFERENCES:
        sentences[MOST_DIFFERENCES:] = [f"{len(sentences) - MOST_DIFFERENCES} more differences fail."]
    sentences = [*_new_violation(report), *sentences]
    figures = [*_counted(words, GATE_TONES), Figure(f"{report.seconds:.1f} s", "time")]
    if failing:
        label = _one(len(failing), "difference", "differences", "not tolerated")
        figures.insert(-1, _figure(len(failing), label, "failed"))
    return Card(tuple(sentences), tuple(figures), (("baseline", report.baseline),))


def _new_violation(report: GateReport) -> list[str]:
    """Return a sentence about the shortest counterexample to a property that should hold."""
    violations = [
        (each.depth or 0, f"{part.name}: {sentence(each)}")
        for part in report.parts
        if isinstance(part, EntryReport)
        for each in part.check.properties
        if sentence(each) and any(one.fails and one.subject == each.id for one in part.differences)
    ]
    return [min(violations)[1]] if violations else []


def prove_card(report: ProveReport) -> Card:
    refuted = sum(phase.refuted for phase in report.phases)
    counts = (
        (refuted, _one(refuted, "obligation", "obligations", "refuted"), "failed"),
        (sum(phase.unknown for phase in report.phases), "unknown", "undecided"),
        (sum(phase.proved for phase in report.phases), "proved", "passed"),
        (len(report.skipped), "not covered", "undecided"),
    )
    figures = tuple(_figure(number, label, tone) for number, label, tone in counts if number)
    open_cells = [
        f"{cell.action} does not preserve {cell.lemma}." for cell in report.cells if cell.verdict == "refuted"
    ]
    left = [skipped.id if skipped.id not in NO_IDS else skipped.name for skipped in report.skipped]
    sentences = open_cells[:1] or ([f"Not covered: {some_of(left, MOST_LEFT)}."] if left else [])
    return Card(tuple(sentences), (*figures, Figure(f"{report.seconds:.1f} s", "time")))


def audit_card(report: AuditReport) -> Card:
    words = Counter(flag.severity for flag in report.flags)
    flags = tuple(
        _figure(words[word], f"{word} flag{'s' * (words[word] != 1)}", "failed" if rank < 2 else "undecided")
        for rank, word in enumerate(WORST_FIRST)
        if words[word]
    )
    worst = next((word for word in WORST_FIRST if words[word]), "")
    sentences = (_worst_in_words(report, worst),) if worst else ()
    partitions = _figure(report.partitions, "partition" if report.partitions == 1 else "partitions", "")
    return Card(sentences, (*flags, partitions))


def _worst_in_words(report: AuditReport, severity: str) -> str:
    """Return what the worst flags mean, with their topics and findings."""
    flags = [flag for flag in report.flags if flag.severity == severity]
    topics = len({(flag.log, flag.topic) for flag in flags})
    number = f"In {topics:,} {'topic' if topics == 1 else 'topics'}"
    if topics == 1:
        number = f"In topic {flags[0].topic}"
    findings = ", ".join(sorted({flag.hazard for flag in flags if flag.hazard is not None})) or flags[0].rule
    return f"{number} {SEVERITY_IN_WORDS[severity]}: {findings}."


def risk_card(report: RiskReport) -> Card:
    """Return the worst answer, and of which settings it is if there are several; one group's page says its reach."""
    _, labels = shared_and_rest([part.settings for part in report.parts])
    whose = [f" ({label})" for label in labels] if len(labels) > 1 else [""]
    answers = [
        (answer, of)
        for part, of in zip(report.parts, whose, strict=True)
        for answer in part.answers
        if not answer.expected
    ]
    words: Counter[str] = Counter(answer.outcome for answer, _ in answers)
    answers.sort(key=lambda pair: pair[0].outcome != "lost")
    sentences = [f"After {answer.words}, {WORDS[answer.outcome]}{of}." for answer, of in answers[:1]]
    reached = report.safe_up_to if len(report.parts) == 1 else ()
    lines = tuple((SEARCHED[outcome], reach_in_words(report.first, outcome)) for outcome in reached)
    figures = [
        _figure(words[outcome], _one(words[outcome], "set of events:", "sets of events:", outcome), "failed")
        for outcome in sorted(words)
    ]
    return Card(tuple(sentences), (*figures, Figure(f"{report.states:,}", "states searched")), lines)


def assess_card(report: AssessReport) -> Card:
    """Return what to do first, the figures, and of what and when the assessment is."""
    together, designed = findings_together(report), by_design_together(report)
    topics = sum(len(group.topics) for group in report.groups)
    risky = len({topic for each in designed if each.risk.severity == "loss" for topic in each.topics})
    losses = sum(one.finding.severity == "loss" for one in together)
    figures = [
        _figure(len(report.flags), _one(len(report.flags), "flag", "flags", "of the audit"), "failed"),
        _figure(risky, "topics of settings that allow a loss", "failed"),
        _figure(losses, "findings that can lose records", "undecided"),
        _figure(len(together) - losses, "findings that can end in an outage", "undecided"),
        _figure(topics, "topics", ""),
    ]
    first = [f"{flag.topic}-{flag.partition}: {flag.message}. {flag.remedy}" for flag in report.flags[:1]]
    first += [
        f"{each.risk.setting}{f' of {len(each.topics):,} topics' if each.topics else ''}: {each.risk.remedy}"
        for each in designed[:1]
    ]
    lines = (
        ("first", first[0] if first else ""),
        ("release", f"Kafka {report.groups[0].settings.kafka}"),
        ("read", ", ".join((*report.topic_files, *report.looked_at))),
        ("assessed", report.assessed),
    )
    return Card((), tuple(f for f in figures if f.value != "0"), tuple(line for line in lines if line[1]))


def _one(number: int, one: str, many: str, rest: str) -> str:
    return f"{one if number == 1 else many} {rest}"


def _figure(number: int, label: str, tone: str) -> Figure:
    return Figure(f"{number:,}", label, tone)


def _counted(words: Counter[str], tones: dict[str, str]) -> tuple[Figure, ...]:
    """Return a figure for each word, failures first."""
    order = ("failed", "undecided", "", "passed")
    tone = {word: tones.get(word, "") for word in words}
    ordered: Iterable[str] = sorted(words, key=lambda word: order.index(tone[word]))
    return tuple(_figure(words[word], word, tone[word]) for word in ordered if words[word])
