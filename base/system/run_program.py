"""Runs another program to its end."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple


class ProgramEnd(NamedTuple):
    """The end of a program. output: everything that it printed, on stdout and on stderr."""

    exit_code: int
    output: str


def run_program(
    command: Sequence[str], seconds: float, environ: Mapping[str, str] | None = None, folder: Path | None = None
) -> ProgramEnd:
    """Run a program without input; raise OSError if it does not start, TimeoutExpired if it takes longer."""
    process = subprocess.run(
        list(command),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=seconds,
        env=None if environ is None else dict(environ),
        cwd=folder,
        check=False,
    )
    return ProgramEnd(process.returncode, process.stdout)
