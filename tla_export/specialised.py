"""A model specialised to one configuration, for reading: without what can never fire, and what never changes.

Left out are actions with a guard that is always false, actions that only lead beyond a budget of 0, operators that
nothing calls any more, and fields and variables that always have one value. The states that a search finds are the
same; of the steps only those are missing that led beyond the bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from elrcheck.lang import expr
from elrcheck.lang.expr import Expression
from elrcheck.lang.ir import Block, Fn, If, Let, Require, Ret, StateView, fn_nodes
from elrcheck.lang.load import Model
from elrcheck.lang.runtime import ModelConfig
from elrcheck.tla_export.folded import Folding, never
from elrcheck.tla_export.literals import alike, is_literal
from elrcheck.tla_export.type_sets import records_of

Place = tuple[str, str]
"""A record and a field, an empty text and a variable, or an operator, as `Change()`, and a parameter."""
Fixed = Mapping[Place, Expression]
"""Its only value."""


@dataclass(frozen=True)
class Specialised:
    """A model for reading. fixed: what is left out of its records and variables; left_out: actions, by name."""

    model: Model
    fixed: Fixed
    left_out: tuple[str, ...]
    beyond: tuple[str, ...]
    """Those of them that only lead beyond the bound."""


def specialised(model: Model, config: ModelConfig) -> Specialised:
    """Return the model under one configuration, with its safety properties and without witnesses.

    What never changes is found by induction: assume it of everything that is given a literal somewhere, fold, and give
    up what is then given anything else, until nothing is left to give up.
    """
    folded = _folded(replace(model, sometimes=(), leads_to=(), lemmas=()), Folding(config))
    zero = set(_zero_budgets(folded.bound))
    beyond = {fn.name for fn in folded.actions if not never(fn.body) and zero & _spends(fn.body)}
    whole = _possible(replace(folded, actions=tuple(fn for fn in folded.actions if fn.name not in beyond)))
    assigned, free = _assigned(whole), _free(whole)
    fixed = {key: literal for key, values in assigned.items() if key[0] not in free and (literal := _only(values))}
    while True:
        current = _possible(_folded(whole, Folding(config, fixed)))
        assigned = _assigned(current)
        unchanged = {
            key: one for key, one in fixed.items() if all(alike(one, other) for other in assigned.get(key, ()))
        }
        if len(unchanged) == len(fixed):
            break
        fixed = unchanged
    fixed = {key: one for key, one in fixed.items() if key in assigned or not key[0].endswith("()")}
    current = _possible(
        _folded(whole, Folding(config, fixed, True, {name: fn.params for name, fn in whole.fns.items()}))
    )
    named = {fn.name for fn in current.actions}
    left = tuple(fn.name for fn in model.actions if fn.name not in named)
    return Specialised(current, fixed, left, tuple(name for name in left if name in beyond))


def _possible(model: Model) -> Model:
    """Return the model without actions that cannot happen, and without operators that nothing calls."""
    return _reachable(replace(model, actions=tuple(fn for fn in model.actions if not never(fn.body))))


def _folded(model: Model, folding: Folding) -> Model:
    """Return the model with every function folded, until no operator has become a literal."""
    while True:
        before = len(folding.results)
        fns = {name: folding.function(fn) for name, fn in model.fns.items()}
        for name, fn in fns.items():
            value = fn.body.value if isinstance(fn.body, Ret) else None
            if fn.kind == "op" and value is not None and not isinstance(value, StateView) and is_literal(value):
                folding.results[name] = value
        if len(folding.results) == before:
            break

    def of(fn: Fn) -> Fn:
        return fns.get(fn.name) or folding.function(fn)

    return replace(
        model,
        fns=fns,
        init=of(model.init),
        bound=of(model.bound),
        actions=tuple(map(of, model.actions)),
        always=tuple(map(of, model.always)),
    )


def _reachable(model: Model) -> Model:
    """Return the model without the operators that nothing calls."""
    roots = (model.init, model.bound, *model.actions, *model.always)
    reachable, todo = {fn.name for fn in roots}, list(roots)
    while todo:
        called = {node.function for node in fn_nodes(todo.pop()) if isinstance(node, expr.Call)}
        todo += [model.fns[name] for name in called - reachable]
        reachable |= called
    return replace(model, fns={name: fn for name, fn in model.fns.items() if name in reachable})


# ---------------------------------------------------------------------------- budgets


def _zero_budgets(bound: Fn) -> Iterator[tuple[str, str]]:
    """Yield the variable and field of each number that is 0 wherever the bound holds."""
    value = bound.body.value if isinstance(bound.body, Ret) else None
    for part in value.parts if isinstance(value, expr.NamedConjunction | expr.Junction) else (value,):
        match part:
            case expr.Compare(
                op="le",
                left=expr.Field(record=expr.StateVariable(name=variable), name=name),
                right=expr.Constant(value=0),
            ):
                yield variable, name


def _spends(block: Block) -> set[tuple[str, str]]:
    """Return the variables and fields to which every way through a body adds."""
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


# ---------------------------------------------------------------------------- what never changes


def _assigned(model: Model) -> dict[Place, list[Expression]]:
    """Return what each field, variable and parameter of an operator is given anywhere."""
    assigned: dict[Place, list[Expression]] = {}
    for fn in model.fns.values():
        for node in fn_nodes(fn):
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
        for view in _views(fn.body):
            for name, value in view.fields.items():
                if not (isinstance(value, expr.StateVariable) and value.name == name):
                    assigned.setdefault(("", name), []).append(value)
    return assigned


def _free(model: Model) -> set[str]:
    """Return the records of which a whole set of values is tried somewhere."""
    tried = [ty for fn in (model.init, *model.actions) for _, ty in fn.params]
    for fn in model.fns.values():
        for node in fn_nodes(fn):
            match node:
                case expr.WholeSort():
                    tried.append(node.ty.elem)
                case expr.VectorOf():
                    tried.append(node.ty.keys)
    return {record.name for ty in tried for record in (*records_of(ty), ty) if record.kind == "record"}


def _only(values: list[Expression]) -> Expression | None:
    """Return the literal among these values; None if there is none, or another one."""
    literals = [value for value in values if is_literal(value)]
    return literals[0] if literals and all(alike(literals[0], other) for other in literals) else None


def _views(block: Block) -> Iterator[StateView]:
    match block:
        case Let(rest=rest) | Require(rest=rest):
            yield from _views(rest)
        case If():
            yield from _views(block.then)
            yield from _views(block.orelse)
        case Ret(value=StateView() as view):
            yield view


def _copies(e: Expression, record: str, name: str) -> bool:
    """Return whether a value is that of the same field of a record of the same type."""
    return isinstance(e, expr.Field) and e.name == name and e.record.ty.present.name == record
