"""Expressions in every reading: plain Python, the evaluator, the kernel, numpy, Z3, and TLC on what is printed."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import z3

from elrcheck.base.requests import Limits
from elrcheck.explorer.search.compiled import Search
from elrcheck.explorer.search.reference import search
from elrcheck.explorer.search.vector import VectorSearch
from elrcheck.lang.algebra import ConcreteAlgebra
from elrcheck.lang.evaluate import Evaluator
from elrcheck.lang.load import Model, initial_states, load
from elrcheck.lang.lowering.lower import lower
from elrcheck.lang.plain import PlainModel
from elrcheck.proof.transition import Transitions
from support.tlc_judge import Steps, assert_tlc_judges

IMPORTS = """
from __future__ import annotations
import enum
from dataclasses import replace
from typing import Annotated
from elrcheck.lang.runtime import (
    EMPTY, action, always, bound, config, conj, implies, init, op, put, record, require, sometimes, state)
from elrcheck.lang.domains import every
from elrcheck.lang.runtime import Map, add, contents, remove
from elrcheck.lang.types import Per, SeqMark, nat, sort
"""


def model_of(folder: Path, text: str, expressions: Sequence[str] = ()) -> tuple[Model, ModuleType]:
    """Write a model with one property for each expression, run it as Python and load it."""
    checks = (
        f'@sometimes("E-{number}")\ndef E{number}(c: C, s: S) -> bool:\n    return {expression}\n'
        for number, expression in enumerate(expressions)
    )
    name = f"model_of_readings_{len(sys.modules)}"
    file = folder / f"{name}.py"
    file.write_text("\n".join([IMPORTS, text, *checks]))
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return load(module.S, module.C, [module]), module


def assert_readings_agree(model: Model, config: Any, folder: Path, *, tlc: bool, most: int = 60) -> None:
    """Compare every property in every reachable state, up to `most` of them, all steps, and the counts of searches."""
    plain = PlainModel(model, config)
    states, steps_of = list(dict.fromkeys(initial_states(model, config))), dict[Any, Steps]()
    for state in states:
        steps_of[state] = {(label.action, label.args): after for label, after in plain.successors(state)}
        inside = [after for after in dict.fromkeys(steps_of[state].values()) if plain.within(after)]
        states += [after for after in inside if after not in steps_of and after not in states]
    counts = search(model, config)
    assert counts.distinct == len(states)
    states = states[:: -(-len(states) // most)]
    properties = model.checks
    ours = [[bool(fn.source(config, state)) for fn in properties] for state in states]
    constant = [
        fn.ident for fn, values in zip(properties, zip(*ours, strict=True), strict=True) if len(set(values)) < 2
    ]
    assert not constant, f"{constant} have one value in all states"
    _evaluator(model, config, states, ours)
    _engines(model, config, states, ours, (counts.generated, counts.distinct))
    _solver(model, config, states, ours, steps_of)
    if tlc:
        pairs = [*itertools.pairwise(states), (states[-1], states[0])]
        cases = [(state, steps_of[state]) for state in states]
        assert_tlc_judges(model, config, folder, cases, pairs, ours)


def _evaluator(model: Model, config: Any, states: list[Any], ours: list[list[bool]]) -> None:
    evaluator = Evaluator(model.fns, config, ConcreteAlgebra())
    for state, values in zip(states, ours, strict=True):
        lifted = evaluator.structure.lift(state, model.state_ty)
        assert evaluator.structure.lower(lifted, model.state_ty) == state
        for fn, value in zip(model.checks, values, strict=True):
            assert evaluator.call(fn, (lifted,), {}) is value, (fn.ident, state)


def _engines(model: Model, config: Any, states: list[Any], ours: list[list[bool]], counts: tuple[int, int]) -> None:
    program = lower(model, config)
    kernel, portable = Search(program.program), VectorSearch(program.program, limits=Limits())
    rows = kernel.layout.pack_rows([program.encode(state) for state in states])
    by_ident = {fn.ident: i for i, fn in enumerate(model.checks)}
    for number, check in enumerate(program.program.checks):
        values = [values[by_ident[check.name]] == check.hit_value for values in ours]
        for engine in (kernel, portable):
            assert engine.state_hits(number, rows).astype(bool).tolist() == values, (check.name, engine)
    for result in (kernel.run(None, "complete"), portable.run(None, "complete")):
        assert result.reason is None
        assert (result.generated, result.distinct) == counts


def _solver(model: Model, config: Any, states: list[Any], ours: list[list[bool]], steps_of: dict[Any, Steps]) -> None:
    transitions = Transitions(model, config, every_step=True)
    holds = [transitions.holds(fn) for fn in model.checks]
    for state, values in zip(states, ours, strict=True):
        solver = z3.Solver()
        solver.add(transitions.exactly(state), transitions.type_invariant)
        assert solver.check() == z3.sat, state
        solved = solver.model()
        assert [z3.is_true(solved.eval(term, model_completion=True)) for term in holds] == values, state
        steps = {}
        for instance in transitions.instances:
            if z3.is_true(solved.eval(instance.guard, model_completion=True)):
                steps[instance.action, instance.args] = transitions.read(solved, instance.after)
        assert steps == steps_of[state], state
