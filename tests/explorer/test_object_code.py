"""Object code: made here or by helpers it is the same, and what a helper fails to give is made here."""

from __future__ import annotations

import sys

import pytest

from elrcheck.explorer.kernel import object_code as compiler
from elrcheck.explorer.kernel.native_code import compile_modules

HALF = "define i64 @half(i64 %x) {\n  %y = ashr i64 %x, 1\n  ret i64 %y\n}\n"
CALLER = (
    "declare i64 @half(i64)\n"
    "define i64 @half_and_one(i64 %x) {\n"
    "  %y = call i64 @half(i64 %x)\n  %z = add i64 %y, 1\n  ret i64 %z\n}\n"
)


@pytest.fixture
def everything_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "HELP", 1)


def test_modules_call_each_other() -> None:
    native = compile_modules([CALLER, HALF], {"half_and_one": 1, "half": 1}, None)
    assert native.functions["half_and_one"](41) == 21
    assert native.functions["half"](41) == 20


@pytest.mark.usefixtures("everything_is_large")
def test_helpers_make_the_same_code() -> None:
    machine = compiler.target_machine()
    alone = [compiler.object_code(text, machine) for text in (CALLER, HALF)]
    answers = []
    ask = compiler._ask

    def heard(helper: object, texts: list[str]) -> list[bytes]:
        answers.append(ask(helper, texts))  # type: ignore[arg-type]
        return answers[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiler, "_ask", heard)
        assert compiler.object_codes([CALLER, HALF], machine, processes=2) == alone
    assert answers == [[alone[1]]], "the longer module is ours, the other one the helper's"


@pytest.mark.usefixtures("everything_is_large")
@pytest.mark.parametrize("program", ["/bin/false", "/no/such/program"])
def test_without_helpers_all_is_made_here(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = compiler.target_machine()
    alone = [compiler.object_code(text, machine) for text in (CALLER, HALF)]
    monkeypatch.setattr(sys, "executable", program)
    assert compiler.object_codes([CALLER, HALF], machine, processes=2) == alone


def test_a_simplified_module_does_the_same() -> None:
    """Its code is compiled with fewer simplifications, and the next module with all of them again."""
    machine = compiler.target_machine()
    text = "define i64 @f(i64 %x) {\n  %y = xor i64 %x, -1\n  %z = xor i64 %y, -1\n  ret i64 %z\n}\n"
    before = compiler.object_code(text, machine)
    native = compile_modules([compiler.SIMPLIFIED + text], {"f": 1}, None)
    assert native.functions["f"](41) == 41
    assert compiler.object_code(text, machine) == before


def test_shares_are_about_equal() -> None:
    assert compiler._shares(["x" * n for n in (5, 4, 3, 2, 1)], 2) == [[0, 3, 4], [1, 2]]
