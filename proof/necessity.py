"""Finds, for each lemma, an obligation that is open without it: the reason for the lemma.

Without a lemma a proof has one obligation less for each step, and one premise less for all others. So only obligations
that needed the lemma may be open.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import z3

from elrcheck.lang.ir import Fn
from elrcheck.proof.obligations import Prover
from elrcheck.results.prove_report import LemmaNeed

Cores = Mapping[tuple[int, str], frozenset[str]]
"""(number of an instance, goal) -> the lemmas that its proof needed."""


def needs(prover: Prover, cores: Cores, properties: Iterable[Fn]) -> tuple[LemmaNeed, ...]:
    """Return, for each lemma, an obligation that is open without it, if there is one. properties: of states."""
    needed: dict[str, LemmaNeed] = {}
    for fn in properties:
        left = [lemma for lemma in sorted(prover.implication(fn).core) if _undecided(needed, lemma)]
        solver = prover.with_lemmas(z3.Not(prover.claim(fn)))
        for lemma in left:
            _note(needed, lemma, "", fn.ident, _ask(prover, solver, lemma))
    for number, instance in enumerate(prover.ts.instances):
        goals = {goal: core for (at, goal), core in cores.items() if at == number}
        for goal, core in goals.items():
            left = [lemma for lemma in sorted(core) if lemma != goal and _undecided(needed, lemma)]
            if not left:
                continue
            solver = prover.open_step(instance)
            solver.add(z3.Not(prover.formula(instance, goal)))
            for lemma in left:
                _note(needed, lemma, instance.action, goal, _ask(prover, solver, lemma))
    return tuple(needed.get(fn.name, LemmaNeed(fn.name, needed=False)) for fn in prover.lemmas)


def _undecided(needed: Mapping[str, LemmaNeed], lemma: str) -> bool:
    return lemma not in needed or needed[lemma].needed is None


def _note(needed: dict[str, LemmaNeed], lemma: str, action: str, goal: str, answer: Any) -> None:
    if answer == z3.sat:
        needed[lemma] = LemmaNeed(lemma, True, action, goal)
    elif answer == z3.unknown and lemma not in needed:
        needed[lemma] = LemmaNeed(lemma, None, action, goal)


def _ask(prover: Prover, solver: Any, without: str) -> Any:
    return prover.check(solver, (name for name in prover.literals if name != without))
