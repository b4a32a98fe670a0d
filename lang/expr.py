"""The expressions of the IR: one frozen class for each kind of node, as in Python's `ast`.

Operators, calls, binders and local names are kept as in the source. Nodes are compared by identity. A
back end processes an `Expression` with `match`; `elrcheck.lang.tree` has the helpers they share.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Literal, Self, TypeAlias

from elrcheck.lang.types import BOOL, INT, RSET, Ty

Moment: TypeAlias = Literal["now", "next"]
"""Which state of a step an expression reads: the one before it, or the one after it."""
Order: TypeAlias = Literal["lt", "le", "gt", "ge"]
Operator: TypeAlias = Literal["add", "sub", "min", "max"]
SetOperator: TypeAlias = Literal["union", "inter", "diff"]
Domain: TypeAlias = Literal["set", "seq", "range"]
"""The domain of a binder: a set of brokers, the elements of a sequence, or the numbers 0..n-1."""


@dataclass(frozen=True, eq=False)
class Expr:
    """Base class of all nodes. `line` is the source line, `node` the syntax (None if derived)."""

    ty: Ty
    line: int = field(default=0, kw_only=True)
    node: ast.AST | None = field(default=None, kw_only=True)

    def at(self, line: int, node: ast.AST) -> Self:
        """Attach a source position to the node; a position that it already has is kept."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__, line=self.line or line, node=self.node or node)
        return made


@dataclass(frozen=True, eq=False)
class Truth(Expr):
    """A node that is always a boolean."""

    ty: Ty = field(default=BOOL, init=False)


@dataclass(frozen=True, eq=False)
class BrokerSet(Expr):
    """A node that is always a set of brokers."""

    ty: Ty = field(default=RSET, init=False)


# ---------------------------------------------------------------------------- constants and names


@dataclass(frozen=True, eq=False)
class Constant(Expr):
    value: bool | int


@dataclass(frozen=True, eq=False)
class ConfigField(Expr):
    """A field of the configuration."""

    name: str


@dataclass(frozen=True, eq=False)
class Configuration(Expr):
    """The whole configuration, which can only be passed on: no back end has a value for it."""


@dataclass(frozen=True, eq=False)
class EnumMember(Expr):
    name: str


@dataclass(frozen=True, eq=False)
class NoneLiteral(Expr):
    pass


@dataclass(frozen=True, eq=False)
class AllBrokers(BrokerSet):
    """`c.brokers`."""


@dataclass(frozen=True, eq=False)
class BrokerList(Expr):
    """`tuple(c.brokers)`: all brokers in ascending order."""


@dataclass(frozen=True, eq=False)
class EmptySequence(Expr):
    pass


@dataclass(frozen=True, eq=False)
class Variable(Expr):
    """A parameter, a local name or the variable of a binder."""

    name: str


@dataclass(frozen=True, eq=False)
class StateVariable(Expr):
    moment: Moment
    name: str


@dataclass(frozen=True, eq=False)
class Some(Expr):
    """A value where an optional is wanted."""

    value: Expression


@dataclass(frozen=True, eq=False)
class Get(Expr):
    """The element of an optional, where the source uses it as one.

    It is only evaluated where the element is present, or its value does not matter.
    """

    value: Expression


@dataclass(frozen=True, eq=False)
class IsNone(Truth):
    value: Expression


@dataclass(frozen=True, eq=False)
class Field(Expr):
    """`record.name`."""

    record: Expression
    name: str


@dataclass(frozen=True, eq=False)
class Record(Expr):
    """A record built from all its fields."""

    names: tuple[str, ...]
    values: tuple[Expression, ...]


@dataclass(frozen=True, eq=False)
class Update(Expr):
    """`replace(record, name=value, ..)`."""

    record: Expression
    names: tuple[str, ...]
    values: tuple[Expression, ...]


@dataclass(frozen=True, eq=False)
class Not(Truth):
    operand: Expression


@dataclass(frozen=True, eq=False)
class Junction(Truth):
    """`a and b ..` or `a or b ..`."""

    op: Literal["and", "or"]
    parts: tuple[Expression, ...]


@dataclass(frozen=True, eq=False)
class NamedConjunction(Truth):
    """`conj(name=condition, ..)`."""

    names: tuple[str, ...]
    parts: tuple[Expression, ...]


@dataclass(frozen=True, eq=False)
class Implies(Truth):
    premise: Expression
    conclusion: Expression


@dataclass(frozen=True, eq=False)
class Equal(Truth):
    """Equality of two values of one type."""

    left: Expression
    right: Expression


@dataclass(frozen=True, eq=False)
class IfElse(Expr):
    """`then if condition else orelse`."""

    condition: Expression
    then: Expression
    orelse: Expression


@dataclass(frozen=True, eq=False)
class LetIn(Expr):
    """The body, with a local name for a value."""

    name: str
    value: Expression
    body: Expression


@dataclass(frozen=True, eq=False)
class Call(Expr):
    """An operator of the model. states: what is passed for each of its state parameters."""

    function: str
    states: tuple[Moment, ...]
    args: tuple[Expression, ...]


@dataclass(frozen=True, eq=False)
class Compare(Truth):
    """An order of two numbers."""

    op: Order
    left: Expression
    right: Expression


@dataclass(frozen=True, eq=False)
class Arithmetic(Expr):
    """`left + right`, `left - right`, `min(left, right)` or `max(left, right)`."""

    ty: Ty = field(default=INT, init=False)
    op: Operator
    left: Expression
    right: Expression


@dataclass(frozen=True, eq=False)
class Member(Truth):
    """`element in members`."""

    element: Expression
    members: Expression


@dataclass(frozen=True, eq=False)
class Subset(Truth):
    small: Expression
    large: Expression


@dataclass(frozen=True, eq=False)
class SetLiteral(BrokerSet):
    elements: tuple[Expression, ...]


@dataclass(frozen=True, eq=False)
class SetOperation(BrokerSet):
    op: SetOperator
    left: Expression
    right: Expression


@dataclass(frozen=True, eq=False)
class Elements(BrokerSet):
    """The set of the elements of a sequence of brokers."""

    sequence: Expression


@dataclass(frozen=True, eq=False)
class Cardinality(Expr):
    ty: Ty = field(default=INT, init=False)
    members: Expression


@dataclass(frozen=True, eq=False)
class VectorGet(Expr):
    """`vector[index]`."""

    vector: Expression
    index: Expression


@dataclass(frozen=True, eq=False)
class VectorPut(Expr):
    """`put(vector, index, value)`."""

    vector: Expression
    index: Expression
    value: Expression


@dataclass(frozen=True, eq=False)
class VectorOf(Expr):
    """`tuple(body for variable in c.brokers)`."""

    variable: Variable
    body: Expression


@dataclass(frozen=True, eq=False)
class Length(Expr):
    sequence: Expression


@dataclass(frozen=True, eq=False)
class SequenceGet(Expr):
    """`sequence[index]`, from 0."""

    sequence: Expression
    index: Expression


@dataclass(frozen=True, eq=False)
class Prefix(Expr):
    """`sequence[:count]`."""

    sequence: Expression
    count: Expression


@dataclass(frozen=True, eq=False)
class Append(Expr):
    """`sequence + (element,)`."""

    sequence: Expression
    element: Expression


@dataclass(frozen=True, eq=False)
class Concatenation(Expr):
    left: Expression
    right: Expression


# ---------------------------------------------------------------------------- binders


@dataclass(frozen=True, eq=False)
class Binder(Expr):
    """A variable that ranges over a domain; condition: an optional filter on its elements."""

    variable: Variable
    over: Domain
    domain: Expression
    condition: Expression | None


@dataclass(frozen=True, eq=False)
class Quantifier(Binder):
    """`all(body for ..)` or `any(body for ..)`."""

    ty: Ty = field(default=BOOL, init=False)
    op: Literal["all", "any"]
    body: Expression


@dataclass(frozen=True, eq=False)
class Count(Binder):
    """`sum(1 for ..)`."""


@dataclass(frozen=True, eq=False)
class Filter(Binder):
    """`frozenset(x for x in set if condition)`."""

    ty: Ty = field(default=RSET, init=False)


@dataclass(frozen=True, eq=False)
class SequenceFilter(Binder):
    """`tuple(x for x in sequence if condition)`."""


@dataclass(frozen=True, eq=False)
class First(Binder):
    """`next((x for x in sequence if condition), None)`."""


@dataclass(frozen=True, eq=False)
class Extreme(Binder):
    """`min((body for ..), default=default)`, or `max`."""

    op: Literal["min", "max"]
    body: Expression
    default: Expression


Comprehension: TypeAlias = Quantifier | Count | Filter | SequenceFilter | First | Extreme
Expression: TypeAlias = (
    Constant
    | ConfigField
    | Configuration
    | EnumMember
    | NoneLiteral
    | AllBrokers
    | BrokerList
    | EmptySequence
    | Variable
    | StateVariable
    | Some
    | Get
    | IsNone
    | Field
    | Record
    | Update
    | Not
    | Junction
    | NamedConjunction
    | Implies
    | Equal
    | IfElse
    | LetIn
    | Call
    | Compare
    | Arithmetic
    | Member
    | Subset
    | SetLiteral
    | SetOperation
    | Elements
    | Cardinality
    | VectorGet
    | VectorPut
    | VectorOf
    | Length
    | SequenceGet
    | Prefix
    | Append
    | Concatenation
    | Comprehension
)
"""Any node; a `match` over it ends in `tree.unsupported`."""
