"""The Python console of `elrcheck repl`, with a walk through a model."""

from __future__ import annotations

import code
import sys
from typing import Any

import elrcheck
from elrcheck.api.model_walk import ModelWalk
from elrcheck.base.errors import ElrError, UsageFault

BANNER = """\
`walk` is in the initial state: walk.enabled, walk.step("Fence(1)"), walk.back(), walk.violated, walk.show().
`elrcheck` has a function for each command: elrcheck.check("legacy", "two-brokers"). exit() ends."""


class PythonConsole(code.InteractiveConsole):
    """Reads Python from the terminal; prints faults of elrcheck without a stack trace. failed: the last code raised."""

    failed = False

    def showsyntaxerror(self, *args: Any, **named: Any) -> None:
        self.failed = True
        super().showsyntaxerror(*args, **named)

    def showtraceback(self) -> None:
        self.failed = True
        fault = sys.exc_info()[1]
        if isinstance(fault, ElrError):
            self.write(f"{fault.render()}\n")
        else:
            super().showtraceback()

    def run_file(self, text: str) -> None:
        """Run a whole program, up to the first fault."""
        try:
            program = compile(text, self.filename, "exec")
        except (SyntaxError, ValueError, OverflowError):
            self.showsyntaxerror(self.filename)
        else:
            self.runcode(program)


def run_console(walk: ModelWalk) -> bool:
    """Run Python with `walk` and `elrcheck` defined: line by line as it is typed, or a whole program from a pipe.

    Return whether a program from a pipe ran to its end, or to exit().
    """
    console = PythonConsole({"elrcheck": elrcheck, "walk": walk}, "<repl>")
    typed = sys.stdin is not None and sys.stdin.isatty()
    try:
        if typed:
            _interact(console)
        else:
            console.run_file(_program())
    except SystemExit:
        pass  # exit() ends the console, not its caller
    return typed or not console.failed


def _program() -> str:
    """Return the program on stdin, empty if the caller closed it; raise UsageFault if it is not text."""
    try:
        text = "" if sys.stdin is None else sys.stdin.read()
        text.encode()  # a byte that is no text may have become half a character
    except UnicodeError as fault:
        raise UsageFault("repl-program", "the program is not UTF-8 text", where="<stdin>") from fault
    return text


def _interact(console: PythonConsole) -> None:
    _complete(console.locals)
    prompts = {name: getattr(sys, name, None) for name in ("ps1", "ps2")}
    sys.ps1, sys.ps2 = ">>> ", "... "
    try:
        console.interact(BANNER, exitmsg="")
    finally:
        for name, prompt in prompts.items():
            if prompt is None:
                delattr(sys, name)
            else:
                setattr(sys, name, prompt)


def _complete(names: Any) -> None:
    """Complete names with the Tab key, if Python has readline."""
    try:
        import readline
    except ImportError:
        return
    from rlcompleter import Completer

    readline.set_completer(Completer(names).complete)
    readline.parse_and_bind("tab: complete")
