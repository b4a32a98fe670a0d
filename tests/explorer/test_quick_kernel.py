"""The quick kernel finds what the good one finds, and the good one takes its place in the middle of a search."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from elrcheck.base.requests import Limits, Selection
from elrcheck.declared.select import resolve
from elrcheck.explorer.kernel import expand_ir, kernel
from elrcheck.explorer.kernel.emit import Lanes
from elrcheck.explorer.kernel.expand_ir import kernel_lanes
from elrcheck.explorer.kernel.kept_program import kept_kernel, kept_lowering
from elrcheck.explorer.kernel.kernel import Kernel, build, build_quick
from elrcheck.explorer.kernel.native_code import KernelCache
from elrcheck.explorer.kernel.object_code import ALONE
from elrcheck.explorer.kernel.quick import upgrade
from elrcheck.explorer.search.compiled import Search, SearchSettings
from elrcheck.explorer.search.result import SearchResult
from elrcheck.invariants.modules import load_whole_model
from elrcheck.lang.lowering.lower import lower
from elrcheck.lang.lowering.program import Program
from support.naive_counts import PROGRAMS, compare, plain
from support.searches import with_traces
from support.small_programs import grid, tokens, wide

WIDTHS = [Lanes(8, 64), Lanes(8, 32), Lanes(16, 32), Lanes(16, 16), Lanes(32, 8)]


@pytest.fixture(autouse=True)
def no_program_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The good kernel of a small program compiles as quickly as a quick one, which it does not get then."""
    monkeypatch.setattr(expand_ir, "SMALL", 0)


def test_a_small_program_has_the_good_kernel_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    program = grid(12, 3)
    native = build_quick(program, None)
    assert native.origin == "kernel compiled"
    compare(program, searched(program, native))


def searched(program: Program, native: Kernel, depth: int | None = None, workers: int = 1) -> SearchResult:
    run = Search(program, SearchSettings(Limits(max_depth=depth), workers), native=native)
    return with_traces(run, run.run(None, "complete"))


def quick(program: Program, fingerprint: int = 0) -> Kernel:
    native = build_quick(program, None, fingerprint)
    assert native.origin == "quick kernel"
    return native


def wait(native: Kernel) -> None:
    """Use a kernel until the good one has taken its place."""
    end = time.monotonic() + 60
    while native.upgrade is not None and not native.upgrade.done:
        assert time.monotonic() < end
        native.used(upgrade.PATIENCE + upgrade.PATIENCE_ALONE)
        time.sleep(0.01)
    assert native.origin == "kernel compiled during the search"


@pytest.mark.slow
@pytest.mark.parametrize("lanes", WIDTHS, ids=lambda lanes: f"{lanes.count}x{lanes.bits}")
@pytest.mark.parametrize("name", PROGRAMS)
def test_counts_in_lanes_of_every_width(name: str, lanes: Lanes, monkeypatch: pytest.MonkeyPatch) -> None:
    program = PROGRAMS[name]()
    if kernel_lanes(program).bits > lanes.bits:
        pytest.skip("its values need more bits")
    monkeypatch.setattr(kernel, "kernel_lanes", lambda _: lanes)
    result = searched(program, quick(program))
    compare(program, result)
    assert plain(result) == plain(searched(program, build(program)))


@pytest.mark.parametrize(
    ("scope", "variant"),
    [
        ("two-brokers", "kip_full"),
        pytest.param("three-brokers-tiny", "kip_full", marks=pytest.mark.slow),
        pytest.param("late-fetches", "kip_full", marks=pytest.mark.slow),
        pytest.param("four-brokers-reassign", "kip_full", marks=pytest.mark.slow),
        pytest.param("min-isr-change", "legacy", marks=pytest.mark.slow),
    ],
)
def test_counts_hits_and_traces_of_the_model(scope: str, variant: str) -> None:
    model = load_whole_model()
    program = lower(model, resolve(Selection(variant, scope)).config, model.checks).program
    expected = searched(program, build(program), 9)
    assert expected.first
    assert plain(searched(program, quick(program), 9, workers=2)) == plain(expected)


def test_a_program_with_wide_numbers_has_no_quick_kernel() -> None:
    program = wide(bits=40)
    native = build_quick(program, None)
    assert native.origin == "kernel compiled"
    compare(program, searched(program, native))


@pytest.mark.parametrize("alone", [False, True])
def test_the_good_kernel_takes_over(alone: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ALONE, "1" if alone else "")
    program = grid(12, 3)
    native = quick(program)
    before = dict(native.functions)
    native.used(upgrade.PATIENCE / 2)
    assert native.functions == before
    wait(native)
    assert {name for name in before if native.functions[name] is before[name]} == set()
    compare(program, searched(program, native))


def test_a_search_of_both_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process has no patience and no helpers, so the kernel changes after the first native call."""
    monkeypatch.setenv(ALONE, "1")
    monkeypatch.setattr(upgrade, "PATIENCE_ALONE", 0.0)
    monkeypatch.setattr(kernel, "NODE_SECONDS", 0.0)
    program = grid(12, 3)
    native = quick(program)
    result = searched(program, native)
    assert native.origin == "kernel compiled during the search"
    compare(program, result)


def test_helpers_that_fail_leave_the_work_to_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    program = tokens()
    native = quick(program)
    wait(native)
    compare(program, searched(program, native))


def test_helpers_end_with_the_kernel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asleep = tmp_path / "asleep"
    asleep.write_text("#!/bin/sh\nexec sleep 60\n")
    asleep.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(asleep))
    native = quick(tokens())
    assert native.upgrade is not None
    helpers = native.upgrade._helpers
    native.used(upgrade.PATIENCE + 1)
    end = time.monotonic() + 60
    while not helpers:
        assert time.monotonic() < end
        time.sleep(0.01)
    assert [helper.poll() for helper in helpers] == [None]
    del native
    assert [helper.wait(10) for helper in helpers] == [-9]


@pytest.mark.slow
def test_each_tier_has_its_own_place_in_the_cache(own_store: Path) -> None:
    model, cache = load_whole_model(), KernelCache()
    lowered = kept_lowering(model, resolve(Selection(scope="two-brokers")).config, ())

    def opened() -> tuple[bool, Kernel]:
        native = kept_kernel(lowered, cache)
        return native.cached, native

    assert opened()[0] is False
    cached, again = opened()
    assert (cached, again.origin) == (True, "quick kernel")
    again.used(upgrade.PATIENCE)
    assert again.upgrade is not None and not again.upgrade._begun, "compiling takes longer than the search so far"
    again.used(60.0)
    later = opened()[1]
    assert later.upgrade is not None
    later.used(0.0)
    end = time.monotonic() + 60
    while not later.upgrade.done:
        assert time.monotonic() < end, "an earlier search was long, so this one compiles the good kernel at once"
        later.used(0.0)
        time.sleep(0.01)
    assert opened()[1].origin == "kernel from the cache"
