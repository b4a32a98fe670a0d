"""The claim of a proof: the properties, actions, arguments and settings that it covers and leaves out."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import fields, replace
from enum import Enum
from itertools import groupby
from operator import attrgetter
from typing import Any

from msgspec import structs

from elrcheck.base.requests import ProofAssumption
from elrcheck.base.typed.configuration import build_config, config_values
from elrcheck.catalogue.configured import find_variant
from elrcheck.catalogue.evidence.proved_variants import ALWAYS_ENABLED, ASSUMED_OF
from elrcheck.catalogue.evidence.searched import BUDGETS
from elrcheck.lang.domains import domain, size_of
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.model.choices import RecoveryStrategy
from elrcheck.model.config import Config
from elrcheck.model.knobs import knobs
from elrcheck.proof.hypotheses import assumptions_of
from elrcheck.proof.transition import Excluded, Transitions
from elrcheck.report.plain_words import several
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
"""Settings of a proof under an assumption, beside or instead of COVERED."""
PROOF_LOG_SLOTS = 2
"""Log slots of a proof, unless `--set log_slots` overrides it; scopes keep logs short for searching."""
ANY = frozenset(("broker_count", "min_isr", "log_slots", "skips_no_news", "forgets"))
"""Sizes, and knobs about how a search represents states."""
NEVER = "never enabled in this configuration"
SILENT = "says nothing in this configuration: all that could break it is constant"
ALWAYS_NAMED = ("unclean_recovery_strategy", "metadata")
"""Knobs whose values are protocols of their own: the report always says which one is covered."""


def widened(config: Config, overrides: Collection[str], assumed: Sequence[ProofAssumption] = ()) -> Config:
    """Return the configuration of a proof: the selected one, with the settings above that are not overridden."""
    wide = {"log_slots": max(config.log_slots, PROOF_LOG_SLOTS), **COVERED}
    if not config.elr_enabled:
        wide = {name: to for name, to in wide.items() if name not in ASSUMED_OF}
    elif config.elr_index_goes_stale:  # how stale is a number that each change of min ISR makes greater
        wide.pop("min_isr_changes")
    for name in assumed:
        wide |= ASSUMED[name]
    return replace(config, **{name: to for name, to in wide.items() if name not in overrides})


def outside(config: Config, variant: str = "kip_full") -> tuple[str, ...]:
    """Return the settings of a search that no proof of the variant covers; sizes do not count."""
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
    properties = (Skipped(fn.ident, fn.name, fn.note or SILENT) for fn in chosen if fn.name in silent)
    return (*properties, *_actions(model, transitions))


def _actions(model: Model, transitions: Transitions) -> Iterator[Skipped]:
    inside = {instance.action for instance in transitions.instances}
    excluded: dict[str, list[Excluded]] = {}
    for choice in transitions.excluded:
        excluded.setdefault(choice.action, []).append(choice)
    for action, dropped in excluded.items():
        if action not in inside:
            why = " or ".join(f"`{guard}`" for guard in dict.fromkeys(choice.guard for choice in dropped))
            yield Skipped("action", action, f"{NEVER}: {why}")
            continue
        covered = [args for step in transitions.instances if step.action == action for args in step.alike]
        by_guard = attrgetter("guard")
        for guard, group in groupby(sorted(dropped, key=by_guard), by_guard):
            which = _which(model.fns[action], [choice.args for choice in group], covered)
            yield Skipped("arguments", f"{action}({which})", f"{NEVER}: `{guard}`")


def _which(fn: Fn, dropped: Sequence[tuple[Any, ...]], covered: Sequence[tuple[Any, ...]]) -> str:
    """Name choices of arguments: by a value that no other choice has, or by their number and an example."""
    for position, (name, _) in enumerate(fn.params):
        values = {args[position] for args in dropped}
        if not values & {args[position] for args in covered}:
            texts = [arguments(fn, args)[position].value for args in dropped]
            return f"{name}={' or '.join(dict.fromkeys(texts))}"
    example = ", ".join(f"{argument.name}={argument.value}" for argument in arguments(fn, dropped[0]))
    return f"{example}: one of {len(dropped)} choices of {len(dropped) + len(covered)}"


def assumptions(model: Model, names: Iterable[str]) -> tuple[Assumption, ...]:
    """Return the assumptions on steps, as reports have them."""
    functions = zip(names, assumptions_of(model, names), strict=True)
    return tuple(Assumption(name, " ".join((fn.doc or "").split()), fn.place) for name, fn in functions)


def coverage(model: Model, transitions: Transitions, properties: int, variant: str) -> Coverage:
    """Return what a proof of this number of properties covers."""
    config: Any = transitions.config
    if not isinstance(config, Config):
        return _of_any_model(model, transitions, properties)
    slots = [slot for slot in transitions.slots if slot.path.startswith("partition.replicas")]
    fixed = all(slot.index is None for slot in slots)
    return structs.replace(
        _of_any_model(model, transitions, properties),
        sizes=(),
        brokers=config.broker_count,
        any_order=bool(transitions.listed),
        replicas=tuple(slot.initial for slot in slots[1 : 1 + slots[0].initial]) if fixed else None,
        min_isr=config.min_isr,
        log_slots=config.log_slots,
        settings=tuple(_settings(config, variant)),
    )


def _of_any_model(model: Model, transitions: Transitions, properties: int) -> Coverage:
    config = transitions.config
    choices = (math.prod(len(domain(ty, config)) for _, ty in fn.params) for fn in model.actions)
    return Coverage(
        properties=properties,
        all_properties=len(model.always),
        actions=len({instance.action for instance in transitions.instances}),
        all_actions=len(model.actions),
        choices=sum(len(instance.alike) for instance in transitions.instances),
        renamed=sum(len(instance.alike) - 1 for instance in transitions.instances),
        all_choices=sum(choices),
        sizes=tuple(several(size_of(sort, config), sort.word, sort.words) for sort in model.sorts.values()),
        assumed=tuple(fn.doc for fn in transitions.assumptions if fn.name in transitions.assumed),
    )


def _settings(config: Config, variant: str) -> Iterator[SettingCovered]:
    """The knobs of SHOWN, and every other that differs from the variant. Budgets only exclude actions."""
    own = config_values(build_config(Config, find_variant(variant).knobs))
    used = config_values(config)
    rules = {knob.name for knob in knobs() if not knob.is_budget and knob.section != "sizes"}
    for part in fields(Config):
        name = part.name
        if name in ALWAYS_NAMED or (name in rules and own[name] != used[name]):
            kind = type(part.default)
            values = tuple(member.name for member in kind) if issubclass(kind, Enum) else ()
            yield SettingCovered(name, used[name], own[name], values)
