"""`elrcheck init`, and the commands of every CI file it writes or the repository offers, executed."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from elrcheck.base.errors import UsageFault
from elrcheck.base.origin import checked, installed_from, pinned_url
from elrcheck.cli import cli
from elrcheck.commands.init import HOOK_PATH, WORKFLOW_PATH, GuardedByCi, OwnTopics, files
from elrcheck.console.settings import load_settings
from elrcheck.kafka.risk.settings_group import release_named, releases
from support.ci_steps import shell, steps
from support.edits import patch_file, replaced
from support.invoked import Invoke
from support.places import ROOT, protocol


def contents(folder: Path) -> dict[str, str]:
    return {name: (folder / name).read_text(encoding="utf-8") for name in files() if (folder / name).exists()}


def test_git_ignores_the_folder_of_runs(invoke: Invoke, tmp_path: Path) -> None:
    ignored = tmp_path / ".gitignore"
    ignored.write_text("build", encoding="utf-8")
    assert "extended .gitignore" in invoke("init")[1]
    assert ignored.read_text(encoding="utf-8") == "build\n.elrcheck/\n"
    assert "kept     .gitignore" in invoke("init", "--force")[1]
    assert ignored.read_text(encoding="utf-8") == "build\n.elrcheck/\n"


@pytest.mark.parametrize("before", [b"caf\xe9/\n", b"build/\r\nout/\r\n"], ids=["no UTF-8", "ends of lines of Windows"])
def test_the_rest_of_what_git_ignores_stays_as_it_is(invoke: Invoke, tmp_path: Path, before: bytes) -> None:
    (tmp_path / ".gitignore").write_bytes(before)
    assert "extended .gitignore" in invoke("init")[1]
    end = before[len(before.rstrip()) :]
    assert (tmp_path / ".gitignore").read_bytes() == before + b".elrcheck/" + end


def test_nothing_is_overwritten_without_force(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "elrcheck.toml").write_text("# mine\n")
    code, out, err = invoke("init")
    assert code == 0
    assert out.split() == [
        "kept",
        "elrcheck.toml",
        "wrote",
        "elrcheck-baseline.toml",
        "wrote",
        WORKFLOW_PATH,
        "wrote",
        HOOK_PATH,
        "wrote",
        ".gitignore",
    ]
    assert "gate --update-baseline" in err
    assert contents(tmp_path)["elrcheck.toml"] == "# mine\n"
    code, out, err = invoke("init")
    assert (code, out) == (2, "") and "error[init-exists]" in err and "--force" in err
    code, out, _ = invoke("init", "--force")
    assert code == 0 and out.count("replaced") == 4
    assert contents(tmp_path) == dict(files(installed_from(), GuardedByCi(release_named(releases()[-1])[1].name)))


def test_a_folder_that_is_not_there(invoke: Invoke, tmp_path: Path) -> None:
    code, _, err = invoke("init", "-C", "nowhere")
    assert code == 2 and "there is no folder nowhere" in err
    assert list(tmp_path.iterdir()) == []


def test_every_commented_setting_is_a_setting(tmp_path: Path) -> None:
    """Each line that is commented out is a key that the command line knows, with a value it accepts."""
    text = re.sub(r"^# (?=[a-z-]+ = )", "", files()["elrcheck.toml"], flags=re.M)
    assert set(tomllib.loads(text)) == {"variant", "workers", "check", "gate"}
    (tmp_path / "elrcheck.toml").write_text(text)
    settings = load_settings(None, tmp_path, cli)
    assert settings.defaults["check"]["time_budget"] == "5m"
    assert settings.defaults["gate"]["fail_on"] == "drift"


# ------------------------------------------------------------------- what CI installs

COMMIT = "0123456789abcdef0123456789abcdef01234567"
DIGEST = COMMIT + "0" * 24
REPOSITORY = f"git+https://git.example.org/tools/elrcheck@{COMMIT}"
ARCHIVE = f"https://files.example.org/elrcheck-0.1.0-py3-none-any.whl#sha256={DIGEST}"


def install_step(folder: Path) -> tuple[str, str]:
    """The value of ELRCHECK in the workflow, and the command that installs it."""
    document = yaml.safe_load((folder / WORKFLOW_PATH).read_text())
    job = document["jobs"]["gate"]
    (step,) = [step["run"] for step in job["steps"] if "pip install" in step.get("run", "")]
    return job["env"]["ELRCHECK"], step


@pytest.mark.parametrize("url", [REPOSITORY, ARCHIVE, f"git+ssh://git@git.example.org/elrcheck.git@{COMMIT}"])
def test_the_workflow_installs_what_is_named(invoke: Invoke, tmp_path: Path, url: str) -> None:
    code, _, err = invoke("init", "--install-from", url)
    assert code == 0 and "say in" not in err
    value, step = install_step(tmp_path)
    assert value == url
    assert step.count("pip install") == 2
    printed = shell(step.replace("pip install", "echo"), tmp_path, ELRCHECK=value)
    package, needed = printed.stdout.splitlines()
    assert package == f"--no-deps elrcheck @ {url}"
    assert needed == f"--require-hashes -r {ROOT}/requirements-gate.txt" and Path(needed.split()[-1]).is_file()


def test_a_workflow_that_does_not_know_stops(tmp_path: Path) -> None:
    """No package index is asked for a name that anybody could have registered."""
    (tmp_path / ".github" / "workflows").mkdir(parents=True)
    (tmp_path / WORKFLOW_PATH).write_text(files(None)[WORKFLOW_PATH])
    value, step = install_step(tmp_path)
    assert value == ""
    stopped = shell(step, tmp_path, ELRCHECK=value)
    assert stopped.returncode != 0 and "name a commit or a hash" in stopped.stderr


@pytest.mark.parametrize(
    "url",
    [
        "elrcheck",
        "elrcheck==0.1.0",
        "git+https://git.example.org/elrcheck",
        "git+https://git.example.org/elrcheck@main",
        f"git+http://git.example.org/elrcheck@{COMMIT}",
        "https://files.example.org/elrcheck.whl",
        f"{REPOSITORY} --pre",
        f'git+https://git.example.org/"; rm -rf "@{COMMIT}',
        f'git+https://git.example.org/"$(id)"@{COMMIT}',
    ],
)
def test_what_does_not_pin_is_refused(invoke: Invoke, tmp_path: Path, url: str) -> None:
    code, out, err = invoke("init", "--install-from", url)
    assert (code, out) == (2, "") and "error[unpinned-origin]" in err
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(UsageFault):
        checked(url, "")


@pytest.mark.parametrize(
    ("record", "url"),
    [
        ({"url": REPOSITORY[4:-41], "vcs_info": {"vcs": "git", "commit_id": COMMIT}}, REPOSITORY),
        ({"url": ARCHIVE.partition("#")[0], "archive_info": {"hashes": {"sha256": DIGEST}}}, ARCHIVE),
        ({"url": "file:///tmp/a.whl", "archive_info": {"hashes": {"sha256": DIGEST}}}, None),
        ({"url": REPOSITORY[4:-41], "vcs_info": {"vcs": "hg", "commit_id": COMMIT}}, None),
        ({"url": "file:///nowhere/at/all", "dir_info": {"editable": True}}, None),
        ({"url": 3}, None),
        ({}, None),
    ],
)
def test_what_pip_recorded(record: dict[str, Any], url: str | None) -> None:
    assert pinned_url(record) == url


def test_a_clone_counts_if_nothing_is_changed(tmp_path: Path) -> None:
    record = {"url": tmp_path.as_uri(), "dir_info": {}}
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "a"]):
        subprocess.run([*git, *words], check=True, timeout=60)
    assert pinned_url(record) is None
    remote = ["remote", "add", "origin", "https://git.example.org/tools/elrcheck"]
    subprocess.run([*git, *remote], check=True, timeout=60)
    url = pinned_url(record)
    assert url is not None and re.fullmatch(re.escape(REPOSITORY[:-40]) + "[0-9a-f]{40}", url)
    (tmp_path / "changed").write_text("")
    assert pinned_url(record) is None


# ------------------------------------------------------------------- of a model of the user


@pytest.mark.slow
def test_a_model_of_the_user_has_a_baseline_that_passes(invoke: Invoke, tmp_path: Path) -> None:
    file = tmp_path / "two_phase.py"
    file.write_text(protocol("two_phase").read_text())
    code, out, err = invoke("init", "--model", "two_phase.py")
    assert code == 0 and out.count("wrote") == 5 and "recorded two_phase: holds, 288 states\n" in out
    assert "commit these files" in err and "--update-baseline" not in err
    assert invoke("gate")[0] == 0
    (step,) = steps(yaml.safe_load((tmp_path / WORKFLOW_PATH).read_text()))
    assert shell(step["run"], tmp_path).returncode == 0
    (hook,) = yaml.safe_load((tmp_path / HOOK_PATH).read_text())["repos"][0]["hooks"]
    named = ("two_phase.py", "elrcheck.toml", "two_phase_py", "mine/two_phase.py")
    assert [bool(re.search(hook["files"], name)) for name in named] == [True, True, False, False]
    patch_file(file, '    require(s.sent_commit, "a commit was sent")\n', "")
    red = shell(step["run"], tmp_path)
    assert red.returncode == 1
    assert re.search(r"^::error file=two_phase\.py,line=\d+,title=P-1 Consistent", red.stdout, re.M)
    code, out, _ = invoke("gate")
    assert code == 1 and "FAIL  P-1 Consistent  violated at depth 2" in out and "step 2    ReceiveCommit(r=1)" in out


def test_each_variant_of_a_model_has_an_entry(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "repo" / "models").mkdir(parents=True)
    assert invoke("new", "lock", "-C", "repo/models")[0] == 0
    code, out, _ = invoke("init", "-C", "repo", "--model", "repo/models/lock.py")
    assert code == 0 and "recorded atomic: holds, 8 states\nrecorded lock: violated, 13 states\n" in out
    text = (tmp_path / "repo" / "elrcheck.toml").read_text()
    (tmp_path / "elrcheck.toml").write_text(re.sub(r"^# (?=[a-z-]+ = )", "", text, flags=re.M))
    settings = load_settings(None, tmp_path, cli)
    check = settings.defaults["check"]
    assert (check["model"], check["scope"], check["overrides"]) == ("models/lock.py", "default", ["processes=2"])
    assert settings.defaults["gate"]["models"] == ["models/lock.py"] and check["variant"] == "lock"


def test_a_model_of_many_variants_has_one_entry(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So has a copy of Kafka's partition, in a small scope; what it says adds another entry."""
    monkeypatch.setattr("elrcheck.commands.init.MOST_VARIANTS", 1)
    monkeypatch.setattr("elrcheck.commands.init.SMALL_SCOPES", ("five",))
    assert invoke("new", "lock")[0] == 0
    code, out, err = invoke("init", "--model", "lock.py")
    assert code == 0 and "recorded lock: violated," in out and "atomic" not in out
    (add,) = re.findall(r"the baseline is of lock; `elrcheck (gate .*)` adds another", err)
    assert "--scope five" in add
    again = replaced(replaced(add, "VARIANT", "atomic"), "NAME", "second")
    assert invoke(*again.split())[0] == 0
    assert (tmp_path / "elrcheck-baseline.toml").read_text().count('scope = "five"') == 2


def test_a_large_model_is_searched_to_a_depth(invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole levels, whose counts do not depend on the threads."""
    monkeypatch.setattr("elrcheck.commands.init.MOST_STATES", 100)
    (tmp_path / "two_phase.py").write_text(protocol("two_phase").read_text())
    code, out, _ = invoke("init", "--model", "two_phase.py")
    (depth,) = re.findall(r"^max-depth = (\d)$", (tmp_path / "elrcheck-baseline.toml").read_text(), re.M)
    assert code == 0 and re.search(
        rf"recorded two_phase: inconclusive, \d\d states, ended by --max-depth {depth}\n", out
    )
    assert invoke("gate")[0] == 0 and invoke("gate", "--workers", "1")[0] == 0


def test_the_model_is_in_the_folder_and_runs(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo" / "bad.py").write_text("MODEL = 1\n")
    code, _, err = invoke("init", "-C", "repo", "--model", str(protocol("two_phase")))
    assert code == 2 and "is not in the folder repo" in err
    code, _, err = invoke("init", "-C", "repo", "--model", "repo/bad.py")
    assert code == 2 and "declares no ProtocolModel" in err
    assert [path.name for path in (tmp_path / "repo").iterdir() if path.is_file()] == ["bad.py"]


def test_files_that_are_there_are_kept(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "two_phase.py").write_text(protocol("two_phase").read_text())
    for name in ("elrcheck.toml", "elrcheck-baseline.toml"):
        (tmp_path / name).write_text("")
    code, out, err = invoke("init", "--model", "two_phase.py")
    assert code == 0 and "recorded" not in out and "must name the model" in err and "--update-baseline" in err


# ------------------------------------------------------------------- topics, and a release


def test_the_baseline_is_of_a_release(invoke: Invoke, tmp_path: Path) -> None:
    code, _, err = invoke("init", "--kafka", "4.1")
    assert code == 0 and "code_4_1_1" in err
    assert (tmp_path / "elrcheck-baseline.toml").read_text().count('variant = "code_4_1_1"') == 2
    assert invoke("init", "--force", "--kafka", "9.9")[0] == 2
    assert invoke("init", "--force")[0] == 0
    assert 'variant = "code_4_3"' in (tmp_path / "elrcheck-baseline.toml").read_text()


# ------------------------------------------------------------------- commands of the files


@pytest.fixture
def ready(invoke: Invoke, tmp_path: Path) -> Path:
    """A folder with the files of `init` and a small baseline that holds."""
    assert invoke("init")[0] == 0
    (tmp_path / "elrcheck-baseline.toml").unlink()
    assert invoke("gate", "--add", "quiet", "--scope", "two-brokers-quiet", "-p", "P-1")[0] == 0
    return tmp_path


def break_baseline(folder: Path) -> None:
    path = folder / "elrcheck-baseline.toml"
    text = path.read_text()
    assert text.count('P-1 = "holds"') == 1
    path.write_text(replaced(text, 'P-1 = "holds"', 'P-1 = "violated at depth 1"'))


@pytest.mark.slow
def test_the_workflow_of_init(ready: Path) -> None:
    document = yaml.safe_load((ready / WORKFLOW_PATH).read_text())
    (step,) = steps(document)
    summary = ready / "summary.md"
    green = shell(step["run"], ready, GITHUB_STEP_SUMMARY=str(summary))
    assert green.returncode == 0, green.stderr
    break_baseline(ready)
    red = shell(step["run"], ready, GITHUB_STEP_SUMMARY=str(summary))
    assert red.returncode == 1
    assert re.search(r"^::error file=elrcheck-baseline\.toml,line=\d+,title=P-1 ", red.stdout, re.M)
    uploaded = document["jobs"]["gate"]["steps"][-1]["with"]["path"].split()
    assert all(list(ready.glob(name)) for name in uploaded)
    assert summary.read_text().count("# elrcheck gate: ") == 2


@pytest.mark.slow
def test_the_hooks(ready: Path) -> None:
    """Those of a user's own file and those that the repository offers, on a baseline that holds and not."""
    own = yaml.safe_load((ready / HOOK_PATH).read_text())["repos"][0]["hooks"]
    offered = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert [hook["id"] for hook in (*own, *offered)] == ["elrcheck-gate", "elrcheck-gate", "elrcheck-topics"]
    assert own[0]["entry"] == offered[0]["entry"]
    assert all(hook["pass_filenames"] is False for hook in offered)
    topics = ("topics/orders.yaml", "main.tf", "elrcheck.toml", "lock.py")
    assert [bool(re.search(offered[1]["files"], name)) for name in topics] == [True, True, True, False]
    assert offered[1]["entry"] in files(guarded=GuardedByCi(topics=OwnTopics("4.1", (Path(),), ready)))[HOOK_PATH]
    for hook in (*own, *offered[:1]):
        assert hook["pass_filenames"] is False
        assert re.search(hook["files"], "elrcheck-baseline.toml")
    assert shell(own[0]["entry"], ready).returncode == 0
    break_baseline(ready)
    assert shell(offered[0]["entry"], ready).returncode == 1
