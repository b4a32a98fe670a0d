"""Contents of the page of `elrcheck explore`, and the note that replaces an undrawn state graph."""

from __future__ import annotations

from elrcheck.report.html.html_charts import growth, variables, yields
from elrcheck.report.html.html_part import Charts, Part
from elrcheck.report.html.html_states import picture
from elrcheck.report.plain_words import several
from elrcheck.results.check_report import ActionReport
from elrcheck.results.drawn_graph import MOST_STATES, SmallGraph
from elrcheck.results.exploration_report import ExploreReport


def exploration_part(key: str, report: ExploreReport) -> Part:
    space = report.space
    actions = [ActionReport(a.name, a.fired, a.new_states, a.cut) for a in report.actions]
    return Part(
        key=key,
        name=f"{report.variant}, {report.scope}",
        facts=_facts(report),
        charts=Charts(
            growth(space.levels),
            yields(actions),
            variables(report.variables),
            tuple(action.name for action in actions if action.idle),
            tuple((row.degree, row.states) for row in report.degrees),
        ),
        settings=tuple((name, str(value)) for name, value in report.config.items()),
        states=None if report.small_graph is None else picture(report.small_graph),
        no_states=not_drawn(report.small_graph, space.complete, space.distinct, space.stopped_by),
    )


def summary(report: ExploreReport) -> str:
    reach = "all states within the budgets of the scope"
    if not report.space.complete:
        reach = f"bounded by {report.space.stopped_by or 'an unnamed limit'}"
    return f"{report.variant}, {report.scope}: {reach}"


def not_drawn(graph: SmallGraph | None, complete: bool, distinct: int, stopped_by: str | None) -> str:
    """Why there is no picture and what to do about it; empty if there is one or none was requested."""
    if graph is not None:
        return ""
    if distinct > MOST_STATES:
        return (
            f"The graph is only drawn for up to {MOST_STATES} states, and there are {distinct:,}. Smaller "
            "budgets (--set) give fewer; elrcheck explore --graph states.graphml writes larger graphs for "
            "other tools."
        )
    if not complete:
        why = f"{stopped_by or 'a limit'} stopped the search"
        return f"A graph needs all states, but {why}. Leave out the limit."
    return ""


def _facts(report: ExploreReport) -> tuple[tuple[str, str], ...]:
    space, parts = report.space, report.components
    components = "not computed: they need all states"
    if space.complete:
        components = f"not computed beyond {report.components_limit:,} states"
    if parts is not None:
        components = f"{parts.count:,}, {parts.cyclic:,} with more than one state"
        components += f", the largest with {parts.largest:,}" if parts.cyclic else ""
    facts = [
        ("distinct states", f"{space.distinct:,}"),
        ("steps within the budgets", f"{space.steps:,}, {report.mean_degree:.2f} per state on average"),
        ("steps beyond the budgets", f"{space.cut:,}"),
        ("levels", str(space.diameter)),
        ("deadlocks", f"{space.deadlocks:,}"),
        ("strongly connected components", components),
        ("time", f"{space.seconds:.2f} s"),
        ("engine", several(report.workers, "worker") + (f", {report.detail}" if report.detail else "")),
    ]
    if report.graph is not None:
        facts.append(("graph", f"{report.graph.path} ({report.graph.format})"))
    return tuple(facts)
