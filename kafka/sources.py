"""Kafka's source files, from the jars of sources of a release, which are kept in the store."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Mapping
from pathlib import Path

from elrcheck.base.errors import EnvironmentFault, UsageFault
from elrcheck.base.kept.store import FileStore
from elrcheck.kafka.maven import MavenFailed, artifact_bytes

ARTIFACTS = (
    ("kafka/", "kafka_2.13"),
    ("org/apache/kafka/storage/", "kafka-storage"),
    ("org/apache/kafka/", "kafka-metadata"),
)
"""Where the source of a path is, the first that fits."""


def source_of(path: str, version: str, environ: Mapping[str, str] | None = None) -> str:
    """Return a source file of a release, such as kafka/cluster/Partition.scala."""
    environ = os.environ if environ is None else environ
    artifact = next(name for start, name in ARTIFACTS if path.startswith(start))
    try:
        with zipfile.ZipFile(_kept_jar(artifact, version, environ)) as archive:
            return archive.read(path).decode("utf-8")
    except KeyError as fault:
        message = f"{path} is no source of Kafka {version}"
        raise UsageFault("patch-edit", message, help=f"it is not in {artifact}") from fault


def _kept_jar(artifact: str, version: str, environ: Mapping[str, str]) -> Path:
    files, key = FileStore("sources", ".jar", environ), f"{artifact} {version} sources"
    jar = files.get(key)
    if jar is not None:
        return jar
    try:
        data = artifact_bytes(f"org.apache.kafka:{artifact}:{version}:jar:sources", environ)
    except MavenFailed as failed:
        raise _fault(artifact, version, failed) from failed
    return files.place(key, data)


def _fault(artifact: str, version: str, failed: MavenFailed) -> EnvironmentFault | UsageFault:
    if failed.not_found and not failed.no_network:
        message = f"no sources of {artifact} {version} are published"
        help = "without them a patch of this release cannot be built; name another release"
        return UsageFault("kafka-sources", message, excerpt=failed.excerpt, help=help)
    message = f"Maven did not fetch the sources of {artifact} {version}"
    help = "check the network and Maven's proxy settings"
    return EnvironmentFault("kafka-jars", message, excerpt=failed.excerpt, help=help)
