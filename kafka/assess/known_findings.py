"""The recorded findings that apply to a release and its settings; searches nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set

from msgspec.structs import replace

from elrcheck.catalogue.configured import of_release
from elrcheck.catalogue.evidence.by_version import finding_table
from elrcheck.catalogue.evidence.searched import of_older_model
from elrcheck.catalogue.finding_file import Finding
from elrcheck.catalogue.packaged_findings import packaged_findings
from elrcheck.catalogue.recipe_notation.recipe_file import recipes_of
from elrcheck.results.risk.assess_report import Absence, AssessedFinding
from elrcheck.results.risk.finding_table import STRONGEST_FIRST, FindingRow, FindingTable, Level
from elrcheck.results.risk.risk_report import RiskSettings

UPDATE = re.compile(r"Update to (\d+\.\d+)\.\d+ or later")
"""A remedy that is another release, with its line."""
ABSENCES: Mapping[str, Absence] = {"no": "not-shown", "?": "inconclusive"}
"""Strongest evidence of a finding in a release that does not show it, as the table has it."""
UNDECIDED = ("?", "-")
"""Such evidence that decides nothing: all that was tried is inconclusive, or nothing was."""


class KnownFindings:
    """The records of every finding. Reading them takes most of a second, so they are read once."""

    def __init__(self) -> None:
        self._findings = packaged_findings()
        self._table: FindingTable = finding_table()
        self._rows: Mapping[str, FindingRow] = {row.finding: row for row in self._table.rows}
        self._older = of_older_model()
        self._of_release: dict[str, tuple[AssessedFinding, ...]] = {}

    def applying(self, settings: RiskSettings) -> tuple[AssessedFinding, ...]:
        """Return the findings that were shown in the release and that the settings allow, the worst first.

        A remedy that is another release names the losses that are known there only.
        """
        allowed = {finding.id for finding in self._findings if finding.needs.met(settings)}
        here = [one for one in self.shown_in(settings.kafka) if one.finding in allowed]
        return tuple(self._with_price(one, {each.finding for each in here}, allowed) for one in here)

    def shown_in(self, release: str) -> tuple[AssessedFinding, ...]:
        """Return the findings that were shown in a release, the worst first.

        Losses come before outages, then what was seen on brokers, first without a paused process, before what was
        shown only on classes or in the model.
        """
        if release not in self._of_release:
            every = [assessed for finding in self._findings for assessed in self._assessed(finding, release)]
            self._of_release[release] = tuple(sorted(every, key=lambda each: each.rank))
        return self._of_release[release]

    def undecided(self, settings: RiskSettings) -> tuple[str, ...]:
        """Return the findings of other releases that the settings allow and that were not decided in this one."""
        release = settings.kafka
        rows = [self._rows[finding.id] for finding in self._findings if finding.needs.met(settings)]
        return tuple(
            row.finding
            for row in rows
            if row.strongest(release) in UNDECIDED
            and release not in row.prevented
            and any(cell.state == "shown" for cell in row.cells)
        )

    def _with_price(self, one: AssessedFinding, here: Set[str], allowed: Set[str]) -> AssessedFinding:
        """Return a finding whose remedy says what an update brings. here, allowed: findings of release, of settings."""
        update = UPDATE.match(one.remedy)
        target = update and of_release(update[1])
        if not target:
            return one
        release, _ = target
        brings = [
            f"{each.finding} ({each.title})"
            for each in self.shown_in(release)
            if each.severity == "loss" and each.finding in allowed - here
        ]
        more = f" Losses known of {release} and not of this release: {', '.join(brings)}." if brings else ""
        return replace(one, remedy=one.remedy + more)

    def absence(self, finding: str, settings: Sequence[RiskSettings]) -> Absence:
        """Return why a finding applies to none of these settings of one release."""
        row, release = self._rows[finding], settings[0].kafka
        if release in row.prevented:
            return "prevented"
        needs = next(each.needs for each in self._findings if each.id == finding)
        if not any(needs.met(each) for each in settings):
            return "settings"
        return ABSENCES.get(row.strongest(release), "not-tried")

    def _assessed(self, finding: Finding, release: str) -> Iterator[AssessedFinding]:
        row = self._rows[finding.id]
        levels = [level for level in STRONGEST_FIRST if row.is_shown(level, release)]
        only_outage = finding.severity == "loss" and not row.lost_on_brokers(release)
        strongest = [level for level in levels if level != "brokers" or not only_outage]
        if strongest:
            on_brokers = "brokers" in levels
            yield AssessedFinding(
                finding=finding.id,
                title=finding.title,
                severity=finding.severity,
                lost=finding.lost,
                happens=finding.happens,
                level=strongest[0],
                evidence="; ".join(self._evidence(level, row, release) for level in levels),
                on_brokers=row.words("brokers", release) if on_brokers else "",
                forced=on_brokers and not self._unforced(finding, release),
                remedy=" ".join(finding.meanwhile.split()),
            )

    def _unforced(self, finding: Finding, release: str) -> bool:
        """Return whether a recipe that pauses no process showed the finding on brokers of the release."""
        outcome = "lost" if finding.severity == "loss" else "unavailable"
        return any(
            (run.kafka, run.outcome) == (release, outcome)
            for recipe in recipes_of(finding.id)
            if not recipe.pauses
            for run in recipe.seen
        )

    def _evidence(self, level: Level, row: FindingRow, release: str) -> str:
        """Return what was seen at a level; of the model, whether it has changed since."""
        day = self._older.get((row.finding, release)) if level == "model" else None
        return f"{level}: {row.words(level, release)}" + (f" (on {day}; the model has changed since)" if day else "")
