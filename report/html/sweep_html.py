"""Renders a sweep as one self-contained HTML page, in the style of the others: no network access."""

from __future__ import annotations

from elrcheck.report.documents.sweep_document import summary, value_text
from elrcheck.report.html.html_card import SWEEP_TONES, sweep_card
from elrcheck.report.html.page_template import whole_page
from elrcheck.report.sweep_matrix import MEANINGS, SIGNS, detail, matrices
from elrcheck.results.sweep_report import ROW_VERDICTS, SweepReport


def sweep_page(report: SweepReport) -> str:
    """Render the page with all texts escaped."""
    return whole_page(
        "sweep.html.j2",
        report=report,
        card=sweep_card(report),
        tone=SWEEP_TONES.get(report.verdict, "undecided"),
        matrices=matrices(report),
        legend=[(v, SIGNS[v], MEANINGS[v]) for v in ROW_VERDICTS if report.count(v)],
        in_words=summary(report),
        signs=SIGNS,
        detail=detail,
        shown=value_text,
    )
