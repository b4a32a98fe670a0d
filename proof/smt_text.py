"""Writes proof obligations as SMT-LIB 2 text, so that another solver can prove them again.

The premises, shared by all obligations, have the variables of a state and of the next one, the types and each lemma
over either, the step properties, and the assumptions on steps. A script is a part of the proof: the steps of an action
with fixed arguments, initiation, implication, or impossible choices. It states further assumptions, and then has four
lines for each obligation, its negation and the question. The premises followed by a script are a complete SMT-LIB file,
on which every answer must be `unsat`:

    zcat premises.smt2.gz consecution/000-Fence.smt2.gz | cvc5 --incremental

Every line is one command. A lemma is assumed through a literal of its own (`lemma!X`), so each question
names the lemmas it needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import z3

from elrcheck.lang.ir import Fn
from elrcheck.proof.certificate import CertifiedGoal
from elrcheck.proof.obligations import FRAME, TYPES, Prover
from elrcheck.proof.symbolic_values import arbitrary, terms_of
from elrcheck.proof.transition import Excluded, SymbolicStep
from elrcheck.proof.z3_algebra import formula


class SmtText:
    """Writes the obligations of one prover. chosen: the properties that it proves beside its lemmas."""

    def __init__(self, prover: Prover, chosen: Sequence[Fn]) -> None:
        self.prover, self.chosen = prover, tuple(chosen)

    def premises(self) -> str:
        """Return the variables, types, lemmas and properties; each is assumed only through a literal."""
        return joined(self._premises())

    def _premises(self) -> Iterator[str]:
        ts, prover = self.prover.ts, self.prover
        yield "(set-logic ALL)"
        yield from (variable.decl().sexpr() for variable in ts.variables())
        yield definition("now", TYPES, ts.type_invariant)
        yield definition("goal", TYPES, z3.And(*(part for _, part in prover.typed)))
        yield from literal(TYPES)
        for fn in prover.lemmas:
            yield definition("now", fn.name, prover.now[fn.name])
            yield definition("goal", fn.name, prover.over_next(fn))
            yield from literal(fn.name)
        lemmas = {fn.name for fn in prover.lemmas}
        for fn in self.chosen:
            if fn.name in lemmas:  # a property that is proved by induction along with the lemmas
                continue
            kind, formula = ("goal", prover.over_next(fn)) if fn.is_step else ("now", prover.claim(fn))
            yield definition(kind, fn.name, formula)
        for fn, formula in ts.over_both:
            yield definition("assumed", fn.name, formula)

    def initiation(self, cells: Iterable[CertifiedGoal]) -> str:
        """Return the script that the initial state has its types and satisfies every lemma."""
        script = [f"(assert {flat(self.prover.ts.initial())})"]
        for cell in cells:
            script += _question(name_of("now", cell.name), ())
        return joined(script)

    def implication(self, cells: Iterable[CertifiedGoal]) -> str:
        """Return the script that the lemmas imply each property of states."""
        return joined(line for cell in cells for line in _question(name_of("now", cell.name), _assumed(cell)))

    def consecution(self, instance: SymbolicStep, cells: Iterable[CertifiedGoal]) -> str:
        """Return the script of a step of this instance from a state with its types and the lemmas of each question."""
        script = [f"(assert {flat(instance.enabled)})"]
        script += (f"(assert {name_of('assumed', fn.name)})" for fn in self.prover.ts.assumptions)
        script += (f"(assert (= {flat(to)} {flat(term)}))" for to, term in instance.becomes)
        for cell in cells:
            goal = flat(instance.keeps_constants) if cell.name == FRAME else name_of("goal", cell.name)
            script += _question(goal, _assumed(cell))
        return joined(script)

    def impossible(self, excluded: Iterable[Excluded]) -> str:
        """Return the script that no state with its types enables any of these choices of arguments.

        The guards of an action are a function of its arguments, so that a reader sees what excludes a choice; they are
        `false` if a setting excludes all choices.
        """
        choices = list(excluded)
        actions = dict.fromkeys(choice.action for choice in choices)
        script = [line for action in actions for line in self._guards(action)]
        for choice in choices:
            arguments = " ".join(self._argument_text(choice))
            name = name_of("guard", choice.action)
            script += _question(f"(not ({name} {arguments}))" if arguments else f"(not {name})", (TYPES,))
        return joined(script)

    def _guards(self, action: str) -> Iterator[str]:
        ts = self.prover.ts
        fn = ts.model.fns[action]
        arguments = {name: arbitrary(ts.structure, ty, f"arg!{name}") for name, ty in fn.params}
        outcome = ts.evaluator.action(fn, ts.now, {name: symbol.value for name, symbol in arguments.items()})
        terms = [term for symbol in arguments.values() for scalar in symbol.scalars for term in terms_of(scalar.term)]
        parameters = " ".join(f"({flat(term)} {flat(term.sort())})" for term in terms)
        guards = formula(ts.alg.and_([guard for _, guard in outcome.guards]))
        yield f"(define-fun {name_of('guard', action)} ({parameters}) Bool {flat(guards)})"

    def _argument_text(self, choice: Excluded) -> Iterator[str]:
        structure = self.prover.ts.structure
        for value, (_, ty) in zip(choice.args, self.prover.ts.model.fns[choice.action].params, strict=True):
            for _, _, scalar in structure.leaves(structure.lift(value, ty), ty):
                for part in terms_of(scalar):
                    yield flat(z3.BoolVal(part) if isinstance(part, bool) else z3.IntVal(part))


def joined(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def flat(term: Any) -> str:
    """Format a term on one line; no name of the model contains blanks."""
    return " ".join(term.sexpr().split())


def name_of(kind: str, name: str) -> str:
    """Return a symbol of SMT-LIB; a choice of arguments, such as `Fetch(f=0)`, needs bars around it."""
    return f"{kind}!{name}" if name.isidentifier() else f"|{kind}!{name}|"


def definition(kind: str, name: str, term: Any) -> str:
    """Return a command that names a formula."""
    return f"(define-fun {name_of(kind, name)} () Bool {flat(term)})"


def literal(name: str) -> Iterator[str]:
    """Yield commands for a literal through which a lemma, or the types, can be assumed."""
    yield f"(declare-fun {name_of('lemma', name)} () Bool)"
    yield f"(assert (=> {name_of('lemma', name)} {name_of('now', name)}))"


def _assumed(cell: CertifiedGoal) -> tuple[str, ...]:
    return (TYPES, *cell.core)


def _question(goal: str, assumed: Sequence[str]) -> tuple[str, ...]:
    literals = " ".join(name_of("lemma", name) for name in assumed)
    return "(push 1)", f"(assert (not {goal}))", f"(check-sat-assuming ({literals}))", "(pop 1)"
