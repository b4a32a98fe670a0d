"""More triggers for definitions, so that the solver also uses one where only its right side speaks of a member.

`f(x) == body(x)` is instantiated at the members at which the solver meets `f`. Whether a set of the next state is empty
depends on members that only the state before names: the instance at such a member has to come from a term of the body.
A trigger says where an axiom is instantiated, and not what it says, so what is proved with more of them holds.
"""

from __future__ import annotations

from typing import Any

import z3

from elrcheck.proof.any_size.subterms import subterms


def triggered_by_both_sides(axiom: Any) -> Any:
    """Return the axiom with a trigger for each term of its right side that has all its variables as arguments.

    Its other arguments, such as that of the step, are constants. Return the axiom itself unless it is
    `for all x: f(x) == ..`.
    """
    if not (z3.is_quantifier(axiom) and axiom.is_forall() and z3.is_eq(axiom.body())):
        return axiom
    own = [z3.Const(f"own!{k}", axiom.var_sort(k)) for k in range(axiom.num_vars())]
    whole = z3.substitute_vars(axiom.body(), *reversed(own))
    name, body = whole.children()
    if not (_is_application(name) and [x.get_id() for x in name.children()] == [x.get_id() for x in own]):
        return axiom
    own_ids = sorted(x.get_id() for x in own)

    def triggers(term: Any) -> bool:
        arguments = sorted(x.get_id() for x in term.children() if x.get_id() in own_ids)
        return _is_application(term) and arguments == own_ids and all(map(z3.is_const, term.children()))

    patterns = [term for term in subterms(body, inside_quantifiers=False) if triggers(term)]
    return z3.ForAll(own, whole, patterns=[name, *patterns])


def _is_application(term: Any) -> bool:
    return bool(z3.is_app(term) and term.decl().kind() == z3.Z3_OP_UNINTERPRETED)
