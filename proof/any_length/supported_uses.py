"""What a model may do with a sequence of any length: one field of the state has it, rules read its length and single
elements and append to it, and predicates loop over all its places.

Anything else would take the sample for the whole sequence: a comparison of two sequences, a loop in a rule, a loop over
some of the places, a second sequence, or a number of a field that is at most the limit, since the limit does not hold.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from elrcheck.lang import expr
from elrcheck.lang.expr import Expression
from elrcheck.lang.ir import Fn, fn_nodes, reachable
from elrcheck.lang.source import ModelError
from elrcheck.lang.tree import children, limits_of, walk
from elrcheck.lang.types import Ty

READS = (
    expr.Length,
    expr.SequenceGet,
    expr.AppendExpr,
    expr.IfElse,
    expr.LetIn,
    expr.Call,
    expr.RecordExpr,
    expr.Update,
)
"""Nodes that may have a sequence of any length as an operand."""


def demand_one_sequence(state: Ty, history: Ty, lifted: Collection[str]) -> None:
    """Raise ModelError unless the limits that do not hold are those of one field of the state, a sequence."""
    names = frozenset(lifted)
    sampled = [name for name, ty in state.fields.items() if ty.kind == "seq" and ty.hi in names]
    if len(sampled) != 1:
        help = "name the limit of one sequence in `any_length`, a field of the state that no other one shares"
        raise ModelError(f"{len(sampled)} fields of the state are sequences of any length", help=help)
    for name, ty in (*state.fields.items(), *history.fields.items()):
        inside = ty.elem if name in sampled and name in state.fields else ty
        if inside is not None and limits_of(inside) & names:
            help = "a number or sequence there has a limit of its own, or cap= for a search alone"
            raise ModelError(f"`{name}` uses a limit that a proof lifts", help=help)


def demand_supported_uses(fns: Mapping[str, Fn], used: Iterable[Fn], lifted: Collection[str]) -> None:
    """Raise ModelError for a use of the sequence that a sample does not decide, in functions or what they call."""
    names = frozenset(lifted)
    for fn in reachable(fns, used).values():
        for e in fn_nodes(fn):
            _demand_supported(e, fn.name, names)


def _demand_supported(e: Expression, name: str, lifted: frozenset[str]) -> None:
    operands = children(e)
    if isinstance(e, expr.Binder):
        whole = isinstance(e.domain, expr.Length) and _is_sampled(e.domain.sequence.ty, lifted) and e.begin is None
        if not whole and (_is_sampled(e.domain.ty, lifted) or (e.over == "range" and _limited(e.domain, lifted))):
            raise _refused(name, e, "loops over some places of it, or numbers up to its limit")
    if isinstance(e, expr.Equal) and any(limits_of(one.ty) & lifted for one in operands if one.ty.kind != "nat"):
        raise _refused(name, e, "compares it as a whole")
    domain = e.domain if isinstance(e, expr.Binder) else None
    if not isinstance(e, READS) and any(_is_sampled(one.ty, lifted) for one in operands if one is not domain):
        raise _refused(name, e, "uses it as a whole")
    if e.ty.kind in ("set", "vec", "opt") and limits_of(e.ty) & lifted:
        raise _refused(name, e, "lists numbers up to its limit")


def _limited(domain: Expression, lifted: frozenset[str]) -> bool:
    """Return whether the end of a range depends on a limit that does not hold."""
    return any(part.ty.kind == "nat" and limits_of(part.ty) & lifted for part in walk(domain))


def _is_sampled(ty: Ty, lifted: frozenset[str]) -> bool:
    return ty.kind == "seq" and ty.hi in lifted


def _refused(name: str, e: Expression, use: str) -> ModelError:
    help = "read its length or single elements, append to it, or write all(.. for k in range(len(..))) in a lemma"
    return ModelError(f"{name}, line {e.line}: a rule about a sequence of any length {use}", help=help)
