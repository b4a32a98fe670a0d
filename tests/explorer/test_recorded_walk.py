"""Recorded walks: what they meet is reachable, every step counts, and only the rules decide the digest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from elrcheck.base.requests import Limits, Selection
from elrcheck.declared.select import resolve
from elrcheck.explorer.search.recorded_walk import WalkDigest, walked
from elrcheck.explorer.search.vector import VectorSearch
from elrcheck.invariants.modules import load_whole_model
from elrcheck.kafka.mutation.rule_proof import partition_mutants
from elrcheck.lang.changed.altered import planted
from elrcheck.lang.lowering.lower import lower
from elrcheck.lang.lowering.lowered import Lowered

SMALL = Selection("kip_full", "two-brokers-quiet", ("fences=1", "clean_stops=1"))


@pytest.fixture(scope="module")
def lowered() -> Lowered:
    return lower(load_whole_model(), resolve(SMALL).config, ())


@pytest.fixture(scope="module")
def met(lowered: Lowered) -> WalkDigest:
    return walked(lowered.program, seed=1, walks=100, steps=30)


@pytest.mark.slow
def test_every_state_is_one_that_a_search_finds(lowered: Lowered, met: WalkDigest) -> None:
    search = VectorSearch(lowered.program, limits=Limits(max_states=100_000))
    assert search.run(None, "complete").complete
    reached = {bytes(row) for level in search.levels for row in level}
    rows = search.layout.pack_rows(list(zip(*(column.tolist() for column in met.columns), strict=True)))
    assert met.distinct == len(rows) == len({bytes(row) for row in rows}) > 100
    assert {bytes(row) for row in rows} <= reached


def test_every_possible_step_of_a_walk_counts(lowered: Lowered) -> None:
    """In the first step all walks are in the initial state."""
    search = VectorSearch(lowered.program, limits=Limits())
    first = search.successors(search.layout.pack_rows(lowered.program.init))
    assert walked(lowered.program, seed=1, walks=7, steps=1).generated == 7 * len(first.rows)
    assert walked(lowered.program, seed=1, walks=7, steps=1).distinct <= 1 + len(first.rows)


@pytest.mark.slow
def test_the_digest_depends_on_the_rules_alone(lowered: Lowered, met: WalkDigest) -> None:
    assert walked(lowered.program, seed=1, walks=100, steps=30).digest == met.digest
    backwards = replace(lowered.program, instances=lowered.program.instances[::-1])
    again = walked(backwards, seed=1, walks=100, steps=30)
    assert (again.digest, again.generated, again.distinct) == (met.digest, met.generated, met.distinct)
    # The properties that a program carries are no part of its rules.
    judged = lower(load_whole_model(), lowered.config)
    assert walked(judged.program, seed=1, walks=100, steps=30).digest == met.digest
    assert walked(lowered.program, seed=2, walks=100, steps=30).digest != met.digest


@pytest.mark.slow
def test_a_changed_rule_has_another_digest(lowered: Lowered, met: WalkDigest) -> None:
    """One that allows other steps, and one after which a step leads elsewhere."""
    mutants = partition_mutants(load_whole_model())
    for function, part in (("Fetch", "view.leader == leader -> "), ("fenced_partition", "else p -> p")):
        names = [one for one in mutants.of(function) if part in one.name]
        changes = [changed for one in names if (changed := mutants.make(one)) is not None]
        digests = set()
        for changed in changes:
            with planted(changed.original, changed.plain):
                program = lower(changed.model, lowered.config, ()).program
            digests.add(walked(program, seed=1, walks=100, steps=30).digest)
        assert digests - {met.digest}, function


def test_walks_end_in_a_deadlock(lowered: Lowered) -> None:
    """Nothing can happen: the walks stay where they are."""
    still = replace(lowered.program, instances=())
    walks = walked(still, seed=1, walks=5, steps=10)
    assert (walks.generated, walks.distinct, walks.steps, walks.digest) == (0, 1, 0, "0" * 16)
    assert [column.tolist() for column in walks.columns] == [[value] for value in lowered.program.init[0]]
    assert all(column.dtype == np.int32 for column in walks.columns)
