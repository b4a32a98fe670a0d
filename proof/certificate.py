"""A certificate on disk: the proved obligations as text for another solver, and a manifest.

    manifest.json               the claim, the digest of the model's source, and the digest of every text
    premises.smt2.gz            shared by all scripts (proof/smt_text.py)
    initiation.smt2.gz          a script for each part of the proof
    consecution/012-Fetch.smt2.gz
    implication.smt2.gz
    impossible.smt2.gz          the choices of arguments that no state enables

Each choice of an action's arguments has a script of its own or is impossible, also the choices that the proof left out
as renamings of others: a reader of a certificate need not trust renamings.

The manifest is written last, so a folder with one is complete. Texts are compressed without a time stamp, so equal
proofs give equal bytes. A certificate from elsewhere is untrusted: its names must stay inside the folder, and its texts
must match the digests of the manifest and contain only allowed commands.
"""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from elrcheck.base.atomic import write_bytes, write_file
from elrcheck.base.documents import JSON_LIMIT, lay_out, read_text
from elrcheck.base.errors import UsageFault
from elrcheck.base.roundtrip import Record, from_text, to_data
from elrcheck.base.strict import Codes
from elrcheck.results.prove_report import ProofSizes

SCHEMA = "elrcheck.certificate/2"
MANIFEST = "manifest.json"
STEPS = "consecution"
PREMISES = "premises.smt2.gz"
INITIATION, IMPLICATION = "initiation.smt2.gz", "implication.smt2.gz"
IMPOSSIBLE = "impossible.smt2.gz"
DRAFT = ".draft"
"""Folder inside that of a certificate, where a new one is written before it replaces the old one."""
CODES = Codes("certificate-damaged")
COMMANDS = (
    *("(set-logic ", "(declare-sort ", "(declare-fun ", "(define-fun "),
    *("(assert ", "(push ", "(pop ", "(check-sat-assuming "),
)
"""Allowed beginnings of a line: none names a file or changes a solver's options."""
QUERY = 4
"""Lines of a question: push, the negated obligation, check, pop."""
TEXT_LIMIT = 256 * 2**20
"""Greatest size of one text in bytes, so that a small file cannot unpack to a huge one."""
HELP = "write it again with `elrcheck prove --certificate DIR`"


class CertifiedGoal(Record, frozen=True):
    """A proved obligation: `Frame`, `Types`, or the function name of a lemma or property.

    core: the lemmas that the proof needed. In a proof for any size, sizes: the axioms about two sets (`OF_TWO`);
    both_sides: definitions have triggers on both sides.
    """

    name: str
    core: tuple[str, ...] = ()
    sizes: tuple[str, ...] = ()
    both_sides: bool = False


class Script(Record, frozen=True):
    """A text and its obligations in order. action, arguments: of its steps, if it has any."""

    file: str
    sha256: str
    cells: tuple[CertifiedGoal, ...]
    action: str = ""
    arguments: Mapping[str, str] = {}

    @property
    def subject(self) -> tuple[str, ...]:
        """The identity of a script: its file, or the action with its arguments."""
        if not self.action:
            return (self.file,)
        return (self.action, *(f"{name}={value}" for name, value in self.arguments.items()))


class Choices(Record, frozen=True):
    """An action, and the values of each of its parameters in order; each combination is in some script."""

    action: str
    values: Mapping[str, tuple[str, ...]]


class TextFile(Record, frozen=True):
    """A text without questions."""

    file: str
    sha256: str


class Manifest(Record, frozen=True):
    """The claim of a certificate, and the digests of its texts.

    config: every setting, by its name in a scope. solver: name and version of the prover. source: digest of the model,
    its properties and the language. properties: function names of those chosen; lemmas: of all. actions: all of the
    model, with the values of their parameters. assumptions: names of the chosen assumptions on steps; assumed: function
    names of all, which every script of steps asserts. open: obligations that were not proved and have no text. sizes:
    `any` for a proof for all sizes.
    """

    schema: str
    elrcheck: str
    variant: str
    config: Mapping[str, str | int | bool]
    solver: str
    source: str
    properties: tuple[str, ...]
    lemmas: tuple[str, ...]
    actions: tuple[Choices, ...]
    premises: TextFile
    scripts: tuple[Script, ...]
    open: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    sizes: ProofSizes = "given"


@dataclass(frozen=True)
class Questions:
    """A script, read and checked: the lines before the first question, and those of each question."""

    premises: tuple[str, ...]
    questions: tuple[tuple[str, ...], ...]


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def write_text(folder: Path, name: str, text: str) -> str:
    """Write one text, compressed; return its digest."""
    path = folder / name
    write_bytes(path, gzip.compress(text.encode(), compresslevel=6, mtime=0))
    return digest(text)


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest with a line for each script."""
    write_file(folder / MANIFEST, lay_out(to_data(manifest)))


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of a certificate; raise UsageFault if the file is not one, or is of another version."""
    path = folder / MANIFEST
    text = read_text(path, CODES, JSON_LIMIT)
    try:
        manifest = from_text(text, Manifest)
    except ValueError as fault:
        raise _damaged(path, f"not a certificate: {fault}") from fault
    if manifest.schema != SCHEMA:
        raise _damaged(path, f"a certificate of {manifest.schema}, not {SCHEMA}")
    return manifest


def demand_referenced(folder: Path, manifest: Manifest) -> None:
    """Raise UsageFault for a file that the manifest does not name, or names twice."""
    named = [MANIFEST, manifest.premises.file, *(script.file for script in manifest.scripts)]
    subjects = [script.subject for script in manifest.scripts]
    for number, script in enumerate(manifest.scripts):
        if named.count(script.file) > 1 or script.subject in subjects[:number]:
            why = f"the manifest has more than one script for {' '.join(script.subject)}"
            raise _damaged(folder / script.file, why)
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and name not in named and not name.startswith(f"{DRAFT}/"):
            raise _damaged(path, "the manifest does not name this file")


def read_premises(folder: Path, manifest: Manifest) -> tuple[str, ...]:
    lines = _lines(folder, manifest.premises.file, manifest.premises.sha256)
    if any(line.startswith(("(push ", "(pop ", "(check-")) for line in lines):
        raise _damaged(folder / manifest.premises.file, "the premises ask a question")
    return lines


def read_script(folder: Path, script: Script) -> Questions:
    """Read one script; raise UsageFault unless it has exactly the questions of the manifest."""
    lines = _lines(folder, script.file, script.sha256)
    path = folder / script.file
    first = len(lines) - QUERY * len(script.cells)
    if first < 0 or any(line.startswith(("(push ", "(pop ", "(check-")) for line in lines[:first]):
        raise _damaged(path, f"{len(script.cells)} questions expected")
    questions = tuple(lines[at : at + QUERY] for at in range(first, len(lines), QUERY))
    for question in questions:
        heads = tuple(line.split(" ", 1)[0] for line in question)
        if heads != ("(push", "(assert", "(check-sat-assuming", "(pop"):
            raise _damaged(path, f"{' '.join(heads)} is not a question")
    return Questions(lines[:first], questions)


def _lines(folder: Path, name: str, expected: str) -> tuple[str, ...]:
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        raise _damaged(path, "the name leads out of the certificate")
    try:
        with gzip.open(path) as stream:
            raw = stream.read(TEXT_LIMIT + 1)
    except FileNotFoundError as fault:
        raise _damaged(path, "the file is missing") from fault
    except (OSError, EOFError, zlib.error) as fault:
        raise _damaged(path, f"cannot read the text: {fault}") from fault
    if hashlib.sha256(raw).hexdigest() != expected or len(raw) > TEXT_LIMIT:
        raise _damaged(path, "the text is not the one that the manifest names")
    lines = raw.decode("ascii", "replace").splitlines()
    for number, line in enumerate(lines, start=1):
        if not line.startswith(COMMANDS):
            raise _damaged(f"{path}:{number}", f"{line[:30]!r} is not a command of a certificate")
    return tuple(lines)


def _damaged(place: Path | str, why: str) -> UsageFault:
    return UsageFault(CODES.bad_value, why, where=str(place), help=HELP)


def step_file(number: int, action: str) -> str:
    return f"{STEPS}/{number:03}-{action}.smt2.gz"
