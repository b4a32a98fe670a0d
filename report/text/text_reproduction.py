"""A finding on a real cluster as text: steps and states of the run, what is left, and the control beside it.

F-20/loss on Kafka 4.1.1: Two reassignments and an orderly restart lose acknowledged records
   3.1 s  reassign orders-1 to [2]
   3.6 s  wait orders-1 leader 2  ->  leader=2 replicas=[2] isr=[2] elr=[0, 1] lastKnownElr=[]
run       584 of 600 acknowledged records are lost
control   ELR off: nothing is lost; 600 of 600 acknowledged records can be read
LOST  F-20/loss on Kafka 4.1.1, 95.2 s
"""

from __future__ import annotations

from elrcheck.report.terminal import Page
from elrcheck.results.reproduce_report import ControlReport, DoneStep, RepeatedRuns, ReproduceOutcome, ReproduceReport


def print_reproduction(report: ReproduceReport, page: Page, detail: int = 0) -> None:
    """detail: below 0 only results and the verdict, above 0 also the steps of the control."""
    if detail >= 0:
        page.line(f"{report.finding}/{report.order} on Kafka {report.kafka}: {report.title}")
        _print_steps(report.steps, page)
    if detail > 0 and report.control is not None:
        page.line()
        page.line(f"control, {report.control.title}")
        _print_steps(report.control.steps, page)
    if detail >= 0:
        page.line()
    page.labelled("run", side_in_words(report), indent=0)
    if report.control is not None:
        page.labelled("control", f"{report.control.title}: {side_in_words(report.control)}", indent=0)
    if report.repeated is not None:
        page.labelled("rate", rate_in_words(report.repeated), indent=0)
    for note in notes(report):
        page.labelled("note", note, indent=0)
    page.labelled("classes", ", ".join(report.classes) or None, indent=0)
    page.labelled("kept", report.kept, indent=0)
    page.verdict_line(
        report.outcome, f"{report.finding}/{report.order} on Kafka {report.kafka}, {report.seconds:.1f} s"
    )


def side_in_words(side: ReproduceReport | ControlReport) -> str:
    """What came of one side, in one line; an excerpt of a log follows on more."""
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
    """How often the finding shows, and what its runs lost."""
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
    """Which patch Kafka had, empty for none."""
    changed = ", ".join(path.rpartition("/")[2] for path in report.patched)
    return f"Kafka had the patch of {report.finding}, which changes {changed}" if changed else ""


def notes(report: ReproduceReport) -> list[str]:
    """What a reader must know about the outcome."""
    found = []
    if report.control_shows_it:
        found.append("the control shows the same, so the run does not show what the finding says: exit 3")
    if report.control is not None and report.control.outcome == "inconclusive":
        found.append("the control did not come to its end")
    if report.patched:
        found.append(patch_in_words(report))
    elif report.classes:
        found.append("the classes of Kafka were not all those of the release")
    elif not report.expected:
        found.append("the recipe does not name this release among those on which the finding was seen")
    if report.timing and report.outcome != "lost":
        found.append(f"timing matters: {report.timing}")
    return found


def _print_steps(steps: tuple[DoneStep, ...], page: Page) -> None:
    for step in steps:
        result = f"  ->  {step.result}" if step.result else ""
        page.line(f"{step.seconds:6.1f} s  {step.text}{result}")
