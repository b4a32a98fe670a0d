"""The page of one finding: what is lost, its cause, the evidence, steps on a cluster, patch and remedies.

A page says no more than its file does: what was not tried is said to be so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from elrcheck.catalogue.configured import release_numbers
from elrcheck.catalogue.finding_file import ByHand, Finding, FindingRun, Patch
from elrcheck.catalogue.finding_text import broken, command, control_options
from elrcheck.catalogue.recipe_notation.recipe_file import Recipe
from elrcheck.laboratory.evidence.page_lines import paragraphs, spans, table

LEVEL = {"model": "the model", "classes": "Kafka's own classes", "brokers": "brokers"}
USUAL = "4.1.2"
"""The release that a command names, if it has the finding."""
MARK = "<!-- From catalogue/findings/{finding}.toml. -->"


@dataclass(frozen=True)
class FindingPage:
    """The content of a page.

    recipes: those of `reproduce`; flags: rules by which `audit` flags the finding; warnings: those by which
    `audit --bootstrap` says that it is one step away; every: all releases, in order. confirmed: those on which
    Kafka's own tests have run with the change for its repository.
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
        rows = ((part.level, self._span(part.versions), " ".join(part.text.split())) for part in self.finding.evidence)
        yield from table(("level", "Kafka", "result"), chain(rows, self._junit_rows()))
        levels = {part.level for part in self.finding.evidence}
        levels |= {"classes"} if self.finding.junit else set()
        levels |= {"brokers"} if any(recipe.seen for recipe in self.recipes) else set()
        if missing := [words for level, words in LEVEL.items() if level not in levels]:
            yield from paragraphs(f"Not tried: {', '.join(missing)}.")
        for part in self.finding.prevented:
            yield from paragraphs(f"Not in {self._span(part.versions)}: {part.by.rstrip('.')}.")
        if any(recipe.seen for recipe in self.recipes):
            columns = ("`elrcheck reproduce`", "Kafka", "run", "control")
            yield from table(columns, self._runs())

    def _junit_rows(self) -> Iterator[Sequence[str]]:
        """Rows of the exported tests, by the releases on which they fail."""
        together: dict[tuple[str, str], list[str]] = {}
        for run in self.finding.junit:
            together.setdefault((self._span(run.fails), self._span(run.passes)), []).append(run.property)
        for (fails, passes), names in together.items():
            several = len(names) > 1
            tests, fail = ("tests", "fail") if several else ("test", "fails")
            result = f"the exported JUnit {tests} of {', '.join(names)} {fail}"
            passed = f"; {'they pass' if several else 'it passes'} on {passes}" if passes else ""
            yield "classes", fails, result + passed

    def _runs(self) -> Iterator[Sequence[str]]:
        """Rows of equal runs of a recipe on several releases."""
        for recipe in self.recipes:
            together: dict[tuple[str, str], list[str]] = {}
            for run in recipe.seen:
                together.setdefault((run.what, run.control_left), []).append(run.kafka)
            for number, ((outcome, control), releases) in enumerate(together.items()):
                name = recipe.id if number else f"{recipe.id}: {recipe.title}"
                yield name, self._span(releases), outcome, control

    def _how_to_see_it(self) -> Iterator[str]:
        finding = self.finding
        if self.flags or self.warnings or self.recipes or finding.junit or finding.runs:
            yield from ("## How to see it", "")
        if self.flags:
            yield from paragraphs(f"`elrcheck audit PATH` flags {_quoted(self.flags)} in a metadata log.")
        if self.warnings:
            audit = "`elrcheck audit --bootstrap HOST:PORT`"
            yield from paragraphs(f"{audit} flags {_quoted(self.warnings)} one step before.")
        untried = [recipe for recipe in self.recipes if not recipe.seen]
        if untried or finding.junit or finding.runs:
            yield "```sh"
            yield from map(_reproduce, untried)
            yield from (f"elrcheck export junit {finding.id} --property {run.property}" for run in finding.junit)
            yield from _searches(finding.runs)
            yield from ("```", "")

    def _patch(self) -> Iterator[str]:
        yield from ("## Smallest patch", "")
        patch = self.finding.patch
        if patch is None:
            yield from ("None was tried.", "")
            return
        yield from paragraphs(patch.text)
        yield from _diff(patch, self.every)
        yield from paragraphs(" ".join((_in_model(patch), *self._tried(patch))))

    def _tried(self, patch: Patch) -> Iterator[str]:
        """Yield what the patch changed, on each level, as sentences."""
        if patch.classes:
            effect = "the tests above pass" if self.finding.junit else "it no longer shows"
            mends = f", and so do those of {' and '.join(patch.mends)}" if patch.mends else ""
            yield f"Kafka's own classes: {effect} on {self._span(patch.classes)}{mends}."
            if patch.brings:
                yield f"Those of {' and '.join(patch.brings)} fail with it, and pass without."
        elif self.finding.junit:
            yield "Kafka's own classes: not shown."
        tried = (*patch.brokers, *patch.classes)
        cured = f"the recipe no longer shows it on {self._span(patch.brokers)}" if patch.brokers else "not tried"
        if tried and self.recipes:
            kafka = USUAL if USUAL in tried else tried[0]
            cured = f"{cured} (`elrcheck reproduce {self.finding.id} --kafka {kafka} --patched`)"
        yield f"Brokers: {cured}."
        if self.confirmed:
            call = f"`elrcheck export upstream {self.finding.id} --out DIR --run`"
            yield f"Kafka's own tests confirm it on {self._span(self.confirmed)} ({call})."

    def _span(self, releases: Sequence[str]) -> str:
        return spans(sorted(set(releases), key=release_numbers), self.every)


def _steps(every: Sequence[ByHand], releases: Sequence[str]) -> Iterator[str]:
    if not every:
        return
    yield from ("## Steps on a cluster", "")
    yield from ("`$B` is HOST:PORT of a running broker, `$PID_0` the process of broker 0.", "")
    for each in every:
        tried = f"Done on {spans(each.versions, releases)}." if each.versions else "Not tried on brokers."
        yield from paragraphs(f"**{each.title}.** {each.text} {tried}")
        yield from ("```sh", *each.shell.splitlines(), "```", "")


def _diff(patch: Patch, every: Sequence[str]) -> Iterator[str]:
    for edit in patch.edits:
        name = edit.path.rpartition("/")[2]
        place = "where it reads" if edit.replaces else "after"
        times = f", {edit.times} times" if edit.times > 1 else ""
        releases = f", {spans(edit.versions, every)}" if edit.versions else ""
        yield from ("```diff", f"--- {name}{releases}, {place}{times}")
        yield from (f"{'-   ' if edit.replaces else '    '}{line}" for line in edit.place.splitlines())
        yield from (f"+   {line}" for line in edit.insert.splitlines())
        yield from ("```", "")


def _in_model(patch: Patch) -> str:
    if not patch.knobs:
        return "The model has no knob for exactly this change."
    return f"The model: {_quoted(patch.knobs, ' and ')}, as in the controls above."


def _searches(runs: Sequence[FindingRun]) -> Iterator[str]:
    """Yield each search and its control; a control that is the one before it is not described again."""
    before = ""
    for run in runs:
        note = f"{run.note}: " if run.note else ""
        yield f"{command(run)}   # {note}{broken(run)}"
        if run.control is not None:
            note = f"{run.control.note}: " if run.control.note else ""
            others = f"; {', '.join(run.control.also_breaks)} for other reasons" if run.control.also_breaks else ""
            control = f"{note}none of these with {control_options(run)}{others}"
            yield "#   the same control" if control == before else f"#   control: {control}"
            before = control


def _reproduce(recipe: Recipe) -> str:
    oldest, newest = recipe.versions or (USUAL, USUAL)
    kafka = USUAL if release_numbers(oldest) <= release_numbers(USUAL) <= release_numbers(newest) else oldest
    return f"elrcheck reproduce {recipe.finding}/{recipe.name} --kafka {kafka}   # {recipe.title}"


def _quoted(names: Sequence[str], between: str = ", ") -> str:
    return between.join(f"`{name}`" for name in names)
