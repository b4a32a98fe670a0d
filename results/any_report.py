"""What every report has: a verdict, an exit code, and the name of its JSON schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from elrcheck.base.errors import ExitCode
from elrcheck.base.roundtrip import Record

EXIT_CODES: Mapping[str, ExitCode] = {
    **dict.fromkeys(("holds", "proved", "accepted", "shown", "same", "tolerated", "updated"), ExitCode.HOLDS),
    **dict.fromkeys(("found", "surveyed", "expected", "as_expected", "explored", "fits", "no_sign"), ExitCode.HOLDS),
    **dict.fromkeys(
        ("discharged", "checked", "confirmed", "enabled", "complete", "gaps", "not-reproduced"), ExitCode.HOLDS
    ),
    **dict.fromkeys(("violated", "refuted", "rejected", "different", "differs", "drift"), ExitCode.FINDING),
    **dict.fromkeys(("not_found", "unexpected", "no_violation", "refused"), ExitCode.FINDING),
    **dict.fromkeys(("lost", "unavailable"), ExitCode.FINDING),
    **dict.fromkeys(("inconclusive", "pending"), ExitCode.INCONCLUSIVE),
    **dict.fromkeys(("nothing", "nothing_run"), ExitCode.NOTHING_CHECKED),
    "failed": ExitCode.ENVIRONMENT,
}
"""Verdict -> exit code, the same for every command."""


class PatchApplied(Record, frozen=True):
    """A unified diff that was applied to the model before it was read. digest: SHA-256 of the diff."""

    file: str
    digest: str

    def __str__(self) -> str:
        return f"{self.file} (SHA-256 {self.digest[:12]})"


class OfModel(Protocol):
    """A record that names a model and its patch."""

    @property
    def model(self) -> str | None: ...
    @property
    def patch(self) -> PatchApplied | None: ...


class Report(Record, frozen=True, tag_field="schema"):
    """The result of a command, which is one JSON document. The tag of a class is the name of its schema."""

    @property
    def schema(self) -> str:
        """Return the name of the schema, such as `elrcheck.report/1`."""
        return str(self.__struct_config__.tag)

    @property
    def verdict(self) -> str:
        """Return the verdict, one word; a field of almost every report."""
        raise NotImplementedError

    @property
    def interrupted(self) -> bool:
        """Return whether an interrupt cut the command short, so that the report is partial."""
        return False

    @property
    def exit_code(self) -> ExitCode:
        """Return the exit code of the command."""
        return ExitCode.INTERRUPTED if self.interrupted else EXIT_CODES[self.verdict]


class ModelReport(Report, frozen=True, kw_only=True):
    """A report on one model, which a user may have supplied."""

    model: str | None = None
    """The file of the model; null for Kafka's partition."""
    patch: PatchApplied | None = None
    """The diff that was applied to the model."""
