"""The page of one finding: what is lost, its cause, the evidence, steps on a cluster, patch and remedies.

A page adds nothing to the finding's file, and names what was not tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from itertools import chain

from elrcheck.catalogue.configured import release_numbers
from elrcheck.catalogue.finding_file import ByHand, Finding, FindingRun, Patch
from elrcheck.catalogue.finding_text import broken, command, control_options, elsewhere
from elrcheck.catalogue.recipe_notation.recipe_file import Recipe
from elrcheck.catalogue.recipe_notation.recipe_seen import SeenRun
from elrcheck.laboratory.evidence.page_lines import paragraphs, spans, table, wrapped

LEVEL = {"model": "the partition's model", "classes": "Kafka's own classes", "brokers": "brokers"}
WITHOUT_ELR = "it has no ELR (MetadataVersion.isElrSupported)"
"""Why 3.9.1 cannot show most findings, which only the page of the table says."""
USUAL = "4.1.2"
"""The release that a command names if it has the finding."""
MARK = "<!-- catalogue/findings/{finding}.toml -->"


@dataclass(frozen=True)
class FindingPage:
    """The content of a page.

    recipes: those of `reproduce`; flags: rules by which `audit` flags the finding; warnings: rules by which
    `audit --bootstrap` warns that it is one step away; every: all releases, in order; confirmed: releases on which
    Kafka's own tests confirm the patch.
    """

    finding: Finding
    recipes: Sequence[Recipe]
    flags: Sequence[str]
    warnings: Sequence[str]
    every: Sequence[str]
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
            _steps(finding.by_hand, self.every),
            self._patch(),
            ("## What operators can do", ""),
            paragraphs(finding.meanwhile or "No workaround is known."),
        )
        return "\n".join(lines).rstrip() + "\n"

    def _evidence(self) -> Iterator[str]:
        yield from ("## Evidence", "")
        parts = ((part.level, self._span(part.versions), " ".join(part.text.split())) for part in self.finding.evidence)
        for level, versions, text in chain(parts, self._junit_results()):
            yield from wrapped(f"**{level}{', ' if versions else ''}{versions}:** {text}", bullet="* ")
        yield ""
        levels = {part.level for part in self.finding.evidence}
        levels |= {"classes"} if self.finding.junit else set()
        levels |= {"brokers"} if any(recipe.seen for recipe in self.recipes) else set()
        if missing := [words for level, words in LEVEL.items() if level not in levels]:
            yield from paragraphs(f"Not tried: {', '.join(missing)}.")
        for part in self.finding.prevented:
            if part.by != WITHOUT_ELR:
                yield from paragraphs(f"Not in {self._span(part.versions)}: {part.by.rstrip('.')}.")
        if any(recipe.seen for recipe in self.recipes):
            columns = ("`elrcheck reproduce`", "Kafka", "run", "control")
            yield from table(columns, self._runs())

    def _junit_results(self) -> Iterator[tuple[str, str, str]]:
        """Yield the results of the exported tests, grouped by the releases on which they fail and pass."""
        together: dict[tuple[str, str], list[str]] = {}
        for run in self.finding.junit:
            together.setdefault((self._span(run.fails), self._span(run.passes)), []).append(run.property)
        for (fails, passes), names in together.items():
            several = len(names) > 1
            tests = " and ".join(f"`elrcheck export junit {self.finding.id} --property {name}`" for name in names)
            passed = f"; {'they pass' if several else 'it passes'} on {passes}" if passes else ""
            yield (
                "classes",
                fails,
                f"the {'tests' if several else 'test'} of {tests} {'fail' if several else 'fails'}{passed}",
            )

    def _runs(self) -> Iterator[Sequence[str]]:
        """Yield a row for all releases on which a recipe's runs have the same result; a single recipe has no title."""
        for recipe in self.recipes:
            together: dict[tuple[str, str], list[str]] = {}
            for run in _conclusive(recipe.seen):
                together.setdefault((run.what, run.control_left), []).append(run.kafka)
            for number, ((outcome, control), releases) in enumerate(together.items()):
                name = f"{recipe.id}: {recipe.title}" if number == 0 and len(self.recipes) > 1 else recipe.id
                yield name, self._span(releases), outcome, control

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
        yield from _diff(patch, self.every)
        yield from paragraphs(f"With this change: {'; '.join(self._tried(patch))}.")

    def _tried(self, patch: Patch) -> Iterator[str]:
        """Yield the effect of the patch on each level."""
        yield f"{_quoted(patch.knobs, ' and ')} in the model" if patch.knobs else "not tried in the model"
        if patch.classes:
            effect = "the tests above pass" if self.finding.junit else "it no longer shows"
            mends = f", as do those of {' and '.join(patch.mends)}" if patch.mends else ""
            breaks = f", but those of {' and '.join(patch.brings)} fail" if patch.brings else ""
            yield f"{effect} on {self._span(patch.classes)}{mends}{breaks}"
        elif self.finding.junit:
            yield "the tests above were not run"
        yield f"brokers of {self._span(patch.brokers)} no longer show it" if patch.brokers else "brokers were not tried"
        if self.confirmed:
            yield f"Kafka's own tests confirm it on {self._span(self.confirmed)}"

    def _span(self, releases: Sequence[str]) -> str:
        return spans(sorted(set(releases), key=release_numbers), self.every)


def _steps(every: Sequence[ByHand], releases: Sequence[str]) -> Iterator[str]:
    if not every:
        return
    yield from ("## Steps on a cluster", "")
    for each in every:
        tried = f"Done on {spans(each.versions, releases)}." if each.versions else "Not tried on brokers."
        yield from paragraphs(f"**{each.title}.** {each.text} {tried}")
        yield from ("```sh", *each.shell.splitlines(), "```", "")


def _diff(patch: Patch, every: Sequence[str]) -> Iterator[str]:
    for edit in patch.edits:
        name = edit.path.rpartition("/")[2]
        extends = not edit.replaces or edit.insert.startswith(f"{edit.place}\n")
        times = f", {edit.times} times" if edit.times > 1 else ""
        releases = f", {spans(edit.versions, every)}" if edit.versions else ""
        yield from ("```diff", f"--- {name}{releases}, {'after' if extends else 'where it reads'}{times}")
        if extends:
            yield from (f"    {line}" for line in edit.place.splitlines())
            added = edit.insert.removeprefix(edit.place).lstrip("\n") if edit.replaces else edit.insert
            yield from (f"+   {line}" for line in added.splitlines())
        else:
            yield from _replaced(edit.place, edit.insert)
        yield from ("```", "")


def _replaced(place: str, insert: str) -> Iterator[str]:
    """Yield the lines that differ, with one line of context on either side."""
    for line in unified_diff(place.splitlines(), insert.splitlines(), n=1, lineterm=""):
        if not line.startswith(("---", "+++", "@@")):
            yield f"{line[0]}   {line[1:]}"


def _conclusive(runs: Sequence[SeenRun]) -> Iterator[SeenRun]:
    """Yield the conclusive runs, and inconclusive ones on releases that have no other."""
    ended = {run.kafka for run in runs if run.outcome != "inconclusive"}
    yield from (run for run in runs if run.outcome != "inconclusive" or run.kafka not in ended)


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
            control = f"none of these with {control_options(run)}{others}"
            yield "#   the same control" if control == before else f"#   control: {note}{control}"
            before = control


def _reproduce(recipe: Recipe) -> str:
    oldest, newest = recipe.versions or (USUAL, USUAL)
    kafka = USUAL if release_numbers(oldest) <= release_numbers(USUAL) <= release_numbers(newest) else oldest
    return f"elrcheck reproduce {recipe.finding}/{recipe.name} --kafka {kafka}   # {recipe.title}"


def _quoted(names: Sequence[str], between: str = ", ") -> str:
    return between.join(f"`{name}`" for name in names)
