"""The findings that apply to a release and its settings, from what is on record; nothing is searched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from elrcheck.catalogue.evidence.by_version import finding_table
from elrcheck.catalogue.finding_file import Finding
from elrcheck.catalogue.packaged_findings import packaged_findings
from elrcheck.results.finding_table import FindingRow, FindingTable, Level
from elrcheck.results.risk.assess_report import AssessedFinding
from elrcheck.results.risk.risk_report import RiskSettings

STRONGEST_FIRST: tuple[Level, ...] = ("brokers", "classes", "model")


class KnownFindings:
    """What is recorded of every finding. Reading all of it takes most of a second, so it is done once."""

    def __init__(self) -> None:
        self._findings = packaged_findings()
        self._table: FindingTable = finding_table()
        self._rows: Mapping[str, FindingRow] = {row.finding: row for row in self._table.rows}

    def applying(self, settings: RiskSettings) -> tuple[AssessedFinding, ...]:
        """Return the findings that were shown in the release and that the settings allow, the worst first.

        Losses come before outages, and what was seen on brokers before what only classes or the model show.
        """
        every = [assessed for finding in self._findings for assessed in self._assessed(finding, settings)]
        return tuple(sorted(every, key=lambda each: (each.severity != "loss", STRONGEST_FIRST.index(each.level))))

    def _assessed(self, finding: Finding, settings: RiskSettings) -> Iterator[AssessedFinding]:
        if finding.needs.elr not in (None, settings.elr):
            return
        if finding.needs.unclean not in (None, settings.unclean_leader_election_enable):
            return
        row = self._rows[finding.id]
        levels = [
            level
            for level in STRONGEST_FIRST
            if any((cell.level, cell.kafka, cell.state) == (level, settings.kafka, "shown") for cell in row.cells)
        ]
        if levels:
            yield AssessedFinding(
                finding=finding.id,
                title=finding.title,
                severity=finding.severity,
                lost=finding.lost,
                happens=finding.happens,
                level=levels[0],
                evidence="; ".join(f"{level}: {row.words(level, settings.kafka)}" for level in levels),
                remedy=" ".join(finding.meanwhile.split()),
            )
