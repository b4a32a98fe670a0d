"""A model as commands see it: configuration, variants, scopes, compilation and description.

It comes from a file that the user names, or is the default model.
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elrcheck.base.common_options import ModelSource, PatchedModel
from elrcheck.base.errors import UsageFault, did_you_mean
from elrcheck.base.kept import named_digests as digests
from elrcheck.base.requests import DEFAULT_SCOPE, DEFAULT_VARIANT, GUARD_SCOPE
from elrcheck.base.typed.configuration import config_fields, find_scope, load_scope, scope_names
from elrcheck.declared.model_file import compiled_model, read_model, sorts_of, source_texts, sources_used
from elrcheck.declared.patched import patched_file
from elrcheck.lang.domains import size_of
from elrcheck.lang.load import DEFAULT, Model, Settings

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from elrcheck.base.requests import ProofAssumption
    from elrcheck.declared.state_picture import Drawing
    from elrcheck.lang.ir import Fn
    from elrcheck.lang.lowering.lowered import Slot
    from elrcheck.lang.plain import Label
    from elrcheck.results.check_report import Extent, KnownFinding
    from elrcheck.results.prove_report import Coverage

DEFAULT_MODEL = "elrcheck.catalogue.kafka_partition"
"""The module whose `MODEL` is the model of a command that names no file (docs/adr/0035)."""
UNKNOWN_STATES = 100_000.0
"""The estimate for a configuration without an estimate of its own."""
SUITE_COUNTS = "suite_counts.json"
"""The file of recorded counts in a folder of suites."""
MOST_MEMBERS = 62
"""Limit of the members of a sort in a user's model."""


@dataclass(frozen=True)
class NamedSettings:
    """A variant or a scope: its name and the configuration fields that it sets."""

    name: str
    values: Mapping[str, Any]


@dataclass(frozen=True)
class BeforeSearch:
    """What a model knows of a configuration before it is searched.

    states: a rough estimate, for the order of searches. bounds: the settings that bound a search, so that its counts
    depend on them. no_liveness: why liveness cannot be checked, for example because steps are left out.
    """

    states: float = UNKNOWN_STATES
    bounds: frozenset[str] = frozenset()
    no_liveness: UsageFault | None = None


@dataclass(frozen=True)
class SuiteFiles:
    """The suites of a model, in the order of their names. counts: the file of recorded counts, if any."""

    files: tuple[Path | Traversable, ...] = ()
    counts: Path | Traversable | None = None


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
        """Return a variant; raise UsageFault for an unknown name."""

    @abstractmethod
    def scope(self, name: str) -> NamedSettings:
        """Return a scope by name or from a TOML file; raise UsageFault for an unknown name or an unreadable file."""

    @abstractmethod
    def before_search(self, config: Any) -> BeforeSearch:
        """Return what is known of a configuration before it is searched.

        Raise UsageFault if sizes are meaningless or too large for every engine, or if settings clash.
        """

    @abstractmethod
    def checked(self) -> Model:
        """Return the compiled model with its safety properties and witnesses."""

    def whole(self) -> Model:
        """Return the compiled model with all its properties, including liveness."""
        return self.checked()

    def with_lemmas(self) -> Model:
        """Return the compiled model with its properties and the lemmas that prove them."""
        return self.checked()

    def with_waits(self) -> Model:
        """Return the same with its liveness properties and the stages of their waits."""
        return self.with_lemmas()

    @abstractmethod
    def digest(self) -> str:
        """Return a digest of the rules."""

    @abstractmethod
    def source_texts(self) -> dict[str, str]:
        """Return path, separated by `/` -> text of the model's files, as a user's model has them."""

    def widened(self, config: Any, overrides: Collection[str], assumed: Sequence[ProofAssumption]) -> Any:
        """Return the configuration of a proof, which may allow more than a search, unless an override forbids it."""
        return config

    def covered(
        self, coverage: Coverage, config: Any, variant: str, slots: Sequence[Slot], any_order: bool
    ) -> Coverage:
        """Return the claim of a proof in the words of the model. any_order: constant lists may have any order."""
        return coverage

    def any_size_routes(self) -> Traversable | None:
        """Return the file that says how its default claim was proved for any size; None if it has none."""
        return None

    def suites(self) -> SuiteFiles:
        """Return the suites of the model."""
        return SuiteFiles()

    # For the explorer.

    def variants_about(self) -> Mapping[str, str]:
        """Return variant, or another name for one -> a sentence about it, maybe empty."""
        return dict.fromkeys(self.variant_names, "")

    def scopes_about(self) -> Mapping[str, str]:
        """Return scope -> a sentence about it, maybe empty."""
        return dict.fromkeys(self.scope_names, "")

    def not_shown(self, config: Any) -> UsageFault | None:
        """Return why a page cannot list the steps of a configuration, for example because there are too many."""
        return None

    def drawing(self, config: Any) -> Drawing | None:
        """Return how states are drawn; None if by their declared fields."""
        return None

    # For the report of a search.

    def extent(self, variant: str, config: Any) -> Extent | None:
        """Return what the budgets of a configuration allow, and the known findings outside them."""
        return None

    def vacuous(self, config: Any, unreached: Collection[str]) -> str | None:
        """Return why a verdict shows little if a search has not reached these witnesses."""
        return None

    def at_stake(self, ident: str) -> str:
        """Return in a sentence what users lose where a property fails; empty if the model does not say."""
        return ""

    def instance_of(self, model: Model, config: Any, fn: Fn, labels: Sequence[Label]) -> tuple[KnownFinding, ...]:
        """Return the known findings of which a violation of a property at the end of a trace is an instance."""
        return ()


def suites_of(source: ModelSource) -> SuiteFiles:
    """Return the suites of a model, or those of its base if a diff is applied."""
    return declared(source.base if isinstance(source, PatchedModel) else source).suites()


def declared(source: ModelSource) -> DeclaredModel:
    """Return the model of a source; None: the default model.

    Raise UsageFault for a file that declares no model, or a diff that does not fit.
    """
    if isinstance(source, PatchedModel):
        texts = declared(None).source_texts() if source.base is None else source_texts(source.base)
        return ModelInFile(patched_file(source, texts))
    if source is not None:
        return ModelInFile(source)
    model: DeclaredModel = importlib.import_module(DEFAULT_MODEL).MODEL
    return model


def source_digest(file: Path | None) -> str | None:
    """Return a digest of the files of a user's model, the same on every machine; None without a file."""
    if file is None:
        return None
    parts = (f"{name}\0{text}" for name, text in sorted(source_texts(file).items()))
    return hashlib.sha256("\0".join(parts).replace("\r\n", "\n").encode()).hexdigest()


class ModelInFile(DeclaredModel):
    """A user's model.

    The defaults of its configuration are a variant and a scope of their own, unless the model has those of `Selection`.
    """

    def __init__(self, file: Path) -> None:
        self.file, self.declared = file, read_model(file)
        self.config = self.declared.config
        variants, scopes = self.declared.variants, self._declared_scopes()
        self._variants = variants if DEFAULT_VARIANT in variants else {file.stem: {}, **variants}
        self._scopes = scopes if DEFAULT_SCOPE in scopes else {DEFAULT: {}, **scopes}

    def _declared_scopes(self) -> Mapping[str, Settings]:
        scopes = self.declared.scopes
        if not isinstance(scopes, Path):
            return scopes
        fields = config_fields(self.config)
        return {name: find_scope(name, scopes, fields).values for name in scope_names(scopes)}

    @property
    def variant_names(self) -> tuple[str, ...]:
        return tuple(self._variants)

    @property
    def scope_names(self) -> tuple[str, ...]:
        return tuple(self._scopes)

    def variant(self, name: str) -> NamedSettings:
        unnamed = name == DEFAULT_VARIANT and name not in self._variants
        own = self.declared.aliases.get(name, name)
        settings = self._named("variant", self.file.stem if unnamed else own, self._variants)
        return settings if own == name else NamedSettings(name, settings.values)

    def scope(self, name: str) -> NamedSettings:
        if name.endswith(".toml"):
            return NamedSettings(name, load_scope(Path(name), config_fields(self.config)).values)
        unnamed = name in (DEFAULT_SCOPE, GUARD_SCOPE) and name not in self._scopes
        return self._named("scope", DEFAULT if unnamed else name, self._scopes)

    def _named(self, what: str, name: str, named: Mapping[str, Mapping[str, Any]]) -> NamedSettings:
        if name not in named:
            help = did_you_mean(name, named)
            raise UsageFault(f"unknown-{what}", f"unknown {what} `{name}`", where=str(self.file), help=help)
        return NamedSettings(name, named[name])

    def before_search(self, config: Any) -> BeforeSearch:
        for sort in sorts_of(self.file).values():
            count = size_of(sort, config)
            if not 1 <= count <= MOST_MEMBERS:
                message = f"`{sort.size}`: expected 1 to {MOST_MEMBERS} {sort.words}, not {count}"
                raise UsageFault("config-bad-value", message, where=str(self.file))
        zeros = {part.name for part in dataclasses.fields(config) if getattr(config, part.name) == 0}
        for name in sorted(zeros & compiled_model(self.file).divisors if zeros else ()):
            message = f"`{name}`: the model divides by it, so it must be positive"
            raise UsageFault("config-bad-value", message, where=str(self.file))
        return BeforeSearch()

    def checked(self) -> Model:
        return compiled_model(self.file)

    def widened(self, config: Any, overrides: Collection[str], assumed: Sequence[ProofAssumption]) -> Any:
        wide = self.declared.induction.settings(config)
        return dataclasses.replace(config, **{name: to for name, to in wide.items() if name not in overrides})

    def source_texts(self) -> dict[str, str]:
        return source_texts(self.file)

    def suites(self) -> SuiteFiles:
        folder = self.declared.suites
        if folder is None:
            return SuiteFiles()
        counts = folder / SUITE_COUNTS
        return SuiteFiles(tuple(sorted(folder.glob("*.toml"))), counts if counts.is_file() else None)

    def digest(self) -> str:
        parts = [digests.sources("lang"), *(source.read_text(encoding="utf-8") for source in sources_used(self.file))]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()
