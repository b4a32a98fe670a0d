"""The findings of a release that a search cannot show, because it leaves out some of their events."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping
from functools import cache
from itertools import pairwise

from elrcheck.base.typed.configuration import build_config, parse_overrides
from elrcheck.catalogue.configured import find_variant, packaged_scope
from elrcheck.catalogue.events import allowed, missing
from elrcheck.catalogue.evidence.searched import RELEASED, packaged_searches
from elrcheck.model.config import Config
from elrcheck.results.check_report import FindingOutside


def findings_outside(variant: str, config: Config) -> tuple[FindingOutside, ...]:
    """Return the findings that recorded searches show for the variant, those with the fewest missing events first.

    None for a variant that is not a release. Leaves out a finding whose events are all within the budgets: its own
    search may have other sizes, so only the present search can tell whether it shows.
    """
    findings = []
    for finding, searched in _searched(_released(variant)):
        needs = missing(config, searched)
        if needs:
            findings.append((len(needs), finding, needs))
    return tuple(FindingOutside(finding, *_title_and_loss(finding), needs) for _, finding, needs in sorted(findings))


def danger(variant: str) -> Mapping[str, int]:
    """Return event -> the number of findings whose recorded search needs it, in this release or else the newest."""
    searched = _searched(_released(variant) or RELEASED[-1].name)
    return Counter(event for _, config in searched for event in allowed(config))


def _released(variant: str) -> str | None:
    """Return the name of a variant that stands for releases; None for any other."""
    return next((v.name for v in RELEASED if variant in (v.name, *v.aliases)), None)


@cache
def _searched(variant: str | None) -> tuple[tuple[str, Config], ...]:
    """Return the findings that the recorded searches show for a released variant, with what was searched."""
    searches = (each for each in packaged_searches() if each.variant == variant and each.broken_by_finding)
    return tuple((each.finding, _config(each.command)) for each in searches)


@cache
def _title_and_loss(ident: str) -> tuple[str, str]:
    """Return the title of a finding, and what is lost."""
    from elrcheck.catalogue.packaged_findings import find_finding

    finding = find_finding(ident)
    return finding.title, finding.lost


def _config(command: str) -> Config:
    """Return the configuration of a recorded command line."""
    words = shlex.split(command)

    def values_of(option: str) -> list[str]:
        return [value for name, value in pairwise(words) if name == option]

    (variant,), (scope,) = values_of("--variant"), values_of("--scope")
    overrides = parse_overrides(Config, values_of("--set"))
    return build_config(Config, find_variant(variant).knobs, packaged_scope(scope).values, overrides)
