"""ARCHITECTURE.md says how the rooms are layered; the rooms keep their shape."""

from __future__ import annotations

import ast
import configparser
import re
from collections import Counter

from elrcheck.base.package_files import rooms
from elrcheck.declared.declared_model import DEFAULT_MODEL
from support.places import ROOT, protocol_files, sources

MOST_FILES = 20
TEXT = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
FOLDERS = sorted({path.parent.relative_to(ROOT).as_posix() for path in sources(*rooms())})


def modules(folder: str) -> set[str]:
    return {path.name for path in (ROOT / folder).glob("*.py")} - {"__init__.py", "__main__.py"}


def first_cells(text: str) -> list[str]:
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    return [name for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[1])]


def test_the_layers_are_those_of_the_import_contract() -> None:
    contract = configparser.ConfigParser()
    contract.read(ROOT / ".importlinter", encoding="utf-8")
    layers = re.split(r"[|\s]+", contract["importlinter:contract:layers"]["layers"].strip())
    table = TEXT.partition("<!-- layers")[2].partition("\n\n")[0]
    assert [name.rstrip("/") for name in first_cells(table)] == layers
    assert set(layers) == {*rooms(), "cli", "pytest_plugin", "setup"}


def test_every_file_and_folder_that_the_map_names_exists() -> None:
    """A name begins at the root, or at a folder that its sentence is about."""
    named = set(re.findall(r"`([\w./-]+(?:\.(?:py|toml|md)|/))`", TEXT))
    ours = [f"/{path.relative_to(ROOT).as_posix()}" for path in sources()] + [f"/{folder}/" for folder in FOLDERS]
    missing = {name for name in named if not (ROOT / name).exists()}
    assert len(named) > 100
    assert sorted(name for name in missing if not any(place.endswith(f"/{name}") for place in ours)) == []


def test_the_contract_has_no_exceptions() -> None:
    assert "ignore_imports" not in (ROOT / ".importlinter").read_text(encoding="utf-8")


def test_the_toolkit_names_one_module_of_kafka_the_model_of_a_command_without_a_file() -> None:
    """An import contract does not see a module that is imported by its name."""
    contract = configparser.ConfigParser()
    contract.read(ROOT / ".importlinter", encoding="utf-8")
    layers = contract["importlinter:contract:layers"]["layers"].split()
    half = layers.index("commands")
    kafka = tuple(f"elrcheck.{room}." for room in layers[:half] if room not in ("cli", "|", "pytest_plugin", "setup"))
    files = [file for room in layers[half:] for file in (ROOT / room).rglob("*.py")]
    named = [
        (file.relative_to(ROOT).as_posix(), node.value)
        for file in files
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and f"{node.value}.".startswith(kafka)
    ]
    assert named == [("declared/declared_model.py", DEFAULT_MODEL)]
    assert "lint-imports" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_every_verb_is_in_the_contract_that_no_verb_imports_another() -> None:
    """Those in commands/ by a wildcard. Some others are rooms, used by audits, exported tests and changed rules."""
    contract = configparser.ConfigParser()
    contract.read(ROOT / ".importlinter", encoding="utf-8")
    independent = contract["importlinter:contract:verbs"]["modules"].split()
    assert "elrcheck.commands.*" in independent
    text = "".join(path.read_text(encoding="utf-8") for path in sources("console", "api"))
    verbs = set(re.findall(r"from (elrcheck\.kafka\.\w+)", text))
    verbs -= {
        f"elrcheck.kafka.{room}"
        for room in ("assess", "conformance", "controller_proof", "doctor", "mutation", "scenario", "topics")
    }
    assert verbs == {name for name in independent if name.startswith("elrcheck.kafka.")}


def test_no_folder_is_an_attic() -> None:
    folders = {*FOLDERS, *(file.parent.relative_to(ROOT).as_posix() for file in protocol_files())}
    assert {folder: len(modules(folder)) for folder in folders if len(modules(folder)) > MOST_FILES} == {}


def test_no_two_modules_have_one_name() -> None:
    names = Counter(path.stem for path in sources() if path.stem not in ("__init__", "__main__"))
    assert [name for name, count in names.items() if count > 1] == []


def test_modules_are_named_for_what_they_hold() -> None:
    """Not for what somebody does with it: exploring, keeping, showing."""
    assert [path.stem for path in sources() if path.stem.endswith("ing")] == []
