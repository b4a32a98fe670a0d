"""Every option of every command, set in a file and in the environment to values of every type.

A value of another type than the option's is refused with its line and what is expected; whatever else is
refused later, no value is an internal error.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import click
import pytest

from elrcheck.base.errors import ElrError, UsageFault
from elrcheck.cli import cli
from elrcheck.console.bug_report import bug_report
from elrcheck.console.settings import load_settings
from elrcheck.console.shell import run

VALUES: Mapping[str, tuple[str, ...]] = {
    "bool": ("true", "false"),
    "int": ("5", "0", "-1", "9223372036854775808", "1" + "0" * 60),
    "float": ("2.5", "nan", "inf", "-0.0"),
    "text": ('""', '"a"', '"5"', '"a=1"', '"\\u0000"', '"\\u001b["', '"90s"', '"auto"', '"64"', "'a/*'"),
    "list": ("[]", "[1]", "[true]", "[[]]", '["a", 1]', '["a"]', "[{}]", "[1979-05-27]"),
    "table": ("{}", "{a = 1}"),
    "date": ("1979-05-27", "07:32:00", "1979-05-27T07:32:00Z"),
}


def commands(group: click.Group, *path: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    yield path, group
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, *path, name)
        else:
            yield (*path, name), command


OPTIONS = {
    path: [
        option
        for option in command.params
        if isinstance(option, click.Option) and option.name not in ("config", "help", "version")
    ]
    for path, command in commands(cli)
}
OF_A_KIND = {
    (option.name, option.type.name, option.is_flag, option.multiple): (path, option)
    for path in OPTIONS
    for option in OPTIONS[path]
}
"""One of the options of a name and type, which many commands may have."""
every_command = pytest.mark.parametrize("path", OPTIONS, ids=lambda path: " ".join(path) or "elrcheck")


def accepted(option: click.Option) -> set[str]:
    """The types of values that the option takes, said once more and otherwise than the code says it."""
    if option.multiple:
        return {"list"}
    if option.is_flag:
        return {"bool"}
    name = option.type.name
    if name in ("integer", "integer range"):
        return {"int"}
    if name in ("float", "float range"):
        return {"int", "float"}
    if name == "number of workers":
        return {"int", "text"}
    if name == "choice" and {"64", "1"} & set(option.type.to_info_dict()["choices"]):
        return {"int", "text"}
    return {"text"}


def key_of(option: click.Option) -> str:
    return next(flag for flag in option.opts if flag.startswith("--")).removeprefix("--")


def test_there_are_many_options() -> None:
    assert sum(map(len, OPTIONS.values())) > 200


@pytest.mark.parametrize(
    ("path", "option"),
    OF_A_KIND.values(),
    ids=[f"{' '.join(path)} {name}" for (name, *_), (path, _) in OF_A_KIND.items()],
)
def test_a_value_of_another_type_is_refused_with_its_line(
    tmp_path: Path, path: tuple[str, ...], option: click.Option
) -> None:
    assert_values(tmp_path, path, option)


@every_command
def test_every_command_has_its_table(tmp_path: Path, path: tuple[str, ...]) -> None:
    """It has all its options, and no option takes a table."""
    file = tmp_path / "elrcheck.toml"
    head = f"[{'.'.join(path)}]\n" if path else ""
    for option in OPTIONS[path]:
        file.write_text(f"{head}{key_of(option)} = {{}}\n", encoding="utf-8")
        with pytest.raises(UsageFault) as caught:
            load_settings(None, tmp_path, cli)
        assert f"`{key_of(option)}`" in caught.value.message and "expected " in caught.value.message


def assert_values(tmp_path: Path, path: tuple[str, ...], option: click.Option) -> None:
    file = tmp_path / "elrcheck.toml"
    table = f"[{'.'.join(path)}]" if path else "# of all commands"
    for kind, values in VALUES.items():
        for value in values:
            file.write_text(f"# a comment\n{table}\n{key_of(option)} = {value}\n", encoding="utf-8")
            if kind not in accepted(option) or value in ("nan", "inf"):
                with pytest.raises(UsageFault) as caught:
                    load_settings(None, tmp_path, cli)
                assert caught.value.where == f"{file}:3" and f"`{key_of(option)}`" in caught.value.message
                assert "expected " in caught.value.message, caught.value
                continue
            try:
                defaults = load_settings(None, tmp_path, cli).defaults
            except ElrError as fault:
                assert fault.where == f"{file}:3"
                continue
            read_by_click(path, dict(defaults))


def read_by_click(path: tuple[str, ...], defaults: Mapping[str, object]) -> None:
    """The options of the command are read, with these defaults; only a message may come of it."""
    command: click.Command = cli
    for name in path:
        assert isinstance(command, click.Group)
        command = command.commands[name]
        part = defaults.get(name, {})
        assert isinstance(part, dict)
        defaults = part
    context = click.Context(command, info_name="elrcheck", default_map=dict(defaults))
    for option in command.params:
        if isinstance(option, click.Option) and option.name in defaults:
            value, source = option.consume_value(context, {})
            context.set_parameter_source(str(option.name), source)
            with_message(option, context, value)


def with_message(option: click.Option, context: click.Context, value: object) -> None:
    with contextlib.suppress(click.UsageError, ElrError):
        option.process_value(context, value)


@every_command
def test_no_value_of_the_environment_is_an_internal_error(
    monkeypatch: pytest.MonkeyPatch, path: tuple[str, ...]
) -> None:
    for option in OPTIONS[path]:
        assert_variable(monkeypatch, path, option)


def assert_variable(monkeypatch: pytest.MonkeyPatch, path: tuple[str, ...], option: click.Option) -> None:
    command: click.Command = cli
    for name in path:
        assert isinstance(command, click.Group)
        command = command.commands[name]
    prefix = "_".join(("ELRCHECK", *path)).upper().replace("-", "_")
    context = click.Context(command, info_name="elrcheck", auto_envvar_prefix=prefix)
    variable = f"{prefix}_{str(option.name).upper()}"
    for value in ("", " ", "5", "-1", "x", "true", "nan", "90s", "\x1b[", "[1]", "a b", "9" * 5000):
        monkeypatch.setenv(variable, value)
        read, source = option.consume_value(context, {})
        assert source is click.core.ParameterSource.ENVIRONMENT or not value
        with_message(option, context, read)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("memory = 5", "expected a text (4GiB), not 5"),
        ("time-budget = 90", "expected a text (90s|5m|1h), not 90"),
        ("run-dir = 3", "expected a text (DIR), not 3"),
        ("checkpoint-every = 1", "expected a text (30s|5m), not 1"),
        ("output = [1]", "expected a text ([FORMAT:]FILE), not 1"),
        ("spark-conf = [1]", "expected a text (KEY=VALUE), not 1"),
        ("storage = 1", "expected a text (PATH|URI), not 1"),
        ("master = 7", "expected a text (URL), not 7"),
        ("max-depth = 'x'", "expected a whole number, not 'x'"),
        ("fail-on = 1", "expected a text (LIST), not 1"),
        ("output = 'a.json'", "expected a list, each a text ([FORMAT:]FILE), not 'a.json'"),
    ],
)
def test_the_command_says_what_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], line: str, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elrcheck.toml").write_text(f"[check]\n{line}\n")
    code = run(cli, ["check"])
    _, err = capsys.readouterr()
    assert code == 2 and words in err and "  --> elrcheck.toml:2" in err
    assert [path.name for path in tmp_path.iterdir()] == ["elrcheck.toml"]


def test_the_settings_that_are_right(tmp_path: Path) -> None:
    (tmp_path / "elrcheck.toml").write_text(
        "workers = 2\n[check]\nfingerprint = 64\nmemory = '4GiB'\nset = ['a=1']\n[suite]\nworkers = 'auto'\n"
        "[reproduce]\npatience = 2\n[risk]\nacks = 1\n"
    )
    defaults = load_settings(None, tmp_path, cli).defaults
    assert defaults["check"] == {"workers": "2", "fingerprint": "64", "memory": "4GiB", "overrides": ["a=1"]}
    assert (defaults["suite"], defaults["reproduce"]) == ({"workers": "auto"}, {"patience": 2})
    assert defaults["risk"] == {"workers": "2", "acks": "1"}


def test_a_refused_variable_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ELRCHECK_CHECK_MEMORY", "lots")
    assert run(cli, ["check"]) == 2
    assert "--> ELRCHECK_CHECK_MEMORY" in capsys.readouterr().err
    assert run(cli, ["check", "--memory", "more"]) == 2
    assert "ELRCHECK_CHECK_MEMORY" not in capsys.readouterr().err
    monkeypatch.setenv("ELRCHECK_GATE_UPDATE_BASELINE", "maybe")
    assert run(cli, ["gate"]) == 2
    assert "--> ELRCHECK_GATE_UPDATE_BASELINE" in capsys.readouterr().err


# ------------------------------------------------------------------- who reports an internal error


class Odd(Exception):
    """A fault that cannot be printed."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


@pytest.mark.parametrize("fault", [Odd(), RecursionError("deep"), ValueError("\x1b[m\n::error::x")])
def test_any_fault_ends_with_70_and_a_report(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str], fault: Exception
) -> None:
    monkeypatch.chdir(tmp_path)

    @click.command()
    @click.option("--run-dir", type=click.Path(path_type=Path), is_eager=True)
    @click.option("--resume", type=click.Path(path_type=Path))
    @click.option("--bad", callback=lambda *_: fail())
    def broken(**_: object) -> None:
        pass

    def fail() -> None:
        raise fault

    assert run(broken, []) == 70
    err = capsys.readouterr().err
    assert err.startswith("error[internal]: ") and "\x1b" not in err and "\n::" not in err
    assert re.search(r"--> \.elrcheck.bug-report-", err)


def test_a_report_that_fails_hides_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    def fails(*_: object) -> None:
        raise TypeError("the reporter")

    monkeypatch.setattr("elrcheck.console.bug_report.bug_report", fails)

    @click.command()
    def broken() -> None:
        raise ZeroDivisionError("the fault")

    assert run(broken, []) == 70
    err = capsys.readouterr().err
    assert "error[internal]: ZeroDivisionError: the fault" in err and "in broken" in err
    assert "the report about it failed: TypeError" in err


def test_a_folder_is_taken_only_from_a_value(tmp_path: Path) -> None:
    context = click.Context(click.Command("x"))
    context.params = {"resume": object(), "run_dir": tmp_path}
    try:
        raise_with(context)
    except ValueError as fault:
        assert bug_report(fault, [], {})[1] == tmp_path


def raise_with(ctx: click.Context) -> None:
    raise ValueError(ctx.command_path)
