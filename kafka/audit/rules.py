"""The rules of the audit: the finding that each is a sign of, its severity, and the remedy.

`P-*` are properties of the model (`judged.py`); the other rules recognise a state or an event in which a
finding begins (`hazard_signs.py`), or from which it is one step away (`next_step.py`, of a cluster that
runs). Remedies follow docs/findings.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from elrcheck.results.audit_report import InvisibleFinding, Severity


@dataclass(frozen=True)
class Rule:
    """A rule. hazard: an id of docs/findings.md, None without one.

    harmless_if_repaired: a build with the patch of that finding leaves the same sign, without consequences. event: it
    recognises an event, whose consequences end once every replica is in the ISR. afterwards: what to do once it has
    ended, empty if the log cannot show that it has.
    """

    name: str
    severity: Severity
    remedy: str
    hazard: str | None = None
    harmless_if_repaired: bool = False
    event: bool = False
    afterwards: str = ""


KEEP_THE_LEADER = (
    "Do not stop, fence or unregister the leader until every replica is in the ISR, which empties the"
    " ELR. If that cannot be awaited, write the cluster's min.insync.replicas again with the value it"
    " has: that clears every ELR (F-25, flagged as elr-wiped-by-configuration), so a partition whose leader"
    " then stops waits for it. It gives up availability to keep records."
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
    " have are lost. Do not delete or reassign other replicas before, and do not switch"
    " eligible.leader.replicas.version off."
)
NO_CANDIDATE = (
    "Without the feature no replica becomes leader by itself. Start the replicas, the last known leader first,"
    " and choose it with kafka-leader-election.sh --election-type UNCLEAN; records that it does not have are"
    " lost."
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
FEW_COPIES = (
    "Acknowledged records may be on fewer replicas than min.insync.replicas asks for. Keep the members of the"
    " ISR running, and bring the other replicas into it, before anything else changes; the replicas that were"
    " dropped delete their logs."
)
RAISED_TOO_LATE = (
    "The leader may have committed records without the members of the ELR. Do not stop, fence or unregister"
    " it until every replica is in the ISR. Raise min.insync.replicas only while every ISR is complete."
)
NO_STRANGER = (
    "As long as that broker is active, no broker of the partition can register, and each attempt makes the"
    " controller resign. Write min.insync.replicas again with the value it has, or stop that broker; then"
    " start the replicas."
)
NOT_FENCED = (
    "The broker counts as complete, whatever an unclean shutdown has left of its log, and followers truncate"
    " to a leader. If it crashed, stop it and wait until it is fenced before other replicas start; copy the"
    " partition folders of those that are down before they follow it."
)
RAISED_AND_FENCED = (
    "If the leader read both at once, it may have committed records without the members of the ELR. Do not"
    " stop, fence or unregister it until every replica is in the ISR. Raise min.insync.replicas only while no"
    " broker is about to stop."
)
NO_DIRECTORY = (
    "Unless its files were moved to another directory, the broker has none of these records, and counts as"
    " complete. Before the leader stops: stop the broker, delete .kafka_cleanshutdown in the directories that"
    " are left, and start it again."
)
DEAD_LEADER = (
    "Start that broker. If it cannot be started, wait until its session ends: a partition that has a leader"
    " has no unclean election."
)
NO_INDEX = (
    "Stop these brokers in order only. If one cannot register, switch eligible.leader.replicas.version off"
    " until it has. A controller that starts from a snapshot younger than the deletion has no such entry."
)
NO_BROKER = (
    "In 4.0.x no unclean election of this partition can succeed: update the controllers, or write"
    " min.insync.replicas again, before one is needed."
)
UNEXPLAINED = (
    "Nothing is wrong with the partition by this alone. If the record was not written by a release of Apache"
    " Kafka from 3.9 on, or during an upgrade, ignore it; otherwise keep a copy of the log and report it."
)

AWAIT_REASSIGNMENT = (
    "Do not cancel the reassignment, and stop no broker of the partition before it is complete. If it must be"
    " cancelled, first bring other replicas into the ISR, until min.insync.replicas are left."
)
CANCEL_IT = (
    "Cancel the reassignment before the added replicas join the ISR, and ask for at least"
    " min.insync.replicas replicas; otherwise stop no broker of the partition until the ELR is empty."
)
WATCH_IT = (
    "Nothing is wrong yet. Do not cancel the reassignment while a replica is out of the ISR, and audit again"
    " once it is complete."
)
NO_WRITE = "Do not write min.insync.replicas until every replica is in the ISR."
NO_DIRECTORIES = (
    "Bring every replica into the ISR before its leader is stopped: brokers report directories on their own,"
    " and that clears the ELR."
)
NO_UNREGISTRATION = "Do not unregister the brokers in the ELR until every replica is in the ISR."
NO_SWITCH = (
    "Do not switch eligible.leader.replicas.version until every replica is in the ISR, and every partition"
    " has a leader."
)
KEEP_DIRECTORY = (
    "Before the broker starts again, leave the directory in log.dirs, or replace it by an empty one: the"
    " shutdown then counts as unclean. A directory dropped from log.dirs is not missed, and the broker stays"
    " eligible with an empty log."
)
RESTART_IT = (
    "Restart the broker in order, so that it gives up its leaderships, rather than let it lead with old"
    " metadata, and run no preferred election until it has read everything."
)
NO_UNCLEAN = (
    "Keep the leader running until another replica is in the ISR, or set"
    " unclean.leader.election.enable=false for the topic."
)

COMPARE_RECORDS = (
    "Records that were acknowledged before this ended may be lost: compare what consumers read with what was"
    " acknowledged. Soon after a loss, kafka-consumer-groups.sh --describe shows a negative LAG, and consumers reset"
    " their positions."
)
NONE_WAS_ELECTED = (
    "If the partition also has the flag ghost-elected, records are lost; if not, no former replica has led, and"
    " nothing is left to do."
)
LED_AGAIN = (
    "If the partition had no leader meanwhile, producers could not write: look for the records that they dropped. If a"
    " last known leader or an unclean election ended that, records that only other replicas had are lost."
)

_RULES = (
    Rule("P-10", "high", LOOK_AT_THE_CONTROLLER, afterwards=LOOK_AT_THE_CONTROLLER),
    Rule("P-11", "high", LOOK_AT_THE_CONTROLLER, afterwards=LOOK_AT_THE_CONTROLLER),
    Rule("P-12", "high", LOOK_AT_THE_CONTROLLER, afterwards=LOOK_AT_THE_CONTROLLER),
    Rule("P-17", "high", LOOK_AT_THE_CONTROLLER, afterwards=LOOK_AT_THE_CONTROLLER),
    Rule("P-18", "high", LOOK_AT_THE_CONTROLLER, afterwards=LOOK_AT_THE_CONTROLLER),
    Rule("P-19", "high", LOOK_AT_THE_CONTROLLER, afterwards=LOOK_AT_THE_CONTROLLER),
    Rule("P-20", "high", GIVE_IT_A_LEADER, afterwards=LED_AGAIN),
    Rule("registered-in-isr", "high", NOT_FENCED, "F-2", event=True, afterwards=COMPARE_RECORDS),
    Rule("inactive-leader", "high", DEAD_LEADER, "F-1", afterwards=LED_AGAIN),
    Rule("elr-outside-replicas", "critical", KEEP_THE_LEADER, "F-20", afterwards=NONE_WAS_ELECTED),
    Rule("ghost-elected", "critical", LEFT_BY_A_GHOST, "F-20", event=True, afterwards=COMPARE_RECORDS),
    Rule("elr-blocks-election", "high", GIVE_IT_A_LEADER, "F-20", afterwards=LED_AGAIN),
    Rule("elr-unregistered", "high", UNREGISTERED, "F-21", afterwards=LED_AGAIN),
    Rule("elr-wiped-by-directories", "high", FORGOTTEN, "F-23", event=True, afterwards=LED_AGAIN),
    Rule("elr-wiped-by-configuration", "high", FORGOTTEN, "F-25", event=True, afterwards=LED_AGAIN),
    Rule("leaderless-with-isr", "high", GIVE_IT_A_LEADER, "F-26", True, afterwards=LED_AGAIN),
    Rule("elr-while-off", "critical", BEFORE_THE_FEATURE, "F-28", True, afterwards=COMPARE_RECORDS),
    Rule("elr-from-before", "critical", BEFORE_THE_FEATURE, "F-56", True, event=True, afterwards=COMPARE_RECORDS),
    Rule("registered-without-directory", "critical", NO_DIRECTORY, "F-52", event=True, afterwards=COMPARE_RECORDS),
    Rule("raised-while-shrinking", "high", RAISED_TOO_LATE, "F-53", True, event=True, afterwards=COMPARE_RECORDS),
    Rule("raised-while-fencing", "medium", RAISED_AND_FENCED, "F-24", True, event=True, afterwards=COMPARE_RECORDS),
    Rule("deleted-after-clearing", "high", NO_INDEX, "F-64", True, event=True),
    Rule("completed-with-few", "high", FEW_COPIES, "F-60", event=True, afterwards=COMPARE_RECORDS),
    Rule("cancelled-with-few", "high", FEW_COPIES, "F-61", event=True, afterwards=COMPARE_RECORDS),
    Rule("no-candidate", "high", GIVE_IT_A_LEADER, afterwards=LED_AGAIN),
    Rule("last-known-only", "medium", WAIT_FOR_IT, "F-57", True, afterwards=LED_AGAIN),
    Rule("switched-off-without-leader", "high", NO_CANDIDATE, "F-57", True, afterwards=LED_AGAIN),
    Rule("last-known-outside-replicas", "high", NO_STRANGER, "F-62", True, afterwards=LED_AGAIN),
    Rule("stored-none", "medium", NO_BROKER, "F-59", afterwards=LED_AGAIN),
    Rule("unexplained-record", "low", UNEXPLAINED, event=True),
)
_NEXT_STEPS = (
    Rule("leader-lags", "high", RESTART_IT, "F-51", True),
    Rule("cancel-leaves-elr", "high", AWAIT_REASSIGNMENT, "F-20", True),
    Rule("completion-leaves-elr", "high", CANCEL_IT, "F-20", True),
    Rule("directory-offline", "medium", KEEP_DIRECTORY, "F-52", True),
    Rule("upgrade-keeps-leaderless", "medium", NO_SWITCH, "F-26", True),
    Rule("downgrade-without-candidate", "medium", NO_SWITCH, "F-57", True),
    Rule("unclean-successor", "medium", NO_UNCLEAN),
    Rule("reassignment-with-elr", "low", WATCH_IT, "F-20", True),
    Rule("rewrite-clears-elr", "low", NO_WRITE, "F-25", True),
    Rule("directories-clear-elr", "low", NO_DIRECTORIES, "F-23", True),
    Rule("unregistration-keeps-elr", "low", NO_UNREGISTRATION, "F-21", True),
    Rule("downgrade-keeps-elr", "low", NO_SWITCH, "F-28", True),
)
_STALE = "not when a leader has read them: `elrcheck audit --bootstrap` flags one whose metadata lags (leader-lags)"
INVISIBLE = (
    InvisibleFinding("F-51", f"The log has the elections, {_STALE}."),
    InvisibleFinding("F-58", f"The log has the records of the ISR, {_STALE}."),
    InvisibleFinding(
        "F-63", "A follower's LeaderEpochFileCache logs `caused truncation of conflicting entries` while it fetches."
    ),
    InvisibleFinding("F-65", "The log has the registration, not what the broker wrote before it."),
    InvisibleFinding("F-69", "A broker's log says `Truncating to` shortly before it stops."),
)
"""Findings that lose acknowledged records and leave no sign in a metadata log."""
INVISIBLE_LIVE = tuple(each for each in INVISIBLE if each.finding not in {rule.hazard for rule in _NEXT_STEPS})
"""The same for a running cluster, where only the next step is judged."""
RULES: Mapping[str, Rule] = MappingProxyType({rule.name: rule for rule in (*_RULES, *_NEXT_STEPS)})
NEXT_STEPS = frozenset(rule.name for rule in _NEXT_STEPS)
"""Rules of a running cluster: findings that its next step may begin."""
