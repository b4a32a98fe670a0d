"""A patch of Kafka, such as that of a finding, as a jar that goes before Kafka's own: edited sources, compiled.

The store keeps the jar by the edited sources, the class path of their compilation, and the compiler. Maven gets the
source jars of a release, which the store keeps too.
"""

from __future__ import annotations

import os
import re
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from elrcheck.base.errors import EnvironmentFault, UsageFault
from elrcheck.base.kept import named_digests as digests
from elrcheck.base.kept.store import FileStore
from elrcheck.catalogue.finding_file import Edit
from elrcheck.catalogue.packaged_findings import find_finding
from elrcheck.kafka.jars import ClassPath, Dependency, MavenFailed, artifact_bytes, fetched_jars
from elrcheck.kafka.java_program import CLASSES, Jdk, find_jdk, jar_bytes, run_compiler, run_javac, write_sources

FITTING_RELEASES = "the page of the finding names the releases that the patch fits"
SOURCES = (
    ("unit/kafka/", "kafka_2.13", "core/src/test/scala/"),
    ("kafka/", "kafka_2.13", "core/src/main/scala/"),
    ("org/apache/kafka/storage/", "kafka-storage", "storage/src/{set}/java/"),
    ("org/apache/kafka/common/", "kafka-clients", "clients/src/{set}/java/"),
    ("org/apache/kafka/raft/", "kafka-raft", "raft/src/{set}/java/"),
    ("org/apache/kafka/", "kafka-metadata", "metadata/src/{set}/java/"),
)
"""Start of a path in a jar of sources, the artifact of the jar, its folder in Kafka's repository; the first counts."""
LIBRARY = re.compile(r"scala-library-(2\.13\.\d+)\.jar")


def patched_jar(name: str, edits: Sequence[Edit], kafka: ClassPath, environ: Mapping[str, str] | None = None) -> Path:
    """Return the jar with the classes of the edited sources. name: the finding of the patch, such as F-20."""
    environ = os.environ if environ is None else environ
    jdk = find_jdk(environ)
    return compiled_jar(name, edited_sources(edits, kafka.version, environ), kafka, jdk, environ)


def compiled_jar(name: str, sources: Mapping[str, str], kafka: ClassPath, jdk: Jdk, environ: Mapping[str, str]) -> Path:
    """Return the jar of the classes of sources, path -> text, in Java and Scala. name: what they are for."""
    files = FileStore("patches", ".jar", environ)
    key = digests.key(
        patch=name,
        release=kafka.version,
        jars=kafka.digest(),
        java=jdk.java.version,
        javac=str(jdk.javac),
        sources=dict(sources),
    )
    jar = files.get(key)
    if jar is not None:
        return jar
    with tempfile.TemporaryDirectory(prefix="elrcheck-patch-") as folder:
        draft = Path(folder)
        _compile(sources, kafka, jdk, draft, environ)
        return files.place(key, jar_bytes(draft / CLASSES))


def edited_sources(edits: Sequence[Edit], version: str, environ: Mapping[str, str] | None = None) -> Mapping[str, str]:
    """Return path -> text of the sources that the edits change; raise UsageFault for an edit that does not fit."""
    environ = os.environ if environ is None else environ
    sources: dict[str, str] = {}
    for edit in edits:
        source = sources.get(edit.path) or source_of(edit.path, version, environ)
        try:
            sources[edit.path] = edit.changed(source)
        except ValueError as fault:
            message = f"an edit does not fit Kafka {version}: {fault}"
            raise UsageFault("patch-edit", message, help=FITTING_RELEASES) from fault
    return sources


def source_of(path: str, version: str, environ: Mapping[str, str], classifier: str = "sources") -> str:
    """Return a source file of a release, such as kafka/cluster/Partition.scala. classifier: of its jar."""
    artifact = artifact_of(path)
    try:
        with zipfile.ZipFile(released_jar(artifact, version, classifier, environ)) as archive:
            return archive.read(path).decode("utf-8")
    except KeyError as fault:
        message = f"{path} is not a source of Kafka {version}"
        raise UsageFault("patch-edit", message, help=f"it is not in {artifact}") from fault


def artifact_of(path: str) -> str:
    """Return the artifact that has a source file."""
    return source_place(path)[0]


def source_place(path: str) -> tuple[str, str]:
    """Return the artifact that has a source file, and its folder in Kafka's repository."""
    return next((artifact, folder) for start, artifact, folder in SOURCES if path.startswith(start))


def released_jar(artifact: str, version: str, classifier: str, environ: Mapping[str, str]) -> Path:
    """Return one jar of a release by its classifier: sources, test-sources, test."""
    files, key = FileStore("sources", ".jar", environ), f"{artifact} {version} {classifier}"
    jar = files.get(key)
    if jar is not None:
        return jar
    try:
        data = artifact_bytes(f"org.apache.kafka:{artifact}:{version}:jar:{classifier}", environ)
    except MavenFailed as failed:
        raise _sources_fault(artifact, version, failed) from failed
    return files.place(key, data)


def _sources_fault(artifact: str, version: str, failed: MavenFailed) -> EnvironmentFault | UsageFault:
    if failed.not_found and not failed.no_network:
        message = f"no sources of {artifact} {version} are published"
        help = "without them a patch of this release cannot be built; name another release"
        return UsageFault("kafka-sources", message, excerpt=failed.excerpt, help=help)
    message = f"Maven did not fetch the sources of {artifact} {version}"
    help = "check the network and Maven's proxy settings"
    return EnvironmentFault("kafka-jars", message, excerpt=failed.excerpt, help=help)


def _compile(sources: Mapping[str, str], kafka: ClassPath, jdk: Jdk, draft: Path, environ: Mapping[str, str]) -> None:
    """Compile into the draft's folder of classes, Java first: Scala's classes may use Java's."""
    files = write_sources(sources, draft)
    java, scala = ([file for file in files if file.suffix == kind] for kind in (".java", ".scala"))
    if java:
        _reject(run_javac(jdk, kafka, draft, java), kafka)
    if scala:
        both = replace(kafka, jars=(draft / CLASSES, *kafka.jars))
        command = [str(jdk.java.path), "-Xss4m", "-cp", _scala_compiler(kafka, environ)]
        command += ["scala.tools.nsc.Main", "-encoding", "UTF-8", "-nowarn", "-classpath", str(both)]
        _reject(run_compiler([*command, "-d", str(draft / CLASSES), *map(str, scala)], draft), kafka)


def _reject(complaint: str | None, kafka: ClassPath) -> None:
    if complaint is not None:
        message = f"the patch does not compile against Kafka {kafka.version}"
        raise UsageFault("patch-edit", message, excerpt=complaint, help=FITTING_RELEASES)


def _scala_compiler(kafka: ClassPath, environ: Mapping[str, str]) -> str:
    """Return the class path of the compiler that the release was built with."""
    version = next((library[1] for jar in kafka.jars if (library := LIBRARY.fullmatch(jar.name))), None)
    if version is None:
        message = f"the patch is in Scala, which does not come with Kafka {kafka.version}"
        raise UsageFault("patch-edit", message, help=FITTING_RELEASES)
    compiler = Dependency("org.scala-lang", "scala-compiler", version)
    return os.pathsep.join(map(str, fetched_jars(f"the Scala compiler {version}", [compiler], environ)))


def patch_of(finding: str, kafka: ClassPath) -> tuple[Path, tuple[str, ...]]:
    """Return the jar of the patch, and the sources that it changes."""
    edits = edits_of(finding, kafka.version)
    return patched_jar(finding, edits, kafka), tuple(dict.fromkeys(edit.path for edit in edits))


def edits_of(finding: str, version: str) -> Sequence[Edit]:
    """Return the edits of the finding's patch for a release; raise UsageFault for a release without edits."""
    patch = find_finding(finding).patch
    if patch is None or not patch.edits:
        help = f"`elrcheck show {finding}` says what is known; other classes can be given with --classes"
        raise UsageFault("no-patch", f"{finding} has no patch to build", help=help)
    of_some = [edit.versions for edit in patch.edits if edit.versions]
    if of_some and not any(version in versions for versions in of_some):
        releases = ", ".join(dict.fromkeys(release for versions in of_some for release in versions))
        raise UsageFault(
            "patch-edit", f"the patch of {finding} has no edit for Kafka {version}", help=f"it is for {releases}"
        )
    return patch.edits_of(version)
