"""A Java program that is part of elrcheck: compiled once against a class path, and stored.

The store holds the classes as a jar, by a digest of the sources, the jars and the compiler.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from elrcheck.base.errors import EnvironmentFault
from elrcheck.base.kept import named_digests as digests
from elrcheck.base.kept.store import FileStore
from elrcheck.base.package_files import files_of
from elrcheck.base.system.programs import Java, find_java, run_program
from elrcheck.kafka.jars import ClassPath

OLDEST = 17
JDK = (
    f"install a JDK {OLDEST} or newer (Debian: apt install openjdk-17-jdk-headless), "
    "or set JAVA_HOME to one; a runtime without compiler is not enough"
)
COMPILER_PATIENCE = 600.0  # seconds
ERROR_LINES = 12
"""Lines of a compiler's output that a message shows."""
CLASSES = "classes"
"""The folder of a draft for what is compiled."""


@dataclass(frozen=True)
class Jdk:
    """A Java runtime, new enough for Kafka, with its compiler."""

    java: Java
    javac: Path


def find_jdk(environ: Mapping[str, str] | None = None) -> Jdk:
    """Return the JDK to use; raise EnvironmentFault (exit 4) with the remedies if it is missing."""
    environ = os.environ if environ is None else environ
    java = find_java(environ)
    if java.major < OLDEST:
        message = f"{java.path} is Java {java.version}, but Kafka's controller needs {OLDEST}"
        raise EnvironmentFault("java-too-old", message, help=JDK)
    beside = (java.path.parent, java.path.resolve().parent)
    on_path = environ.get("PATH", "").split(os.pathsep) if not environ.get("JAVA_HOME") else []
    for folder in (*map(str, beside), *on_path):
        javac = shutil.which("javac", path=folder) if folder else None
        if javac is not None:
            return Jdk(java, Path(javac))
    raise EnvironmentFault("javac-missing", f"{java.path} comes without a compiler (javac)", help=JDK)


def sources_of(folder: str) -> dict[str, str]:
    """Return file name -> text of all .java files of a folder of this package, such as "kafka/java/controller"."""
    room = folder.partition("/")[0]
    return {
        path.rpartition("/")[2]: file.read_text(encoding="utf-8")
        for path, file in files_of(room, (".java",))
        if path.startswith(f"{folder}/")
    }


def compiled(
    sources: Mapping[str, str], class_path: ClassPath, jdk: Jdk, environ: Mapping[str, str] | None = None
) -> Path:
    """Return a jar with the classes of a program, compiling its sources if necessary.

    sources: file name -> text. A jar and not a folder, because class data sharing takes no folders.
    """
    files = FileStore("java", ".jar", os.environ if environ is None else environ)
    key = digests.key(
        sources=digests.values(sources), jars=class_path.digest(), java=jdk.java.version, javac=str(jdk.javac)
    )
    jar = files.get(key)
    if jar is not None:
        return jar
    with tempfile.TemporaryDirectory(prefix="elrcheck-java-") as name:
        draft = Path(name)
        paths = write_sources(sources, draft)
        complaint = run_javac(jdk, class_path, draft, paths, "--release", str(OLDEST))
        if complaint is not None:
            raise EnvironmentFault(
                "kafka-driver",
                f"the driver does not compile against Kafka {class_path.version}",
                excerpt=complaint,
                help="this version of Kafka may not be supported; 3.9.1 to 4.4.0 are",
            )
        return files.place(key, jar_bytes(draft / CLASSES))


def write_sources(sources: Mapping[str, str], draft: Path) -> list[Path]:
    """Write sources, path -> text, below a folder, beside a folder for their classes; return their paths."""
    (draft / CLASSES).mkdir()
    for name, text in sources.items():
        (draft / name).parent.mkdir(parents=True, exist_ok=True)
        (draft / name).write_text(text, encoding="utf-8")
    return [draft / name for name in sources]


def run_javac(jdk: Jdk, class_path: ClassPath, draft: Path, sources: Sequence[Path], *options: str) -> str | None:
    """Compile Java sources of a draft into its folder of classes, as `run_compiler` does."""
    command = [str(jdk.javac), "-encoding", "UTF-8", "-nowarn", "-proc:none", *options, "-cp", str(class_path)]
    return run_compiler([*command, "-d", str(draft / CLASSES), *map(str, sources)], draft)


def run_compiler(command: Sequence[str], draft: Path) -> str | None:
    """Run a compiler; return None if it succeeds, else the first lines of its output, with paths below the draft."""
    try:
        end = run_program(command, COMPILER_PATIENCE)
    except (OSError, subprocess.TimeoutExpired) as fault:
        raise EnvironmentFault("kafka-driver", f"{command[0]} did not finish: {fault}", help=JDK) from fault
    if end.exit_code == 0:
        return None
    return "\n".join(end.output.replace(f"{draft}{os.sep}", "").splitlines()[:ERROR_LINES])


def jar_bytes(classes: Path) -> bytes:
    """Return a jar of the classes below a folder."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for file in sorted(classes.rglob("*.class")):
            archive.write(file, str(file.relative_to(classes)))
    return data.getvalue()
