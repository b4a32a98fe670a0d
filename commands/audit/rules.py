"""What the audit flags: the rule, the finding it is a sign of, how bad it is, and what to do now.

`P-*` are properties of the model (`judged.py`); the other rules recognise a state or an event in which a
finding begins (`hazard_signs.py`). Remedies follow docs/findings.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from elrcheck.results.audit_report import Severity


@dataclass(frozen=True)
class Rule:
    """A rule. hazard: an id of docs/findings.md, None without one."""

    name: str
    severity: Severity
    remedy: str
    hazard: str | None = None


KEEP_THE_LEADER = (
    "Do not stop, fence or unregister the leader until every replica is in the ISR, which empties the"
    " ELR. If that cannot be awaited, write the cluster's min.insync.replicas again with the value it"
    " has: that clears every ELR (F-25)."
)
LOOK_AT_THE_CONTROLLER = (
    "No known finding explains this. Keep a copy of the metadata log, and compare the partition with"
    " kafka-topics.sh --describe."
)
GIVE_IT_A_LEADER = (
    "Start the brokers that held the partition last, those of LastKnownELR first. If it stays without a"
    " leader, kafka-leader-election.sh --election-type UNCLEAN chooses one of those that are up;"
    " records that it does not have are lost."
)
WAIT_FOR_IT = (
    "Start the broker in LastKnownELR: it becomes leader with what it has, and records that only others"
    " have are lost. Do not delete or reassign other replicas before."
)
FORGOTTEN = (
    "Do not stop the leader before the ISR has min.insync.replicas members again: the replicas that"
    " could have taken over are forgotten."
)
BEFORE_THE_FEATURE = (
    "Bring every replica of the partition into the ISR before a broker is stopped, and before"
    " eligible.leader.replicas.version changes again."
)
LEFT_BY_A_GHOST = (
    "Stop the producers, and compare what consumers read with what was acknowledged. A former member of"
    " the ISR that is down may still have the records: copy its partition folder before it starts,"
    " because it then truncates what the new leader does not have."
)
UNREGISTERED = (
    "If the partition has no leader, only an unclean election gives it one while this id is in the ELR;"
    " with a leader, bring every replica into the ISR before that leader is stopped."
)
NO_BROKER = (
    "In 4.0.x no unclean election of this partition can succeed: update the controllers, or write"
    " min.insync.replicas again, before one is needed."
)
UNEXPLAINED = (
    "Nothing is wrong with the partition by this alone. If the record was not written by a release of Apache"
    " Kafka from 3.9 on, or during an upgrade, ignore it; otherwise keep a copy of the log and report it."
)

_RULES = (
    Rule("P-10", "high", LOOK_AT_THE_CONTROLLER),
    Rule("P-11", "high", LOOK_AT_THE_CONTROLLER),
    Rule("P-12", "high", LOOK_AT_THE_CONTROLLER),
    Rule("P-17", "high", LOOK_AT_THE_CONTROLLER),
    Rule("P-18", "high", LOOK_AT_THE_CONTROLLER),
    Rule("P-19", "high", LOOK_AT_THE_CONTROLLER),
    Rule("P-20", "high", GIVE_IT_A_LEADER),
    Rule("elr-outside-replicas", "critical", KEEP_THE_LEADER, "F-20"),
    Rule("ghost-elected", "critical", LEFT_BY_A_GHOST, "F-20"),
    Rule("elr-blocks-election", "high", GIVE_IT_A_LEADER, "F-20"),
    Rule("elr-unregistered", "high", UNREGISTERED, "F-21"),
    Rule("elr-wiped-by-directories", "high", FORGOTTEN, "F-23"),
    Rule("elr-wiped-by-configuration", "high", FORGOTTEN, "F-25"),
    Rule("leaderless-with-isr", "high", GIVE_IT_A_LEADER, "F-26"),
    Rule("elr-while-off", "critical", BEFORE_THE_FEATURE, "F-28"),
    Rule("elr-from-before", "critical", BEFORE_THE_FEATURE, "F-56"),
    Rule("no-candidate", "high", GIVE_IT_A_LEADER),
    Rule("last-known-only", "medium", WAIT_FOR_IT),
    Rule("stored-none", "medium", NO_BROKER, "F-26"),
    Rule("unexplained-record", "low", UNEXPLAINED),
)
RULES: Mapping[str, Rule] = MappingProxyType({rule.name: rule for rule in _RULES})
