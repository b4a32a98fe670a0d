"""The obligations of a proof as a matrix: a row per action, a column per lemma."""

from __future__ import annotations

from elrcheck.base.roundtrip import Record
from elrcheck.results.prove_report import CellReport, ProveReport

SIGNS = {"proved": "✓", "refuted": "✗", "unknown": "?"}


class ProofMatrix(Record, frozen=True):
    """A proof matrix."""

    lemmas: tuple[str, ...]
    rows: tuple[tuple[str, tuple[CellReport | None, ...]], ...]
    """An action and its cell for each lemma, None if there is no such obligation."""
    proved: int
    total: int
    seconds: float


def matrix(report: ProveReport) -> ProofMatrix | None:
    """Return the matrix; None if the proof has no cells."""
    if not report.cells:
        return None
    lemmas = tuple(dict.fromkeys(cell.lemma for cell in report.cells))
    by_action: dict[str, dict[str, CellReport]] = {}
    for cell in report.cells:
        by_action.setdefault(cell.action, {})[cell.lemma] = cell
    return ProofMatrix(
        lemmas,
        tuple((action, tuple(cells.get(lemma) for lemma in lemmas)) for action, cells in by_action.items()),
        sum(cell.verdict == "proved" for cell in report.cells),
        len(report.cells),
        sum(cell.seconds for cell in report.cells),
    )
