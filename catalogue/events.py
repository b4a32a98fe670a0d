"""The events that budgets bound, in an operator's words: what a search tried, and what `risk` combines.

There is one event for each budget of `Config` except the records, in the order of `Config`; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from elrcheck.model.choices import BeforeRegistration, Propagation
from elrcheck.model.config import Config


@dataclass(frozen=True)
class Wording:
    """A kind of event in words, singular and plural."""

    one: str
    many: str

    def times(self, number: int) -> str:
        """Return the number of these events, in words."""
        return f"1 {self.one}" if number == 1 else f"{number} {self.many}"

    def in_prose(self, number: int) -> str:
        """Return the number of these events with an article for a single one: an orderly stop."""
        article = "an" if self.one[0] in "aeiou" else "a"
        return f"{article} {self.one}" if number == 1 else f"{number} {self.many}"


EVENTS: Mapping[str, Wording] = {
    "acks_one": Wording("write with acks=1", "writes with acks=1"),
    "acks_zero": Wording("write with acks=0", "writes with acks=0"),
    "crashes": Wording("crash that loses unflushed records", "crashes that lose unflushed records"),
    "kills": Wording("kill", "kills"),
    "clean_stops": Wording("orderly stop", "orderly stops"),
    "fences": Wording("fencing of a live broker", "fencings of live brokers"),
    "shrinks": Wording("lagging follower", "lagging followers"),
    "shutdowns": Wording("controlled shutdown", "controlled shutdowns"),
    "shutdown_timeouts": Wording("controlled shutdown that times out", "controlled shutdowns that time out"),
    "unregistrations": Wording("unregistration", "unregistrations"),
    "live_unregistrations": Wording("unregistration of a live broker", "unregistrations of live brokers"),
    "elections": Wording("preferred election", "preferred elections"),
    "unclean_elections": Wording("unclean election by an operator", "unclean elections by an operator"),
    "reassignments": Wording("reassignment", "reassignments"),
    "min_isr_changes": Wording("change of min.insync.replicas", "changes of min.insync.replicas"),
    "unclean_changes": Wording("change of unclean.leader.election.enable", "changes of unclean.leader.election.enable"),
    "feature_changes": Wording("switch of the ELR feature", "switches of the ELR feature"),
    "directory_changes": Wording("move to another log directory", "moves to other log directories"),
    "directory_failures": Wording("failed log directory", "failed log directories"),
    "directory_losses": Wording("lost log directory", "lost log directories"),
    "directory_returns": Wording("failed log directory that comes back", "failed log directories that come back"),
    "failovers": Wording("controller failover", "controller failovers"),
    "late_answers": Wording("late AlterPartition answer", "late AlterPartition answers"),
    "late_fetches": Wording("late answer to a fetch", "late answers to fetches"),
    "early_starts": Wording(
        "restarted broker that acts before its registration", "restarted brokers that act before their registration"
    ),
    "early_writes": Wording(
        "record that a coordinator writes before the registration of its broker",
        "records that coordinators write before the registration of their brokers",
    ),
    "late_flushes": Wording(
        "process that ends before the file of its leader epochs is written",
        "processes that end before the files of their leader epochs are written",
    ),
    "old_checkpoints": Wording(
        "process that begins with an older high watermark", "processes that begin with older high watermarks"
    ),
}

NETWORK: Mapping[str, str] = {
    "response_loss": "lost AlterPartition answers",
    "fetch_loss": "lost fetch answers",
    "metadata": "brokers that lag behind by several records",
}
"""Knob -> what it lets the network do, without a budget."""


def tried(config: Config) -> tuple[str, ...]:
    """Return the events that a search of the configuration tries, with their numbers."""
    counted = [event.times(number) for name, event in EVENTS.items() if (number := _most(config, name))]
    return (*counted, *(words for name, words in NETWORK.items() if _happens(config, name)))


def not_tried(config: Config, danger: Mapping[str, int]) -> tuple[str, ...]:
    """Return the events that it leaves out, the most dangerous first. danger: event -> the findings that need it."""
    left = {name: event.many for name, event in EVENTS.items() if not _most(config, name)}
    left |= {name: words for name, words in NETWORK.items() if not _happens(config, name)}
    return tuple(left[name] for name in sorted(left, key=lambda name: -danger.get(name, 0)))


def allowed(config: Config) -> tuple[str, ...]:
    """Return the names of the events that a search of the configuration tries."""
    return (*(name for name in EVENTS if _most(config, name)), *(name for name in NETWORK if _happens(config, name)))


def missing(config: Config, other: Config) -> tuple[str, ...]:
    """Return the events that the other configuration allows more often, with its numbers."""
    return tuple(
        event.times(_most(other, name)) for name, event in EVENTS.items() if _most(other, name) > _most(config, name)
    )


def _most(config: Config, budget: str) -> int:
    """Return how often an event can happen: its budget, or 0 where a knob rules it out."""
    leads = config.before_registration == BeforeRegistration.ACTS
    possible = {
        "early_starts": config.most_early > 0,
        "early_writes": config.most_early > 0 and leads,
        "late_flushes": config.most_stray_offset > 0,
    }
    return int(getattr(config, budget)) if possible.get(budget, True) else 0


def _happens(config: Config, knob: str) -> bool:
    return config.metadata == Propagation.LOG if knob == "metadata" else bool(getattr(config, knob))
