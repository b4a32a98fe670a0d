"""unclean.leader.election.enable and unclean.recovery.strategy: KIP-966 maps the one to the other."""

from __future__ import annotations

import pytest

from elrcheck.base.errors import UsageFault
from elrcheck.base.requests import Selection
from elrcheck.declared.select import resolve
from elrcheck.model.choices import RecoveryStrategy
from elrcheck.model.variants import VARIANTS, Variant

UNCLEAN = "unclean_leader_election_enable=true"


@pytest.mark.parametrize(
    ("strategy", "help"),
    [("BALANCED", "set it to AGGRESSIVE"), ("NONE", "set it to AGGRESSIVE"), ("AGGRESSIVE", "leave it out")],
)
def test_with_a_manager_the_strategy_alone_decides(strategy: str, help: str) -> None:
    settings = (UNCLEAN, f"unclean_recovery_strategy={strategy}")
    with pytest.raises(UsageFault) as refused:
        resolve(Selection("kip_full", "two-brokers", settings))
    assert refused.value.code == "config-bad-value"
    assert help in str(refused.value.help)


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_without_one_the_setting_decides(variant: Variant) -> None:
    """No release has a manager, and neither has the first phase of the KIP."""
    manager = variant.knobs.get("unclean_recovery_strategy") != RecoveryStrategy.DISABLED
    assert not (manager and (variant.kafka or variant.name in ("kip_phase1", "legacy", "legacy_strict")))
    selection = Selection(variant.name, "two-brokers", (UNCLEAN,))
    if manager:
        with pytest.raises(UsageFault):
            resolve(selection)
    else:
        assert resolve(selection).config.unclean_leader_election_enable
