"""Searches that check the lemmas in every reachable state, as properties.

A proof shows that steps preserve the lemmas; a search shows, without a solver, that the states it reaches satisfy
them. Lemmas about the history of losses are left out, because states do not record it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from elrcheck.base.requests import Limits
from elrcheck.base.roundtrip import Record
from elrcheck.catalogue.proof_settings import outside
from elrcheck.checking.suite.suite_file import SuiteCase, packaged_suites
from elrcheck.explorer.kernel.native_code import KernelCache
from elrcheck.explorer.search.compiled import Search, SearchSettings
from elrcheck.laboratory.evidence.proved_variants import ASSUMED_OF
from elrcheck.lang.load import Model
from elrcheck.lang.lowering.lower import lower
from elrcheck.model.choices import RecoveryStrategy
from elrcheck.model.config import Config

NO_LIMIT = Limits()


class LemmaSearch(Record, frozen=True):
    """A search. distinct: number of states, in each of which all lemmas were checked; broken: lemma -> depth."""

    name: str
    distinct: int
    lemmas: int
    complete: bool
    broken: dict[str, int]


def with_lemmas(model: Model) -> Model:
    """Return the model whose properties are the lemmas."""
    lemmas = tuple(replace(fn, kind="always", ident=fn.name) for fn in model.lemmas)
    return replace(model, always=lemmas, sometimes=())


def lemma_cases() -> Iterator[tuple[SuiteCase, tuple[str, ...]]]:
    """Yield the searched configurations of the suite, each with its settings that the proof does not cover.

    A lemma may be false after steps that the proof leaves out by an assumption.
    """
    for family in packaged_suites():
        for case in family.cases:
            if case.walk is None and not case.deep:
                config = case.selected.config
                also = [name for name in sorted(ASSUMED_OF) if getattr(config, name)]
                yield case, tuple(dict.fromkeys((*also, *outside(config))))


def search_lemmas(model: Model, name: str, config: Config, limits: Limits = NO_LIMIT) -> LemmaSearch:
    """Search a configuration, without recoveries, for states that violate a lemma. model: from `with_lemmas`."""
    config = replace(config, unclean_recovery_strategy=RecoveryStrategy.DISABLED)
    lowered = lower(model, config)
    result = Search(lowered.program, SearchSettings(limits, cache=KernelCache())).run(None, "complete")
    checks = lowered.program.checks
    broken = {checks[number].name: depth for number, depth in result.first.items()}
    return LemmaSearch(name, result.distinct, len(checks), result.complete, broken)
