"""Completion as a shell asks for it: which values are offered, and that nothing heavy is imported for it."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from elrcheck.catalogue.hazard import packaged_hazards
from elrcheck.cli import cli
from elrcheck.console.completion import answer, script
from elrcheck.invariants.modules import load_whole_model
from elrcheck.model.variants import VARIANTS
from support.places import ROOT

Ask = Callable[..., list[str]]


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Ask:
    """What fish is offered for the last of the words, in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def offered(*words: str) -> list[str]:
        monkeypatch.setenv("COMP_WORDS", shlex.join(["elrcheck", *(word for word in words if word)]))
        monkeypatch.setenv("COMP_CWORD", words[-1])
        return [line.partition("\t")[0] for line in answer(cli, "fish_complete", "elrcheck").splitlines()]

    return offered


def values(offered: list[str]) -> list[str]:
    return [line.removeprefix("plain,") for line in offered if line.startswith("plain,")]


def test_commands_and_options(ask: Ask) -> None:
    assert values(ask("sim")) == ["simulate"]
    assert values(ask("trace", "m")) == ["minimise"]
    assert "--stop-at-first" in values(ask("check", "--s"))


def test_names_of_the_model(ask: Ask) -> None:
    assert values(ask("check", "--variant", "code_4")) == [v.name for v in VARIANTS if v.name.startswith("code_4")]
    assert "three-brokers-tiny" in values(ask("explore", "--scope", "three"))
    assert values(ask("mutate", "--hazard", "f-3")) == [h.id for h in packaged_hazards() if h.id.startswith("F-3")]
    assert values(ask("mutate", "--action", "Alter")) == values(ask("explain", "x", "--action", "alter"))
    assert values(ask("mutate", "--action", "Fence")) == ["Fence"]


def test_properties_are_all_there_by_id_and_by_name(ask: Ask) -> None:
    model = load_whole_model()
    every = {fn.ident: fn.name for fn in model.properties}
    offered = values(ask("check", "-p", ""))
    assert set(offered) == {*every, *every.values()}
    assert values(ask("check", "-p", "P-2"))[:2] == ["P-2", "P-20"]
    assert values(ask("check", "--property", "LeaderInI")) == ["LeaderInIsr"]
    assert values(ask("prove", "-p", "CT-")) == []
    assert "CT-13" in values(ask("prove", "--controller", "-p", "CT-1"))


def test_actions_are_all_there(ask: Ask) -> None:
    assert set(values(ask("mutate", "--action", ""))) == {fn.name for fn in load_whole_model().actions}


def test_settings_and_their_values(ask: Ask) -> None:
    assert values(ask("check", "--set", "crash")) == ["crashes="]
    assert values(ask("check", "--set", "strict_hwm=t")) == ["strict_hwm=true"]
    assert "last_known_leader=ANY" in values(ask("check", "--set", "last_known_leader="))
    assert values(ask("check", "--set", "crashes=")) == []
    assert values(ask("sweep", "--sweep", "variant=legacy,kip_f")) == ["variant=legacy,kip_full"]


def test_names_of_a_model_of_the_user_are_read_from_its_text(ask: Ask, tmp_path: Path) -> None:
    """Its Python does not run: a Tab is not the user's word that it may."""
    source = (ROOT / "protocols" / "agreement" / "two_phase.py").read_text(encoding="utf-8")
    model = tmp_path / "mine.py"
    model.write_text(source + "\nraise SystemExit('the model ran')\n", encoding="utf-8")
    check = ("check", "--model", str(model))
    assert values(ask(*check, "--scope", "f")) == ["five"]
    assert values(ask(*check, "--variant", "k")) == []
    assert set(values(ask(*check, "-p", ""))) == {"P-1", "Consistent", "W-1", "AllCommit"}
    assert values(ask(*check, "--set", "r")) == ["rms="]
    assert values(ask("sweep", "--model", str(model), "--sweep", "")) == ["rms="]
    assert "ReceiveCommit" in values(ask("mutate", "--model", str(model), "--action", "R"))


def test_words_of_fail_on(ask: Ask) -> None:
    assert values(ask("check", "--fail-on", "inconclusive,unreached-w")) == ["inconclusive,unreached-witness"]
    assert values(ask("check", "--fail-on", "dr")) == []
    assert values(ask("gate", "--fail-on", "dr")) == ["drift"]


def test_names_for_show_list_and_config(ask: Ask) -> None:
    offered = set(values(ask("show", "")))
    assert offered > {
        "P-1",
        "LeaderInIsr",
        "legacy",
        "two-brokers",
        "Fence",
        "strict_hwm",
        "F-1",
        "E-1",
        "CT-1",
        "no-baseline",
        "sarif",
        "config",
    }
    assert values(ask("list", "sc")) == ["scopes", "scenarios"]
    assert values(ask("config", "ch")) == ["check"]
    assert "trace" not in values(ask("config", ""))
    assert "--format" in values(ask("show", "config", "--f"))


def test_where_no_name_fits_the_shell_completes_files(ask: Ask) -> None:
    assert ask("check", "--scope", "./my") == ["file,./my"]
    assert ask("explain", "run/") == ["file,run/"]
    assert ask("check", "--resume", "here") == ["dir,here"]
    assert ask("check", "--variant", "./my") == []


def test_stored_runs(ask: Ask, tmp_path: Path) -> None:
    runs = tmp_path / ".elrcheck" / "runs"
    for place, file in (("a", "run.json"), ("b", "P-1.trace.json"), ("c", "other")):
        (runs / place).mkdir(parents=True)
        (runs / place / file).write_text("{}")
    assert values(ask("check", "--resume", "")) == [".elrcheck/runs/a"]
    assert values(ask("tlc", ".")) == [".elrcheck/runs/b", ".elrcheck/runs/b/P-1.trace.json"]
    assert values(ask("explain", "")) == [".elrcheck/runs/b/P-1.trace.json"]


def test_entries_of_a_baseline_and_broken_ones(ask: Ask, tmp_path: Path) -> None:
    baseline = tmp_path / "elrcheck-baseline.toml"
    baseline.write_text("[entry.small]\nscope = 'two-brokers'\n[entry.large]\n")
    assert values(ask("gate", "--only", "s")) == ["small"]
    baseline.write_text("[entry")
    assert ask("gate", "--only", "s") == []


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["check", "--set", "strict_hwm", "="], ["false", "true"]),
        (["check", "--set", "strict_hwm", "=", "t"], ["true"]),
        (["check", "--set", "=", "strict_hwm", "=", "t"], ["true"]),
        (["check", "--set", "=", "crash"], ["crashes="]),
        (["check", "--variant", "=", "leg"], ["legacy_strict", "legacy"]),
        (["sweep", "--sweep", "variant", "=", "legacy,kip_f"], ["legacy,kip_full"]),
        (["sim"], ["simulate"]),
    ],
)
def test_bash_ends_words_at_equals_signs(
    monkeypatch: pytest.MonkeyPatch, words: list[str], expected: list[str]
) -> None:
    """Its words are as in the array COMP_WORDS, where the cursor stands after the last of them."""
    monkeypatch.setenv("COMP_WORDS", "\n".join(["elrcheck", *words]))
    monkeypatch.setenv("COMP_CWORD", str(len(words)))
    assert answer(cli, "bash_complete", "elrcheck").splitlines() == [f"plain,{value}" for value in expected]


def test_an_empty_word_in_bash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMP_WORDS", "elrcheck\nlist\n")
    monkeypatch.setenv("COMP_CWORD", "2")
    assert "plain,variants" in answer(cli, "bash_complete", "elrcheck").splitlines()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts(shell: str) -> None:
    if shutil.which(shell) is None and shell == "bash":
        pytest.skip("click runs bash to learn its version, and there is no bash here")
    text = script(cli, shell)
    assert f"_ELRCHECK_COMPLETE={shell}_complete" in text
    assert ("nospace" in text) == (shell == "bash")


def test_completing_imports_nothing_heavy() -> None:
    """The one process here: `-p` and `show` import most of all."""
    source = (
        "import sys\nfrom elrcheck.cli import cli\nfrom elrcheck.console.completion import answer\n"
        "print(answer(cli, 'zsh_complete', 'elrcheck'))\n"
        "print('MODULES', *sorted({name.split('.')[0] for name in sys.modules}))"
    )
    env = {**os.environ, "COMP_WORDS": "elrcheck show P-1", "COMP_CWORD": "2"}
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, env=env, check=True, timeout=60
    )
    offered, loaded = done.stdout.split("MODULES")
    assert "P-1" in offered.splitlines()
    heavy = {"z3", "llvmlite", "networkx", "numpy", "pyarrow", "pyspark", "jinja2", "rich", "pandas", "msgspec"}
    assert not heavy & set(loaded.split())


@pytest.mark.slow
def test_bash_itself(tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "elrcheck").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m elrcheck "$@"\n')
    (tools / "elrcheck").chmod(0o755)
    (tmp_path / "completion").write_text(script(cli, "bash"))
    text = (
        'source completion\ncompopt() { echo option "$@"; }\n'
        "COMP_WORDS=(elrcheck check --set strict_hwm = t)\nCOMP_CWORD=5\n_elrcheck_completion elrcheck\n"
        'echo "${COMPREPLY[@]}"\nCOMPREPLY=()\n'
        "COMP_WORDS=(elrcheck check --set crash)\nCOMP_CWORD=3\n_elrcheck_completion elrcheck\n"
        'echo "${COMPREPLY[@]}"\n'
    )
    env = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", text], cwd=tmp_path, env=env, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.splitlines() == ["true", "option -o nospace", "crashes="]


def test_the_shell_completes_commands(tmp_path: Path) -> None:
    words = {"_ELRCHECK_COMPLETE": "bash_complete", "COMP_WORDS": "elrcheck ch", "COMP_CWORD": "1"}
    source = "from elrcheck.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", source],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=tmp_path,
        env={**os.environ, **words},
    )
    assert (done.returncode, done.stdout) == (0, "plain,check\n")
