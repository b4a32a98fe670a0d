r"""Write a trace as a TLA+ module that TLC can validate: the witness.

A witness extends the exported specification, defines the trace as a constant and steps through it:

    VARIABLES cexPos, cexBad
    CexTrace == << [partition |-> ..], [partition |-> ..] >>
    CexInit  == cexPos = 1 /\ partition = CexTrace[1].partition
    CexStep  == /\ cexPos < 2
                /\ cexPos = 1 => (Init /\ PrintT(<<"cex initial state accepted">>))
                /\ cexPos' = cexPos + 1
                /\ partition' = CexTrace[cexPos + 1].partition      assign first ..
                /\ CexAction /\ Next                                .. then check
                /\ cexBad' = (cexPos + 1 = 2 /\ ~P_21)
                /\ PrintT(<<"cex step accepted", cexPos, CexLabel[cexPos]>>)
    CexEnd   == cexPos = 2 /\ (cexPos = 1 => Init) /\ UNCHANGED <<..>>
    Cex_P_21 == cexPos = 2 => ~cexBad

TLC's exit code gives the verdict; the codes are the same in 2.15 and in current versions:

    12  confirmed: every step is a step of Next (and of the action named for it), the first state
        satisfies Init and the last one (or the last step) violates a listed property
    11  rejected (deadlock): the last state printed is k, and step k -> k+1 is not allowed;
        also k = 1 when the first state is not an initial one
     0  a behaviour of the specification, but no listed property is violated

Reasons for this shape, all found by experiment:

* The primed variables are assigned first, which turns Next into a test: nothing is enumerated.
* A separate position variable distinguishes equal states of the trace.
* Init is checked inside the first step and not in CexInit: without any initial state TLC would report
  success. CexEnd checks it too, for a trace of one state.
* A property counts only in the last position, so a rejected trace is never "confirmed".
* CexEnd stutters at the end, so a deadlock can only mean "rejected"; so never pass -deadlock.
* A *step* property (an operator with primed variables, such as P-21, leader epochs never go back)
  cannot be an INVARIANT. Its value in the last step is kept in a boolean variable, false elsewhere.
* Only the CONSTANT part of a configuration may be used: a VIEW or SYMMETRY would merge positions.

Everything is computed before the first byte is written, and both files appear atomically.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from elrcheck.base.atomic import write_files
from elrcheck.base.errors import UsageFault
from elrcheck.lang.types import Ty
from elrcheck.tla_export.pretty import comment_lines
from elrcheck.tla_export.reading.parse import IDENTIFIER, quote
from elrcheck.tla_export.reading.values import RESERVED, ValueMismatch, identifier, show

NEXT = "Next"

CFG_SECTIONS = """
    CONSTANT CONSTANTS INIT NEXT SPECIFICATION INVARIANT INVARIANTS PROPERTY PROPERTIES VIEW SYMMETRY
    CONSTRAINT CONSTRAINTS ACTION_CONSTRAINT ACTION_CONSTRAINTS ALIAS POSTCONDITION CHECK_DEADLOCK
    TYPE TYPE_CONSTRAINT
"""


@dataclass(frozen=True)
class WitnessProperty:
    """A property to check at the end of the trace, by the name of its operator in the module."""

    operator: str
    scope: Literal["state", "step"] = "state"


@dataclass(frozen=True)
class Witness:
    """The two files, and the names needed to read TLC's output."""

    tla: Path
    cfg: Path
    module: str
    states: int
    invariants: Mapping[str, str]  # name in the witness -> operator of the specification
    added: tuple[str, ...]  # variables of the witness that the specification does not have


@dataclass(frozen=True)
class _Names:
    """Names of the witness's own parts, with another prefix if the specification uses them."""

    low: str
    high: str

    def invariant(self, operator: str) -> str:
        return f"{self.high}_{operator}"


def write_witness(
    directory: Path,
    name: str,
    *,
    spec_module: str,
    variables: Mapping[str, Ty],
    states: Sequence[Any],
    actions: Sequence[str],
    properties: Sequence[WitnessProperty],
    constants: str,
    init: str = "Init",
    taken: Iterable[str] = (),
    comment: str = "",
) -> Witness:
    """Write NAME.tla and NAME.cfg for a trace; NAME is made a TLA+ identifier first.

    variables: the type of each. states: of the model, with a field for each variable.
    actions: the action expression of each step, one fewer than there are states.
    constants: text of a .cfg of which only the CONSTANT part is used, so any .cfg of the module will do.
    taken: further names that the specification defines and the witness must avoid.
    """
    module = identifier(name, fallback="Trace")
    if module == spec_module:
        raise UsageFault("witness-name", f"a witness cannot have the name of the module that it extends: {module}")
    rows = _rows(variables, states)
    if len(actions) != len(states) - 1:
        raise UsageFault("witness-shape", f"{len(states)} states need {len(states) - 1} steps, got {len(actions)}")
    properties = tuple(dict.fromkeys(properties))
    used = [*variables, *(p.operator for p in properties), spec_module, init, NEXT]
    if wrong := [text for text in used if not IDENTIFIER.match(text) or text in RESERVED]:
        raise UsageFault("witness-name", f"not a TLA+ identifier: {wrong[0]!r}")
    names = _fresh([*used, *taken])
    bad = _step_flags(names, properties)
    check = f"{names.high}Action /\\ {NEXT}"
    tla = [
        f"---- MODULE {module} ----",
        *comment_lines(comment),
        f"\\* A trace of {len(states)} states of module {spec_module}.",
        "\\* Run TLC on this file, without -deadlock. Its exit code: 12 confirms the trace; 11 rejects",
        "\\* the step after the last state printed; 0 is a behaviour that violates no listed property.",
        f"EXTENDS {spec_module}, Integers, Sequences, TLC",
        "",
        f"VARIABLES {', '.join([f'{names.low}Pos', *bad.values()])}",
        "",
        *_trace(names, rows, actions),
        *_actions(names, actions),
        *_init(names, variables, bad),
        *_step(names, variables, bad, len(states), check, init),
        *_end(names, variables, bad, len(states), init),
        *_invariants(names, properties, bad, len(states), init),
        "",
        "====",
    ]
    cfg = [*constants_part(constants), f"INIT {names.high}Init", f"NEXT {names.high}Next"]
    cfg += [f"INVARIANT {names.invariant(p.operator)}" for p in properties]
    write_files(directory, {f"{module}.tla": "\n".join(tla) + "\n", f"{module}.cfg": "\n".join(cfg) + "\n"})
    return Witness(
        tla=directory / f"{module}.tla",
        cfg=directory / f"{module}.cfg",
        module=module,
        states=len(states),
        invariants={names.invariant(p.operator): p.operator for p in properties},
        added=(f"{names.low}Pos", *bad.values()),
    )


def constants_part(cfg: str) -> list[str]:
    r"""Extract the CONSTANT sections of a .cfg, line by line, without comments and blank lines."""
    plain = re.sub(r"\(\*.*?\*\)|\\\*[^\n]*", " ", cfg, flags=re.DOTALL)
    # Keywords may stand anywhere on a line; a quoted one is text. Pieces: text, keyword, text, ..
    pieces = re.split(rf"(?<!\S)({'|'.join(CFG_SECTIONS.split())})(?!\S)", plain)
    lines: list[str] = []
    for keyword, body in zip(pieces[1::2], pieces[2::2], strict=True):
        if keyword in ("CONSTANT", "CONSTANTS"):
            lines += [line.rstrip() for line in f"{keyword}{body}".splitlines() if line.strip()]
    return lines


def _rows(variables: Mapping[str, Ty], states: Sequence[Any]) -> list[dict[str, str]]:
    """Return every state as variable -> TLA+ text on one line."""
    if not states:
        raise UsageFault("witness-shape", "a witness needs at least one state")
    rows = []
    for number, state in enumerate(states, start=1):
        row = {}
        for variable, ty in variables.items():
            try:
                row[variable] = show(ty, getattr(state, variable))
            except ValueMismatch as fault:
                raise UsageFault("witness-value", str(fault), where=f"state {number}, {variable}") from fault
        rows.append(row)
    return rows


def _fresh(used: Sequence[str]) -> _Names:
    """Choose the prefix of the witness's own names: cex, or cex2 .. if the specification uses it."""
    busy = {name.lower() for name in used}
    number = 1
    while any(name.startswith(f"cex{number if number > 1 else ''}") for name in busy):
        number += 1
    suffix = str(number) if number > 1 else ""
    return _Names(f"cex{suffix}", f"Cex{suffix}")


def _step_flags(names: _Names, properties: Sequence[WitnessProperty]) -> dict[str, str]:
    """Return the boolean variable of each step property: cexBad, and cexBad2 .. if there are several."""
    steps = [p.operator for p in properties if p.scope == "step"]
    return {op: f"{names.low}Bad{i if i > 1 else ''}" for i, op in enumerate(steps, start=1)}


def _trace(names: _Names, rows: Sequence[Mapping[str, str]], labels: Sequence[str]) -> list[str]:
    states = ["  [" + ", ".join(f"{v} |-> {text}" for v, text in row.items()) + "]" for row in rows]
    return [
        f"{names.high}Trace == <<",
        ",\n".join(states),
        ">>",
        "",
        f"{names.high}Label == <<",
        ",\n".join(f"  {quote(label)}" for label in labels) or "  \\* one state, no step",
        ">>",
        "",
    ]


def _actions(names: _Names, actions: Sequence[str]) -> list[str]:
    if not actions:
        return []
    cases = [f"{names.low}Pos = {i} -> {' '.join(a.split())}" for i, a in enumerate(actions, start=1)]
    return [f"{names.high}Action ==", "  CASE " + "\n    [] ".join(cases), ""]


def _init(names: _Names, variables: Iterable[str], bad: Mapping[str, str]) -> list[str]:
    return [
        f"{names.high}Init ==",
        f"  /\\ {names.low}Pos = 1",
        *(f"  /\\ {v} = {names.high}Trace[1].{v}" for v in variables),
        *(f"  /\\ {flag} = FALSE" for flag in bad.values()),
        "",
    ]


def _step(
    names: _Names, variables: Iterable[str], bad: Mapping[str, str], last: int, check: str, init: str
) -> list[str]:
    pos = f"{names.low}Pos"
    if last == 1:
        return [f"{names.high}Step == FALSE  \\* one state, no step", ""]
    return [
        f"{names.high}Step ==",
        f"  /\\ {pos} < {last}",
        f"  /\\ {pos} = 1 => {_initial(init)}",
        f"  /\\ {pos}' = {pos} + 1",
        *(f"  /\\ {v}' = {names.high}Trace[{pos} + 1].{v}" for v in variables),
        f"  /\\ {check}",
        *(f"  /\\ {flag}' = ({pos} + 1 = {last} /\\ ~{op})" for op, flag in bad.items()),
        f'  /\\ PrintT(<<"cex step accepted", {pos}, {names.high}Label[{pos}]>>)',
        "",
    ]


def _initial(init: str) -> str:
    """Print Init and an output line that distinguishes a wrong first state from a wrong first step."""
    return f'({init} /\\ PrintT(<<"cex initial state accepted">>))'


def _end(names: _Names, variables: Iterable[str], bad: Mapping[str, str], last: int, init: str) -> list[str]:
    pos = f"{names.low}Pos"
    return [
        f"{names.high}End ==",
        f"  /\\ {pos} = {last}",
        f"  /\\ {pos} = 1 => {_initial(init)}",
        f'  /\\ PrintT(<<"cex trace accepted, states", {pos}>>)',
        f"  /\\ UNCHANGED <<{', '.join([pos, *bad.values(), *variables])}>>",
        "",
        f"{names.high}Next == {names.high}Step \\/ {names.high}End",
        "",
    ]


def _invariants(
    names: _Names, properties: Sequence[WitnessProperty], bad: Mapping[str, str], last: int, init: str
) -> list[str]:
    pos = f"{names.low}Pos"
    lines = []
    for p in properties:
        holds = f"~{bad[p.operator]}" if p.operator in bad else p.operator
        lines.append(f"{names.invariant(p.operator)} == {pos} = {last} /\\ ({pos} = 1 => {init}) => {holds}")
    return lines
