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
from dataclasses import dataclass
from functools import cache, cached_property

from msgspec import structs

from elrcheck.base.requests import Limits
from elrcheck.base.roundtrip import Record
from elrcheck.catalogue.suite_counts import Counts
from elrcheck.catalogue.suite_file import SuiteCase, packaged_suites
from elrcheck.explorer.kernel.native_code import KernelCache
from elrcheck.explorer.search.changed_search import ChangedSearch, differs
from elrcheck.explorer.search.compiled import Search, SearchSettings
from elrcheck.explorer.search.result import SearchResult
from elrcheck.explorer.search.retrace import Retrace
from elrcheck.explorer.search.vector import VectorSearch
from elrcheck.invariants.modules import load_whole_model
from elrcheck.laboratory.rule_answers import RULE_FAULTS, AnswerBench
from elrcheck.laboratory.rule_controller import ControllerBench
from elrcheck.laboratory.rule_scenarios import ScenarioBench
from elrcheck.laboratory.rule_walks import WalkBench
from elrcheck.lang.changed.altered import planted
from elrcheck.lang.changed.variations import Variation
from elrcheck.lang.load import Model
from elrcheck.lang.lowering.lower import lower
from elrcheck.lang.lowering.lowered import Lowered
from elrcheck.lang.lowering.program import Program
from elrcheck.lang.lowering.relower import relower
from elrcheck.mutation.rule_mutants import Changed, RuleMutants
from elrcheck.mutation.rule_proof import ProofBench
from elrcheck.proving.covered import outside
from elrcheck.results.mutation_report import MutantVerdict, ProofAnswer
from elrcheck.traces.replay import ReplayError, replay_finding

KEPT = 256
"""Configurations whose programs and states stay in memory."""
SEARCHED = 3
"""Searches of a change in which no property breaks; after them only the recorded counts tell it apart."""
MANY = 9
"""Configurations in which a change leads to as many other steps; after them it is told apart in none."""
PATIENCE = 30.0
"""Seconds after which a change that many rules depend on is compared in no more configurations."""
TOLD: tuple[MutantVerdict, ...] = ("unaffected", "inconclusive", "undefined", "counted")
"""What a search that finds nothing says of a change; the later says more."""
UNDEFINED = (ReplayError, *RULE_FAULTS)
"""What a step or its replay may raise when the rule that protected it is changed."""


class MutantTask(Record, frozen=True):
    """One change to judge. wider: configurations for a change that shows in none of the others; walks: those
    that are walked through, for one that shows in none of these either.

    proof: put what a property catches to the proof by induction as well.
    seconds: limit of each search; controller: also by `prove --controller`; answers: first by the packaged
    answers of Kafka.
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


class MutantAnswer(Record, frozen=True):
    """The result for one change. typed: false if the types refuse it, so that it was not compared.

    differs: configurations in which some step or property differs, as far as they were compared. same: those
    in which even the program is the same.
    """

    name: str
    function: str
    place: str
    kind: str
    before: str
    after: str
    typed: bool = True
    verdict: MutantVerdict = "unaffected"
    by: str | None = None
    configuration: str | None = None
    depth: int | None = None
    reason: str | None = None
    compared: int = 0
    differs: int = 0
    same: int = 0
    seconds: float = 0.0
    proof: ProofAnswer | None = None
    open: str | None = None
    hole: bool = False


@dataclass(frozen=True)
class Verdict:
    """How a change shows in one configuration; None for `by` if only counts tell."""

    verdict: MutantVerdict
    by: str | None = None
    depth: int | None = None
    reason: str | None = None


SAME = Verdict("unaffected", reason="the same program")


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
    """The bench of this process."""
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
        self.controller: ControllerBench | None = None

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
    def answers(self) -> AnswerBench:
        """Kafka's answers, read when they are first needed."""
        return AnswerBench(frozenset(self.mutants.functions))

    def base(self, name: str) -> Base:
        found = self.bases.get(name)
        if found is None:
            found = self.bases[name] = self._searched(self.cases[name])
            if len(self.bases) > KEPT:
                self.bases.popitem(last=False)
        self.bases.move_to_end(name)
        return found

    def _searched(self, case: SuiteCase) -> Base:
        lowered = lower(self.model, case.selected.config)
        settings = SearchSettings(Limits(max_states=case.max_states), cache=KernelCache())
        search = Search(lowered.program, settings)
        return Base(case, lowered, search, search.run(None, "complete"))

    def judge_in(self, case: SuiteCase, changed: Changed, seconds: float) -> Verdict | None:
        """How a change shows in a configuration that need not be part of the suite."""
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
            return _with(plain, typed=False)
        other = self.answers.other_answer(changed) if task.answers else None
        if other is not None:
            return _with(
                plain,
                verdict="found",
                by=f"Kafka {other.kafka}",
                configuration=f"conform, {other.event}",
                seconds=round(time.perf_counter() - started, 3),
            )
        answer = self._over_suite(plain, changed, task.configurations, task.seconds)
        if answer.verdict == "unaffected":
            answer = _both(answer, self._over_suite(plain, changed, task.wider, task.seconds))
        if answer.verdict == "unaffected":
            answer = self._over_walks(answer, changed, task.walks)
        if answer.verdict == "unaffected" and task.walks:
            answer = self._over_scenarios(answer, changed)
        if answer.verdict in ("unaffected", "counted") and task.controller:
            answer = self._by_proof(answer, changed)
        if task.proof and answer.verdict == "found" and answer.depth is not None:
            answer = self._by_induction(answer, variation)
        return _with(answer, seconds=round(time.perf_counter() - started, 3))

    def _over_suite(self, plain: MutantAnswer, changed: Changed, names: Sequence[str], seconds: float) -> MutantAnswer:
        started = time.perf_counter()
        compared = differing = same = tried = 0
        kept: MutantAnswer | None = None
        for name in names:
            if tried == SEARCHED or differing == MANY or time.perf_counter() - started > PATIENCE:
                break
            try:
                verdict = self._in(self.base(name), changed, seconds)
            except UNDEFINED as fault:
                verdict = Verdict("undefined", reason=f"a step is undefined: {fault}")
            compared += 1
            if verdict is None or verdict is SAME:
                same += verdict is SAME
                continue
            differing += 1
            tried += verdict.verdict != "unaffected"  # as many steps here may be more of them elsewhere
            answer = _with(
                plain,
                verdict=verdict.verdict,
                by=verdict.by,
                depth=verdict.depth,
                reason=verdict.reason,
                configuration=name,
                compared=compared,
                differs=differing,
            )
            if verdict.verdict == "found":
                return _with(answer, same=same)
            if kept is None or TOLD.index(answer.verdict) > TOLD.index(kept.verdict):
                kept = answer
        return _with(kept or plain, compared=compared, differs=differing, same=same)

    def _over_walks(self, answer: MutantAnswer, changed: Changed, names: Sequence[str]) -> MutantAnswer:
        for name in names:
            try:
                told, verdict = self.walks.told(name, changed), TOLD[-1]
            except UNDEFINED as fault:
                told, verdict = f"a step is undefined: {fault}", "undefined"
            answer = _with(answer, compared=answer.compared + 1)
            if told is not None:
                differs = answer.differs + 1
                return _with(answer, verdict=verdict, configuration=name, reason=told, differs=differs)
        return answer

    def _over_scenarios(self, answer: MutantAnswer, changed: Changed) -> MutantAnswer:
        try:
            told = self.scenarios.told(changed)
        except UNDEFINED as fault:
            return _with(answer, verdict="undefined", reason=f"a step is undefined: {fault}")
        if told is None:
            return answer
        ident, said = told
        return _with(answer, verdict="found", by=ident, configuration=f"scenario {ident}", reason=said)

    def _in(self, base: Base, changed: Changed, seconds: float) -> Verdict | None:
        """How the change shows in a configuration.

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
        return self._told(base, changed, lowered, search, result)

    def _told(
        self, base: Base, changed: Changed, lowered: Lowered, search: VectorSearch | Search, result: SearchResult
    ) -> Verdict:
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
            return Verdict("found", ident, depth)
        old = base.result
        if not result.complete and result.distinct > old.distinct:
            return Verdict("counted", reason=f"more distinct states than the {old.distinct:,} before")
        if not result.complete:
            out_of_range = (result.reason or "").startswith("values out of range")
            return Verdict("undefined" if out_of_range else "inconclusive", reason=result.reason)
        found = set(names.values())
        gone = sorted(name for name in before if name in always and name not in found)
        dead = [ident for ident in base.case.reaches if ident not in found]
        if gone or dead:
            ident = (gone or dead)[0]
            why = f"{ident} no longer breaks" if gone else f"{ident} is no longer reached"
            return Verdict("found", ident, None, why)
        was, now = _counts(old), _counts(result)
        if was != now:
            return Verdict("counted", reason=f"{now}; without the change: {was}")
        return Verdict("unaffected", reason="other steps, as many as without the change")

    def _by_proof(self, answer: MutantAnswer, changed: Changed) -> MutantAnswer:
        if self.controller is None:
            self.controller = ControllerBench()
        try:
            broken = self.controller.broken_rule(changed.variation)
        except UNDEFINED as fault:
            return _with(answer, verdict="undefined", reason=f"a controller step is undefined: {fault}")
        if broken is None:
            return answer
        return _with(
            answer,
            verdict="found",
            by=broken.rule,
            configuration=f"prove --controller, {broken.event}",
            depth=None,
            reason=None,
        )

    def _by_induction(self, answer: MutantAnswer, variation: Variation) -> MutantAnswer:
        """The same change, put to the proof: a hole if that proves what a search it covers refutes."""
        found = self.induction.judge(variation)
        case = self.cases.get(answer.configuration or "")
        covered = case is not None and not outside(case.selected.config)
        hole = covered and found.answer in ("proved", "outside")
        return _with(answer, proof=found.answer, open=found.open, hole=hole)


def _counts(result: SearchResult) -> Counts:
    return Counts(result.generated, result.distinct, result.diameter)


def _both(first: MutantAnswer, wider: MutantAnswer) -> MutantAnswer:
    """What is known of a change that does not show in the first configurations."""
    shown = first if wider.differs == 0 else wider
    compared, same = first.compared + wider.compared, first.same + wider.same
    if same == compared > 0:
        shown = _with(shown, reason=f"the same program in all {same} configurations")
    return _with(shown, compared=compared, differs=first.differs + wider.differs, same=same)


def _with(answer: MutantAnswer, **changes: object) -> MutantAnswer:
    return structs.replace(answer, **changes)
