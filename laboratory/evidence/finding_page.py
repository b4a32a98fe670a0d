"""The page of one finding: what is lost, its cause, the evidence, steps on a cluster, patch and remedies.

A page adds nothing to the finding's file, and names what was not tried.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from itertools import chain

from elrcheck.catalogue.configured import release_numbers
from elrcheck.catalogue.evidence.evidence_text import (
    LEVEL,
    RUN_COLUMNS,
    broken,
    command,
    control_options,
    elsewhere,
    evidence_of,
    runs_of,
    spans,
)
from elrcheck.catalogue.finding_file import ByHand, Finding, FindingRun, Patch
from elrcheck.catalogue.recipe_notation.recipe_actions import Signal
from elrcheck.catalogue.recipe_notation.recipe_file import Recipe
from elrcheck.laboratory.evidence.page_lines import paragraphs, table, wrapped

WITHOUT_ELR = "it has no ELR (MetadataVersion.isElrSupported)"
"""Why 3.9.1 cannot show most findings, which only the page of the table says."""
SEARCHES_BELOW = "the shortest counterexamples below"
"""Evidence that the page shows without these words."""
USUAL = "4.1.2"
"""The release that a command names if it has the finding."""
COMMENT = re.compile(r"\s*(//|/?\*)")
"""A line of Java or Scala that is only a comment."""
MARK = "<!--catalogue/findings/{finding}.toml-->"


@dataclass(frozen=True)
class FindingPage:
    """The content of a page.

    recipes: those of `reproduce`; flags: rules by which `audit` flags the finding; warnings: rules by which
    `audit --bootstrap` warns that it is one step away; confirmed: releases on which
    Kafka's own tests confirm the patch.
    """

    finding: Finding
    recipes: Sequence[Recipe]
    flags: Sequence[str]
    warnings: Sequence[str]
    confirmed: Sequence[str] = ()

    def text(self) -> str:
        """Return the page as Markdown."""
        finding = self.finding
        facts = f"**Lost:** {finding.lost}. **Kafka:** {finding.versions}. **Public issue:** {finding.issue}."
        lines = chain(
            (f"# {finding.id}: {finding.title}", "", MARK.format(finding=finding.id), ""),
            paragraphs(facts),
            paragraphs(finding.about),
            ("## Cause", ""),
            paragraphs(finding.cause),
            self._evidence(),
            self._how_to_see_it(),
            _steps(finding.by_hand),
            self._patch(),
            ("## What operators can do", ""),
            paragraphs(finding.meanwhile or "No workaround is known."),
        )
        return "\n".join(lines).rstrip() + "\n"

    def _evidence(self) -> Iterator[str]:
        yield from ("## Evidence", "")
        for text in (one for one in evidence_of(self.finding) if one.text != SEARCHES_BELOW):
            yield from wrapped(f"**{text.head[0].upper()}{text.head[1:]}:** {text.text}", bullet="* ")
        yield from self._recipes()
        yield ""
        levels = {part.level for part in self.finding.evidence}
        levels |= {"classes"} if self.finding.junit else set()
        levels |= {"brokers"} if self._tried_recipes else set()
        if missing := [words for level, words in LEVEL.items() if level not in levels]:
            yield from paragraphs(f"Not tried: {', '.join(missing)}.")
        for part in self.finding.prevented:
            if part.by != WITHOUT_ELR:
                yield from paragraphs(f"Not in {spans(part.versions)}: {part.by.rstrip('.')}.")
        if self._tried_recipes:
            rows = ((recipe.id, *runs) for recipe in self._tried_recipes for runs in runs_of(recipe))
            yield from table(RUN_COLUMNS, rows)

    def _recipes(self) -> Iterator[str]:
        """Yield what each recipe does, unless there is only one, what its control changes, and what is forced."""
        for recipe in self._tried_recipes:
            title = f": {recipe.title}" if len(self.recipes) > 1 else ""
            control = f". Control: {recipe.control.title}" if recipe.control is not None else ""
            forced = "".join(f". {text}" for text in _forced(recipe))
            yield from wrapped(f"`elrcheck reproduce {recipe.id}`{title}{control}{forced}", bullet="* ")

    @property
    def _tried_recipes(self) -> list[Recipe]:
        return [recipe for recipe in self.recipes if recipe.seen]

    def _how_to_see_it(self) -> Iterator[str]:
        finding = self.finding
        untried = [recipe for recipe in self.recipes if not recipe.seen]
        searched = finding.runs or finding.elsewhere
        if self.flags or self.warnings or untried or searched:
            yield from ("## How to see it", "")
        flags = f"{_quoted(self.flags)} in a metadata log" if self.flags else ""
        warnings = f"{_quoted(self.warnings)} one step before, on a live cluster" if self.warnings else ""
        if flags or warnings:
            yield from paragraphs(f"`elrcheck audit` flags {'; '.join(filter(None, (flags, warnings)))}.")
        if untried or searched:
            yield "```sh"
            yield from map(_reproduce, untried)
            yield from _searches(finding.runs)
            yield from map(elsewhere, finding.elsewhere)
            yield from ("```", "")

    def _patch(self) -> Iterator[str]:
        yield from ("## Smallest patch", "")
        patch = self.finding.patch
        if patch is None:
            yield from ("None was tried.", "")
            return
        yield from paragraphs(patch.text)
        yield from _diff(patch)
        yield from paragraphs(f"With this change: {'; '.join(self._tried(patch))}.")

    def _tried(self, patch: Patch) -> Iterator[str]:
        """Yield the effect of the patch on each level."""
        knobs = _quoted(patch.knobs, " and ")
        yield f"the controls above hold ({knobs})" if knobs else "not searched in the model"
        if patch.classes:
            effect = "the tests above pass on" if self.finding.junit else "it no longer shows on"
            mends = f", as do those of {' and '.join(patch.mends)}" if patch.mends else ""
            breaks = f", but those of {' and '.join(patch.brings)} fail" if patch.brings else ""
            yield f"{effect} {spans(patch.classes)}{mends}{breaks}"
        elif self.finding.junit:
            yield "the tests above were not run"
        yield f"brokers of {spans(patch.brokers)} no longer show it" if patch.brokers else "brokers were not tried"
        if self.confirmed:
            yield f"Kafka's own tests confirm it on {spans(self.confirmed)}"


def _forced(recipe: Recipe) -> Iterator[str]:
    """Yield which processes a recipe pauses, and its own settings, beside those of every recipe (docs/reproduce.md)."""
    signals = (step.action for step in recipe.steps if isinstance(step.action, Signal))
    paused = {each.broker for each in signals if each.kind == "pause"}
    numbers = [str(number) for number in sorted(number for number in paused if number is not None)]
    brokers = [f"{'brokers' if len(numbers) > 1 else 'broker'} {', '.join(numbers)}"] if numbers else []
    if paused:
        yield f"Pauses {' and '.join([*brokers, *(['the controller'] if None in paused else [])])}"
    settings = {**recipe.cluster.controller, **recipe.cluster.broker}
    if settings:
        yield f"With {', '.join(f'{name}={value}' for name, value in settings.items())}"


def _steps(every: Sequence[ByHand]) -> Iterator[str]:
    if not every:
        return
    yield from ("## Steps on a cluster", "")
    for each in every:
        tried = f"Done on {spans(each.versions)}." if each.versions else "Not tried on brokers."
        yield from paragraphs(f"**{each.title}.** {each.text} {tried}")
        yield from ("```sh", *each.shell.splitlines(), "```", "")


def _diff(patch: Patch) -> Iterator[str]:
    for edit in patch.edits:
        releases = f" of {spans(edit.versions)}" if edit.versions else ""
        times = f", {edit.times} times" if edit.times > 1 else ""
        yield from ("```diff", f"--- {edit.path}{releases}{times}")
        after = edit.insert if edit.replaces else f"{edit.place}\n{edit.insert}"
        yield from _changed_lines(_dedented(edit.place), _dedented(after))
        yield from ("```", "")


def _changed_lines(before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    """Yield the lines that differ, with one line of context on either side; without comments and blank lines."""
    before, after = ([line for line in side if line and not COMMENT.match(line)] for side in (before, after))
    for line in unified_diff(before, after, n=1, lineterm=""):
        if not line.startswith(("---", "+++", "@@")):
            yield f"{line[0]}   {line[1:]}".rstrip()


def _dedented(text: str) -> list[str]:
    """Return the lines of a piece of source that begins within a line, so that only its other lines are indented."""
    first, *others = text.splitlines()
    return [first, *textwrap.dedent("\n".join(others)).splitlines()]


def _searches(runs: Sequence[FindingRun]) -> Iterator[str]:
    """Yield each search and its control, without what the search before has already said."""
    before = searched = noted = ""
    for run in runs:
        note = f"{run.note}: " if run.note else ""
        search = f"{command(run)}   # {note}{broken(run)}"
        if search != searched:
            yield search
        searched = search
        if run.control is not None:
            note = f"{run.control.note}: " if run.control.note and run.control.note != noted else ""
            noted = run.control.note
            others = f"; {', '.join(run.control.also_breaks)} for other reasons" if run.control.also_breaks else ""
            control = f"none with {control_options(run)}{others}"
            yield "#   the same control" if control == before else f"#   control: {note}{control}"
            before = control


def _reproduce(recipe: Recipe) -> str:
    oldest, newest = recipe.versions or (USUAL, USUAL)
    kafka = USUAL if release_numbers(oldest) <= release_numbers(USUAL) <= release_numbers(newest) else oldest
    return f"elrcheck reproduce {recipe.finding}/{recipe.name} --kafka {kafka}   # {recipe.title}"


def _quoted(names: Sequence[str], between: str = ", ") -> str:
    return between.join(f"`{name}`" for name in names)
