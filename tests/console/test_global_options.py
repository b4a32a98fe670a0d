"""The options of all verbs, before a verb and after it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from elrcheck.cli import cli
from elrcheck.console.global_options import late_options
from support.invoked import Invoke

SMALL = ("--scope", "two-brokers-quiet", "-p", "P-1")
GLOBAL = {"--config", "--color", "--quiet", "-q", "--verbose", "-v", "--progress", "--no-progress"}


def verbs(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from verbs(command, (*path, name))
        else:
            yield (*path, name), command


def test_every_verb_takes_all_that_it_does_not_have_itself() -> None:
    late = late_options(frozenset())
    assert {name for option in late for name in (*option.opts, *option.secondary_opts)} == GLOBAL
    for path, command in verbs(cli):
        ctx = click.Context(command, info_name=path[-1])
        flags = {name for param in command.get_params(ctx) for name in (*param.opts, *param.secondary_opts)}
        assert flags >= GLOBAL, path
        assert "--verbose" not in command.get_help(ctx), path


def test_quiet_and_verbose_mean_the_same_in_either_place(invoke: Invoke) -> None:
    def head_of(*words: str) -> str:
        code, out, _ = invoke(*words)
        assert code == 0
        return out.partition("      states")[0]

    quiet, plain, loud = head_of("-q", "check", *SMALL), head_of("check", *SMALL), head_of("-v", "check", *SMALL)
    assert len(quiet) < len(plain) < len(loud)
    assert head_of("check", "-q", *SMALL) == head_of("check", *SMALL, "--quiet") == quiet
    assert head_of("check", "-v", *SMALL) == head_of("check", *SMALL, "--all") == loud
    assert head_of("-q", "check", "-v", *SMALL) == plain


def test_progress_and_colour(invoke: Invoke) -> None:
    code, out, err = invoke("check", *SMALL, "--no-progress", "--color", "always")
    assert (code, err) == (0, "") and "\x1b[" in out
    assert "\x1b[" not in invoke("--color", "always", "check", *SMALL, "--color", "never")[1]
    assert invoke("check", *SMALL, "--color", "blue")[0] == 2


def test_settings_after_the_verb(invoke: Invoke, tmp_path: Path) -> None:
    chosen = tmp_path / "mine.toml"
    chosen.write_text('[check]\nscope = "two-brokers-quiet"\n[trace.sample]\ndepth = 2\nseed = 1\n')
    code, out, _ = invoke("check", "--config", str(chosen), "-f", "json")
    assert code == 0 and json.loads(out)["scope"] == "two-brokers-quiet"
    code, out, _ = invoke("trace", "sample", "--config", str(chosen))
    assert code == 0 and "step 2" in out and "step 3" not in out
    assert invoke("check", "--config", str(tmp_path / "none.toml"))[0] == 2


@pytest.mark.parametrize("name", ["QUIET", "COLOR", "PROGRESS", "CONFIG"])
def test_no_variable_of_a_verb_stands_for_them(invoke: Invoke, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(f"ELRCHECK_CHECK_{name}", "nonsense")
    assert invoke("check", *SMALL, "--no-progress")[0] == 0
