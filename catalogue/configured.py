"""Configurations of Kafka's partition: variants by name or release, and which settings are impossible."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from elrcheck.base.errors import UsageFault, did_you_mean, suggest
from elrcheck.base.requests import Selection
from elrcheck.base.typed.configuration import NamedScope, build_config, config_fields, config_values, find_scope
from elrcheck.declared.select import resolve
from elrcheck.model.choices import RecoveryStrategy
from elrcheck.model.config import Config
from elrcheck.model.variants import VARIANTS, Variant, variant_named, variant_names

SCOPES = files("elrcheck.catalogue") / "scopes"
MOST = 1000
"""Upper limit of any size or budget: condition graphs grow with them; no feasible search comes near it."""


def find_variant(name: str) -> Variant:
    """Return the variant with this name, or of this release of Kafka: 4.1.0, or 4.1 for its newest.

    Raise UsageFault with a close match for any other name.
    """
    variant, released = variant_named(name), of_release(name)
    if variant is not None:
        return variant
    if released is not None:
        return released[1]
    help = did_you_mean(name, variant_names())
    if suggest(name, variant_names()) is None:
        help += "; --model FILE names another model than Kafka's partition"
    raise UsageFault("unknown-variant", f"unknown variant `{name}`", help=help)


def of_release(name: str) -> tuple[str, Variant] | None:
    """Return a release and its variant: the one named, or the newest that a number of two parts begins."""
    if not re.fullmatch(r"\d+\.\d+(\.\d+)?", name):
        return None
    releases = {release: variant for variant in VARIANTS for release in variant.kafka}
    named = (each for each in releases if f"{each}.".startswith(f"{name}."))
    newest = max(named, key=release_numbers, default=None)
    return None if newest is None else (newest, releases[newest])


def release_numbers(release: str) -> tuple[int, ...]:
    """Return 4.1.2 as (4, 1, 2), by which releases sort; ignore what follows a hyphen."""
    return tuple(int(part) for part in release.partition("-")[0].split(".") if part.isdigit())


@cache
def packaged_scope(name: str) -> NamedScope:
    """Return a scope of this package, read once in a process: a suite has hundreds of configurations in a few."""
    return find_scope(name, SCOPES, config_fields(Config))


def variant_config(variant: str) -> Config:
    """Return a variant's configuration before any scope or setting."""
    return build_config(Config, find_variant(variant).knobs)


def search_config(variant: str, scope: str, knobs: Mapping[str, Any]) -> Config:
    """Return the configuration of a recorded search: a variant in a packaged scope, with `knobs` on top."""
    return build_config(Config, find_variant(variant).knobs, packaged_scope(scope).values, knobs)


def partition_config(selection: Selection) -> Config:
    """Return the configuration of Kafka's partition for a selection."""
    config: Config = resolve(selection).config
    return config


def reject_impossible(config: Config) -> None:
    """Raise UsageFault for sizes that are meaningless or that no engine can represent, and for knobs that clash."""
    _reject_two_strategies(config)
    if not 1 <= config.broker_count <= 8:
        raise UsageFault("config-bad-value", f"`broker_count`: expected 1 to 8, not {config.broker_count}")
    if config.spare_brokers >= config.broker_count:
        raise UsageFault(
            "config-bad-value",
            f"`spare_brokers`: at least one of {config.broker_count} brokers must hold a replica, "
            f"not {config.spare_brokers} spare ones",
        )
    if config.min_isr < 1:
        raise UsageFault("config-bad-value", "`min_isr`: expected 1 or more, not 0")
    if not 1 <= config.log_slots <= 6:
        raise UsageFault("config-bad-value", f"`log_slots`: expected 1 to 6, not {config.log_slots}")
    for key, value in config_values(config).items():
        if isinstance(value, int) and value > MOST:
            raise UsageFault("config-bad-value", f"`{key}`: expected at most {MOST}, not {value}")
    if config.records > 60:
        raise UsageFault("config-bad-value", f"`records`: expected at most 60, not {config.records}")


def _reject_two_strategies(config: Config) -> None:
    """Raise UsageFault if unclean elections are on and the recovery manager has another strategy than Aggressive.

    KIP-966 maps unclean.leader.election.enable to a strategy: false to Balanced, true to Aggressive. With a
    manager every unclean election is a recovery, so the setting has no other meaning.
    """
    strategy = config.unclean_recovery_strategy
    if not config.unclean_leader_election_enable or strategy == RecoveryStrategy.DISABLED:
        return
    if strategy == RecoveryStrategy.AGGRESSIVE:
        help = "leave it out: `unclean_recovery_strategy` is AGGRESSIVE already"
    else:
        help = f"`unclean_recovery_strategy` is {strategy.name}: set it to AGGRESSIVE, or to DISABLED"
    raise UsageFault(
        "config-bad-value",
        "`unclean_leader_election_enable`: with a recovery manager, true only means AGGRESSIVE (KIP-966)",
        help=help,
    )
