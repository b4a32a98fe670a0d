"""The consecution phase, in one process or several: every step preserves every lemma.

The unit of work is an action instance. Each worker builds the transition relation once, because solver terms cannot be
pickled; results are plain values.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from elrcheck.base.errors import EnvironmentFault
from elrcheck.base.runner.runner import Tell
from elrcheck.declared.declared_model import declared
from elrcheck.lang.load import Model
from elrcheck.lang.runtime import ModelConfig
from elrcheck.proof.digests import Digests
from elrcheck.proof.hypotheses import lemmas_of
from elrcheck.proof.obligations import ALWAYS_ASKED, FRAME, TYPES, Discharge, Prover
from elrcheck.proof.transition import SymbolicStep, Transitions

Obligation: TypeAlias = tuple[str, Discharge | None]
"""The name of a goal, and the answer; None if the step cannot affect the goal."""


@dataclass(frozen=True)
class Work:
    """Obligations of one instance. goals: function names of lemmas and step properties, or ALWAYS_ASKED.

    digest: of the whole question, so that another process can check that it asks the same.
    """

    number: int
    goals: tuple[str, ...]
    digest: str


@dataclass(frozen=True)
class ProofTask:
    """Work for another process. assumed: names of the assumptions on steps. small_cores: see `Prover`.

    liveness: also of the lemmas that only waits need.
    """

    work: Work
    config: ModelConfig
    timeout: float
    assumed: tuple[str, ...] = ()
    small_cores: bool = False
    liveness: bool = False


def goal_names(model: Model, properties: Sequence[str], liveness: bool = False) -> tuple[str, ...]:
    """Return all goals of a step: constants and types, the lemmas, then the step properties."""
    return (*ALWAYS_ASKED, *(fn.name for fn in lemmas_of(model, liveness)), *properties)


def obligations(prover: Prover, instance: SymbolicStep, goals: Sequence[str]) -> Iterator[Obligation]:
    """Discharge the goals of one instance, one after the other."""
    solver = prover.open_step(instance)
    for name in goals:
        if name == FRAME:
            yield name, prover.frame(solver, instance)
        elif name == TYPES:
            yield name, prover.types(solver, instance)
        else:
            yield name, prover.consecution(solver, instance, prover.goals[name])


def discharge(task: ProofTask, tell: Tell = lambda _: None) -> tuple[int, list[Obligation]]:
    """Do a task in a worker process; raise EnvironmentFault if its model is another one.

    tell: gets the refuted obligations so far after each of them.
    """
    config: Any = task.config  # frozen, and so hashable
    digests = _digests(config, task.timeout, task.assumed, task.small_cores, task.liveness)
    instances, work = digests.prover.ts.instances, task.work
    if work.number >= len(instances) or digests.work(instances[work.number], work.goals) != work.digest:
        raise EnvironmentFault("model-changed", "a file of the model changed while the proof ran", help="run it again")
    answers, refuted = list[Obligation](), list[Obligation]()
    for goal, answer in obligations(digests.prover, instances[work.number], work.goals):
        answers.append((goal, answer))
        if answer is not None and answer.verdict == "refuted":
            refuted.append((goal, answer))
            tell(tuple(refuted))
    return work.number, answers


@functools.lru_cache(maxsize=1)
def _digests(
    config: ModelConfig, timeout: float, assumed: tuple[str, ...], small_cores: bool, liveness: bool
) -> Digests:
    packaged = declared(None)
    model = packaged.with_waits() if liveness else packaged.with_lemmas()
    transitions = Transitions(model, config, any_order=True, assumed=assumed)
    return Digests(Prover(transitions, lemmas_of(model, liveness), timeout, small_cores))
