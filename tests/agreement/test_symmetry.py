"""Which brokers are interchangeable: replicas up to the order of their list, spare ones not (ADR 0010)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import pytest

from elrcheck.base.requests import Selection
from elrcheck.declared.select import resolve
from elrcheck.explorer.search.compiled import Search
from elrcheck.lang.load import Model
from elrcheck.lang.lowering.lower import lower
from elrcheck.lang.plain import PlainModel
from elrcheck.model.config import Config
from elrcheck.proof.equivariance import renamed
from support.sampling import reachable


def starting(model: Model, to: Sequence[int]) -> Model:
    """The model whose initial state is renamed: another order of the replica list, another first leader."""
    first = model.init.source
    return replace(model, init=replace(model.init, source=lambda c: renamed(first(c), model.state_ty, to)))


def counts(model: Model, config: Config) -> tuple[int, int, tuple[int, ...], dict[str, int]]:
    program = lower(model, config).program
    result = Search(program).run(None, "complete")
    assert result.complete
    first = {program.checks[check].name: depth for check, depth in result.first.items()}
    return result.generated, result.distinct, result.levels, first


@pytest.mark.slow
def test_another_order_of_the_replica_list_gives_the_same_search(checked_model: Model) -> None:
    config = resolve(Selection("kip_full", "three-brokers-tiny")).config
    assert counts(starting(checked_model, (1, 2, 0)), config) == counts(checked_model, config)


def test_a_renamed_state_has_the_renamed_successors(checked_model: Model) -> None:
    """Of every broker event, budgets with operators who name no list included."""
    config = Config(
        log_slots=1, records=1, clean_stops=1, kills=1, shutdowns=1, unregistrations=1, elections=1, unclean_elections=1
    )
    plain = PlainModel(checked_model, config)
    for state in reachable(plain, 25, seed=5):
        expected = [after for _, after in plain.successors(state)]
        for to in itertools.permutations(range(3)):
            there = renamed(state, checked_model.state_ty, to)
            successors = [after for _, after in plain.successors(there)]
            assert set(successors) == {renamed(after, checked_model.state_ty, to) for after in expected}
            assert len(successors) == len(expected)


def test_spare_brokers_differ_as_soon_as_two_are_in_one_list(checked_model: Model) -> None:
    """New and removed replicas are listed by id, so a list with 2 before 1 is never made: no reduction."""
    config = Config(spare_brokers=2, min_isr=1, reassignments=1, crashes=0, fences=0, records=0)
    plain = PlainModel(checked_model, config)
    swap = (0, 2, 1)
    first = plain.initial()
    assert renamed(first, checked_model.state_ty, swap) == first
    after = {label.args: state for label, state in plain.successors(first) if label.action == "Reassign"}
    moved = after[frozenset({1, 2}),]
    assert moved.partition.replicas == (1, 2, 0)
    other = renamed(moved, checked_model.state_ty, swap)
    assert other.partition.replicas == (2, 1, 0)
    assert other not in after.values()
