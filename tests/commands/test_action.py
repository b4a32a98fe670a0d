"""The GitHub action, step by step, and the workflow of docs/ci.md that uses it."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
import yaml

from support.audit_stories import CONTROL, LOST
from support.ci_steps import shell
from support.edits import replaced
from support.places import ROOT

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
INPUT = re.compile(r"\$\{\{ inputs\.([\w-]+) \}\}")
TERRAFORM = 'resource "kafka_topic" "orders" {\n  name = "orders"\n  partitions = 3\n  replication_factor = 3\n}\n'


def act(folder: Path, **inputs: str) -> tuple[int, str]:
    """Run the steps of the action with these inputs, but for the installation; return how it ends, and its output."""
    unknown = inputs.keys() - {name.replace("-", "_") for name in ACTION["inputs"]}
    assert not unknown
    values = {name: str(inputs.get(name.replace("-", "_"), each["default"])) for name, each in ACTION["inputs"].items()}
    out = ""
    for step in ACTION["runs"]["steps"]:
        if "run" not in step or step["name"] == "Install":
            continue
        if not _applies(step.get("if", "true"), values):
            continue
        assert "${{" not in step["run"], "an input in a command line would be code"
        environment = {key: INPUT.sub(lambda m: values[m[1]], text) for key, text in step["env"].items()}
        assert all("${{" not in text for text in environment.values())
        done: CompletedProcess[str] = shell(step["run"], folder, **environment)
        out += done.stdout + done.stderr
        if done.returncode:
            return done.returncode, out
    return 0, out


def _applies(condition: str, values: dict[str, str]) -> bool:
    match = re.fullmatch(r"inputs\.([\w-]+) == '(\w+)'", condition)
    return condition == "true" or (match is not None and values[match[1]] == match[2])


def test_it_is_composite_and_names_its_modes() -> None:
    assert ACTION["runs"]["using"] == "composite"
    modes = [step["if"] for step in ACTION["runs"]["steps"] if "if" in step]
    assert modes == [f"inputs.mode == '{mode}'" for mode in ("assess", "audit", "gate")]


def test_a_wrong_mode_is_refused(tmp_path: Path) -> None:
    code, out = act(tmp_path, mode="aduit")
    assert code == 2 and "::error title=elrcheck::mode: expected assess, audit or gate, not aduit" in out


@pytest.mark.slow
def test_assess_annotates_the_line_of_a_topic(tmp_path: Path) -> None:
    (tmp_path / "my topics").mkdir()
    (tmp_path / "my topics" / "main.tf").write_text(f"# topics\n{TERRAFORM}")
    code, out = act(tmp_path, mode="assess", kafka="4.1", topics="my topics\n")
    assert code == 1 and "::error file=my topics/main.tf,line=2,title=F-20 " in out
    assert (tmp_path / "elrcheck.sarif").is_file() and (tmp_path / "elrcheck.xml").is_file()
    assert act(tmp_path, mode="assess", kafka="4.1", topics="my topics", fail_on="flag")[0] == 0
    code, out = act(tmp_path, mode="assess", kafka="4.1", log=f"{CONTROL}\n{LOST}\n", fail_on="flag")
    assert code == 1 and "ghost-elected" in out


def test_assess_without_a_release_says_what_to_give(tmp_path: Path) -> None:
    code, out = act(tmp_path, mode="assess")
    assert code == 2 and "--kafka" in out


@pytest.mark.parametrize(("log", "code"), [(LOST, 1), (CONTROL, 0)])
def test_audit(log: Path, code: int, tmp_path: Path) -> None:
    ended, out = act(tmp_path, mode="audit", log=str(log))
    assert ended == code and ("::error " in out) == (code == 1)
    assert (tmp_path / "elrcheck.sarif").is_file()


def test_an_audit_fails_on_flags_or_never(tmp_path: Path) -> None:
    code, out = act(tmp_path, mode="audit", log=str(LOST), fail_on="never")
    assert code == 0 and "::error " in out and out.splitlines()[-1] == "elrcheck audit passes with --exit-zero"
    code, out = act(tmp_path, mode="audit", log=str(LOST), fail_on="loss")
    assert code == 2 and "::error title=elrcheck::fail-on: expected flag or never for audit, not loss" in out


def test_the_settings_decide_what_no_input_says(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(
        replaced(TERRAFORM, "}\n", '  config = {\n    "min.insync.replicas" = "2"\n  }\n}\n')
    )
    assert shell("elrcheck init --kafka 4.1", tmp_path).returncode == 0
    assert act(tmp_path, mode="assess")[0] == 0 and act(tmp_path, mode="assess", fail_on="loss")[0] == 1
    (tmp_path / "elrcheck.toml").write_text('[gate]\nbaseline = "other.toml"\n')
    code, out = act(tmp_path)
    assert code == 2 and "there is no baseline other.toml" in out and "`elrcheck assess`" in out


@pytest.mark.slow
def test_gate(tmp_path: Path) -> None:
    assert shell("elrcheck gate --add quiet --scope two-brokers-quiet -p P-1", tmp_path).returncode == 0
    code, out = act(tmp_path)
    assert code == 0, out
    path = tmp_path / "elrcheck-baseline.toml"
    path.write_text(replaced(path.read_text(), 'P-1 = "holds"', 'P-1 = "violated at depth 1"'))
    code, out = act(tmp_path)
    assert code == 1 and "::error file=elrcheck-baseline.toml" in out
    assert (tmp_path / "elrcheck.sarif").is_file() and (tmp_path / "elrcheck.xml").is_file()


def test_the_gate_of_a_model_is_annotated_in_the_model(tmp_path: Path) -> None:
    """A violation that the baseline expects is no difference, and `violated` rejects it."""
    new = shell("elrcheck new lock && elrcheck init --model lock.py && rm elrcheck.toml", tmp_path)
    assert new.returncode == 0, new.stderr
    code, out = act(tmp_path, model="lock.py\n")
    assert code == 0 and "SAME  2 entries match elrcheck-baseline.toml," in out, out
    code, out = act(tmp_path, model="lock.py", fail_on="violated")
    assert code == 1 and re.search(r"^::error file=lock\.py,line=\d+,title=P-1 MutualExclusion", out, re.M)
    assert "2 entries match elrcheck-baseline.toml; --fail-on rejects a result as expected in 1," in out
    places = json.loads((tmp_path / "elrcheck.sarif").read_text())["runs"][0]["results"][0]["locations"]
    assert places[0]["physicalLocation"]["artifactLocation"] == {"uri": "lock.py", "uriBaseId": "%SRCROOT%"}
    text = shell("elrcheck gate --model lock.py --fail-on violated || elrcheck gate --model lock.py", tmp_path).stdout
    assert "lock: 1 result as expected, which --fail-on rejects" in text and "1 difference" not in text
    assert "SAME  lock: 13 states, P-1 violated as expected" in text and "--update-baseline" not in text


def test_the_workflow_of_the_page(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"<!-- action -->\n```yaml\n(.*?)```", page, re.S)
    steps = yaml.safe_load(block)["jobs"]["topics"]["steps"]
    written = (ROOT / "commands" / "templates" / "workflow.yml.jinja").read_text("utf-8")
    pinned = re.findall(r"[\w-]+/[\w-]+@[0-9a-f]{40}  # v[\d.]+", written)
    others = [step["uses"] for step in steps if not step["uses"].startswith("./")]
    assert others and all(any(pin.startswith(f"{used} ") for pin in pinned) for used in others)
    (checkout,) = [step["with"] for step in steps if "repository" in step.get("with", {})]
    (ours,) = [step for step in steps if step["uses"].startswith("./")]
    assert ours["uses"] == f"./{checkout['path']}"
    shutil.copytree(ROOT / "tests" / "data" / "topics", tmp_path / ours["with"]["topics"])
    (tmp_path / checkout["path"]).mkdir()
    shutil.copy(ROOT / "action.yml", tmp_path / checkout["path"])
    code, out = act(tmp_path, **{name.replace("-", "_"): value for name, value in ours["with"].items()})
    assert code == 1 and "::error file=topics/" in out
    (upload,) = [step["with"] for step in steps if "upload" in step["uses"]]
    assert all((tmp_path / name).is_file() for name in upload["path"].split())
