"""Walking over expressions, and the end of every `match` over them.

A `match` over `Expression` ends in `unsupported(backend, node)`, whose parameter is `Never`: the type
checker rejects a back end that forgets a node, and an unsupported node raises a typed error instead of
printing something wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Never, NoReturn, TypeAlias

from elrcheck.lang.expr import (
    AllBrokers,
    Append,
    Arithmetic,
    BrokerList,
    Call,
    Cardinality,
    Compare,
    Comprehension,
    Concatenation,
    ConfigField,
    Configuration,
    Constant,
    Count,
    Elements,
    EmptySequence,
    EnumMember,
    Equal,
    Expr,
    Expression,
    Extreme,
    Field,
    Filter,
    First,
    Get,
    IfElse,
    Implies,
    IsNone,
    Junction,
    Length,
    LetIn,
    Member,
    NamedConjunction,
    NoneLiteral,
    Not,
    Prefix,
    Quantifier,
    Record,
    SequenceFilter,
    SequenceGet,
    SetLiteral,
    SetOperation,
    Some,
    StateVariable,
    Subset,
    Update,
    Variable,
    VectorGet,
    VectorOf,
    VectorPut,
)

TruthNode: TypeAlias = Junction | Equal | Not | Compare | Member | Implies | NamedConjunction | IsNone | Subset
SetNode: TypeAlias = SetOperation | Elements | SetLiteral | AllBrokers | Cardinality
Collecting: TypeAlias = Count | Filter | SequenceFilter | First | Extreme
"""Nodes by their value: a truth; a set of brokers, or its size; what a domain is collected into."""


class UnsupportedNode(Exception):
    """A back end met a node that it does not support: names the node and the back end."""

    def __init__(self, backend: str, node: Expr) -> None:
        self.backend, self.kind = backend, type(node).__name__
        place = f" (source line {node.line})" if node.line else ""
        super().__init__(f"{backend} cannot print the node '{self.kind}'{place}")


def unsupported(backend: str, node: Never) -> NoReturn:
    """End a `match` over expressions: the type checker verifies that no case is left."""
    raise UnsupportedNode(backend, node)


def children(e: Expression) -> tuple[Expression, ...]:
    """Return the direct subexpressions in source order, without the variable that the node binds."""
    match e:
        case Variable() | StateVariable() | Constant() | EnumMember() | ConfigField() | Configuration():
            return ()
        case Field():
            return (e.record,)
        case Equal() | Compare() | Arithmetic() | SetOperation() | Concatenation():
            return (e.left, e.right)
        case VectorGet():
            return (e.vector, e.index)
        case Call():
            return e.args
        case Junction() | NamedConjunction():
            return e.parts
        case Some() | Get() | IsNone():
            return (e.value,)
        case Not():
            return (e.operand,)
        case Member():
            return (e.element, e.members)
        case IfElse():
            return (e.condition, e.then, e.orelse)
        case Implies():
            return (e.premise, e.conclusion)
        case Subset():
            return (e.small, e.large)
        case Cardinality():
            return (e.members,)
        case SetLiteral():
            return e.elements
        case Record():
            return e.values
        case Update():
            return (e.record, *e.values)
        case LetIn():
            return (e.value, e.body)
        case Length() | Elements():
            return (e.sequence,)
        case SequenceGet():
            return (e.sequence, e.index)
        case Prefix():
            return (e.sequence, e.count)
        case Append():
            return (e.sequence, e.element)
        case VectorPut():
            return (e.vector, e.index, e.value)
        case VectorOf():
            return (e.body,)
        case Quantifier():
            return (*_bound(e), e.body)
        case Extreme():
            return (*_bound(e), e.body, e.default)
        case Count() | Filter() | SequenceFilter() | First():
            return _bound(e)
        case NoneLiteral() | AllBrokers() | BrokerList() | EmptySequence():
            return ()
        case _:
            unsupported("the walk over the IR", e)


def _bound(e: Comprehension) -> tuple[Expression, ...]:
    """Return the domain of a bound variable."""
    return (e.domain,) if e.condition is None else (e.domain, e.condition)


def walk(root: Expression) -> Iterator[Expression]:
    """The node and everything below it, each shared node once."""
    todo, seen = [root], set()
    while todo:
        node = todo.pop()
        if id(node) not in seen:
            seen.add(id(node))
            yield node
            todo.extend(children(node))


def free_names(root: Expression) -> set[str]:
    """Names of the local variables that occur in an expression."""
    return {node.name for node in walk(root) if isinstance(node, Variable)}


def same(a: Expression, b: Expression) -> bool:
    """Return whether two expressions are the same node, or the same name written twice."""
    match a, b:
        case Variable(), Variable():
            return a.name == b.name
        case StateVariable(), StateVariable():
            return (a.moment, a.name) == (b.moment, b.name)
        case _:
            return a is b
