"""The list of error codes against the source: none is missing, none is left over, each has its exit code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from elrcheck.base.errors import (
    EnvironmentFault,
    ExitCode,
    Interrupted,
    NothingChecked,
    UsageFault,
    codes_by_exit,
    error_codes,
)
from elrcheck.cli import cli
from elrcheck.console.shell import run
from elrcheck.spark.jvm import causes
from support.places import ROOT, sources

FAULTS = {c.__name__: c.exit_code for c in (UsageFault, EnvironmentFault, NothingChecked, Interrupted)}
CODE = re.compile(r"[a-z]+(-[a-z]+)*")
# Words that a code is put together of, where it is.
PARTS = {
    "f'no-{what}'": ("no-property", "no-rule"),
    "f'unknown-{what}'": ("unknown-property", "unknown-rule"),
    "f'cannot-{verb}'": ("cannot-delete", "cannot-read", "cannot-write"),
}


RAISING = re.compile(rf"\b({'|'.join(FAULTS)}|Codes|toml_codes|fail)\(")


def trees() -> Iterator[tuple[Path, ast.Module]]:
    """Yield the files in which a fault is made: to read the others takes seconds."""
    for path in sources():
        text = path.read_text(encoding="utf-8")
        if RAISING.search(text):
            yield path, ast.parse(text)


def constants(tree: ast.Module) -> dict[str, set[str]]:
    """Name -> texts that are assigned to it anywhere in the file."""
    by_name: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            value = node.value
            parts = [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]
            texts = {p.value for p in parts if isinstance(p, ast.Constant) and isinstance(p.value, str)}
            for target in node.targets:
                if isinstance(target, ast.Name):
                    by_name.setdefault(target.id, set()).update(texts)
    return by_name


def raised() -> Iterator[tuple[str, ExitCode]]:
    """(code, exit code) of everything that is raised, as far as the source says it in so many words."""
    for _, tree in trees():
        texts = constants(tree)
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            name = call.func.id if isinstance(call.func, ast.Name) else ""
            exit_code = ExitCode(FAULTS.get(name, ExitCode.DID_NOT_RUN))
            if name in FAULTS and call.args:
                words = texts_of(call.args[0], texts)
            elif name in ("Codes", "toml_codes"):  # base/strict.py: what faults of a document are called
                arguments = (*call.args, *(keyword.value for keyword in call.keywords))
                words = {word for part in arguments for word in texts_of(part, texts)}
            elif isinstance(call.func, ast.Attribute) and call.func.attr == "fail":
                codes = (keyword.value for keyword in call.keywords if keyword.arg == "code")
                words = {word for part in codes for word in texts_of(part, texts)}
            else:
                continue
            yield from ((word, exit_code) for word in words)
    yield from ((cause.code, ExitCode(FAULTS[cause.fault])) for cause in (*causes("start"), *causes("job")))


def texts_of(argument: ast.expr, texts: dict[str, set[str]]) -> set[str]:
    match argument:
        case ast.Constant(value=str(text)):
            return {text}
        case ast.JoinedStr():
            return set(PARTS[ast.unparse(argument)])
        case ast.Name(id=name):
            return {text for text in texts.get(name, set()) if CODE.fullmatch(text)}
    return set()


def test_every_code_that_is_raised_is_listed_with_its_exit_code() -> None:
    raised_codes = {*raised(), ("internal", ExitCode.INTERNAL)}
    listed = {(code, exit_code) for exit_code, codes in codes_by_exit().items() for code in codes}
    assert raised_codes - listed == set(), "not listed"
    assert listed - raised_codes == set(), "listed, but raised nowhere"


def test_a_code_is_listed_once_and_is_a_greppable_word() -> None:
    every = [code for codes in codes_by_exit().values() for code in codes]
    assert len(every) == len(set(every)) == len(error_codes())
    assert all(CODE.fullmatch(code) for code in every)
    assert all(about.endswith(".") and "\n" not in about for about in error_codes().values())


def test_list_and_show_have_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(cli, ["list", "errors"]) == 0
    listed = {line.split()[0] for line in capsys.readouterr().out.splitlines()[1:] if line}
    assert listed == set(error_codes())
    assert run(cli, ["show", "no-baseline"]) == 0
    assert "There is no baseline. Exit 2." in capsys.readouterr().out


def test_documents_name_no_code_that_does_not_exist() -> None:
    for path in (ROOT / "docs").rglob("*.md"):
        for code in re.findall(r"error\[([a-z-]+)\]", path.read_text(encoding="utf-8")):
            assert code in error_codes(), path
