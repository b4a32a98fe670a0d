"""`mutate --rules` of any model: every change of its rules, judged by the properties in one configuration or several.

Each configuration is first searched completely without a change, and only properties that hold there can notice one.
If a change alters steps but breaks no safety property, the liveness properties that hold are checked too. No further
configuration is tried once one notices the change. `unnoticed` applies to these configurations and properties only;
`unaffected` changes nothing in any of them.
"""

from __future__ import annotations

import fnmatch
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path

from msgspec import structs

from elrcheck.base.errors import UsageFault, did_you_mean
from elrcheck.base.progress import Progress, Silent
from elrcheck.base.proof_requests import MutateRequest
from elrcheck.base.requests import Limits, Selection
from elrcheck.base.roundtrip import Record
from elrcheck.base.runner.processors import processors
from elrcheck.base.typed.configuration import config_values
from elrcheck.checking.runs.folders import reject_file
from elrcheck.declared.declared_model import declared
from elrcheck.declared.model_file import folders_of_models
from elrcheck.declared.select import Selected, resolve, select_properties
from elrcheck.explorer.search.outcome import outcome_of
from elrcheck.lang.changed.altered import planted
from elrcheck.lang.load import Model
from elrcheck.mutation.mutation_run import Searches, lassos_of, unmutated
from elrcheck.mutation.rule_answer import ChangeVerdict, MutantAnswer, answered, defined, folder_of, plain_answer
from elrcheck.mutation.rule_mutants import ChangedModel, RuleMutants
from elrcheck.mutation.rule_search import SAME, Searched, judged, searched
from elrcheck.results.mutation_report import (
    MutantVerdict,
    MutateReport,
    MutateVerdict,
    RuleMutant,
    RuleSurvey,
    Unmutated,
)

MOST_STATES, SECONDS = 5_000_000, 60.0
"""The limits of each search, by default."""
SAME_STEPS = ChangeVerdict("unaffected", reason="the same steps from every state")
NO_OTHER_STEP = (SAME.reason, SAME_STEPS.reason)
WEIGHT = {"unaffected": 0, "unnoticed": 1, "inconclusive": 2}
"""The verdicts after which the next configuration is tried. The heaviest verdict is that on the change."""


@dataclass(frozen=True)
class RuleQuestion:
    """How changes are judged. scopes: of the configurations; properties: words; max_states, seconds: of each search."""

    selection: Selection
    scopes: tuple[str, ...]
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
    """Return the bench of this process, with its searches done so far."""
    return PropertyBench(question)


def judge(task: RuleTask) -> MutantAnswer:
    """Judge one change; runs in a worker process."""
    return bench(task.question).judge(task)


class PropertyBench:
    """A model with its selected properties, and its configurations without a change."""

    def __init__(self, question: RuleQuestion) -> None:
        self.question = question
        every = [resolve(replace(question.selection, scope=scope)) for scope in question.scopes]
        self.selected: Selected = every[0]
        self.model = _with_properties(self.selected.declared.whole(), question.properties)
        self.mutants = RuleMutants(self.model, bounds=self.selected.before.bounds)
        self.places = tuple(JudgingConfiguration(self.model, selected, question) for selected in every)

    def judge(self, task: RuleTask) -> MutantAnswer:
        started = time.perf_counter()
        variation = self.mutants.find(task.function, task.name)
        plain = plain_answer(self.mutants, variation)
        plain = structs.replace(plain, place=self._place(plain.place))
        changed = self.mutants.make(variation)
        if changed is None:
            return structs.replace(plain, typed=False)
        verdicts = list(self._verdicts(changed))
        answer = structs.replace(
            plain.shows(max(verdicts, key=lambda verdict: WEIGHT.get(verdict.verdict, len(WEIGHT)))),
            compared=len(verdicts),
            differs=sum(verdict.verdict != "unaffected" or verdict.reason not in NO_OTHER_STEP for verdict in verdicts),
            same=sum(verdict.reason == SAME.reason for verdict in verdicts),
        )
        return structs.replace(answer, seconds=round(time.perf_counter() - started, 3))

    def _verdicts(self, changed: ChangedModel) -> Iterator[ChangeVerdict]:
        """Yield the verdict on a change in one configuration after the other, until one notices it."""
        for place in self.places:
            verdict = defined("a step", place.judged, changed)
            assert verdict is not None
            yield replace(verdict, configuration=place.name if len(self.places) > 1 else None)
            if verdict.verdict not in WEIGHT:
                return

    def _place(self, place: str) -> str:
        """Return the place of a change, relative to the patched copy of the model or to the current folder."""
        homes = folders_of_models() if self.selected.patch is not None else (Path.cwd(),)
        path = Path(place)
        home = next((home for home in homes if path.is_relative_to(home)), None)
        return place if home is None else path.relative_to(home).as_posix()


class JudgingConfiguration:
    """One configuration of a model, which judges changes."""

    def __init__(self, model: Model, selected: Selected, question: RuleQuestion) -> None:
        self.model, self.selected, self.question = model, selected, question
        self.name = f"{selected.variant}, {selected.scope}"

    @cached_property
    def base(self) -> Searched:
        """The configuration without a change, searched."""
        return searched(self.model, self.selected.config, Limits(max_states=self.question.max_states))

    @cached_property
    def lively(self) -> tuple[str, ...]:
        """The liveness properties that hold without a change; none if the search was incomplete."""
        if not self.model.leads_to or self.selected.before.no_liveness is not None:
            return ()
        outcome, lassos = lassos_of(self.model, self.selected.config, self.model.leads_to, self._searches)
        return tuple(fn.ident for fn in self.model.leads_to if outcome.complete and fn.ident not in lassos)

    @property
    def _searches(self) -> Searches:
        limits = MutateRequest(timeout=self.question.seconds, max_states=self.question.max_states, workers=1)
        return Searches(limits, Silent())

    def judged(self, changed: ChangedModel) -> ChangeVerdict:
        verdict = judged(self.base, changed, self.question.seconds)
        if verdict is None or verdict is SAME:
            return verdict or SAME_STEPS
        if verdict.verdict not in ("counted", "unaffected"):
            return verdict
        unbroken: MutantVerdict = "unnoticed" if verdict.complete else "inconclusive"
        return self._by_liveness(changed) or replace(verdict, verdict=unbroken)

    def _by_liveness(self, changed: ChangedModel) -> ChangeVerdict | None:
        """Return the verdict if the change breaks a liveness property that holds without it, else None."""
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

    def reason(self, places: int) -> str | None:
        """Return why the search is incomplete, with the name of the configuration if there are several."""
        reason = self.base.result.reason
        return f"{self.name}: {reason}" if places > 1 else reason

    def unmutated(self) -> Unmutated:
        """Return the report of the search without a change."""
        report = unmutated(outcome_of(self.base.lowered.program, self.base.result))
        always = {fn.ident for fn in self.model.always}
        return structs.replace(report, violated=tuple(ident for ident in report.violated if ident in always))


def _with_properties(model: Model, words: tuple[str, ...]) -> Model:
    """Return the model with only the properties that these words select; with all if there are no words."""
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
    scopes = _scopes(request)
    question = RuleQuestion(
        request.selection, scopes, request.properties, request.max_states or MOST_STATES, request.timeout or SECONDS
    )
    place = bench(question)
    reject_file(request.run_dir)
    every = place.mutants.names()
    chosen = place.mutants.sample(place.mutants.choose(request.functions), request.sample, request.seed)
    progress.stage("the search without a change")
    unfinished = next((each for each in place.places if not each.base.result.complete), None)
    first = unfinished or place.places[0]
    survey = RuleSurvey(
        possible=len(every),
        chosen=len(chosen),
        ill_typed=0,
        configurations=tuple(each.name for each in place.places),
        controller=False,
        unmutated=first.unmutated() if unfinished or len(place.places) == 1 else None,
        reason=None if unfinished is None else unfinished.reason(len(place.places)),
    )
    reports: tuple[RuleMutant, ...] = ()
    folder = None
    if unfinished is None:
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


def _scopes(request: MutateRequest) -> tuple[str, ...]:
    """Return the scopes of the configurations: those that --configuration names, or that of the selection."""
    if not request.configurations:
        return (request.selection.scope,)
    names = declared(request.selection.source).scope_names
    for word in request.configurations:
        if not fnmatch.filter(names, word):
            help = did_you_mean(word, names)
            raise UsageFault("unknown-scope", f"the model has no scope `{word}` to judge in", help=help)
    return tuple(name for name in names if any(fnmatch.fnmatchcase(name, word) for word in request.configurations))


def _verdict(survey: RuleSurvey, reports: tuple[RuleMutant, ...]) -> MutateVerdict:
    """Return the verdict. A model does not say which changes it must notice, so an unnoticed one is not a failure."""
    if survey.reason is not None or any(rule.verdict == "inconclusive" for rule in reports):
        return "inconclusive"
    return "surveyed" if reports else "nothing_run"


def _identity(place: PropertyBench) -> str:
    """Return everything that the answers of a run depend on, as JSON."""
    model, question = place.model, place.question
    identity = {
        "model": place.selected.declared.digest(),
        "config": [config_values(each.selected.config) for each in place.places],
        "properties": [fn.ident for fn in model.properties],
        "limits": [question.max_states, question.seconds],
    }
    return json.dumps(identity, sort_keys=True)
