"""A patch of Kafka as a jar that goes before Kafka's own: the sources of a release with edits, compiled.

The jar is kept in the store, by the edited sources, the jars that they were compiled against, and the
compiler.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from elrcheck.base.errors import EnvironmentFault, UsageFault
from elrcheck.base.kept import named_digests as digests
from elrcheck.base.kept.store import FileStore
from elrcheck.catalogue.finding_file import Edit
from elrcheck.kafka.jars import ClassPath
from elrcheck.kafka.java_program import COMPILER_PATIENCE, JDK, SHOWN, Jdk, find_jdk, jar_bytes
from elrcheck.kafka.maven import Dependency, MavenFailed, needed_jars
from elrcheck.kafka.sources import source_of

MADE_FOR = "the page of the finding says for which releases the patch was made"
LIBRARY = re.compile(r"scala-library-(2\.13\.\d+)\.jar")


def patched_jar(name: str, edits: Sequence[Edit], kafka: ClassPath, environ: Mapping[str, str] | None = None) -> Path:
    """Return the jar with the classes of the edited sources. name: whose patch it is, such as F-20."""
    environ = os.environ if environ is None else environ
    jdk = find_jdk(environ)
    sources = edited_sources(edits, kafka.version, environ)
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
    with tempfile.TemporaryDirectory(prefix="elrcheck-patch-") as draft:
        return files.place(key, jar_bytes(_compiled(sources, kafka, jdk, Path(draft), environ)))


def edited_sources(edits: Sequence[Edit], version: str, environ: Mapping[str, str] | None = None) -> Mapping[str, str]:
    """Return path -> text of the sources that the edits change; a fault names an edit that does not fit."""
    sources: dict[str, str] = {}
    for edit in edits:
        source = sources.get(edit.path) or source_of(edit.path, version, environ)
        try:
            sources[edit.path] = edit.changed(source)
        except ValueError as fault:
            message = f"an edit does not fit Kafka {version}: {fault}"
            raise UsageFault("patch-edit", message, help=MADE_FOR) from fault
    return sources


def _compiled(sources: Mapping[str, str], kafka: ClassPath, jdk: Jdk, draft: Path, environ: Mapping[str, str]) -> Path:
    """The folder of the classes. Java first: Scala's may use them."""
    out, files = draft / "classes", []
    out.mkdir()
    for path, text in sources.items():
        files.append(draft / path)
        files[-1].parent.mkdir(parents=True, exist_ok=True)
        files[-1].write_text(text, encoding="utf-8")
    java, scala = ([str(file) for file in files if file.suffix == kind] for kind in (".java", ".scala"))
    if java:
        command = [str(jdk.javac), "-encoding", "UTF-8", "-nowarn", "-proc:none", "-cp", str(kafka)]
        _compile([*command, "-d", str(out), *java], kafka.version, draft)
    if scala:
        both = replace(kafka, jars=(out, *kafka.jars))
        command = [str(jdk.java.path), "-Xss4m", "-cp", _scala_compiler(kafka, environ)]
        command += ["scala.tools.nsc.Main", "-encoding", "UTF-8", "-nowarn", "-classpath", str(both)]
        _compile([*command, "-d", str(out), *scala], kafka.version, draft)
    return out


def _scala_compiler(kafka: ClassPath, environ: Mapping[str, str]) -> str:
    """The class path of the compiler that the release was built with."""
    version = next((found[1] for jar in kafka.jars if (found := LIBRARY.fullmatch(jar.name))), None)
    if version is None:
        message = f"the patch is in Scala, which does not come with Kafka {kafka.version}"
        raise UsageFault("patch-edit", message, help=MADE_FOR)
    try:
        jars = needed_jars([Dependency("org.scala-lang", "scala-compiler", version)], environ)
    except MavenFailed as failed:
        message, help = f"Maven did not fetch the Scala compiler {version}", "check the network"
        raise EnvironmentFault("kafka-jars", message, excerpt=failed.excerpt, help=help) from failed
    return os.pathsep.join(map(str, jars))


def _compile(command: Sequence[str], version: str, draft: Path) -> None:
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=2 * COMPILER_PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as fault:
        raise EnvironmentFault("kafka-driver", f"{command[0]} does not finish: {fault}", help=JDK) from fault
    if done.returncode != 0:
        said = done.stdout.replace(f"{draft}{os.sep}", "").splitlines()
        raise UsageFault(
            "patch-edit",
            f"the patch does not compile against Kafka {version}",
            excerpt="\n".join(said[:SHOWN]),
            help=MADE_FOR,
        )
