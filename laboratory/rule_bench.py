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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from msgspec import structs

from elrcheck.base.requests import Limits
from elrcheck.catalogue.proof_settings import outside
from elrcheck.catalogue.suite_counts import CaseCounts
from elrcheck.catalogue.suite_file import SuiteCase, packaged_suites
from elrcheck.explorer.kernel.native_code import KernelCache
from elrcheck.explorer.search.changed_search import ChangedSearch, differs
from elrcheck.explorer.search.compiled import Search, SearchSettings
from elrcheck.explorer.search.result import SearchResult
from elrcheck.explorer.search.retrace import Retrace
from elrcheck.explorer.search.vector import VectorSearch
from elrcheck.invariants.modules import load_whole_model
from elrcheck.kafka.mutation.rule_mutants import ChangedModel, RuleMutants
from elrcheck.kafka.mutation.rule_proof import ProofBench
from elrcheck.laboratory.rule_answers import AnswerBench
from elrcheck.laboratory.rule_controller import ControllerBench
from elrcheck.laboratory.rule_scenarios import ScenarioBench
from elrcheck.laboratory.rule_task import UNDEFINED, ChangeVerdict, MutantAnswer, MutantTask
from elrcheck.laboratory.rule_walks import WalkBench
from elrcheck.lang.changed.altered import planted
from elrcheck.lang.changed.variations import Variation
from elrcheck.lang.load import Model
from elrcheck.lang.lowering.lower import lower
from elrcheck.lang.lowering.lowered import Lowered
from elrcheck.lang.lowering.program import Program
from elrcheck.lang.lowering.relower import relower
from elrcheck.results.mutation_report import MutantVerdict
from elrcheck.traces.replay import replay_finding

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
SAME = ChangeVerdict("unaffected", reason="the same program")


@dataclass(frozen=True)
class Base:
    """A configuration without the change, searched completely."""

    case: SuiteCase
    lowered: Lowered
    search: Search
    result: SearchResult

    @property
    def first(self) -> dict[str, int]:
        checks = self.lowered.program.checks
        return {checks[check].name: depth for check, depth in self.result.first.items()}


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
        self.mutants = RuleMutants(self.model)
        self.cases: Mapping[str, SuiteCase] = {case.name: case for family in packaged_suites() for case in family.cases}
        self.bases: OrderedDict[str, Base] = OrderedDict()

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

    def base(self, name: str) -> Base:
        if name not in self.bases:
            self.bases[name] = self._searched(self.cases[name])
            if len(self.bases) > CACHED_BASES:
                self.bases.popitem(last=False)
        self.bases.move_to_end(name)
        return self.bases[name]

    def _searched(self, case: SuiteCase) -> Base:
        lowered = lower(self.model, case.selected.config)
        settings = SearchSettings(Limits(max_states=case.max_states), cache=KernelCache())
        search = Search(lowered.program, settings)
        return Base(case, lowered, search, search.run(None, "complete"))

    def judge_in(self, case: SuiteCase, changed: ChangedModel, seconds: float) -> ChangeVerdict | None:
        """Return how a change shows in a configuration that need not be part of the suite."""
        return self._in(self._searched(case), changed, seconds)

    def judge(self, task: MutantTask) -> MutantAnswer:
        started = time.perf_counter()
        variation = self.mutants.find(task.function, task.name)
        plain = MutantAnswer(
            name=variation.name,
            function=variation.function,
            place=self.mutants.place(variation),
            kind=variation.kind,
            before=variation.before,
            after=variation.after,
        )
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
                verdict = _defined("a step", self.walks.judge, name, changed)
                answer = structs.replace(answer, compared=answer.compared + 1)
                if verdict is not None:
                    answer = structs.replace(answer.shows(verdict), configuration=name, differs=answer.differs + 1)
        if answer.verdict == "unaffected" and task.walks:
            verdict = _defined("a step", self.scenarios.judge, changed)
            answer = answer if verdict is None else answer.shows(verdict)
        if answer.verdict in ("unaffected", "counted") and task.controller:
            verdict = _defined("a controller step", self.controller.judge, changed.variation)
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
            verdict = _defined("a step", self._in_suite, name, changed, seconds)
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
        return self._in(self.base(name), changed, seconds)

    def _in(self, base: Base, changed: ChangedModel, seconds: float) -> ChangeVerdict | None:
        """Return how the change shows in a configuration.

        None if every step leads where it led, SAME if even the program is the same.
        """
        config = base.case.selected.config
        change = relower(base.lowered, changed.model, changed.affected)
        limits = Limits(max_states=max(10_000, 2 * base.result.distinct), time_budget=seconds)
        broken = frozenset(check for check in base.result.first if base.lowered.program.checks[check].kind == "always")
        search: VectorSearch | Search
        if change is None:
            with planted(changed.original, changed.plain):
                lowered = lower(changed.model, config)
            search = Search(lowered.program, SearchSettings(limits))
        elif change.same:
            return SAME
        elif not differs(base.search, change):
            return None
        else:
            lowered = base.lowered
            search = ChangedSearch(base.search, change, limits=limits, broken=broken)
        result = search.run(None, "first" if not broken or change is not None else "complete")
        return self._verdict(base, changed, lowered, search, result)

    def _verdict(
        self, base: Base, changed: ChangedModel, lowered: Lowered, search: VectorSearch | Search, result: SearchResult
    ) -> ChangeVerdict:
        program: Program = search.program
        names = {k: program.checks[k].name for k in result.first}
        before = base.first
        always = {check.name for check in program.checks if check.kind == "always"}
        new = [k for k, name in names.items() if name in always and name not in before]
        if new:
            check = min(new, key=lambda k: result.first[k])
            ident, depth = names[check], result.first[check]
            rows = Retrace(search).traces([check])[check]
            fn = next(one for one in changed.model.always if one.ident == ident)
            with planted(changed.original, changed.plain):
                states = tuple(lowered.decode(row) for row in rows)
                replay_finding(changed.model, base.case.selected.config, fn, states)
            return ChangeVerdict("found", ident, depth)
        old = base.result
        if not result.complete and result.distinct > old.distinct:
            return ChangeVerdict("counted", reason=f"more distinct states than the {old.distinct:,} before")
        if not result.complete:
            out_of_range = (result.reason or "").startswith("values out of range")
            return ChangeVerdict("undefined" if out_of_range else "inconclusive", reason=result.reason)
        hit = set(names.values())
        gone = sorted(name for name in before if name in always and name not in hit)
        dead = [ident for ident in base.case.reaches if ident not in hit]
        if gone or dead:
            ident = (gone or dead)[0]
            why = f"{ident} no longer breaks" if gone else f"{ident} is no longer reached"
            return ChangeVerdict("found", ident, None, why)
        counts_before, counts = _counts(old), _counts(result)
        if counts != counts_before:
            return ChangeVerdict("counted", reason=f"{counts}; without the change: {counts_before}")
        return ChangeVerdict("unaffected", reason="other steps, as many as without the change")

    def _by_induction(self, answer: MutantAnswer, variation: Variation) -> MutantAnswer:
        """The same change, put to the proof: a hole if that proves what a search it covers refutes."""
        by_proof = self.induction.judge(variation)
        case = self.cases.get(answer.configuration or "")
        covered = case is not None and not outside(case.selected.config)
        hole = covered and by_proof.answer in ("proved", "outside")
        return structs.replace(answer, proof=by_proof.answer, open=by_proof.open, hole=hole)


def _defined(what: str, judge: Callable[..., ChangeVerdict | None], *arguments: object) -> ChangeVerdict | None:
    """Return a verdict; one about a step that is undefined under the change, if a rule raises."""
    try:
        return judge(*arguments)
    except UNDEFINED as fault:
        return ChangeVerdict("undefined", reason=f"{what} is undefined: {fault}")


def _counts(result: SearchResult) -> CaseCounts:
    return CaseCounts(result.generated, result.distinct, result.diameter)


def _both(first: MutantAnswer, wider: MutantAnswer) -> MutantAnswer:
    """Return what is known of a change that does not show in the first configurations."""
    answer = first if wider.differs == 0 else wider
    compared, same = first.compared + wider.compared, first.same + wider.same
    if same == compared > 0:
        answer = structs.replace(answer, reason=f"the same program in all {same} configurations")
    return structs.replace(answer, compared=compared, differs=first.differs + wider.differs, same=same)
