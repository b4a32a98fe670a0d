"""The page of one finding: what is lost, its cause, the evidence, steps on a cluster, patch and remedies.

A page says no more than its file does: what was not tried is said to be so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from elrcheck.catalogue.configured import release_numbers
from elrcheck.catalogue.finding_file import ByHand, Finding, FindingRun, JunitRun, Patch
from elrcheck.catalogue.finding_text import broken, command, control_options
from elrcheck.catalogue.recipe_notation.recipe_file import Recipe
from elrcheck.laboratory.evidence.page_lines import paragraphs, spans, table, wrapped

LEVEL = {"model": "the model", "classes": "Kafka's own classes", "brokers": "brokers"}
USUAL = "4.1.2"
"""The release that a command names, if it has the finding."""
MARK = "<!-- Made from catalogue/findings/{finding}.toml: edit that. -->"


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
        rows = (
            (LEVEL[part.level], self._span(part.versions), " ".join(part.text.split()))
            for part in self.finding.evidence
        )
        yield from table(("level", "Kafka", "result"), chain(rows, self._junit_rows()))
        levels = {part.level for part in self.finding.evidence}
        levels |= {"classes"} if self.finding.junit else set()
        levels |= {"brokers"} if any(recipe.seen for recipe in self.recipes) else set()
        if missing := [words for level, words in LEVEL.items() if level not in levels]:
            yield from paragraphs(f"Not tried: {', '.join(missing)}.")
        for part in self.finding.prevented:
            yield from paragraphs(f"Not in {self._span(part.versions)}: {part.by.rstrip('.')}.")
        if any(recipe.seen for recipe in self.recipes):
            columns = ("`elrcheck reproduce`", "Kafka", "run", "control", "seconds, both")
            yield from table(columns, self._runs())

    def _junit_rows(self) -> Iterator[Sequence[str]]:
        """Rows of the exported tests, by what they do."""
        for run in self.finding.junit:
            passes = f"; it passes on {self._span(run.passes)}" if run.passes else ""
            result = f"the exported JUnit test of {run.property} fails{passes}"
            yield (LEVEL["classes"], self._span(run.fails), result)

    def _runs(self) -> Iterator[Sequence[str]]:
        """Rows of equal runs of a recipe on several releases."""
        for recipe in self.recipes:
            together: dict[tuple[str, str], list[tuple[str, int]]] = {}
            for run in recipe.seen:
                together.setdefault((run.what, run.control_left), []).append((run.kafka, run.seconds))
            for number, ((outcome, control), runs) in enumerate(together.items()):
                seconds = sorted({seconds for _, seconds in runs})
                yield (
                    recipe.id if number else f"{recipe.id}: {recipe.title}",
                    self._span([kafka for kafka, _ in runs]),
                    outcome,
                    control,
                    str(seconds[0]) if len(seconds) == 1 else f"{seconds[0]} to {seconds[-1]}",
                )

    def _how_to_see_it(self) -> Iterator[str]:
        finding = self.finding
        if self.flags or self.warnings or self.recipes or finding.junit or finding.runs:
            yield from ("## How to see it", "")
        if self.flags:
            yield from paragraphs(f"`elrcheck audit PATH` flags {_quoted(self.flags)} in a metadata log.")
        if self.warnings:
            audit = "`elrcheck audit --bootstrap HOST:PORT`"
            yield from paragraphs(f"{audit} flags {_quoted(self.warnings)} one step before.")
        if untried := [recipe for recipe in self.recipes if not recipe.seen]:
            yield from ("On brokers:", "", "```sh", *map(_reproduce, untried), "```", "")
        if finding.junit:
            yield from ("In Kafka's own classes:", "", "```sh")
            yield from (self._exported_test(run) for run in finding.junit)
            yield from ("```", "")
        if finding.runs:
            yield from ("In the model:", "", "```sh")
            for run in finding.runs:
                yield from _search(run)
            yield from ("```", "")

    def _exported_test(self, run: JunitRun) -> str:
        outcomes = (("fails", run.fails), ("passes", run.passes))
        words = [f"{word} on {self._span(releases)}" for word, releases in outcomes if releases]
        return f"elrcheck export junit {self.finding.id} --property {run.property}   # {', '.join(words)}"

    def _patch(self) -> Iterator[str]:
        yield from ("## Smallest patch", "")
        patch = self.finding.patch
        if patch is None:
            yield from ("None was tried.", "")
            return
        yield from paragraphs(patch.text)
        yield from _diff(patch, self.every)
        yield from wrapped(_in_model(patch), "* ")
        if patch.classes:
            effect = "the tests above pass" if self.finding.junit else "they no longer show it"
            mends = f", and so do those of {' and '.join(patch.mends)}" if patch.mends else ""
            brings = f" Those of {' and '.join(patch.brings)} fail with it, and pass without." if patch.brings else ""
            yield from wrapped(f"Kafka's own classes: {effect} on {self._span(patch.classes)}{mends}.{brings}", "* ")
        elif self.finding.junit:
            yield from wrapped("Kafka's own classes: not shown.", "* ")
        cured = f"the recipe no longer shows it on {self._span(patch.brokers)}" if patch.brokers else "not tried"
        yield from wrapped(f"Brokers: {cured}.", "* ")
        tried = (*patch.brokers, *patch.classes)
        if tried and self.recipes:
            kafka = USUAL if USUAL in tried else tried[0]
            call = f"`elrcheck reproduce {self.finding.id} --kafka {kafka} --patched`"
            yield from wrapped(f"{call} tries it.", "* ")
        if self.confirmed:
            call = f"`elrcheck export upstream {self.finding.id} --out DIR --run`"
            text = f"{call} writes an issue for Kafka's tracker, the change and a test, and runs Kafka's own tests"
            yield from wrapped(f"{text}: confirmed on {self._span(self.confirmed)}.", "* ")
        yield ""

    def _span(self, releases: Sequence[str]) -> str:
        return spans(sorted(set(releases), key=release_numbers), self.every)


def _steps(every: Sequence[ByHand], releases: Sequence[str]) -> Iterator[str]:
    if not every:
        return
    yield from ("## Steps on a cluster", "")
    yield from ("`$B`: HOST:PORT of a running broker; `$PID_0`: the process of broker 0.", "")
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
        return "The model: no knob for exactly this change."
    return f"The model: {_quoted(patch.knobs, ' and ')}, as in the controls above."


def _search(run: FindingRun) -> Iterator[str]:
    note = f"{run.note}: " if run.note else ""
    yield f"{command(run)}   # {note}{broken(run)}"
    if run.control is not None:
        note = f"{run.control.note}: " if run.control.note else ""
        others = f"; {', '.join(run.control.also_breaks)} for other reasons" if run.control.also_breaks else ""
        yield f"#   control: {note}none of these with {control_options(run)}{others}"


def _reproduce(recipe: Recipe) -> str:
    oldest, newest = recipe.versions or (USUAL, USUAL)
    kafka = USUAL if release_numbers(oldest) <= release_numbers(USUAL) <= release_numbers(newest) else oldest
    return f"elrcheck reproduce {recipe.finding}/{recipe.name} --kafka {kafka}   # {recipe.title}"


def _quoted(names: Sequence[str], between: str = ", ") -> str:
    return between.join(f"`{name}`" for name in names)
