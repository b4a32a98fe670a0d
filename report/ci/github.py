"""Renders the judgements of a document as GitHub workflow commands, one annotation per failed case.

Paths of the model are relative to the package. An annotation has a path only if the job's repository has such
a file, as that of the model has; elsewhere GitHub would point to nothing, and the message names the place.
Escaping follows `actions/toolkit` (command.ts): `%`, CR and LF in a message, also `:` and `,` in a property.
"""

from __future__ import annotations

from pathlib import Path

from elrcheck.base.errors import ExitCode
from elrcheck.base.printable import printable
from elrcheck.report.document import Case, Document, split_place
from elrcheck.report.terminal import full_text

_NAMED = 20


def to_github(document: Document, workspace: Path = Path()) -> str:
    """Render the commands, and a last line that the log shows verbatim.

    workspace: the folder with the job's repository.
    """
    lines = [
        _annotation(suite.name, case, workspace)
        for suite in document.sheet.suites
        for case in suite.cases
        if case.outcome == "failed"
    ]
    if document.exit_code is ExitCode.INCONCLUSIVE:
        undecided = [case.id for suite in document.sheet.suites for case in suite.cases if case.outcome == "undecided"]
        if undecided:
            lines.append(f"::warning title=elrcheck {document.command}::{message(_undecided(undecided))}")
    lines += [f"::warning title=elrcheck {document.command}::{message(note)}" for note in document.sheet.notes]
    return "\n".join([*lines, f"{document.verdict.upper()}  {printable(document.sheet.summary)}"]) + "\n"


def _annotation(suite: str, case: Case, workspace: Path) -> str:
    fields, text = [], full_text(case) or case.message or case.verdict
    place = case.place or case.source
    if place is not None:
        file, line = split_place(place)
        if (workspace / file).is_file():
            fields += [f"file={value(file)}", f"line={line}"]
        else:
            text = f"{text.rstrip()}\n{place} of elrcheck"
    fields.append(f"title={value(f'{case.title} ({suite})')}")
    kind = {"error": "error", "warning": "warning", "note": "notice"}[case.level]
    return f"::{kind} {','.join(fields)}::{message(text)}"


def _undecided(idents: list[str]) -> str:
    more = f" and {len(idents) - _NAMED} more" if len(idents) > _NAMED else ""
    return f"{len(idents)} undecided: {', '.join(idents[:_NAMED])}{more}"


def message(text: str) -> str:
    """Escape text as the message of a workflow command."""
    return text.rstrip("\n").replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def value(text: str) -> str:
    """Escape text as the value of a property of a workflow command."""
    return message(text).replace(":", "%3A").replace(",", "%2C")
