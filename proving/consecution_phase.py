"""The phase of `elrcheck prove` that asks whether every step preserves every lemma, in one process or several.

A refuted obligation is reported as soon as it is known. The unit of work is an action instance. Each worker builds the
transition relation once, because solver terms cannot be pickled; results are plain values.

The digest of an obligation is that of the text of its terms. The text is complete and depends only on the terms, so
equal digests mean equal questions for the solver, in every process.

Obligations that earlier runs have proved are stored by a digest of their contents: the types, some lemmas and the guard
of a step imply the goal after the step. A stored answer is valid only if the text of all these terms is the same, with
the same Z3 and elrcheck; of the lemmas, those that the proof needed. So a changed rule affects the steps that use it,
and a changed lemma its own column and the proofs that needed it. Several proofs of a goal are stored, so that undoing a
change of a lemma finds its answers again. Only proofs are stored; anything else is asked again. An entry of the store
has the obligations of one instance of an action.
"""

from __future__ import annotations

import functools
import hashlib
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

import z3
from msgspec import Meta, structs

from elrcheck.base.errors import EnvironmentFault
from elrcheck.base.kept import named_digests as digests_of
from elrcheck.base.kept.age import KeptOrigin, kept_at
from elrcheck.base.kept.store import LAST_SECOND, Store
from elrcheck.base.progress import ObligationDone, Progress
from elrcheck.base.roundtrip import Record
from elrcheck.base.runner.runner import Processes, Tell, run_tasks
from elrcheck.base.version import __version__
from elrcheck.declared.declared_model import declared
from elrcheck.lang.load import Model
from elrcheck.lang.runtime import ModelConfig
from elrcheck.proof.hypotheses import lemmas_of
from elrcheck.proof.obligations import ALWAYS_ASKED, FRAME, TYPES, Discharge, Prover
from elrcheck.proof.transition import SymbolicStep, Transitions
from elrcheck.proving.covered import RANK
from elrcheck.proving.step_failure import counterexample_lines, step_report
from elrcheck.results.prove_report import CellReport

PROOFS = 4
"""The maximum number of stored proofs of one goal of an instance, each from other lemmas."""


class KeptCell(Record, frozen=True):
    """A proved obligation. core: lemma that the proof needed -> its digest. when: seconds since 1970.

    how: `lemmas` for a proof that needed some, `step` for one from the types and the step alone, `untouched` if the
    step cannot affect the goal.
    """

    how: Literal["lemmas", "step", "untouched"]
    core: dict[str, str]
    seconds: float
    when: Annotated[int, Meta(ge=0, le=LAST_SECOND)]

    @property
    def sound(self) -> bool:
        """Return whether the proof is consistent: it has lemmas exactly if it claims to need some."""
        return bool(self.core) == (self.how == "lemmas") and self.seconds >= 0


class KeptProofs(Record, frozen=True):
    """The proved obligations of an instance, by the digests of their goals; the newest proof first."""

    proofs: dict[str, tuple[KeptCell, ...]]


class KeptCells:
    """The obligations in the store. fresh: ignore existing entries, still write new ones. used: origins of answers."""

    def __init__(self, digests: Digests, fresh: bool) -> None:
        self.store = Store("proofs", KeptProofs, fresh=fresh)
        self.digests = digests
        self.used: list[KeptOrigin] = []

    def find(self, instance: SymbolicStep, goals: Iterable[str]) -> dict[str, Discharge | None]:
        """Return the stored answers, by the names of the goals; None where there was nothing to prove."""
        if self.store.fresh:
            return {}
        key = self._key(instance)
        proofs = self._read(key)
        answers: dict[str, Discharge | None] = {}
        for goal in goals:
            before = proofs.get(self.digests.goal(goal), ())
            if (cell := next(filter(self._current, before), None)) is not None:
                self.used.append(kept_at(cell.when, key))
                proved = Discharge("proved", cell.seconds, frozenset(cell.core), kept=True)
                answers[goal] = None if cell.how == "untouched" else proved
        return answers

    def add(self, instance: SymbolicStep, answers: Mapping[str, Discharge | None]) -> None:
        """Store the proved answers."""
        key, now = self._key(instance), int(time.time())
        proofs = dict(self._read(key))
        for goal, answer in answers.items():
            if answer is None:
                new = KeptCell("untouched", {}, 0.0, now)
            elif answer.verdict == "proved":
                core = {lemma: self.digests.lemmas[lemma] for lemma in sorted(answer.core)}
                new = KeptCell("lemmas" if core else "step", core, answer.seconds, now)
            else:
                continue
            name = self.digests.goal(goal)
            others = (cell for cell in proofs.get(name, ()) if not self._current(cell))
            proofs[name] = (new, *others)[:PROOFS]
        self.store.put(key, KeptProofs(proofs))

    def _current(self, cell: KeptCell) -> bool:
        return all(self.digests.lemmas.get(name) == digest for name, digest in cell.core.items())

    def _read(self, key: str) -> dict[str, tuple[KeptCell, ...]]:
        entry = self.store.peek(key)
        if entry is None:
            return {}
        if not all(cell.sound for cells in entry.value.proofs.values() for cell in cells):
            self.store.refuse(key, "has a proof that does not say what it needs")
            return {}
        return entry.value.proofs

    def _key(self, instance: SymbolicStep) -> str:
        solver = z3.get_version_string()
        return digests_of.key(elrcheck=__version__, solver=solver, instance=self.digests.instance(instance))


class Digests:
    """Digests of the parts of a prover's obligations. lemmas: of each lemma before a step, by name."""

    def __init__(self, prover: Prover) -> None:
        self.prover = prover
        self.lemmas = {name: _of(term) for name, term in prover.now.items()}
        self.types = _of(prover.ts.type_invariant)
        self._goals: dict[str, str] = {FRAME: FRAME, TYPES: TYPES}

    def goal(self, name: str) -> str:
        """Return the digest of a lemma after a step, or of a step property. `instance` covers `Frame` and `Types`."""
        if name not in self._goals:
            self._goals[name] = _of(self.prover.over_next(self.prover.goals[name]))
        return self._goals[name]

    def instance(self, instance: SymbolicStep) -> str:
        """Return the digest of the types, the guard and the whole next state, constants included."""
        next_state = [variable == term for variable, term in instance.becomes]
        return digest([self.types, z3.And(instance.guard, instance.keeps_constants, *next_state).sexpr()])

    def work(self, instance: SymbolicStep, goals: Iterable[str]) -> str:
        """Return the digest of the obligations of an instance, with every lemma."""
        return digest([self.instance(instance), *self.lemmas.values(), *map(self.goal, goals)])


def digest(parts: Iterable[str]) -> str:
    """Return one digest of several texts."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def _of(term: z3.ExprRef) -> str:
    return digest([term.sexpr()])


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


LITTLE = 150
"""Obligations up to which one process is enough: others would take as long to build their terms."""


class ConsecutionPhase:
    """The obligations of all steps of a proof.

    answers: number of an instance -> goal -> the answer; goals that a step cannot affect are missing. settings: what
    the tasks of other processes share, in the order of `ProofTask`.
    """

    def __init__(self, digests: Digests, goals: Sequence[str], progress: Progress, settings: Sequence[Any]) -> None:
        self.digests, self.prover, self.goals = digests, digests.prover, tuple(goals)
        self.progress, self.settings = progress, tuple(settings)
        self.answers: dict[int, dict[str, Discharge]] = {}
        self._decided: set[tuple[int, str]] = set()
        self._printed: set[str] = set()
        """Actions with a counterexample on the progress."""

    def run(self, cells: KeptCells | None, workers: int) -> None:
        """Ask every obligation without a stored answer. An interrupt leaves the answers so far."""
        instances = self.prover.ts.instances
        self.answers = {number: {} for number in range(len(instances))}
        self._decided.clear()
        self._printed.clear()
        work: list[Work] = []
        for number, instance in enumerate(instances):
            stored = cells.find(instance, self.goals) if cells is not None else {}
            for goal, answer in stored.items():
                self.note(number, goal, answer)
            if left := tuple(goal for goal in self.goals if goal not in stored):
                work.append(Work(number, left, self.digests.work(instance, left)))
        for number, answers in self._discharge(work, min(workers, len(work))):
            new: dict[str, Discharge | None] = {}
            for goal, answer in answers:
                new[goal] = answer
                self.note(number, goal, answer)
            if cells is not None:
                cells.add(instances[number], new)

    def _discharge(self, work: Sequence[Work], workers: int) -> Iterator[tuple[int, Iterable[Obligation]]]:
        """Yield the answers to each piece of work; a little work is done in this process, one answer at a time."""
        if workers > 1 and sum(len(part.goals) for part in work) > LITTLE:
            crew = Processes(discharge, [ProofTask(part, *self.settings) for part in work], workers)
            yield from run_tasks(crew, on_tick=self._hear)
            return
        for part in work:
            yield part.number, obligations(self.prover, self.prover.ts.instances[part.number], part.goals)

    def _hear(self, running: Sequence[tuple[ProofTask, Any]]) -> None:
        """Note the refuted obligations of tasks that other processes still work on."""
        for task, refuted in running:
            for goal, answer in refuted or ():
                self.note(task.work.number, goal, answer)

    def note(self, number: int, goal: str, answer: Discharge | None) -> None:
        """Note the first answer to an obligation, None where there is nothing to prove, and tell the progress."""
        if (number, goal) in self._decided:
            return
        self._decided.add((number, goal))
        if answer is None:
            return
        self.answers[number][goal] = answer
        instance = self.prover.ts.instances[number]
        subject, total = f"{instance.action} x {goal}", len(self.prover.ts.instances) * len(self.goals)
        lines: tuple[str, ...] = ()
        if answer.verdict == "refuted" and instance.action not in self._printed:
            self._printed.add(instance.action)
            lines = counterexample_lines(self._report(instance, goal, answer))
        decided = len(self._decided)
        self.progress.tell(
            ObligationDone("consecution", decided, total, subject, answer.verdict, answer.seconds, lines)
        )

    def reports(self) -> list[CellReport]:
        """Report on each action and goal that is refuted or decided for all instances of the action."""
        instances = self.prover.ts.instances
        cells: dict[tuple[str, str], list[tuple[SymbolicStep, Discharge]]] = {}
        undecided = set[tuple[str, str]]()
        for number, instance in enumerate(instances):
            for goal in self.goals:
                cell = instance.action, goal
                if (number, goal) not in self._decided:
                    undecided.add(cell)
                elif goal in self.answers[number]:
                    cells.setdefault(cell, []).append((instance, self.answers[number][goal]))
        return [
            self._cell(goal, answers)
            for (action, goal), answers in cells.items()
            if (action, goal) not in undecided or any(answer.verdict == "refuted" for _, answer in answers)
        ]

    def _cell(self, goal: str, answers: Sequence[tuple[SymbolicStep, Discharge]]) -> CellReport:
        """Report on an action and a goal, with the first of the worst answers of the action's instances."""
        instance, worst = max(answers, key=lambda answer: RANK[answer[1].verdict])
        return structs.replace(
            self._report(instance, goal, worst),
            seconds=round(sum(answer.seconds for _, answer in answers), 3),
            core=tuple(sorted({lemma for _, answer in answers for lemma in answer.core})),
            kept=all(answer.kept for _, answer in answers),
        )

    def _report(self, instance: SymbolicStep, goal: str, answer: Discharge) -> CellReport:
        ts = self.prover.ts
        return step_report(ts.model, ts.config, instance, self.prover.goals.get(goal), answer, goal)
