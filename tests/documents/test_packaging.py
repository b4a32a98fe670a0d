"""The package is what the repository holds: no folder forgotten, no stray file shipped, one import name."""

from __future__ import annotations

import ast
import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from setuptools import Distribution

import elrcheck
from support.places import ROOT, sources

NOT_SHIPPED = {"elrcheck.laboratory.evidence", "elrcheck.protocols.agreement.kraft"}
ROOT_MODULES = {"__init__", "__main__", "cli", "pytest_plugin"}
BUILD_STEP = "setup"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SETUPTOOLS = PROJECT["tool"]["setuptools"]


def folders_with_code() -> set[str]:
    skipped = {"build", "dist", ".venv"}
    return {
        ".".join(("elrcheck", *init.parent.relative_to(ROOT).parts))
        for init in ROOT.glob("[!.]*/**/__init__.py")
        if init.relative_to(ROOT).parts[0] not in skipped
    }


def test_every_folder_is_listed_as_a_package() -> None:
    assert set(SETUPTOOLS["packages"]) == (folders_with_code() | {"elrcheck"}) - NOT_SHIPPED


@pytest.mark.parametrize("editable", [False, True])
def test_a_build_has_no_module_of_an_earlier_one(
    editable: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`pip install .` after an update builds in the same folder: a folder that became a file would hide that file."""
    declared: dict[str, Any] = {}
    monkeypatch.setattr("setuptools.setup", lambda **options: declared.update(options))
    runpy.run_path(str(ROOT / "setup.py"))
    old = tmp_path / "elrcheck" / "gone" / "__init__.py"
    old.parent.mkdir(parents=True)
    old.touch()
    there: list[bool] = []
    monkeypatch.setattr("setuptools.command.build_py.build_py.run", lambda _: there.append(old.exists()))
    monkeypatch.setattr("subprocess.run", lambda command, **_: subprocess.CompletedProcess(command, 0))
    build = declared["cmdclass"]["build_py"](Distribution({"packages": []}))
    build.build_lib, build.editable_mode = str(tmp_path), editable
    build.run()
    assert there == [editable]


def test_what_is_shipped_imports_nothing_that_is_not() -> None:
    folders = {folder_of(name) for name in NOT_SHIPPED}
    shipped = [path for path in sources() if path.parent not in folders]
    assert len(shipped) < len(sources())
    for path in shipped:
        text = path.read_text(encoding="utf-8")
        assert not [name for name in NOT_SHIPPED if name in text], path


def test_the_root_is_the_package() -> None:
    """Setuptools looks for sub-packages below the folder of their parent, so one line is enough."""
    assert SETUPTOOLS["package-dir"] == {"elrcheck": "."}
    for name in SETUPTOOLS["packages"]:
        assert (folder_of(name) / "__init__.py").is_file(), name


def folder_of(package: str) -> Path:
    return ROOT.joinpath(*package.split(".")[1:])


def test_no_stray_module_in_the_root() -> None:
    assert {module.stem for module in ROOT.glob("*.py")} == ROOT_MODULES | {BUILD_STEP}


def test_the_tests_are_no_package() -> None:
    assert not (ROOT / "tests" / "__init__.py").exists()


def test_bare_folder_names_are_banned_in_the_linter() -> None:
    banned = set(PROJECT["tool"]["ruff"]["lint"]["flake8-tidy-imports"]["banned-api"])
    names = {name.split(".")[1] for name in SETUPTOOLS["packages"] if "." in name} | ROOT_MODULES
    assert banned == names - {"__init__", "__main__"}


@pytest.mark.parametrize("folder", [Path.cwd(), ROOT], ids=["here", "root"])
def test_only_the_package_name_is_imported(folder: Path) -> None:
    """Even from the repository root the engine's modules arrive as elrcheck.* and nothing else."""
    source = (
        "import sys, elrcheck.cli, elrcheck.model.config, elrcheck.lang.types\n"
        "print(sorted({'model', 'lang', 'errors', 'report', 'cli'} & set(sys.modules)))"
    )
    command = [sys.executable, "-c", source]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


def test_the_version_is_the_installed_one() -> None:
    from importlib import metadata

    assert metadata.version("elrcheck") == elrcheck.__version__


def test_scopes_and_type_marker_are_shipped() -> None:
    data = SETUPTOOLS["package-data"]
    assert "py.typed" in data["elrcheck"]
    assert "scopes/*.toml" in data["elrcheck.catalogue"]
    for package, patterns in data.items():
        for pattern in patterns:
            assert list(folder_of(package).glob(pattern)), (package, pattern)


def test_ci_runs_the_command_of_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    documented = re.findall(r"<!-- test-command -->\n```sh\n(.+)\n```", readme)
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    executed = re.findall(r'^test_command="(.+)"$', script, re.M)
    assert len(documented) == 1
    assert executed == documented


def test_every_action_of_others_is_named_by_its_commit() -> None:
    """In the workflows, in the action, and in what `init` writes: a tag can be moved."""
    workflows = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    places = [*workflows, ROOT / "action.yml", ROOT / "commands" / "templates" / "workflow.yml.jinja"]
    commits: dict[str, set[str]] = {}
    for place in places:
        for used in re.findall(r"^ +- uses: (.*)$", place.read_text("utf-8"), re.M):
            named = re.fullmatch(r"([\w-]+/[\w-]+)@([0-9a-f]{40})  # v\d+\.\d+\.\d+", used)
            assert named, f"{place.name}: {used}"
            commits.setdefault(named[1], set()).add(named[2])
    assert len(commits) == 4 and all(len(same) == 1 for same in commits.values())


def test_ci_is_a_workflow_that_knows_the_history() -> None:
    """Without the commits the share of the slow tests would be that of the day."""
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8"))
    (job,) = workflow["jobs"].values()
    assert [step["run"] for step in job["steps"] if "run" in step] == [".ci/run"]
    assert job["steps"][0]["with"] == {"fetch-depth": 0}


def test_every_version_that_the_package_names_is_tested() -> None:
    named = re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text("utf-8"))
    workflows = ROOT / ".github" / "workflows"
    job = yaml.safe_load((workflows / "python.yml").read_text("utf-8"))["jobs"]["versions"]
    assert ["3.11", *job["strategy"]["matrix"]["python-version"]] == named
    assert 'python-version: "3.11"' in (workflows / "ci.yml").read_text("utf-8")
    for place in re.findall(r"tests/\S+", job["steps"][-1]["run"]):
        assert (ROOT / place).exists(), place


def test_every_import_is_a_declared_dependency() -> None:
    """But for pytest, which is there when it loads the plug-in, and setuptools, which builds the wheel."""
    files = [file for file in sources() if file.stem not in ("pytest_plugin", BUILD_STEP)]
    imported: set[str] = set()
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                imported.add(node.module.split(".")[0])
    foreign = imported - set(sys.stdlib_module_names) - {"elrcheck"}
    declared = {re.split(r"[>=<\[ ]", line)[0] for line in PROJECT["project"]["dependencies"]}
    distributions = {"z3": "z3-solver", "google_crc32c": "google-crc32c", "yaml": "pyyaml"}
    assert {distributions.get(name, name) for name in foreign} <= declared
