"""`--patch`: a change of a model is checked without a copy, and never mixed up with the model it changes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from support.invoked import Invoke
from support.weaker import LINE, WEAKER

CHECK = ("check", "--scope", "two-brokers", "-p", "P-1")


@pytest.fixture
def weaker(tmp_path: Path) -> str:
    (tmp_path / "weaker.diff").write_text(WEAKER)
    return "weaker.diff"


def test_the_patched_model_is_checked_and_named(invoke: Invoke, weaker: str, tmp_path: Path) -> None:
    plain = invoke(*CHECK, "-f", "json")
    code, out, _ = invoke(*CHECK, "--patch", weaker, "--run-dir", "run", "-f", "json")
    report = json.loads(out)
    assert plain[0] == 0 and code == 1
    assert report["model"] is None and report["patch"]["file"] == weaker and len(report["patch"]["digest"]) == 64
    assert json.loads(plain[1])["patch"] is None
    assert report["variant"] == "kip_full" and report["extent"] is None
    code, out, _ = invoke(*CHECK, "--patch", weaker)
    assert f"--patch {weaker}" in out and re.search(r"patch +weaker.diff .SHA-256 \w{12}", out)
    assert invoke(*CHECK)[0] == 0


@pytest.mark.slow
def test_its_trace_is_replayed_with_the_same_patch(invoke: Invoke, weaker: str, tmp_path: Path) -> None:
    assert invoke(*CHECK, "--patch", weaker, "--run-dir", "run")[0] == 1
    trace = "run/P-1.trace.json"
    code, out, _ = invoke("replay", trace, "--patch", weaker)
    assert code == 0 and "ACCEPTED" in out
    code, out, _ = invoke("replay", trace)
    assert code == 1 and "REJECTED" in out
    assert re.search(r"missing +--patch weaker.diff .SHA-256 \w{12}., with which the trace was stored", out)
    code, _, err = invoke("explain", trace)
    assert code == 2 and "trace-rejected" in err and "it was stored with --patch weaker.diff (SHA-256" in err
    assert "missing" not in invoke("replay", trace, "--patch", weaker)[1]
    assert invoke("explain", trace, "--patch", weaker)[0] == 1
    code, _, _ = invoke("export", "trace", trace, "--patch", weaker, "--format", "tla", "--out", "tla")
    assert code == 0


def test_a_trace_names_the_model_that_it_is_of(invoke: Invoke, tmp_path: Path) -> None:
    assert invoke("new", "lock")[0] == 0
    assert invoke("check", "--model", "lock.py", "--run-dir", "run")[0] == 1
    trace = "run/P-1.trace.json"
    assert json.loads((tmp_path / trace).read_text())["model"] == "lock.py"
    code, _, err = invoke("replay", trace)
    assert code == 2 and "the trace was stored with --model lock.py, which is missing here" in err
    code, out, _ = invoke("replay", trace, "--model", "lock.py", "-f", "json")
    origin = json.loads(out)["origin"]
    assert (code, origin["model"], origin["missing"]) == (0, "lock.py", None)


def test_reports_name_model_and_patch(invoke: Invoke, tmp_path: Path) -> None:
    assert invoke("new", "lock")[0] == 0
    lines = (tmp_path / "lock.py").read_text().splitlines()
    number = next(n for n, line in enumerate(lines, start=1) if "tests_again: bool = False" in line)
    old, new = lines[number - 1], lines[number - 1].replace("False", "True")
    (tmp_path / "again.diff").write_text(f"--- lock.py\n+++ lock.py\n@@ -{number} +{number} @@\n-{old}\n+{new}\n")
    source = ("--model", "lock.py", "--patch", "again.diff")
    for command in (
        ("explore",),
        ("prove", "-p", "P-1"),
        ("sweep", "--sweep", "processes=1..2"),
        ("mutate", "--guards"),
        ("simulate", "--walks", "10", "--seed", "1"),
    ):
        code, out, err = invoke(*command, *source, "-f", "json", "-o", "text:report.txt")
        assert code in (0, 1, 3), err
        report = json.loads(out)
        assert (report["model"], report["patch"]["file"]) == ("lock.py", "again.diff"), command
        text = (tmp_path / "report.txt").read_text()
        assert re.search(r"^ +model +lock.py$", text, re.M) and re.search(r"^ +patch +again.diff .SHA-256", text, re.M)


def test_run_folders_are_of_one_model_each(invoke: Invoke, weaker: str, tmp_path: Path) -> None:
    folders = set()
    for patch in ((), ("--patch", weaker)):
        code, out, _ = invoke(*CHECK, "--variant", "legacy", *patch, "-f", "json")
        assert code == 1
        folders.add(json.loads(out)["run_dir"])
    assert len(folders) == 2


def test_a_patch_of_a_model_in_a_file_and_in_a_folder(invoke: Invoke, tmp_path: Path) -> None:
    assert invoke("new", "lock")[0] == 0 and invoke("model", "fork", "mine", "--model", "lock.py")[0] == 0
    lines = (tmp_path / "lock.py").read_text().splitlines()
    number = next(n for n, line in enumerate(lines, start=1) if "tests_again: bool = False" in line)
    old, new = lines[number - 1], lines[number - 1].replace("False", "True")
    for name, model in (("lock.py", "lock.py"), ("mine/__init__.py", "mine")):
        diff = f"--- {name}\n+++ {name}\n@@ -{number} +{number} @@\n-{old}\n+{new}\n"
        (tmp_path / "again.diff").write_text(diff)
        assert invoke("check", "--model", model)[0] == 1
        code, out, _ = invoke("check", "--model", model, "--patch", "again.diff", "-f", "json")
        assert code == 0 and json.loads(out)["model"] == model
        assert "again.diff" in out


def test_a_patched_model_is_copied(invoke: Invoke, weaker: str, tmp_path: Path) -> None:
    assert invoke("model", "fork", "mine", "--patch", weaker)[0] == 0
    assert "len(counted) >= 1" in (tmp_path / "mine" / "model" / "broker" / "high_watermark.py").read_text()
    assert (tmp_path / "mine" / "README.md").is_file()


def test_what_a_patch_may_say_wrong(invoke: Invoke, weaker: str, tmp_path: Path) -> None:
    file = tmp_path / weaker
    for old, new, words in (
        (
            ">= leader_min_isr(c",
            ">= leader_min_isr(x",
            f"hunk 1 of model/broker/high_watermark.py does not fit: line {LINE}",
        ),
        ("a/model/broker", "a/../broker", "not a path inside the model's folder"),
        ("+    return len(counted) >= 1", "+    return 3", f"high_watermark.py:{LINE}"),
        ("+    return len(counted) >= 1", "+    return (", "not valid Python"),
    ):
        file.write_text(WEAKER.replace(old, new))
        code, _, err = invoke(*CHECK, "--patch", weaker)
        assert code == 2 and words in err and "Traceback" not in err, err
    code, _, err = invoke(*CHECK, "--patch", "missing.diff")
    assert code == 2 and "missing.diff" in err
    code, _, err = invoke("gate", "--patch", weaker, "--add", "new")
    assert code == 2 and "a model without --patch" in err


@pytest.mark.slow
def test_other_verbs_take_the_patch(invoke: Invoke, weaker: str) -> None:
    words = ("--scope", "two-brokers", "--patch", weaker)
    assert invoke("simulate", *words, "-p", "P-1", "--walks", "20000", "--seed", "1")[0] in (1, 3)
    code, out, _ = invoke("show", "Unfence", "--patch", weaker)
    assert code == 0 and "b is fenced" in out
    sweep = (
        "--scope",
        "two-brokers-quiet",
        "--patch",
        weaker,
        "-p",
        "P-1",
        "--sweep",
        "crashes=0..1",
        "-f",
        "json",
        "--set",
        "fences=1",
    )
    code, out, _ = invoke("sweep", *sweep)
    assert code == 1 and len(json.loads(out)["rows"]) == 2
