"""The gate of a model of the user: what an entry records of it, what fails, and that a baseline runs no code."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from elrcheck.commands.new_model import write_new
from support.edits import patch_file, replaced
from support.invoked import Invoke
from support.places import protocol

BASELINE = "elrcheck-baseline.toml"
GUARD = '    require(s.sent_commit, "a commit was sent")\n'


@pytest.fixture
def gated(invoke: Invoke, tmp_path: Path) -> Path:
    """A folder with two-phase commit and a baseline of it; returns the file of the model."""
    file = tmp_path / "two_phase.py"
    file.write_text(protocol("two_phase").read_text())
    assert invoke("gate", "--add", "two", "--model", "two_phase.py")[0] == 0
    return file


def test_an_entry_records_where_the_model_is_and_its_digest(gated: Path, invoke: Invoke, tmp_path: Path) -> None:
    text = (tmp_path / BASELINE).read_text()
    assert 'variant = "two_phase"\nscope = "default"\nmodel = "two_phase.py"\n' in text
    assert "distinct = 288\n" in text and "model-digest = " in text
    code, out, _ = invoke("gate", "--model", "two_phase.py")
    assert code == 0 and "SAME  two: 288 states\n" in out
    before = (tmp_path / BASELINE).read_bytes()
    gated.write_text("# a comment\n" + gated.read_text())
    code, out, _ = invoke("gate", "--model", str(gated))
    assert code == 0 and f"SAME  two: 288 states ({gated} has changed)\n" in out
    code, out, _ = invoke("gate", "--model", "two_phase.py", "--update-baseline")
    assert code == 0 and (tmp_path / BASELINE).read_bytes() != before


def test_a_guard_that_is_gone_fails_with_the_shortest_trace(gated: Path, invoke: Invoke) -> None:
    patch_file(gated, GUARD, "")
    code, out, _ = invoke("gate", "--model", "two_phase.py")
    assert code == 1
    for words in (
        "P-1 Consistent                           holds                violated at depth 2  worse",
        "ReceiveCommit, guard: a commit was sent  present              absent               worse",
        "two_phase.py has changed since the baseline",
        "step 2    ReceiveCommit(r=1)",
        "--baseline elrcheck-baseline.toml --model two_phase.py --update-baseline --only two",
    ):
        assert words in out, out
    code, out, _ = invoke("gate", "--model", "two_phase.py", "-f", "json")
    (entry,) = json.loads(out)["entries"]
    assert entry["model_changed"] is True and entry["check"]["model"] == "two_phase.py"


def test_a_baseline_runs_no_model_that_is_not_named(gated: Path, invoke: Invoke, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    (tmp_path / "evil.py").write_text(f"open({str(ran)!r}, 'w')\n")
    text = (tmp_path / BASELINE).read_text()
    evil = replaced(text, "two_phase.py", "evil.py").replace("entry.two", "entry.evil")
    (tmp_path / BASELINE).write_text(text + evil.partition("\n\n")[2].partition("\n\n")[2])
    for named in ((), ("--model", "two_phase.py"), ("--model", "two_phase.py", "--update-baseline")):
        code, out, err = invoke("gate", *named)
        assert code == 2 and "error[model-not-named]" in err and not out and not ran.exists(), err
    assert f"{BASELINE}:" in err and "--model evil.py" in err
    code, _, _ = invoke("gate", "--model", "two_phase.py", "--only", "two")
    assert code == 0 and not ran.exists()
    assert invoke("gate", "--model", "two_phase.py", "--model", "evil.py")[0] == 2 and ran.exists()


def test_the_settings_name_models_too(gated: Path, invoke: Invoke, tmp_path: Path) -> None:
    for text in ('[gate]\nmodel = ["two_phase.py"]\n', 'model = "two_phase.py"\n'):
        (tmp_path / "elrcheck.toml").write_text(text)
        assert invoke("gate")[0] == 0
    code, out, _ = invoke("check")
    assert code == 0 and "two_phase, default" in out


def test_a_scope_file_is_found_from_the_folder_of_the_baseline(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the model is; CI and pytest start elsewhere."""
    team = tmp_path / "team"
    team.mkdir()
    (team / "small.toml").write_text("processes = 2\n")
    write_new("lock", team)
    add = ("gate", "--baseline", "team/b.toml", "--model", "team/lock.py", "--variant", "atomic")
    assert invoke(*add, "--add", "a", "--scope", "team/small.toml")[0] == 0
    assert 'scope = "small.toml"' in (team / "b.toml").read_text()
    assert invoke("gate", "--baseline", "team/b.toml", "--model", "team/lock.py")[0] == 0
    monkeypatch.chdir(team)
    assert invoke("gate", "--baseline", "b.toml", "--model", "lock.py")[0] == 0
    text = (team / "b.toml").read_text().replace('scope = "small.toml"', 'scope = "team/small.toml"')
    (team / "b.toml").write_text(text)
    monkeypatch.chdir(tmp_path)
    assert invoke("gate", "--baseline", "team/b.toml", "--model", "team/lock.py")[0] == 0


def test_a_named_model_without_an_entry_is_an_error(gated: Path, invoke: Invoke) -> None:
    code, _, err = invoke("gate", "--model", "two_phase.py", "--model", "other.py")
    assert code == 5 and "error[model-not-in-baseline]" in err and "--model other.py --add NAME" in err
    code, _, err = invoke("gate", "--add", "b", "--model", "two_phase.py", "--model", "other.py")
    assert code == 2 and "--add takes one --model" in err
    code, _, err = invoke("gate", "--add", "b", "--model", "two_phase.py", "--controller")
    assert code == 2 and "--controller is about Kafka's controller" in err


@pytest.mark.slow
def test_an_entry_has_a_scope_guards_and_a_proof(gated: Path, invoke: Invoke, tmp_path: Path) -> None:
    words = ("--add", "proved", "--model", "two_phase.py", "--proof", "--teeth", "--set", "rms=2")
    assert invoke("gate", *words)[0] == 0
    text = (tmp_path / BASELINE).read_text()
    assert '"ChooseToAbort: r is working" = "noticed by P-1 at depth' in text
    assert "[entry.proved.expected.proof]\nverdict" in text
    assert invoke("gate", "--model", "two_phase.py")[0] == 0


def test_counts_that_depend_on_the_threads_are_not_compared(gated: Path, invoke: Invoke, tmp_path: Path) -> None:
    """A limit of states ends a search within a level; here other counts stand for those of other threads."""
    words = ("gate", "--model", "two_phase.py", "--only", "some")
    assert invoke(*words[:3], "--add", "some", "--max-states", "100")[0] == 0
    path = tmp_path / BASELINE
    text = path.read_text()
    (states,) = re.findall(r"(?<=^distinct = )1\d\d$", text.partition("[entry.two]")[0], re.M)
    path.write_text(replaced(text, f"distinct = {states}", f"distinct = {int(states) + 7}"))
    changed = path.read_bytes()
    assert invoke(*words)[0] == 0
    assert invoke(*words, "--update-baseline")[0] == 0 and path.read_bytes() == changed
    patch_file(gated, GUARD, "")
    code, out, _ = invoke(*words)
    assert code == 1 and "violated at depth 2" in out and "distinct states" not in out


def test_a_diff_of_the_model_is_compared_with_the_baseline(gated: Path, invoke: Invoke, tmp_path: Path) -> None:
    text = gated.read_text()
    number = text[: text.index(GUARD)].count("\n") + 1
    before = text.splitlines(keepends=True)[number - 2]
    diff = f"--- a/two_phase.py\n+++ b/two_phase.py\n@@ -{number - 1},2 +{number - 1},1 @@\n {before}-{GUARD}"
    (tmp_path / "weaker.diff").write_text(diff)
    words = ("gate", "--model", "two_phase.py", "--patch", "weaker.diff")
    code, out, _ = invoke(*words)
    assert (
        code == 1
        and "violated at depth 2" in out
        and "weaker.diff (SHA-256" in out
        and "if this is intended" not in out
    )
    assert invoke("gate", "--model", "two_phase.py")[0] == 0
    code, _, err = invoke(*words, "--update-baseline")
    assert code == 2 and "a model without --patch" in err
    path = tmp_path / BASELINE
    path.write_text(path.read_text() + '\n[entry.kafka]\nvariant = "kip_full"\nscope = "two-brokers-quiet"\n')
    code, _, err = invoke(*words, "--only", "kafka")
    assert code == 5 and "no entry to run is for the model that weaker.diff changes" in err
    same = f"-{GUARD}+    # as before\n+{GUARD}"
    (tmp_path / "comment.diff").write_text(replaced(replaced(diff, f"-{GUARD}", same), ",1 @@", ",3 @@"))
    code, out, _ = invoke("gate", "--model", "two_phase.py", "--patch", "comment.diff", "--only", "two")
    assert code == 0 and "SAME  two: 288 states (with comment.diff)" in out


@pytest.mark.slow
def test_a_suite_is_of_the_model_that_the_user_names(gated: Path, invoke: Invoke, tmp_path: Path) -> None:
    text = 'description = "one"\nscope = "default"\n[[configuration]]\nname = "one"\nset = { rms = 1 }\n'
    (tmp_path / "sizes.toml").write_text(text)
    path = tmp_path / BASELINE
    path.write_text(path.read_text() + '\n[suite.sizes]\nfiles = ["sizes.toml"]\nmodel = "two_phase.py"\n')
    code, _, err = invoke("gate", "--only", "sizes")
    assert code == 2 and "error[model-not-named]" in err and "(sizes)" in err
    assert invoke("gate", "--model", "two_phase.py", "--update-baseline")[0] == 0
    assert 'model = "two_phase.py"\n\n[suite.sizes.expected]\n"sizes/one" = { verdict = "holds"' in path.read_text()
    patch_file(gated, GUARD, "")
    code, out, _ = invoke("gate", "--model", "two_phase.py", "--only", "sizes")
    assert code == 1 and "sizes/one, distinct states   12        18" in out


def test_names_of_kafkas_guards_are_not_those_of_others(gated: Path, invoke: Invoke, tmp_path: Path) -> None:
    """`Kill: b is up` had that name in Kafka's partition; here it is a guard like any other."""
    gated.write_text(gated.read_text().replace("def Abort(", "def Kill(").replace('"nothing is decided"', '"b is up"'))
    (tmp_path / BASELINE).unlink()
    assert invoke("gate", "--add", "two", "--model", "two_phase.py")[0] == 0
    code, out, _ = invoke("gate", "--model", "two_phase.py")
    assert code == 0 and "new name" not in out


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("model = 3", "`model`: expected a text"),
        ('model = ""', "expected a text, not an empty one"),
        ('model = "\\u0000"', "no path can hold a NUL"),
        ('model = "a.py"\ncontroller = true', "only Kafka's partition has the controller"),
    ],
)
def test_a_mistake_in_an_entry(invoke: Invoke, tmp_path: Path, line: str, message: str) -> None:
    head = 'schema = "elrcheck.baseline/1"\n[entry.a]\nvariant = "v"\nscope = "s"\n'
    (tmp_path / BASELINE).write_text(f"{head}{line}\n")
    code, _, err = invoke("gate")
    assert code == 2 and message in err and f"{BASELINE}:" in err
