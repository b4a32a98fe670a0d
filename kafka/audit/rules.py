"""The rules of the audit, read from `rules.toml`: the finding that each is a sign of, its severity, and the remedy.

`P-*` are properties of the model (`judged.py`); the other rules recognise a state or an event in which a
finding begins (`hazard_signs.py`), or from which it is one step away (`next_step.py`, of a cluster that
runs). A remedy names a text of the table `advice`, which several rules may share.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType
from typing import NamedTuple

from elrcheck.base.documents import read_toml, toml_codes
from elrcheck.base.strict import Node
from elrcheck.base.typed.records import Prose, read_record
from elrcheck.results.audit_report import InvisibleFinding, Severity


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
