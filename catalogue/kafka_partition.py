"""The partition of a Kafka topic as a declared model, which commands use unless `--model` names another."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from importlib.resources import files
from importlib.resources.abc import Traversable

from elrcheck.base.documents import read_toml
from elrcheck.base.errors import UsageFault
from elrcheck.base.kept import named_digests as digests
from elrcheck.base.requests import ProofAssumption
from elrcheck.base.typed.configuration import config_fields, find_scope, scope_names
from elrcheck.catalogue.configured import SCOPES, find_variant, packaged_scope, reject_impossible
from elrcheck.catalogue.file_values import packaged_files
from elrcheck.declared.declared_model import SUITE_COUNTS, BeforeSearch, DeclaredModel, NamedSettings, SuiteFiles
from elrcheck.declared.state_picture import Drawing
from elrcheck.invariants.modules import load_checked_model, load_proof_model, load_wait_model, load_whole_model
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.lowering.lowered import Slot
from elrcheck.lang.plain import Label
from elrcheck.model.budgets import Spent
from elrcheck.model.choices import Propagation
from elrcheck.model.config import Config
from elrcheck.model.variants import VARIANTS
from elrcheck.results.check_report import Extent, KnownFinding
from elrcheck.results.prove_report import Coverage

BOUNDS = frozenset(("broker_count", "spare_brokers", "log_slots", *(budget.name for budget in fields(Spent))))
"""The sizes and budgets that bound a search; a change of one changes its counts."""
MOST_SHOWN = 7
"""Brokers of a state whose actions a page can list in time."""
ROUTES = "any_size_routes.json"
VITAL = "W-11"
"""The witness of an acknowledged write: without one, no acknowledged write can be lost."""


class PartitionModel(DeclaredModel):
    """The partition of a Kafka topic: its variants are releases, its scopes TOML files of this package."""

    config = Config

    @property
    def variant_names(self) -> tuple[str, ...]:
        return tuple(variant.name for variant in VARIANTS)

    @property
    def scope_names(self) -> tuple[str, ...]:
        return tuple(scope_names(SCOPES))

    def variant(self, name: str) -> NamedSettings:
        variant = find_variant(name)
        return NamedSettings(variant.name, variant.knobs)

    def scope(self, name: str) -> NamedSettings:
        if name in self.scope_names:
            return NamedSettings(name, packaged_scope(name).values)
        return NamedSettings(name, find_scope(name, SCOPES, config_fields(Config)).values)

    def before_search(self, config: Config) -> BeforeSearch:
        reject_impossible(config)
        return BeforeSearch(estimated_states(config), BOUNDS, no_liveness(config))

    def checked(self) -> Model:
        return load_checked_model()

    def whole(self) -> Model:
        return load_whole_model()

    def with_lemmas(self) -> Model:
        return load_proof_model()

    def with_waits(self) -> Model:
        return load_wait_model()

    def source_texts(self) -> dict[str, str]:
        from elrcheck.invariants.partition_copy import partition_texts

        counts = files("elrcheck.catalogue") / SUITE_COUNTS
        return partition_texts({"scopes": packaged_files("scopes"), "suites": (*packaged_files("suites"), counts)})

    def digest(self) -> str:
        return digests.rules()

    def any_size_routes(self) -> Traversable | None:
        file = files("elrcheck.catalogue") / ROUTES
        return file if file.is_file() else None

    def suites(self) -> SuiteFiles:
        return SuiteFiles(packaged_files("suites"), files("elrcheck.catalogue") / SUITE_COUNTS)

    def widened(self, config: Config, overrides: Collection[str], assumed: Sequence[ProofAssumption]) -> Config:
        from elrcheck.catalogue.proof_settings import widened

        return widened(config, overrides, assumed)

    def covered(
        self, coverage: Coverage, config: Config, variant: str, slots: Sequence[Slot], any_order: bool
    ) -> Coverage:
        from elrcheck.catalogue.proof_settings import covered

        return covered(coverage, config, variant, slots, any_order)

    def variants_about(self) -> Mapping[str, str]:
        return {name: variant.summary for variant in VARIANTS for name in (variant.name, *variant.aliases)}

    def scopes_about(self) -> Mapping[str, str]:
        return {name: packaged_scope(name).description or "" for name in self.scope_names}

    def not_shown(self, config: Config) -> UsageFault | None:
        if config.broker_count <= MOST_SHOWN:
            return None
        message = f"{config.broker_count} brokers are too many to show"
        return UsageFault("web-request", message, help=f"set broker_count to {MOST_SHOWN} or less")

    def drawing(self, config: Config) -> Drawing:
        from elrcheck.catalogue.partition_picture import PartitionDrawing

        return PartitionDrawing(config)

    def extent(self, variant: str, config: Config) -> Extent:
        from elrcheck.catalogue.events import not_tried, tried
        from elrcheck.catalogue.evidence.outside import danger, findings_outside

        return Extent(tried(config), not_tried(config, danger(variant)), findings_outside(variant, config))

    def vacuous(self, config: Config, unreached: Collection[str]) -> str | None:
        """Return why the verdict says little, if producers write but no write is ever acknowledged; else None."""
        if config.records == 0 or VITAL not in unreached:
            return None
        return f"no write was ever acknowledged ({VITAL} is not reached)"

    def at_stake(self, ident: str) -> str:
        return stakes().get(ident, "")

    def instance_of(self, model: Model, config: Config, fn: Fn, labels: Sequence[Label]) -> tuple[KnownFinding, ...]:
        from elrcheck.catalogue.evidence.attributed import attributed

        findings = attributed(model, config, fn, labels)
        return tuple(KnownFinding(finding.id, finding.title) for finding in findings)


def estimated_states(config: Config) -> float:
    """Return an estimate of the distinct states: the product of a factor for each size and budget.

    The factors are fitted to the packaged scopes; for those with two and three brokers the estimate is within a
    factor of three.
    """
    brokers = float(config.broker_count)
    disturbed = config.disturbances + config.late_fetches + config.failovers
    proposed = config.shrinks + config.operations
    guess = 10 * brokers * brokers ** (4 * disturbed) * brokers ** (3 * proposed)
    guess *= (2 * brokers) ** max(0, config.records - 1)
    guess *= 2.0 ** (min(1, config.acks_one) + min(1, config.acks_zero))
    guess *= 2.0 ** (config.response_loss + config.fetch_loss)
    if config.metadata == Propagation.LOG:
        guess *= brokers**3
    return min(guess, 1e18)


def no_liveness(config: Config) -> UsageFault | None:
    """Return why a configuration cannot be searched for liveness; None if it can."""
    if not (config.skips_no_news or config.forgets):
        return None
    return UsageFault(
        "liveness-option",
        "liveness depends on every step a broker takes: leave out --reduce",
        help="the reductions are only justified for safety properties (docs/adr/0008, 0009)",
    )


@functools.cache
def stakes() -> Mapping[str, str]:
    """Return id of a property -> what clients lose where it fails, in a sentence: `at_stake.toml`, read once."""
    rows = read_toml(files("elrcheck.catalogue") / "at_stake.toml").object(("stake",))["stake"].items()
    named = [(row["properties"].texts(), row["text"].text()) for row in rows]
    return {ident: text for idents, text in named for ident in idents}


MODEL = PartitionModel()
