"""The page of `elrcheck risk`: a card for each group of settings, the worst answer first with its story."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from elrcheck.report.document import Document
from elrcheck.report.documents.assess_document import AUDITED
from elrcheck.report.documents.risk_document import (
    SEARCHED,
    WORDS,
    causes_in_words,
    difference_table,
    reach_in_words,
    safe_events_in_words,
    settings_in_words,
    shared_and_rest,
)
from elrcheck.report.html.html_page import case_parts
from elrcheck.report.html.html_part import Grid, NameList, PagePart
from elrcheck.report.html.html_trace import trace_block
from elrcheck.report.plain_words import some_of
from elrcheck.report.words.assess_words import (
    CAN,
    MOST_TOPICS,
    FindingOfGroups,
    by_design_together,
    difference_rows,
    findings_together,
    seen_in_words,
    span_in_words,
    titles_of,
)
from elrcheck.report.words.audit_words import NEAR
from elrcheck.results.risk.assess_report import AssessReport
from elrcheck.results.risk.risk_report import RiskAnswer, RiskPart, RiskReport

ANSWERS = ("outcome", "events", "why", "shown in")
ASSESSED = ("finding", "outcome", "title", "happens", "shown", "what to do", "topics")
DESIGNED = ("setting", "what happens", "what to do", "topics")


def risk_parts(report: RiskReport, document: Document) -> Iterable[PagePart]:
    """Return a part for each group of settings, then what differs and what was tried."""
    parts = [_part(f"k{number}", part) for number, part in enumerate(report.parts, 1)]
    head, rows = difference_table(report)
    if rows:
        grid = Grid("Differences", head, tuple(rows))
        parts.append(PagePart("differences", "What differs", grids=(grid,)))
    tried = tuple((name, words) for name, words in report.tried.items())
    left = tuple((text,) for text in report.not_tried)
    parts.append(
        PagePart(
            "events",
            "What was tried",
            grids=(Grid("Events", ("event", "what happens"), tried), Grid("Not tried", ("what",), left)),
        )
    )
    return parts


def assess_parts(report: AssessReport, document: Document) -> Iterable[PagePart]:
    """Return what the audit shows and cannot see, what a comparison shows, and what release and settings can do."""
    together = findings_together(report)
    several = len(report.groups) > 1
    findings = tuple(
        (
            one.finding.finding,
            CAN[one.finding.severity].lower(),
            one.finding.title,
            one.finding.happens,
            seen_in_words(one.finding),
            one.finding.remedy,
            *([_topics(one, report)] if several else []),
        )
        for one in together
    )
    head = ASSESSED if several else ASSESSED[:-1]
    common, apart = shared_and_rest([group.settings for group in report.groups])
    rows = tuple(
        (words, f"{len(group.topics):,}", some_of(group.topics, MOST_TOPICS), next(iter(group.places), ""))
        for words, group in zip(apart, report.groups, strict=True)
    )
    designed = tuple(
        (each.risk.setting, each.risk.happens, each.risk.remedy, "all" if each.everywhere else _named(each.topics))
        for each in by_design_together(report)
    )
    grids = [Grid("What the settings allow in every release", DESIGNED, designed)] if designed else []
    lists = []
    if any(group.topics for group in report.groups):
        grids.append(Grid("Topics", ("settings", "topics", "which", "defined at"), rows))
        lists = [
            NameList(f"{words if several else 'all'}: {len(group.topics):,} topics, one in a line", group.topics)
            for words, group in zip(apart, report.groups, strict=True)
        ]
    parts = [part for part in case_parts(report, document) if part.name == AUDITED]
    if beside := _beside_flags(report):
        parts.append(PagePart("near", "Beside the flags", grids=beside))
    for number, comparison in enumerate(report.comparisons, 1):
        differing = tuple(difference_rows(comparison, report.groups[0].settings.kafka))
        grid = Grid("", ("difference", "finding", "title", "seen"), differing)
        parts.append(PagePart(f"compared{number}", f"Compared with {comparison.changed}", grids=(grid,)))
    parts.append(PagePart("known", common, grids=tuple(grids), lists=tuple(lists)))
    if findings:
        described = (Grid("", head, findings, defines=True),)
        parts.append(PagePart("findings", "Findings that this release and these settings allow", grids=described))
    return parts


def _topics(one: FindingOfGroups, report: AssessReport) -> str:
    return "all" if len(one.groups) == len(report.groups) else _named(one.topics)


def _named(topics: Sequence[str]) -> str:
    """Return the number of topics, and the first of them."""
    return f"{len(topics):,}: {some_of(topics, MOST_TOPICS)}"


def _beside_flags(report: AssessReport) -> tuple[Grid, ...]:
    """Return near misses, and what cannot be seen."""
    near = tuple(
        (f"{each.topic}-{each.partition}", NEAR[kind.kind], each.message, span_in_words(each))
        for kind in report.near_misses
        for each in kind.first
    )
    left = sum(kind.times - len(kind.first) for kind in report.near_misses)
    note = "No rule is broken, but a loss may begin so." + (f" {left:,} more are left out." if left else "")
    grids = []
    if near:
        grids.append(Grid("Near misses in the log", ("partition", "what", "what was so", "when"), near, note))
    if report.invisible:
        titles = titles_of(report)
        rows = tuple((each.finding, titles[each.finding], each.shows) for each in report.invisible)
        grids.append(Grid("Cannot be seen here", ("finding", "title", "what there is instead of a sign"), rows))
    return tuple(grids)


def _part(key: str, part: RiskPart) -> PagePart:
    facts = [(SEARCHED[outcome], reach_in_words(part, outcome)) for outcome in part.safe_up_to]
    facts += [("by design", f"{risk.setting}: {risk.happens} {risk.remedy}") for risk in part.by_design]
    facts.append(("not involved", safe_events_in_words(part) or "none"))
    if part.topics:
        facts.append(("topics", ", ".join(part.topics)))
    facts += [("note", note) for note in part.notes]
    grids = []
    if part.answers:
        rows = tuple(_row(answer) for answer in part.answers)
        grids.append(Grid("Smallest sets of events", ANSWERS, rows))
    if remedies := _remedies(part.answers):
        grids.append(Grid("What to do", ("because of", "what to do"), remedies))
    for answer in part.answers:
        if not answer.expected:
            steps = tuple((str(number), text) for number, text in enumerate(answer.story, 1))
            title = f"After {answer.words}: {WORDS[answer.outcome]}"
            look = () if answer.trace is None else (f"elrcheck web --trace {answer.trace}",)
            grids.append(Grid(title, ("step", "story"), steps, commands=(answer.command, *look)))
    traces = tuple(
        trace_block(
            f"{key}-t{number}",
            f"{answer.outcome} after {answer.words}",
            WORDS[answer.outcome],
            answer.view,
            part.settings.replication_factor,
            place=answer.trace or "",
            word="Trace",
        )
        for number, answer in enumerate(part.answers, 1)
        if answer.view is not None and not answer.expected and answer.outcome == part.verdict
    )
    if part.outside:
        others = tuple((one.finding, one.title, one.lost) for one in part.outside)
        note = f"`elrcheck show {part.outside[0].finding}` describes one of them."
        grids.append(
            Grid("Known in this release, beyond these events", ("finding", "title", "what is lost"), others, note)
        )
    return PagePart(
        key, settings_in_words(part.settings), tuple(facts), traces=traces, worst_first=True, grids=tuple(grids)
    )


def _remedies(answers: Sequence[RiskAnswer]) -> tuple[tuple[str, str], ...]:
    """Return each remedy once, with the findings or settings that it is about."""
    causes: dict[str, dict[str, None]] = {}
    for answer in answers:
        if answer.remedy:
            causes.setdefault(answer.remedy, {}).update({cause.finding or cause.text: None for cause in answer.causes})
    return tuple((", ".join(names), remedy) for remedy, names in causes.items())


def _row(answer: RiskAnswer) -> tuple[str, ...]:
    outcome = f"{answer.outcome}, expected" if answer.expected else answer.outcome
    return outcome, answer.words, causes_in_words(answer), answer.shown
