"""The consecution phase: every step keeps every lemma, one process or several.

An instance of an action is the unit of work. A worker builds the transition relation itself, because
solver terms cannot be sent; what it sends back are plain values.
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
"""What a cell is called, the lemma or step property (None for `Frame`), and the answer."""

Sent = tuple[str, str | None, Discharge]
"""The same between processes: a goal goes by its function's name."""


@dataclass(frozen=True)
class Share:
    """The instances first, first + stride, ... of a configuration, against the goals of these names."""

    config: ModelConfig
    goals: tuple[str, ...]
    timeout: float
    first: int
    stride: int


def goals_of(model: Model, names: Sequence[str]) -> list[Fn]:
    """Lemmas and step properties by function name, in that order."""
    known = {fn.name: fn for fn in (*model.lemmas, *model.always)}
    return [known[name] for name in names]


def obligations(prover: Prover, instance: Instance, goals: Sequence[Fn]) -> Iterator[Obligation]:
    """All cells of one instance that it can touch."""
    solver = prover.open_step(instance)
    yield FRAME, None, prover.frame(solver, instance)
    for fn in goals:
        done = prover.consecution(solver, instance, fn)
        if done is not None:
            yield fn.ident or fn.name, fn, done


def discharge(share: Share) -> list[tuple[int, list[Sent]]]:
    """The work of one process: (number of the instance, its cells with the names of their goals)."""
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
    """As `obligations` for every instance of the proof model, in no particular order of instances."""
    names = tuple(fn.name for fn in goals)
    by_name = {fn.name: fn for fn in goals}
    stride = 2 * workers
    shares = [Share(config, names, timeout, first, stride) for first in range(stride)]
    for part in each(discharge, shares, workers):
        for number, cells in part:
            yield number, [(cell, None if fn is None else by_name[fn], done) for cell, fn, done in cells]
