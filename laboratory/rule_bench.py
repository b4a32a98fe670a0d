"""One change of a rule, judged: by Kafka's answers, over configurations of the suite, then by the proof.

Kafka's answers come first because they take the least time. A configuration is searched once without the
change. A change that leaves the same program there, or the same steps from every reachable state, needs no
search; otherwise the changed program is searched until a property breaks that holds without the change. Each
finding is replayed in plain Python. A change that shows in none of them is tried in larger ones, and then in
the states that random walks meet in those that are too large to search, and at last in the scenarios.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from functools import cache, cached_property

from msgspec import structs

from elrcheck.base.requests import Limits
from elrcheck.catalogue.proof_settings import outside
from elrcheck.checking.suite.suite_file import SuiteCase, packaged_suites
from elrcheck.invariants.modules import load_whole_model
from elrcheck.kafka.mutation.partition_mutants import partition_mutants
from elrcheck.kafka.mutation.rule_proof import ProofBench
from elrcheck.laboratory.rule_answers import AnswerBench
from elrcheck.laboratory.rule_controller import ControllerBench
from elrcheck.laboratory.rule_scenarios import ScenarioBench
from elrcheck.laboratory.rule_task import MutantTask
from elrcheck.laboratory.rule_walks import WalkBench
from elrcheck.lang.changed.variations import Variation
from elrcheck.lang.load import Model
from elrcheck.mutation.rule_answer import ChangeVerdict, MutantAnswer, defined, plain_answer
from elrcheck.mutation.rule_mutants import ChangedModel
from elrcheck.mutation.rule_search import SAME, Searched, judged, searched
from elrcheck.results.mutation_report import MutantVerdict

CACHED_BASES = 256
"""Configurations whose programs and states stay in memory."""
SEARCHED = 3
"""Searches of a change in which no property breaks; after them only the recorded counts tell it apart."""
MANY = 9
"""Configurations in which a change leads to as many other steps; after them, no configuration tells the two apart."""
PATIENCE = 30.0
"""Seconds after which a change that many rules depend on is compared in no more configurations."""
BY_STRENGTH: tuple[MutantVerdict, ...] = ("unaffected", "inconclusive", "undefined", "counted")
"""Verdicts of a search that finds nothing about a change; a later one says more."""


@cache
def bench() -> RuleBench:
    """Return the bench of this process."""
    return RuleBench()


def judge(task: MutantTask) -> MutantAnswer:
    """Judge one change; runs in a worker process."""
    return bench().judge(task)


class RuleBench:
    """The model, and the configurations as far as they are needed."""

    def __init__(self) -> None:
        self.model: Model = load_whole_model()
        self.mutants = partition_mutants(self.model)
        self.cases: Mapping[str, SuiteCase] = {case.name: case for family in packaged_suites() for case in family.cases}
        self.bases: OrderedDict[str, Searched] = OrderedDict()

    @cached_property
    def walks(self) -> WalkBench:
        """The walked configurations, made when they are first needed."""
        return WalkBench(self.model, self.cases)

    @cached_property
    def scenarios(self) -> ScenarioBench:
        """The packaged scenarios, read when they are first needed."""
        return ScenarioBench(self.model)

    @cached_property
    def induction(self) -> ProofBench:
        """The proof by induction, made when it is first needed."""
        return ProofBench()

    @cached_property
    def controller(self) -> ControllerBench:
        """The proof of the controller's rules, made when it is first needed."""
        return ControllerBench()

    @cached_property
    def answers(self) -> AnswerBench:
        """Kafka's answers, read when they are first needed."""
        return AnswerBench({name: self.mutants.fns[name].source for name in self.mutants.functions})

    def base(self, name: str) -> Searched:
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
        """Judge a change by one means after the other, until it shows."""
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
            verdict = defined("a step", self._in_suite, name, changed, seconds)
            compared += 1
            if verdict is None or verdict is SAME:
                same += verdict is SAME
                continue
            differing += 1
            searches += verdict.verdict != "unaffected"  # as many steps here may be more of them elsewhere
            answer = structs.replace(
                plain.shows(verdict), configuration=name, compared=compared, differs=differing, same=same
            )
            if verdict.verdict == "found":
                return answer
            if strongest is None or BY_STRENGTH.index(answer.verdict) > BY_STRENGTH.index(strongest.verdict):
                strongest = answer
        return structs.replace(strongest or plain, compared=compared, differs=differing, same=same)

    def _in_suite(self, name: str, changed: ChangedModel, seconds: float) -> ChangeVerdict | None:
        return judged(self.base(name), changed, seconds)

    def _by_induction(self, answer: MutantAnswer, variation: Variation) -> MutantAnswer:
        """The same change, put to the proof: a hole if that proves what a search it covers refutes."""
        by_proof = self.induction.judge(variation)
        case = self.cases.get(answer.configuration or "")
        covered = case is not None and not outside(case.selected.config)
        hole = covered and by_proof.answer in ("proved", "outside")
        return structs.replace(answer, proof=by_proof.answer, open=by_proof.open, hole=hole)


def _both(first: MutantAnswer, wider: MutantAnswer) -> MutantAnswer:
    """Return what is known of a change that does not show in the first configurations."""
    answer = first if wider.differs == 0 else wider
    compared, same = first.compared + wider.compared, first.same + wider.same
    if same == compared > 0:
        answer = structs.replace(answer, reason=f"the same program in all {same} configurations")
    return structs.replace(answer, compared=compared, differs=first.differs + wider.differs, same=same)
