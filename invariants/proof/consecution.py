"""The consecution phase: every step preserves every lemma; runs in one process or several.

The unit of work is an instance of an action. Each worker builds the transition relation itself, because
solver terms cannot be pickled; its results are plain values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from elrcheck.base.worker_pool import each
from elrcheck.invariants.modules import load_proof_model
from elrcheck.invariants.proof.obligations import FRAME, Discharge, Prover
from elrcheck.invariants.proof.transition import Instance, Transitions
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.runtime import ModelConfig

Obligation = tuple[str, Fn | None, Discharge]
"""A cell: its name, its lemma or step property (None for `Frame`), and the answer."""

Sent = tuple[str, str | None, Discharge]
"""A cell as sent between processes, with its goal's function name."""


@dataclass(frozen=True)
class Share:
    """One worker's share: instances first, first + stride, ..., against the goals with these names."""

    config: ModelConfig
    goals: tuple[str, ...]
    timeout: float
    first: int
    stride: int


def goals_of(model: Model, names: Sequence[str]) -> list[Fn]:
    """Return the lemmas and then the step properties, by function name."""
    known = {fn.name: fn for fn in (*model.lemmas, *model.always)}
    return [known[name] for name in names]


def obligations(prover: Prover, instance: Instance, goals: Sequence[Fn]) -> Iterator[Obligation]:
    """Discharge all cells of one instance whose goals it can affect."""
    solver = prover.open_step(instance)
    yield FRAME, None, prover.frame(solver, instance)
    for fn in goals:
        done = prover.consecution(solver, instance, fn)
        if done is not None:
            yield fn.ident or fn.name, fn, done


def discharge(share: Share) -> list[tuple[int, list[Sent]]]:
    """Run one process's share: (number of the instance, its cells with the names of their goals)."""
    model = load_proof_model()
    prover = Prover(Transitions(model, share.config), model.lemmas, share.timeout)
    goals = goals_of(model, share.goals)
    mine = list(enumerate(prover.ts.instances))[share.first :: share.stride]
    return [(number, _sent(obligations(prover, instance, goals))) for number, instance in mine]


def _sent(cells: Iterable[Obligation]) -> list[Sent]:
    return [(name, None if fn is None else fn.name, done) for name, fn, done in cells]


def in_processes(
    config: ModelConfig, goals: Sequence[Fn], timeout: float, workers: int
) -> Iterator[tuple[int, list[Obligation]]]:
    """Run `obligations` for every instance of the proof model, in parallel and in no particular order."""
    names = tuple(fn.name for fn in goals)
    by_name = {fn.name: fn for fn in goals}
    stride = 2 * workers
    shares = [Share(config, names, timeout, first, stride) for first in range(stride)]
    for part in each(discharge, shares, workers):
        for number, cells in part:
            yield number, [(cell, None if fn is None else by_name[fn], done) for cell, fn, done in cells]
