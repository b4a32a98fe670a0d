"""The builds of Kafka that a cluster may run: the releases that its brokers show, and patches.

`audit --repaired F-28` says that the build includes the patch of a finding. Then the repaired rules may explain its
records too, and signs that the patch makes harmless are not flagged. A record that a build with the patch never
writes is still flagged: the patch is missing, or came later.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypeAlias

from elrcheck.base.errors import UsageFault
from elrcheck.catalogue.packaged_findings import find_finding
from elrcheck.kafka.audit.rules import audit_rules
from elrcheck.model.config import Config
from elrcheck.model.variants import VARIANTS
from elrcheck.results.audit_report import AuditRepair

LINES = ((21, "3.9"), (25, "4.0"), (27, "4.1"), (29, "4.2"))
"""The highest metadata.version that the brokers of a line support (MetadataVersion.latestProduction)."""
NEWEST = "4.3"
OLDEST_LEVEL = 21
"""The metadata.version that only brokers of the oldest line and later ones support."""
Knobs: TypeAlias = tuple[tuple[str, Any], ...]


def line_seen(level: int) -> str:
    """Return the line of brokers that support at most this metadata.version; "" for older ones than the oldest line."""
    return line_of(level) if level >= OLDEST_LEVEL else ""


def line_of(level: int) -> str:
    """Return the line of releases by whose rules such brokers are judged: their own, else the oldest or the newest."""
    return next((line for highest, line in LINES if level <= highest), NEWEST)


def is_newest(level: int) -> bool:
    """Return whether that line is the newest, which also stands for later ones."""
    return line_of(level) == NEWEST


def variants_of(level: int) -> tuple[Config, ...]:
    """Return the variants of the model for releases of that line."""
    return _variants(line_of(level))


@lru_cache
def _variants(line: str) -> tuple[Config, ...]:
    named = [v for v in VARIANTS if any(release.startswith(f"{line}.") for release in v.kafka)]
    return tuple(Config(**v.knobs) for v in named)


# ---------------------------------------------------------------------------- patches


@dataclass(frozen=True)
class Repairs:
    """findings: those whose patches the build has. knobs: the same in the model, where it has them."""

    findings: tuple[str, ...] = ()
    knobs: Knobs = ()

    @classmethod
    def of(cls, names: Iterable[str]) -> Repairs:
        """Return the repairs with these names; raise UsageFault if one is not a finding or has no patch."""
        findings = tuple(dict.fromkeys(name.upper() for name in names))
        return cls(findings, tuple(pair for finding in findings for pair in _knobs(finding)))

    def harmless(self, rule: str) -> bool:
        """Return whether the sign of a rule is harmless in such a build."""
        named = audit_rules().by_name[rule]
        return named.harmless_if_repaired and named.hazard in self.findings

    def reported(self, live: bool = False) -> tuple[AuditRepair, ...]:
        """Return the repairs for the report. live: the audit of a running cluster, which judges next steps too."""
        by_name, next_steps = audit_rules().by_name, audit_rules().next_steps
        rules = [rule for rule in by_name.values() if live or rule.name not in next_steps]
        harmless = [rule for rule in rules if self.harmless(rule.name)]
        return tuple(
            AuditRepair(finding, tuple(rule.name for rule in harmless if rule.hazard == finding))
            for finding in self.findings
        )


NONE = Repairs()


@lru_cache
def with_repairs(released: tuple[Config, ...], knobs: Knobs) -> tuple[Config, ...]:
    """Return variants of releases, without and with the repairs: a log may begin before the build had them."""
    repaired = [replace(config, **dict(knobs)) for config in released] if knobs else []
    return (*released, *repaired)


def _knobs(finding: str) -> Sequence[tuple[str, Any]]:
    finding_page = find_finding(finding)
    if finding_page.patch is None:
        help = "--repaired names findings whose page has a patch"
        raise UsageFault("no-patch", f"{finding} has no patch that a build could contain", help=help)
    controls = [run.control.knobs for run in finding_page.runs if run.control is not None]
    return [(name, next(knobs[name] for knobs in controls if name in knobs)) for name in finding_page.patch.knobs]
