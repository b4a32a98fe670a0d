"""The expressions of the IR: one frozen dataclass for each kind of node, as in Python's `ast`.

Operators, calls, binders and local names stay as in the source. Nodes are compared by identity. A back end processes
an `Expression` with `match`; `elrcheck.lang.tree` has the helpers that back ends share.
"""

from __future__ import annotations

from dataclasses import field
from typing import Literal, TypeAlias

from elrcheck.lang.node import Expr, SetExpr, TruthExpr
from elrcheck.lang.types import BOOL, INT, Ty

Moment: TypeAlias = Literal["now", "next"]
"""The state of a step that an expression reads: before the step, or after it."""
Order: TypeAlias = Literal["lt", "le", "gt", "ge"]
Operator: TypeAlias = Literal["add", "sub", "div", "mod", "min", "max"]
SetOperator: TypeAlias = Literal["union", "inter", "diff"]
Domain: TypeAlias = Literal["set", "seq", "range"]
"""The domain of a binder: a set, the elements of a sequence, or the numbers below a bound, from 0 or `begin`."""


# ---------------------------------------------------------------------------- constants and names


class Constant(Expr):
    value: bool | int


class ConfigField(Expr):
    """A field of the configuration."""

    name: str


class WholeConfig(Expr):
    """The whole configuration, which can only be passed to operators; no back end has a value for it."""


class EnumMember(Expr):
    name: str


class NoneLiteral(Expr):
    pass


class WholeSort(SetExpr):
    """The set of all members of a sort: `range(c.nodes)`, or a property of the configuration that is annotated so.

    Or of all values of another finite type: an enum, `every(c, T)`.
    """


class SortList(Expr):
    """`tuple(range(c.nodes))`: the sequence of all members of a sort in ascending order."""


class EmptySequence(Expr):
    pass


class Variable(Expr):
    """A parameter, a local name or the variable of a binder."""

    name: str


class StateVariable(Expr):
    moment: Moment
    name: str


class Some(Expr):
    """A value used as an optional."""

    value: Expression


class Get(Expr):
    """The element of an optional. Its value matters only where the element is present."""

    value: Expression


class IsNone(TruthExpr):
    value: Expression


class Field(Expr):
    """`record.name`."""

    record: Expression
    name: str


class RecordExpr(Expr):
    """A record built from all its fields."""

    names: tuple[str, ...]
    values: tuple[Expression, ...]


class Update(Expr):
    """`replace(record, name=value, ..)`."""

    record: Expression
    names: tuple[str, ...]
    values: tuple[Expression, ...]


class Not(TruthExpr):
    operand: Expression


class Junction(TruthExpr):
    """`a and b ..` or `a or b ..`."""

    op: Literal["and", "or"]
    parts: tuple[Expression, ...]


class NamedConjunction(TruthExpr):
    """`conj(name=condition, ..)`."""

    names: tuple[str, ...]
    parts: tuple[Expression, ...]


class Implies(TruthExpr):
    premise: Expression
    conclusion: Expression


class Equal(TruthExpr):
    """Equality of two values of one type."""

    left: Expression
    right: Expression


class IfElse(Expr):
    """`then if condition else orelse`."""

    condition: Expression
    then: Expression
    orelse: Expression


class LetIn(Expr):
    """A body with a local name for a value."""

    name: str
    value: Expression
    body: Expression


class Call(Expr):
    """A call of an operator of the model. states: the arguments for its state parameters."""

    function: str
    states: tuple[Moment, ...]
    args: tuple[Expression, ...]


class Compare(TruthExpr):
    """An order of two numbers."""

    op: Order
    left: Expression
    right: Expression


class Arithmetic(Expr):
    """`left + right`, `left - right`, `left // right`, `left % right`, `min(left, right)` or `max(left, right)`."""

    ty: Ty = field(default=INT, init=False)
    op: Operator
    left: Expression
    right: Expression


class MemberExpr(TruthExpr):
    """`element in members`."""

    element: Expression
    members: Expression


class Subset(TruthExpr):
    small: Expression
    large: Expression


class SetLiteral(SetExpr):
    elements: tuple[Expression, ...]


class SetOperation(SetExpr):
    op: SetOperator
    left: Expression
    right: Expression


class Elements(SetExpr):
    """The set of the elements of a sequence."""

    sequence: Expression


class Cardinality(Expr):
    ty: Ty = field(default=INT, init=False)
    members: Expression


class VectorGet(Expr):
    """`vector[index]`."""

    vector: Expression
    index: Expression


class VectorPut(Expr):
    """`put(vector, index, value)`."""

    vector: Expression
    index: Expression
    value: Expression


class VectorOf(Expr):
    """`tuple(body for variable in range(c.nodes))`, or `Map({variable: body for variable in every(c, T)})`."""

    variable: Variable
    body: Expression


class Length(Expr):
    sequence: Expression


class SequenceGet(Expr):
    """`sequence[index]`, from 0."""

    sequence: Expression
    index: Expression


class Prefix(Expr):
    """`sequence[:count]`."""

    sequence: Expression
    count: Expression


class Suffix(Expr):
    """`sequence[count:]`."""

    sequence: Expression
    count: Expression


class AppendExpr(Expr):
    """`sequence + (element,)`."""

    sequence: Expression
    element: Expression


class Concatenation(Expr):
    left: Expression
    right: Expression


# ---------------------------------------------------------------------------- binders


class Binder(Expr):
    """A variable that ranges over a domain; condition: an optional filter on its elements.

    begin: the first number of a range that does not begin at 0.
    """

    variable: Variable
    over: Domain
    domain: Expression
    condition: Expression | None
    begin: Expression | None = field(default=None, kw_only=True)


class Quantifier(Binder):
    """`all(body for ..)` or `any(body for ..)`."""

    ty: Ty = field(default=BOOL, init=False)
    op: Literal["all", "any"]
    body: Expression


class Count(Binder):
    """`sum(1 for ..)`."""


class Total(Binder):
    """`sum(body for ..)`."""

    body: Expression


class Filter(Binder):
    """`frozenset(x for x in set if condition)`."""


class Image(Binder):
    """`frozenset(body for x in set if condition)`."""

    body: Expression


class Union(Binder):
    """`frozenset(x for y in set if condition for x in ..)`: the union of the sets that the body yields."""

    body: Expression


class SequenceFilter(Binder):
    """`tuple(x for x in sequence if condition)`."""


class First(Binder):
    """`next((x for x in sequence if condition), None)`, also over a range or all members of a sort, in their order."""


class Extreme(Binder):
    """`min((body for ..), default=default)`, or `max`."""

    op: Literal["min", "max"]
    body: Expression
    default: Expression


TruthNode: TypeAlias = Junction | Equal | Not | Compare | MemberExpr | Implies | NamedConjunction | IsNone | Subset
SetNode: TypeAlias = SetOperation | Elements | SetLiteral | WholeSort | Cardinality
Collecting: TypeAlias = Count | Total | Filter | Image | Union | SequenceFilter | First | Extreme
"""Nodes by the kind of their value: truths; sets and their sizes; collections of the elements of a domain."""
Comprehension: TypeAlias = Quantifier | Collecting
Expression: TypeAlias = (
    TruthNode
    | SetNode
    | Comprehension
    | Constant
    | ConfigField
    | WholeConfig
    | EnumMember
    | NoneLiteral
    | SortList
    | EmptySequence
    | Variable
    | StateVariable
    | Some
    | Get
    | Field
    | RecordExpr
    | Update
    | IfElse
    | LetIn
    | Call
    | Arithmetic
    | VectorGet
    | VectorPut
    | VectorOf
    | Length
    | SequenceGet
    | Prefix
    | Suffix
    | AppendExpr
    | Concatenation
)
"""Any node; a `match` over it ends in `tree.unsupported`."""
