"""The answer of `elrcheck risk` as text: the worst first with its story, the others in a line each.

Kafka 4.1.2, replication factor 3, min.insync.replicas 2, acks=all, ELR on, unclean election off
LOST         2 reassignments and an orderly stop
             because of F-20: The ELR keeps brokers that are no longer replicas (`elrcheck show F-20`)
             1. Replicas 0, 1, 2 are in sync, and broker 0 leads.
UNAVAILABLE  a kill and a reassignment: F-20
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from elrcheck.base.kept.age import KeptOrigin
from elrcheck.report.document import Block, Headline, Labelled, Line, ReportKind, ReportKinds, Sheet, Table
from elrcheck.report.plain_words import from_store, several, some_of
from elrcheck.results.risk.risk_report import RiskAnswer, RiskOutcome, RiskPart, RiskReport, RiskSettings, SettingRisk

WIDTH = 110
INDENT = 13
WORDS: dict[RiskOutcome, str] = {
    "lost": "an acknowledged record can be lost",
    "unavailable": "the partition can stay without a leader",
}
SEARCHED: dict[RiskOutcome, str] = {"lost": "searched for losses", "unavailable": "searched for outages"}
LOSE = "lose acknowledged records in these ways"
FEW_EVENTS = 3
"""Kinds of events up to which the verdict names them."""
MINUTES = 5
"""In which the searches of one group of settings usually decide something, whatever else the machine does."""
MOST_NAMED = 12
"""Findings outside the answers that are named in the text."""


def risk_blocks(report: RiskReport, detail: int = 0) -> Iterator[Block]:
    """Yield the blocks of the report. detail: below 0 only the verdict and what is lost, above 0 every story."""
    earlier: set[str] = set()
    for number, part in enumerate(report.parts):
        if number:
            yield Line()
        yield from _part(part, detail, earlier)
    head, rows = difference_table(report)
    if rows:
        yield Line()
        yield Table(head, rows)
    for line in report.unread:
        yield Labelled("unread", line, indent=0)
    if report.not_searched and detail >= 0:
        yield from wrapped("not searched", not_searched_in_words(report))
    if detail > 0:
        for name, words in report.tried.items():
            yield Labelled("event", f"{name}: {words}", indent=0)
    if detail >= 0:
        yield from wrapped("not tried", "; ".join(report.not_tried))
        yield Labelled("traces", report.run_dir, indent=0)
        yield Labelled("kept", from_store(KeptOrigin.oldest(part.kept for part in report.parts)), indent=0)
    if detail >= 0 or len(report.parts) > 1:
        yield Line()
    yield Headline(_verdict_word(report), f"{verdict_in_words(report)}, {report.seconds:.1f} s")


def settings_in_words(settings: RiskSettings) -> str:
    """Return the settings of a group, as a title."""
    unclean = "on" if settings.unclean_leader_election_enable else "off"
    elr = "on" if settings.elr else "off"
    which = ", partition 0" if settings.first_partition else ""
    return (
        f"Kafka {settings.kafka}, replication factor {settings.replication_factor}, min.insync.replicas"
        f" {settings.min_insync_replicas}, acks={settings.acks}, ELR {elr}, unclean election {unclean}{which}"
    )


def difference_table(report: RiskReport) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return head and rows of the table of what differs: a column for each group of settings.

    What is known of the groups is compared as well, unless they are those of a description.
    """
    rows = [(each.outcome, each.words, each.here, *each.there) for each in report.differences]
    titles = [] if report.topics else [part.titles for part in report.parts]
    for finding, title in {finding: title for each in titles for finding, title in each.items()}.items():
        cells = ["yes" if finding in each else "no" for each in titles]
        if "no" in cells:
            rows.append(("known", f"{finding}: {title}", *cells))
    return ("outcome", "events", *shared_and_rest([part.settings for part in report.parts])[1]), rows


def shared_and_rest(settings: Sequence[RiskSettings]) -> tuple[str, list[str]]:
    """Return what all settings share, and for each what distinguishes it."""
    texts = [settings_in_words(each).split(", ") for each in settings]
    common = frozenset(texts[0]).intersection(*texts)
    apart = [", ".join(part for part in text if part not in common) or "the same" for text in texts]
    return ", ".join(part for part in texts[0] if part in common), apart


def verdict_in_words(report: RiskReport) -> str:
    """Return the verdict in a few words; for several groups of settings, with the groups that have it."""
    words = [f"{WORDS[report.verdict]}{_whose(report)}"] if report.verdict in WORDS else []
    if report.verdict == "lost":
        return words[0]
    if losses := _known_losses(report):
        words.append(
            f"brokers of this release lose acknowledged records in {several(losses, 'known way', 'known ways')}"
        )
    if any(risk.severity == "loss" for part in report.parts for risk in part.by_design):
        words.append("the settings allow a loss by design")
    reaches = [reach for part in report.parts for reach in part.safe_up_to.values()]
    expected = any(answer.expected for part in report.parts for answer in part.answers)
    unexpected = "unexpected loss" if expected else "loss"
    if not any(reach.undecided for reach in reaches):
        few = f" ({', '.join(report.tried)})" if len(report.tried) <= FEW_EVENTS else ""
        but = ", except what these settings are expected to lose" if expected else ""
        words.append(f"in the model nothing is lost after {up_to(min(reach.most for reach in reaches))}{few}{but}")
    elif all(reach.undecided == reach.sets for reach in reaches):
        words.append(f"{over_in_words(report.parts)}: repeat the command with `--time-budget {_longer(report)}`")
    else:
        words.append(f"no {unexpected} among the sets of events that were decided, and a limit left some open")
    return "; ".join(words)


def over_in_words(parts: Sequence[RiskPart]) -> str:
    """Return why no set of events was decided: the time that compiling took."""
    compiling, budget = sum(part.compiling for part in parts), sum(part.time_budget for part in parts)
    end = "was stored" if all(part.compiled for part in parts) else "did not end, so none of it was stored"
    return (
        f"the time ran out before any set of events was decided; compiling the model took {compiling:.1f} of"
        f" {budget:.0f} s and {end}"
    )


def _longer(report: RiskReport) -> str:
    """Return a time in which such a question usually gets answers; groups of a description share it."""
    return f"{MINUTES * (len(report.parts) if report.topics else 1)}m"


def not_searched_in_words(report: RiskReport) -> str:
    """Return how many topics of a description were read and not searched, and in which order groups are searched."""
    return (
        f"{several(report.not_searched, 'topic', written=f'{report.not_searched:,}')} with further settings: one run"
        f" searches {len(report.parts)} groups, or one for each minute of a longer `--time-budget`. Groups that lose"
        " nothing by design come first, those with most topics before others"
    )


def _verdict_word(report: RiskReport) -> str:
    """Return the word before the verdict: a release that is known to lose records does not read as a good one."""
    return "known_losses" if report.verdict not in WORDS and _known_losses(report) else report.verdict


def _known_losses(report: RiskReport) -> int:
    """Return the number of findings outside the answers by which brokers of a release have lost records."""
    return len({one.finding for part in report.parts for one in part.outside if one.loss_on_brokers})


def _whose(report: RiskReport) -> str:
    """Return the groups of settings that have the verdict, then those that are undecided; empty for a single group."""
    if len(report.parts) == 1:
        return ""
    _, labels = shared_and_rest([part.settings for part in report.parts])
    of = {
        verdict: [label for label, part in zip(labels, report.parts, strict=True) if part.verdict == verdict]
        for verdict in (report.verdict, "inconclusive")
    }
    undecided = f" (undecided: {'; '.join(of['inconclusive'])})" if of["inconclusive"] else ""
    return f": {'; '.join(of[report.verdict])}{undecided}"


def reach_in_words(part: RiskPart, outcome: RiskOutcome) -> str:
    """Return what is safe, and how far that was searched."""
    reach = part.safe_up_to[outcome]
    never = "nothing is lost" if outcome == "lost" else "a leader comes back"
    plural = "event" if reach.events == 1 else "events"
    safe = (
        f"in the model, after any {reach.events} {plural} {never}" if reach.events else _from_the_first(part, outcome)
    )
    decided = reach.sets - reach.undecided
    if reach.undecided:
        return f"{safe}; {decided} of {reach.sets} sets of {up_to(reach.most)} are decided"
    return f"{safe}; every set of {up_to(reach.most)} is decided ({reach.sets})"


def _from_the_first(part: RiskPart, outcome: RiskOutcome) -> str:
    """Return why no number of events is known to be safe."""
    if any(one.outcome == outcome and sum(one.events.values()) == 1 for one in part.answers):
        return "a single event can be enough"
    return "some single events are undecided"


def up_to(most: int) -> str:
    """Return the number of events that are combined."""
    return "1 event" if most == 1 else f"up to {most} events"


def causes_in_words(answer: RiskAnswer) -> str:
    """Return the causes of an answer in a sentence."""
    reasons = []
    for cause in answer.causes:
        page = f" (`elrcheck show {cause.finding}`)" if cause.page else ""
        sure = "" if cause.confirmed or cause.kind == "unknown" else ", by this story"
        reasons.append(f"{cause.finding}: {cause.text}{page}{sure}" if cause.finding else f"{cause.text}{sure}")
    return "; and ".join(reasons)


def _part(part: RiskPart, detail: int, earlier: set[str]) -> Iterator[Block]:
    """Yield a group of settings. earlier: notes and findings of earlier groups; more are added."""
    yield Line(settings_in_words(part.settings), style="bold")
    if part.topics and detail >= 0:
        yield from wrapped("topics", ", ".join(part.topics))
    if detail >= 0:
        for note in part.notes:
            yield from wrapped("note", "" if note in earlier else note)
        earlier.update(part.notes)
        for risk in part.by_design:
            yield from designed(risk)
    outcomes: set[str] = set()
    for answer in part.answers:
        if answer.expected:
            continue
        full = detail > 0 or (detail == 0 and answer.outcome not in outcomes)
        outcomes.add(answer.outcome)
        yield from _answer(answer, full)
    if detail >= 0:
        yield from _outside(part, earlier)
        for answer in part.answers:
            if answer.expected:
                text = f"after {answer.words} {WORDS[answer.outcome]}, by these settings: {causes_in_words(answer)}"
                yield from wrapped("expected", text)
        for text in dict.fromkeys(reach_in_words(part, outcome) for outcome in part.safe_up_to):
            yield from wrapped("searched", text)
        yield from wrapped("not involved", safe_events_in_words(part))


def safe_events_in_words(part: RiskPart) -> str:
    """Return the events in no answer, and whether that is sure; empty if not even each of them alone is decided."""
    if any(reach.sets - reach.undecided < len(part.safe_events) for reach in part.safe_up_to.values()):
        return ""
    undecided = any(reach.undecided for reach in part.safe_up_to.values())
    more = "; but not every set with them is decided" if part.safe_events and undecided else ""
    return ", ".join(part.safe_events) + more


def _outside(part: RiskPart, earlier: set[str]) -> Iterator[Block]:
    """Yield the losses that brokers of the release have shown and no answer has, then the ids of other findings.

    earlier: findings that an earlier group of the same release has; they are not named again.
    """
    release = part.settings.kafka
    names_here = {one.finding: f"{release} {one.finding}" for one in part.outside}
    if names_here and earlier.issuperset(names_here.values()):
        yield from wrapped("KNOWN", f"of those above: {some_of(list(names_here), MOST_NAMED)}")
        return
    lost = [one for one in part.outside if one.loss_on_brokers]
    earlier.update(names_here.values())
    if lost:
        answered = any(answer.outcome == "lost" for answer in part.answers)
        ways = "also lose acknowledged records in ways that no answer here shows" if answered else LOSE
        yield from wrapped("KNOWN", f"brokers of this release {ways}:")
    for one in lost:
        yield from wrapped("", f"{one.finding}: {one.title}", hanging=4)
    names = [one.finding for one in part.outside if not one.loss_on_brokers]
    others = f"Outages, and losses not seen on brokers: {some_of(names, MOST_NAMED)}. " if names else ""
    if part.outside:
        settings = part.settings
        sizes = (
            f"--replication-factor {settings.replication_factor} --min-insync-replicas {settings.min_insync_replicas}"
        )
        command = f"elrcheck assess --kafka {settings.kafka} {sizes}"
        command += f" --elr {'on' if settings.elr else 'off'}"
        command += " --unclean-leader-election-enable" * settings.unclean_leader_election_enable
        yield from wrapped("", f"{others}`{command}` says what to do")


def designed(risk: SettingRisk, topics: str = "", in_full: bool = True) -> Iterator[Block]:
    """Yield what a setting allows in every release. topics: those that have it, if not all do."""
    yield from wrapped("BY DESIGN", f"{risk.setting}: {risk.happens}")
    yield from wrapped("  topics", topics)
    yield from wrapped("  do", risk.remedy if in_full else "")


def _answer(answer: RiskAnswer, full: bool) -> Iterator[Block]:
    label = "LOST" if answer.outcome == "lost" else "NO LEADER"
    if not full:
        causes = ", ".join(cause.finding or cause.text for cause in answer.causes)
        yield from wrapped(label, f"{answer.words}: {causes}")
        return
    yield from wrapped(label, f"{WORDS[answer.outcome]} after {answer.words}")
    for number, sentence in enumerate(answer.story, 1):
        yield from wrapped("", f"{number:2}. {sentence}", hanging=4)
    yield from wrapped("  why", causes_in_words(answer))
    yield from wrapped("  shown", answer.shown)
    yield from wrapped("  do", answer.remedy)
    if answer.trace:
        for label, command in (("  trace", "web --trace"), ("", "trace show")):
            yield Line(f"{label:<{INDENT}}elrcheck {command} {answer.trace}")


def wrapped(label: str, text: str, hanging: int = 0) -> Iterator[Block]:
    """Yield a labelled text in lines of up to WIDTH characters, with a hanging indent."""
    if not text:
        return
    lines = textwrap.wrap(text, WIDTH - INDENT - hanging, break_long_words=False, break_on_hyphens=False)
    for number, line in enumerate(lines):
        start = f"{label:<{INDENT}}" if number == 0 else " " * (INDENT + hanging)
        yield Line(f"{start}{line}")


def risk_sheet(report: RiskReport) -> Sheet:
    """Return a summary without judgements."""
    return Sheet(verdict_in_words(report), judges=False, unread=report.unread, word=_verdict_word(report))


KINDS: ReportKinds = {RiskReport: ReportKind("risk", risk_blocks, risk_sheet)}
