"""Reads the issue of a finding for Kafka's tracker, and the tests to add to Kafka's own test classes.

finding = "F-20"
summary = "..."                 # one line, the title of the issue
expected = "..."
actual = "..."
log = "..."                     # the lines that a user sees
configuration = "..."           # what differs from Kafka's defaults
likelihood = "..."
alternative = "..."             # optional: another change that a committer may prefer
also = ["kafka.server.LogRecoveryTest"]     # optional: further tests of Kafka that the change affects

[[test]]
file = "org/apache/kafka/controller/ReplicationControlManagerTest.java"
name = "testElrContainsOnlyReplicasAfterReassignment"
method = "..."                  # inserted at the end of the class
imports = ["..."]               # optional: classes that the class does not import yet
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Annotated

from elrcheck.base.documents import read_toml, toml_codes
from elrcheck.base.errors import UsageFault
from elrcheck.base.typed.records import From, KeyName, MaybeEmpty, Prose, read_record
from elrcheck.catalogue.evidence.evidence_text import LEVEL, evidence_of, runs_of
from elrcheck.catalogue.file_values import Release, packaged_files
from elrcheck.catalogue.finding_file import Finding
from elrcheck.catalogue.recipe_notation.recipe_file import Recipe


@dataclass(frozen=True)
class KafkaTest:
    """A test method for one of Kafka's test classes, and its imports. file: path in the jar of their sources."""

    file: Prose
    name: Prose
    method: Prose
    imports: tuple[Prose, ...] = ()

    @property
    def class_name(self) -> str:
        """The class with its package."""
        return self.file.removeprefix("unit/").rpartition(".")[0].replace("/", ".")

    def added_to(self, source: str) -> str:
        """Return the source of the class with the method at its end, indented as in Kafka's sources of the language."""
        for name in self.imports:
            source = _importing(source, name)
        body = source.rstrip().removesuffix("}").rstrip()
        method = textwrap.indent(self.method, "    " if self.file.endswith(".java") else "  ")
        return f"{body}\n\n{method}\n}}\n"


def _importing(source: str, name: str) -> str:
    """Return a Scala source with one more import, below the last import of the same root package."""
    lines = source.splitlines(keepends=True)
    last = max(at for at, line in enumerate(lines) if line.startswith(f"import {name.partition('.')[0]}."))
    return "".join([*lines[: last + 1], f"import {name}\n", *lines[last + 1 :]])


@dataclass(frozen=True)
class UpstreamIssue:
    """The parts of an issue for Kafka's tracker that are not in the finding."""

    finding: Prose
    summary: Prose
    expected: Prose
    actual: Prose
    log: Prose
    configuration: Prose
    likelihood: Prose
    confirmed: tuple[Release, ...]
    tests: Annotated[tuple[KafkaTest, ...], KeyName("test")]
    alternative: MaybeEmpty = ""
    also: tuple[Prose, ...] = ()
    file: Annotated[str, From.FILE] = ""


def issue_of(finding: str) -> UpstreamIssue:
    """Return the issue of a finding; without one raise UsageFault, which lists the findings with an issue."""
    names = issue_names()
    if finding not in names:
        help = f"there is one of {', '.join(names)}"
        raise UsageFault("no-issue", f"there is no issue of {finding} for Kafka's tracker", help=help)
    file = files("elrcheck.catalogue") / "upstream" / f"{finding}.toml"
    return read_record(read_toml(file, toml_codes("upstream-file")), UpstreamIssue)


def issue_names() -> tuple[str, ...]:
    """Return the findings with an issue, by id."""
    return tuple(file.name.removesuffix(".toml") for file in packaged_files("upstream"))


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
