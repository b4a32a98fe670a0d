"""Expressions in every reading: plain Python, the evaluator, the kernel, numpy, Z3, and TLC on what is printed."""

from __future__ import annotations

import contextlib
import importlib.util
import itertools
import random
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
from elrcheck.lang.source import ModelError
from elrcheck.proof.transition import Transitions
from elrcheck.proof.z3_algebra import formula
from support.random_expressions import MODEL, RandomExpression, random_value
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


# ---------------------------------------------------------------------------- random expressions


def assert_random_expressions_agree(folder: Path, seed: int, count: int, *, tlc: bool, states: int = 8) -> None:
    """Compare random expressions about states, and about steps, in random states and pairs of them."""
    model, module = model_of(folder, random_model(folder, seed, count))
    config, chance, ty = module.C(), random.Random(seed), model.state_ty
    assert len(model.checks) > count / 2, "most are in the language"
    befores = [random_value(chance, ty, config) for _ in range(states)]
    pairs = [*itertools.pairwise(befores), (befores[-1], befores[0])]
    ours = [[bool(fn.source(config, *pair[: 1 + fn.is_step])) for fn in model.checks] for pair in pairs]
    evaluator = Evaluator(model.fns, config, ConcreteAlgebra())
    for pair, values in zip(pairs, ours, strict=True):
        lifted = tuple(evaluator.structure.lift(state, ty) for state in pair)
        for fn, value in zip(model.checks, values, strict=True):
            assert evaluator.call(fn, lifted[: 1 + fn.is_step], {}) is value, (fn.ident, pair)
    _engines_judge(model, config, befores, ours)
    _solver_judges(model, config, pairs, ours)
    if tlc:
        assert_tlc_judges(
            model, config, folder, [(state, _steps(model, config, state)) for state in befores], pairs, ours
        )


def random_model(folder: Path, seed: int, count: int) -> str:
    """The model of `random_expressions` with a property for each expression that the language has."""
    text = MODEL
    for number in range(count):
        step = number % 2 == 1
        expression = RandomExpression(seed * 1000 + number, ("s", "t") if step else ("s",)).of("bool", 3)
        states = "s: S, t: S" if step else "s: S"
        check = f'@sometimes("E-{number}")\ndef E{number}(c: C, {states}) -> bool:\n    return {expression}\n'
        with contextlib.suppress(ModelError):
            model_of(folder, MODEL + check)
            text += check
    return text


def _steps(model: Model, config: Any, state: Any) -> Steps:
    return {(label.action, label.args): after for label, after in PlainModel(model, config).successors(state)}


def _engines_judge(model: Model, config: Any, states: list[Any], ours: list[list[bool]]) -> None:
    """Compare properties of states, and those of the steps from them."""
    lowered = lower(model, config)
    kernel, portable = Search(lowered.program), VectorSearch(lowered.program, limits=Limits())
    rows = kernel.layout.pack_rows([lowered.encode(state) for state in states])
    numbers = {fn.ident: i for i, fn in enumerate(model.checks)}
    for engine in (kernel, portable):
        steps = engine.successors(rows)
        afters = [lowered.decode(engine.layout.unpack(row)) for row in steps.rows]
        for number, check in enumerate(lowered.program.checks):
            at = numbers[check.name]
            if check.scope == "state":
                hits = engine.state_hits(number, rows).astype(bool).tolist()
                assert hits == [row[at] == check.hit_value for row in ours], (check.name, engine)
                continue
            source = model.checks[at].source
            for before, after, flags in zip(steps.sources, afters, steps.flags, strict=True):
                hit = bool(int(flags[number // 64]) >> number % 64 & 1)
                assert hit == (source(config, states[before], after) == check.hit_value), (check.name, engine)


def _solver_judges(model: Model, config: Any, pairs: Sequence[tuple[Any, Any]], ours: list[list[bool]]) -> None:
    transitions = Transitions(model, config, every_step=True)
    now, after, ty = transitions.now, transitions.next, model.state_ty
    holds = [transitions.holds(fn, *(now, after)[: 1 + fn.is_step]) for fn in model.checks]
    for (state, later), values in zip(pairs, ours, strict=True):
        solver = z3.Solver()
        is_later = transitions.structure.eq(after, transitions.structure.lift(later, ty), ty)
        solver.add(transitions.exactly(state), transitions.type_invariant, formula(is_later))
        assert solver.check() == z3.sat, state
        solved = solver.model()
        assert [z3.is_true(solved.eval(term, model_completion=True)) for term in holds] == values, (state, later)
