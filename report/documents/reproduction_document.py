"""A finding on a real cluster as text: steps and states of the run, what is left, and the control beside it.

F-20/loss on Kafka 4.1.1: Two reassignments and an orderly restart lose acknowledged records
   3.1 s  reassign orders-1 to [2]
   3.6 s  wait orders-1 leader 2  ->  leader=2 replicas=[2] isr=[2] elr=[0, 1] lastKnownElr=[]
run       584 of 600 acknowledged records are lost
control   ELR off: nothing is lost; 600 of 600 acknowledged records can be read
LOST  F-20/loss on Kafka 4.1.1, 95.2 s
"""

from __future__ import annotations

from collections.abc import Iterator

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
)
from elrcheck.results.reproduce_report import (
    SHOWING,
    ControlReport,
    DoneStep,
    RepeatedRuns,
    ReproduceOutcome,
    ReproduceReport,
    UpstreamReport,
)


def reproduction_blocks(report: ReproduceReport, detail: int = 0) -> Iterator[Block]:
    """Yield the blocks of the report.

    detail: below 0 only results and the verdict, above 0 also the steps of the control.
    """
    if detail >= 0:
        yield Line(f"{report.finding}/{report.order} on Kafka {report.kafka}: {report.title}")
        yield from _steps(report.steps)
    if detail > 0 and report.control is not None:
        yield Line()
        yield Line(f"control, {report.control.title}")
        yield from _steps(report.control.steps)
    if detail >= 0:
        yield Line()
    yield Labelled("run", side_in_words(report), indent=0)
    if report.control is not None:
        yield Labelled("control", f"{report.control.title}: {side_in_words(report.control)}", indent=0)
    if report.repeated is not None:
        yield Labelled("rate", rate_in_words(report.repeated), indent=0)
    for note in notes(report):
        yield Labelled("note", note, indent=0)
    yield Labelled("classes", ", ".join(report.classes) or None, indent=0)
    yield Labelled("kept", report.kept, indent=0)
    yield Headline(report.outcome, f"{report.finding}/{report.order} on Kafka {report.kafka}, {report.seconds:.1f} s")


def side_in_words(side: ReproduceReport | ControlReport) -> str:
    """Return the outcome of one side in one line, which an excerpt of a log may follow."""
    counts = f"{side.left} of {side.acknowledged} acknowledged records can be read"
    why = f": {side.message}" if side.message else ""
    words: dict[ReproduceOutcome, str] = {
        "lost": f"{side.acknowledged - (side.left or 0)} of {side.acknowledged} acknowledged records are lost"
        f" ({side.missing})",
        "unavailable": f"unavailable{why}",
        "not-reproduced": f"nothing is lost; {counts}{why}",
        "inconclusive": f"inconclusive{why}",
    }
    if side.outcome == "not-reproduced" and side.left is None:
        return f"not reproduced{why}"
    return words[side.outcome]


def rate_in_words(repeated: RepeatedRuns) -> str:
    """Return how often the finding shows, and how many records each run lost."""
    share = f"{repeated.shown} of {repeated.ended} runs"
    interval = f"{100 * repeated.low:.0f} % to {100 * repeated.high:.0f} % with a confidence of 95 %"
    lost = [run.acknowledged - (run.left or 0) for run in repeated.runs if run.outcome == "lost"]
    losses = f"; lost in each: {', '.join(map(str, lost))}" if lost else ""
    undecided = len(repeated.runs) - repeated.ended
    more = f"; {undecided} more are inconclusive" if undecided else ""
    if len(repeated.runs) < repeated.asked:
        more += f"; interrupted after {len(repeated.runs)} of {repeated.asked}"
    return f"it shows in {share}: {interval}{losses}{more}"


def patch_in_words(report: ReproduceReport) -> str:
    """Return the patch that Kafka had; empty if it had none."""
    changed = ", ".join(path.rpartition("/")[2] for path in report.patched)
    return f"Kafka had the patch of {report.finding}, which changes {changed}" if changed else ""


def notes(report: ReproduceReport) -> list[str]:
    """Return what a reader must know beside the outcome."""
    lines = []
    if report.control_shows_it:
        lines.append("the control shows the same, so the run does not show what the finding says: exit 3")
    if report.control is not None and report.control.outcome == "inconclusive":
        lines.append("the control did not come to its end")
    if report.patched:
        lines.append(patch_in_words(report))
    elif report.classes:
        lines.append("the classes of Kafka were not all those of the release")
    elif not report.expected:
        lines.append("the recipe does not name this release among those on which the finding was seen")
    if report.timing and report.outcome != "lost":
        lines.append(f"timing matters: {report.timing}")
    return lines


def _steps(steps: tuple[DoneStep, ...]) -> Iterator[Block]:
    for step in steps:
        result = f"  ->  {step.result}" if step.result else ""
        yield Line(f"{step.seconds:6.1f} s  {step.text}{result}")


def reproduction_sheet(report: ReproduceReport) -> Sheet:
    name = f"{report.finding}/{report.order}"
    cases = [_case(name, report.title, report)]
    if report.control is not None:
        cases.append(_case(f"{name}/control", report.control.title, report.control))
    facts = (("patch", patch_in_words(report)), ("classes", ", ".join(report.classes)))
    filled = tuple(fact for fact in facts if fact[1])
    suite = Suite(f"Kafka {report.kafka}", tuple(cases), seconds=report.seconds, facts=filled)
    summary = f"{name} on Kafka {report.kafka}: {side_in_words(report)}"
    rate = () if report.repeated is None else (rate_in_words(report.repeated),)
    return Sheet(summary, (suite,), (*rate, *notes(report)))


def _case(ident: str, name: str, side: ReproduceReport | ControlReport) -> Case:
    outcome: Outcome = "passed"
    if side.outcome != "not-reproduced":
        outcome = "failed" if side.outcome in SHOWING else "undecided"
    result = side_in_words(side)
    message = result.partition("\n")[0] if outcome != "passed" else ""
    text = "\n".join([result, *(f"{step.text}: {step.result}" for step in side.steps)]) if message else ""
    return Case(ident, name, outcome, side.outcome, message, text, seconds=side.seconds)


def upstream_blocks(report: UpstreamReport, detail: int = 0) -> Iterator[Block]:
    """Yield the files for Kafka's repository, and Kafka's tests without and with the change."""
    for file in report.files:
        yield Line(file)
    yield Table(
        ("class", "tests", "failing", "broken"),
        [(each.name, each.tests, len(each.failing), len(each.broken)) for each in report.tests],
    )
    for test in (test for each in report.tests for test in each.added):
        yield Line(
            f"{test.name.rpartition('.')[2]} {'fails' if test.without else 'passes'} without the change, and "
            f"{'fails' if test.with_change else 'passes'} with it",
            hang=2,
        )
        if detail > 0 or test.with_change:
            yield Labelled("without", test.without)
            yield Labelled("with change", test.with_change)
    for name in (name for each in report.tests for name in each.broken):
        yield Line(f"broken: {name}")
    how = f"Kafka {report.kafka}, {report.seconds:.1f} s"
    if report.tests:
        yield Headline(report.verdict, f"{report.finding}: {report.summary} ({how})")
    else:
        yield Line(f"{report.finding}: {report.summary} ({how}); --run runs Kafka's tests without and with the change")


KINDS: ReportKinds = {
    ReproduceReport: ReportKind("reproduce", reproduction_blocks, reproduction_sheet),
    UpstreamReport: ReportKind("export upstream", upstream_blocks),
}
