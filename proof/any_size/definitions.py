"""Values that a formula can only name, each with axioms that define it: sizes of sets, least elements, filters.

Such a value is an uninterpreted function of the bound variables in its definition. For all sizes some function
satisfies the definition, so adding it excludes no state.

Of a size the solver knows only axioms. Each is true of all finite sets: only a set with two members has the size 2 or
more (pair), and only the whole sort that of the sort (full); a subset is not larger (monotone), and smaller if it is
proper (strict); a set with two members more than another has two members outside it (grows); two sets that together
have more members than the sort share one (meet). The axioms are incomplete: a proof from them holds, but a state that
satisfies them need not exist.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import z3

from elrcheck.proof.any_size.subterms import subterms, triggered_by_both_sides
from elrcheck.proof.z3_algebra import formula

OF_TWO = ("monotone", "strict", "grows", "meet")
"""The axioms about two sets, by the names of `of_two`."""


@dataclass(frozen=True)
class Counted:
    """A set with its size. holds: whether a value, given by its scalars, is a member."""

    holds: Callable[..., Any]
    size: Any


def of_one(one: Counted, everything: Any, variables: list[Any]) -> Iterator[tuple[str, Any]]:
    """Yield (name, axiom) about one set. variables: of its type; everything: the size of the type, None if unknown."""
    member = one.holds(*variables)
    yield "natural", one.size >= 0
    yield "empty", (one.size >= 1) == z3.Exists(variables, member)
    others = _others(variables)
    two = z3.And(member, one.holds(*others), _differ(variables, others))
    yield "pair", (one.size >= 2) == z3.Exists([*variables, *others], two)
    if everything is not None:
        yield "bounded", one.size <= everything
        yield "full", (one.size >= everything) == z3.ForAll(variables, member)


def of_two(one: Counted, other: Counted, everything: Any, variables: list[Any]) -> Iterator[tuple[str, Any]]:
    """Yield (name, axiom) about an ordered pair of sets."""
    here, there = one.holds(*variables), other.holds(*variables)
    inside = z3.ForAll(variables, z3.Implies(here, there))
    yield "monotone", z3.Implies(inside, one.size <= other.size)
    others = _others(variables)
    left = z3.Exists(variables, z3.And(there, z3.Not(here)))
    second = z3.And(one.holds(*others), z3.Not(other.holds(*others)), _differ(variables, others))
    two_more = z3.Exists([*variables, *others], z3.And(here, z3.Not(there), second))
    yield "strict", z3.Implies(z3.And(inside, left), one.size < other.size)
    yield "grows", z3.Implies(one.size >= other.size + 2, two_more)
    if everything is not None:
        shared = z3.Exists(variables, z3.And(here, there))
        yield "meet", z3.Implies(one.size + other.size > everything, shared)


def _others(variables: list[Any]) -> list[Any]:
    return [z3.Const(f"{x}.other", x.sort()) for x in variables]


def _differ(some: list[Any], others: list[Any]) -> Any:
    """Return that two values differ in a scalar; SMT-LIB has no `or` of one formula."""
    differences = [x != y for x, y in zip(some, others, strict=True)]
    return z3.Or(*differences) if len(differences) > 1 else differences[0]


# ---------------------------------------------------------------------------- definitions

DIGITS = 16
"""Digits of the digest in a name, which gives equal values the same name in every process."""


@dataclass(frozen=True)
class SizeOfSet:
    """The size of a set that depends on variables.

    function: the size, for values of `over`; condition: that `members` are the scalars of a member.
    """

    function: Any
    over: tuple[Any, ...]
    members: tuple[Any, ...]
    condition: Any
    everything: Any

    def counted(self, over: Sequence[Any]) -> Counted:
        """Return the set and its size for other variables."""

        def holds(*members: Any) -> Any:
            return z3.substitute(self.condition, *zip((*self.over, *self.members), (*over, *members), strict=True))

        return Counted(holds, self.function(*over))


class NamedTerms:
    """The bound variables in use, the arguments of steps by their names, and the definitions so far."""

    def __init__(self) -> None:
        self.bound: list[Any] = []
        self.arguments: dict[str, Any] = {}
        self.definitions: dict[str, tuple[Any, ...]] = {}
        self.sizes: dict[str, SizeOfSet] = {}
        self.lengths: dict[str, Any] = {}
        self._defined: dict[Any, tuple[Any, Any]] = {}
        self._of_all: dict[Any, tuple[Any, list[Any], list[int]]] = {}
        self._listings: dict[str, tuple[Any, Any]] = {}
        self._symbols_of: dict[int, tuple[Any, frozenset[str]]] = {}
        self._axioms_of_two: dict[tuple[tuple[str, ...], tuple[str, ...]], list[Any]] = {}
        self._both_sides: dict[int, tuple[Any, Any]] = {}

    @contextmanager
    def variables(self, sorts: Iterable[Any]) -> Iterator[list[Any]]:
        """Bind new variables, named by the number of those in use, so that equal formulas are equal terms."""
        more = [z3.Const(f"x{len(self.bound) + k}!{sort}", sort) for k, sort in enumerate(sorts)]
        self.bound += more
        try:
            yield more
        finally:
            del self.bound[len(self.bound) - len(more) :]

    # ------------------------------------------------------------------------- the order of a sort

    def list_members(self, sort: Any, count: Any) -> None:
        """Define the order of a sort: each member has a place from 0 to count - 1."""
        listed = z3.Function(f"listed.{sort}", z3.IntSort(), sort)
        place = z3.Function(f"place.{sort}", sort, z3.IntSort())
        self._listings[str(sort)] = (listed, place)
        x, i = z3.Const("x", sort), z3.Int("i")
        of_members = z3.ForAll([x], z3.And(listed(place(x)) == x, place(x) >= 0, place(x) < count), patterns=[place(x)])
        of_places = z3.ForAll([i], z3.Implies(z3.And(i >= 0, i < count), place(listed(i)) == i), patterns=[listed(i)])
        self.definitions[listed.name()] = self.definitions[place.name()] = (of_members, of_places)

    def listed(self, sort: Any, index: Any) -> Any:
        return self._listings[str(sort)][0](index)

    def place(self, sort: Any, member: Any) -> Any:
        return self._listings[str(sort)][1](member)

    # ------------------------------------------------------------------------- definitions

    def free(self, formulas: Iterable[Any], without: Sequence[Any] = ()) -> list[Any]:
        """Return the bound variables that occur in formulas, in the order in which they were bound."""
        met = {x.get_id() for x in self._occurring(formulas, without)}
        return [x for x in self.bound if x.get_id() in met]

    def _occurring(self, formulas: Iterable[Any], without: Sequence[Any]) -> list[Any]:
        """Return the bound variables and the arguments of steps in formulas, in the order of their occurrence."""
        ids = {x.get_id() for x in (*self.bound, *self.arguments.values())} - {x.get_id() for x in without}
        met: list[Any] = []
        todo = list(formulas)
        seen: set[int] = set()
        while todo:
            term = todo.pop()
            if term.get_id() in seen:
                continue
            seen.add(term.get_id())
            if term.get_id() in ids:
                met.append(term)
            todo.extend([term.body()] if z3.is_quantifier(term) else term.children())
        return met

    def define(
        self,
        name: str,
        sorts: Sequence[Any],
        about: Sequence[Any],
        own: Sequence[Any],
        axioms: Callable[..., Iterable[Any]],
    ) -> list[Any]:
        """Return values of these sorts that satisfy the axioms; equal calls return equal values.

        about: the formulas in the axioms; own: those of their variables that the axioms bind. A tuple (argument
        sorts .., sort) stands for a function.
        """
        over = self.free(about, own)
        key_terms, key = _key(name, about, (*over, *own))
        if key not in self._defined:
            text = "\0".join(term.sexpr() for term in key_terms)
            about_what = hashlib.sha256(text.encode()).hexdigest()[:DIGITS]
            functions = []
            for k, sort in enumerate(sorts):
                arguments = sort if isinstance(sort, tuple) else (sort,)
                function = z3.Function(
                    f"{name}!{about_what}.{k}", *(x.sort() for x in over), *arguments[:-1], arguments[-1]
                )
                functions.append(function)
            values = [_applied(function, over) for function in functions]
            where = [value for value in values if z3.is_expr(value)]
            stated = [_for_all(over, formula(one), where) for one in axioms(*values) if one is not True]
            stated += self._as_of_all(name, about, own, over, functions)
            for function in functions:
                self.definitions[function.name()] = tuple(stated)
            self._defined[key] = (key_terms, functions)
        return [_applied(function, over) for function in self._defined[key][1]]

    def _as_of_all(
        self, name: str, about: Sequence[Any], own: Sequence[Any], over: Sequence[Any], functions: list[Any]
    ) -> list[Any]:
        """Return axioms that a value of an argument equals what a lemma names for every member.

        A lemma's own value is stored, for arguments; lemmas are evaluated before the first step.
        """
        occurring = self._occurring(about, own)
        terms, key = _key(name, about, (*occurring, *own))
        if len(occurring) == len(over):
            self._of_all[key] = (terms, functions, [[x.get_id() for x in occurring].index(x.get_id()) for x in over])
        if len(occurring) == len(over) or key not in self._of_all:
            return []
        _, of_all, places = self._of_all[key]
        others = (_applied(function, [occurring[k] for k in places]) for function in of_all)
        same = [(_applied(one, over), other) for one, other in zip(functions, others, strict=True)]
        return [_for_all(over, one == other, [one, other]) for one, other in same if z3.is_expr(one)]

    def size(self, members: Sequence[Any], condition: Any, everything: Any) -> Any:
        """Return the size of the set of values that satisfy a condition; everything: that of the type, or None."""
        over = self.free([condition], members)

        def axioms(size: Any) -> Iterable[Any]:
            whole = SizeOfSet(size.decl(), tuple(over), tuple(members), condition, everything)
            self.sizes[size.decl().name()] = whole
            return [one for _, one in of_one(whole.counted(over), everything, list(members))]

        kinds = "".join(str(x.sort()) for x in members)
        return self.define(f"size.{kinds}", [z3.IntSort()], [formula(condition)], members, axioms)[0]

    # ------------------------------------------------------------------------- what a question needs

    def needed(self, formulas: Sequence[Any], compared: Collection[str], *, both_sides: bool = False) -> list[Any]:
        """Return the definitions of all names in formulas, and the axioms `compared` about pairs of their sizes.

        both_sides: terms of their right sides trigger definitions, too.
        """
        stated: dict[int, Any] = {}
        names: set[str] = set()
        todo = list(formulas)
        while todo:
            for name in sorted(self._symbols(todo.pop()) - names):  # the order decides what the solver proves in time
                names.add(name)
                for axiom in self.definitions.get(name, ()):
                    if axiom.get_id() not in stated:
                        stated[axiom.get_id()] = axiom
                        todo.append(axiom)
        sizes = [size for name, size in self.sizes.items() if name in names]
        own = map(self._triggered, stated.values()) if both_sides else stated.values()
        return [*own, *self._two_sizes(sizes, tuple(compared))]

    def _triggered(self, axiom: Any) -> Any:
        if axiom.get_id() not in self._both_sides:  # the entry holds the axiom, so that Z3 does not reuse its id
            self._both_sides[axiom.get_id()] = (axiom, triggered_by_both_sides(axiom))
        return self._both_sides[axiom.get_id()][1]

    def _symbols(self, term: Any) -> frozenset[str]:
        """Return the symbols of a formula, which many questions share."""
        if term.get_id() not in self._symbols_of:  # the entry holds the term, so that Z3 does not reuse its id
            self._symbols_of[term.get_id()] = (term, symbols(term))
        return self._symbols_of[term.get_id()][1]

    def _two_sizes(self, sizes: Sequence[SizeOfSet], axioms: tuple[str, ...]) -> list[Any]:
        key = (tuple(size.function.name() for size in sizes), axioms)
        if key not in self._axioms_of_two:
            self._axioms_of_two[key] = list(_compared(sizes, axioms))
        return self._axioms_of_two[key]


def _key(name: str, about: Sequence[Any], variables: Sequence[Any]) -> tuple[tuple[Any, ...], Any]:
    """Return the formulas with canonical names for their variables, and the key of their definition."""
    canonical = [(x, z3.Const(f"${k}", x.sort())) for k, x in enumerate(variables)]
    terms = tuple(z3.substitute(term, *canonical) for term in about)
    return terms, (name, tuple(term.get_id() for term in terms))


def _applied(function: Any, over: Sequence[Any]) -> Any:
    """Apply a function to the bound variables; return a Python function of its other arguments if it has more."""
    if function.arity() == len(over):
        return function(*over)
    return lambda *more: function(*over, *more)


def _compared(sizes: Sequence[SizeOfSet], names: Collection[str]) -> Iterator[Any]:
    """Yield axioms about each pair of sets of the same type, also of one set for two values of its variables."""
    for one, other in itertools.product(sizes, repeat=2):
        if [x.sort() for x in one.members] != [x.sort() for x in other.members]:
            continue
        if one is other and not one.over:
            continue
        if one is not other and one.over and [x.sort() for x in one.over] == [x.sort() for x in other.over]:
            over = list(one.over)  # a term for one size makes the solver instantiate axioms of the other
            yield z3.ForAll(over, other.function(*over) >= 0, patterns=[one.function(*over)])
        a = [z3.Const(f"a{k}", x.sort()) for k, x in enumerate(one.over)]
        b = [z3.Const(f"b{k}", x.sort()) for k, x in enumerate(other.over)]
        variables = [z3.Const(f"m{k}", x.sort()) for k, x in enumerate(one.members)]
        pair = (one.counted(a), other.counted(b))
        open_ = [counted.size for counted, over in zip(pair, (a, b), strict=True) if over]
        where = [z3.MultiPattern(*open_)] if open_ else []
        for name, axiom in of_two(*pair, one.everything, variables):
            if name in names:
                yield _for_all([*a, *b], axiom, where)


def _for_all(over: Sequence[Any], axiom: Any, where: Sequence[Any]) -> Any:
    """Quantify an axiom over variables. where: the terms that trigger its instances."""
    return z3.ForAll(list(over), axiom, patterns=list(where)) if over else axiom


def symbols(term: Any) -> frozenset[str]:
    """Return the names of the uninterpreted functions and constants in a formula."""
    named = (part.decl() for part in subterms(term) if z3.is_app(part))
    return frozenset(symbol.name() for symbol in named if symbol.kind() == z3.Z3_OP_UNINTERPRETED)
