"""The four readings agree: plain Python against the compiled kernel, Z3 and TLC, state by state.

The states are reachable ones and perturbed ones, so that actions are tried outside the behaviours
that a scope happens to have. The `slow` variants use thousands of states for each action.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import z3
from sampling import perturbed, reachable

from elrcheck.explorer.search.compiled import Search
from elrcheck.explorer.search.result import Limits
from elrcheck.invariants.modules import load_checked_model, load_proof_model
from elrcheck.invariants.proof.transition import Transitions
from elrcheck.lang.load import Model
from elrcheck.lang.lowering.lower import Lowered, lower
from elrcheck.lang.plain import PlainModel
from elrcheck.lang.runtime import NotEnabled
from elrcheck.model.config import Config, MinIsrPropagation, Propagation
from elrcheck.tla_export.reading.values import show_state
from elrcheck.tla_export.spec import spec_text
from elrcheck.tla_export.tlc_process import TlcOptions, find_tools, run_tlc

CONFIG = Config(broker_count=3, log_slots=2, records=2, clean_stops=1)
# Actions that need more than the default configuration: what else they need.
FEATURES: dict[str, dict[str, Any]] = {
    "StartControlledShutdown": {"shutdowns": 1},
    "GrantShutdown": {"shutdowns": 1},
    "Unregister": {"unregistrations": 1},
    "ApplyOlderRecord": {"metadata": Propagation.LOG},
    "ApplyMinIsr": {"min_isr_propagation": MinIsrPropagation.LOG, "min_isr_changes": 1},
    "ElectPreferred": {"elections": 1},
    "ElectUnclean": {"unclean_elections": 1},
    "DesignateLeader": {"unclean_elections": 1},
    "ElectUncleanPeriodically": {"unclean_leader_election_enable": True},
    "Reassign": {"reassignments": 1},
    "CancelReassignment": {"reassignments": 1},
    "ChangeMinIsr": {"min_isr_changes": 1},
    "ChangeBrokerMinIsr": {"min_isr_changes": 1},
    "ChangeFeature": {"feature_changes": 1},
    "AssignDirectories": {"directory_changes": 1},
    "StartRecovery": {},
    "AskForLongestLog": {"unclean_elections": 1},
    "SendLogInfo": {},
    "AcceptLogInfo": {},
    "RecoveryTimeout": {},
    "FinishRecovery": {},
    "ControllerFailover": {"failovers": 1},
    "Kill": {"kills": 1},
    "CopyFromShadow": {"shadow_isr": True},
    "EndSynchronisation": {"shadow_isr": True},
    "SendLateFetch": {"late_fetches": 1},
    "ReadForLateFetch": {"late_fetches": 1},
    "LateFetchReturns": {"late_fetches": 1},
    "LoseLateFetch": {"late_fetches": 1},
}


@pytest.fixture(scope="module")
def model() -> Model:
    return load_checked_model()


@pytest.fixture(scope="module")
def lowered(model: Model) -> Lowered:
    return lower(model, CONFIG)


def sample(model: Model, lowered: Lowered, count: int) -> list[Any]:
    states = reachable(PlainModel(model, CONFIG), count // 2, seed=7)
    return states + perturbed(lowered, states, seed=8)


def fits(lowered: Lowered, state: Any) -> bool:
    try:
        lowered.encode(state)
    except ValueError:
        return False
    return True


def compare_kernel(model: Model, lowered: Lowered, count: int) -> Counter[str]:
    """Successors of every state, as multisets; returns how often each action fired."""
    plain = PlainModel(model, CONFIG)
    run = Search(lowered.program, workers=1, cache=None, limits=Limits())
    fired: Counter[str] = Counter()
    for state in sample(model, lowered, count):
        successors = run.successors(run.layout.pack_rows([lowered.encode(state)]))
        made = Counter(
            (lowered.program.instances[int(instance)].action, lowered.decode(run.layout.unpack(row)))
            for instance, row in zip(successors.instances, successors.rows, strict=True)
        )
        expected: Counter[tuple[str, Any]] = Counter()
        for label, after in plain.successors(state):
            if plain.within(after) and fits(lowered, after):
                expected[label.action, after] += 1
                fired[label.action] += 1
        assert made == expected
    return fired


def test_kernel_agrees(model: Model, lowered: Lowered) -> None:
    fired = compare_kernel(model, lowered, 400)
    missing = {fn.name for fn in model.actions} - set(fired)
    assert missing <= set(FEATURES), "every action of the default configuration fired"


@pytest.mark.slow
def test_kernel_agrees_on_thousands(model: Model, lowered: Lowered) -> None:
    fired = compare_kernel(model, lowered, 12000)
    assert min(fired.values()) >= 1000


def compare_z3(count: int) -> Counter[str]:
    """Every action instance, evaluated by the solver on concrete states."""
    model = load_proof_model()
    lowered = lower(model, CONFIG, ())
    transitions = Transitions(model, CONFIG)
    plain = PlainModel(model, CONFIG)
    sources = {fn.name: fn.source for fn in model.actions}
    checks = {fn.name: transitions.holds(fn) for fn in (*model.always, *model.lemmas) if not fn.is_step}
    fired: Counter[str] = Counter()
    for state in sample(model, lowered, count):
        solver = z3.Solver()
        solver.add(transitions.exactly(state), transitions.type_invariant)
        assert solver.check() == z3.sat, "the state satisfies the type invariant"
        solved = solver.model()
        for instance in transitions.instances:
            enabled = z3.is_true(solved.eval(instance.guard, model_completion=True))
            try:
                after = sources[instance.action](CONFIG, state, *instance.args)
            except NotEnabled:
                assert not enabled, (instance.action, instance.args)
                continue
            assert enabled, (instance.action, instance.args)
            assert transitions.read(solved, instance.after) == after, (instance.action, instance.args)
            fired[instance.action] += 1
        for fn in (*model.always, *model.lemmas):
            if not fn.is_step:
                value = z3.is_true(solved.eval(checks[fn.name], model_completion=True))
                try:
                    expected = plain.holds(fn, state)
                except IndexError:  # a watermark beyond its log: only a perturbed state has that
                    continue
                assert value == expected, fn.name
    return fired


def test_z3_agrees() -> None:
    assert len(compare_z3(60)) >= 12


@pytest.mark.slow
def test_z3_agrees_on_thousands() -> None:
    assert min(compare_z3(2000).values()) >= 100


def compare_tlc(model: Model, lowered: Lowered, folder: Path, count: int) -> None:
    """One step of TLC from each sampled state: the same number of steps and of distinct successors."""
    plain = PlainModel(model, CONFIG)
    states = sample(model, lowered, count)
    spec = spec_text(model, CONFIG, "Sampled")
    (folder / "Sampled.tla").write_text(spec.tla)
    names = list(model.state_fields)
    rows = []
    for state in states:
        shown = show_state(model.state_ty, state)
        rows.append("[" + ", ".join(f"{n} |-> {shown[n]}" for n in names) + "]")
    lines = [
        "---- MODULE OneStep ----",
        "EXTENDS Sampled, TLC",
        "VARIABLES from, moved",
        "Samples == <<",
        ",\n".join(rows),
        ">>",
        f"OneInit == from \\in 1..{len(states)} /\\ moved = FALSE",
        *(f"    /\\ {n} = Samples[from].{n}" for n in names),
        "OneNext == moved = FALSE /\\ moved' = TRUE /\\ from' = from /\\ Next",
        "====",
    ]
    (folder / "OneStep.tla").write_text("\n".join(lines) + "\n")
    (folder / "OneStep.cfg").write_text(spec.constants + "INIT OneInit\nNEXT OneNext\n")
    options = TlcOptions(workers=2, heap="3g", deadlock=False, timeout=600)
    run = run_tlc(find_tools(), folder / "OneStep.tla", folder / "OneStep.cfg", options)
    assert run.exit_code == 0, run.output_tail
    steps = [[after for _, after in plain.successors(state)] for state in states]
    assert run.generated == len(states) + sum(len(s) for s in steps)
    assert run.distinct == len(states) + sum(len(set(s)) for s in steps)


@pytest.mark.tlc
def test_tlc_agrees(model: Model, lowered: Lowered, tmp_path: Path) -> None:
    compare_tlc(model, lowered, tmp_path, 100)


@pytest.mark.tlc
@pytest.mark.slow
def test_tlc_agrees_on_thousands(model: Model, lowered: Lowered, tmp_path: Path) -> None:
    compare_tlc(model, lowered, tmp_path, 3000)
