"""Judges a change of a rule: by Kafka's answers, in configurations of the suite, in scenarios, and by proofs.

Kafka's answers come first because they take the least time. Then the change is tried in configurations, each of which
is searched once without it. A change that compiles to the same program there, or leads to the same steps from every
reachable state, needs no search; otherwise the changed program is searched until a property breaks that holds without
the change. Each violation is replayed in plain Python. A change that shows in none of these configurations is tried in
larger ones, then in the states that random walks visit in those too large to search, and then in the scenarios.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from functools import cache, cached_property

from msgspec import structs

from elrcheck.base.requests import Limits
from elrcheck.base.roundtrip import Record
from elrcheck.catalogue.proof_settings import outside
from elrcheck.checking.suite.suite_file import SuiteCase, packaged_suites
from elrcheck.invariants.modules import load_whole_model
from elrcheck.kafka.mutation.rule_proof import ProofBench, partition_mutants
from elrcheck.laboratory.rule_trials import AnswerBench, ControllerBench, ScenarioBench, WalkBench
from elrcheck.lang.changed.variations import Variation
from elrcheck.lang.load import Model
from elrcheck.mutation.rule_answer import ChangeVerdict, MutantAnswer, defined, plain_answer
from elrcheck.mutation.rule_mutants import ChangedModel
from elrcheck.mutation.rule_search import SAME, Searched, judged, searched
from elrcheck.results.mutation_report import MutantVerdict

CACHED_BASES = 256
"""Configurations whose programs and states stay in memory; the least recently used is dropped first."""
SEARCHED = 3
"""Searches of a change without a broken property after which no further configuration is tried."""
MANY = 9
"""Configurations with other steps after which no further configuration is tried."""
PATIENCE = 30.0
"""Seconds after which no further configuration is tried, if many rules depend on the changed one."""
BY_STRENGTH: tuple[MutantVerdict, ...] = ("unaffected", "inconclusive", "undefined", "counted")
"""Verdicts of searches in which no property breaks, the weakest first."""


class MutantTask(Record, frozen=True):
    """One change to judge. wider: configurations for a change that shows in none of `configurations`; walks: those
    for random walks, if it shows in none of these either.

    seconds: limit of each search. controller: also judge by `prove --controller`. answers: first judge by Kafka's
    recorded answers. proof: if a property detects the change, also try the proof by induction.
    """

    function: str
    name: str
    configurations: tuple[str, ...]
    wider: tuple[str, ...]
    walks: tuple[str, ...]
    seconds: float
    controller: bool
    answers: bool = True
    proof: bool = False


@cache
def bench() -> RuleBench:
    """Return the bench of this process."""
    return RuleBench()


def judge(task: MutantTask) -> MutantAnswer:
    """Judge one change; runs in a worker process."""
    return bench().judge(task)


class RuleBench:
    """The model, and what judges its changes, each part made when it is first needed."""

    def __init__(self) -> None:
        self.model: Model = load_whole_model()
        self.mutants = partition_mutants(self.model)
        self.cases: Mapping[str, SuiteCase] = {case.name: case for family in packaged_suites() for case in family.cases}
        self.bases: OrderedDict[str, Searched] = OrderedDict()

    @cached_property
    def walks(self) -> WalkBench:
        return WalkBench(self.model, self.cases)

    @cached_property
    def scenarios(self) -> ScenarioBench:
        return ScenarioBench(self.model)

    @cached_property
    def induction(self) -> ProofBench:
        return ProofBench()

    @cached_property
    def controller(self) -> ControllerBench:
        return ControllerBench()

    @cached_property
    def answers(self) -> AnswerBench:
        return AnswerBench({name: self.mutants.fns[name].source for name in self.mutants.functions})

    def base(self, name: str) -> Searched:
        """Return a configuration searched without a change; the last `CACHED_BASES` stay in memory."""
        if name not in self.bases:
            self.bases[name] = self._searched(self.cases[name])
            if len(self.bases) > CACHED_BASES:
                self.bases.popitem(last=False)
        self.bases.move_to_end(name)
        return self.bases[name]

    def _searched(self, case: SuiteCase) -> Searched:
        return searched(self.model, case.selected.config, Limits(max_states=case.max_states), case.reaches)

    def judge_in(self, case: SuiteCase, changed: ChangedModel, seconds: float) -> ChangeVerdict | None:
        """Return how a change shows in a configuration that need not be part of the suite."""
        return judged(self._searched(case), changed, seconds)

    def judge(self, task: MutantTask) -> MutantAnswer:
        started = time.perf_counter()
        variation = self.mutants.find(task.function, task.name)
        plain = plain_answer(self.mutants, variation)
        changed = self.mutants.make(variation)
        if changed is None:
            return structs.replace(plain, typed=False)
        answer = self._judged(plain, changed, task)
        return structs.replace(answer, seconds=round(time.perf_counter() - started, 3))

    def _judged(self, plain: MutantAnswer, changed: ChangedModel, task: MutantTask) -> MutantAnswer:
        """Return the answer of the first check, in the order of the module's docstring, that detects the change."""
        verdict = self.answers.judge(changed) if task.answers else None
        if verdict is not None:
            return plain.shows(verdict)
        answer = self._over_suite(plain, changed, task.configurations, task.seconds)
        if answer.verdict == "unaffected":
            answer = _both(answer, self._over_suite(plain, changed, task.wider, task.seconds))
        for name in task.walks:
            if answer.verdict == "unaffected":
                verdict = defined("a step", self.walks.judge, name, changed)
                answer = structs.replace(answer, compared=answer.compared + 1)
                if verdict is not None:
                    answer = structs.replace(answer.shows(verdict), configuration=name, differs=answer.differs + 1)
        if answer.verdict == "unaffected" and task.walks:
            verdict = defined("a step", self.scenarios.judge, changed)
            answer = answer if verdict is None else answer.shows(verdict)
        if answer.verdict in ("unaffected", "counted") and task.controller:
            verdict = defined("a controller step", self.controller.judge, changed.variation)
            answer = answer if verdict is None else answer.shows(verdict)
        if task.proof and answer.verdict == "found" and answer.depth is not None:
            answer = self._by_induction(answer, changed.variation)
        return answer

    def _over_suite(
        self, plain: MutantAnswer, changed: ChangedModel, names: Sequence[str], seconds: float
    ) -> MutantAnswer:
        started = time.perf_counter()
        compared = differing = same = searches = 0
        strongest: MutantAnswer | None = None
        for name in names:
            if searches == SEARCHED or differing == MANY or time.perf_counter() - started > PATIENCE:
                break
            verdict = defined("a step", judged, self.base(name), changed, seconds)
            compared += 1
            if verdict is None or verdict is SAME:
                same += verdict is SAME
                continue
            differing += 1
            searches += verdict.verdict != "unaffected"
            answer = structs.replace(
                plain.shows(verdict), configuration=name, compared=compared, differs=differing, same=same
            )
            if verdict.verdict == "found":
                return answer
            if strongest is None or BY_STRENGTH.index(answer.verdict) > BY_STRENGTH.index(strongest.verdict):
                strongest = answer
        return structs.replace(strongest or plain, compared=compared, differs=differing, same=same)

    def _by_induction(self, answer: MutantAnswer, variation: Variation) -> MutantAnswer:
        """Return the answer with the proof's: a hole if the proof succeeds although it covers the refuting search."""
        by_proof = self.induction.judge(variation)
        case = self.cases.get(answer.configuration or "")
        covered = case is not None and not outside(case.selected.config)
        hole = covered and by_proof.answer in ("proved", "outside")
        return structs.replace(answer, proof=by_proof.answer, open=by_proof.open, hole=hole)


def _both(first: MutantAnswer, wider: MutantAnswer) -> MutantAnswer:
    """Return the answer about a change that does not show in the first configurations."""
    answer = first if wider.differs == 0 else wider
    compared, same = first.compared + wider.compared, first.same + wider.same
    if same == compared > 0:
        answer = structs.replace(answer, reason=f"the same program in all {same} configurations")
    return structs.replace(answer, compared=compared, differs=first.differs + wider.differs, same=same)
