"""Writes docs/findings.md from catalogue/findings/*.toml: `python docs/generate_findings.py`.

A test compares the two.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path

from elrcheck.catalogue.finding_file import Finding, FindingRun, finding_files, read_finding
from elrcheck.catalogue.finding_text import broken, command

PAGE = Path(__file__).resolve().parent / "findings.md"
LEVEL = {
    "model": "the model",
    "classes": "Kafka's own classes",
    "brokers": "brokers on loopback",
}
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
loses nothing. `elrcheck show F-20` prints one finding.

<!-- Written by `python docs/generate_findings.py` from catalogue/findings/*.toml: edit those. -->
"""


def main() -> None:
    PAGE.write_text(page(), encoding="utf-8")


def page() -> str:
    found = [read_finding(file) for file in finding_files()]
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
    yield from paragraph(f"{heading} Public issue: {finding.issue}.")
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
        others = (
            f"; {', '.join(run.control.also_breaks)} for other reasons" if run.control.also_breaks else ""
        )
        text = f"control: {why}`{command(run, control=True)}`: none of these breaks{others}"
        yield from (f"  {line}" for line in item(text))
    yield ""


def paragraph(text: str) -> Iterator[str]:
    yield from wrapped(text, "")
    yield ""


def item(text: str) -> Iterator[str]:
    yield from wrapped(text, "* ")


def wrapped(text: str, bullet: str) -> list[str]:
    """Lines of up to 120 characters; a command in backticks stays on one line."""
    glue = "\x00"
    parts = " ".join(text.split()).split("`")
    kept = "`".join(part.replace(" ", glue) if n % 2 else part for n, part in enumerate(parts))
    lines = textwrap.wrap(
        kept, 120, initial_indent=bullet, subsequent_indent=" " * len(bullet), break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip
    return [line.replace(glue, " ") for line in lines]


if __name__ == "__main__":
    main()
