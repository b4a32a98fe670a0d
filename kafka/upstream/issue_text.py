"""The text of an issue, in the order in which Kafka's tracker asks for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from elrcheck.catalogue.evidence.evidence_text import LEVEL, evidence_of, runs_of
from elrcheck.catalogue.finding_file import Finding
from elrcheck.catalogue.recipe_notation.recipe_file import Recipe
from elrcheck.kafka.upstream.issue_file import UpstreamIssue


def issue_text(finding: Finding, issue: UpstreamIssue, recipes: Sequence[Recipe], kafka: str) -> str:
    """Return the issue as Markdown. recipes: of the finding; kafka: the release of the change."""
    return "\n".join(_lines(finding, issue, recipes, kafka)).rstrip() + "\n"


def _lines(finding: Finding, issue: UpstreamIssue, recipes: Sequence[Recipe], kafka: str) -> Iterator[str]:
    yield f"# {issue.summary}"
    yield ""
    yield f"**Seen on:** {finding.versions}. **Lost:** {finding.lost}. **Known issues:** {finding.issue}."
    for title, text in (
        ("What happens", issue.actual),
        ("What is expected", issue.expected),
        ("Configuration", issue.configuration),
        ("Log", issue.log),
        ("How likely it is", issue.likelihood),
    ):
        yield from ("", f"## {title}", "", text.strip())
    for steps in finding.by_hand[:1]:
        yield from (
            "",
            "## Steps",
            "",
            " ".join(steps.text.split()),
            "",
            "```sh",
            *steps.shell.strip().splitlines(),
            "```",
        )
    yield from ("", "## Evidence", "")
    for part in evidence_of(finding):
        if part.where != LEVEL["model"]:
            yield f"* {part.head}: {part.text}"
    for recipe in recipes:
        for runs in runs_of(recipe):
            command = f"steps of `elrcheck reproduce {recipe.id}`"
            yield f"* brokers, {runs.releases}, {command}: {runs.run}; control: {runs.control}"
    yield from ("", "## Change", "")
    if finding.patch is not None:
        yield finding.patch.text.strip()
    if issue.alternative:
        yield from ("", f"Alternative: {issue.alternative.strip()}")
    names = ", ".join(f"{test.class_name.rpartition('.')[2]}.{test.name}" for test in issue.tests)
    yield from ("", f"`change.patch` has the change and a test, against {kafka}: {names} fails without the change.")
