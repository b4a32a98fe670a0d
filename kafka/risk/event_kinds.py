"""The events that `risk` combines: each is a budget of the model, with a name and words for operators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from elrcheck.catalogue.events import event_words

Events: TypeAlias = tuple[str, ...]
"""Names of events, in the order of `KINDS`; one that happens twice is listed twice."""


@dataclass(frozen=True)
class RiskEvent:
    """An event. budget: of `Config`, which bounds it, and by which `event_words` names it; words: what happens."""

    name: str
    budget: str
    words: str


KINDS: tuple[RiskEvent, ...] = (
    RiskEvent("stop", "clean_stops", "a broker stops in an orderly way, and starts again"),
    RiskEvent("kill", "kills", "a broker process is killed; its log is intact, since the system lives on"),
    RiskEvent("crash", "crashes", "a machine crashes, and any part of the log that was not flushed is gone"),
    RiskEvent("fence", "fences", "a broker is paused or cut off for longer than its session, and fenced"),
    RiskEvent("shrink", "shrinks", "followers fall behind, and the leader shrinks the ISR"),
    RiskEvent("reassign", "reassignments", "an operator reassigns the partition, and may cancel that"),
    RiskEvent("elect", "elections", "an operator, or balancing, elects the preferred leader"),
    RiskEvent("elect_unclean", "unclean_elections", "an operator asks for an unclean election"),
    RiskEvent("set_min_isr", "min_isr_changes", "an operator changes min.insync.replicas"),
    RiskEvent("switch_elr", "feature_changes", "an operator switches eligible.leader.replicas.version"),
    RiskEvent("unregister", "unregistrations", "an operator unregisters a broker that is down"),
    RiskEvent("move_directory", "directory_changes", "a replica is assigned to another log directory"),
    RiskEvent("fail_directory", "directory_failures", "a log directory fails while its broker runs"),
    RiskEvent("lose_directory", "directory_losses", "a log directory is lost while its broker is down"),
)
"""The order is that of reports."""

BY_NAME: Mapping[str, RiskEvent] = {kind.name: kind for kind in KINDS}
UNCLEAN = ("kill", "crash")
"""Events after which a broker registers without a clean-shutdown file."""
LOSING = ("crash", "fail_directory", "lose_directory")
"""Events after which a log has lost records: min.insync.replicas of them may lose what was acknowledged."""


def budgets_of(events: Events) -> dict[str, int]:
    """Return how far each budget of these events may be used."""
    return {BY_NAME[name].budget: events.count(name) for name in dict.fromkeys(events)}


def counted(events: Events) -> dict[str, int]:
    """Return event -> how often it happens."""
    return {name: events.count(name) for name in dict.fromkeys(events)}


def in_words(counts: Mapping[str, int]) -> str:
    """Return events in words: 2 reassignments and an orderly stop."""
    wordings = event_words()
    phrases = [wordings[BY_NAME[name].budget].in_prose(count) for name, count in counts.items()]
    return " and ".join([", ".join(phrases[:-1]), phrases[-1]] if len(phrases) > 1 else phrases)
