"""Runs other programs to their end, finds a Java runtime, and reads the addresses of servers.

Java is looked for in JAVA_HOME first and then on PATH. An address is HOST:PORT, or [IPv6]:PORT.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeAlias

from elrcheck.base.errors import EnvironmentFault


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


OLDEST = 11
REMEDIES = (
    f"install a Java runtime {OLDEST} or newer (Debian: apt install default-jre-headless), "
    "or set JAVA_HOME to one, or put its `java` on PATH"
)
VERSION = re.compile(r'version "([^"]+)"')


@dataclass(frozen=True)
class Java:
    """A Java runtime that runs and reports its version."""

    path: Path
    version: str
    major: int


def find_java(env: Mapping[str, str] | None = None) -> Java:
    """Return the Java runtime to use; raise EnvironmentFault (exit 4) with the remedies if it is missing."""
    env = os.environ if env is None else env
    home = env.get("JAVA_HOME", "")
    if home:
        program = shutil.which("java", path=str(Path(home) / "bin"))
        if program is None:
            raise EnvironmentFault("java-missing", f"JAVA_HOME is {home}, but has no bin/java", help=REMEDIES)
    else:
        program = shutil.which("java", path=env.get("PATH", ""))
        if program is None:
            message = "no Java found: JAVA_HOME is not set and PATH has no java"
            raise EnvironmentFault("java-missing", message, help=REMEDIES)
    java = ask_version(program, env)
    if java.major < OLDEST:
        message = f"{program} is Java {java.version}, but {OLDEST} is needed"
        raise EnvironmentFault("java-too-old", message, help=REMEDIES)
    return java


def major_version(version: str) -> int:
    """Return 17 for "17.0.15", 8 for "1.8.0_292", 0 for text that is not a version."""
    numbers = [int(n) for n in re.findall(r"\d+", version)[:2]]
    if len(numbers) == 2 and numbers[0] == 1:
        return numbers[1]
    return numbers[0] if numbers else 0


def ask_version(program: str, env: Mapping[str, str]) -> Java:
    """Parse the output of `program -version`; raise EnvironmentFault if it fails or names no version."""
    try:
        output = run_program([program, "-version"], 60, env).output
    except (OSError, subprocess.TimeoutExpired) as fault:
        raise EnvironmentFault("java-missing", f"{program} does not run: {fault}", help=REMEDIES) from fault
    match = VERSION.search(output)
    if match is None:
        raise EnvironmentFault("java-missing", f"{program} -version reports no version", help=REMEDIES)
    return Java(Path(program), match[1], major_version(match[1]))


Address: TypeAlias = tuple[str, int]
"""A host and a port."""


def address(text: str) -> Address | None:
    """Return the address that a text names; None for any other text."""
    match = re.fullmatch(r"(?:\[([0-9A-Za-z:.%]+)\]|([^\[\]:,/@\s]+)):([0-9]{1,5})", text.strip())
    if match is None or not 0 < int(match[3]) < 65536:
        return None
    return match[1] or match[2], int(match[3])


def unreachable(addresses: Iterable[Address], seconds: float) -> list[str]:
    """Return why no server listens at these addresses; empty if one does. seconds: for each attempt."""
    reasons = []
    for host, port in addresses:
        try:
            socket.create_connection((host, port), seconds).close()
        except OSError as fault:
            reasons.append(f"{host}:{port}: {fault.strerror or fault}")
        else:
            return []
    return reasons
