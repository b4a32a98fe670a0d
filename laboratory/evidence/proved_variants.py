"""The proof of each variant, the properties that random walks break there, and the findings that break more.

`docs/prove_variants.py` writes the file: for each variant a proof, and walks through a configuration that the
proof covers. A property that walks break is refuted by a real run; one that is neither proved nor broken by a walk
is open. Findings come from their own files, which record their searches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal, TypeAlias

from elrcheck.base.roundtrip import Record, from_text
from elrcheck.base.typed.configuration import build_config, check_value, config_fields, config_values, setting_text
from elrcheck.catalogue.configured import find_variant, search_config, variant_config
from elrcheck.catalogue.evidence.searched import BUDGETS, packaged_searches
from elrcheck.catalogue.finding_file import FindingRun
from elrcheck.catalogue.packaged_findings import packaged_findings
from elrcheck.catalogue.proof_settings import ALWAYS_ENABLED
from elrcheck.laboratory.evidence.released_search import released_searches
from elrcheck.model.config import Config
from elrcheck.model.knobs import knobs
from elrcheck.results.prove_report import LemmaDropped

NAME = "proved_variants.json"
SCHEMA = "elrcheck.proved-variants/1"
ASSUMED_OF = frozenset(("feature_changes", "min_isr_changes"))
"""Budgets of the steps that a proof may leave out in part; a search with any of them is not covered then."""
NETWORK = frozenset(("response_loss", "fetch_loss"))
NO_RULES = NETWORK | {
    "elr_enabled",
    "unclean_leader_election_enable",
    "unclean_recovery_strategy",
    "metadata",
    "registration_catch_up",
    "skips_no_news",
    "forgets",
    "tracks_acks",
}
"""What operators choose, what happens around the protocol, and how it is written down."""

Standing: TypeAlias = Literal["proved", "conditional", "refuted", "open", "silent"]


class ProvedVariant(Record, frozen=True):
    """A variant's proof and walks.

    lemmas: how many are preserved; void: why nothing is proved, if that is so. proved, open: ids of
    properties; silent: properties without an obligation, each with the reason. conditions: what a proved property
    depends on. assumed: steps that the proof leaves out although the configuration has them. broken: property ->
    steps of the shortest walk that broke it. config: the settings of the proof that differ from the variant's.
    model: digest of the model's source at that time.
    """

    variant: str
    command: str
    config: Mapping[str, bool | int | str]
    actions: int
    lemmas: int
    dropped: tuple[LemmaDropped, ...]
    void: tuple[str, ...]
    proved: tuple[str, ...]
    open: tuple[str, ...]
    silent: Mapping[str, str]
    assumed: tuple[str, ...]
    conditions: Mapping[str, str]
    walked: str
    broken: Mapping[str, int]
    seconds: float
    day: str
    model: str

    def standing(self, ident: str) -> Standing:
        """Return whether a property is proved, broken or open. One proved under a condition may break without it."""
        if ident in self.proved:
            return "conditional" if ident in self.conditions else "proved"
        if ident in self.broken:
            return "refuted"
        return "silent" if ident in self.silent else "open"


class ProvedVariants(Record, frozen=True):
    """The whole file."""

    schema: str = SCHEMA
    variants: tuple[ProvedVariant, ...] = ()


@dataclass(frozen=True)
class Breach:
    """A finding that breaks properties of a variant. outside: settings that the proof does not cover."""

    finding: str
    properties: tuple[str, ...]
    outside: tuple[str, ...]


def packaged_proofs() -> tuple[ProvedVariant, ...]:
    return from_text((files("elrcheck.laboratory.evidence") / NAME).read_bytes(), ProvedVariants).variants


def breaches(proof: ProvedVariant) -> tuple[Breach, ...]:
    """Return the findings whose recorded searches break properties of the variant, with nothing else to blame."""
    every = [
        Breach(ident, properties, tuple(_outside(proof, run)))
        for ident, run, properties in _recorded()
        if find_variant(run.variant).knobs == find_variant(proof.variant).knobs and not _other_rules(run)
    ]
    return tuple({(one.finding, one.outside): one for one in reversed(every)}.values())[::-1]


def _recorded() -> Iterator[tuple[str, FindingRun, tuple[str, ...]]]:
    """Yield (finding, search, properties that it breaks and its control does not)."""
    searched = {(one.finding, one.variant): one.broken_by_finding for one in packaged_searches()}
    for finding in packaged_findings():
        for search in released_searches(finding):
            broken = searched.get((finding.id, search.variant), ())
            if properties := _safety(broken):
                yield finding.id, search.run, properties
        for run in finding.runs:
            if run.control is not None and (properties := _safety(run.breaks)):
                yield finding.id, run, properties


def _safety(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name.startswith("P-"))


def _other_rules(run: FindingRun) -> bool:
    """Return true if the search changes a rule of its variant."""
    own = config_values(variant_config(run.variant))
    used = config_values(search_config(run.variant, run.scope, run.knobs))
    sections = {knob.name: knob.section for knob in knobs()}
    rules = sections.keys() - BUDGETS - NO_RULES
    return any(used[name] != own[name] for name in rules if sections[name] != "sizes")


def _outside(proof: ProvedVariant, run: FindingRun) -> Iterator[str]:
    """Yield the settings of a search that the proof does not cover."""
    kinds = config_fields(Config)
    own = {name: check_value(kinds[name], value) for name, value in proof.config.items()}
    covered = config_values(build_config(Config, find_variant(proof.variant).knobs, own))
    for name, value in config_values(search_config(proof.variant, run.scope, run.knobs)).items():
        if name in ALWAYS_ENABLED:
            continue
        if name in ASSUMED_OF and proof.assumed and value:
            yield f"{name}={value}"
            continue
        most = name in BUDGETS or name == "log_slots" or (kinds[name] is bool and name in NETWORK)
        if value != covered[name] and not (most and _enabled(name, value, covered[name])):
            yield f"{name}={setting_text(value)}"


def _enabled(name: str, value: Any, covered: Any) -> bool:
    """Return whether the proof covers a value: it covers smaller ones, and any number of a budget that it has."""
    return value <= covered if name not in BUDGETS else bool(covered) or not value
