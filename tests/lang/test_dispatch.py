"""`@dispatch`: an operator for each type of a record, the same in every reading; anything else is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from elrcheck.explorer.search.reference import search
from elrcheck.lang.runtime import NotEnabled
from elrcheck.lang.source import ModelError
from elrcheck.tla_export.spec import spec_text
from support.small_models import loaded

CHOICE = """
from elrcheck.lang.runtime import dispatch
@record
class Joins:
    who: Replica
@record
class Clears:
    pass
@record
class Other:
    who: Replica
@op
def joins(s: RSet, event: Joins) -> RSet:
    return s | {event.who}
@op
def clears(s: RSet, event: Clears) -> RSet:
    return EMPTY
@dispatch
def handle(s: RSet, event: Joins | Clears) -> RSet:
    match event:
        case Joins():
            return joins(s, event)
        case Clears():
            return clears(s, event)
"""
ACTIONS = """
@action
def Join(c: C, s: S, b: Replica) -> S:
    group = handle(s.group, Joins(who=b))
    require(group != s.group, "b is not there")
    return replace(s, group=group)
@action
def Clear(c: C, s: S) -> S:
    return replace(s, group=handle(s.group, Clears()))
"""


def test_python_the_kernel_and_tla_choose_the_same_case(tmp_path: Path) -> None:
    model, source = loaded(tmp_path, CHOICE + ACTIONS)
    config = source.C()
    state = source.Clear(config, source.Init(config))
    assert state.group == frozenset()
    assert source.Join(config, state, 1).group == {1}
    with pytest.raises(NotEnabled):
        source.Join(config, source.Init(config), 1)
    plain = search(model, config)
    assert plain.distinct == 8
    assert {"joins", "clears"} <= set(model.fns) and "handle" not in model.fns
    text = spec_text(model, config, "Choice").tla
    assert "Joins(group, [who |-> b])" in text.replace("Joins_", "Joins")
    assert "Clears(group, <<>>)" in text.replace("Clears_", "Clears")


REFUSED = {
    "an event without a case": ("handle(s.group, Other(who=b))", "handle has no case for Other"),
    "no record": ("handle(s.group, s.group)", "handle has no case for frozenset"),
    "too few arguments": ("handle(s.group)", "with 2 positional arguments"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_call_is_refused(tmp_path: Path, case: str) -> None:
    expression, message = REFUSED[case]
    body = f"@action\ndef A(c: C, s: S, b: Replica) -> S:\n    return replace(s, group={expression})\n"
    with pytest.raises(ModelError, match=message):
        loaded(tmp_path, CHOICE + body)


ODD = {
    "a case that does more": ("return joins(s, event)", "return joins(s, event) | s", "not the call of an"),
    "a case that is missing": ("Joins | Clears)", "Joins | Clears | Other)", "no case for Other"),
    "a case too many": ("event: Joins | Clears)", "event: Clears | Clears)", "Joins is not a member"),
    "an operator of another record": ("clears(s, event)\n", "joins(s, event)\n", "does not take one"),
    "more than a choice": ("    match event:", "    x = s\n    match event:", "only chooses"),
}


@pytest.mark.parametrize("case", ODD)
def test_an_operator_that_is_more_than_a_choice_is_refused(tmp_path: Path, case: str) -> None:
    old, new, message = ODD[case]
    assert old in CHOICE
    with pytest.raises(ModelError, match=message):
        loaded(tmp_path, CHOICE.replace(old, new))
