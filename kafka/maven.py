"""Runs Maven without a project, to resolve the jars of an artifact and its dependencies."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from elrcheck.base.errors import EnvironmentFault
from elrcheck.base.system.programs import run_program

PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1"
PATIENCE = 900.0  # seconds for Maven to fetch everything
INSTALL_MAVEN = (
    "install Maven (Debian: apt install maven), or name an unpacked Kafka distribution with --kafka-home DIR"
)
NO_NETWORK = re.compile(
    r"Unknown host|UnknownHost|Connection refused|Network is unreachable|No route to host|timed out|"
    r"Temporary failure in name resolution|offline mode|Could not transfer|Connect to",
    re.IGNORECASE,
)
NOT_FOUND = re.compile(
    r"Could not find artifact org\.apache\.kafka:"
    r"|org\.apache\.kafka:\S+ was not found in"  # Maven has cached an earlier failure
)
NOISE = re.compile(r"\x1b\[[0-9;]*m|\[ERROR\]")
ADVICE = re.compile(r"To see the full stack trace|Re-run Maven|For more information about|\[Help \d\] http")
ERROR_LINES = 4  # lines of its errors in a message


@dataclass(frozen=True)
class Dependency:
    """An artifact with its dependencies. without: artifacts of the same group to exclude."""

    group: str
    artifact: str
    version: str
    without: tuple[str, ...] = ()

    def xml(self) -> str:
        left_out = "".join(
            f"<exclusion><groupId>{self.group}</groupId><artifactId>{name}</artifactId></exclusion>"
            for name in self.without
        )
        return (
            f"<dependency><groupId>{self.group}</groupId><artifactId>{self.artifact}</artifactId>"
            f"<version>{self.version}</version>"
            + (f"<exclusions>{left_out}</exclusions>" if left_out else "")
            + "</dependency>"
        )


class MavenFailed(Exception):
    """Maven ran and failed."""

    def __init__(self, output: str) -> None:
        lines = [line for line in output.splitlines() if "[ERROR]" in line and not ADVICE.search(line)]
        errors = [error for line in lines if (error := NOISE.sub("", line).strip())]
        self.excerpt = "\n".join(errors[:ERROR_LINES]) or None
        self.no_network = NO_NETWORK.search(output) is not None
        self.not_found = NOT_FOUND.search(output) is not None
        super().__init__(self.excerpt or "no reason was given")


def find_maven(environ: Mapping[str, str]) -> str | None:
    """Return the program `mvn`, or None."""
    return shutil.which("mvn", path=environ.get("PATH", ""))


def needed_jars(dependencies: Iterable[Dependency], environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the jars of these artifacts and their dependencies; empty if Maven names no jar."""
    with tempfile.TemporaryDirectory(prefix="elrcheck-maven-") as name:
        folder = Path(name)
        pom, answer = folder / "pom.xml", folder / "class-path.txt"
        pom.write_text(_pom(dependencies), encoding="utf-8")
        words = (f"-Dmdep.outputFile={answer}", "-Dmdep.includeScope=runtime")
        _run(("--file", str(pom), f"{PLUGIN}:build-classpath", *words), folder, environ)
        text = answer.read_text(encoding="utf-8").strip() if answer.is_file() else ""
    return tuple(Path(entry) for entry in text.split(os.pathsep) if entry)


def fetched_jars(what: str, dependencies: Iterable[Dependency], environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Return what `needed_jars` does; raise EnvironmentFault if Maven fails. what: the artifacts in words."""
    try:
        return needed_jars(dependencies, environ)
    except MavenFailed as failed:
        message = f"Maven did not fetch {what}"
        raise EnvironmentFault("kafka-jars", message, excerpt=failed.excerpt, help="check the network") from failed


def artifact_bytes(coordinates: str, environ: Mapping[str, str]) -> bytes:
    """Return one artifact, named group:artifact:version:type:classifier, without its dependencies."""
    with tempfile.TemporaryDirectory(prefix="elrcheck-maven-") as name:
        folder = Path(name)
        words = (f"-Dartifact={coordinates}", f"-DoutputDirectory={folder}")
        _run((f"{PLUGIN}:copy", *words), folder, environ)
        jars = sorted(folder.glob("*.jar"))
        if not jars:
            raise MavenFailed(f"[ERROR] it copied no {coordinates}")
        return jars[0].read_bytes()


def _run(words: Sequence[str], folder: Path, environ: Mapping[str, str]) -> None:
    maven = find_maven(environ)
    if maven is None:
        raise EnvironmentFault("maven-missing", "no mvn on PATH", help=INSTALL_MAVEN)
    try:
        command = [maven, "--batch-mode", "--quiet", "-Dstyle.color=never", *words]
        end = run_program(command, PATIENCE, environ, folder)
    except subprocess.TimeoutExpired as fault:
        message = f"Maven did not finish within {PATIENCE:.0f} s"
        raise EnvironmentFault("kafka-jars", message, help="check the network") from fault
    except OSError as fault:
        message = f"{maven} does not run: {fault}"
        raise EnvironmentFault("maven-missing", message, help=INSTALL_MAVEN) from fault
    if end.exit_code != 0:
        raise MavenFailed(end.output)


def _pom(dependencies: Iterable[Dependency]) -> str:
    return (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        "<groupId>elrcheck</groupId><artifactId>class-path</artifactId><version>1</version>"
        f"<dependencies>{''.join(dependency.xml() for dependency in dependencies)}</dependencies></project>"
    )
