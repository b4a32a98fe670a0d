"""What the claim of a proof covers and what it leaves out: properties, actions, arguments, settings."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import fields, replace
from enum import Enum
from itertools import groupby
from typing import Any

from elrcheck.base.requests import ProofAssumption
from elrcheck.base.typed.configuration import build_config, config_values
from elrcheck.catalogue.evidence.proved_variants import ALWAYS_ENABLED, ASSUMED_OF
from elrcheck.catalogue.evidence.searched import BUDGETS
from elrcheck.catalogue.select import find_variant
from elrcheck.invariants.modules import assumptions_of
from elrcheck.invariants.proof.transition import Excluded, Transitions
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model, domain
from elrcheck.model.choices import RecoveryStrategy
from elrcheck.model.config import Config
from elrcheck.model.knobs import knobs
from elrcheck.results.prove_report import Assumption, Coverage, SettingCovered, Skipped
from elrcheck.traces.describe import arguments

COVERED: dict[str, Any] = {
    "unclean_recovery_strategy": RecoveryStrategy.DISABLED,
    "response_loss": True,
    "fetch_loss": True,
    "kills": 1,
    "shutdowns": 1,
    "shutdown_timeouts": 1,
    "unregistrations": 1,
    "directory_changes": 1,
    "directory_failures": 1,
    "directory_losses": 1,
    "elections": 1,
    "acks_zero": 1,
    "feature_changes": 1,
    "min_isr_changes": 1,
    "late_answers": 1,
}
"""Settings of a proof: a budget above 0 enables its action, without any limit.

Only a variant that starts with ELR on has changes of the feature and of min ISR (`ASSUMED_OF`). Those of min
ISR are left out where the controller's index of ELR members goes stale, which only a budget bounds.
"""
ASSUMED: dict[ProofAssumption, dict[str, Any]] = {
    "complete-winners": {
        "unclean_recovery_strategy": RecoveryStrategy.AGGRESSIVE,
        "unclean_elections": 1,
        "failovers": 1,
        "min_isr_changes": 0,
        "late_answers": 0,
        "directory_failures": 0,
        "directory_losses": 0,
    }
}
"""What a proof under an assumption covers beside, or instead of, COVERED."""
PROOF_LOG_SLOTS = 2
"""Log slots of a proof, unless `--set log_slots` overrides it; scopes keep logs short for searching."""
ANY = frozenset(("broker_count", "min_isr", "log_slots", "skips_no_news", "forgets"))
"""Sizes, and how a search writes states down."""
NEVER = "never enabled in this configuration"
SILENT = "says nothing in this configuration: all that could break it is constant"
SHOWN = ("unclean_recovery_strategy", "metadata")
"""Knobs with values that are protocols of their own: the report always says which one is covered."""


def widened(config: Config, given: Collection[str], assumed: Sequence[ProofAssumption] = ()) -> Config:
    """The configuration of a proof: the selected one, with the settings above that are not `given`."""
    wide = {"log_slots": max(config.log_slots, PROOF_LOG_SLOTS), **COVERED}
    if not config.elr_enabled:
        wide = {name: to for name, to in wide.items() if name not in ASSUMED_OF}
    elif config.elr_index_goes_stale:  # how stale is a number that each change of min ISR makes greater
        wide.pop("min_isr_changes")
    for name in assumed:
        wide |= ASSUMED[name]
    return replace(config, **{name: to for name, to in wide.items() if name not in given})


def outside(config: Config, variant: str = "kip_full") -> tuple[str, ...]:
    """The settings of a search that no proof of the variant covers, as far as sizes do not matter."""
    own = config_values(build_config(Config, find_variant(variant).knobs))
    used = config_values(config)
    changed = {name for name, value in used.items() if value != own[name]}
    changed -= COVERED.keys() | ALWAYS_ENABLED | ANY
    return tuple(sorted(name for name in changed if used[name] or name not in BUDGETS))


def skipped(
    model: Model, transitions: Transitions, chosen: Sequence[Fn], silent: Collection[str] = ()
) -> tuple[Skipped, ...]:
    """Properties without an obligation, then actions and arguments that the configuration excludes.

    silent: the names of properties that say nothing in this configuration.
    """
    why = {fn.name: fn.note or SILENT for fn in chosen if fn.name in silent}
    properties = [Skipped(fn.ident, fn.name, why[fn.name]) for fn in chosen if fn.name in why]
    return (*properties, *_actions(model, transitions))


def _actions(model: Model, transitions: Transitions) -> Iterator[Skipped]:
    inside = {instance.action for instance in transitions.instances}
    by_name = {fn.name: fn for fn in model.actions}
    excluded: dict[str, list[Excluded]] = {}
    for one in transitions.excluded:
        excluded.setdefault(one.action, []).append(one)
    for action, dropped in excluded.items():
        fn = by_name[action]
        if action not in inside:
            why = " or ".join(f"`{guard}`" for guard in dict.fromkeys(one.guard for one in dropped))
            yield Skipped("action", action, f"{NEVER}: {why}")
            continue
        kept = [args for one in transitions.instances if one.action == action for args in one.alike]
        for guard, group in groupby(sorted(dropped, key=lambda one: one.guard), lambda one: one.guard):
            which = _which(fn, [one.args for one in group], kept)
            yield Skipped("arguments", f"{action}({which})", f"{NEVER}: `{guard}`")


def _which(fn: Fn, dropped: Sequence[tuple[Any, ...]], kept: Sequence[tuple[Any, ...]]) -> str:
    """Name choices of arguments: by a value that no other choice has, or by their number and an example."""
    for position, (name, _) in enumerate(fn.params):
        values = {args[position] for args in dropped}
        if not values & {args[position] for args in kept}:
            shown = [arguments(fn, args)[position].value for args in dropped]
            return f"{name}={' or '.join(dict.fromkeys(shown))}"
    example = ", ".join(f"{given.name}={given.value}" for given in arguments(fn, dropped[0]))
    return f"{example}: one of {len(dropped)} choices of {len(dropped) + len(kept)}"


def assumptions(model: Model, names: Iterable[str]) -> tuple[Assumption, ...]:
    """What the proof assumes of steps, as reports say it."""
    functions = zip(names, assumptions_of(model, names), strict=True)
    return tuple(Assumption(name, " ".join((fn.doc or "").split()), fn.place) for name, fn in functions)


def coverage(model: Model, transitions: Transitions, properties: int, variant: str) -> Coverage:
    """What the proof of so many properties is about."""
    config: Any = transitions.config
    slots = [slot for slot in transitions.slots if slot.path.startswith("partition.replicas")]
    fixed = all(slot.index is None for slot in slots)
    choices = (math.prod(len(domain(ty, config)) for _, ty in fn.params) for fn in model.actions)
    return Coverage(
        properties=properties,
        all_properties=len(model.always),
        actions=len({instance.action for instance in transitions.instances}),
        all_actions=len(model.actions),
        choices=sum(len(instance.alike) for instance in transitions.instances),
        renamed=sum(len(instance.alike) - 1 for instance in transitions.instances),
        all_choices=sum(choices),
        brokers=config.broker_count,
        any_order=bool(transitions.listed),
        replicas=tuple(slot.initial for slot in slots[1 : 1 + slots[0].initial]) if fixed else None,
        min_isr=config.min_isr,
        log_slots=config.log_slots,
        settings=tuple(_settings(config, variant)),
        assumed=tuple(fn.doc for fn in transitions.assumptions if fn.name in transitions.assumed),
    )


def _settings(config: Config, variant: str) -> Iterator[SettingCovered]:
    """The knobs of SHOWN, and every other that differs from the variant. Budgets only exclude actions."""
    own = config_values(build_config(Config, find_variant(variant).knobs))
    here = config_values(config)
    rules = {knob.name for knob in knobs() if not knob.is_budget and knob.section != "sizes"}
    for part in fields(Config):
        name = part.name
        if name in SHOWN or (name in rules and own[name] != here[name]):
            kind = type(part.default)
            values = tuple(one.name for one in kind) if issubclass(kind, Enum) else ()
            yield SettingCovered(name, here[name], own[name], values)
