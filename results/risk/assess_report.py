"""The report of `elrcheck assess`: the findings that apply to settings, and what a log or a cluster shows."""

from __future__ import annotations

from typing import Literal, TypeAlias

from elrcheck.base.errors import ExitCode
from elrcheck.base.roundtrip import Record
from elrcheck.results.any_report import Report
from elrcheck.results.audit_report import AuditFlag, InvisibleFinding, NearMisses, NearTogether
from elrcheck.results.risk.finding_table import STRONGEST_FIRST, Level
from elrcheck.results.risk.risk_report import FindingSeverity, RiskSettings, SettingRisk

FailOn: TypeAlias = Literal["flag", "settings", "loss", "outage", "never"]
AssessVerdict: TypeAlias = Literal["violated", "at_risk", "not_known"]
ChangeKind: TypeAlias = Literal["gone", "new", "seen"]
Absence: TypeAlias = Literal["prevented", "not-shown", "inconclusive", "not-tried", "settings"]


class AssessedFinding(Record, frozen=True):
    """A finding that was shown in the release, and that the settings allow."""

    finding: str
    title: str
    severity: FindingSeverity
    lost: str
    happens: str
    """What has to happen, in one sentence."""
    level: Level
    """The strongest level at which it was shown in this release; of a loss, at which records were lost."""
    evidence: str
    """What was seen at each level."""
    on_brokers: str
    """What was seen on brokers of this release, in a few words; empty if nothing was."""
    forced: bool
    """On brokers of this release it was seen only while a process was paused, or by hand."""
    remedy: str
    """What operators can do; may be empty."""

    @property
    def rank(self) -> tuple[bool, int, bool]:
        """What sorts the worst first: losses, then the strongest level, then what was not forced."""
        return self.severity != "loss", STRONGEST_FIRST.index(self.level), self.forced


class AssessedGroup(Record, frozen=True):
    """Settings, and the findings that apply to them."""

    settings: RiskSettings
    findings: tuple[AssessedFinding, ...]
    """The worst first: losses before outages, brokers before classes before the model, then those not forced."""
    topics: tuple[str, ...] = ()
    """Topics that have these settings, if a description was read."""
    notes: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    """``file:line`` of each of these topics in a description."""
    lines: tuple[dict[str, int], ...] = ()
    """For each of these topics, the line of each setting that its definition gives, by Kafka's names."""
    by_design: tuple[SettingRisk, ...] = ()
    """What these settings allow in every release."""
    assumed: tuple[str, ...] = ()
    """The settings that the request omits, by Kafka's names; each has its usual value."""


class AssessChange(Record, frozen=True):
    """A finding that differs between the settings of the question and others."""

    change: ChangeKind
    """gone: it does not apply there; new: only there; seen: in both, shown in another way."""
    finding: AssessedFinding
    """As it is there; of one that is gone, as it is here."""
    before: AssessedFinding | None = None
    """As it is here, if it was shown in another way."""
    absence: Absence | None = None
    """Why it does not apply on one side: what its release prevents or was tried for, or the settings."""


class AssessComparison(Record, frozen=True):
    """What differs with one setting changed."""

    changed: str
    """The setting and its value, such as kafka=4.3."""
    kafka: str
    """The release there."""
    changes: tuple[AssessChange, ...]
    """The worst first."""
    by_design_gone: tuple[SettingRisk, ...]
    """What only the settings of the question allow in every release."""
    by_design_new: tuple[SettingRisk, ...]


class AssessReport(Report, frozen=True, tag="elrcheck.assess/1"):
    """The result of `elrcheck assess`, which searches nothing: it reports what is on record."""

    verdict: AssessVerdict
    """violated: the audit has a flag. at_risk: the release or the settings allow a loss or an outage."""
    groups: tuple[AssessedGroup, ...]
    flags: tuple[AuditFlag, ...]
    """Flags of the audit of the logs or of the cluster."""
    topic_files: tuple[str, ...]
    """Definitions of topics that were read."""
    looked_at: tuple[str, ...]
    """The logs, or the cluster, that were audited."""
    records: int
    """Records of the logs."""
    invisible: tuple[InvisibleFinding, ...]
    """Findings that apply, lose records, and leave no sign in what was audited."""
    near_misses: tuple[NearMisses, ...]
    """Those in the logs, by kind."""
    near_together: tuple[NearTogether, ...]
    """Partitions of the logs with several kinds within seconds."""
    incomplete: bool
    """A part of the logs or of the cluster could not be read."""
    unread: tuple[str, ...]
    """Lines of a description that were not understood."""
    fail_on: FailOn
    assessed: str
    """When, in UTC."""
    seconds: float
    comparisons: tuple[AssessComparison, ...] = ()
    interrupted: bool = False

    @property
    def exit_code(self) -> ExitCode:
        """Return 1 if the audit has a flag or `fail_on` covers the verdict; 3 if a part could not be read."""
        if self.interrupted:
            return ExitCode.INTERRUPTED
        if self.fail_on != "never" and (self.flags or self._fails):
            return ExitCode.FINDING
        return ExitCode.INCONCLUSIVE if self.incomplete or self.unread else ExitCode.HOLDS

    @property
    def _fails(self) -> bool:
        """Return whether `fail_on` covers what is known to happen, flags of the audit aside."""
        return any(
            any(self.fails_for(each.severity) for each in group.findings)
            or any(self.fails_for(each.severity, by_design=True) for each in group.by_design)
            for group in self.groups
        )

    def fails_for(self, severity: FindingSeverity, by_design: bool = False) -> bool:
        """Return whether `fail_on` covers a finding of this severity, or what the settings allow by design."""
        match self.fail_on:
            case "settings":
                return by_design and severity == "loss"
            case "loss":
                return severity == "loss"
            case "outage":
                return True
            case _:
                return False
