"""Writes the pages about findings: `python docs/generate_findings.py`. A test compares.

docs/findings.md and a page for each finding are made from catalogue/findings/*.toml, docs/findings/table.md
from everything that is recorded about releases, and the table in docs/reproduce.md from the recipes' runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from elrcheck.catalogue.evidence.by_version import finding_table
from elrcheck.catalogue.evidence.searched import packaged_searches
from elrcheck.catalogue.finding_file import Finding, FindingRun
from elrcheck.catalogue.finding_page import LEVEL, finding_page, item, wrapped
from elrcheck.catalogue.finding_text import broken, command
from elrcheck.catalogue.packaged_findings import packaged_findings
from elrcheck.catalogue.recipe_notation.recipe_file import packaged_recipes
from elrcheck.catalogue.suite_file import packaged_suites
from elrcheck.kafka.audit.rules import NEXT_STEPS, RULES
from elrcheck.laboratory.evidence.cause_page import cause_page, causes
from elrcheck.laboratory.evidence.hunt_page import hunt_page
from elrcheck.laboratory.evidence.hunted import packaged_hunt
from elrcheck.laboratory.evidence.version_page import version_page

PAGE = Path(__file__).resolve().parent / "findings.md"
PAGES = PAGE.with_suffix("")
REPRODUCED = PAGE.with_name("reproduce.md")
TABLE = re.compile(r"(?<=<!-- seen -->\n).*?(?=<!-- end of seen -->)", re.DOTALL)
HEAD = """\
# What elrcheck finds

Each finding says how far it was shown:

* **model**: a shortest counterexample in the model, found by a complete search and replayed step by step in
  plain Python. It shows what the rules allow.
* **Kafka's own classes**: the released controller or broker classes, driven by the same steps, end in the
  same state, compared rule by rule.
* **brokers**: a real cluster on loopback did it; the versions are the ones that were run.

Every search that breaks something has a control: the same search with only the rule at fault repaired, in
which none of these properties breaks. tests/documents/test_findings.py repeats them. "At" is the length
of a shortest counterexample. The scope `two-brokers-quiet` has two brokers, one record, and a network that
loses nothing. `elrcheck show F-20` prints one finding. Each has a page with steps on a cluster, the smallest
patch, and a test of Kafka's classes that fails; [a table](findings/table.md) has all of them by release, and
[a list](findings/causes.md) what released Kafka breaks, sorted by cause.

<!-- Written by `python docs/generate_findings.py` from catalogue/findings/*.toml: edit those. -->
"""


def main() -> None:
    PAGE.write_text(page(), encoding="utf-8")
    PAGES.mkdir(exist_ok=True)
    for old in PAGES.glob("F-*.md"):
        old.unlink()
    for name, text in pages().items():
        (PAGES / name).write_text(text, encoding="utf-8")
    REPRODUCED.write_text(reproduced(REPRODUCED.read_text(encoding="utf-8")), encoding="utf-8")


def pages() -> dict[str, str]:
    """The page of each finding, the table, the causes and the hunt, by file name."""
    found = packaged_findings()
    table = finding_table()
    sorted_out = cause_page(causes(found, packaged_searches(), table), packaged_suites(), table.releases)
    hunted = hunt_page(packaged_hunt())
    return {"table.md": version_page(table), "causes.md": sorted_out, "hunt.md": hunted} | {
        f"{finding.id}.md": finding_page(
            finding,
            [name for name in _rules(finding) if name not in NEXT_STEPS],
            [name for name in _rules(finding) if name in NEXT_STEPS],
            [recipe for recipe in packaged_recipes() if recipe.finding == finding.id],
        )
        for finding in found
    }


def _rules(finding: Finding) -> list[str]:
    """The rules of the audit that are about it."""
    return [rule.name for rule in RULES.values() if rule.hazard == finding.id]


def reproduced(text: str) -> str:
    """docs/reproduce.md with what the recipes have seen."""
    lines = ["| Recipe | Kafka | Run | Control | Seconds |", "|---|---|---|---|---|"]
    for recipe in packaged_recipes():
        for seen in recipe.seen:
            seconds = f"{seen.seconds}{' *' * seen.busy}"
            lines.append(f"| {recipe.id} | {seen.kafka} | {seen.what} | {seen.control_left} | {seconds} |")
    return TABLE.sub(lambda _: "\n".join(lines) + "\n", text)


def page() -> str:
    found = packaged_findings()
    lines = [HEAD, *overview(found)]
    for finding in found:
        lines += section(finding)
    return "\n".join(lines).rstrip() + "\n"


def overview(found: list[Finding]) -> Iterator[str]:
    yield "| finding | what is lost | Kafka | shown in | first breaks |"
    yield "|---|---|---|---|---|"
    for finding in found:
        shown = ", ".join(dict.fromkeys(part.level for part in finding.evidence))
        first = next((broken(run) for run in finding.runs if run.breaks), "")
        cells = (f"[{finding.id}](#{finding.id.lower()})", finding.lost, finding.versions, shown, first)
        yield f"| {' | '.join(cells)} |"
    yield ""


def section(finding: Finding) -> Iterator[str]:
    yield f"## {finding.id}"
    yield ""
    heading = f"**{finding.title}.** Lost: {finding.lost}. Kafka: {finding.versions}."
    page = f"[Steps, patch and test](findings/{finding.id}.md)."
    yield from paragraph(f"{heading} Public issue: {finding.issue}. {page}")
    yield from paragraph(f"Cause: {finding.cause}")
    for part in finding.about.split("\n\n"):
        yield from paragraph(part)
    for part in finding.evidence:
        versions = f" ({', '.join(part.versions)})" if part.versions else ""
        yield from item(f"Shown in {LEVEL[part.level]}{versions}: {part.text}")
    yield ""
    for run in finding.runs:
        yield from searched(run)
    if finding.meanwhile:
        yield from paragraph(f"What operators can do meanwhile: {finding.meanwhile}")


def searched(run: FindingRun) -> Iterator[str]:
    note = f"{run.note}: " if run.note else ""
    yield from item(f"{note}`{command(run)}`: {broken(run)}")
    if run.control is not None:
        why = f"{run.control.note}: " if run.control.note else ""
        others = f"; {', '.join(run.control.also_breaks)} for other reasons" if run.control.also_breaks else ""
        text = f"control: {why}`{command(run, control=True)}`: none of these breaks{others}"
        yield from (f"  {line}" for line in item(text))
    yield ""


def paragraph(text: str) -> Iterator[str]:
    yield from wrapped(text, "")
    yield ""


if __name__ == "__main__":
    main()
