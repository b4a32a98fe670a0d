"""Finds a Java runtime: JAVA_HOME first, then PATH; says what to do when there is none."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from elrcheck.base.errors import EnvironmentFault

OLDEST = 11
REMEDIES = (
    f"install a Java runtime {OLDEST} or newer (Debian: apt install default-jre-headless), "
    "or set JAVA_HOME to one, or put its `java` on PATH"
)
VERSION = re.compile(r'version "([^"]+)"')


@dataclass(frozen=True)
class Java:
    """A Java runtime that answered."""

    path: Path
    version: str
    major: int


def find_java(env: Mapping[str, str] | None = None) -> Java:
    """The Java runtime to use; EnvironmentFault (exit 4) with the remedies when there is none."""
    env = os.environ if env is None else env
    home = env.get("JAVA_HOME", "")
    if home:
        program = shutil.which("java", path=str(Path(home) / "bin"))
        if program is None:
            raise EnvironmentFault("java-missing", f"JAVA_HOME is {home}, but has no bin/java", help=REMEDIES)
    else:
        program = shutil.which("java", path=env.get("PATH", ""))
        if program is None:
            message = "no Java: JAVA_HOME is not set and PATH has no java"
            raise EnvironmentFault("java-missing", message, help=REMEDIES)
    java = ask_version(program, env)
    if java.major < OLDEST:
        message = f"{program} is Java {java.version}, {OLDEST} is needed"
        raise EnvironmentFault("java-too-old", message, help=REMEDIES)
    return java


def major_version(version: str) -> int:
    """17 of "17.0.15", 8 of "1.8.0_292"; 0 if it is no version."""
    numbers = [int(n) for n in re.findall(r"\d+", version)[:2]]
    if len(numbers) == 2 and numbers[0] == 1:
        return numbers[1]
    return numbers[0] if numbers else 0


def ask_version(program: str, env: Mapping[str, str]) -> Java:
    """What `program -version` answers; EnvironmentFault if it does not run or names no version."""
    try:
        done = subprocess.run(
            [program, "-version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=60,
            env=dict(env),
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as fault:
        raise EnvironmentFault("java-missing", f"{program} does not run: {fault}", help=REMEDIES) from fault
    found = VERSION.search(done.stderr + done.stdout)
    if found is None:
        raise EnvironmentFault("java-missing", f"{program} -version names no version", help=REMEDIES)
    return Java(Path(program), found[1], major_version(found[1]))
