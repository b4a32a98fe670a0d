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
from dataclasses import dataclass
from importlib.resources import files
from typing import Annotated

from elrcheck.base.documents import read_toml, toml_codes
from elrcheck.base.errors import UsageFault
from elrcheck.base.typed.records import From, KeyName, MaybeEmpty, Prose, read_record
from elrcheck.catalogue.file_values import Release
from elrcheck.catalogue.packaged_files import packaged_files


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
