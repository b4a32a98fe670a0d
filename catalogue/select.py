"""Resolve the variant, scope and overrides of a request into a `Config`, and words into properties."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from elrcheck.base.errors import NothingChecked, UsageFault, did_you_mean, suggest
from elrcheck.base.requests import DEFAULT_SCOPE, DEFAULT_VARIANT, Selection
from elrcheck.base.typed.configuration import (
    build_config,
    config_fields,
    config_values,
    find_scope,
    load_scope,
    parse_overrides,
)
from elrcheck.catalogue.model_file import compiled_model, read_model
from elrcheck.invariants.modules import load_checked_model, load_whole_model
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import DEFAULT, Model
from elrcheck.model.choices import RecoveryStrategy
from elrcheck.model.config import Config
from elrcheck.model.variants import VARIANTS, Variant, variant_named, variant_names

MOST = 1000
"""Upper limit of any size or budget: condition graphs grow with them; no feasible search comes near it."""
MOST_MEMBERS = 62
"""The most elements of `config.brokers`: a set of them is packed into one number."""


@dataclass(frozen=True)
class Selected:
    """A resolved selection. overrides: the values given by `--set`, typed.

    config: a `Config` of Kafka's partition, or that of the model in `file`, if the user names one.
    """

    variant: str
    scope: str
    config: Any
    overrides: dict[str, object]
    file: Path | None = None

    @property
    def model(self) -> str | None:
        """The file of the model as reports name it; None for Kafka's partition."""
        return None if self.file is None else str(self.file)

    def checked_model(self) -> Model:
        """Return the model with its safety properties and witnesses."""
        return load_checked_model() if self.file is None else compiled_model(self.file)

    def whole_model(self) -> Model:
        """Return the model with all its properties, including liveness."""
        return load_whole_model() if self.file is None else compiled_model(self.file)


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
    """4.1.2 as (4, 1, 2), by which releases are sorted; what follows a hyphen does not count."""
    return tuple(int(part) for part in release.partition("-")[0].split(".") if part.isdigit())


def resolve(selection: Selection) -> Selected:
    """Resolve a selection: the variant's knobs, overridden by the scope, then by `--set`."""
    if selection.model is not None:
        return _resolve_in(selection.model, selection)
    variant = find_variant(selection.variant)
    scope = find_scope(selection.scope, files("elrcheck.catalogue") / "scopes", config_fields(Config))
    overrides = parse_overrides(Config, selection.overrides)
    config = build_config(Config, variant.knobs, scope.values, overrides)
    reject_impossible(config)
    return Selected(variant.name, selection.scope, config, overrides)


def _resolve_in(file: Path, selection: Selection) -> Selected:
    """Resolve a selection in a model of the user; the defaults of its configuration count as a variant and a scope."""
    declared = read_model(file)
    variant = file.stem if selection.variant == DEFAULT_VARIANT else selection.variant
    scope = DEFAULT if selection.scope == DEFAULT_SCOPE else selection.scope
    layers = []
    variants, scopes = {file.stem: {}, **declared.variants}, {DEFAULT: {}, **declared.scopes}
    for what, name, named in (("variant", variant, variants), ("scope", scope, scopes)):
        if name in named:
            layers.append(named[name])
        elif what == "scope" and name.endswith(".toml"):
            layers.append(load_scope(Path(name), config_fields(declared.config)).values)
        else:
            help = did_you_mean(name, named)
            raise UsageFault(f"unknown-{what}", f"unknown {what} `{name}`", where=str(file), help=help)
    overrides = parse_overrides(declared.config, selection.overrides)
    config: Any = build_config(declared.config, *layers, overrides)
    if not 1 <= config.broker_count <= MOST_MEMBERS:
        message = f"expected 1 to {MOST_MEMBERS} elements of `brokers`, not {config.broker_count}"
        raise UsageFault("config-bad-value", message, where=str(file))
    return Selected(variant, scope, config, overrides, file)


def partition_config(selection: Selection) -> Config:
    """Return the configuration of Kafka's partition that a selection means."""
    config: Config = resolve(selection).config
    return config


def reject_impossible(config: Config) -> None:
    """Raise UsageFault for sizes that are meaningless or that no engine can represent, or if knobs clash."""
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
    """KIP-966 maps unclean.leader.election.enable to a strategy: false to Balanced, true to Aggressive.

    With a manager nothing elects uncleanly without a recovery, so the setting has no other meaning.
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


def select_properties(model: Model, words: Sequence[str], liveness: bool = False) -> tuple[Fn, ...]:
    """Select properties by id, name or glob; by default all safety properties and witnesses.

    Liveness properties need a search of their own, so they cannot be mixed with others: select them by
    `liveness`, or by words that match no other property. Raise UsageFault for an unknown word or for a
    mixture, NothingChecked for a glob without a match.
    """
    safety = () if liveness else (*model.always, *model.sometimes)
    if not words:
        return safety or model.leads_to
    for word in words:
        if liveness and not any(_matches(word, fn) for fn in model.leads_to):
            _reject_safety(model, word)
    chosen: list[Fn] = []
    for word in words:
        meant = safety if any(_matches(word, fn) for fn in safety) else (*safety, *model.leads_to)
        chosen += [fn for fn in choose(meant, (word,), "property") if fn not in chosen]
    if len({fn.kind == "leads_to" for fn in chosen}) > 1:
        raise UsageFault("mixed-properties", "liveness properties (V-*) need a run of their own")
    return tuple(chosen)


def _reject_safety(model: Model, word: str) -> None:
    if any(_matches(word, fn) for fn in (*model.always, *model.sometimes)):
        raise UsageFault("mixed-properties", f"{word} is no liveness property", help="leave out --liveness")


def choose(every: Sequence[Fn], words: Sequence[str], what: str) -> tuple[Fn, ...]:
    """Select functions by id, name or glob, in the order of the words; all if there are no words.

    Raise UsageFault for an unknown word, NothingChecked for a glob without a match.
    """
    if not words:
        return tuple(every)
    chosen: list[Fn] = []
    for word in words:
        matches = [fn for fn in every if _matches(word, fn)]
        if not matches and any(ch in word for ch in "*?["):
            raise NothingChecked(f"no-{what}", f"no {what} matches `{word}`")
        if not matches:
            names = list(_words(every))
            raise UsageFault(f"unknown-{what}", f"unknown {what} `{word}`", help=did_you_mean(word, names))
        chosen += [fn for fn in matches if fn not in chosen]
    return tuple(chosen)


def _matches(word: str, fn: Fn) -> bool:
    return any(fnmatch.fnmatchcase(name.lower(), word.lower()) for name in (fn.ident, fn.name))


def _words(fns: Iterable[Fn]) -> Iterable[str]:
    for fn in fns:
        yield fn.ident
        yield fn.name
