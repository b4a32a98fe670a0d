"""The guides for those who read and change the model: what they quote exists, what they say to type works."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from elrcheck.base.requests import Selection
from elrcheck.declared.select import resolve
from elrcheck.invariants.modules import load_checked_model
from elrcheck.tla_export.spec import spec_text
from support.followed import FENCE, blocks, environment, follow
from support.places import ROOT, copy_package, sources

EXTENDING = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
READING = (ROOT / "docs" / "reading-the-model.md").read_text(encoding="utf-8")
SKIPPED = shutil.ignore_patterns(".*", "__pycache__", "node_modules", "build", "env", "*.egg-info")
# What extending.md says is required, once its examples are typed: tests of seconds.
REQUIRED = {
    "tests/documents/test_model_docs.py::test_properties_are_listed",
    "tests/documents/test_model_docs.py::test_every_action_is_on_exactly_one_page",
    "tests/documents/test_model_docs.py::test_every_knob_of_the_protocol_is_on_some_page",
    "tests/catalogue/test_catalogue.py::test_knobs_and_budgets_are_all_fields_of_the_configuration",
    "tests/catalogue/test_hazards.py::test_the_table_is_complete_and_in_order",
    "tests/kafka/test_scenarios.py::test_the_catalogue_is_complete",
}
LOADED = """
import json
from elrcheck.catalogue.lookup import full_entries
from elrcheck.catalogue.model_entries import hazard_entries, knob_entries, scenario_entries, variant_entries
actions = {entry["name"]: entry["guards"] for entry in full_entries("actions")}
print(json.dumps({
    "properties": [entry["id"] for entry in full_entries("properties")],
    "guards": actions["ReplaceDisk"],
    "budgets": [entry["name"] for entry in knob_entries(budgets=True)],
    "variants": {entry["name"]: entry["knobs"] for entry in variant_entries()},
    "hazards": [entry["id"] for entry in hazard_entries()],
    "scenarios": [entry["id"] for entry in scenario_entries()],
}))
"""


def code(text: str, language: str) -> list[str]:
    return [body for tag, body in FENCE.findall(text) if tag == language]


def edits() -> str:
    """The commands of extending.md that change files, as one script."""
    commands = [command.text for block in blocks(EXTENDING) for command in block.commands]
    return "\n".join(text for text in commands if text.startswith(("cat >", "git apply")))


def test_what_the_guide_to_reading_quotes_is_in_the_model() -> None:
    texts = [path.read_text(encoding="utf-8") for path in sources("model", "invariants")]
    quoted = code(READING, "python")
    assert len(quoted) >= 3
    for body in quoted:
        assert any(body in text for text in texts), body
    named = set(re.findall(r"`(\w+\.py)`", READING))
    assert len(named) >= 8
    assert named <= {path.name for path in sources("model")}


def test_what_it_quotes_of_tla_is_what_is_exported() -> None:
    config = resolve(Selection("kip_full", "two-brokers")).config
    module = spec_text(load_checked_model(), config, "Quoted").tla
    (quoted,) = code(READING, "tla")
    assert quoted.startswith("MayAdvance(") and quoted in module


def test_the_examples_load_and_are_listed(tmp_path: Path) -> None:
    """The bounded piece of what is followed below: every edit, and the model that comes of it."""
    package = copy_package(tmp_path / "elrcheck")
    edited = subprocess.run(["bash", "-ec", edits()], cwd=package, capture_output=True, text=True, timeout=60)
    assert edited.returncode == 0, edited.stderr
    result = subprocess.run(
        [sys.executable, "-c", LOADED],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert result.returncode == 0, result.stderr
    document = json.loads(result.stdout)
    assert [ident for ident in document["properties"] if ident.startswith("P-")][-1] == "P-90"
    assert document["guards"] == ["the scope has disk replacements", "b is offline", "there is something to lose"]
    assert document["budgets"][-1] == "disk_replacements"
    assert document["variants"]["one_clean_file"] == {"clean_file_on_every_disk": False}
    assert (document["hazards"][-1], document["scenarios"][-1]) == ("F-90", "E-90")


def test_the_page_names_tests_that_exist() -> None:
    named = set(re.findall(r"`(test_\w+\.py)`", EXTENDING))
    assert {test.split("/")[2].split("::")[0] for test in REQUIRED} <= named
    assert named <= {path.name for path in (ROOT / "tests").rglob("*.py")}
    for test in REQUIRED:
        path, name = test.split("::")
        assert f"def {name}(" in (ROOT / path).read_text(encoding="utf-8"), test


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    shutil.copytree(ROOT, tmp_path / "elrcheck", ignore=SKIPPED)
    return tmp_path / "elrcheck"


@pytest.mark.slow
def test_followed_literally(clone: Path) -> None:
    """All but the installation; then exactly the tests complain of which the table says so."""
    install, *others = blocks(EXTENDING)
    assert any("pip install" in command.text for command in install.commands)
    own = environment(clone.parent, {"PYTHONPATH": str(clone.parent)})
    follow(others, clone, own)
    pages = "tests/documents/test_model_docs.py"
    tests = [pages, *(test for test in sorted(REQUIRED) if not test.startswith(pages))]
    command = [sys.executable, "-m", "pytest", "-n0", "-q", "-rf", "-p", "no:cacheprovider", *tests]
    ran = subprocess.run(command, cwd=clone, env=own, capture_output=True, text=True, timeout=900)
    assert ran.returncode == 1, ran.stdout[-3000:] + ran.stderr[-3000:]
    assert set(re.findall(r"^FAILED (\S+)", ran.stdout, re.M)) == REQUIRED


@pytest.mark.slow
def test_the_guide_to_reading_is_followed_literally(clone: Path) -> None:
    steps = blocks(READING)
    assert sum(len(block.quoted) for block in steps) >= 5
    follow(steps, clone, environment(clone.parent, {"PYTHONPATH": str(clone.parent)}))
