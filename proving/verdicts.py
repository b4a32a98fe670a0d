"""The totals of a phase of a proof, and the verdict over all obligations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from elrcheck.results.prove_report import (
    CellReport,
    CellVerdict,
    ObligationReport,
    PhaseReport,
    PossibleReport,
    ProofVerdict,
)

PhaseName = Literal["initiation", "consecution", "implication"]
RANK: dict[CellVerdict, int] = {"proved": 0, "unknown": 1, "refuted": 2}


def phase(name: PhaseName, reports: Sequence[CellReport | ObligationReport]) -> PhaseReport:
    count = {verdict: sum(report.verdict == verdict for report in reports) for verdict in RANK}
    seconds = round(sum(report.seconds for report in reports), 3)
    stored = sum(isinstance(report, CellReport) and report.kept for report in reports)
    return PhaseReport(name, count["proved"], count["refuted"], count["unknown"], seconds, stored)


def verdict_of(reports: Sequence[CellReport | ObligationReport], possible: PossibleReport | None) -> ProofVerdict:
    """Return the verdict over all obligations; a proof that is about less than it seems is inconclusive.

    possible: None if the proof was interrupted.
    """
    worst = max((RANK[report.verdict] for report in reports), default=0)
    worst = max(worst, RANK["unknown"] if possible is None or possible.impossible else 0)
    return ("proved", "inconclusive", "refuted")[worst]
