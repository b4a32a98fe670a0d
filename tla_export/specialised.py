"""Specialises a model to one configuration, for reading.

It leaves out actions with a guard that is always false, actions that only lead beyond a budget of 0, operators without
callers or that only return an argument, parameters that are not read, and fields and variables that always have one
value. The reachable states are the same; only steps beyond the bound are missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from elrcheck.lang import expr
from elrcheck.lang.expr import Expression
from elrcheck.lang.ir import Block, Fn, If, Let, Require, Ret, StateView, block_expressions, blocks, reachable
from elrcheck.lang.load import Model
from elrcheck.lang.runtime import ModelConfig
from elrcheck.lang.tree import free_names
from elrcheck.tla_export.folded import Folding, never
from elrcheck.tla_export.literals import alike, is_literal
from elrcheck.tla_export.type_sets import records_of

Place = tuple[str, str]
"""(record, field), ("", variable), or (operator, as `Change()`, parameter)."""
Fixed = Mapping[Place, Expression]
"""The only value of each place."""


@dataclass(frozen=True)
class Specialised:
    """A model for reading. fixed: the places left out; left_out: the actions left out, by name."""

    model: Model
    fixed: Fixed
    left_out: tuple[str, ...]
    beyond: tuple[str, ...]
    """The actions in `left_out` that only lead beyond the bound."""


def specialised(model: Model, config: ModelConfig) -> Specialised:
    """Return the model under one configuration, with its safety properties and without witnesses.

    Constant places are found by induction: assume that every place that is assigned a literal has that value, fold, add
    the places that are then assigned a literal, and drop those that are assigned anything else, until none changes.
    """
    folded = _folded(replace(model, sometimes=(), leads_to=(), lemmas=()), Folding(config))
    zero = set(_zero_budgets(folded.bound))
    beyond = {fn.name for fn in folded.actions if not never(fn.body) and zero & _spends(fn.body)}
    whole = _possible(replace(folded, actions=tuple(fn for fn in folded.actions if fn.name not in beyond)))
    fixed = _constant_places(whole, config)
    parameters = {name: fn.params for name, fn in whole.fns.items()}
    unread: set[Place] = set()
    while True:
        current = _possible(_folded(whole, Folding(config, fixed, True, parameters, unread)))
        more = _unread(current)
        if not more:
            break
        unread |= more
    named = {fn.name for fn in current.actions}
    left = tuple(fn.name for fn in model.actions if fn.name not in named)
    return Specialised(current, fixed, left, tuple(name for name in left if name in beyond))


def _possible(model: Model) -> Model:
    """Return the model without impossible actions, and without operators that are not called."""
    actions = tuple(fn for fn in model.actions if not never(fn.body))
    called = reachable(model.fns, (model.init, model.bound, *actions, *model.always))
    return replace(model, actions=actions, fns={name: fn for name, fn in model.fns.items() if name in called})


def _folded(model: Model, folding: Folding) -> Model:
    """Return the model with every function folded, again until no other operator only returns a literal or argument."""
    while True:
        before = len(folding.results), len(folding.passed)
        fns = {name: folding.function(fn) for name, fn in model.fns.items()}
        for name, fn in fns.items():
            value = fn.body.value if isinstance(fn.body, Ret) and fn.kind == "op" else None
            if isinstance(value, expr.Variable):
                folding.passed[name] = [param for param, _ in model.fns[name].params].index(value.name)
            elif value is not None and not isinstance(value, StateView) and is_literal(value):
                folding.results[name] = value
        if (len(folding.results), len(folding.passed)) == before:
            break

    return model.with_functions(lambda fn: fns.get(fn.name) or folding.function(fn), fns)


# ---------------------------------------------------------------------------- budgets


def _zero_budgets(bound: Fn) -> Iterator[tuple[str, str]]:
    """Yield the variable and field of each number that is 0 wherever the bound holds; one below 0 may be less."""
    value = bound.body.value if isinstance(bound.body, Ret) else None
    for part in value.parts if isinstance(value, expr.NamedConjunction | expr.Junction) else (value,):
        match part:
            case expr.Compare(
                op="le",
                left=expr.Field(record=expr.StateVariable(name=variable), name=name) as number,
                right=expr.Constant(value=0),
            ) if number.ty.lo >= 0:
                yield variable, name


def _spends(block: Block) -> set[tuple[str, str]]:
    """Return the (variable, field) pairs to which every path through a body adds."""
    match block:
        case Let(rest=rest) | Require(rest=rest):
            return _spends(rest)
        case If():
            return _spends(block.then) & _spends(block.orelse)
        case Ret(value=StateView() as view):
            return {
                (variable, name)
                for variable, e in view.fields.items()
                if isinstance(e, expr.Update) and isinstance(e.record, expr.StateVariable) and e.record.name == variable
                for name, value in zip(e.names, e.values, strict=True)
                if _adds(value, variable, name)
            }
    return set()


def _adds(e: Expression, variable: str, name: str) -> bool:
    match e:
        case expr.Arithmetic(
            op="add",
            left=expr.Field(record=expr.StateVariable(name=of), name=field),
            right=expr.Constant(value=int() as more),
        ):
            return (of, field) == (variable, name) and more > 0
    return False


# ---------------------------------------------------------------------------- constant places


def _constant_places(model: Model, config: ModelConfig) -> dict[Place, Expression]:
    """Return the constant places with their values, without parameters of operators that are not called any more."""
    free, fixed, refuted = _free(model), dict[Place, Expression](), set[Place]()
    assigned = _assigned(model)
    while True:
        added = {
            key: literal
            for key, values in assigned.items()
            if key not in fixed and key not in refuted and key[0] not in free and (literal := _only(values))
        }
        wrong = {key for key, one in fixed.items() if not all(alike(one, other) for other in assigned.get(key, ()))}
        if not added and not wrong:
            return {key: one for key, one in fixed.items() if key in assigned or not key[0].endswith("()")}
        refuted |= wrong
        fixed = {key: one for key, one in (fixed | added).items() if key not in wrong}
        assigned = _assigned(_possible(_folded(model, Folding(config, fixed))))


def _unread(model: Model) -> set[Place]:
    """Return the parameters of operators that no expression reads."""
    return {
        (f"{fn.name}()", param)
        for fn in model.fns.values()
        if fn.kind == "op" and fn.params
        for read in [{name for e in block_expressions(fn.body) for name in free_names(e)}]
        for param, _ in fn.params
        if param not in read
    }


def _assigned(model: Model) -> dict[Place, list[Expression]]:
    """Return the expressions that are assigned to each place, without copies of the same place."""
    assigned: dict[Place, list[Expression]] = {}
    for node in model.nodes:
        match node:
            case expr.RecordExpr() | expr.Update() if not node.ty.is_pair:
                for name, value in zip(node.names, node.values, strict=True):
                    if not _copies(value, node.ty.name, name):
                        assigned.setdefault((node.ty.name, name), []).append(value)
            case expr.Call():
                callee = model.fns[node.function]
                for (param, _), value in zip(callee.params, node.args, strict=True):
                    assigned.setdefault((f"{callee.name}()", param), []).append(value)
    for fn in (model.init, *model.actions):
        views = (block.value for block in blocks(fn.body) if isinstance(block, Ret))
        for view in (value for value in views if isinstance(value, StateView)):
            for name, value in view.fields.items():
                if not (isinstance(value, expr.StateVariable) and value.name == name):
                    assigned.setdefault(("", name), []).append(value)
    return assigned


def _free(model: Model) -> set[str]:
    """Return the records over all of whose values an action or an expression ranges."""
    tried = [ty for fn in (model.init, *model.actions) for _, ty in fn.params]
    tried += (node.ty.elem for node in model.nodes if isinstance(node, expr.WholeSort))
    tried += (node.ty.keys for node in model.nodes if isinstance(node, expr.VectorOf))
    return {record.name for ty in tried for record in (*records_of(ty), ty) if record.kind == "record"}


def _only(values: list[Expression]) -> Expression | None:
    """Return the only literal among these values; None if they have no literal, or several."""
    literals = [value for value in values if is_literal(value)]
    return literals[0] if literals and all(alike(literals[0], other) for other in literals) else None


def _copies(e: Expression, record: str, name: str) -> bool:
    """Return whether a value is the same field of a record of the same type."""
    return isinstance(e, expr.Field) and e.name == name and e.record.ty.present.name == record
