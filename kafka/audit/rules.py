"""The rules of the audit, read from `rules.toml`: the finding that each is a sign of, its severity, and the remedy.

`P-*` are properties of the model (`judged.py`); the other rules recognise a state or an event in which a
finding begins (`hazard_signs.py`), or from which it is one step away (`next_step.py`, of a cluster that
runs). A remedy names a text of the table `advice`, which several rules may share.

The builds of Kafka that a cluster may run are the releases that its brokers show, and patches. `audit --repaired F-28`
says that the build includes the patch of a finding. Then the repaired rules may explain its records too, and signs that
the patch makes harmless are not flagged. A record that a build with the patch never writes is still flagged: the patch
is missing, or came later.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from elrcheck.base.documents import read_toml, toml_codes
from elrcheck.base.errors import UsageFault
from elrcheck.base.strict import Node
from elrcheck.base.typed.records import Prose, read_record
from elrcheck.catalogue.packaged_findings import find_finding
from elrcheck.model.config import Config
from elrcheck.model.variants import VARIANTS
from elrcheck.results.audit_report import AuditRepair, InvisibleFinding, Severity


@dataclass(frozen=True)
class Rule:
    """A rule. hazard: an id of docs/findings.md, None without one.

    harmless_if_repaired: a build with the patch of that finding leaves the same sign, without consequences. event: it
    recognises an event, whose consequences end once every replica is in the ISR. afterwards: what to do once it has
    ended, empty if the log cannot show that it has.
    """

    name: Prose
    severity: Severity
    remedy: str
    hazard: str | None = None
    harmless_if_repaired: bool = False
    event: bool = False
    afterwards: str = ""


class AuditRules(NamedTuple):
    """The table. by_name: every rule; order: its place in reports.

    next_steps: the rules of a running cluster, for findings that its next step may begin. invisible: findings that
    lose acknowledged records and leave no sign in a metadata log; invisible_live: the same for a running cluster, where
    only the next step is judged.
    """

    by_name: Mapping[str, Rule]
    order: Mapping[str, int]
    next_steps: frozenset[str]
    invisible: tuple[InvisibleFinding, ...]
    invisible_live: tuple[InvisibleFinding, ...]


@functools.cache
def audit_rules() -> AuditRules:
    """Return the rules of `rules.toml`, which is read once."""
    table = read_toml(files("elrcheck.kafka.audit") / "rules.toml", toml_codes("model-source"))
    table.object(("advice", "rule", "next_step", "invisible"))
    next_steps = _rules(table, "next_step")
    hazards = {rule.hazard for rule in next_steps}
    hidden = [node.object(("finding", "shows")) for node in table["invisible"].items()]
    invisible = tuple(InvisibleFinding(node["finding"].text(), _text(node["shows"])) for node in hidden)
    every = (*_rules(table, "rule"), *next_steps)
    return AuditRules(
        by_name=MappingProxyType({rule.name: rule for rule in every}),
        order=MappingProxyType({rule.name: number for number, rule in enumerate(every)}),
        next_steps=frozenset(rule.name for rule in next_steps),
        invisible=invisible,
        invisible_live=tuple(each for each in invisible if each.finding not in hazards),
    )


def _text(node: Node) -> str:
    """Return a text of several lines as one line."""
    return " ".join(node.text().split())


def _rules(table: Node, kind: str) -> tuple[Rule, ...]:
    """Return the rules of a kind, with the texts that their remedies name."""
    advice = table["advice"]
    return tuple(
        read_record(
            node,
            Rule,
            {name: _text(advice[node[name].text()]) for name in ("remedy", "afterwards") if name in node},
            others=("remedy", "afterwards"),
        )
        for node in table[kind].items()
    )


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
