"""The witness module: what is written, and what TLC says of right and wrong traces."""

from __future__ import annotations

import enum
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated

import pytest

from elrcheck.base.errors import EnvironmentFault, UsageFault
from elrcheck.lang.runtime import record, state
from elrcheck.lang.types import SeqMark, type_of
from elrcheck.model.replicas import Replica, RSet, Vec
from elrcheck.tla_export.reading.values import read_state, show_call
from elrcheck.tla_export.tlc_process import TlcTools, WitnessVerdict, check_witness
from elrcheck.tla_export.witness import Witness, WitnessProperty, constants_part, write_witness
from support.edits import replaced

SPEC = r"""---- MODULE Tiny ----
EXTENDS Integers, Sequences
CONSTANTS N, None
VARIABLES partition, log, mode
Brokers == 0..(N - 1)
Init ==
  /\ partition = [isr |-> Brokers, leader |-> 0, leader_epoch |-> 0]
  /\ log = [b \in Brokers |-> <<>>]
  /\ mode = "STEADY"
Write(b, x) ==
  /\ partition.leader = b
  /\ Len(log[b]) < 2
  /\ log' = [log EXCEPT ![b] = Append(@, x)]
  /\ UNCHANGED <<partition, mode>>
Fence(b) ==
  /\ b \in partition.isr
  /\ mode = "STEADY"
  /\ partition' = [isr |-> partition.isr \ {b},
                   leader |-> IF partition.leader = b THEN None ELSE partition.leader,
                   leader_epoch |-> partition.leader_epoch + 1]
  /\ mode' = "MOVING"
  /\ UNCHANGED log
Elect(b, clean) ==
  /\ partition.leader = None
  /\ clean => b \in partition.isr
  /\ partition' = [partition EXCEPT !.leader = b,
                                    !.leader_epoch = IF clean THEN @ + 1 ELSE 0]
  /\ mode' = "STEADY"
  /\ UNCHANGED log
Next ==
  \/ \E b \in Brokers : \E x \in {5, -5} : Write(b, x)
  \/ \E b \in Brokers : Fence(b)
  \/ \E b \in Brokers : \E clean \in BOOLEAN : Elect(b, clean)
HasLeader == partition.leader # None
FullIsr == partition.isr = Brokers
EpochMonotonic == partition'.leader_epoch >= partition.leader_epoch
LogGrows == \A b \in Brokers : Len(log'[b]) >= Len(log[b])
====
"""

CFG = r"""
\* a VIEW must not get into a witness
CONSTANTS
    N = 2 (* two
    brokers *)
    None = None
INIT Init NEXT Next
INVARIANT FullIsr
VIEW Whatever
"""


class Mode(enum.Enum):
    STEADY = 0
    MOVING = 1


@record
class Partition:
    isr: RSet
    leader: Replica | None
    leader_epoch: int


@state
class State:
    partition: Partition
    log: Vec[Annotated[tuple[int, ...], SeqMark(2)]]
    mode: Mode


STATE = type_of(State)
S1 = State(Partition(frozenset({0, 1}), 0, 0), ((), ()), Mode.STEADY)
S2 = replace(S1, log=((-5,), ()))
S3 = replace(S2, partition=Partition(frozenset({1}), None, 1), mode=Mode.MOVING)
S4 = replace(S3, partition=Partition(frozenset({1}), 0, 0), mode=Mode.STEADY)
TRACE = (S1, S2, S3, S4)
ACTIONS = (
    show_call("Write", (0, -5), (type_of(int), type_of(int))),
    show_call("Fence", (0,), (type_of(int),)),
    show_call("Elect", (0, False), (type_of(int), type_of(bool))),
)


def write(
    folder: Path,
    states: Sequence[State] = TRACE,
    actions: Sequence[str] = ACTIONS,
    properties: Sequence[WitnessProperty] = (),
    **options: object,
) -> Witness:
    (folder / "Tiny.tla").write_text(SPEC)
    return write_witness(
        folder,
        "P-21 cex",
        spec_module="Tiny",
        variables=STATE.fields,
        states=states,
        actions=actions,
        properties=properties,
        constants=CFG,
        **options,  # type: ignore[arg-type]
    )


# ----------------------------------------------------------------------------------- the text


def test_files_names_and_what_is_left_out(tmp_path: Path) -> None:
    module = write(tmp_path, properties=[WitnessProperty("FullIsr"), WitnessProperty("EpochMonotonic", "step")])
    assert module.tla == tmp_path / "P_21_cex.tla" and module.cfg == tmp_path / "P_21_cex.cfg"
    assert module.added == ("cexPos", "cexBad")
    assert module.invariants == {"Cex_FullIsr": "FullIsr", "Cex_EpochMonotonic": "EpochMonotonic"}
    cfg = module.cfg.read_text()
    assert " ".join(cfg.split()) == (
        "CONSTANTS N = 2 None = None INIT CexInit NEXT CexNext INVARIANT Cex_FullIsr INVARIANT Cex_EpochMonotonic"
    )
    text = module.tla.read_text()
    assert text.startswith("---- MODULE P_21_cex ----\n") and text.endswith("\n====\n")
    assert "/\\ cexBad' = (cexPos + 1 = 4 /\\ ~EpochMonotonic)" in text
    assert "cexPos = 3 -> Elect(0, FALSE)" in text
    assert sorted(p.name for p in tmp_path.iterdir()) == ["P_21_cex.cfg", "P_21_cex.tla", "Tiny.tla"]


def test_own_names_avoid_those_of_the_specification(tmp_path: Path) -> None:
    witness = write_witness(
        tmp_path,
        "W",
        spec_module="Tiny",
        variables={"cexPos": type_of(int)},
        states=[SimpleNamespace(cexPos=1), SimpleNamespace(cexPos=2)],
        actions=["A"],
        properties=[WitnessProperty("P", "step"), WitnessProperty("Q", "step")],
        constants="",
        taken=["Cex2Trace"],
    )
    assert witness.added == ("cex3Pos", "cex3Bad", "cex3Bad2")


def test_constants_of_any_configuration() -> None:
    assert constants_part('INIT I CONSTANT a = 1 NEXT N\nCONSTANTS\n  b = {x, "INIT"}\n\nVIEW v') == [
        "CONSTANT a = 1",
        "CONSTANTS",
        '  b = {x, "INIT"}',
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"states": []}, "at least one state"),
        ({"actions": ACTIONS[:2]}, "4 states need 3 steps, got 2"),
        ({"name": "Tiny"}, "the name of the module that it extends"),
        ({"properties": [WitnessProperty("P-1")]}, "not a TLA+ identifier: 'P-1'"),
        ({"variables": {name: type_of(int) for name in STATE.fields}}, "expected an integer"),
    ],
)
def test_mistakes_are_refused_before_anything_is_written(
    tmp_path: Path, change: dict[str, object], message: str
) -> None:
    arguments: dict[str, object] = {
        "name": "W",
        "spec_module": "Tiny",
        "variables": STATE.fields,
        "states": TRACE,
        "actions": ACTIONS,
        "properties": [],
        "constants": CFG,
    }
    with pytest.raises(UsageFault, match=re.escape(message)):
        write_witness(tmp_path, **(arguments | change))  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_a_failing_write_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.fsync
    calls = []

    def full_disk(handle: int) -> None:
        calls.append(handle)
        if len(calls) == 2:
            raise OSError(28, "No space left on device")
        real(handle)

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(EnvironmentFault, match="No space left"):
        write(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["Tiny.tla"]


# ---------------------------------------------------------------------------------- with TLC


def verdict(tools: TlcTools, witness: Witness) -> WitnessVerdict:
    checked = check_witness(tools, witness)
    assert checked.verdict != "error", checked.run.output_tail
    return checked


@pytest.mark.tlc
def test_a_right_trace_is_confirmed_and_read_back(tools: TlcTools, tmp_path: Path) -> None:
    module = write(tmp_path, properties=[WitnessProperty("FullIsr")])
    answer = verdict(tools, module)
    assert (answer.run.exit_code, answer.verdict, answer.step, answer.operator) == (12, "confirmed", 3, "FullIsr")
    assert answer.run.output.accepted == {1, 2, 3}
    printed = [read_state(STATE, s.variables, ignore=module.added) for s in answer.run.trace]
    assert tuple(printed) == TRACE


@pytest.mark.slow
@pytest.mark.tlc
@pytest.mark.parametrize("wrong", [0, 1, 2, 3])
def test_one_changed_value_is_rejected_at_its_step(tools: TlcTools, tmp_path: Path, wrong: int) -> None:
    states = list(TRACE)
    states[wrong] = replace(states[wrong], log=(states[wrong].log[0], (5,)))
    answer = verdict(tools, write(tmp_path, states, properties=[WitnessProperty("FullIsr")]))
    assert (answer.run.exit_code, answer.verdict, answer.step) == (11, "rejected", max(wrong, 1))
    why = f"step {wrong} of 3 is not allowed" if wrong else "the first state is not an initial state"
    assert answer.detail == why


@pytest.mark.slow
@pytest.mark.tlc
def test_long_labels_do_not_hide_a_step(tools: TlcTools, tmp_path: Path) -> None:
    """TLC breaks what it prints over several lines when it is wide."""
    actions = [action + " /\\ TRUE" * 30 for action in ACTIONS]
    answer = verdict(tools, write(tmp_path, TRACE, actions, [WitnessProperty("FullIsr")]))
    assert answer.verdict == "confirmed" and answer.run.output.accepted == {1, 2, 3}


@pytest.mark.slow
@pytest.mark.tlc
def test_a_behaviour_without_violation(tools: TlcTools, tmp_path: Path) -> None:
    properties = [WitnessProperty("HasLeader"), WitnessProperty("LogGrows", "step")]
    answer = verdict(tools, write(tmp_path, properties=properties))
    assert (answer.run.exit_code, answer.verdict, answer.step) == (0, "no-violation", 3)


@pytest.mark.slow
@pytest.mark.tlc
def test_only_the_last_state_counts(tools: TlcTools, tmp_path: Path) -> None:
    """State 3 has no leader; in a trace that goes on to state 4 this is not a violation."""
    short = write(tmp_path, TRACE[:3], ACTIONS[:2], [WitnessProperty("HasLeader")])
    assert verdict(tools, short).verdict == "confirmed"


@pytest.mark.slow
@pytest.mark.tlc
def test_step_properties(tools: TlcTools, tmp_path: Path) -> None:
    properties = [WitnessProperty("LogGrows", "step"), WitnessProperty("EpochMonotonic", "step")]
    answer = verdict(tools, write(tmp_path, properties=properties))
    assert (answer.verdict, answer.operator) == ("confirmed", "EpochMonotonic")
    assert answer.run.trace[-1].variables["cexBad"] is False
    assert answer.run.trace[-1].variables["cexBad2"] is True


@pytest.mark.slow
@pytest.mark.tlc
def test_the_named_action_must_be_the_one_that_happened(tools: TlcTools, tmp_path: Path) -> None:
    wrong = (ACTIONS[0], ACTIONS[1], "Elect(1, FALSE)")
    properties = [WitnessProperty("FullIsr")]
    assert verdict(tools, write(tmp_path, TRACE, wrong, properties)).step == 3


@pytest.mark.slow
@pytest.mark.tlc
@pytest.mark.parametrize(
    ("only", "prop", "exit_code", "message"),
    [
        (S1, WitnessProperty("FullIsr"), 0, "no-violation"),
        (S1, WitnessProperty("EpochMonotonic", "step"), 0, "no-violation"),
        (S4, WitnessProperty("FullIsr"), 11, "rejected"),
    ],
)
def test_traces_of_one_state(
    tools: TlcTools, tmp_path: Path, only: State, prop: WitnessProperty, exit_code: int, message: str
) -> None:
    answer = verdict(tools, write(tmp_path, [only], [], [prop]))
    assert (answer.run.exit_code, answer.verdict) == (exit_code, message)
    assert answer.step == (0 if exit_code == 0 else 1)


@pytest.mark.slow
@pytest.mark.tlc
def test_a_violation_in_the_initial_state(tools: TlcTools, tmp_path: Path) -> None:
    (tmp_path / "Tiny.tla").write_text(replaced(SPEC, "HasLeader ==", "NotYet == FALSE\nHasLeader =="))
    witness = write_witness(
        tmp_path,
        "One",
        spec_module="Tiny",
        variables=STATE.fields,
        states=[S1],
        actions=[],
        properties=[WitnessProperty("NotYet")],
        constants=CFG,
    )
    answer = verdict(tools, witness)
    assert (answer.verdict, answer.step, answer.operator) == ("confirmed", 0, "NotYet")
    assert [read_state(STATE, s.variables, ignore=witness.added) for s in answer.run.trace] == [S1]


@pytest.mark.slow
@pytest.mark.tlc
def test_a_module_that_does_not_parse_is_an_error_not_a_verdict(tools: TlcTools, tmp_path: Path) -> None:
    module = write(tmp_path, TRACE, (ACTIONS[0], ACTIONS[1], "NoSuchAction(1)"))
    checked = check_witness(tools, module)
    assert (checked.verdict, checked.run.exit_code) == ("error", 150)
    assert "does not parse" in checked.detail and "NoSuchAction" in checked.detail
