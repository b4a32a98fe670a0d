"""Exact counts: (generated, distinct, diameter) of a configuration is the same for every engine.

A changed number here is a changed protocol, and must be a reviewed change.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from elrcheck.base.requests import Selection
from elrcheck.catalogue.configured import find_variant
from elrcheck.declared.select import resolve
from elrcheck.explorer.search.compiled import Search, SearchSettings
from elrcheck.explorer.search.reference import search
from elrcheck.explorer.search.retrace import Retrace
from elrcheck.lang.load import Model
from elrcheck.lang.lowering.lower import lower
from elrcheck.model.config import Config
from elrcheck.model.variants import VARIANTS as ALL_VARIANTS
from elrcheck.tla_export.spec import write_spec
from elrcheck.tla_export.tlc_process import TlcOptions, find_tools, run_tlc

# (variant, scope): (generated, distinct, diameter)
SMALL = {("kip_full", "two-brokers"): (218433, 21105, 26), ("kip_full", "three-brokers-tiny"): (131999, 7948, 21)}
# Scopes in which every safety property of kip_full holds, each complete; seconds each.
HOLDS = {"recovery-two-brokers": (3073207, 245450, 36), "late-fetches": (6991236, 358068, 23)}
# The same; up to a minute and a gigabyte each.
HOLDS_LARGE = {
    "min-isr-3-two-crashes": (143434138, 7721863, 38),
    "four-brokers-min-isr-3": (277420275, 13922197, 36),
    "four-brokers-reassign": (348708942, 9938597, 30),
    "recovery": (83009064, 4863255, 44),
    "min-isr-change": (33599311, 1517255, 27),
    "three-brokers": (220945500, 13453376, 36),
}
# Scopes of operators and disks, some with budgets lower than the scope's: TLC has its turns at those. It counted
# unclean-change under code_3_9 whole once (346 seconds of a processor), and has not counted the other whole ones.
OPERATORS_AND_DISKS = {
    ("code_3_9", "unclean-change", ()): (3184994, 269144, 36),
    ("code_4_3", "unclean-change", ()): (6903874, 570792, 36),
    ("code_4_3", "returning-directories", ()): (17511994, 1541622, 40),
    ("code_4_3", "live-unregistration", ()): (44904330, 3369346, 40),
    ("code_4_3", "unclean-change", ("kills=1",)): (512157, 40731, 26),
    ("code_4_3", "returning-directories", ("kills=0",)): (665933, 66352, 30),
    ("code_4_3", "live-unregistration", ("records=1", "log_slots=1", "fences=0")): (898845, 77129, 30),
}
# unclean.recovery.strategy in scope recovery-two-brokers: counts, and what is given up for a leader.
STRATEGIES = {
    "NONE": ((2610685, 209387, 32), {}),
    "BALANCED": (HOLDS["recovery-two-brokers"], {}),
    "AGGRESSIVE": (
        (5215976, 424931, 34),
        {"P-1": 15, "P-2": 15, "P-6": 16, "P-8": 19, "P-26": 19, "P-27": 23, "P-32": 26},
    ),
}
# Each variant with a spurious removal from the ISR, which has every state without one. Plain Python and TLC
# take seconds for each, so one without stands for all each time.
SAMPLED = (
    pytest.param("code_4_3", 0),
    *(pytest.param(variant.name, 1, marks=pytest.mark.slow) for variant in ALL_VARIANTS),
)


def small(variant: str, shrinks: int) -> Config:
    sizes = {"broker_count": 2, "records": 1, "log_slots": 1, "acks_one": 0, "fences": 0, "shrinks": shrinks}
    return dataclasses.replace(Config(**find_variant(variant).knobs), **sizes)


def compiled(model: Model, config: Config, workers: int = 1) -> tuple[tuple[int, int, int], dict[str, int]]:
    lowered = lower(model, config)
    run = Search(lowered.program, SearchSettings(workers=workers))
    result = run.run(None, "complete")
    assert result.complete, result.reason
    first = {lowered.program.checks[c].name: depth for c, depth in result.first.items()}
    return (result.generated, result.distinct, result.diameter), first


@pytest.mark.parametrize(
    "pair", [("kip_full", "two-brokers"), pytest.param(("kip_full", "three-brokers-tiny"), marks=pytest.mark.slow)]
)
def test_known_counts(checked_model: Model, pair: tuple[str, str]) -> None:
    config = resolve(Selection(*pair)).config
    assert compiled(checked_model, config)[0] == compiled(checked_model, config, workers=2)[0] == SMALL[pair]


def broken(first: dict[str, int]) -> dict[str, int]:
    """Of the depths at which something was first met, those of violated safety properties."""
    return {ident: depth for ident, depth in first.items() if ident.startswith("P-")}


@pytest.mark.slow
@pytest.mark.parametrize("scope", HOLDS)
def test_kip_full_holds(checked_model: Model, scope: str) -> None:
    counts, first = compiled(checked_model, resolve(Selection("kip_full", scope)).config, workers=2)
    assert (counts, broken(first)) == (HOLDS[scope], {})


@pytest.mark.slow
@pytest.mark.parametrize("scope", HOLDS_LARGE)
def test_kip_full_holds_in_large_scopes(checked_model: Model, scope: str) -> None:
    counts, first = compiled(checked_model, resolve(Selection("kip_full", scope)).config, workers=2)
    assert (counts, broken(first)) == (HOLDS_LARGE[scope], {})


@pytest.mark.slow
@pytest.mark.parametrize("selection", OPERATORS_AND_DISKS)
def test_scopes_of_operators_and_disks(checked_model: Model, selection: tuple[str, str, tuple[str, ...]]) -> None:
    config = resolve(Selection(*selection)).config
    assert compiled(checked_model, config, workers=2)[0] == OPERATORS_AND_DISKS[selection]


@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_recovery_strategies(checked_model: Model, strategy: str) -> None:
    """Balanced recovers without loss while fewer than min ISR replicas lost data; Aggressive does not."""
    chosen = Selection("kip_full", "recovery-two-brokers", (f"unclean_recovery_strategy={strategy}",))
    counts, first = compiled(checked_model, resolve(chosen).config, workers=2)
    assert (counts, broken(first)) == STRATEGIES[strategy]


@pytest.mark.parametrize(("variant", "shrinks"), SAMPLED)
def test_reference_equals_compiled(checked_model: Model, variant: str, shrinks: int) -> None:
    """Counts and the depth at which every property is first hit, for each variant."""
    config = small(variant, shrinks)
    expected = search(checked_model, config)
    counts, first = compiled(checked_model, config)
    assert counts == (expected.generated, expected.distinct, expected.diameter)
    assert first == expected.first


def test_compiled_traces_are_shortest_and_replay(checked_model: Model) -> None:
    config = resolve(Selection("legacy", "two-brokers")).config
    lowered = lower(checked_model, config)
    run = Search(lowered.program, SearchSettings(workers=2))
    result = run.run(None, "complete")
    traces = Retrace(run).traces(list(result.first))
    assert result.first, "legacy breaks something in this scope"
    for check, rows in traces.items():
        assert len(rows) == result.first[check] + 1
        states = [lowered.decode(row) for row in rows]
        assert states[0] == checked_model.init.source(config)
        assert all(lowered.encode(state) == row for state, row in zip(states, rows, strict=True))
    again = Search(lowered.program)
    again.run(None, "complete")
    assert Retrace(again).traces(list(again.first)) == traces


def tlc_counts(model: Model, config: Config, folder: Path, timeout: float) -> tuple[int | None, ...]:
    write_spec(model, config, folder, "Counted")
    cfg = folder / "Counted.cfg"
    cfg.write_text(cfg.read_text().split("INVARIANTS")[0])
    options = TlcOptions(heap="2g", deadlock=False, timeout=timeout, brief=timeout < 300)
    run = run_tlc(find_tools(), folder / "Counted.tla", cfg, options)
    assert run.exit_code == 0, run.output_tail
    return run.output.counts


@pytest.mark.slow
@pytest.mark.tlc
@pytest.mark.parametrize(("variant", "shrinks"), SAMPLED)
def test_tlc_counts_the_same(checked_model: Model, variant: str, shrinks: int, tmp_path: Path) -> None:
    config = small(variant, shrinks)
    assert tlc_counts(checked_model, config, tmp_path, 120) == compiled(checked_model, config)[0]


@pytest.mark.tlc
@pytest.mark.slow
def test_tlc_counts_three_brokers(checked_model: Model, tmp_path: Path) -> None:
    config = resolve(Selection("kip_full", "three-brokers-tiny")).config
    assert tlc_counts(checked_model, config, tmp_path, 300) == SMALL["kip_full", "three-brokers-tiny"]


@pytest.mark.tlc
@pytest.mark.slow
@pytest.mark.parametrize("selection", [one for one in OPERATORS_AND_DISKS if one[2]])
def test_tlc_counts_operators_and_disks(
    checked_model: Model, selection: tuple[str, str, tuple[str, ...]], tmp_path: Path
) -> None:
    config = resolve(Selection(*selection)).config
    assert tlc_counts(checked_model, config, tmp_path, 900) == OPERATORS_AND_DISKS[selection]


@pytest.mark.tlc
@pytest.mark.slow
def test_tlc_counts_large(checked_model: Model, tmp_path: Path) -> None:
    """Above 10^5 distinct states; the reference search counts smaller scopes."""
    config = resolve(Selection("code_4_1", "three-brokers-two-records")).config
    counts = compiled(checked_model, config, workers=2)[0]
    assert counts[1] > 100_000
    assert tlc_counts(checked_model, config, tmp_path, 900) == counts
