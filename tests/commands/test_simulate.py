"""Random walks: chance, counts and the sketch on programs worked out by hand; findings on the model.

The native walks are compared with `Walks.again`, which follows single walks in Python, and those with the
plain model, so an error of the native part cannot hide behind itself.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from elrcheck.base.errors import ExitCode, UsageFault
from elrcheck.base.progress import Silent
from elrcheck.base.requests import Selection, SimulateRequest
from elrcheck.cli import cli
from elrcheck.commands.simulate import run_simulate
from elrcheck.console.shell import run
from elrcheck.declared.select import resolve
from elrcheck.explorer.kernel.walk_memory import GOLDEN, MIX_2
from elrcheck.explorer.search.splitmix import mix
from elrcheck.explorer.search.walk import BLOCK, FirstHit, WalkResult, Walks, estimate, relative_error
from elrcheck.lang.load import Model
from elrcheck.lang.lowering.lower import lower
from elrcheck.lang.lowering.program import Program
from elrcheck.lang.plain import PlainModel
from elrcheck.report.json_report import to_json
from elrcheck.report.plain_words import several
from elrcheck.results.exploration_report import SimulationReport
from elrcheck.stored_traces.tracefile import load_trace
from elrcheck.traces.behaviour import of_states
from elrcheck.traces.replay import replay
from support.following import refused_step
from support.places import SCHEMAS
from support.small_programs import counter, grid, naive_search, sliding_puzzle, tokens, wide

QUIET = Selection(scope="two-brokers-quiet", overrides=("fences=1",))
# Reassignments by code_4_1 break P-11 in the first step that starts one (docs/findings.md, F-20).
BROKEN = Selection("code_4_1", "two-brokers-quiet", ("reassignments=2", "fences=1"))

FEW = ("P-2", "P-11", "W-11")


def walked(program: Program, walks: int, depth: int, seed: int = 1, workers: int = 1) -> WalkResult:
    return Walks(program, seed, depth, workers=workers).run(walks)


def steady(result: WalkResult) -> dict[str, Any]:
    """What must not depend on the number of workers."""
    return asdict(replace(result, seconds=0.0))


# ---------------------------------------------------------------------------- chance


def test_the_generator_is_splitmix64() -> None:
    """The first numbers of the generator's published sequence for seed 0."""
    published = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    assert [mix((step + 1) * GOLDEN) for step in range(3)] == published


def test_each_step_takes_the_next_number_of_its_walks_sequence() -> None:
    """The least of the keys that the number gives the successors decides; each axis of the grid can be taken."""
    walks = Walks(grid(64, 3), 5, 40)
    for walk in range(5):
        base = mix(mix(5) ^ walk * GOLDEN)
        numbers = [mix(base + (step + 1) * GOLDEN) for step in range(40)]
        expected = [min(range(3), key=lambda axis, number=number: mix(number + axis * MIX_2)) for number in numbers]
        assert [_axis(a, b) for a, b in itertools.pairwise(walks.replayed(walk, 40))] == expected


def test_successors_are_drawn_evenly() -> None:
    """No axis of the grid is used up within 60 steps, so each step has three choices."""
    result = walked(grid(64, 3), 2000, 60)
    assert result.steps == 120_000 and result.deepest == 60
    assert all(abs(taken - 40_000) < 5 * (120_000 * 2 / 9) ** 0.5 for taken in result.taken)


def test_steps_of_a_walk_and_neighbouring_walks_are_unlike() -> None:
    """Of nine pairs of choices, in two steps of one walk or of two walks, each is as likely."""
    walks = Walks(grid(64, 3), 5, 40)
    paths = [[_axis(a, b) for a, b in itertools.pairwise(walks.replayed(w, 40))] for w in range(60)]
    along = Counter(pair for path in paths for pair in itertools.pairwise(path))
    across = Counter(pair for one, two in itertools.pairwise(paths) for pair in zip(one, two, strict=True))
    for pairs in (along, across):
        even = pairs.total() / 9
        assert len(pairs) == 9 and all(abs(n - even) < 5 * even**0.5 for n in pairs.values())


def _axis(before: tuple[int, ...], after: tuple[int, ...]) -> int:
    return next(i for i, (a, b) in enumerate(zip(before, after, strict=True)) if a != b)


@pytest.mark.parametrize("program", [sliding_puzzle(), wide(), tokens()], ids=["puzzle", "wide", "tokens"])
def test_any_number_of_workers_gives_the_same(program: Program) -> None:
    one = walked(program, BLOCK + 200, 25, seed=9)
    assert steady(walked(program, BLOCK + 200, 25, seed=9, workers=3)) == steady(one)
    other = walked(program, BLOCK + 200, 25, seed=10)
    assert steady(other) != steady(one) and other.steps == one.steps


@pytest.mark.slow
def test_the_choice_of_checks_does_not_change_the_walks(whole_model: Model) -> None:
    config = resolve(QUIET).config
    one, other = (Walks(lower(whole_model, config, fns).program, 6, 30) for fns in ((), whole_model.always))
    assert all(one.replayed(walk, 30) == other.replayed(walk, 30) for walk in range(20))
    assert one.run(1000).taken == other.run(1000).taken


# ---------------------------------------------------------------------------- counts by hand


def test_a_walk_ends_in_a_deadlock() -> None:
    """0 to 5 in five steps; the checks are hit on the way, first by walk 0."""
    result = walked(counter(), 10, 100)
    assert (result.begun, result.ended, result.steps, result.deepest) == (10, 10, 50, 5)
    assert (result.deadlocks, result.blocked) == (10, 0)
    assert (result.enabled, result.cut, result.taken) == ([50], [0], [50])
    assert result.first == {0: FirstHit(4, 0), 1: FirstHit(3, 0), 2: FirstHit(2, 0)}
    assert round(result.distinct) == 6


def test_a_walk_ends_where_every_step_leaves_the_budgets() -> None:
    result = walked(counter(bound=3), 10, 100)
    assert (result.steps, result.deepest, result.deadlocks, result.blocked) == (30, 3, 0, 10)
    assert (result.enabled, result.cut) == ([40], [10])


def test_a_number_without_room_ends_a_walk_and_is_named() -> None:
    result = walked(counter(room=4), 10, 100)
    assert (result.steps, result.overflow) == (40, {0: 10})


def test_a_walk_ends_after_its_depth() -> None:
    result = walked(counter(), 10, 3)
    assert (result.steps, result.deepest, result.deadlocks, result.ended) == (30, 3, 0, 10)
    assert 0 not in result.first


def test_native_walks_are_those_that_python_follows() -> None:
    """The steps exist, and the enabled instances of the visited states add up to the native count."""
    program, depth = sliding_puzzle(), 12
    walks = Walks(program, 3, depth)
    result = walks.run(70)
    paths = [walks.replayed(walk, depth) for walk in range(70)]
    steps = naive_search(program).steps
    assert all(after in steps[before] for path in paths for before, after in itertools.pairwise(path))
    assert sum(result.enabled) == sum(len(steps[state]) for path in paths for state in path[:-1])
    moved = Counter((state.index(0), after.index(0)) for path in paths for state, after in itertools.pairwise(path))
    assert {i.args: n for i, n in zip(program.instances, result.taken, strict=True) if n} == {
        (tile, hole): n for (hole, tile), n in moved.items()
    }
    least = min((step, walk) for walk, path in enumerate(paths) for step, state in enumerate(path) if state[5] == 0)
    assert result.first[2] == FirstHit(*least) == FirstHit(0, 0)
    steps_of_five = [
        (step, walk)
        for walk, path in enumerate(paths)
        for step, (before, after) in enumerate(itertools.pairwise(path), start=1)
        if before.index(5) != after.index(5)
    ]
    assert result.first[1] == FirstHit(*min(steps_of_five))


def test_a_walk_needs_a_depth_that_its_keys_can_hold() -> None:
    with pytest.raises(ValueError, match="steps"):
        Walks(counter(), 1, 1 << 21)


# ---------------------------------------------------------------------------- the sketch


@pytest.mark.parametrize("count", [0, 1, 500, 20_000, 60_000, 150_000])
def test_the_estimate_of_known_sets(count: int) -> None:
    """Registers filled from SHA-256 in Python; repeats change nothing."""
    registers = [0] * (1 << 14)
    for number in range(count):
        value = int.from_bytes(hashlib.sha256(b"%d" % number).digest()[:8], "big")
        rest = value & (1 << 50) - 1
        place = value >> 50
        registers[place] = max(registers[place], 51 - rest.bit_length())
    assert abs(estimate(registers) - count) <= 4 * relative_error(1 << 14) * count
    assert relative_error(1 << 14) == 1.04 / 128


def test_distinct_states_are_estimated() -> None:
    """35 arrangements of three tokens on seven places; and as many as the walks themselves visit."""
    assert round(walked(tokens(7, 3), 500, 100).distinct) == 35
    walks = Walks(grid(64, 3), 2, 50)
    result = walks.run(300)
    exact = len({state for walk in range(300) for state in walks.replayed(walk, 50)})
    assert abs(result.distinct - exact) < 4 * result.error < exact / 10


def test_the_estimate_of_a_scope_that_is_covered(whole_model: Model) -> None:
    """216 states, which the reference search counts too (test_explore)."""
    lowered = lower(whole_model, resolve(QUIET).config, ())
    result = Walks(lowered.program, 4, 200).run(4000)
    assert abs(result.distinct - 216) <= 4 * 216 * relative_error(1 << 14)


# ---------------------------------------------------------------------------- the model


@pytest.mark.slow
def test_every_step_is_one_of_the_plain_model(whole_model: Model) -> None:
    config = resolve(Selection(scope="three-brokers-tiny")).config
    lowered = lower(whole_model, config, ())
    walks = Walks(lowered.program, 11, 40)
    plain = PlainModel(whole_model, config)
    for walk in range(3):
        states = [lowered.decode(row) for row in walks.replayed(walk, 40)]
        labels = replay(whole_model, config, of_states(states)).followed.labels
        assert len(labels) == 40 and all(plain.within(state) for state in states)


@pytest.mark.slow
def test_every_state_of_every_walk_is_judged(whole_model: Model) -> None:
    """The first walk and step that break each property of the data, by judging all states in plain Python.

    A process that acts before its registration breaks all of them but P-5, which no walk here reaches.
    """
    config = resolve(Selection("code_4_3", "before-registration", ("crashes=2", "log_slots=1"))).config
    judged = [fn for fn in whole_model.always if fn.ident in ("P-1", "P-2", "P-5", "P-6", "P-8")]
    lowered = lower(whole_model, config, judged)
    walks, plain = Walks(lowered.program, 2, 40), PlainModel(whole_model, config)
    places: dict[str, list[tuple[int, int]]] = {}
    for walk in range(220):
        for step, row in enumerate(walks.replayed(walk, 40)):
            state = lowered.decode(row)
            for fn in judged:
                if not plain.holds(fn, state):
                    places.setdefault(fn.ident, []).append((step, walk))
    native = {lowered.program.checks[check].name: hit for check, hit in walks.run(220).first.items()}
    assert set(places) == {"P-1", "P-2", "P-6", "P-8"}
    assert native == {name: FirstHit(*min(hits)) for name, hits in places.items()}


def simulated(**fields: Any) -> SimulationReport:
    return run_simulate(SimulateRequest(**{"selection": BROKEN, "seed": 1, "depth": 30, **fields}), Silent())


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> SimulationReport:
    return simulated(walks=5000, run_dir=tmp_path_factory.mktemp("runs"))


def test_a_known_bug_is_found(broken: SimulationReport) -> None:
    by_id = {p.id: p for p in broken.properties}
    assert broken.verdict == "violated" and broken.exit_code is ExitCode.FINDING
    assert by_id["P-11"].steps == 1, "the shortest counterexample has one step"
    assert by_id["P-3"].steps is not None and by_id["P-3"].steps >= 2
    for one in broken.properties:
        if one.verdict == "violated":
            assert one.counterexample is not None and len(one.counterexample.steps) == one.steps
            assert one.counterexample.repro is not None
    assert by_id["P-4"].verdict == "inconclusive" and by_id["P-4"].steps is None


def test_its_walk_is_stored_as_a_trace(broken: SimulationReport) -> None:
    violated = next(p for p in broken.properties if p.id == "P-2")
    assert broken.run_dir is not None and violated.trace == "P-2.trace.json"
    loaded = load_trace(Path(broken.run_dir) / violated.trace)
    assert refused_step(loaded) is None
    assert len(loaded.behaviour.labels) == violated.steps


def test_the_report_is_that_of_one_worker(broken: SimulationReport) -> None:
    alone = simulated(walks=5000, workers=1, properties=FEW, run_dir=Path(str(broken.run_dir)))
    assert [(p.id, p.steps, p.walk) for p in alone.properties] == [
        (p.id, p.steps, p.walk) for p in broken.properties if p.id in FEW
    ]
    assert alone.actions == broken.actions
    assert alone.search.distinct_estimate == broken.search.distinct_estimate


def test_stop_at_first_ends_with_a_block(tmp_path: Path) -> None:
    report = simulated(walks=10 * BLOCK, stop_at_first=True, properties=FEW, run_dir=tmp_path)
    assert (report.search.walks, report.search.stopped_by) == (BLOCK, "--stop-at-first")


def test_nothing_seen_is_no_pass() -> None:
    report = simulated(selection=QUIET, walks=500, properties=FEW)
    assert (report.verdict, report.exit_code) == ("inconclusive", ExitCode.INCONCLUSIVE)
    assert {p.verdict for p in report.properties} == {"inconclusive", "reached"}
    assert report.run_dir is None
    assert report.search.states == report.search.steps + 500


def test_a_time_budget_alone_is_the_end() -> None:
    report = simulated(selection=QUIET, time_budget=0.2, properties=FEW)
    assert report.search.stopped_by == "--time-budget 0.2s" and report.search.walks > 0
    assert report.search.seconds < 5


def test_liveness_is_not_for_walks() -> None:
    with pytest.raises(UsageFault, match="liveness"):
        simulated(properties=("V-1",))


# ---------------------------------------------------------------------------- the report


def test_the_document_follows_its_schema(broken: SimulationReport) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((SCHEMAS / "elrcheck.simulation-1.schema.json").read_text(encoding="utf-8"))
    document = json.loads(to_json(broken))
    jsonschema.Draft202012Validator(schema).validate(document)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(schema).validate({**document, "verdict": "holds"})


def test_the_command(capsys: pytest.CaptureFixture[str], monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    scope = ("--variant", "code_4_1", "--scope", "two-brokers-quiet", "--set", "reassignments=2")
    code = run(cli, ["simulate", *scope, "-p", "P-11", "--walks", "2000", "--depth", "20"])
    printed = capsys.readouterr()
    assert code == ExitCode.FINDING
    assert "the walk itself; not a shortest trace" in printed.out
    seed = printed.out.split("seed      ")[1].split()[0]
    assert (tmp_path / ".elrcheck" / "runs").is_dir()
    code = run(
        cli,
        [
            "--no-progress",
            "simulate",
            *scope,
            "-p",
            "P-11",
            "--walks",
            "2000",
            "--depth",
            "20",
            "--seed",
            seed,
            "-f",
            "json",
        ],
    )
    again = capsys.readouterr()
    place = json.loads(again.out)["properties"][0]
    assert f"violated after {several(place['steps'], 'step')} of walk {place['walk']}" in printed.out
    assert (code, again.err) == (ExitCode.FINDING, "")


@pytest.mark.parametrize(
    ("argv", "word"),
    [
        (["--seed", "-1"], "usage-bad-value"),
        (["--depth", "0"], "usage-bad-value"),
        (["--walks", "0"], "usage-bad-value"),
        (["--scope", "nowhere"], "nowhere"),
        (["--variant", "kip"], "unknown-variant"),
        (["-p", "Q-1"], "unknown-property"),
        (["-p", "V-*"], "liveness"),
    ],
)
def test_mistakes_are_named(capsys: pytest.CaptureFixture[str], argv: list[str], word: str) -> None:
    assert run(cli, ["--no-progress", "simulate", *argv]) == ExitCode.DID_NOT_RUN
    printed = capsys.readouterr()
    assert word in printed.err and "Traceback" not in printed.err and printed.out == ""
