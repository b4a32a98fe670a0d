"""`elrcheck repl`: Python that is typed or piped in, with a walk through the model."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable

import pytest

from elrcheck.cli import cli
from elrcheck.console.shell import run
from support.places import PROTOCOLS


class BytesThatAreNoText(io.TextIOWrapper):
    """Standard input with bytes that are not UTF-8."""

    def __init__(self, errors: str) -> None:
        super().__init__(io.BytesIO(b"print(1) # \xff\n"), encoding="utf-8", errors=errors)


@pytest.fixture
def piped(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, str, str]]:
    def call(text: str, *options: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.StringIO(text))
        code = run(cli, ["repl", *options])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def test_a_walk_is_at_hand(piped: Callable[..., tuple[int, str, str]]) -> None:
    code, out, _ = piped(
        'walk = walk.step("Fence(1)")\nprint(walk.steps, walk.state.partition.isr)\n', "--scope", "two-brokers"
    )
    assert (code, out) == (0, "('Fence(b=1)',) frozenset({0})\n")


def test_a_model_of_the_user(piped: Callable[..., tuple[int, str, str]]) -> None:
    file = str(PROTOCOLS / "agreement" / "two_phase.py")
    code, out, _ = piped(
        "print(walk.enabled[0])\nfor n in (1, 2):\n    print(n)\n\nexit()\nprint(3)\n", "--model", file
    )
    assert (code, out) == (0, "Abort()\n1\n2\n")


def test_a_refused_step_ends_the_program_with_its_guard_and_no_stack_trace(
    piped: Callable[..., tuple[int, str, str]],
) -> None:
    code, out, err = piped('print("on")\nwalk.step("Unfence(0)")\nprint("off")\n', "--scope", "two-brokers")
    assert (code, out) == (2, "on\n")
    assert "is not enabled there" in err and "model_walk.py" not in err and not hasattr(sys, "ps1")


def test_a_program_without_blank_lines_runs_as_a_file_does(piped: Callable[..., tuple[int, str, str]]) -> None:
    text = "try:\n    1 / 0\nexcept ZeroDivisionError:\n    print(1)\nprint(2)\n"
    assert piped(text, "--scope", "two-brokers") == (0, "1\n2\n", "")
    code, out, err = piped("print(1)\n1 / 0\n", "--scope", "two-brokers")
    assert (code, out) == (2, "1\n") and "ZeroDivisionError" in err
    code, out, err = piped("print(1)\nif\n", "--scope", "two-brokers")
    assert (code, out) == (2, "") and "line 2" in err and "SyntaxError" in err


@pytest.mark.parametrize("errors", ["strict", "surrogateescape"])
def test_bytes_that_are_no_text(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, errors: str
) -> None:
    """With either way in which Python opens stdin, by the locale."""
    monkeypatch.setattr(sys, "stdin", BytesThatAreNoText(errors))
    assert run(cli, ["repl", "--scope", "two-brokers"]) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and "error[repl-program]" in captured.err and "<stdin>" in captured.err


def test_a_closed_stdin_is_an_empty_program(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert run(cli, ["repl", "--scope", "two-brokers"]) == 0
    assert capsys.readouterr() == ("", "")
