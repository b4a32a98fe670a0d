"""Renders a sweep as one self-contained HTML page: no script, no network access."""

from __future__ import annotations

from importlib.resources import files

from elrcheck.report.sweep_matrix import MEANINGS, SIGNS, detail, matrices, smallest, summary
from elrcheck.report.text.text_sweep import shown
from elrcheck.results.sweep_report import ROW_VERDICTS, SweepReport


def to_html(report: SweepReport) -> str:
    """Renders the page with all texts escaped."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        keep_trailing_newline=True,
    )  # fmt: skip
    source = (files("elrcheck.report.html") / "templates" / "sweep.html.j2").read_text("utf-8")
    return environment.from_string(source).render(
        report=report,
        matrices=matrices(report),
        legend=[(v, SIGNS[v], MEANINGS[v]) for v in ROW_VERDICTS if report.count(v)],
        summary=summary(report),
        smallest=smallest(report),
        signs=SIGNS,
        detail=detail,
        shown=shown,
    )
