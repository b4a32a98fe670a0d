"""`elrcheck model diff`: what differs between two models, or two variants of one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from elrcheck.base.errors import UsageFault
from elrcheck.base.progress import Progress
from elrcheck.base.requests import TRACES_SECONDS, TRACES_STATES, CheckRequest, ModelDiffRequest, Selection
from elrcheck.base.typed.configuration import config_values
from elrcheck.checking.check import run_check
from elrcheck.checking.two_models import SIDES, TraceLimits, TwoModels, compared_steps
from elrcheck.declared.declared_model import declared
from elrcheck.declared.select import Selected, resolve
from elrcheck.lang.ir import guard_names
from elrcheck.lang.lowering.lower import lower
from elrcheck.lang.lowering.program_digest import program_digest
from elrcheck.lang.plain import PlainModel
from elrcheck.results.check_report import CheckReport
from elrcheck.results.model_diff_report import ModelDiffReport, ModelSide, OneSidedGuard, PropertyOfTwo, RefusedTrace
from elrcheck.results.trace_view import Change

DEFAULT_NAME = "kafka"
"""The word for the default model."""
DIFFS = (".diff", ".patch")
ABSENT = "absent"


def run_model_diff(request: ModelDiffRequest, progress: Progress) -> ModelDiffReport:
    """Return the comparison of two searched models; inconclusive if a limit ended a search before a difference."""
    selections = [side_of(word, request.selection) for word in (request.a, request.b)]
    selected = [resolve(selection) for selection in selections]
    checks = []
    for name, selection in zip(SIDES, selections, strict=True):
        progress.stage(f"searching {name}")
        checks.append(run_check(_check(request, selection), progress))
    traces, stopped_by = _traces(request, selected, progress)
    properties, guards = tuple(_properties(*checks)), tuple(_guards(selected))
    a, b = (_side(word, check) for word, check in zip((request.a, request.b), checks, strict=True))
    counts = [(side.generated, side.distinct, side.diameter) for side in (a, b)]
    whole = a.complete and b.complete
    differs = (
        properties or guards or any(each.verdict == "found" for each in traces) or (whole and counts[0] != counts[1])
    )
    exhausted = whole and all(each.verdict == "none" for each in traces)
    return ModelDiffReport(
        verdict="different" if differs else "same" if exhausted else "inconclusive",
        a=a,
        b=b,
        settings=tuple(_settings(*selected)),
        properties=properties,
        compared=len({each.id for each in checks[0].properties} & {each.id for each in checks[1].properties}),
        traces=traces,
        guards=guards,
        stopped_by=stopped_by,
    )


def side_of(word: str, base: Selection) -> Selection:
    """Return the selection of a word: MODEL, MODEL@VARIANT or VARIANT; the base has the rest.

    MODEL is a file, a folder, a diff of the base's model, or `kafka`. Raise UsageFault for a missing file.
    """
    model, at, variant = word.rpartition("@")
    if Path(word).exists() or not at:
        model, variant = word, ""
    path = Path(model)
    if model == DEFAULT_NAME:
        side = replace(base, model=None, patch=None)
    elif path.suffix in DIFFS:
        if base.patch is not None:
            raise UsageFault("usage-patch", f"{word} is a diff, and so is --patch", help="leave out --patch")
        side = replace(base, patch=path)
    elif path.exists():
        side = replace(base, model=path, patch=None)
    elif at or "/" in model or path.suffix:
        raise UsageFault("model-file", f"there is no file {model}", help="see `elrcheck model diff --help`")
    else:
        declared(base.source).variant(model)
        side, variant = base, model
    return replace(side, variant=variant) if variant else side


def _check(request: ModelDiffRequest, selection: Selection) -> CheckRequest:
    return CheckRequest(
        selection, request.properties, request.workers, request.limits, fresh=request.fresh, selected=True, kept=True
    )


def _side(name: str, check: CheckReport) -> ModelSide:
    search = check.search
    return ModelSide(
        name,
        check.model,
        check.patch,
        check.variant,
        check.scope,
        check.verdict,
        search.complete,
        search.generated,
        search.distinct,
        search.diameter,
    )


def _settings(a: Selected, b: Selected) -> Iterator[Change]:
    one, other = config_values(a.config), config_values(b.config)
    for name in dict.fromkeys((*one, *other)):
        if one.get(name) != other.get(name):
            yield Change(name, str(one.get(name, ABSENT)), str(other.get(name, ABSENT)))


def _properties(a: CheckReport, b: CheckReport) -> Iterator[PropertyOfTwo]:
    one, other = ({each.id: each for each in check.properties} for check in (a, b))
    for ident in dict.fromkeys((*one, *other)):
        words = [ABSENT if ident not in of else of[ident].verdict + _depth(of[ident].depth) for of in (one, other)]
        if words[0] != words[1]:
            yield PropertyOfTwo(ident, (one.get(ident) or other[ident]).name, *words)


def _depth(depth: int | None) -> str:
    return "" if depth is None else f" at depth {depth}"


def _guards(selected: list[Selected]) -> Iterator[OneSidedGuard]:
    """Yield actions, and guards of shared actions, that only one model has."""
    models = [{fn.name: guard_names(fn) for fn in each.declared.whole().actions} for each in selected]
    for number, side in enumerate(SIDES):
        own, other = models[number], models[1 - number]
        for action, guards in own.items():
            if action not in other:
                yield OneSidedGuard(side, action, None)
                continue
            yield from (OneSidedGuard(side, action, guard) for guard in guards if guard not in other[action])


def _traces(
    request: ModelDiffRequest, selected: list[Selected], progress: Progress
) -> tuple[tuple[RefusedTrace, ...], str | None]:
    """Return for each model the shortest trace that the other refuses, and the limit that ended the search."""
    progress.stage("comparing the programs")
    models = [(each.declared.checked(), each.config) for each in selected]
    programs = [lower(model, config, ()).program for model, config in models]
    if program_digest(programs[0]).system == program_digest(programs[1]).system:
        return tuple(RefusedTrace(side, "none", 0) for side in SIDES), None
    own = request.limits
    limits = TraceLimits(own.max_states or TRACES_STATES, own.max_depth, own.time_budget or TRACES_SECONDS)
    a, b = (PlainModel(model, config) for model, config in models)
    two = TwoModels(a, b, limits, compared_steps(*programs))
    return two.search(progress), two.stopped_by
