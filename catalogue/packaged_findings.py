"""The packaged findings, each of which is read once per process."""

from __future__ import annotations

import functools
from importlib.resources import files
from importlib.resources.abc import Traversable

from elrcheck.base.errors import UsageFault, did_you_mean
from elrcheck.catalogue.file_values import packaged_files
from elrcheck.catalogue.finding_file import Finding, read_finding
from elrcheck.catalogue.recipe_notation.recipe_file import packaged_recipes
from elrcheck.results.risk.finding_table import LEVELS


def finding_files() -> tuple[Traversable, ...]:
    """Return the files of the packaged findings, by id."""
    return packaged_files("findings")


@functools.cache
def packaged_finding(file_name: str) -> Finding:
    """Return the finding in one of these files; cached, because reading all of them takes a second."""
    return read_finding(files("elrcheck.catalogue") / "findings" / file_name)


def packaged_findings() -> tuple[Finding, ...]:
    """Return the packaged findings, by id."""
    return tuple(packaged_finding(file.name) for file in finding_files())


def worst_first() -> tuple[Finding, ...]:
    """Return the packaged findings: losses first, within a severity those shown on brokers first, then by number.

    A run of a recipe shows a finding on brokers as much as its [[evidence]] does.
    """
    on_brokers = {recipe.finding for recipe in packaged_recipes() if any(run.shows for run in recipe.seen)}

    def rank(finding: Finding) -> tuple[bool, int, int]:
        levels = [each.level for each in finding.evidence]
        strongest = LEVELS.index("brokers") if finding.id in on_brokers else max(map(LEVELS.index, levels))
        return finding.severity != "loss", -strongest, int(finding.id.removeprefix("F-"))

    return tuple(sorted(packaged_findings(), key=rank))


def find_finding(ident: str) -> Finding:
    """Return the packaged finding with this id, such as F-20; UsageFault if it does not exist."""
    ids = [file.name.removesuffix(".toml") for file in finding_files()]
    if ident not in ids:
        raise UsageFault("unknown-name", f"there is no finding {ident}", help=did_you_mean(ident, ids))
    return packaged_finding(f"{ident}.toml")
