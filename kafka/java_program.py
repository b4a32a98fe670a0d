"""A Java program that is part of elrcheck: compiled once against a class path, and kept.

The classes are kept in the store as a jar, by a digest of the sources, the jars and the compiler.
"""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from elrcheck.base.errors import EnvironmentFault
from elrcheck.base.java import Java, find_java
from elrcheck.base.kept import named_digests as digests
from elrcheck.base.kept.store import FileStore
from elrcheck.base.package_files import files_of
from elrcheck.kafka.jars import ClassPath

OLDEST = 17
JDK = (
    f"install a JDK {OLDEST} or newer (Debian: apt install openjdk-17-jdk-headless), "
    "or set JAVA_HOME to one; a runtime without compiler is not enough"
)
COMPILER_PATIENCE = 300.0
SHOWN = 12  # lines of a compiler's complaint


@dataclass(frozen=True)
class JavaProgram:
    """Sources, as pairs of file name and text, and the class whose `main` is run."""

    sources: tuple[tuple[str, str], ...]
    main: str

    @classmethod
    def of_folder(cls, folder: str, main: str) -> JavaProgram:
        """Take all .java files of a folder of this package, such as "kafka/java/controller"."""
        room, _, below = folder.partition("/")
        found = tuple(
            (path.rpartition("/")[2], file.read_text(encoding="utf-8"))
            for path, file in files_of(room, (".java",))
            if path.startswith(f"{room}/{below}/")
        )
        return cls(found, main)

    def digest(self) -> str:
        total = hashlib.sha256()
        for name, text in self.sources:
            total.update(f"{name}\0{text}\0".encode())
        return total.hexdigest()


@dataclass(frozen=True)
class Jdk:
    """A Java runtime, new enough for Kafka, with its compiler."""

    java: Java
    javac: Path


def find_jdk(environ: Mapping[str, str] | None = None) -> Jdk:
    """Return the JDK to use; raise EnvironmentFault (exit 4) with the remedies if there is none."""
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


def compiled(program: JavaProgram, class_path: ClassPath, jdk: Jdk, environ: Mapping[str, str] | None = None) -> Path:
    """Return a jar with the program's classes, compiling them if they are not kept.

    A jar and not a folder, because class data sharing takes no folders.
    """
    environ = os.environ if environ is None else environ
    files = FileStore("java", ".jar", environ)
    key = digests.key(program=program.digest(), jars=class_path.digest(), java=jdk.java.version, javac=str(jdk.javac))
    jar = files.get(key)
    if jar is not None:
        return jar
    with tempfile.TemporaryDirectory(prefix="elrcheck-java-") as draft:
        _compile(program, class_path, jdk, Path(draft))
        return files.place(key, jar_bytes(Path(draft) / "classes"))


def jar_bytes(classes: Path) -> bytes:
    """Return a jar of the classes below a folder."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for file in sorted(classes.rglob("*.class")):
            archive.write(file, str(file.relative_to(classes)))
    return data.getvalue()


def _compile(program: JavaProgram, class_path: ClassPath, jdk: Jdk, draft: Path) -> None:
    sources, classes = draft / "sources", draft / "classes"
    sources.mkdir()
    classes.mkdir()
    for name, text in program.sources:
        (sources / name).write_text(text, encoding="utf-8")
    command = [
        str(jdk.javac),
        "-encoding",
        "UTF-8",
        "-nowarn",
        "-proc:none",
        "--release",
        str(OLDEST),
        "-cp",
        str(class_path),
        "-d",
        str(classes),
        *(str(sources / name) for name, _ in program.sources),
    ]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=COMPILER_PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as fault:
        raise EnvironmentFault("kafka-driver", f"{jdk.javac} does not finish: {fault}", help=JDK) from fault
    if done.returncode != 0:
        said = done.stdout.replace(f"{sources}{os.sep}", "").splitlines()
        raise EnvironmentFault(
            "kafka-driver",
            f"the driver does not compile against Kafka {class_path.version}",
            excerpt="\n".join(said[:SHOWN]),
            help="this version of Kafka may not be supported; 3.9.1 to 4.4.0 are",
        )
