"""A check report as text, in the order of need: the shortest counterexample, tables, and the verdict last.

The violation with the shortest trace is printed in full and the others in a line each; -v prints all of them, and
long tables of properties. -q prints only one line for each violation, and the verdict. The block of a violated
property::

    FAIL  P-3 LeaderInIsr  violated at depth 2
          means     After step 2 this is false: "The leader is a member of the ISR".
          conjunct  leader_is_member
          witness   leader=1
          step 1    Fence(broker=2)
                    because  broker 2 is registered and not fenced
                    isr: {0,1,2} -> {0,1}
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from elrcheck.report.document import (
    Block,
    Case,
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
from elrcheck.report.log_notes import sentence, stake
from elrcheck.report.plain_words import (
    broker_count,
    from_store,
    of_model,
    settings_of,
    several,
    source_of,
    stored_at,
    with_reason,
)
from elrcheck.results.check_report import CheckReport, Extent, Projection, PropertyReport, SearchReport

PLAIN = str.maketrans("“”", '""')
"""Replaces quotation marks that some streams cannot print."""
EMPTY_TABLE = 10_000
"""Bytes for each state from which on the table of states is nearly empty, and its size says nothing about a state."""
FEW_PROPERTIES = 12
"""Properties and actions of a model with more are only counted, unless -v."""
MOST_NOT_TRIED = 5
"""Number of events outside the scope that are named without -v."""
MOST_FINDINGS = 3
"""Number of findings outside the scope that are named with their events; the others only with their ids."""


def check_blocks(report: CheckReport, detail: int = 0) -> Iterator[Block]:
    yield from violations_blocks([each for each in report.properties if each.verdict == "violated"], report, detail)
    if detail > 0 or (detail == 0 and _worth_tables(report)):
        yield from _properties(report)
        yield from _actions(report, detail)
    if detail > 0:
        rows = [(variable.name, variable.distinct) for variable in report.variables]
        yield Table(("variable", "distinct values"), rows)
        yield from levels_blocks(report.search.levels)
        yield Table(("setting", "value"), settings_of(report.config))
    yield from _verdict(report, detail)


def violations_blocks(violated: Sequence[PropertyReport], report: CheckReport, detail: int) -> Iterator[Block]:
    """Yield the shortest counterexample in full, unless -q; the others in a line each, unless -v."""
    violations = sorted(violated, key=lambda violation: (violation.depth is None, violation.depth))
    whole = 0 if detail < 0 else len(violations) if detail > 0 else 1
    for violation in violations[:whole]:
        yield from violation_blocks(violation, report, detail)
    for violation in violations[whole:]:
        place = stored_at(report.run_dir, violation.trace)
        cause = f"  {' or '.join(each.finding for each in violation.instance_of)}" if violation.instance_of else ""
        yield Headline("fail", _headline(violation, report) + cause + (f"  {place}" if place else ""))
    if 0 < whole < len(violations):
        yield Line(f"      -v prints all {len(violations)}, and `elrcheck trace show PATH` one of them")
        yield Line()


def _headline(violation: PropertyReport, report: CheckReport) -> str:
    where = "" if violation.depth is None else f" at depth {violation.depth}"
    return f"{violation.id} {violation.name}  violated{where}  ({report.variant}, {report.scope})"


def violation_blocks(violation: PropertyReport, report: CheckReport, detail: int = 0) -> Iterator[Block]:
    """Yield the block of one violated property, with its trace."""
    yield Headline("fail", _headline(violation, report))
    yield Labelled("means", sentence(violation).translate(PLAIN))
    yield Labelled("at stake", stake(violation))
    yield Labelled("conjunct", violation.conjunct)
    yield Labelled("witness", violation.witness)
    for number, each in enumerate(violation.instance_of):
        label = "finding" if number == 0 else "or"
        yield Labelled(label, f"{each.finding}: {each.title} (`elrcheck show {each.finding}`)")
    if violation.counterexample is not None:
        yield from trace_blocks(violation.counterexample, initial=detail > 0)
        if violation.counterexample.repro is not None:
            yield Labelled("repro", violation.counterexample.repro)
    place = stored_at(report.run_dir, violation.trace)
    if place is not None:
        yield Labelled("trace", place)
        yield Labelled("next", of_model(f"elrcheck explain {place}", *source_of(report)))
    yield Line()


def _worth_tables(report: CheckReport) -> bool:
    """Return whether the tables are short, or say more than the counts below the verdict."""
    return len(report.properties) <= FEW_PROPERTIES or any(each.waiting is not None for each in report.properties)


def _properties(report: CheckReport) -> Iterator[Block]:
    columns: tuple[str, ...] = ("id", "property", "kind", "verdict", "depth")
    if any(result.waiting is not None for result in report.properties):
        columns = (*columns, "waiting states")
    yield Table(
        columns,
        [
            (
                result.id,
                result.name,
                result.kind,
                result.verdict,
                result.depth,
                *([] if result.waiting is None else [result.waiting or Number("never")]),
            )
            for result in report.properties
        ],
    )


def _actions(report: CheckReport, detail: int) -> Iterator[Block]:
    """Yield the actions that fired; with -v every action."""
    yield Table(
        ("action", "fired", "new states", ""),
        [
            (action.name, action.fired, action.new_states, action.remark)
            for action in report.actions
            if detail > 0 or not action.idle
        ],
    )


def _verdict(report: CheckReport, detail: int) -> Iterator[Block]:
    search = report.search
    violated = [result.id for result in report.properties if result.verdict == "violated"]
    unreached = [result.id for result in report.properties if result.verdict == "unreached"]
    for failure in report.failures:
        yield Headline("fail", f"--fail-on {failure.word}: {', '.join(failure.subjects) or 'the search'}")
    yield Headline(report.verdict, f"{report.variant}, {report.scope}: {_reach(search)}")
    yield from source_blocks(report)
    if report.vacuous is not None:
        yield Headline("vacuous", report.vacuous)
    yield Labelled("violated", ", ".join(violated))
    if detail >= 0:
        yield from _counted(report)
    yield Labelled("unreached", ", ".join(unreached))
    for overflow in search.overflows:
        steps = f"{overflow.leaf} exceeded its bit width in {grouped(overflow.count)} steps"
        keys = ", or a key was outside the map or vector" if "[" in overflow.leaf else ""
        yield Labelled("overflow", f"{steps}{keys}: it needs a guard, or its type more room")
    if report.extent is not None:
        yield from _extent(report.extent, detail)
    if detail >= 0:
        yield from number_blocks(report)
    yield Labelled("run", report.run_dir)
    stored = [result.trace for result in report.properties if result.verdict == "reached" and result.trace]
    if stored and detail >= 0:
        command = of_model(f"elrcheck trace show {report.run_dir}/{stored[0]}", *source_of(report))
        yield Labelled("reached", f"see `{command}`")
    resumed = search.resumable and of_model(f"elrcheck check --resume {search.resumable}", *source_of(report))
    yield Labelled("resume", resumed)


def _counted(report: CheckReport) -> Iterator[Block]:
    """Yield how many properties hold and how many witnesses are reached."""
    for kind, verdict, noun in (("always", "holds", "properties"), ("sometimes", "reached", "witnesses")):
        of_kind = [each for each in report.properties if each.kind == kind]
        number = sum(each.verdict == verdict for each in of_kind)
        yield Labelled(verdict, f"{number} of {len(of_kind)} {noun}" if of_kind else None)
    undecided = [each.id for each in report.properties if each.verdict == "inconclusive"]
    yield Labelled("undecided", f"{len(undecided)} of these" if undecided else None)


def _extent(extent: Extent, detail: int) -> Iterator[Block]:
    """Yield what was tried and what was not, which is the extent of the verdict."""
    yield Labelled("tried", ", ".join(extent.tried) or "no disturbance at all")
    named = extent.not_tried[: None if detail > 0 else MOST_NOT_TRIED]
    left = len(extent.not_tried) - len(named)
    yield Labelled("not tried", ", ".join(named) + (f", and {left} more (-v lists them)" if left else ""))
    for outside in extent.findings[:MOST_FINDINGS]:
        yield Labelled("known", f"{outside.finding} needs {' and '.join(outside.needs)}: {outside.title}")
    more = [outside.finding for outside in extent.findings[MOST_FINDINGS:]]
    if more:
        yield Labelled("", f"and outside this scope as well: {', '.join(more)} (`elrcheck show {more[0]}`)")
    for setting in extent.no_effect:
        yield Labelled("no effect", f"{setting}: the search is the same without it")
    for setting in extent.effect:
        yield Labelled("effect", setting)


def number_blocks(report: CheckReport) -> Iterator[Block]:
    search, engine = report.search, report.engine
    idle = ", ".join(action.name for action in report.actions if action.possible and not action.fired)
    yield Labelled("actions", f"never fired, although the scope allows them: {idle}" if idle else None)
    distinct = f"{grouped(search.distinct)} distinct"
    if search.renamings > 1:
        distinct += f" up to {grouped(search.renamings)} renamings"
    states = f"{distinct}, {grouped(search.generated)} generated, diameter {search.diameter}"
    if search.cut:
        states += f", {grouped(search.cut)} steps beyond the budgets"
    if search.deadlocks:
        states += f", {grouped(search.deadlocks)} deadlocks"
    yield Labelled("states", states)
    yield Labelled("projected", projected(search.projection))
    age = from_store(report.kept)
    yield Labelled("kept", age and f"{age}; --fresh searches again")
    yield Labelled("time", f"{search.seconds:.2f} s, {grouped(round(search.states_per_second))} states/s")
    detail = f", {engine.detail}" if engine.detail else ""
    yield Labelled("engine", f"{engine.name}, {several(engine.workers, 'worker')}{detail}")
    share = f"{search.bytes_per_state} bytes/state, " if search.bytes_per_state < EMPTY_TABLE else ""
    yield Labelled("memory", f"{share}{_identity(search)}{_peak(search)}")


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


_UNDECIDED = {"unreached": "no state of this search shows it", "inconclusive": "the search stopped before deciding it"}
_PROPERTY: dict[str, Outcome] = {"holds": "passed", "reached": "passed", "violated": "failed"}


def check_sheet(report: CheckReport) -> Sheet:
    suite = Suite(
        f"{report.variant}, {report.scope}",
        (*(property_case(result, report) for result in report.properties), *_idle_cases(report)),
        broker_count(report.config),
        report.search.seconds,
        search_facts(report.search),
    )
    violated = [result.id for result in report.properties if result.verdict == "violated"]
    summary = f"{suite.name}: {_reach(report.search)}" + (f"; violated: {', '.join(violated)}" if violated else "")
    if report.failures:
        summary += f"; fails by --fail-on {','.join(failure.word for failure in report.failures)}"
    return Sheet(summary, (suite,), check_notes(report))


def _idle_cases(report: CheckReport) -> list[Case]:
    """Return cases for actions that never fire, if `--fail-on` makes them failures."""
    return [
        Case(name, f"{name} fires", "failed", "never fires", f"{name} never fires (--fail-on {failure.word})")
        for failure in report.failures
        if failure.word == "unreached-action"
        for name in failure.subjects
    ]


def check_notes(report: CheckReport) -> tuple[str, ...]:
    """Return reasons why a search is less conclusive than it seems."""
    search, notes = report.search, []
    if report.vacuous is not None:
        notes.append(f"vacuous: {report.vacuous}")
    if not search.complete:
        notes.append(f"the search is incomplete: it was stopped by {search.stopped_by or 'a limit'}")
    notes += [f"{o.leaf} exceeded its bit width in {o.count} steps" for o in search.overflows]
    return tuple(notes)


def property_case(result: PropertyReport, report: CheckReport) -> Case:
    """Return the case of one property. An unreached witness or an undecided property fails only by `--fail-on`."""
    outcome = _PROPERTY.get(result.verdict, "undecided")
    if any(result.id in failure.subjects for failure in report.failures):
        outcome = "failed"
    where = "" if result.depth is None else f" at depth {result.depth}"
    message, blocks = "", tuple[Block, ...]()
    if result.verdict == "violated":
        message = with_reason(f"{result.id} {result.name} violated{where}", result.conjunct, result.witness)
        blocks = tuple(violation_blocks(result, report))
    elif result.verdict not in _PROPERTY:
        message = _UNDECIDED.get(result.verdict, result.verdict)
        if outcome == "failed":
            message = f"{result.id} {result.name}: {message}"
    return Case(
        id=result.id,
        name=result.name,
        outcome=outcome,
        verdict=result.verdict + where,
        message=message,
        text=blocks,
        source=result.source,
        trace=result.counterexample,
    )


def search_facts(search: SearchReport) -> tuple[tuple[str, str], ...]:
    return (
        ("distinct states", str(search.distinct)),
        ("generated states", str(search.generated)),
        ("diameter", str(search.diameter)),
        ("seconds", f"{search.seconds:.3f}"),
    )


def levels_blocks(levels: Sequence[int]) -> Iterator[Block]:
    """Yield the new states per depth, and the growth factor from the depth before."""
    grown = ["", *(Number(f"{after / before:.2f}") for before, after in itertools.pairwise(levels))]
    yield Table(
        ("depth", "new states", "growth"), [(depth, states, grown[depth]) for depth, states in enumerate(levels)]
    )


def projected(guess: Projection | None) -> str | None:
    """Return the projected size of an incomplete search, marked as an estimate."""
    if guess is None:
        return None
    size = f"{grouped(guess.states)} states in {guess.levels} levels"
    return f"{size}, extrapolated from the declining growth; an estimate, not a result"


KINDS: ReportKinds = {CheckReport: ReportKind("check", check_blocks, check_sheet)}
