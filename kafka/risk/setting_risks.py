"""What the settings of a topic allow in every release, by design: no finding is needed for it.

The promise of acks=all is that a record survives the loss of one log less than min.insync.replicas counts.
"""

from __future__ import annotations

from collections.abc import Iterator

from elrcheck.kafka.risk.risk_answer import BY_SETTING
from elrcheck.results.risk.risk_report import RiskSettings, SettingRisk

UNCLEAN = "unclean_leader_election_enable"
USUAL = "Use replication factor 3 and min.insync.replicas 2."


def setting_risks(settings: RiskSettings) -> tuple[SettingRisk, ...]:
    """Return the losses and outages that these settings allow to a producer with acks=all, losses first."""
    return tuple(_risks(settings)) if settings.acks == "all" else ()


def _risks(settings: RiskSettings) -> Iterator[SettingRisk]:
    factor = settings.replication_factor
    least = min(settings.min_insync_replicas, factor)  # a larger value counts as that, at brokers and controllers
    if settings.unclean_leader_election_enable:
        happens = (
            "Once no replica in sync or eligible is up, another is elected, and acknowledged records it lacks are lost."
        )
        yield SettingRisk("unclean.leader.election.enable", "loss", happens, BY_SETTING[UNCLEAN])
    if factor == 1:
        yield SettingRisk("replication.factor", "loss", "All records are lost with the log of the only replica.", USUAL)
    elif least == 1:
        happens = "The last replica in sync acknowledges records alone; they are lost with its log."
        yield SettingRisk("min.insync.replicas", "loss", happens, USUAL)
    elif least == factor:
        happens = f"While one of the {factor} replicas is down, every write with acks=all is refused."
        remedy = f"Add a replica, or lower min.insync.replicas to {least - 1}." if least > 2 else "Add a third replica."
        yield SettingRisk("min.insync.replicas", "unavailable", happens, remedy)
