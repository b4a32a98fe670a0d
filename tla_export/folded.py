"""Folds the functions of a model under one configuration, without the branches that it excludes.

Truths, enums and 0 of the configuration become their values; other numbers decide comparisons, but keep their names,
because `MIN_ISR` tells a reader more than 2. Places that always have one value may be folded, too (`fixed`).
"""

from __future__ import annotations

import enum
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from elrcheck.lang import expr
from elrcheck.lang.expr import Constant, Expression
from elrcheck.lang.ir import Block, Fn, If, Let, Require, Ret, StateView, block_expressions
from elrcheck.lang.tree import children, free_names, same
from elrcheck.lang.types import INT
from elrcheck.tla_export.literals import FALSE, TRUE, alike, is_empty, is_literal

OPEN = object()
ORDERS = {"lt": int.__lt__, "le": int.__le__, "gt": int.__gt__, "ge": int.__ge__}


@dataclass
class Folding:
    """Folds the functions of a model. config: the values of its fields.

    fixed: place -> its only value; a place is (record, field), ("", variable), or (operator, as `Change()`, parameter).
    strips: leave these places out, also the arguments for `parameters` of the operators; unread: parameters to leave
    out because nothing reads them. results: the literals that operators return; passed: for operators that only return
    an argument, its position.
    """

    config: Any
    fixed: Mapping[tuple[str, str], Expression] = field(default_factory=dict)
    strips: bool = False
    parameters: Mapping[str, Sequence[tuple[str, Any]]] = field(default_factory=dict)
    unread: Collection[tuple[str, str]] = ()
    results: dict[str, Expression] = field(default_factory=dict)
    passed: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.fixed = {place: _truth(value) for place, value in self.fixed.items()}
        if self.strips:  # a record that is a value lacks the same fields as its type
            self.fixed = {place: _Body(self, {}).fold(value) for place, value in self.fixed.items()}

    def function(self, fn: Fn) -> Fn:
        """Return the function with its body folded."""
        place = f"{fn.name}()"
        names = {name: self.fixed[place, name] for name, _ in fn.params if (place, name) in self.fixed}
        folded = replace(fn, body=_Body(self, names).block(fn.body))
        if self.strips:
            folded.params = [(name, ty) for name, ty in fn.params if not self.leaves_out((place, name))]
        return folded

    def leaves_out(self, place: tuple[str, str]) -> bool:
        return place in self.fixed or place in self.unread

    def value_of(self, e: Expression) -> Any:
        """Return the value of a constant expression, else OPEN."""
        match e:
            case expr.Constant():
                return e.value
            case expr.EnumMember():
                return e.name
            case expr.NoneLiteral():
                return None
            case expr.ConfigField():
                value = getattr(self.config, e.name)
                return value.name if isinstance(value, enum.Enum) else value
            case expr.Some() | expr.Get():
                return self.value_of(e.value)
        return OPEN


def never(block: Block) -> bool:
    """Return whether the body of an action has a guard that is false."""
    return isinstance(block, Require) and block.condition is FALSE


class _Body:
    """Folds the body of one function. names: literals that stand for local names."""

    def __init__(self, folding: Folding, names: Mapping[str, Expression]) -> None:
        self.folding = folding
        self.names = dict(names)

    def block(self, block: Block) -> Block:
        match block:
            case Let():
                value = self.fold(block.value)
                if is_literal(value) or isinstance(value, expr.Variable):
                    self.names[block.name] = value
                    return self.block(block.rest)
                rest = self.block(block.rest)
                if never(rest):
                    return rest
                used = any(block.name in free_names(e) for e in block_expressions(rest))
                return Let(block.name, value, rest) if used else rest
            case Require():
                condition = self.fold(block.condition)
                if condition is FALSE:
                    return Require(FALSE, block.name, Ret(FALSE))
                rest = self.block(block.rest)
                if never(rest):
                    return rest
                return rest if condition is TRUE else Require(condition, block.name, rest)
            case If():
                condition = self.fold(block.condition)
                if condition is TRUE or condition is FALSE:
                    return self.block(block.then if condition is TRUE else block.orelse)
                then, orelse = self.block(block.then), self.block(block.orelse)
                if never(then) and never(orelse):
                    return then
                if never(then) and isinstance(then, Require):
                    return Require(_not(condition), then.name, orelse)
                if never(orelse) and isinstance(orelse, Require):
                    return Require(condition, orelse.name, then)
                return If(condition, then, orelse)
            case Ret(value=StateView() as view):
                hidden = self.folding.fixed if self.folding.strips else {}
                fields = {name: self.fold(e) for name, e in view.fields.items() if ("", name) not in hidden}
                return Ret(StateView(view.moment, fields, view.pristine))
            case Ret():
                assert not isinstance(block.value, StateView)
                return Ret(self.fold(block.value))
        raise AssertionError(block)

    def fold(self, e: Expression) -> Expression:
        match e:
            case expr.Constant():
                return _truth(e)
            case expr.Variable():
                return self.names.get(e.name, e)
            case expr.StateVariable():
                return self.folding.fixed.get(("", e.name), e)
            case expr.ConfigField():
                return self._setting(e)
            case expr.LetIn():
                value = self.fold(e.value)
                if is_literal(value) or isinstance(value, expr.Variable):
                    self.names[e.name] = value
                    return self.fold(e.body)
                body = self.fold(e.body)
                return replace(e, value=value, body=body) if e.name in free_names(body) else body
            case expr.IfElse():
                return self._choice(e)
        return self._simple(_rebuilt(e, {id(part): self.fold(part) for part in children(e)}))

    def _setting(self, e: expr.ConfigField) -> Expression:
        value = getattr(self.folding.config, e.name)
        match value:
            case bool():
                return TRUE if value else FALSE
            case enum.Enum():
                return expr.EnumMember(e.ty, value.name)
            case None:
                return expr.NoneLiteral(e.ty)
            case 0:
                return Constant(INT, 0)
        return e

    def _choice(self, e: expr.IfElse) -> Expression:
        condition = self.fold(e.condition)
        if condition is TRUE or condition is FALSE:
            return self.fold(e.then if condition is TRUE else e.orelse)
        then, orelse = self.fold(e.then), self.fold(e.orelse)
        if then is TRUE and orelse is FALSE:
            return condition
        if orelse is FALSE:
            return _junction("and", (condition, then))
        if then is FALSE:
            return _junction("and", (_not(condition), orelse)) if orelse is not TRUE else _not(condition)
        if then is TRUE:
            return _junction("or", (condition, orelse))
        if is_literal(then) and alike(then, orelse):
            return then
        return replace(e, condition=condition, then=then, orelse=orelse)

    def _simple(self, e: Expression) -> Expression:
        """Simplify a node whose parts are folded."""
        value_of = self.folding.value_of
        match e:
            case expr.Not():
                return _not(e.operand)
            case expr.Junction():
                return _junction(e.op, e.parts)
            case expr.NamedConjunction():
                left = [(name, part) for name, part in zip(e.names, e.parts, strict=True) if part is not TRUE]
                if not left:
                    return TRUE
                return replace(e, names=tuple(name for name, _ in left), parts=tuple(part for _, part in left))
            case expr.Implies():
                if e.premise is FALSE or e.conclusion is TRUE:
                    return TRUE
                if e.premise is TRUE:
                    return e.conclusion
                return _not(e.premise) if e.conclusion is FALSE else e
            case expr.Equal():
                return self._equal(e)
            case expr.Compare():
                left, right = value_of(e.left), value_of(e.right)
                if not isinstance(left, int) or not isinstance(right, int):
                    return e
                return TRUE if ORDERS[e.op](left, right) else FALSE
            case expr.Arithmetic(op="add" | "sub") if _is_zero(e.right):
                return e.left
            case expr.Arithmetic(op="add") if _is_zero(e.left):
                return e.right
            case expr.SetOperation():
                return _set_operation(e)
            case expr.MemberExpr():
                return self._member(e)
            case expr.Subset() if is_empty(e.small):
                return TRUE
            case expr.IsNone():
                if isinstance(e.value, expr.NoneLiteral):
                    return TRUE
                present = isinstance(e.value, expr.Some) or (is_literal(e.value) and value_of(e.value) is not None)
                return FALSE if present else e
            case expr.Cardinality() | expr.Length():
                of = e.members if isinstance(e, expr.Cardinality) else e.sequence
                return Constant(INT, 0) if is_empty(of) else e
            case expr.Elements() if is_empty(e.sequence):
                return expr.SetLiteral(e.ty, ())
            case expr.Field():
                return self._field(e)
            case expr.RecordExpr() if not e.ty.is_pair:
                record: Expression = self._without_fixed(e)
                return record
            case expr.Update():
                changed = _without_own_values(self._without_fixed(e))
                return changed if changed.names else e.record
            case expr.VectorGet(vector=expr.VectorOf(body=body)) if is_literal(body):
                return body
            case expr.VectorPut(vector=expr.VectorOf(body=body)) if is_literal(body) and alike(body, e.value):
                return e.vector
            case expr.Call():
                return self._call(e)
            case expr.Quantifier():
                return _quantifier(e)
            case expr.Filter() | expr.Count() | expr.SequenceFilter() | expr.First() if e.condition is TRUE:
                return replace(e, condition=None)
            case expr.Filter() | expr.Image() | expr.Union() if e.condition is FALSE or is_empty(e.domain):
                return expr.SetLiteral(e.ty, ())
            case expr.Count() | expr.Total() if e.condition is FALSE or is_empty(e.domain):
                return Constant(INT, 0)
            case expr.SequenceFilter() if e.condition is FALSE or is_empty(e.domain):
                return expr.EmptySequence(e.ty)
            case expr.First() if e.condition is FALSE or is_empty(e.domain):
                return expr.NoneLiteral(e.ty)
            case expr.Prefix() | expr.Suffix() if is_empty(e.sequence):
                return e.sequence
            case expr.Concatenation() if is_empty(e.left) or is_empty(e.right):
                return e.right if is_empty(e.left) else e.left
        return e

    def _call(self, e: expr.Call) -> Expression:
        """Return the literal or the argument that a call returns; else the call without the arguments left out."""
        if e.function in self.folding.passed:
            return e.args[self.folding.passed[e.function]]
        result = self.folding.results.get(e.function)
        if result is not None or not self.folding.strips:
            return e if result is None else result
        names = [name for name, _ in self.folding.parameters[e.function]]
        pairs = zip(names, e.args, strict=True)
        return replace(e, args=tuple(a for name, a in pairs if not self.folding.leaves_out((f"{e.function}()", name))))

    def _without_fixed(self, e: Any) -> Any:
        if not self.folding.strips:
            return e
        pairs = zip(e.names, e.values, strict=True)
        left = [(name, value) for name, value in pairs if (e.ty.name, name) not in self.folding.fixed]
        return replace(e, names=tuple(name for name, _ in left), values=tuple(value for _, value in left))

    def _field(self, e: expr.Field) -> Expression:
        if (fixed := self.folding.fixed.get((e.record.ty.present.name, e.name))) is not None:
            return fixed
        if isinstance(e.record, expr.RecordExpr) and not e.record.ty.is_pair:
            return e.record.values[e.record.names.index(e.name)]
        return e

    def _equal(self, e: expr.Equal) -> Expression:
        if is_empty(e.left) and is_empty(e.right):
            return TRUE
        left, right = self.folding.value_of(e.left), self.folding.value_of(e.right)
        if OPEN not in (left, right):
            return TRUE if left == right else FALSE
        for one, other in ((e.left, e.right), (e.right, e.left)):
            if one is TRUE or one is FALSE:
                return other if one is TRUE else _not(other)
            if isinstance(one, expr.NoneLiteral) and isinstance(other, expr.Some):
                return FALSE
        return e

    def _member(self, e: expr.MemberExpr) -> Expression:
        if is_empty(e.members):
            return FALSE
        if not isinstance(e.members, expr.SetLiteral):
            return e
        values = [self.folding.value_of(part) for part in (e.element, *e.members.elements)]
        if OPEN in values:
            return e
        return TRUE if values[0] in values[1:] else FALSE


def _rebuilt(e: Expression, by_id: Mapping[int, Expression]) -> Expression:
    """Return the node with its parts replaced, by their ids; the node itself if no part changed."""
    if all(id(new) == old for old, new in by_id.items()):
        return e
    changes: dict[str, Any] = {}
    for name in (part for part in vars(e) if part not in ("ty", "line", "node", "variable")):
        value = vars(e)[name]
        if isinstance(value, tuple):
            changes[name] = tuple(by_id.get(id(part), part) for part in value)
        elif id(value) in by_id:
            changes[name] = by_id[id(value)]
    return replace(e, **changes)


def _truth(e: Expression) -> Expression:
    """Return the one TRUE or FALSE, which the folding recognises, for a truth written elsewhere."""
    if isinstance(e, expr.Constant) and isinstance(e.value, bool):
        return TRUE if e.value else FALSE
    return e


def _not(e: Expression) -> Expression:
    if e is TRUE or e is FALSE:
        return FALSE if e is TRUE else TRUE
    return e.operand if isinstance(e, expr.Not) else expr.Not(e)


def _junction(op: Any, parts: Sequence[Expression]) -> Expression:
    neutral, deciding = (TRUE, FALSE) if op == "and" else (FALSE, TRUE)
    left = [part for part in _flat(op, parts) if part is not neutral]
    if any(part is deciding for part in left):
        return deciding
    if len(left) < 2:
        return left[0] if left else neutral
    return expr.Junction(op, tuple(left))


def _flat(op: Any, parts: Sequence[Expression]) -> Iterator[Expression]:
    for part in parts:
        if isinstance(part, expr.Junction) and part.op == op:
            yield from part.parts
        else:
            yield part


def _is_zero(e: Expression) -> bool:
    return isinstance(e, expr.Constant) and e.value == 0 and e.value is not False


def _without_own_values(e: expr.Update) -> expr.Update:
    """Return an update of a record without the fields to which it assigns their own values."""
    pairs = zip(e.names, e.values, strict=True)
    left = [
        (name, value)
        for name, value in pairs
        if not (isinstance(value, expr.Field) and value.name == name and same(value.record, e.record))
    ]
    if len(left) == len(e.names):
        return e
    return replace(e, names=tuple(name for name, _ in left), values=tuple(value for _, value in left))


def _set_operation(e: expr.SetOperation) -> Expression:
    left, right = is_empty(e.left), is_empty(e.right)
    if e.op == "union" and (left or right):
        return e.right if left else e.left
    if e.op == "diff" and (left or right):
        return e.left
    if e.op == "inter" and (left or right):
        return e.left if left else e.right
    return e


def _quantifier(e: expr.Quantifier) -> Expression:
    neutral, deciding = (TRUE, FALSE) if e.op == "all" else (FALSE, TRUE)
    if is_empty(e.domain) or e.condition is FALSE or e.body is neutral:
        return neutral
    if e.body is deciding and e.condition is not None:
        return e
    return replace(e, condition=None) if e.condition is TRUE else e
