"""Class paths of Kafka: the libs/ of a distribution, or what Maven resolves.

The class path of a version is stored in the user's cache, so that Maven runs once per version and later runs need no
network. Maven keeps the jars themselves where it is configured to (~/.m2).
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from elrcheck.base.errors import EnvironmentFault, UsageFault
from elrcheck.base.kept.store import Store
from elrcheck.kafka.maven import INSTALL_MAVEN, Dependency, MavenFailed, find_maven, needed_jars

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
