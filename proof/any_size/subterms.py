"""The terms of which a formula consists, and more triggers for definitions and axioms, made of them.

`f(x) == body(x)` is instantiated at the members at which the solver meets `f`. Whether a set of the next state is empty
depends on members that only the state before names: the instance at such a member has to come from a term of the body.
A trigger says where an axiom is instantiated, and not what it says, so what is proved with more of them holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import z3


def subterms(term: Any, inside_quantifiers: bool = True) -> Iterator[Any]:
    """Yield a term and every term in it, each once; those inside quantifiers unless they are left out."""
    seen: set[int] = set()
    todo = [term]
    while todo:
        part = todo.pop()
        if part.get_id() in seen:
            continue
        seen.add(part.get_id())
        yield part
        if not z3.is_quantifier(part):
            todo.extend(part.children())
        elif inside_quantifiers:
            todo.append(part.body())


def opened(quantifier: Any, depth: int = 0) -> tuple[list[Any], Any]:
    """Return constants for the variables of a quantifier, and its body about them. depth: of quantifiers around it."""
    own = [z3.Const(f"own!{depth}.{k}", quantifier.var_sort(k)) for k in range(quantifier.num_vars())]
    return own, z3.substitute_vars(quantifier.body(), *reversed(own))


def is_universal(term: Any) -> bool:
    return bool(z3.is_quantifier(term) and term.is_forall())


def is_choice(term: Any) -> bool:
    """Return whether a formula is a choice between two formulas."""
    return bool(z3.is_app_of(term, z3.Z3_OP_ITE) and z3.is_bool(term))


def triggered_by_both_sides(axiom: Any) -> Any:
    """Return the axiom with a trigger for each term of its right side that has all its variables as arguments.

    Its other arguments, such as that of the step, are constants. Return the axiom itself unless it is
    `for all x: f(x) == ..`.
    """
    if not (z3.is_quantifier(axiom) and axiom.is_forall() and z3.is_eq(axiom.body())):
        return axiom
    own, whole = opened(axiom)
    name, body = whole.children()
    if not (_is_application(name) and [x.get_id() for x in name.children()] == [x.get_id() for x in own]):
        return axiom
    own_ids = sorted(x.get_id() for x in own)

    def triggers(term: Any) -> bool:
        arguments = sorted(x.get_id() for x in term.children() if x.get_id() in own_ids)
        return _is_application(term) and arguments == own_ids and all(map(z3.is_const, term.children()))

    patterns = [term for term in subterms(body, inside_quantifiers=False) if triggers(term)]
    return z3.ForAll(own, whole, patterns=[name, *patterns])


def triggered_inside(axiom: Any) -> Any:
    """Return an axiom that has triggers with triggers for the quantifiers in it, too, for which Z3 looks for none."""
    if not (z3.is_quantifier(axiom) and axiom.is_forall() and axiom.num_patterns()):
        return axiom
    own, body = opened(axiom)
    patterns = [axiom.pattern(k).children() for k in range(axiom.num_patterns())]
    of_own = [[z3.substitute_vars(term, *reversed(own)) for term in terms] for terms in patterns]
    return z3.ForAll(own, _with_triggers(body, 1), patterns=[z3.MultiPattern(*terms) for terms in of_own])


def _with_triggers(formula: Any, depth: int) -> Any:
    """Return a formula with a trigger, for each quantifier, of each term with all its variables as arguments."""
    if z3.is_quantifier(formula):
        own, body = opened(formula, depth)
        ids = {x.get_id() for x in own}
        terms = (term for term in subterms(body, inside_quantifiers=False) if _is_application(term))
        patterns = [term for term in terms if ids <= {x.get_id() for x in term.children()}]
        quantified = z3.ForAll if formula.is_forall() else z3.Exists
        return quantified(own, _with_triggers(body, depth + 1), patterns=patterns)
    if z3.is_and(formula) or z3.is_or(formula) or z3.is_not(formula) or z3.is_implies(formula):
        return formula.decl()(*(_with_triggers(part, depth) for part in formula.children()))
    return formula


def _is_application(term: Any) -> bool:
    return bool(z3.is_app(term) and term.decl().kind() == z3.Z3_OP_UNINTERPRETED)
