"""A model as commands know it: its configuration, variants and scopes, and how it is compiled.

Kafka's partition is one; every file that a user names is another.
"""

from __future__ import annotations

import hashlib
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from elrcheck.base.errors import UsageFault, did_you_mean, suggest
from elrcheck.base.kept import named_digests as digests
from elrcheck.base.requests import DEFAULT_SCOPE, DEFAULT_VARIANT, GUARD_SCOPE
from elrcheck.base.typed.configuration import config_fields, config_values, find_scope, load_scope, scope_names
from elrcheck.catalogue.models.model_file import compiled_model, read_model, sorts_of, sources_of
from elrcheck.invariants.modules import load_checked_model, load_proof_model, load_whole_model
from elrcheck.lang.algebra import PACKED
from elrcheck.lang.domains import size_of
from elrcheck.lang.load import DEFAULT, Model
from elrcheck.model.choices import RecoveryStrategy
from elrcheck.model.config import Config
from elrcheck.model.variants import VARIANTS, Variant, variant_named, variant_names

MOST = 1000
"""Upper limit of any size or budget: condition graphs grow with them; no feasible search comes near it."""
MOST_MEMBERS = PACKED
"""The most members of a sort in a model of the user: a set of them is packed into one number."""


@dataclass(frozen=True)
class NamedSettings:
    """A variant or a scope: its name, and the fields of the configuration that it sets."""

    name: str
    values: Mapping[str, Any]


class DeclaredModel(ABC):
    """A model. config: the class of its configuration."""

    config: type

    @property
    @abstractmethod
    def variant_names(self) -> tuple[str, ...]: ...

    @property
    @abstractmethod
    def scope_names(self) -> tuple[str, ...]: ...

    @abstractmethod
    def variant(self, name: str) -> NamedSettings:
        """Return a variant; UsageFault with a close match for an unknown name."""

    @abstractmethod
    def scope(self, name: str) -> NamedSettings:
        """Return a scope by name, or that in a TOML file; UsageFault for an unknown name or an unreadable file."""

    @abstractmethod
    def demand_possible(self, config: Any) -> None:
        """Raise UsageFault for sizes that are meaningless or that no engine can represent, or if settings clash."""

    @abstractmethod
    def checked(self) -> Model:
        """Compile the model with its safety properties and witnesses."""

    @abstractmethod
    def whole(self) -> Model:
        """Compile the model with all its properties, including liveness."""

    @abstractmethod
    def with_lemmas(self) -> Model:
        """Compile the model with its properties and the lemmas that prove them."""

    @abstractmethod
    def digest(self) -> str:
        """Return a digest of the rules, which changes with any of them."""


def declared(file: Path | None) -> DeclaredModel:
    """Return the model in a file or folder, or Kafka's partition; UsageFault for a file that declares none."""
    return PartitionModel() if file is None else ModelInFile(file)


class ModelInFile(DeclaredModel):
    """A model of the user. The defaults of its configuration count as a variant and a scope."""

    def __init__(self, file: Path) -> None:
        self.file, self.declared = file, read_model(file)
        self.config = self.declared.config
        self._variants = {file.stem: {}, **self.declared.variants}
        self._scopes = {DEFAULT: {}, **self.declared.scopes}

    @property
    def variant_names(self) -> tuple[str, ...]:
        return tuple(self._variants)

    @property
    def scope_names(self) -> tuple[str, ...]:
        return tuple(self._scopes)

    def variant(self, name: str) -> NamedSettings:
        return self._named("variant", self.file.stem if name == DEFAULT_VARIANT else name, self._variants)

    def scope(self, name: str) -> NamedSettings:
        if name.endswith(".toml"):
            return NamedSettings(name, load_scope(Path(name), config_fields(self.config)).values)
        return self._named("scope", DEFAULT if name in (DEFAULT_SCOPE, GUARD_SCOPE) else name, self._scopes)

    def _named(self, what: str, name: str, named: Mapping[str, Mapping[str, Any]]) -> NamedSettings:
        if name not in named:
            help = did_you_mean(name, named)
            raise UsageFault(f"unknown-{what}", f"unknown {what} `{name}`", where=str(self.file), help=help)
        return NamedSettings(name, named[name])

    def demand_possible(self, config: Any) -> None:
        for sort in sorts_of(self.file).values():
            count = size_of(sort, config)
            if not 1 <= count <= MOST_MEMBERS:
                message = f"`{sort.size}`: expected 1 to {MOST_MEMBERS} {sort.words}, not {count}"
                raise UsageFault("config-bad-value", message, where=str(self.file))

    def checked(self) -> Model:
        return compiled_model(self.file)

    def whole(self) -> Model:
        return compiled_model(self.file)

    def with_lemmas(self) -> Model:
        return compiled_model(self.file)

    def digest(self) -> str:
        parts = [digests.sources("lang"), *(source.read_text(encoding="utf-8") for source in sources_of(self.file))]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()


class PartitionModel(DeclaredModel):
    """The partition of a Kafka topic: its variants are releases, its scopes TOML files of this package."""

    config = Config

    @property
    def variant_names(self) -> tuple[str, ...]:
        return tuple(variant.name for variant in VARIANTS)

    @property
    def scope_names(self) -> tuple[str, ...]:
        return tuple(scope_names(files("elrcheck.catalogue") / "scopes"))

    def variant(self, name: str) -> NamedSettings:
        variant = find_variant(name)
        return NamedSettings(variant.name, variant.knobs)

    def scope(self, name: str) -> NamedSettings:
        scope = find_scope(name, files("elrcheck.catalogue") / "scopes", config_fields(Config))
        return NamedSettings(name, scope.values)

    def demand_possible(self, config: Any) -> None:
        reject_impossible(config)

    def checked(self) -> Model:
        return load_checked_model()

    def whole(self) -> Model:
        return load_whole_model()

    def with_lemmas(self) -> Model:
        return load_proof_model()

    def digest(self) -> str:
        return digests.rules()


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
