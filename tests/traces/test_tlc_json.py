"""TLC's JSON counterexamples, in the very shape that a current TLC writes them."""

from __future__ import annotations

import enum
import json
from typing import Annotated

import pytest

from elrcheck.base.documents import parse_json
from elrcheck.base.errors import UsageFault
from elrcheck.base.strict import Codes
from elrcheck.lang.ir import Fn
from elrcheck.lang.plain import Label
from elrcheck.lang.runtime import state
from elrcheck.lang.types import INT, SeqMark, type_of
from elrcheck.traces.behaviour import Behaviour, RecordedStep, TraceOrigin
from elrcheck.traces.tlc_json import read_tlc_json
from support.edits import replaced

# What TLC (April 2026) wrote with `-dumpTrace json` for a counter; only two of its steps are kept.
REAL = """{"counterexample":{"action":[[[1,{"st":"idle","f":[-1,-1],"q":[],"x":0}],{"name":"Inc","location":\
{"beginLine":6,"beginColumn":8,"endLine":6,"endColumn":77,"module":"Cnt"}},[2,{"st":"run","f":[-1,-1],"q":[0],\
"x":1}]],[[2,{"st":"run","f":[-1,-1],"q":[0],"x":1}],{"name":"Set","location":{"beginLine":7,"beginColumn":11,\
"endLine":7,"endColumn":69,"module":"Cnt"},"context":{"i":2},"parameters":["i"]},[3,{"st":"run","f":[-1,2],\
"q":[0],"x":1}]]],"state":[[1,{"st":"idle","f":[-1,-1],"q":[],"x":0}],[2,{"st":"run","f":[-1,-1],"q":[0],"x":1}],\
[3,{"st":"run","f":[-1,2],"q":[0],"x":1}]]},"vars":["x","q","st","f"]}"""


class Mode(enum.Enum):
    idle = 0
    run = 1


Numbers = Annotated[tuple[int, ...], SeqMark(3)]


@state
class Counter:
    x: int
    q: Numbers
    st: Mode
    f: Numbers


def action(name: str, *params: str) -> Fn:
    fn = Fn(name, "action", "", "", "", lambda: None, __file__, 1)
    fn.params = [(param, INT) for param in params]
    return fn


ACTIONS = {"Inc": action("Inc"), "Set": action("Set", "j")}


def read(text: str) -> Behaviour[RecordedStep]:
    root = parse_json(text, "cex.json", Codes("trace-file"))
    return read_tlc_json(root, type_of(Counter), ACTIONS, (), TraceOrigin())


def test_what_tlc_writes() -> None:
    document = read(REAL)
    assert document.states == (
        Counter(0, (), Mode.idle, (-1, -1)),
        Counter(1, (0,), Mode.run, (-1, -1)),
        Counter(1, (0,), Mode.run, (-1, 2)),
    )
    # Names of parameters are those of the module; the model's own may differ, so their order counts.
    assert document.labels == (Label("Inc", ()), Label("Set", (2,)))
    assert document.loop is None


def test_a_lasso_has_a_step_back() -> None:
    """From the last state to the second, where the cycle begins."""
    document = json.loads(REAL)
    inner = document["counterexample"]
    inner["action"].append([inner["state"][2], {"name": "Next"}, inner["state"][1]])
    behaviour = read(json.dumps(document))
    assert (behaviour.loop, len(behaviour.labels), behaviour.labels[2]) == (1, 3, None)


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ('"q":[],"x":0}],{"name"', '"q":[0],"x":0}],{"name"', "$.counterexample.action[0][0][1]"),
        ('"state":[[1,', '"state":[[4,', "$.counterexample.state"),
        (
            '"st":"idle","f":[-1,-1],"q":[],"x":0}],[2',
            '"st":"gone","f":[-1,-1],"q":[],"x":0}],[2',
            "$.counterexample.state[0][1].st",
        ),
        ('"state":[[1,{', '"state":[[1,{"y":1,', "$.counterexample.state[0][1]"),
        ('"vars"', '"variables"', "$"),
    ],
)
def test_the_place_of_what_is_wrong(old: str, new: str, where: str) -> None:
    assert old in REAL
    with pytest.raises(UsageFault) as fault:
        read(replaced(REAL, old, new, 1))
    assert (fault.value.where or "").startswith(f"cex.json:1: {where}")
