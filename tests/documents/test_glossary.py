"""The glossary explains each id and word that elrcheck prints, collected from the code that prints it."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import tomllib
import typing
from collections.abc import Iterator

from msgspec import Struct

from elrcheck import results
from elrcheck.base.common_options import FAIL_ON, KINDS
from elrcheck.base.errors import ExitCode
from elrcheck.catalogue.lookup import full_entries
from elrcheck.cli import cli
from elrcheck.commands.run_list import RunKind
from elrcheck.model.state import GHOSTS
from support.places import ROOT

GLOSSARY = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
VERDICTS, LABELS = tomllib.loads((ROOT / "catalogue" / "report_words.toml").read_text(encoding="utf-8")).values()


def normal(word: str) -> str:
    return word.replace("_", " ").strip("` ").lower()


def explained() -> set[str]:
    """The words in the first cells of all tables, and those of reports; commas or semicolons separate them."""
    cells = [*re.findall(r"^\| ([^|]+) \|", GLOSSARY, re.M), *VERDICTS, *LABELS]
    return {normal(word) for cell in cells for word in (cell, *re.split(r"[,;] ", cell))}


def words_of(annotation: object) -> set[str]:
    """The strings of a Literal, also inside a union or a generic type."""
    inner = typing.get_args(annotation)
    if typing.get_origin(annotation) is typing.Literal:
        return {word for word in inner if isinstance(word, str)}
    return set().union(*(words_of(one) for one in inner))


def words_of_reports() -> set[str]:
    """Verdicts, statuses and kinds of all report types, without names of schemas and commands."""
    words: set[str] = set()
    for module in pkgutil.iter_modules(results.__path__, f"{results.__name__}."):
        for value in vars(importlib.import_module(module.name)).values():
            words |= words_of(value)
            if isinstance(value, type) and issubclass(value, Struct):
                hints = typing.get_type_hints(value)
                words |= set().union(*(words_of(hint) for hint in hints.values()))
    return {word for word in words if not word.startswith("elrcheck.")} - set(cli.commands)


def labels() -> Iterator[str]:
    """Yield what stands at the beginning of a line, or over a column, of a report; `risk` has an operator's words."""
    paths = set((ROOT / "report" / "documents").glob("*.py")) - {ROOT / "report" / "documents" / "risk_document.py"}
    for path in sorted(paths):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(func=ast.Name(id="Labelled" | "Table"), args=[first, *_]):
                    parts = first.elts if isinstance(first, ast.Tuple) else [first]
                    for part in parts:
                        if isinstance(part, ast.Constant) and part.value:
                            yield from str(part.value).split(", ")


def id_prefixes() -> set[str]:
    """P, V, W, CT, E, F from the catalogue's own ids; C, KIP and KAFKA from what its texts cite."""
    entries = [entry for kind in KINDS for entry in full_entries(kind)]
    own = {str(entry["id"]).split("-")[0] for entry in entries if "id" in entry}
    cited = {prefix for entry in entries for prefix in re.findall(r"\b([A-Z]+)-\d", str(entry))}
    return own | (cited & {"B", "C", "KIP", "KAFKA"})


def test_the_words_of_all_report_types_are_explained() -> None:
    words = words_of_reports()
    assert len(words) > 40 and {"violated", "not_found", "tolerated", "leads_to"} <= words
    assert {word for word in words if normal(word) not in explained()} == set()


def test_other_status_words_and_exit_codes_are_explained() -> None:
    words = {*typing.get_args(RunKind), *FAIL_ON}
    assert {word for word in words if normal(word) not in explained()} == set()
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    codes = re.findall(r"\d+", " ".join(re.findall(r"^\| (\d[\d, ]*) \|", readme, re.M)))
    assert codes == [str(code.value) for code in ExitCode]


def test_labels_and_columns_are_explained() -> None:
    words = set(labels())
    assert len(words) > 60 and {"conjunct", "distinct values"} <= words
    assert {word for word in words - {"A", "B"} if normal(word) not in explained()} == set()


def test_what_only_properties_read_of_a_state_is_explained() -> None:
    assert {name for name in GHOSTS if normal(name) not in explained()} == set()


def test_every_kind_of_id_is_explained() -> None:
    prefixes = id_prefixes()
    assert {"P", "V", "W", "CT", "E", "F", "C"} <= prefixes
    assert {prefix for prefix in prefixes if normal(f"{prefix}-*") not in explained()} == set()
    semantics = (ROOT / "docs" / "semantics.md").read_text(encoding="utf-8")
    assert re.search(r"^\*\*B\.\d", semantics, re.M) and "b.*" in explained()
