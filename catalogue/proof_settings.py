"""The settings that a proof of Kafka's partition covers."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from enum import Enum
from importlib.resources import files
from typing import Any, NamedTuple

from msgspec import structs

from elrcheck.base.documents import read_toml
from elrcheck.base.requests import ProofAssumption
from elrcheck.base.typed.configuration import config_values
from elrcheck.catalogue.configured import find_variant, variant_config
from elrcheck.catalogue.evidence.searched import BUDGETS
from elrcheck.catalogue.file_values import knob_values
from elrcheck.invariants.proof_parts import INDUCTION, SETTINGS
from elrcheck.lang.lowering.lowered import Slot
from elrcheck.model.choices import RecoveryStrategy
from elrcheck.model.config import Config
from elrcheck.model.knobs import knobs
from elrcheck.results.prove_report import Coverage, SettingCovered

ANY = frozenset(("broker_count", "min_isr", "log_slots", "skips_no_news", "forgets"))
"""Knobs whose values do not limit a proof: sizes, and how a search represents states."""
ALWAYS_NAMED = ("unclean_recovery_strategy", "metadata")
"""Knobs whose values are different protocols, so that the report always names the one that is covered."""
ALWAYS_ENABLED = frozenset(("records", "acks_one", "crashes", "clean_stops", "fences", "shrinks"))
"""Budgets that only bound a search: even at 0 a proof covers what they count."""


class ProofSettings(NamedTuple):
    """The settings that replace or extend those of a proof under an assumption, also for a released variant."""

    assumed: Mapping[str, Mapping[str, Any]]
    assumed_of_releases: Mapping[str, Mapping[str, Any]]


@functools.cache
def proof_settings() -> ProofSettings:
    """Return the settings of `proof_settings.toml`, which is read once."""
    table = read_toml(files("elrcheck.catalogue") / "proof_settings.toml").object(ProofSettings._fields)
    return ProofSettings(table["assumed"].map(knob_values), table["assumed_of_releases"].map(knob_values))


def widened(config: Config, overrides: Collection[str], assumed: Sequence[ProofAssumption] = ()) -> Config:
    """Return the configuration of a proof: the selected one, with the settings of a proof that the user has not set."""
    settings = proof_settings()
    wide: dict[str, Any] = dict(INDUCTION.settings(config))
    has_manager = config.unclean_recovery_strategy != RecoveryStrategy.DISABLED  # no release has one
    for name in assumed:
        wide |= settings.assumed[name] if has_manager else settings.assumed_of_releases[name]
    return replace(config, **{name: to for name, to in wide.items() if name not in overrides})


def outside(config: Config, variant: str = "kip_full") -> tuple[str, ...]:
    """Return the settings of a search that no proof of the variant covers; sizes do not count."""
    own, used = config_values(variant_config(variant)), config_values(config)
    changed = {name for name, value in used.items() if value != own[name]}
    changed -= SETTINGS.keys() | ALWAYS_ENABLED | ANY
    return tuple(sorted(name for name in changed if used[name] or name not in BUDGETS))


def covered(coverage: Coverage, config: Config, variant: str, slots: Sequence[Slot], any_order: bool) -> Coverage:
    """Return the coverage of a proof with the sizes and settings of the partition.

    slots: the scalars of a state. any_order: whether the proof covers every order of the replica list.
    """
    listed = [slot for slot in slots if slot.path.startswith("partition.replicas")]
    fixed = all(slot.index is None for slot in listed)
    return structs.replace(
        coverage,
        sizes=(),
        brokers=config.broker_count,
        any_order=any_order,
        replicas=tuple(slot.initial for slot in listed[1 : 1 + listed[0].initial]) if fixed else None,
        min_isr=config.min_isr,
        log_slots=config.log_slots,
        about=find_variant(variant).summary,
        settings=tuple(_settings(config, variant)),
    )


def _settings(config: Config, variant: str) -> Iterator[SettingCovered]:
    """Yield the knobs of `ALWAYS_NAMED`, and every other rule that differs from the variant's."""
    own, used = config_values(variant_config(variant)), config_values(config)
    rules = {knob.name for knob in knobs() if knob.is_rule}
    for part in fields(Config):
        name = part.name
        if name in ALWAYS_NAMED or (name in rules and own[name] != used[name]):
            kind = type(part.default)
            values = tuple(member.name for member in kind) if issubclass(kind, Enum) else ()
            yield SettingCovered(name, used[name], own[name], values)
