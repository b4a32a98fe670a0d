"""Writes obligations for any size as SMT-LIB 2 text, in the form of `smt_text`, over uninterpreted sorts.

The premises declare the functions of a state, and define types, lemmas and properties over them. A script declares
the functions that only its own questions name, and defines their axioms; a question asserts the negation of its goal
with just the lemmas and axioms that it needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import z3

from elrcheck.lang.ir import Fn
from elrcheck.proof.any_size.steps import Unbounded, UnboundedStep
from elrcheck.proof.certificate import CertifiedGoal
from elrcheck.proof.obligations import TYPES
from elrcheck.proof.smt_text import definition, flat, joined, literal, name_of

GUARD = "guard"


class AnySizeText:
    """Writes the obligations of one system. chosen: the properties that it proves beside its lemmas."""

    def __init__(self, system: Unbounded, chosen: Sequence[Fn]) -> None:
        self.system, self.chosen = system, tuple(chosen)
        lemmas = {name: system.lemma(name) for name in system.lemmas}
        implied = {fn.name: system.implied(fn) for fn in chosen if not fn.is_step and fn.name not in lemmas}
        self._now = {TYPES: z3.And(*system.typed), **lemmas, **implied}
        self._shared = _Symbols(self._now.values())

    def premises(self) -> str:
        """Return the functions of a state, types, lemmas and properties; each is assumed only through a literal."""
        return joined(self._premises())

    def _premises(self) -> Iterator[str]:
        yield "(set-logic ALL)"
        yield from self._shared.declarations(_Symbols(()))
        for name, formula in self._now.items():
            yield definition("now", name, formula)
        yield from literal(TYPES)

    def initiation(self, cells: Iterable[CertifiedGoal]) -> str:
        """Return the script that every initial state has its types and satisfies every lemma."""
        goals = {cell.name: self.system.initially(cell.name) for cell in cells}
        script = _Script(self, next(iter(goals.values()))[0] if goals else [])
        for name, (_, goal) in goals.items():
            script.ask(CertifiedGoal(name=name), goal, typed=False)
        return script.text()

    def implication(self, cells: Iterable[CertifiedGoal]) -> str:
        """Return the script that the lemmas imply each property of states."""
        script = _Script(self, [])
        for cell in cells:
            script.ask(cell, self._now[cell.name])
        return script.text()

    def consecution(self, step: UnboundedStep, cells: Iterable[CertifiedGoal]) -> str:
        """Return the script of a step from a state with its types and the lemmas of each question."""
        script = _Script(self, [step.guard])
        for cell in cells:
            goal = step.goal(cell.name)
            script.ask(cell, self._now[cell.name] if goal is None else goal)
        return script.text()

    def impossible(self, steps: Iterable[tuple[str, UnboundedStep]]) -> str:
        """Return the script that no state with its types enables any of these choices of arguments."""
        script = _Script(self, [])
        for name, step in steps:
            script.ask(CertifiedGoal(name=name), z3.Not(step.guard))
        return script.text()


class _Script:
    """A script under construction. premises: assumed by each of its questions."""

    def __init__(self, text: AnySizeText, premises: Sequence[Any]) -> None:
        self.text_of, self.scope = text, text.system.scope
        self.guard = z3.And(*premises) if len(premises) > 1 else next(iter(premises), None)
        self.goals: dict[str, Any] = {}
        self.axioms: dict[int, tuple[str, Any]] = {}
        self.questions: list[str] = []

    def ask(self, cell: CertifiedGoal, goal: Any, *, typed: bool = True) -> None:
        """Add a question with what the cell's proof needs. typed: assume the types of the state."""
        now, name = self.text_of._now, cell.name
        self.goals[name] = goal
        formulas = [*([now[TYPES]] if typed else []), *(now[lemma] for lemma in cell.core), goal]
        formulas += [] if self.guard is None else [self.guard]
        named = [name_of("now", lemma) for lemma in cell.core]
        named += [self._axiom(one) for one in self.scope.needed(formulas, cell.sizes, both_sides=cell.both_sides)]
        named += [] if self.guard is None else [GUARD]
        negated = f"(not {name_of('goal', name)})"
        asserted = f"(and {' '.join(named)} {negated})" if named else negated
        self.questions += [
            "(push 1)",
            f"(assert {asserted})",
            f"(check-sat-assuming ({name_of('lemma', TYPES) if typed else ''}))",
            "(pop 1)",
        ]

    def _axiom(self, formula: Any) -> str:
        if formula.get_id() not in self.axioms:
            self.axioms[formula.get_id()] = (f"axiom!{len(self.axioms)}", formula)
        return self.axioms[formula.get_id()][0]

    def text(self) -> str:
        return joined(self._lines())

    def _lines(self) -> Iterator[str]:
        guard = [] if self.guard is None else [self.guard]
        own = _Symbols([*guard, *self.goals.values(), *(one for _, one in self.axioms.values())])
        yield from own.declarations(self.text_of._shared)
        if self.guard is not None:
            yield f"(define-fun {GUARD} () Bool {flat(self.guard)})"
        for name, goal in self.goals.items():
            yield definition("goal", name, goal)
        for name, axiom in self.axioms.values():
            yield f"(define-fun {name} () Bool {flat(axiom)})"
        yield from self.questions


class _Symbols:
    """The uninterpreted sorts and functions in formulas, in order of first use."""

    def __init__(self, formulas: Iterable[Any]) -> None:
        self.sorts: dict[str, Any] = {}
        self.functions: dict[str, Any] = {}
        self._met: set[int] = set()
        for formula in formulas:
            self._add(formula)

    def _add(self, formula: Any) -> None:
        todo = [formula]
        while todo:
            term = todo.pop()
            if term.get_id() in self._met:
                continue
            self._met.add(term.get_id())
            if z3.is_quantifier(term):
                for k in range(term.num_vars()):
                    self._sort(term.var_sort(k))
                todo.append(term.body())
                todo.extend(term.pattern(k) for k in range(term.num_patterns()))
            elif z3.is_app(term):
                declared = term.decl()
                if declared.kind() == z3.Z3_OP_UNINTERPRETED:
                    self.functions.setdefault(declared.name(), declared)
                    for k in range(declared.arity()):
                        self._sort(declared.domain(k))
                    self._sort(declared.range())
                todo.extend(reversed(term.children()))

    def _sort(self, sort: Any) -> None:
        if sort.kind() == z3.Z3_UNINTERPRETED_SORT:
            self.sorts.setdefault(sort.name(), sort)

    def declarations(self, earlier: _Symbols) -> Iterator[str]:
        """Yield a declaration of each sort and function that `earlier` does not have."""
        yield from (f"(declare-sort {flat(sort)} 0)" for name, sort in self.sorts.items() if name not in earlier.sorts)
        yield from (flat(fn) for name, fn in self.functions.items() if name not in earlier.functions)
