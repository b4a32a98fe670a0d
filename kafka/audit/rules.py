"""The rules of the audit, read from `rules.toml`: the finding that each is a sign of, its severity, and the remedy.

`P-*` are properties of the model (`judged.py`); the other rules recognise a state or an event in which a
finding begins (`hazard_signs.py`), or from which it is one step away (`next_step.py`, of a cluster that
runs). A remedy names a text of the table `advice`, which several rules may share.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType

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


_TABLE = read_toml(files("elrcheck.kafka.audit") / "rules.toml", toml_codes("model-source")).object(
    ("advice", "rule", "next_step", "invisible")
)
_NEXT_STEPS = _rules(_TABLE, "next_step")
INVISIBLE = tuple(
    InvisibleFinding(node["finding"].text(), _text(node["shows"]))
    for node in (each.object(("finding", "shows")) for each in _TABLE["invisible"].items())
)
"""Findings that lose acknowledged records and leave no sign in a metadata log."""
INVISIBLE_LIVE = tuple(each for each in INVISIBLE if each.finding not in {rule.hazard for rule in _NEXT_STEPS})
"""The same for a running cluster, where only the next step is judged."""
RULES: Mapping[str, Rule] = MappingProxyType({rule.name: rule for rule in (*_rules(_TABLE, "rule"), *_NEXT_STEPS)})
NEXT_STEPS = frozenset(rule.name for rule in _NEXT_STEPS)
"""Rules of a running cluster: findings that its next step may begin."""
