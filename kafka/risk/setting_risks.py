"""What the settings of a topic allow in every release, by design: no finding is needed for it.

The promise of acks=all is that a record survives the loss of one log less than min.insync.replicas counts.
"""

from __future__ import annotations

from collections.abc import Iterator

from elrcheck.kafka.risk.risk_answer import BY_SETTING
from elrcheck.kafka.topics.described import TopicSettings
from elrcheck.results.risk.risk_report import RiskSettings, SettingRisk

UNCLEAN = "unclean_leader_election_enable"
REASSIGN = (
    "While every ISR is complete, reassign to replication factor 3 (kafka-reassign-partitions.sh); neither cancel"
    " that nor stop a broker before every ISR is complete again."
)
"""How to add replicas without the beginning of F-20, F-60 or F-61."""
RAISE = "While every ISR is complete and no broker is about to stop, set min.insync.replicas to 2 (kafka-configs.sh)."
"""How to raise min.insync.replicas without the beginning of F-24 or F-53."""
WORST_FIRST = (
    ("replication.factor", "loss"),
    ("unclean.leader.election.enable", "loss"),
    ("min.insync.replicas", "loss"),
    ("min.insync.replicas", "unavailable"),
)


def setting_risks(settings: RiskSettings) -> tuple[SettingRisk, ...]:
    """Return the losses and outages that these settings allow to a producer with acks=all, losses first."""
    if settings.acks != "all":
        return ()
    min_isr, unclean = settings.min_insync_replicas, settings.unclean_leader_election_enable
    return tuple(_risks(settings.replication_factor, min_isr, unclean))


def loses_by_design(topics: TopicSettings) -> bool:
    """Return whether the settings of these topics allow a loss to a producer with acks=all."""
    return any(risk.severity == "loss" for risk in _of_topics(topics))


def rank(topics: TopicSettings) -> tuple[object, ...]:
    """Return what sorts the settings that lose most first: by `WORST_FIRST`, then by the fewest copies that count."""
    allowed = {(risk.setting, risk.severity) for risk in _of_topics(topics)}
    copies = topics.replication_factor + _least(topics.replication_factor, topics.min_insync_replicas)
    return *(risk not in allowed for risk in WORST_FIRST), copies


def _of_topics(topics: TopicSettings) -> Iterator[SettingRisk]:
    return _risks(topics.replication_factor, topics.min_insync_replicas, topics.unclean)


def _least(factor: int, min_isr: int) -> int:
    """Return the members that an ISR needs; a larger min.insync.replicas counts so, at brokers and controllers."""
    return min(min_isr, factor)


def _risks(factor: int, min_isr: int, unclean: bool) -> Iterator[SettingRisk]:
    least = _least(factor, min_isr)
    usual = RAISE if factor > 2 else f"{REASSIGN} Then: {RAISE[0].lower()}{RAISE[1:]}"
    if unclean:
        happens = (
            "Once no replica in sync or eligible is up, another is elected, and acknowledged records it lacks are lost."
        )
        yield SettingRisk("unclean.leader.election.enable", "loss", happens, BY_SETTING[UNCLEAN])
    if factor == 1:
        yield SettingRisk("replication.factor", "loss", "All records are lost with the log of the only replica.", usual)
    elif least == 1:
        happens = "The last replica in sync acknowledges records alone; they are lost with its log."
        yield SettingRisk("min.insync.replicas", "loss", happens, usual)
    elif least == factor:
        happens = f"While one of the {factor} replicas is down, every write with acks=all is refused."
        lower = f"While every ISR is complete, lower min.insync.replicas to {least - 1}, or add a replica."
        remedy = lower if least > 2 else REASSIGN
        yield SettingRisk("min.insync.replicas", "unavailable", happens, remedy)
