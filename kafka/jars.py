"""Class paths of Kafka: the libs/ of a distribution, or what Maven resolves, which runs without a project.

The class path of a version is stored in the user's cache, so that Maven runs once per version and later runs need no
network. Maven keeps the jars themselves where it is configured to (~/.m2).
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from elrcheck.base.errors import EnvironmentFault, UsageFault
from elrcheck.base.kept.store import Store
from elrcheck.base.programs import run_program

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


# ---------------------------------------------------------------------------- class paths

# Logging backends in a distribution; without one slf4j discards what Kafka logs.
LOGS = re.compile(r"(slf4j-(?!api)|log4j-slf4j|logback)")
VERSION = re.compile(r"\d+\.\d+\.\d+(-[A-Za-z0-9.]+)?")
KAFKA = "org.apache.kafka"
METADATA = re.compile(r"kafka-metadata-(\d+\.\d+\.\d+)\.jar")


class Jars(Enum):
    """The artifacts of Kafka that are needed, by their ids.

    A cluster is started with them and logs; for the others logs are discarded.
    """

    CONTROLLER = ("kafka-metadata", "kafka-server-common", "kafka-raft")
    BROKER = ("kafka_2.13", "kafka-metadata", "kafka-server-common", "kafka-raft")
    CLUSTER = ("kafka_2.13", "kafka-server")


@dataclass(frozen=True)
class ClassPath:
    """Jars of one version of Kafka. found_by: how, for messages."""

    version: str
    jars: tuple[Path, ...]
    found_by: str

    def __str__(self) -> str:
        return os.pathsep.join(str(jar) for jar in self.jars)

    def digest(self) -> str:
        """Return a digest of the names, sizes and times of the jars."""
        total = hashlib.sha256()
        for jar in self.jars:
            status = jar.stat()
            total.update(f"{jar}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
        return total.hexdigest()


def from_home(home: Path, needed_for: Jars = Jars.CONTROLLER) -> ClassPath:
    """Return the class path of a Kafka distribution that was unpacked into `home`."""
    libs = home / "libs"
    named = sorted(libs.glob("kafka-metadata-*.jar"))
    versions = [name[1] for jar in named if (name := re.fullmatch(r"kafka-metadata-(\d.*)\.jar", jar.name))]
    if not versions:
        raise UsageFault(
            "kafka-home",
            f"{home} is not a Kafka distribution: no {libs / 'kafka-metadata-VERSION.jar'}",
            help="name the folder that a Kafka download unpacks to, such as kafka_2.13-4.1.2",
        )
    logs = needed_for is Jars.CLUSTER
    jars = tuple(jar.resolve() for jar in sorted(libs.glob("*.jar")) if logs or not LOGS.match(jar.name))
    return ClassPath(versions[0], jars, f"--kafka-home {home}")


def from_maven(version: str, needed_for: Jars = Jars.CONTROLLER, environ: Mapping[str, str] | None = None) -> ClassPath:
    """Return the class path that Maven resolves for a release, or resolved before."""
    environ = os.environ if environ is None else environ
    if VERSION.fullmatch(version) is None:
        raise UsageFault(
            "kafka-version", f"{version!r} is not a Kafka release", help="give all three numbers, as in 4.1.2"
        )
    class_path = kept_class_path(version, needed_for, environ)
    if class_path is not None:
        return class_path
    if find_maven(environ) is None:
        message = f"no mvn on PATH, and the jars of Kafka {version} were not resolved before"
        raise EnvironmentFault("maven-missing", message, help=INSTALL_MAVEN)
    jars = _resolve(version, needed_for, environ)
    _store(environ).put(_key(version, needed_for), tuple(str(jar) for jar in jars))
    return ClassPath(version, jars, "Maven")


def newest_release(oldest: str, environ: Mapping[str, str] | None = None) -> str:
    """Return the newest release that Maven finds, by the index of its repository, `oldest` or a later one.

    Stores it for `newest_seen`.
    """
    environ = os.environ if environ is None else environ
    try:
        jars = needed_jars([Dependency(KAFKA, "kafka-metadata", f"[{oldest},)")], environ)
    except MavenFailed as failed:
        raise _fault(f"newer than {oldest}", failed) from failed
    version = next((name[1] for jar in jars if (name := METADATA.fullmatch(jar.name))), None)
    if version is None:
        raise EnvironmentFault("kafka-jars", f"Maven found no Kafka release from {oldest} on")
    _newest(environ).put(KAFKA, version)
    return version


def newest_seen(environ: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the newest release by the last query of Maven, with its time; None if Maven was never queried."""
    entry = _newest(environ).get(KAFKA)
    return None if entry is None else (entry.value, entry.origin.when)


def kept_class_path(version: str, needed_for: Jars, environ: Mapping[str, str]) -> ClassPath | None:
    """Return the class path that Maven resolved before, if all of its jars still exist."""
    entry = _store(environ).get(_key(version, needed_for))
    jars = () if entry is None else tuple(Path(name) for name in entry.value)
    if entry is None or not jars or not all(jar.is_file() for jar in jars):
        return None
    return ClassPath(version, jars, f"Maven before ({entry.origin.when})")


def kept_versions(environ: Mapping[str, str], needed_for: Jars = Jars.CONTROLLER) -> tuple[str, ...]:
    """Return the versions whose jars Maven has already resolved."""
    start = _key("", needed_for)
    keys = [key for key, _ in _store(environ).entries() if key.startswith(start)]
    versions = sorted(key.removeprefix(start) for key in keys)
    return tuple(version for version in versions if kept_class_path(version, needed_for, environ) is not None)


def _store(environ: Mapping[str, str]) -> Store[tuple[str, ...]]:
    return Store("class-paths", tuple[str, ...], environ=environ)


def _newest(environ: Mapping[str, str]) -> Store[str]:
    return Store("newest-release", str, environ=environ)


def _key(version: str, needed_for: Jars) -> str:
    return f"{needed_for.name.lower()}-{version}"


def _resolve(version: str, needed_for: Jars, environ: Mapping[str, str]) -> tuple[Path, ...]:
    # Kafka's command line tools are not needed, and kafka-tools-api 4.4.0 was not published.
    artifacts = [Dependency(KAFKA, artifact, version, ("kafka-tools-api",)) for artifact in needed_for.value]
    logger = "slf4j-simple" if needed_for is Jars.CLUSTER else "slf4j-nop"
    try:
        jars = needed_jars((*artifacts, Dependency("org.slf4j", logger, "1.7.36")), environ)
    except MavenFailed as failed:
        raise _fault(version, failed) from failed
    if not jars:
        raise EnvironmentFault("kafka-jars", f"Maven resolved no jars for Kafka {version}")
    return jars


def _fault(version: str, failed: MavenFailed) -> EnvironmentFault | UsageFault:
    if failed.no_network:
        help = "check the network and Maven's proxy settings, or use --kafka-home DIR"
        message = f"Maven could not reach a repository for Kafka {version}"
        return EnvironmentFault("kafka-jars", message, excerpt=failed.excerpt, help=help)
    if failed.not_found:
        help = "the releases are listed at https://kafka.apache.org/downloads"
        message = f"Maven finds no Kafka {version}"
        return UsageFault("kafka-version", message, excerpt=failed.excerpt, help=help)
    return EnvironmentFault("kafka-jars", f"Maven did not resolve Kafka {version}", excerpt=failed.excerpt)
