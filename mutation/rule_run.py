"""`mutate --rules` of any model: every change of its rules, judged by the properties in one configuration.

The configuration is searched completely without a change, so only what holds there can notice one. A change that
breaks no safety property, and leads to other steps, is put to the liveness properties that hold as well.
`unnoticed` is about this configuration and these properties; `unaffected` changes nothing in it.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path

from msgspec import structs

from elrcheck.base.errors import UsageFault
from elrcheck.base.progress import Progress, Silent
from elrcheck.base.proof_requests import MutateRequest
from elrcheck.base.requests import Limits, Selection
from elrcheck.base.roundtrip import Record
from elrcheck.base.runner.processors import processors
from elrcheck.base.typed.configuration import config_values
from elrcheck.declared.model_file import folders_of_models
from elrcheck.declared.select import Selected, resolve, select_properties
from elrcheck.lang.changed.altered import planted
from elrcheck.lang.load import Model
from elrcheck.mutation.mutation_run import Searches, lassos_of
from elrcheck.mutation.rule_answer import ChangeVerdict, MutantAnswer, defined, plain_answer
from elrcheck.mutation.rule_journal import answered, folder_of
from elrcheck.mutation.rule_mutants import ChangedModel, RuleMutants
from elrcheck.mutation.rule_search import SAME, Searched, judged, searched
from elrcheck.results.mutation_report import MutateReport, MutateVerdict, RuleMutant, RuleSurvey, Unmutated

MOST_STATES, SECONDS = 5_000_000, 60.0
"""The limits of each search, by default."""
SAME_STEPS = ChangeVerdict("unaffected", reason="the same steps from every state")


@dataclass(frozen=True)
class RuleQuestion:
    """What changes are judged by. properties: words; max_states, seconds: limits of each search."""

    selection: Selection
    properties: tuple[str, ...]
    max_states: int
    seconds: float


class RuleTask(Record, frozen=True):
    """A change to judge, by its function and name."""

    question: RuleQuestion
    function: str
    name: str


@cache
def bench(question: RuleQuestion) -> PropertyBench:
    """Return the bench of this process."""
    return PropertyBench(question)


def judge(task: RuleTask) -> MutantAnswer:
    """Judge one change; runs in a worker process."""
    return bench(task.question).judge(task)


class PropertyBench:
    """A model with its selected properties, and its configuration without a change."""

    def __init__(self, question: RuleQuestion) -> None:
        self.question = question
        self.selected: Selected = resolve(question.selection)
        self.model = _with_properties(self.selected.whole_model(), question.properties)
        self.mutants = RuleMutants(self.model, bounds=self.selected.declared.bounds())

    @cached_property
    def base(self) -> Searched:
        """The configuration without a change, searched."""
        return searched(self.model, self.selected.config, Limits(max_states=self.question.max_states))

    @cached_property
    def lively(self) -> tuple[str, ...]:
        """The liveness properties that hold without a change, as far as the search can tell."""
        if not self.model.leads_to or self.selected.declared.no_liveness(self.selected.config) is not None:
            return ()
        outcome, lassos = lassos_of(self.model, self.selected.config, self.model.leads_to, self._searches)
        return tuple(fn.ident for fn in self.model.leads_to if outcome.complete and fn.ident not in lassos)

    @property
    def _searches(self) -> Searches:
        limits = MutateRequest(timeout=self.question.seconds, max_states=self.question.max_states, workers=1)
        return Searches(limits, Silent())

    def judge(self, task: RuleTask) -> MutantAnswer:
        started = time.perf_counter()
        variation = self.mutants.find(task.function, task.name)
        plain = plain_answer(self.mutants, variation)
        plain = structs.replace(plain, place=self._place(plain.place))
        changed = self.mutants.make(variation)
        if changed is None:
            return structs.replace(plain, typed=False)
        verdict = defined("a step", self._judged, changed)
        assert verdict is not None
        answer = structs.replace(
            plain.shows(verdict), compared=1, differs=int(verdict not in (SAME, SAME_STEPS)), same=int(verdict is SAME)
        )
        return structs.replace(answer, seconds=round(time.perf_counter() - started, 3))

    def _place(self, place: str) -> str:
        """Return where a change is: in the files of a patched copy by their paths in the diff, else from here."""
        homes = folders_of_models() if self.selected.patch is not None else (Path.cwd(),)
        path = Path(place)
        home = next((home for home in homes if path.is_relative_to(home)), None)
        return place if home is None else path.relative_to(home).as_posix()

    def _judged(self, changed: ChangedModel) -> ChangeVerdict:
        verdict = judged(self.base, changed, self.question.seconds)
        if verdict is None or verdict is SAME:
            return verdict or SAME_STEPS
        if verdict.verdict not in ("counted", "unaffected"):
            return verdict
        return self._by_liveness(changed) or replace(verdict, verdict="unnoticed")

    def _by_liveness(self, changed: ChangedModel) -> ChangeVerdict | None:
        """Return the liveness property that breaks under the change, of those that hold without; None for none."""
        holding = [fn for fn in changed.model.leads_to if fn.ident in self.lively]
        if not holding:
            return None
        with planted(changed.original, changed.plain):
            outcome, lassos = lassos_of(changed.model, self.selected.config, holding, self._searches)
        if not outcome.complete:
            return ChangeVerdict("inconclusive", reason=outcome.reason)
        if not lassos:
            return None
        first = min(lassos, key=lambda ident: outcome.first[ident])
        return ChangeVerdict("found", first, outcome.first[first])


def _with_properties(model: Model, words: tuple[str, ...]) -> Model:
    """Return the model with these properties alone; with all of them if there are no words."""
    if not words:
        return model
    chosen = frozenset(fn.ident for fn in select_properties(model, words))
    return replace(
        model,
        always=tuple(fn for fn in model.always if fn.ident in chosen),
        sometimes=tuple(fn for fn in model.sometimes if fn.ident in chosen),
        leads_to=tuple(fn for fn in model.leads_to if fn.ident in chosen),
    )


def run_model_rules(request: MutateRequest, progress: Progress) -> MutateReport:
    """Change the rules of the selected model; after an interrupt the report has the answers so far.

    Raise UsageFault for unknown names, and for the folder of another run.
    """
    started = time.perf_counter()
    question = RuleQuestion(
        request.selection, request.properties, request.max_states or MOST_STATES, request.timeout or SECONDS
    )
    place = bench(question)
    if request.run_dir is not None and request.run_dir.is_file():
        raise UsageFault("run-dir-is-file", f"{request.run_dir} is a file, not a folder")
    every = place.mutants.names()
    chosen = place.mutants.sample(place.mutants.choose(request.functions), request.sample, request.seed)
    progress.stage("the search without a change")
    result = place.base.result
    survey = RuleSurvey(
        possible=len(every),
        chosen=len(chosen),
        ill_typed=0,
        configurations=(f"{place.selected.variant}, {place.selected.scope}",),
        controller=False,
        unmutated=Unmutated(
            complete=result.complete,
            distinct=result.distinct,
            generated=result.generated,
            diameter=result.diameter,
            seconds=round(result.seconds, 3),
            violated=tuple(sorted(fn.ident for fn in place.model.always if fn.ident in place.base.first)),
        ),
        reason=result.reason,
    )
    reports: tuple[RuleMutant, ...] = ()
    folder = None
    if result.complete:
        identity = _identity(place)
        folder = request.run_dir or folder_of(identity)
        tasks = [RuleTask(question, function, name) for function, name in chosen]
        ran = answered(tasks, judge, folder, identity, request.workers, progress)
        reports = tuple(answer.report() for answer in ran.answers if answer.typed)
        survey = structs.replace(
            survey,
            ill_typed=len(ran.answers) - len(reports),
            resumed=ran.resumed,
            interrupted=len(ran.answers) < len(tasks),
        )
    return MutateReport(
        verdict=_verdict(survey, reports),
        seconds=round(time.perf_counter() - started, 3),
        workers=request.workers or processors(),
        run_dir=None if folder is None else str(folder),
        rule_survey=survey,
        rules=reports,
        model=place.selected.model,
        patch=place.selected.patch,
    )


def _verdict(survey: RuleSurvey, reports: tuple[RuleMutant, ...]) -> MutateVerdict:
    """Return the verdict. A model does not say which changes it must notice, so an unnoticed one is no failure."""
    if survey.reason is not None or any(rule.verdict == "inconclusive" for rule in reports):
        return "inconclusive"
    return "surveyed" if reports else "nothing_run"


def _identity(place: PropertyBench) -> str:
    """Return what the answers of a run belong to."""
    model, question = place.model, place.question
    identity = {
        "model": place.selected.declared.digest(),
        "config": config_values(place.selected.config),
        "properties": [fn.ident for fn in model.properties],
        "limits": [question.max_states, question.seconds],
    }
    return json.dumps(identity, sort_keys=True)
