"""Strictness of TOML files, scopes, overrides and the settings file."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable
from pathlib import Path

import pytest

from elrcheck.base.documents import read_toml
from elrcheck.base.errors import UsageFault
from elrcheck.base.typed.configuration import (
    build_config,
    config_fields,
    config_values,
    find_scope,
    load_scope,
    parse_overrides,
    scope_names,
)
from elrcheck.cli import cli
from elrcheck.console.settings import OptionDefaults, load_settings
from elrcheck.lang.source import ModelError


class Mode(enum.Enum):
    STRICT = "as the KIP says"
    LOOSE_END = "as old code did"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Knobs:
    brokers: int
    min_isr: int = 2
    elr: bool = True
    mode: Mode = Mode.STRICT

    def __post_init__(self) -> None:
        if self.min_isr > self.brokers:
            raise ValueError("min_isr is larger than brokers")


FIELDS = config_fields(Knobs)


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], Path]:
    def make(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return make


Write = Callable[[str, str], Path]


def fault_of(call: Callable[[], object]) -> UsageFault:
    with pytest.raises(UsageFault) as caught:
        call()
    return caught.value


# ------------------------------------------------------------------------------------ TOML


def test_a_syntax_error_names_line_and_column(write: Write) -> None:
    path = write("a.toml", "x = 1\ny = = 2\n")
    fault = fault_of(lambda: read_toml(path))
    assert fault.code == "config-not-toml"
    assert fault.where == f"{path}:2:5"
    assert "at line" not in fault.message


def test_an_error_at_the_end_names_the_last_line(write: Write) -> None:
    path = write("a.toml", "x = 1\ny = ")
    assert str(fault_of(lambda: read_toml(path)).where).startswith(f"{path}:2")


def test_a_missing_file_and_a_folder_are_usage_faults(tmp_path: Path) -> None:
    assert fault_of(lambda: read_toml(tmp_path / "none.toml")).code == "config-unreadable"
    assert fault_of(lambda: read_toml(tmp_path)).code == "config-unreadable"


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_bytes(b"x = '\xff'")
    assert fault_of(lambda: read_toml(path)).code == "config-not-toml"


def test_a_byte_order_mark_and_windows_line_ends_are_fine(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_bytes(b"\xef\xbb\xbfx = 1\r\ny = 2\r\n")
    assert read_toml(path).value == {"x": 1, "y": 2}


# ---------------------------------------------------------------------------------- scopes


def test_tables_only_group_keys(write: Write) -> None:
    head = 'description = "mine"\nmode = "loose-end"\n'
    path = write("mine.toml", head + "[sizes]\nbrokers = 3\n[knobs]\nelr = false\n")
    scope = load_scope(path, FIELDS)
    assert (scope.name, scope.description) == ("mine", "mine")
    assert scope.values == {"mode": Mode.LOOSE_END, "brokers": 3, "elr": False}


@pytest.mark.parametrize(
    ("text", "code", "line", "words"),
    [
        ("[sizes]\nbrokers = 3\nmin-isr = 2\n", "config-unknown-key", 3, "did you mean `min_isr`?"),
        ("brokers = 3\n\nbudget = 1\n", "config-unknown-key", 3, "known:"),
        ("[a.b]\nbrokers = 3\n", "config-unknown-key", 1, "known:"),
        ("[a]\nbrokers = 3\n[b]\nbrokers = 3\n", "config-duplicate-key", 4, "twice"),
        ("brokers = true\n", "config-bad-value", 1, "a whole number"),
        ("brokers = 3.0\n", "config-bad-value", 1, "a whole number"),
        ("brokers = -1\n", "config-bad-value", 1, "0 or more"),
        ("brokers = 99999999999999999999\n", "config-bad-value", 1, "a whole number"),
        ("elr = 1\n", "config-bad-value", 1, "true or false"),
        ('mode = "strictest"\n', "config-bad-value", 1, "STRICT, LOOSE_END"),
        ("brokers = [3]\n", "config-bad-value", 1, "a whole number"),
        ("description = 3\n", "config-bad-value", 1, "a text"),
    ],
)
def test_a_bad_scope_names_the_line(write: Write, text: str, code: str, line: int, words: str) -> None:
    path = write("bad.toml", text)
    fault = fault_of(lambda: load_scope(path, FIELDS))
    assert fault.code == code
    assert fault.where == f"{path}:{line}"
    assert words in fault.render()


def test_a_scope_is_found_by_name_or_by_path(write: Write, tmp_path: Path) -> None:
    path = write("three.toml", "brokers = 3\n")
    write("notes.txt", "not a scope")
    assert scope_names(tmp_path) == ("three",)
    assert find_scope("three", tmp_path, FIELDS).values == {"brokers": 3}
    assert find_scope(str(path), tmp_path, FIELDS).name == "three"
    assert "did you mean `three`?" in fault_of(lambda: find_scope("threee", tmp_path, FIELDS)).render()
    assert fault_of(lambda: find_scope("./none.toml", tmp_path, FIELDS)).code == "config-unreadable"
    assert fault_of(lambda: find_scope("x", tmp_path / "none", FIELDS)).code == "unknown-scope"


# ------------------------------------------------------------------------------- overrides


def test_overrides_are_typed_and_the_last_wins() -> None:
    pairs = ["brokers=5", "elr=no", "mode=loose_end", " min_isr = 1 ", "brokers=4"]
    assert parse_overrides(Knobs, pairs) == {"brokers": 4, "elr": False, "mode": Mode.LOOSE_END, "min_isr": 1}


@pytest.mark.parametrize(
    ("pair", "code", "words"),
    [
        ("brokers", "override-bad-form", "KEY=VALUE"),
        ("broker=3", "unknown-knob", "did you mean `brokers`?"),
        ("brokers=many", "override-bad-value", "a whole number"),
        ("brokers=-3", "override-bad-value", "0 or more"),
        ("brokers=", "override-bad-value", "a whole number"),
        ("elr=maybe", "override-bad-value", "true or false"),
        ("mode=", "override-bad-value", "STRICT, LOOSE_END"),
    ],
)
def test_a_bad_override_says_what_is_allowed(pair: str, code: str, words: str) -> None:
    fault = fault_of(lambda: parse_overrides(Knobs, [pair]))
    assert fault.code == code
    assert words in fault.render()


def test_layers_make_a_config() -> None:
    config = build_config(Knobs, {"brokers": 3, "elr": False}, {"brokers": 4})
    assert config == Knobs(brokers=4, elr=False)
    assert config_values(config) == {"brokers": 4, "min_isr": 2, "elr": False, "mode": "STRICT"}


def test_the_checks_of_the_config_are_usage_faults() -> None:
    assert "larger than brokers" in fault_of(lambda: build_config(Knobs, {"brokers": 1})).message
    assert "`brokers`" in fault_of(lambda: build_config(Knobs)).message


def test_a_field_that_cannot_be_configured_is_a_mistake_of_the_model() -> None:
    @dataclasses.dataclass(frozen=True)
    class Odd:
        names: tuple[str, ...] = ()

    with pytest.raises(ModelError, match=r"Odd\.names"):
        config_fields(Odd)


# -------------------------------------------------------------------------------- settings


def settings_of(folder: Path, chosen: Path | None = None) -> OptionDefaults:
    return load_settings(chosen, folder, cli)


def test_no_file_means_no_defaults(tmp_path: Path) -> None:
    assert settings_of(tmp_path) == OptionDefaults()


def test_shared_keys_reach_every_command_that_has_them(write: Write, tmp_path: Path) -> None:
    shared = 'variant = "code_4_0"\ncolor = "never"\n'
    write("elrcheck.toml", shared + '[check]\nvariant = "legacy"\nmax-depth = 7\n')
    defaults = settings_of(tmp_path).defaults
    assert defaults["color"] == "never"
    assert defaults["check"] == {"variant": "legacy", "max_depth": 7}
    assert defaults["prove"] == {"variant": "code_4_0"}
    assert defaults["export"] == {"spec": {"variant": "code_4_0"}, "trace": {"variant": "code_4_0"}}


def test_nested_commands_and_lists(write: Write, tmp_path: Path) -> None:
    write("elrcheck.toml", '[export.spec]\nout = "d"\nset = ["a=1", "b=2"]\n[check]\nstop-at-first = true\n')
    defaults = settings_of(tmp_path).defaults
    assert defaults["export"]["spec"] == {"out": "d", "overrides": ["a=1", "b=2"]}
    assert defaults["check"] == {"stop_at_first": True}


def test_pyproject_is_used_only_when_it_has_our_table(write: Write, tmp_path: Path) -> None:
    write("pyproject.toml", "[tool.other]\nx = 1\n")
    assert settings_of(tmp_path).source is None
    path = write("pyproject.toml", '[tool.elrcheck.check]\nscope = "two-brokers"\n')
    assert settings_of(tmp_path).defaults == {"check": {"scope": "two-brokers"}}
    assert settings_of(tmp_path / "none", path).source == str(path)


def test_exactly_one_file_is_used(write: Write, tmp_path: Path) -> None:
    write("elrcheck.toml", "[check]\nmax-depth = 1\n")
    write("pyproject.toml", "[tool.elrcheck.check]\nmax-states = 1\n")
    assert settings_of(tmp_path).defaults == {"check": {"max_depth": 1}}


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("\n[check]\nmax-deph = 3\n", 3, "did you mean `max-depth`?"),
        ("[chekc]\nscope = 'x'\n", 1, "did you mean `check`?"),
        ("configs = 'x'\n", 1, "unknown key"),
        ("check = 3\n", 1, "must be a table"),
        ("[check]\nmax-depth = 'many'\n", 2, "a whole number, not 'many'"),
        ("[check]\nmax-depth = 0\n", 2, "0"),
        ("[check]\nstop-at-first = 1\n", 2, "true or false"),
        ("[check]\nscope = true\n", 2, "a text (NAME|FILE), not true"),
        ("[check]\nset = 'a=1'\n", 2, "a list"),
        ("[check]\nscope = ['a']\n", 2, "a text (NAME|FILE), not a list"),
        ("[check]\nformat = 'xml'\n", 2, "text"),
        ("[check]\ntime-budget = 'soon'\n", 2, "duration"),
    ],
)
def test_a_bad_setting_names_the_line(write: Write, tmp_path: Path, text: str, line: int, words: str) -> None:
    path = write("elrcheck.toml", text)
    fault = fault_of(lambda: settings_of(tmp_path))
    assert fault.where == f"{path}:{line}"
    assert words in fault.render()


def test_the_chosen_file_must_have_the_table(write: Write, tmp_path: Path) -> None:
    path = write("pyproject.toml", "[project]\nname = 'x'\n")
    assert fault_of(lambda: settings_of(tmp_path, path)).code == "config-no-table"
