"""A breaking set of events as an answer for people: story, cause, evidence and what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from elrcheck.base.requests import Selection
from elrcheck.catalogue.evidence.by_version import finding_table
from elrcheck.catalogue.finding_file import Finding
from elrcheck.catalogue.select import resolve
from elrcheck.kafka.risk.asked_settings import Asked
from elrcheck.kafka.risk.causes import Repair, candidates, causes_of, expected, recognised, repairs, unclean
from elrcheck.kafka.risk.event_kinds import KINDS, Events, counted, in_words
from elrcheck.kafka.risk.risk_search import RiskSearch
from elrcheck.kafka.risk.story import story
from elrcheck.lang.load import Model
from elrcheck.lang.plain import Label
from elrcheck.results.finding_table import FindingRow
from elrcheck.results.risk.risk_report import (
    EvidenceLevel,
    OutsideFinding,
    RiskAnswer,
    RiskCause,
    RiskOutcome,
    RiskSettings,
)
from elrcheck.stored_traces.tracefile import write_trace
from elrcheck.traces.behaviour import Behaviour, Origin

LEVELS: Mapping[str, EvidenceLevel] = {"classes": "controller", "brokers": "brokers"}
LOGS = "Let fewer logs be lost at once (other racks, log.flush.interval), or raise min.insync.replicas."
BY_SETTING: Mapping[str, str] = {
    "unclean_leader_election_enable": "Set unclean.leader.election.enable=false.",
    "elr_enabled": "Switch ELR on: kafka-features.sh upgrade --feature eligible.leader.replicas.version=1.",
}


class Answerer:
    """Explains the breaking sets of one group of settings."""

    def __init__(
        self, model: Model, findings: Sequence[Finding], asked: Asked, search: RiskSearch, folder: Path
    ) -> None:
        self.model, self.asked, self.search, self.folder = model, asked, search, folder
        self.findings = {finding.id: finding for finding in findings}
        self.rows = {row.finding: row for row in finding_table().rows}
        self.repairs = repairs(asked, findings)

    def answers(
        self, smallest: Sequence[tuple[RiskOutcome, Events]], ways: Mapping[RiskOutcome, str]
    ) -> tuple[RiskAnswer, ...]:
        """Those that nobody expects first, losses before outages, small sets before large ones."""
        suspects: dict[tuple[RiskOutcome, Events], list[Repair]] = {}
        for outcome, events in smallest:
            ident = ways[outcome]
            labels, states = self.search.trace(events, ident)
            if self._setting(events, ident, states):
                continue
            too_many = outcome == "lost" and unclean(events, states)
            mine = [repair for repair in self.repairs if too_many or not repair.designed]
            suspects[outcome, events] = candidates(self.search.plain, self.search.config(events), labels, ident, mine)
        shared = self._shared(suspects)
        made = [
            self._answer(outcome, events, ways[outcome], suspects.get((outcome, events), []), shared)
            for outcome, events in smallest
        ]
        return tuple(sorted(made, key=lambda one: (one.expected, one.outcome != "lost")))

    def _shared(self, suspects: Mapping[tuple[RiskOutcome, Events], Sequence[Repair]]) -> dict[str, list[str]]:
        """The events of all searches with one repair, so that they share a kernel."""
        found: dict[str, set[str]] = {}
        for (_, events), suspected in suspects.items():
            for repair in suspected:
                found.setdefault(str(sorted(repair.knobs)), set()).update(events)
        return {key: [kind.name for kind in KINDS if kind.name in names] for key, names in found.items()}

    def _setting(self, events: Events, ident: str, states: Sequence[object]) -> str:
        """Why the outcome follows from the settings or from what an operator asked for; empty if not."""
        if ident == "LOSS-2":
            return "acks=1 promises no more than that the leader has appended the record"
        if why := expected(self.asked, events, ident, states):  # type: ignore[arg-type]
            return why
        if ident == self.asked.losses and "elect_unclean" in events:
            return "the operator who asks for an unclean election accepts a leader that lacks records"
        return ""

    def _answer(
        self,
        outcome: RiskOutcome,
        events: Events,
        ident: str,
        suspected: Sequence[Repair],
        shared: Mapping[str, Sequence[str]],
    ) -> RiskAnswer:
        labels, states = self.search.trace(events, ident)
        setting = self._setting(events, ident, states)
        designed = bool(expected(self.asked, events, ident, states))
        causes: tuple[RiskCause, ...] = (RiskCause("setting", setting, confirmed=True),) if setting else ()
        if not setting:

            def prevents(knobs: Mapping[str, object], tried: Events, of: str) -> bool | None:
                kinds = shared.get(str(sorted(knobs)), list(dict.fromkeys(tried)))
                return self.search.prevents(knobs, tried, of, kinds)

            found = causes_of(suspected, events, ident, prevents)
            causes = tuple(self._cause(repair, sure) for repair, sure in found)
            designed = bool(found) and all(repair.designed and sure for repair, sure in found)
            if not found and outcome == "unavailable":
                known = recognised(states, list(self.findings.values()))
                causes = tuple(self._cause(repair, False) for repair in known)
        if not causes:
            causes = (RiskCause("unknown", "no known finding"),)
        levels, shown = self._evidence([cause.finding for cause in causes if cause.finding])
        return RiskAnswer(
            events=counted(events),
            words=in_words(counted(events)),
            outcome=outcome,
            expected=designed,
            story=story(states, labels, ident),
            causes=causes,
            evidence=levels,
            shown=shown,
            remedy=self._remedy(causes, bool(setting)),
            command=self.asked.command(events, ident),
            trace=self._stored(events, ident, Behaviour(Origin(), states, labels)),
        )

    def _cause(self, repair: Repair, sure: bool) -> RiskCause:
        if not repair.finding:
            return RiskCause("setting", repair.text, confirmed=sure)
        page = f"docs/findings/{repair.finding}.md"
        return RiskCause("finding", repair.text, repair.finding, page, sure)

    def _evidence(self, findings: Sequence[str]) -> tuple[tuple[EvidenceLevel, ...], str]:
        """The levels at which this release shows all that is needed: one of the findings is enough."""
        release = self.asked.settings.kafka
        levels: list[EvidenceLevel] = ["model"]
        said = ["model: this trace"]
        for level, name in LEVELS.items():
            shown = [
                f"{finding} {self.rows[finding].words(level, release)}"  # type: ignore[arg-type]
                for finding in findings
                if _is_shown(self.rows[finding], level, release)
            ]
            if shown:
                levels.append(name)
                said.append(f"{name}: {', '.join(shown)}")
        if findings and len(levels) == 1:
            said.append(f"not shown on {release} itself")
        return tuple(levels), "; ".join(said)

    def _remedy(self, causes: Sequence[RiskCause], setting: bool) -> str:
        told = [self.findings[cause.finding].meanwhile for cause in causes if cause.finding]
        for repair in self.repairs:
            if not repair.finding and any(cause.text == repair.text for cause in causes):
                told += [LOGS if repair.designed else BY_SETTING[name] for name in repair.knobs]
        if setting:
            told.append("Use acks=all." if self.asked.settings.acks != "all" else LOGS)
        return " ".join(" ".join(part.split()) for part in dict.fromkeys(told) if part)

    def _stored(self, events: Events, ident: str, found: Behaviour[Label]) -> str:
        """The trace in a file that `elrcheck replay` reads; returns its path."""
        selection = self.asked.selection(events)
        selected = resolve(Selection(selection.variant, selection.scope, selection.overrides))
        settings = self.asked.settings
        elr = "elr" if settings.elr else "no-elr"
        base = f"{settings.kafka}-rf{settings.replication_factor}-min{settings.min_insync_replicas}-{elr}"
        path = self.folder / f"{base}-{'-'.join(events)}.{ident}.trace.json"
        stored = Behaviour(Origin.of(selected, PROPERTY[ident]), found.states, found.labels)
        write_trace(path, stored, self.model.state_ty)
        return str(path)


PROPERTY: Mapping[str, str] = {"LOSS-1": "P-6", "LOSS-2": "", "STALL-1": ""}
"""The property of the model that a stored trace is about; empty if none says the same."""


def _is_shown(row: FindingRow, level: str, release: str) -> bool:
    return any(cell.state == "shown" for cell in row.cells if (cell.level, cell.kafka) == (level, release))


def outside_findings(
    findings: Sequence[Finding], settings: RiskSettings, answers: Sequence[RiskAnswer]
) -> tuple[OutsideFinding, ...]:
    """Findings that this release is known to have and that none of the answers shows."""
    named = {cause.finding for answer in answers for cause in answer.causes}
    rows = {row.finding: row for row in finding_table().rows}
    return tuple(
        OutsideFinding(finding.id, finding.title, finding.lost, f"docs/findings/{finding.id}.md")
        for finding in findings
        if finding.id not in named
        and any(_is_shown(rows[finding.id], level, settings.kafka) for level in ("model", *LEVELS))
        and (settings.elr or "ELR on" not in finding.versions.replace("ELR on or off", ""))
    )
