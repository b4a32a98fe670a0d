"""Renders the judgements of a document as GitHub workflow commands, one annotation per failed case.

GitHub shows the first ten annotations of a level and step. Many failed cases of a suite that have one place are one
annotation, such as the findings of a release at the line of the topic that they apply to.
Paths of the model are relative to the package. An annotation has a path only if the job's repository has that file;
otherwise its message names the place. A property of a model in the repository is annotated there. Escaping follows
`actions/toolkit` (command.ts): `%`, CR and LF in a message, also `:` and `,` in a property.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from elrcheck.base.errors import ElrError, ExitCode
from elrcheck.base.printable import printable
from elrcheck.report.document import MOST_NAMED, Case, CaseLevel, Document, path_below, path_in, split_place
from elrcheck.report.plain_words import some_of
from elrcheck.report.terminal import full_text

PLACED = re.compile(r"(.+?), line (\d+): ")
"""The file and the line of a part that was not read."""
_FEW: Mapping[CaseLevel, int] = {"error": 9, "warning": 3, "note": 3}
"""Cases of one place that have annotations of their own."""
_LONGEST = 60
"""Longest name of a suite in a title; a longer one begins the message."""


def to_github(document: Document, workspace: Path = Path()) -> str:
    """Render the commands, and two last lines that the log shows verbatim: the result, and whether the step fails.

    What was not read comes first, since GitHub shows the first ten of a step; it is an error if the step fails for it.
    workspace: the folder with the job's repository.
    """
    kind = "error" if document.exit_code is ExitCode.INCONCLUSIVE else "warning"
    lines = [_unread(kind, document.command, part, workspace) for part in document.sheet.unread]
    for suite in document.sheet.suites:
        lines += [_annotation(suite.name, cases, workspace) for cases in _at_one_place(suite.cases)]
    if document.exit_code is ExitCode.INCONCLUSIVE:
        undecided = [case.id for suite in document.sheet.suites for case in suite.cases if case.outcome == "undecided"]
        if undecided:
            text = f"{len(undecided)} undecided: {some_of(undecided, MOST_NAMED)}"
            lines.append(f"::warning title=elrcheck {document.command}::{message(text)}")
    lines += [f"::warning title=elrcheck {document.command}::{message(note)}" for note in document.sheet.notes]
    lines.append(f"{document.word.upper()}  {printable(document.sheet.summary)}")
    return "\n".join([*lines, printable(f"elrcheck {document.command} {document.outcome}")]) + "\n"


def fault_command(fault: ElrError, workspace: Path) -> str:
    """Return an error that ended the program as a workflow command."""
    fields = [f"title={value(f'elrcheck {fault.code}')}"]
    file, line = split_place(fault.where or "")
    parts = [fault.message]
    if file and file == printable(file) and (inside := path_in(workspace, file)) is not None:
        fields = [f"file={value(inside)}", f"line={line}", *fields]
    elif fault.where:
        parts.append(fault.where)
    parts += [fault.help] if fault.help else []
    return f"::error {','.join(fields)}::{message(chr(10).join(map(printable, parts)))}"


def _unread(kind: str, command: str, part: str, workspace: Path) -> str:
    """Return an annotation of a part of the input, at its line if its file is in the repository."""
    fields, text = [], f"Not read: {part}"
    if (place := PLACED.match(part)) is not None and (inside := path_in(workspace, place[1])) is not None:
        fields, text = [f"file={value(inside)}", f"line={place[2]}"], f"Not read: {part[place.end() :]}"
    return f"::{kind} {','.join([*fields, f'title=elrcheck {command}'])}::{message(text)}"


def _at_one_place(cases: Iterable[Case]) -> Iterable[list[Case]]:
    """Return the failed cases, together those of one place and level if there are more than `_FEW`."""
    places: dict[tuple[str | None, CaseLevel], list[Case]] = {}
    for case in cases:
        if case.outcome == "failed":
            places.setdefault((case.place or case.source, case.level), []).append(case)
    for together in places.values():
        yield from [together] if len(together) > _FEW[together[0].level] else [[case] for case in together]


def _annotation(suite: str, cases: Sequence[Case], workspace: Path) -> str:
    """Return the annotation of a case, or of several with a line for each."""
    case, *others = cases
    fields, text, title = [], full_text(case) or case.message or case.verdict, case.title
    if others:
        text = "\n".join(f"{each.title}: {each.verdict}" for each in cases)
        title = f"{title} and {len(others)} more"
    own = None if case.source is None else path_below(workspace, case.source)
    place = own or case.place or case.source
    if place is not None:
        file, line = split_place(place)
        if (inside := path_in(workspace, file)) is not None:
            fields += [f"file={value(inside)}", f"line={line}"]
        else:
            text = f"{text.rstrip()}\n{place} of elrcheck"
    if len(suite) > _LONGEST:
        text = f"{suite}\n{text}"
    else:
        title = f"{title} ({suite})"
    fields.append(f"title={value(title)}")
    kind = {"error": "error", "warning": "warning", "note": "notice"}[case.level]
    return f"::{kind} {','.join(fields)}::{message(text)}"


def message(text: str) -> str:
    """Escape text as the message of a workflow command."""
    return text.rstrip("\n").replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def value(text: str) -> str:
    """Escape text as the value of a property of a workflow command."""
    return message(text).replace(":", "%3A").replace(",", "%2C")
