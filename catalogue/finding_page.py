"""The page of one finding: what is lost, how far it was shown, steps on a cluster, cause, patch, remedies.

A page says no more than its file does: what was not tried is said to be so.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from elrcheck.catalogue.finding_file import ByHand, Finding, JunitRun, Patch
from elrcheck.catalogue.finding_text import broken, command
from elrcheck.catalogue.recipe_notation.recipe_file import Recipe
from elrcheck.catalogue.select import release_numbers

WIDTH = 120
LEVEL = {"model": "the model", "classes": "Kafka's own classes", "brokers": "brokers on loopback"}
USUAL = "4.1.2"
"""The release that a command names, if it has the finding."""
MARK = "<!-- Written by `python docs/generate_findings.py` from catalogue/findings/{finding}.toml: edit that. -->"


def finding_page(finding: Finding, flags: Sequence[str], before: Sequence[str], recipes: Sequence[Recipe]) -> str:
    """The page in Markdown. flags: the rules under which `audit` flags it, before: those by which it says
    that the finding is one step away; recipes: of `reproduce`.
    """
    lines = [f"# {finding.id}: {finding.title}", "", MARK.format(finding=finding.id), ""]
    lines += paragraphs(f"**Lost:** {finding.lost}. **Kafka:** {finding.versions}.")
    lines += paragraphs(f"Public issue: {finding.issue}.")
    lines += paragraphs(finding.about)
    lines += _shown(finding)
    lines += _steps(finding.by_hand, recipes)
    lines += ["## Cause", "", *paragraphs(finding.cause)]
    lines += _patch(finding, recipes)
    lines += _see(finding, flags, before, recipes)
    lines += ["## What operators can do meanwhile", ""]
    lines += paragraphs(finding.meanwhile or "Nothing is known that helps.")
    return "\n".join(lines).rstrip() + "\n"


# ---------------------------------------------------------------------------- parts


def _shown(finding: Finding) -> Iterator[str]:
    yield "## How far it was shown"
    yield ""
    yield "| in | versions | what |"
    yield "|---|---|---|"
    for part in finding.evidence:
        yield f"| {LEVEL[part.level]} | {', '.join(part.versions)} | {' '.join(part.text.split())} |"
    missing = [words for level, words in LEVEL.items() if level not in {part.level for part in finding.evidence}]
    yield ""
    if missing:
        yield from paragraphs(f"Not tried in {' and '.join(missing)}.")


def _steps(every: Sequence[ByHand], recipes: Sequence[Recipe]) -> Iterator[str]:
    yield "## Steps on a cluster"
    yield ""
    if not every:
        none = "None are written down: it depends on timing, or on code that is not released."
        yield from paragraphs("`elrcheck reproduce` has them; they are below." if recipes else none)
        return
    yield from paragraphs(
        "The requests as a user types them; the runs sent the same ones through Kafka's Admin API. `$B` is"
        " HOST:PORT of a broker that is up, `$PID_0` the process of broker 0. Comments say what is seen."
    )
    for each in every:
        tried = f"Done on {', '.join(each.versions)}." if each.versions else "Not tried on brokers."
        yield from paragraphs(f"**{each.title}.** {each.text} {tried}")
        yield from ("```sh", *each.shell.splitlines(), "```", "")


def _patch(finding: Finding, recipes: Sequence[Recipe]) -> Iterator[str]:
    patch, has_test = finding.patch, bool(finding.junit)
    yield "## Smallest patch"
    yield ""
    if patch is None:
        yield from paragraphs("None was tried.")
        return
    yield from paragraphs(patch.text)
    for edit in patch.edits:
        name = edit.path.rpartition("/")[2]
        place = "where it reads" if edit.replaces else "behind the place that reads"
        often = f", {edit.times} times" if edit.times > 1 else ""
        of = f", {', '.join(edit.versions)}" if edit.versions else ""
        yield from ("```diff", f"--- {name}{of}, {place}{often}")
        yield from (f"{'-   ' if edit.replaces else '    '}{line}" for line in edit.place.splitlines())
        yield from (f"+   {line}" for line in edit.insert.splitlines())
        yield from ("```", "")
    yield from item(_in_model(patch))
    if patch.classes:
        what = "the tests below pass" if has_test else "they no longer do what is said above"
        yield from item(
            f"Kafka's own classes: with this change {what} on {', '.join(patch.classes)}"
            f"{_mends(patch)}.{_brings(patch)}"
        )
    elif has_test:
        yield from item("Kafka's own classes: not shown.")
    yield from item(
        f"Brokers: with it the recipe no longer shows the finding on {', '.join(patch.brokers)}."
        if patch.brokers
        else "Brokers: no version on record."
    )
    tried = (*patch.brokers, *patch.classes)
    if tried and recipes:
        kafka = USUAL if USUAL in tried else tried[0]
        call = f"`elrcheck reproduce {finding.id} --kafka {kafka} --patched`"
        yield from item(f"{call} builds it, and runs the recipe on brokers that have it.")
    yield ""


def _mends(patch: Patch) -> str:
    return f", and so do those of {' and '.join(patch.mends)}" if patch.mends else ""


def _brings(patch: Patch) -> str:
    return f" Those of {' and '.join(patch.brings)} fail with it, and pass without." if patch.brings else ""


def _in_model(patch: Patch) -> str:
    if not patch.knobs:
        return "The model: it has no knob for exactly this change."
    names = " and ".join(f"`{name}`" for name in patch.knobs)
    return f"The model: {names}; none of the properties breaks in the controls below."


def _see(finding: Finding, flags: Sequence[str], before: Sequence[str], recipes: Sequence[Recipe]) -> Iterator[str]:
    if flags or before or recipes or finding.junit or finding.runs:
        yield from ("## How to see it", "")
    if flags:
        names = ", ".join(f"`{name}`" for name in flags)
        yield from paragraphs(f"In the metadata log of a cluster: `elrcheck audit PATH` flags {names}.")
    if before:
        names = ", ".join(f"`{name}`" for name in before)
        asked = "`elrcheck audit --bootstrap HOST:PORT`"
        yield from paragraphs(f"One step before, on a cluster that runs: {asked} flags {names}.")
    if recipes:
        yield from paragraphs("On a cluster that is started for it, with a control beside it:")
        yield from ("```sh", *map(_reproduce, recipes), "```", "")
    if finding.junit:
        yield from paragraphs("In Kafka's own classes, by a JUnit test that fails as long as it is there:")
        yield from ("```sh", *(_junit(finding, run) for run in finding.junit), "```", "")
    if finding.runs:
        yield from paragraphs("In the model, by complete searches; `at` is the length of a shortest counterexample:")
        yield "```sh"
        for each in finding.runs:
            note = f"{each.note}: " if each.note else ""
            yield f"{command(each)}   # {note}{broken(each)}"
            if each.control is not None:
                repaired = f": {each.control.note}" if each.control.note else ""
                yield f"{command(each, control=True)}   # control{repaired}"
        yield from ("```", "")


def _reproduce(recipe: Recipe) -> str:
    oldest, newest = recipe.versions or (USUAL, USUAL)
    kafka = USUAL if release_numbers(oldest) <= release_numbers(USUAL) <= release_numbers(newest) else oldest
    call = f"elrcheck reproduce {recipe.finding}/{recipe.name} --kafka {kafka}"
    return f"{call}   # {recipe.title}"


def _junit(finding: Finding, run: JunitRun) -> str:
    told = [f"{word} on {', '.join(on)}" for word, on in (("fails", run.fails), ("passes", run.passes)) if on]
    call = f"elrcheck export junit {finding.id} --property {run.property}"
    return f"{call}   # {', '.join(told)}"


# ---------------------------------------------------------------------------- lines


def paragraphs(text: str) -> Iterator[str]:
    """Wrapped paragraphs, each with an empty line behind it."""
    for part in text.split("\n\n"):
        if part.strip():
            yield from wrapped(part, "")
            yield ""


def item(text: str) -> Iterator[str]:
    yield from wrapped(text, "* ")


def wrapped(text: str, bullet: str) -> list[str]:
    """Lines of up to 120 characters; a command in backticks stays on one line."""
    glue = "\x00"
    parts = " ".join(text.split()).split("`")
    kept = "`".join(part.replace(" ", glue) if n % 2 else part for n, part in enumerate(parts))
    lines = textwrap.wrap(
        kept,
        WIDTH,
        initial_indent=bullet,
        subsequent_indent=" " * len(bullet),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace(glue, " ") for line in lines]
