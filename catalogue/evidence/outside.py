"""The findings of a release that a search cannot show, because it leaves out some of their events."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping
from functools import cache
from itertools import pairwise

from elrcheck.base.typed.configuration import parse_overrides
from elrcheck.catalogue.configured import search_config
from elrcheck.catalogue.events import allowed, missing
from elrcheck.catalogue.evidence.searched import RELEASED, packaged_searches, released
from elrcheck.model.config import Config
from elrcheck.results.check_report import FindingOutside


def findings_outside(variant: str, config: Config) -> tuple[FindingOutside, ...]:
    """Return the findings that recorded searches show for the variant, those with the fewest missing events first.

    Empty for a variant that is not a release. Leaves out a finding whose events are all within the budgets: its own
    search may have other sizes, so only the present search can tell whether it shows.
    """
    from elrcheck.catalogue.packaged_findings import find_finding

    needed = ((ident, missing(config, searched)) for ident, searched in _searched(released(variant)))
    nearest_first = sorted((len(events), ident, events) for ident, events in needed if events)
    findings = ((find_finding(ident), events) for _, ident, events in nearest_first)
    return tuple(FindingOutside(finding.id, finding.title, finding.lost, events) for finding, events in findings)


def danger(variant: str) -> Mapping[str, int]:
    """Return event -> the number of findings whose recorded search needs it, in this release or else the newest."""
    searched = _searched(released(variant) or RELEASED[-1].name)
    return Counter(event for _, config in searched for event in allowed(config))


@cache
def _searched(variant: str | None) -> tuple[tuple[str, Config], ...]:
    """Return the findings that the recorded searches show for a released variant, with what was searched."""
    searches = (each for each in packaged_searches() if each.variant == variant and each.broken_by_finding)
    return tuple((each.finding, _config(each.command)) for each in searches)


def _config(command: str) -> Config:
    """Return the configuration of a recorded command line."""
    words = shlex.split(command)

    def values_of(option: str) -> list[str]:
        return [value for name, value in pairwise(words) if name == option]

    (variant,), (scope,) = values_of("--variant"), values_of("--scope")
    return search_config(variant, scope, parse_overrides(Config, values_of("--set")))
