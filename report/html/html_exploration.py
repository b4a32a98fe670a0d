"""Contents of the page of `elrcheck explore`; the charts of a search, and the note that replaces an undrawn graph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from elrcheck.report.document import Document
from elrcheck.report.html.html_charts import growth, variables, yields
from elrcheck.report.html.html_part import Charts, PagePart, facts_of
from elrcheck.report.html.html_states import picture
from elrcheck.report.plain_words import settings_of
from elrcheck.results.check_report import ActionReport, SearchReport, VariableReport
from elrcheck.results.drawn_graph import MOST_STATES, SmallGraph
from elrcheck.results.exploration_report import ExploreReport, SpaceReport


def exploration_parts(report: ExploreReport, document: Document) -> Iterable[PagePart]:
    """Return the part of an explored scope."""
    space = report.space
    actions = [ActionReport(a.name, a.fired, a.new_states, a.cut) for a in report.actions]
    yield PagePart(
        key="x1",
        name=f"{report.variant}, {report.scope}",
        facts=facts_of(document),
        charts=replace(
            charts(space.levels, actions, report.variables),
            degrees=tuple((row.degree, row.states) for row in report.degrees),
        ),
        settings=settings_of(report.config),
        states=None if report.small_graph is None else picture(report.small_graph),
        no_states=not_drawn(report.small_graph, space),
    )


def charts(levels: Sequence[int], actions: Sequence[ActionReport], values: Sequence[VariableReport]) -> Charts:
    """Return the charts of a search."""
    return Charts(growth(levels), yields(actions), variables(values), tuple(a.name for a in actions if a.idle))


def not_drawn(graph: SmallGraph | None, search: SearchReport | SpaceReport) -> str:
    """Return why there is no picture and what to do about it; empty if there is one or none was requested."""
    if graph is not None:
        return ""
    if search.distinct > MOST_STATES:
        return (
            f"The graph is only drawn for up to {MOST_STATES} states, and there are {search.distinct:,}. Smaller "
            "budgets (--set) give fewer; elrcheck explore --graph states.graphml writes larger graphs for "
            "other tools."
        )
    if not search.complete:
        why = f"{search.stopped_by or 'a limit'} stopped the search"
        return f"A graph needs all states, but {why}. Leave out the limit."
    return ""
