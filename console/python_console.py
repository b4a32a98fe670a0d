"""The Python console of `elrcheck repl`, with a walk through a model."""

from __future__ import annotations

import code
import sys
from typing import Any

import elrcheck
from elrcheck.api.model_walk import ModelWalk
from elrcheck.base.errors import ElrError

BANNER = """\
`walk` is in the initial state: walk.enabled, walk.step("Fence(1)"), walk.back(), walk.violated, walk.show().
`elrcheck` has a function for each command: elrcheck.check("legacy", "two-brokers"). exit() ends."""


class PythonConsole(code.InteractiveConsole):
    """Reads Python from the terminal or a pipe; prints faults of elrcheck without a stack trace."""

    def showtraceback(self) -> None:
        fault = sys.exc_info()[1]
        if isinstance(fault, ElrError):
            self.write(f"{fault.render()}\n")
        else:
            super().showtraceback()


def run_console(walk: ModelWalk) -> None:
    """Read and run Python until the end of its input, with `walk` and `elrcheck` defined."""
    names: dict[str, Any] = {"elrcheck": elrcheck, "walk": walk}
    typed = sys.stdin.isatty()
    if typed:
        _complete(names)
    prompts = {name: getattr(sys, name, None) for name in ("ps1", "ps2")}
    sys.ps1, sys.ps2 = (">>> ", "... ") if typed else ("", "")
    try:
        PythonConsole(names, "<repl>").interact(BANNER if typed else "", exitmsg="")
    except SystemExit:
        pass  # exit() ends the console, not its caller
    finally:
        for name, prompt in prompts.items():
            if prompt is None:
                delattr(sys, name)
            else:
                setattr(sys, name, prompt)


def _complete(names: dict[str, Any]) -> None:
    """Complete names with the Tab key, if Python has readline."""
    try:
        import readline
    except ImportError:
        return
    from rlcompleter import Completer

    readline.set_completer(Completer(names).complete)
    readline.parse_and_bind("tab: complete")
