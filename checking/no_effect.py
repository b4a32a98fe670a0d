"""Find the settings of `--set` that make no difference to a search, so that its verdict says nothing about them.

A rule that no reachable state uses might as well be absent; if a setting only enables such a rule, HOLDS says no more
than without it. The search is repeated with each setting at its default, and counts, levels, and the depth of each
property are compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from msgspec import structs

from elrcheck.base.errors import UsageFault
from elrcheck.base.progress import Progress
from elrcheck.base.requests import CheckRequest
from elrcheck.base.typed.configuration import setting_of, setting_text
from elrcheck.checking.engines import SearchSubject, explore
from elrcheck.declared.select import Selected, resolve, select_properties
from elrcheck.lang.ir import Fn
from elrcheck.results.check_report import CheckReport

SHORT = 1.0
"""Longest search, in seconds, that is repeated."""


def with_no_effect(
    report: CheckReport, settings: Sequence[str], request: CheckRequest, selected: Selected, progress: Progress
) -> CheckReport:
    """Return the report with the settings that make no difference, and what the others change.

    Only a short, complete search without violations is repeated: there, an unused setting would pass for a safe one.
    """
    searched = report.search
    lasting = any(each.kind == "leads_to" for each in report.properties)
    if report.extent is None or lasting or report.verdict != "holds" or searched.seconds > SHORT:
        return report
    idle, effect = list[str](), list[str]()
    for name in settings:
        difference = _without(name, report, request, selected, progress)
        pair = f"{name}={setting_text(report.config[name])}"
        if difference == "":
            idle.append(pair)
        elif difference is not None:
            effect.append(f"{pair}: without it {difference}")
    extent = structs.replace(report.extent, no_effect=tuple(idle), effect=tuple(effect))
    return structs.replace(report, extent=extent)


def _without(
    name: str, report: CheckReport, request: CheckRequest, selected: Selected, progress: Progress
) -> str | None:
    """Return what differs in the search without a setting: empty if nothing does, None if there is no such search."""
    overrides = tuple(each for each in request.selection.overrides if setting_of(each) != name)
    try:
        without = resolve(replace(request.selection, overrides=overrides))
    except UsageFault:  # another setting makes sense only together with this one
        return None
    if without.config == selected.config:
        return ""
    model = selected.declared.whole()
    chosen = select_properties(model, request.properties)
    progress.stage(f"searching again without {name}")
    plain = replace(request, run_dir=None, resume=None, drawn=False, fail_on=())
    outcome = explore(SearchSubject(model, without.config, chosen), plain, progress)
    depths = {each.id: each.depth for each in report.properties if each.depth is not None}
    before = (report.search.generated, report.search.levels, depths)
    if (outcome.generated, outcome.levels, outcome.first) == before:
        return ""
    broken = [f"{fn.ident} violated at {outcome.first[fn.ident]}" for fn in chosen if _broken(fn, outcome.first)]
    states = f"{outcome.distinct:,} distinct states"
    return ", ".join(broken) or (states if outcome.complete else f"more than {states}")


def _broken(fn: Fn, first: Mapping[str, int]) -> bool:
    return fn.kind == "always" and fn.ident in first
