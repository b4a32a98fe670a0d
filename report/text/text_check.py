"""A check report as text, in the order of need: the shortest counterexample, tables, and the verdict last.

Of several violations the one with the shortest trace is printed, and one line for each of the others; with
--all, or -v, every one. -q leaves out all but the lines that name them and the verdict. The block of a
violated property::

    FAIL  P-3 LeaderInIsr  violated at depth 2
          means     After step 2 this is false: "The leader is a member of the ISR".
          conjunct  leader_is_member
          witness   leader=1
          step 1    Fence(broker=2)
                    because  broker 2 is registered and not fenced
                    isr: {0,1,2} -> {0,1}
"""

from __future__ import annotations

from collections.abc import Sequence

from elrcheck.report.plain_sentence import sentence
from elrcheck.report.plain_words import from_store
from elrcheck.report.terminal import Page
from elrcheck.report.text.text_exploration import print_levels, projected
from elrcheck.report.text.text_trace import print_trace
from elrcheck.results.check_report import ActionReport, CheckReport, Extent, PropertyReport, SearchReport

PLAIN = str.maketrans("“”", '""')
"""Quotation marks that every stream can print."""
MOST_FINDINGS = 3
"""Findings outside the scope that are named with their events; of the others only the ids."""


def print_check(report: CheckReport, page: Page, detail: int = 0) -> None:
    print_violations([each for each in report.properties if each.verdict == "violated"], report, page, detail)
    if detail >= 0:
        _print_properties(report, page)
        _print_actions(report, page, detail)
    if detail > 0:
        _print_details(report, page)
    _print_verdict(report, page, detail)


def print_violations(violated: Sequence[PropertyReport], report: CheckReport, page: Page, detail: int) -> None:
    """The shortest counterexample whole, unless -q; the others in a line each, unless -v."""
    found = sorted(violated, key=lambda each: (each.depth is None, each.depth))
    shown = 0 if detail < 0 else len(found) if detail > 0 else 1
    for each in found[:shown]:
        print_violation(each, report, page, detail)
    for each in found[shown:]:
        place = _place(each, report)
        page.verdict_line("fail", _headline(each, report) + (f"  {place}" if place else ""))
    if 0 < shown < len(found):
        page.line(f"      -v prints all {len(found)}, and `elrcheck trace show PATH` one of them")
        page.line()


def _headline(found: PropertyReport, report: CheckReport) -> str:
    where = "" if found.depth is None else f" at depth {found.depth}"
    return f"{found.id} {found.name}  violated{where}  ({report.variant}, {report.scope})"


def _place(found: PropertyReport, report: CheckReport) -> str | None:
    """The path of the stored trace."""
    if found.trace is None:
        return None
    return f"{report.run_dir}/{found.trace}" if report.run_dir else found.trace


def print_violation(found: PropertyReport, report: CheckReport, page: Page, detail: int = 0) -> None:
    """Prints the block of one violated property, including its trace."""
    page.verdict_line("fail", _headline(found, report))
    page.labelled("means", sentence(found).translate(PLAIN))
    page.labelled("conjunct", found.conjunct)
    page.labelled("witness", found.witness)
    if found.counterexample is not None:
        print_trace(found.counterexample, page, initial=detail > 0)
        if found.counterexample.repro is not None:
            page.labelled("repro", found.counterexample.repro)
    place = _place(found, report)
    if place is not None:
        page.labelled("trace", place)
        page.labelled("next", f"elrcheck explain {place}")
    page.line()


def _print_properties(report: CheckReport, page: Page) -> None:
    columns: tuple[str, ...] = ("id", "property", "kind", "verdict", "depth")
    if any(found.waiting is not None for found in report.properties):
        columns = (*columns, "waiting states")
    page.table(
        columns,
        (
            (
                found.id,
                found.name,
                found.kind,
                found.verdict,
                "" if found.depth is None else str(found.depth),
                *([] if found.waiting is None else [page.count(found.waiting) if found.waiting else "never"]),
            )
            for found in report.properties
        ),
        right=("depth", "waiting states"),
    )


def _print_actions(report: CheckReport, page: Page, detail: int) -> None:
    """Those that fired; with -v every one. What the budgets leave out is below the verdict, in words."""
    page.table(
        ("action", "fired", "new states", ""),
        (
            (action.name, page.count(action.fired), page.count(action.new_states), _idleness(action))
            for action in report.actions
            if detail > 0 or not action.idle
        ),
        right=("fired", "new states"),
    )


def _idleness(action: ActionReport) -> str:
    if not action.idle:
        return ""
    return "beyond the budgets" if action.fired else "never fired"


def _print_details(report: CheckReport, page: Page) -> None:
    page.table(
        ("variable", "distinct values"),
        ((variable.name, page.count(variable.distinct)) for variable in report.variables),
        right=("distinct values",),
    )
    print_levels(report.search.levels, page)
    page.table(("setting", "value"), ((name, str(value)) for name, value in report.config.items()))


def _print_verdict(report: CheckReport, page: Page, detail: int) -> None:
    search = report.search
    violated = [found.id for found in report.properties if found.verdict == "violated"]
    unreached = [found.id for found in report.properties if found.verdict == "unreached"]
    for failure in report.failures:
        page.verdict_line("fail", f"--fail-on {failure.word}: {', '.join(failure.subjects) or 'the search'}")
    page.verdict_line(report.verdict, f"{report.variant}, {report.scope}: {_reach(search)}")
    if report.vacuous is not None:
        page.verdict_line("vacuous", report.vacuous)
    page.labelled("violated", ", ".join(violated))
    page.labelled("unreached", ", ".join(unreached))
    for overflow in search.overflows:
        where = f"in {page.count(overflow.count)} steps"
        page.labelled("overflow", f"{overflow.leaf} exceeded its bit width {where}")
    if report.extent is not None:
        _print_extent(report.extent, page)
    if detail >= 0:
        _print_numbers(report, page)
    page.labelled("run", report.run_dir)
    stored = [found.trace for found in report.properties if found.verdict == "reached" and found.trace]
    if stored and detail >= 0:
        page.labelled("reached", f"see `elrcheck trace show {report.run_dir}/{stored[0]}`")
    page.labelled("resume", search.resumable and f"elrcheck check --resume {search.resumable}")


def _print_extent(extent: Extent, page: Page) -> None:
    """What was tried and what was not: a verdict is about nothing else."""
    page.labelled("tried", ", ".join(extent.tried) or "no disturbance at all")
    page.labelled("not tried", ", ".join(extent.not_tried))
    for found in extent.findings[:MOST_FINDINGS]:
        page.labelled("known", f"{found.finding} needs {' and '.join(found.needs)}: {found.title}")
    more = [found.finding for found in extent.findings[MOST_FINDINGS:]]
    if more:
        page.labelled("", f"and outside this scope as well: {', '.join(more)} (`elrcheck show {more[0]}`)")
    for setting in extent.no_effect:
        page.labelled("no effect", f"{setting}: the search is the same without it")


def _print_numbers(report: CheckReport, page: Page) -> None:
    search, engine = report.search, report.engine
    idle = ", ".join(action.name for action in report.actions if action.possible and not action.fired)
    page.labelled("actions", f"never fired, although the scope allows them: {idle}" if idle else None)
    states = (
        f"{page.count(search.distinct)} distinct, {page.count(search.generated)} generated, diameter {search.diameter}"
    )
    if search.cut:
        states += f", {page.count(search.cut)} steps beyond the budgets"
    if search.deadlocks:
        states += f", {page.count(search.deadlocks)} deadlocks"
    page.labelled("states", states)
    page.labelled("projected", projected(search.projection, page))
    age = from_store(report.kept)
    page.labelled("kept", age and f"{age}; --fresh searches again")
    page.labelled("time", f"{search.seconds:.2f} s, {page.count(round(search.states_per_second))} states/s")
    detail = f", {engine.detail}" if engine.detail else ""
    page.labelled("engine", f"{engine.name}, {_workers(engine.workers)}{detail}")
    page.labelled("memory", f"{search.bytes_per_state} bytes/state, {_identity(search)}{_peak(search)}")


def _reach(search: SearchReport) -> str:
    if search.complete:
        return "complete within the budgets of the scope"
    return f"bounded by {search.stopped_by or 'an unnamed limit'}"


def _identity(search: SearchReport) -> str:
    if search.fingerprint_bits is None:
        return "exact states"
    chance = f"collision probability {search.collision_probability:.1e}"
    return f"{search.fingerprint_bits}-bit fingerprints, {chance}"


def _peak(search: SearchReport) -> str:
    where = ", spilled to disk" if search.spilled else ""
    peak = search.peak_memory_bytes
    return f"{where}, peak {peak / 2**20:,.0f} MiB" if peak else where


def _workers(number: int) -> str:
    return "1 worker" if number == 1 else f"{number} workers"
