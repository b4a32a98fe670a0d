"""Contents of the page of `elrcheck explore`, and the note that replaces an undrawn state graph."""

from __future__ import annotations

from collections.abc import Iterable

from elrcheck.report.document import Document
from elrcheck.report.html.html_charts import growth, variables, yields
from elrcheck.report.html.html_part import Charts, PagePart, facts_of
from elrcheck.report.html.html_states import picture
from elrcheck.report.plain_words import settings_of
from elrcheck.results.check_report import ActionReport
from elrcheck.results.drawn_graph import MOST_STATES, SmallGraph
from elrcheck.results.exploration_report import ExploreReport


def exploration_parts(report: ExploreReport, document: Document) -> Iterable[PagePart]:
    """Return the part of an explored scope."""
    space = report.space
    actions = [ActionReport(a.name, a.fired, a.new_states, a.cut) for a in report.actions]
    yield PagePart(
        key="x1",
        name=f"{report.variant}, {report.scope}",
        facts=facts_of(document),
        charts=Charts(
            growth(space.levels),
            yields(actions),
            variables(report.variables),
            tuple(action.name for action in actions if action.idle),
            tuple((row.degree, row.states) for row in report.degrees),
        ),
        settings=settings_of(report.config),
        states=None if report.small_graph is None else picture(report.small_graph),
        no_states=not_drawn(report.small_graph, space.complete, space.distinct, space.stopped_by),
    )


def not_drawn(graph: SmallGraph | None, complete: bool, distinct: int, stopped_by: str | None) -> str:
    """Return why there is no picture and what to do about it; empty if there is one or none was requested."""
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
