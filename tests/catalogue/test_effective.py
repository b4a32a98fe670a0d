"""`elrcheck config`: each value with the layer it is from, and the later layer wins."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from elrcheck.base.requests import Selection
from elrcheck.cli import cli
from elrcheck.commands.new_model import write_new
from elrcheck.console.shell import run
from elrcheck.declared.select import effective


@pytest.fixture(autouse=True)
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elrcheck.toml").write_text('variant = "legacy"\n[check]\ntime-budget = "90s"\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ELRCHECK_CHECK_WORKERS", "3")


def document(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, dict[str, tuple[Any, str]]]:
    assert run(cli, ["config", "--format", "json", "check", *arguments]) == 0
    report = json.loads(capsys.readouterr().out)
    return {part: {one["name"]: (one["value"], one["source"]) for one in report[part]} for part in ("options", "model")}


def test_the_layers_of_the_model() -> None:
    """legacy sets elr_enabled; the scope sets broker_count and min_isr, which --set overrides."""
    by_name = {one.name: one for one in effective(Selection("legacy", "two-brokers", ("min_isr=1",)))}
    assert (by_name["min_isr"].value, by_name["min_isr"].source) == (1, "--set")
    assert (by_name["broker_count"].value, by_name["broker_count"].source) == (2, "scope two-brokers")
    assert (by_name["elr_enabled"].value, by_name["elr_enabled"].source) == (False, "variant legacy")
    assert by_name["spare_brokers"].source == "default"


def test_where_options_are_from(capsys: pytest.CaptureFixture[str]) -> None:
    report = document(capsys, "--scope", "two-brokers")
    options = report["options"]
    assert options["--variant"] == ("legacy", "settings file")
    assert options["--time-budget"] == (90.0, "settings file")
    assert options["--workers"] == (3, "environment")
    assert options["--scope"] == ("two-brokers", "command line")
    assert options["--max-depth"] == (None, "default")
    assert report["model"]["broker_count"] == (2, "scope two-brokers")


def test_reductions_are_settings_too(capsys: pytest.CaptureFixture[str]) -> None:
    plain, reduced = document(capsys)["model"], document(capsys, "--reduce")["model"]
    changed = {name for name in plain if plain[name] != reduced[name]}
    assert changed and all(reduced[name][1] == "--set" for name in changed)


def test_the_settings_of_a_model_with_a_diff_applied(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "elrcheck.toml").unlink()
    write_new("lock", tmp_path)
    number = (tmp_path / "lock.py").read_text().splitlines().index("    processes: int = 2") + 1
    hunk = f"@@ -{number} +{number} @@\n-    processes: int = 2\n+    processes: int = 3\n"
    (tmp_path / "more.diff").write_text(f"--- lock.py\n+++ lock.py\n{hunk}")
    model = ("--model", "lock.py")
    assert document(capsys, *model)["model"]["processes"] == (2, "default")
    assert document(capsys, *model, "--patch", "more.diff")["model"]["processes"] == (3, "default")


def test_the_text_hides_what_is_built_in(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(cli, ["config"]) == 0
    printed = capsys.readouterr()
    assert "--time-budget" in printed.out and "--max-depth" not in printed.out and "spare_brokers" not in printed.out
    assert "more have built-in values" in printed.err
    assert run(cli, ["-v", "config"]) == 0
    assert "--max-depth" in (all_of_it := capsys.readouterr().out) and "spare_brokers" in all_of_it


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["chek"], "did you mean `check`?"),
        (["export"], "no options of its own"),
        (["check", "--scop", "x"], "no such option '--scop'"),
        (["check", "--scope", "no-such"], "no-such"),
    ],
)
def test_a_mistake_is_told_as_by_the_command(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(cli, ["config", *arguments]) == 2
    assert says in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "plain"),
    [
        (["show", "config"], ["config"]),
        (["show", "config", "check", "--set", "min_isr=1"], ["config", "check", "--set", "min_isr=1"]),
        (["show", "--format", "json", "config", "gate"], ["config", "--format", "json", "gate"]),
        (["show", "-fjson", "config"], ["config", "--format", "json"]),
        (["show", "config", "-f", "json", "check"], ["config", "-f", "json", "check"]),
        (["show", "config", "chekc"], ["config", "chekc"]),
    ],
)
def test_show_config_is_the_same(arguments: list[str], plain: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    ended = []
    for argv in (arguments, plain):
        code = run(cli, argv)
        ended.append((code, *capsys.readouterr()))
    assert ended[0] == ended[1]
    assert ended[0][1] or ended[0][0] == 2


def test_only_a_name_is_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    """`config` as the value of an option of `show` is not a command."""
    assert run(cli, ["show", "--kind", "config", "P-1"]) == 2
    assert "'config' is not one of 'variants'" in capsys.readouterr().err
